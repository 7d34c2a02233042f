"""How well a fit lies: its errors, and which shapes are left out to test it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import FitErrors, Span
from planner.errors import CalibrationError, Problem

LEFT_OUT_OF = 5
"""One shape in so many is left out."""
DIGITS = 6


def fit_errors(predicted: Floats, measured: Floats, named: Sequence[object]) -> FitErrors:
    """Relative errors of predictions.

    Args:
        predicted, measured: Values, shape (points,).
        named: What each point is, in the same order; the worst one's text is kept.

    >>> fit_errors(np.array([1.0, 2.2]), np.array([1.0, 2.0]), ["first", "second"]).worst_at
    'second, +10 %'
    """
    return _summary(np.asarray(predicted / measured - 1.0), named, "%", 100.0)


def fit_differences(predicted: Floats, measured: Floats, named: Sequence[object]) -> FitErrors:
    """The same for fractions that may be zero: differences, not ratios.

    >>> fit_differences(np.array([0.1]), np.array([-0.02]), ["only"]).worst_fraction
    0.12
    """
    return _summary(np.asarray(predicted - measured), named, "points", 100.0)


def _summary(errors: Floats, named: Sequence[object], unit: str, scale: float) -> FitErrors:
    sizes = np.abs(errors)
    worst = int(np.argmax(sizes))
    return FitErrors(
        points=len(errors),
        median_fraction=_rounded(np.median(sizes)),
        p90_fraction=_rounded(np.quantile(sizes, 0.9)),
        worst_fraction=_rounded(sizes[worst]),
        worst_at=f"{named[worst]}, {scale * errors[worst]:+.0f} {unit}",
    )


def _rounded(value: np.floating | float) -> float:
    return round(float(value), 4)


def significant(value: float, digits: int = DIGITS) -> float:
    """A constant with as many digits as a profile keeps.

    >>> significant(0.123456789)
    0.123457
    """
    return float(f"{value:.{digits}g}")


def span(values: Sequence[float] | Floats) -> Span:
    """Least and most of some values."""
    return Span(least=float(min(values)), most=float(max(values)))


def left_out(*shape: object) -> bool:
    """Whether a shape is one of the fifth that tests a fit, by its own text: no draw, and no order of rows, decides.

    >>> sum(left_out(m, n) for m in range(50) for n in range(50)) / 2500
    0.1988
    """
    return zlib.crc32(",".join(map(str, shape)).encode()) % LEFT_OUT_OF == 0


def refuse(what: str, reason: str, remedy: str = "") -> CalibrationError:
    """The error that says what can't be fitted and why."""
    return CalibrationError(Problem(reason, key=what, remedy=remedy))
