"""Regularised, robust least squares by damped Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats

Residuals = Callable[[Floats], Floats]
"""Residuals of shape (draws, rows) for parameters of shape (draws, parameters)."""
STEP: Final = 1e-4
"""Step of the finite differences, in the logarithm."""
LENGTHS: Final = np.array([1.0, 0.5, 0.25, 0.1, 0.02])
"""Shares of a Gauss-Newton step that are tried at once."""
LEAST_GAIN: Final = 1e-7
"""Share of the cost below which a step is not worth taking."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Where parameters were believed to lie before any data, shape (parameters,).

    Attributes:
        centre, width: Mean and standard deviation.
        low, high: They don't leave this range.
    """

    centre: Floats
    width: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Solution:
    """What was found.

    Attributes:
        parameters: At the optimum.
        effective_parameters: Trace of the regularised hat matrix: how many the data determine.
        data_share: Share of each parameter that the data determine, the rest its prior; shape (parameters,).
        iterations: Steps taken.
    """

    parameters: Floats
    effective_parameters: float
    data_share: Floats
    iterations: int


def robust_loss(residuals: Floats, scale: float) -> Floats:
    """Pseudo-Huber loss: half the square for small residuals, linear for large ones.

    >>> robust_loss(np.array([0.0, 0.08]), 0.08).round(6)
    array([0.      , 0.002651])
    """
    return scale * scale * (np.sqrt(1.0 + (residuals / scale) ** 2) - 1.0)


def solve(
    residuals: Residuals,
    prior: Prior,
    weights: Floats,
    *,
    scale: float,
    start: Floats | None = None,
    iterations: int = 30,
) -> Solution:
    """Parameters that balance residuals against priors.

    Minimises sum(weights x loss) + sum(((parameters - centre) / width)^2) / 2.

    Args:
        residuals: See `Residuals`.
        prior: Centres, widths and ranges.
        weights: Of each row, shape (rows,).
        scale: Residual from which the loss turns linear.
        start: Parameters near the optimum, such as those of a like fit; the prior's centre by default.
        iterations: Steps at most.
    """
    at = (prior.centre if start is None else start).copy()
    known = float(_cost(residuals(at[None, :]), at[None, :], prior, weights, scale)[0])
    taken = 0
    while taken < iterations:
        free, _, system, slope = _linearised(residuals, prior, weights, scale, at)
        step = np.zeros_like(at)
        step[free] = -np.linalg.solve(system[np.ix_(free, free)], slope[free])
        tried = np.clip(at + LENGTHS[:, None] * step, prior.low, prior.high)
        costs = _cost(residuals(tried), tried, prior, weights, scale)
        best = int(np.argmin(costs))
        if costs[best] > known * (1.0 - LEAST_GAIN):
            break
        at, known, taken = tried[best], float(costs[best]), taken + 1
    free, curvature, system, _ = _linearised(residuals, prior, weights, scale, at)
    share = np.zeros_like(at)
    hat = np.linalg.solve(system[np.ix_(free, free)], curvature[np.ix_(free, free)])
    share[free] = np.diag(hat)
    return Solution(at, float(share.sum()), share, taken)


def _linearised(
    residuals: Residuals, prior: Prior, weights: Floats, scale: float, at: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Parameters that may move, curvature of the data, of data and prior, and slope."""
    shifted = at + STEP * np.vstack([np.zeros(at.size), np.eye(at.size)])
    values = residuals(shifted)
    here, jacobian = values[0], (values[1:] - values[0]).T / STEP
    each = weights / np.sqrt(1.0 + (here / scale) ** 2)
    curvature = jacobian.T @ (each[:, None] * jacobian)
    slope = jacobian.T @ (each * here) + (at - prior.centre) / prior.width**2
    stuck = ((at <= prior.low) & (slope > 0.0)) | ((at >= prior.high) & (slope < 0.0))
    return ~stuck, curvature, curvature + np.diag(1.0 / prior.width**2), slope


def _cost(values: Floats, at: Floats, prior: Prior, weights: Floats, scale: float) -> Floats:
    pulled = 0.5 * np.sum(((at - prior.centre) / prior.width) ** 2, axis=-1)
    return np.asarray(robust_loss(values, scale) @ weights + pulled)
