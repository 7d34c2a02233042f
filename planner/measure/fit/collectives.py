"""Fits message-size curves of collectives: regimes found by dynamic programming, each a small least-squares problem."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import FitErrors
from planner.curves.collective import Regime, curve_time_s, stack_curves

MOST_REGIMES = 3
"""NCCL has three protocols (LL, LL128, Simple)."""
LEAST_POINTS = 5
"""Points of a regime where there are several: two more than its constants."""
FEWEST_POINTS = 3
"""Points of a curve."""
NOISE_FRACTION = 0.015
"""Scatter of repeated table rows: differences below it are not worth another regime."""
REGIME_PRICE = 40.0
"""What another regime must save, in units of the noise: found on left-out sizes of the one-node tables."""
OUTLIER_FRACTION = 0.06
"""Errors beyond it count linearly, not squared."""
PASSES = 6
LEFT_OUT_EVERY = 4
TERMS = [terms for count in (1, 2, 3) for terms in combinations(range(3), count)]


def fit_curve(sizes_bytes: Floats, times_s: Floats, most_regimes: int = MOST_REGIMES) -> tuple[Regime, ...]:
    """Regimes of one curve; the fewest that the scatter of the points supports.

    Args:
        sizes_bytes, times_s: Points, shape (points,), by rising size; equal sizes are medians' business.
        most_regimes: Most regimes to try.

    Raises:
        ValueError: Fewer than three points.

    >>> sizes = np.geomspace(1024, 2**30, 21)
    >>> [f"{one.s_per_byte:.4g}" for one in fit_curve(sizes, 1e-5 + sizes / 400e9)]
    ['2.5e-12']
    """
    if len(sizes_bytes) < FEWEST_POINTS:
        raise ValueError(f"{len(sizes_bytes)} points, and a curve needs {FEWEST_POINTS}")
    found = [
        _steady(sizes_bytes, times_s, regimes)
        for regimes in range(1, most_regimes + 1)
        if regimes == 1 or len(sizes_bytes) >= regimes * LEAST_POINTS
    ]
    # a regime more has to earn its constants and its border
    price = REGIME_PRICE * NOISE_FRACTION**2 * np.log(len(sizes_bytes))
    return min(found, key=lambda one: _misfit(one, sizes_bytes, times_s) + price * len(one))


def _steady(sizes: Floats, times: Floats, count: int) -> tuple[Regime, ...]:
    """Curve of so many regimes, found again and again with less weight on what lies far off it."""
    weights = np.ones(len(sizes))
    found = []
    for _ in range(PASSES):
        regimes = _best(sizes, times, weights, count)
        found.append(regimes)
        error = np.abs(evaluate(regimes, sizes) / times - 1.0)
        weights = np.minimum(1.0, OUTLIER_FRACTION / np.maximum(error, 1e-12))
    return min(found, key=lambda one: _misfit(one, sizes, times))


def _misfit(regimes: Sequence[Regime], sizes: Floats, times: Floats) -> float:
    """Sum of squared relative errors, beyond the outliers' border linear."""
    error = np.abs(evaluate(regimes, sizes) / times - 1.0)
    far = OUTLIER_FRACTION * (2.0 * error - OUTLIER_FRACTION)
    return float(np.sum(np.where(error > OUTLIER_FRACTION, far, error**2)))


def evaluate(regimes: Sequence[Regime], sizes_bytes: Floats) -> Floats:
    """Times of one curve, shape (points,)."""
    return curve_time_s(stack_curves([regimes]), curve=np.zeros(1, dtype=np.intp), message_bytes=sizes_bytes)


def fit_errors(regimes: Sequence[Regime], sizes_bytes: Floats, times_s: Floats) -> FitErrors:
    """Errors of a curve on points, which may be others than it was fitted to."""
    return errors_of(evaluate(regimes, sizes_bytes) / times_s - 1.0, sizes_bytes)


def errors_of(relative: Floats, sizes_bytes: Floats) -> FitErrors:
    """Summary of predicted / measured - 1 over message sizes."""
    error = np.abs(relative)
    worst = int(np.argmax(error))
    return FitErrors(
        points=len(error), median_fraction=_short(np.median(error)), p90_fraction=_short(np.quantile(error, 0.9)),
        worst_fraction=_short(error[worst]), worst_at=f"{sizes_bytes[worst]:.0f} bytes",
    )  # fmt: skip


