"""A small robust least-squares search over positive constants: damped Gauss-Newton on their logarithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats

OUTLIER_FRACTION = 0.1
"""Errors beyond it count linearly, not squared, so that single strange kernels don't steer the fit."""
ROUNDS = 80
STEP = 1e-4
LONGEST = 1.0
"""A step changes no constant by more than a factor e."""
TETHER = 1e-6
"""Weight, per point, of the wish to stay near the start: it decides only where the points say nothing."""
DAMPING, LEAST_DAMPING, TRIES = 1e-2, 1e-7, 10
SETTLED = 1e-8


@dataclass(frozen=True, slots=True)
class Guess:
    """Where a constant's search starts, and the range it may not leave; all above 0."""

    start: float
    low: float
    high: float


Predict = Callable[[Mapping[str, Floats]], Floats]


def fit_positive(predict: Predict, guesses: Mapping[str, Guess], measured: Floats) -> dict[str, float]:
    """Constants that bring predictions closest to measured values, by relative error.

    Args:
        predict: Predicted values, shape (points,), from constants by name.
        guesses: Start and range of each constant.
        measured: Measured values above 0, shape (points,).

    Returns:
        The constants by name; the same input gives the same output.

    >>> x = np.array([1.0, 2.0, 4.0, 8.0])
    >>> found = fit_positive(lambda c: c["start"] + c["slope"] * x, {"start": Guess(1.0, 1e-3, 1e3),
    ...     "slope": Guess(1.0, 1e-3, 1e3)}, 5.0 + 3.0 * x)
    >>> round(found["start"], 3), round(found["slope"], 3)
    (5.0, 3.0)
    """
    names = list(guesses)
    start, low, high = (
        np.log([getattr(guesses[name], part) for name in names]) for part in ("start", "low", "high")
    )
    target = np.log(measured)

    def residuals(at: Floats) -> Floats:
        return np.log(predict(dict(zip(names, np.exp(at), strict=True)))) - target

    found = _descend(residuals, start, low, high)
    return dict(zip(names, (float(value) for value in np.exp(found)), strict=True))


def _descend(residuals: Callable[[Floats], Floats], start: Floats, low: Floats, high: Floats) -> Floats:
    at, damping = start.copy(), DAMPING
    rest = residuals(at)
    tether = TETHER * len(rest)
    cost = _cost(rest) + tether * float(np.sum((at - start) ** 2))
    for _ in range(ROUNDS):
        slopes = _slopes(residuals, at, rest, high)
        weights = 1.0 / np.sqrt(1.0 + (rest / OUTLIER_FRACTION) ** 2)
        normal: Floats = np.asarray(slopes.T @ (slopes * weights[:, None])) + tether * np.eye(len(at))
        downhill = -(slopes.T @ (weights * rest)) - tether * (at - start)
        free = ~(((at <= low) & (downhill < 0)) | ((at >= high) & (downhill > 0)))
        if not free.any():
            break
        before = cost
        for _ in range(TRIES):
            tried = at + _step(normal, downhill, free, damping)
            tried = np.clip(tried, low, high)
            new_rest = residuals(tried)
            new_cost = _cost(new_rest) + tether * float(np.sum((tried - start) ** 2))
            if new_cost < cost:
                at, rest, cost, damping = tried, new_rest, new_cost, max(damping / 4.0, LEAST_DAMPING)
                break
            damping *= 4.0
        if before - cost <= SETTLED * before:
            break
    return at


def _cost(rest: Floats) -> float:
    """Twice the soft absolute error: squares near zero, straight lines far out."""
    scaled = rest / OUTLIER_FRACTION
    return float(2.0 * OUTLIER_FRACTION**2 * np.sum(np.sqrt(1.0 + scaled * scaled) - 1.0))


def _slopes(residuals: Callable[[Floats], Floats], at: Floats, rest: Floats, high: Floats) -> Floats:
    """Change of every residual with every constant, by differences that stay in the range."""
    columns = []
    for place in range(len(at)):
        step = STEP if at[place] + STEP <= high[place] else -STEP
        moved = at.copy()
        moved[place] += step
        columns.append((residuals(moved) - rest) / step)
    return np.stack(columns, axis=1)


def _step(normal: Floats, downhill: Floats, free: NDArray[np.bool_], damping: float) -> Floats:
    inner = normal[np.ix_(free, free)]
    damped = inner + damping * np.diag(np.diag(inner))
    step = np.zeros(len(downhill))
    step[free] = np.clip(np.linalg.solve(damped, downhill[free]), -LONGEST, LONGEST)
    return step
