"""Spare parts: how many cover the failures until resupply."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.arrays import Floats

_WIDEST: Final = 12.0
"""Standard deviations about the mean that are looked at: beyond them no double holds the chance."""
_ROOM: Final = 2_000_000
"""Chances held at once: 16 MB."""


def expected_failures(*, units: Floats, failures_per_unit_year: Floats, resupply_years: Floats) -> Floats:
    """Failures to be expected until the next delivery.

    Args:
        units: In service.
        failures_per_unit_year: Annual failure rate.
        resupply_years: Time until a new part arrives.

    >>> expected_failures(units=np.array([1000.0]), failures_per_unit_year=np.array([0.05]),
    ...     resupply_years=np.array([1.0]))
    array([50.])
    """
    return units * failures_per_unit_year * resupply_years


def poisson_quantile(*, mean: Floats, level: Floats) -> Floats:
    """Smallest stock that covers a period's failures with a given probability.

    Failures of many parts that fail independently are Poisson about their mean.

    Args:
        mean: Failures to be expected until resupply.
        level: Probability that the stock is enough, below 1.

    Returns:
        Whole numbers, shape (n,).

    Source:
        Poisson distribution; planner-network-notes (stock is its quantile over the resupply time);
        finance_cases.yaml, spares_poisson.

    >>> poisson_quantile(mean=np.array([0.0, 1.0, 10.0, 50.0]), level=np.array([0.95]))
    array([ 0.,  3., 15., 62.])
    """
    means, levels = (np.ravel(one) for one in np.broadcast_arrays(mean, level))
    order = np.argsort(means, kind="stable")
    found = np.empty(means.shape)
    for rows in _batches(means[order]):
        at = order[rows]
        first, chances = _cumulative(means[at])
        found[at] = first + (chances < levels[at][:, None]).sum(axis=1)
    return found


def covered_fraction(*, mean: Floats, stock: Floats) -> Floats:
    """Probability that a stock is enough.

    Args:
        mean: Shape (n,), failures to be expected until resupply.
        stock: Shape (n,), parts on the shelf.

    Returns:
        Shape (n,).

    Source:
        finance_cases.yaml, spares_poisson: a stock of the mean covers little more than half of the cases.

    >>> covered_fraction(mean=np.array([50.0]), stock=np.array([50.0])).round(4)
    array([0.5375])
    """
    means, stocks = (np.ravel(one) for one in np.broadcast_arrays(mean, stock))
    order = np.argsort(means, kind="stable")
    found = np.empty(means.shape)
    for rows in _batches(means[order]):
        at = order[rows]
        first, chances = _cumulative(means[at])
        place = np.clip(stocks[at] - first, -1, chances.shape[1] - 1).astype(np.int64)
        chance = np.take_along_axis(chances, np.maximum(place, 0)[:, None], axis=1)[:, 0]
        found[at] = np.where(place >= 0, chance, 0.0)
    return found


def _batches(means: Floats) -> list[slice]:
    """Runs of rows, ordered by their mean, that fit into the room."""
    slices, start = [], 0
    while start < means.size:
        count = 1
        while start + count < means.size and (count + 1) * _width(means[start + count]) <= _ROOM:
            count += 1
        slices.append(slice(start, start + count))
        start += count
    return slices


def _width(mean: float) -> int:
    return int(2.0 * _WIDEST * np.sqrt(mean) + 2.0 * _WIDEST) + 2


def _cumulative(means: Floats) -> tuple[Floats, Floats]:
    """First count looked at for each mean, and the chance of no more than it, of one more, and so on."""
    first = np.maximum(0.0, np.floor(means - _WIDEST * np.sqrt(means)))
    counts = first[:, None] + np.arange(_width(float(means.max(initial=0.0))))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, counts.max(initial=0.0) + 1.0)))])
    some = np.where(means > 0, means, 1.0)[:, None]
    # by logarithms, since e^-mean is nothing for a large mean
    chances = np.exp(counts * np.log(some) - some - logs[counts.astype(np.int64)])
    chances[means <= 0] = 0.0
    chances[means <= 0, 0] = 1.0
    return first, np.cumsum(chances, axis=1)