def left_out_errors(sizes_bytes: Floats, times_s: Floats) -> FitErrors | None:
    """Errors on sizes left out, every fourth in turn, the ends kept; none where too few points are left."""
    place = np.arange(len(sizes_bytes))
    found, sizes = [], []
    for first in range(1, LEFT_OUT_EVERY + 1):
        out = (place % LEFT_OUT_EVERY == first % LEFT_OUT_EVERY) & (place > 0) & (place < len(place) - 1)
        if not out.any() or (~out).sum() < LEAST_POINTS:
            continue
        regimes = fit_curve(sizes_bytes[~out], times_s[~out])
        found.append(evaluate(regimes, sizes_bytes[out]) / times_s[out] - 1.0)
        sizes.append(sizes_bytes[out])
    return errors_of(np.concatenate(found), np.concatenate(sizes)) if found else None


def _short(value: float | np.floating[Any]) -> float:
    return float(f"{value:.4g}")


def _best(sizes: Floats, times: Floats, weights: Floats, regimes: int) -> tuple[Regime, ...]:
    """The best borders of so many regimes, by dynamic programming over where the last one starts."""
    count = len(sizes)
    costs, terms = _segments(sizes, times, weights)
    best = np.full((regimes + 1, count + 1), np.inf)
    came = np.zeros((regimes + 1, count + 1), dtype=int)
    best[0, 0] = 0.0
    for used in range(1, regimes + 1):
        for end in range(FEWEST_POINTS, count + 1):
            candidates = best[used - 1, :end] + costs[:end, end]
            came[used, end] = int(np.argmin(candidates))
            best[used, end] = candidates[came[used, end]]
    found: list[Regime] = []
    end = count
    for used in range(regimes, 0, -1):
        start = int(came[used, end])
        found.append(Regime(float(sizes[start]), *(float(term) for term in terms[start, end])))
        end = start
    return tuple(reversed(found))


def _segments(sizes: Floats, times: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Cost and constants of every stretch [start, end), shapes (n, n+1) and (n, n+1, 3).

    Relative errors, no negative constants: all subsets of the three terms are solved, the best allowed one wins.
    """
    count = len(sizes)
    columns = np.stack([np.ones(count), np.sqrt(sizes), sizes], axis=1) / times[:, None]
    scale = columns.max(axis=0)
    columns = columns / scale
    start, end = np.nonzero(_long_enough(count))
    normal = _between(weights[:, None, None] * columns[:, :, None] * columns[:, None, :], start, end)
    right = _between(weights[:, None] * columns, start, end)
    total = _between(weights, start, end)
    cost, found = np.full(len(start), np.inf), np.zeros((len(start), 3))
    for subset in TERMS:
        chosen = list(subset)
        matrix = normal[:, chosen][:, :, chosen]
        floor = 1e-12 * np.trace(matrix, axis1=1, axis2=2)[:, None, None] * np.eye(len(chosen))
        solution = np.linalg.solve(matrix + floor, right[:, chosen, None])[:, :, 0]
        missed = np.maximum(total - np.sum(solution * right[:, chosen], axis=1), 0.0)
        price = np.where((solution >= 0.0).all(axis=1), missed + NOISE_FRACTION**2 * len(chosen), np.inf)
        better = price < cost
        cost = np.where(better, price, cost)
        whole = np.zeros((len(start), 3))
        whole[:, chosen] = solution
        found = np.where(better[:, None], whole, found)
    costs, terms = np.full((count, count + 1), np.inf), np.zeros((count, count + 1, 3))
    costs[start, end], terms[start, end] = cost, found / scale
    return costs, terms


def _long_enough(count: int) -> np.ndarray:
    """Which stretches may be a regime, shape (n, n+1): enough points, or the whole curve."""
    length = np.arange(count + 1)[None, :] - np.arange(count)[:, None]
    return np.asarray((length >= LEAST_POINTS) | (length == count))


def _between(values: Floats, start: np.ndarray, end: np.ndarray) -> Floats:
    """Sums of values over the stretches [start, end)."""
    running = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    return np.asarray(running[end] - running[start])
