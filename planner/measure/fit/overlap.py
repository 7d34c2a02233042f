"""Fits a collective beside matrix products: how much is hidden and slowed, by message size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import OverlapFit, OverlapValues
from planner.curves.overlap import (
    OverlapConstants,
    collective_slowdown,
    gemm_slowdown,
    large_message_fraction,
    overlap_hidden_fraction,
)  # fmt: skip
from planner.errors import CalibrationError, Problem
from planner.measure.fit.rows import OverlapRow
from planner.measure.fit.score import fit_differences, fit_errors, refuse, significant, span

LEAST_SIZES = 3
"""Two ends and a middle of each curve."""
LEAST_BALANCE = 0.5
"""A load that lasts less than this share of the other says little about what overlap hides."""
HALVES_BYTES = np.geomspace(2.0**20, 2.0**33, 157)
"""Middles that are tried: twelve to a factor of two."""
ROUNDS = 20
OUTLIER = 0.1


def fit_overlaps(rows: Sequence[OverlapRow]) -> tuple[tuple[OverlapFit, ...], tuple[Problem, ...]]:
    """All fits that the rows allow, and why the others are refused.

    Raises:
        CalibrationError: None can be fitted.
    """
    fits: list[OverlapFit] = []
    refused: list[Problem] = []
    for key in sorted({(row.op, row.dtype, row.ranks) for row in rows}):
        try:
            fits.append(fit_overlap([row for row in rows if (row.op, row.dtype, row.ranks) == key]))
        except CalibrationError as error:
            refused.extend(error.problems)
    if not fits:
        raise CalibrationError(refused or [Problem("no overlap to fit", key="overlap")])
    return tuple(fits), tuple(refused)


def fit_overlap(rows: Sequence[OverlapRow]) -> OverlapFit:
    """One fit of one collective beside products.

    All three curves share the message size at which they turn; with it given, their ends are a linear problem.

    Raises:
        CalibrationError: Too few sizes with two loads of about one length.
    """
    if not rows:
        raise refuse("overlap", "no points")
    first, what = rows[0], f"overlap {rows[0].op}"
    used = [row for row in rows if _balance(row) >= LEAST_BALANCE]
    if len({row.message_bytes for row in used}) < LEAST_SIZES:
        raise refuse(what, f"fewer than {LEAST_SIZES} sizes with two loads of about one length",
                     "measure without --quick")  # fmt: skip
    sizes = np.array([row.message_bytes for row in used], np.float64)
    targets = np.array([[_hidden(row), row.gemm_beside_us / row.gemm_alone_us,
                         row.collective_beside_us / row.collective_alone_us] for row in used])  # fmt: skip
    tried = [_ends(sizes, targets, half) for half in HALVES_BYTES]
    best = int(np.argmin([cost for cost, _ in tried]))
    values = _values(float(HALVES_BYTES[best]), tried[best][1])
    constants = OverlapConstants.from_values(values.model_dump())
    named = [f"{row.message_bytes} bytes beside m {row.m}, n {row.n}, k {row.k}" for row in used]
    left = len(rows) - len(used)
    return OverlapFit(
        op=first.op,
        dtype=first.dtype,
        ranks=first.ranks,
        values=values,
        message_bytes=span([row.message_bytes for row in used]),
        hidden_errors=fit_differences(
            overlap_hidden_fraction(message_bytes=sizes, constants=constants), targets[:, 0], named),
        gemm_errors=fit_errors(gemm_slowdown(message_bytes=sizes, constants=constants), targets[:, 1], named),
        collective_errors=fit_errors(
            collective_slowdown(message_bytes=sizes, constants=constants), targets[:, 2], named),
        notes=(f"{left} left out, one load far shorter than the other",) if left else (),
    )  # fmt: skip


def _balance(row: OverlapRow) -> float:
    first, second = row.gemm_alone_us, row.collective_alone_us
    return min(first, second) / max(first, second)


def _hidden(row: OverlapRow) -> float:
    saved = row.gemm_alone_us + row.collective_alone_us - row.together_us
    return saved / min(row.gemm_alone_us, row.collective_alone_us)


def _ends(sizes: Floats, targets: Floats, half_bytes: float) -> tuple[float, Floats]:
    """Soft absolute error and the small and large ends of the three curves, shape (2, 3)."""
    way = large_message_fraction(message_bytes=sizes, half_bytes=np.asarray(half_bytes))
    design = np.stack([1.0 - way, way], axis=1)
    ends = np.zeros((2, targets.shape[1]))
    total = 0.0
    for column in range(targets.shape[1]):
        weights = np.ones(len(sizes))
        for _ in range(ROUNDS):
            root = np.sqrt(weights)
            ends[:, column] = np.linalg.lstsq(design * root[:, None], targets[:, column] * root, rcond=None)[
                0
            ]
            rest = (design @ ends[:, column] - targets[:, column]) / OUTLIER
            weights = 1.0 / np.sqrt(1.0 + rest * rest)
        total += float(np.sum(np.sqrt(1.0 + rest * rest) - 1.0))
    return total, ends


def _values(half_bytes: float, ends: Floats) -> OverlapValues:
    small, large = ends
    # Nothing hides more than all, and the measured speed-up of a neighbour would be noise.
    return OverlapValues(
        half_bytes=significant(half_bytes),
        hidden_small_fraction=significant(min(1.0, float(small[0]))),
        hidden_large_fraction=significant(min(1.0, float(large[0]))),
        gemm_slowdown_small=significant(max(1.0, float(small[1]))),
        gemm_slowdown_large=significant(max(1.0, float(large[1]))),
        collective_slowdown_small=significant(max(1.0, float(small[2]))),
        collective_slowdown_large=significant(max(1.0, float(large[2]))),
    )
