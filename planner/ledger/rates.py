"""Rates of return and payments over arrays of cash flows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats

_LOWEST = -0.95
_HIGHEST = 10.0


def present_value(*, rate: Floats, flows: Floats, periods: Floats) -> Floats:
    """Sum of flows over (1 + rate)^period.

    Args:
        rate: Shape (n,), per period.
        flows: Shape (n, periods), in positive.
        periods: Shape (periods,) or (n, periods), such as months 0, 1, 2.

    Returns:
        Shape (n,).

    >>> present_value(rate=np.array([0.1]), flows=np.array([[-10000.0, 3000, 4200, 6800]]),
    ...     periods=np.arange(4.0)).round(2)
    array([1307.29])
    """
    return np.asarray((flows * np.exp(-periods * np.log1p(rate)[:, None])).sum(axis=-1))


def internal_rate(*, flows: Floats, periods: Floats, from_zero: Floats | None = None) -> Floats:
    """Rate at which the present value is zero, between -95 % and 1,000 % a period.

    Looks for the change of sign nearest to zero on a grid, then halves the bracket until it is a
    single floating-point number wide.

    Args:
        flows: Shape (n, periods).
        periods: Shape (periods,) or (n, periods).
        from_zero: Shape (n,); 1 where only rates from zero up count.

    Returns:
        Shape (n,); not a number where the present value never changes its sign.

    >>> internal_rate(flows=np.array([[-100.0, 110.0], [-1.0, -1.0]]),
    ...     periods=np.arange(2.0)).round(9)
    array([0.1, nan])
    """
    balance = _balance(flows, np.broadcast_to(periods, flows.shape))
    grid, values = _scan(balance, flows.shape[0])
    n = flows.shape[0]
    changes = np.signbit(values[:, 1:]) != np.signbit(values[:, :-1])
    if from_zero is not None:
        changes &= (from_zero[:, None] == 0.0) | ~_below_zero(grid)
    distance = np.where(changes, np.abs(grid[1:] + grid[:-1]), np.inf)
    at = distance.argmin(axis=1)
    low, high = grid[at], grid[at + 1]
    low_value = values[np.arange(n), at]
    for _ in range(60):
        middle = (low + high) / 2.0
        value = balance(middle)
        same = np.signbit(value) == np.signbit(low_value)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.where(changes.any(axis=1), (low + high) / 2.0, np.nan)


def root_counts(*, flows: Floats, periods: Floats) -> tuple[Floats, Floats]:
    """How many rates below zero, and how many from zero up, make the present value zero.

    Counted on the grid that `internal_rate` searches: two rates closer together than its step (0.3 points
    near zero, 2 points below -2 %, a tenth above 20 %) are missed together.

    Returns:
        Shape (n,) each.

    >>> root_counts(flows=np.array([[-100.0, 230.0, -132.0], [-100.0, 110.0, 0.0]]), periods=np.arange(3.0))
    (array([0., 0.]), array([2., 1.]))
    """
    balance = _balance(flows, np.broadcast_to(periods, flows.shape))
    grid, values = _scan(balance, flows.shape[0])
    changes = np.signbit(values[:, 1:]) != np.signbit(values[:, :-1])
    below = _below_zero(grid)
    return changes[:, below].sum(axis=1).astype(np.float64), changes[:, ~below].sum(axis=1).astype(np.float64)


def _below_zero(grid: Floats) -> NDArray[np.bool_]:
    """Steps of the grid that lie below zero; the one that holds zero does not."""
    return np.asarray((grid[1:] + grid[:-1]) < 0.0)


def _scan(balance: Callable[[Floats], Floats], n: int) -> tuple[Floats, Floats]:
    """Rates to try, and the balance at each: shape (n, rates)."""
    grid = np.concatenate([np.linspace(_LOWEST, -0.02, 48), np.linspace(-0.019, 0.2, 74),
                           np.geomspace(0.21, _HIGHEST, 40)])  # fmt: skip
    if n == 1:
        return grid, balance(grid)[None, :]
    return grid, np.stack([balance(np.full(n, rate)) for rate in grid], axis=1)


def _balance(flows: Floats, periods: Floats) -> Callable[[Floats], Floats]:
    """Value of the flows by rate, at the date that keeps every weight at or below 1.

    That is the first flow for a positive rate and the last for a negative one: neither 0.05^-360
    nor 11^-360 fits a float. Its sign is the present value's. One row of flows takes many rates at once.
    """
    n, width = flows.shape
    rows = np.arange(n)
    first = periods[rows, (flows != 0).argmax(axis=1)]
    last = periods[rows, width - 1 - (flows != 0)[:, ::-1].argmax(axis=1)]

    def balance(rate: Floats) -> Floats:
        anchor = np.where(rate >= 0, first, last)
        exponents = -(periods - anchor[:, None]) * np.log1p(rate)[:, None]
        return np.asarray((flows * np.exp(np.minimum(exponents, 0.0))).sum(axis=1))

    return balance


def modified_rate(*, flows: Floats, finance_rate: Floats, reinvest_rate: Floats) -> Floats:
    """Modified internal rate of return: inflows compounded to the end, outflows discounted to the start.

    Returns:
        Shape (n,); not a number without both an outflow and an inflow.

    >>> modified_rate(flows=np.array([[-120000.0, 39000, 30000, 21000, 37000, 46000]]),
    ...     finance_rate=np.array([0.1]), reinvest_rate=np.array([0.12])).round(6)
    array([0.126094])
    """
    months = np.arange(flows.shape[1], dtype=np.float64)
    last = max(months[-1], 1.0)
    gained = present_value(rate=reinvest_rate, flows=np.maximum(flows, 0.0), periods=months)
    spent = present_value(rate=finance_rate, flows=np.minimum(flows, 0.0), periods=months)
    usable = (gained > 0) & (spent < 0)
    ratio = np.where(usable, gained, 1.0) * (1.0 + reinvest_rate) ** last / np.where(usable, -spent, 1.0)
    return np.where(usable, ratio ** (1.0 / last) - 1.0, np.nan)


def payment(*, rate: Floats, periods: Floats, present: Floats) -> Floats:
    """Level payment at the end of each period that repays ``present``.

    >>> payment(rate=np.array([0.08 / 12]), periods=np.array([10.0]),
    ...     present=np.array([10000.0])).round(2)
    array([1037.03])
    """
    safe = np.where(rate == 0.0, 1.0, rate)
    level = present * (safe / -np.expm1(-periods * np.log1p(safe)))
    return np.where(rate == 0.0, present / periods, level)
