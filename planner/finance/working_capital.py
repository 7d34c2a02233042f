"""Cash tied up between delivery and payment."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.units import DAYS_PER_YEAR


def net_working_capital_usd(
    *, revenue_usd: Floats, purchases_usd: Floats, receivable_days: Floats, payable_days: Floats,
    inventory_days: Floats,
) -> Floats:  # fmt: skip
    """Receivables and stock less payables, at each year's end.

    Args:
        revenue_usd: Shape (n, years).
        purchases_usd: Shape (n, years), positive: what suppliers are paid and stock is held of.
        receivable_days: Shape (n,), days until customers pay (DSO).
        payable_days: Shape (n,), days until suppliers are paid (DPO).
        inventory_days: Shape (n,), days of purchases in stock (DIO).

    Returns:
        Shape (n, years).

    Source:
        finance_cases.yaml, nwc: years of 365 days.

    >>> net_working_capital_usd(revenue_usd=np.array([[12e6, 18e6]]), purchases_usd=np.array([[6e6, 9e6]]),
    ...     receivable_days=np.array([45.0]), payable_days=np.array([60.0]),
    ...     inventory_days=np.array([0.0])).round(2)
    array([[493150.68, 739726.03]])
    """
    owed_to_us = revenue_usd * receivable_days[:, None]
    ours = purchases_usd * (inventory_days - payable_days)[:, None]
    return np.asarray((owed_to_us + ours) / DAYS_PER_YEAR)


def cash_effect_usd(*, working_capital_usd: Floats) -> Floats:
    """Cash flow of changes in working capital, all of it released after the last year.

    Args:
        working_capital_usd: Shape (n, years).

    Returns:
        Shape (n, years + 1), in positive; sums to 0.

    Source:
        finance_cases.yaml, nwc.

    >>> cash_effect_usd(working_capital_usd=np.array([[5.0, 7.0]]))
    array([[-5., -2.,  7.]])
    """
    return -np.diff(working_capital_usd, axis=1, prepend=0.0, append=0.0)
