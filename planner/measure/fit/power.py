"""Summarises measured power by state: means over devices, and how far single devices lie from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.catalog.profile_kernels import PowerStateFit
from planner.errors import CalibrationError, Problem
from planner.measure.fit.rows import PowerRow
from planner.measure.fit.score import fit_errors, refuse, significant

LEAST_SAMPLES = 10
"""Below a second of a sensor that reads ten times a second the mean is one moment's."""
MOST_ABOVE_LIMIT = 1.25
"""A mean further above the limit is another quantity, such as a whole module's."""
DIGITS = 5


def fit_power_states(rows: Sequence[PowerRow]) -> tuple[tuple[PowerStateFit, ...], tuple[Problem, ...]]:
    """All states that the rows allow, and why the others are refused.

    Raises:
        CalibrationError: No state can be summarised.
    """
    fits: list[PowerStateFit] = []
    refused: list[Problem] = []
    for state in dict.fromkeys(row.state for row in rows):
        try:
            fits.append(fit_power_state([row for row in rows if row.state == state]))
        except CalibrationError as error:
            refused.extend(error.problems)
    if not fits:
        raise CalibrationError(refused or [Problem("no power states", key="power")])
    return tuple(fits), tuple(refused)


def fit_power_state(rows: Sequence[PowerRow]) -> PowerStateFit:
    """One state over all devices that were held in it.

    Raises:
        CalibrationError: Too few samples, or watts that can't be this device's.
    """
    if not rows:
        raise refuse("power", "no points")
    what = f"power {rows[0].state}"
    samples = sum(row.samples for row in rows)
    if min(row.samples for row in rows) < LEAST_SAMPLES:
        raise refuse(what, f"a device has fewer than {LEAST_SAMPLES} samples", "measure without --quick")
    means = np.array([row.mean_w for row in rows])
    limit = float(np.mean([row.limit_w for row in rows]))
    mean = float(means.mean())
    if mean > MOST_ABOVE_LIMIT * limit:
        raise refuse(what, f"the mean is {mean:.0f} W where the device's limit is {limit:.0f} W",
                     "the sensor may count a whole module")  # fmt: skip
    energies = [row.mean_by_energy_w for row in rows if row.mean_by_energy_w > 0]
    return PowerStateFit(
        state=rows[0].state,
        gpus=len(rows),
        mean_w=significant(mean, DIGITS),
        p95_w=significant(float(np.mean([row.p95_w for row in rows])), DIGITS),
        least_gpu_w=significant(float(means.min()), DIGITS),
        most_gpu_w=significant(float(means.max()), DIGITS),
        mean_by_energy_w=significant(float(np.mean(energies)), DIGITS) if energies else None,
        limit_w=significant(limit, DIGITS),
        share_of_limit_fraction=significant(mean / limit, 4),
        sm_clock_mhz=significant(float(np.mean([row.sm_clock_mhz for row in rows])), DIGITS),
        power_capped_fraction=significant(float(np.mean([row.power_capped_fraction for row in rows])), 4),
        samples=samples,
        errors=fit_errors(np.full(len(rows), mean), means, [f"device {row.rank}" for row in rows]),
    )
