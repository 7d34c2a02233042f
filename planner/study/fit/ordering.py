"""Whether predictions put runs in the order in which they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats

LEAST_ROWS: Final = 5
"""Families with fewer rows have no order worth counting."""
LEAST_GAP: Final = 0.03
"""Pairs that differ by less are within the noise of a measurement."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """How well one family is ordered.

    Attributes:
        spearman: Rank correlation of predicted and measured rates; None with too few rows.
        pairs: Pairs of runs of one model that differ by more than the noise.
        right_fraction: Share of them that the prediction orders as measured; None without pairs.
    """

    spearman: float | None
    pairs: int
    right_fraction: float | None


def ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing their mean.

    >>> ranks(np.array([10.0, 30.0, 10.0]))
    array([1.5, 3. , 1.5])
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[place])


def spearman(first: Floats, second: Floats) -> float:
    """Rank correlation.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 15.0]))
    0.5
    """
    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def ordering(measured: Floats, predicted: Floats, models: Sequence[str]) -> Ordering:
    """Ordering of the runs of one family.

    Args:
        measured, predicted: Rates (larger is better), shape (n,).
        models: Model of each run; only runs of one model are compared in pairs.
    """
    name = np.array(models)
    above = np.triu(np.ones((name.size, name.size), dtype=bool), k=1)
    gap = np.log(measured[:, None] / measured[None, :])
    pairs = above & (name[:, None] == name[None, :]) & (np.abs(gap) > np.log1p(LEAST_GAP))
    right = np.sign(gap) == np.sign(np.log(predicted[:, None] / predicted[None, :]))
    count = int(pairs.sum())
    varies = min(np.ptp(measured), np.ptp(predicted)) > 0.0
    return Ordering(
        spearman=spearman(measured, predicted) if name.size >= LEAST_ROWS and varies else None,
        pairs=count,
        right_fraction=float(right[pairs].mean()) if count else None,
    )
