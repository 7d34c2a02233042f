"""Fits measured transfers: a rate, and the size that reaches half of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import MemoryFit
from planner.curves.memory import transfer_time_s
from planner.errors import CalibrationError, Problem
from planner.measure.fit.descent import Guess, fit_positive
from planner.measure.fit.rows import MemoryRow
from planner.measure.fit.score import fit_errors, refuse, significant, span
from planner.units import GIGA

LEAST_POINTS = 3
"""Two constants, and one point that can disagree."""
DEVICE = "device_"


def fit_memories(
    rows: Sequence[MemoryRow], *, memory_bytes_per_s: float, cache_bytes: float
) -> tuple[tuple[MemoryFit, ...], tuple[Problem, ...]]:
    """All fits that the rows allow, and why the others are refused.

    Args:
        rows: Measured transfers.
        memory_bytes_per_s: Datasheet rate of the device memory.
        cache_bytes: Size of the device's last cache; smaller transfers on the device are left out.

    Raises:
        CalibrationError: None can be fitted.
    """
    fits: list[MemoryFit] = []
    refused: list[Problem] = []
    for key in sorted({(row.family, row.pinned, row.gpus_active) for row in rows}):
        mine = [row for row in rows if (row.family, row.pinned, row.gpus_active) == key]
        try:
            fits.append(fit_memory(mine, memory_bytes_per_s=memory_bytes_per_s, cache_bytes=cache_bytes))
        except CalibrationError as error:
            refused.extend(error.problems)
    if not fits:
        raise CalibrationError(refused or [Problem("no transfers to fit", key="memory")])
    return tuple(fits), tuple(refused)


def fit_memory(rows: Sequence[MemoryRow], *, memory_bytes_per_s: float, cache_bytes: float) -> MemoryFit:
    """One fit of transfers of one kind.

    Args:
        rows, memory_bytes_per_s, cache_bytes: See `fit_memories`.

    Raises:
        CalibrationError: The points can't carry the fit, or the rate lies beyond what was measured.
    """
    if not rows:
        raise refuse("memory", "no points")
    first = rows[0]
    pinned = {"yes": True, "no": False}.get(first.pinned)
    what = f"memory {first.family}" + ("" if pinned is None else " pinned" if pinned else " pageable")
    on_device = first.family.startswith(DEVICE)
    used = [row for row in rows if not on_device or row.moved_bytes > cache_bytes]
    if len({row.size_bytes for row in used}) < LEAST_POINTS:
        raise refuse(what, f"{len(used)} points beyond the cache, and a fit needs {LEAST_POINTS} sizes",
                     "measure without --quick")  # fmt: skip
    rate, half = _constants(used)
    most = max(row.moved_bytes for row in used)
    if half > most:
        reached = most / (most + half)
        raise refuse(what, f"the largest size reaches {100 * reached:.0f} % of the fitted rate of {rate / GIGA:.0f} GB/s: "
                     "the times are those of the start, and the rate is a guess", "measure larger sizes")  # fmt: skip
    left = len(rows) - len(used)
    return MemoryFit(
        family=first.family,
        pinned=pinned,
        gpus_active=first.gpus_active,
        rate_gbyte_per_s=significant(rate / GIGA),
        half_rate_bytes=significant(half),
        share_of_datasheet_fraction=significant(rate / memory_bytes_per_s, 4) if on_device else None,
        size_bytes=span([row.size_bytes for row in used]),
        errors=fit_errors(
            _times(rate, half, used), _seconds(used), [f"{row.size_bytes} bytes" for row in used]
        ),
        notes=(f"{left} left out, within the cache",) if left else (),
    )


def _constants(rows: Sequence[MemoryRow]) -> tuple[float, float]:
    measured, moved = _seconds(rows), np.array([row.moved_bytes for row in rows], np.float64)
    fastest = float(np.max(moved / measured))
    guesses = {"rate": Guess(fastest, fastest / 100.0, fastest * 100.0),
               "half": Guess(float(moved.min()), 1.0, float(moved.max()) * 1e3)}  # fmt: skip
    found = fit_positive(lambda c: transfer_time_s(moved_bytes=moved, rate_bytes_per_s=c["rate"],
                                                   half_rate_bytes=c["half"]), guesses, measured)  # fmt: skip
    return found["rate"], found["half"]


def _times(rate: float, half: float, rows: Sequence[MemoryRow]) -> Floats:
    moved = np.array([row.moved_bytes for row in rows], np.float64)
    return transfer_time_s(
        moved_bytes=moved, rate_bytes_per_s=np.asarray(rate), half_rate_bytes=np.asarray(half)
    )


def _seconds(rows: Sequence[MemoryRow]) -> Floats:
    return np.array([row.time_us for row in rows]) * 1e-6
