"""How far a prediction of a kind lies off, from rows that a fit didn't see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.study.fidelity.scoring import family_weights, weighted_percentile

COVERED_FRACTION: Final = 0.8
"""Share of runs that a band from P10 to P90 is to hold."""


def half_width_fraction(measured: Floats, predicted: Floats, families: Sequence[str]) -> float:
    """Half width around a prediction that holds four of five measured steps, families counting alike.

    >>> half_width_fraction(np.array([1.0, 1.1, 0.8, 1.0, 1.3]), np.ones(5), ["a"] * 5).__round__(3)
    0.2
    """
    off = np.abs(measured / predicted - 1.0)
    return weighted_percentile(off, family_weights(families), COVERED_FRACTION)


def coverage_fraction(
    measured: Floats, predicted: Floats, families: Sequence[str], kinds: Sequence[str]
) -> float:
    """Share of left-out rows within the band that the other families of their kind give them.

    Args:
        measured, predicted: Steps, the latter by a fit without the row's family; shape (n,).
        families: Of each row.
        kinds: Kind of each row: bands are of one kind.

    Returns:
        The share, families counting alike. Families without another of their kind are left aside.
    """
    family, kind = np.array(families), np.array(kinds)
    held: list[float] = []
    for name, own in sorted(set(zip(families, kinds, strict=True))):
        rows = (family == name) & (kind == own)
        others = (family != name) & (kind == own)
        if not others.any():
            continue
        width = half_width_fraction(measured[others], predicted[others], list(family[others]))
        held.append(float((np.abs(measured[rows] / predicted[rows] - 1.0) <= width).mean()))
    return float(np.mean(held)) if held else float("nan")
