"""Percentiles, rounding and how many iterations a point gets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


def percentile(samples: Sequence[float], percent: float) -> float:
    """Percentile with linear interpolation between neighbours.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 50)
    2.5
    """
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    position = (len(ordered) - 1) * percent / 100
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def significant(value: float, digits: int = 4) -> float:
    """A number rounded to a count of significant digits; what isn't finite stays as it is.

    >>> significant(123456.0), significant(0.00123456)
    (123500.0, 0.001235)
    """
    if value == 0 or not math.isfinite(value):
        return value
    return float(f"{value:.{digits}g}")


def compact(samples: Sequence[float], digits: int = 4) -> list[float]:
    """Raw samples as they are stored."""
    return [significant(sample, digits) for sample in samples]


def spread(samples: Sequence[float], prefix: str = "") -> dict[str, float]:
    """Median, p10 and p99 of times in microseconds.

    >>> spread([1.0, 2.0, 3.0])
    {'median_us': 2.0, 'p10_us': 1.2, 'p99_us': 2.98}
    """
    return {
        f"{prefix}median_us": significant(percentile(samples, 50), 6),
        f"{prefix}p10_us": significant(percentile(samples, 10), 6),
        f"{prefix}p99_us": significant(percentile(samples, 99), 6),
    }


def column_means(rows: Sequence[Sequence[float]]) -> list[float]:
    """Mean over ranks of each repetition; nccl-tests averages over ranks too (-a 1).

    >>> column_means([[1.0, 2.0], [3.0, 4.0]])
    [2.0, 3.0]
    """
    return [sum(column) / len(column) for column in zip(*rows, strict=True)]


@dataclass(frozen=True)
class Plan:
    """How often a point is repeated: iterations run back to back between two events, several times."""

    iterations: int
    repetitions: int


def plan_iterations(estimate_us: float, budget_ms: float, *, repetitions: int = 20, most: int = 200) -> Plan:
    """Split a point's time budget into repetitions of a few iterations.

    A fast call gets many iterations in each repetition, so that the clock's grain and the launch of the
    first one vanish; a slow one gets single iterations and at least three repetitions.

    >>> plan_iterations(10.0, 100.0)
    Plan(iterations=200, repetitions=20)
    >>> plan_iterations(25_000.0, 100.0)
    Plan(iterations=1, repetitions=4)
    """
    each = max(estimate_us, 0.1)
    affordable = budget_ms * 1e3 / each
    iterations = int(affordable / repetitions)
    if iterations >= 1:
        return Plan(min(iterations, most), repetitions)
    return Plan(1, max(3, min(repetitions, int(affordable))))
