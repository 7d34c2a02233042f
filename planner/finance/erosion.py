"""Prices that fall until the order is placed."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.ledger.rates import present_value


def eroded_price_usd(*, price_usd: Floats, fall_fraction_per_year: Floats, years: Floats) -> Floats:
    """Price at the order's date; the date of payment or of service doesn't change it.

    Args:
        price_usd: Today.
        fall_fraction_per_year: How much of the price goes each year; negative where prices rise.
        years: From today to the order.

    Returns:
        What the arguments broadcast to.

    Source:
        finance_cases.yaml, price_erosion.

    >>> eroded_price_usd(price_usd=np.array([30000.0]), fall_fraction_per_year=np.array([0.2]),
    ...     years=np.array([0.0, 1.0, 2.0]))
    array([30000., 24000., 19200.])
    """
    return price_usd * (1.0 - fall_fraction_per_year) ** years


def phased_spending(
    *, units: Floats, price_usd: Floats, fall_fraction_per_year: Floats, rate: Floats, years: Floats
) -> tuple[Floats, Floats]:
    """What purchases in phases cost, as paid and in today's value.

    Args:
        units: Shape (n, phases).
        price_usd: Shape (n,), today.
        fall_fraction_per_year: Shape (n,).
        rate: Shape (n,), discount rate per year.
        years: Shape (phases,), from today to each order, paid then.

    Returns:
        Total as paid and present value, shape (n,) each.

    Source:
        finance_cases.yaml, price_erosion.

    >>> paid, worth = phased_spending(units=np.array([[1000.0, 1000.0, 1000.0]]), price_usd=np.array([30000.0]),
    ...     fall_fraction_per_year=np.array([0.2]), rate=np.array([0.1]), years=np.arange(3.0))
    >>> paid.round(2), worth.round(2)
    (array([73200000.]), array([67685950.41]))
    """
    price = eroded_price_usd(
        price_usd=price_usd[:, None], fall_fraction_per_year=fall_fraction_per_year[:, None], years=years
    )
    spent = units * price
    return np.asarray(spent.sum(axis=1)), present_value(rate=rate, flows=spent, periods=years)
