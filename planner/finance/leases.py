"""Lease or buy, and how a lease stands in the books."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.arrays import Floats
from planner.ledger.rates import present_value


class LeaseKind(StrEnum):
    """How a lease is charged. Either way asset and liability stand on the balance sheet."""

    FINANCE = "finance"
    """Interest and straight-line amortisation: a finance lease of ASC 842, and every lease of IFRS 16."""
    OPERATING = "operating"
    """One level charge: an operating lease of ASC 842."""


@dataclass(frozen=True, slots=True)
class LeaseBooks:
    """A lease in the books; shape (n, periods), all positive.

    Attributes:
        interest: On the liability.
        liability: What is owed at the period's end; 0 in the last.
        amortisation: Of the right to use.
        right_of_use: Asset at the period's end; 0 in the last.
        expense: Charge to profit: interest and amortisation, which is level for an operating lease.
    """

    interest: Floats
    liability: Floats
    amortisation: Floats
    right_of_use: Floats
    expense: Floats


def advantage_of_leasing_usd(
    *, cost_usd: Floats, payment_usd: Floats, payments: int, in_advance: bool, debt_rate: Floats,
    tax_fraction: Floats, depreciation_fractions: Floats, residual_usd: Floats, residual_rate: Floats,
    buyout_usd: Floats,
) -> Floats:  # fmt: skip
    """What leasing is worth more than buying today (net advantage to leasing).

    The lessee saves the price, pays rent less its tax relief, and goes without the tax shield of depreciation,
    all at the after-tax cost of debt. At the end it lacks what the asset is worth then, or pays the buyout
    where that is less, discounted at a rate of its own, since that value is less certain than rent.
    Tax relief comes with each payment; shields at the end of each year.

    Args:
        cost_usd: Shape (n,), price of buying.
        payment_usd: Shape (n,), each payment of rent.
        payments: How many, one a year.
        in_advance: Paid at the start of each year; in arrears otherwise. It may decide the sign.
        debt_rate: Shape (n,), before tax.
        tax_fraction: Shape (n,).
        depreciation_fractions: Shape (years,) or (n, years), tax deductions of the owner.
        residual_usd: Shape (n,), worth at the end of the term, before tax, the asset being written off.
        residual_rate: Shape (n,), for the residual, after tax.
        buyout_usd: Shape (n,), price of an option to buy at the end; infinite for none.

    Returns:
        Shape (n,), positive where leasing is better.

    Source:
        finance_cases.yaml, nal_nationalrail; in advance it is -5,236.28.

    >>> terms = dict(cost_usd=np.array([386000.0]), payment_usd=np.array([110500.0]), payments=4,
    ...     debt_rate=np.array([0.08]), tax_fraction=np.array([0.21]),
    ...     depreciation_fractions=np.array([0.3333, 0.4444, 0.1482, 0.0741]), residual_usd=np.array([0.0]),
    ...     residual_rate=np.array([0.1]), buyout_usd=np.array([np.inf]))
    >>> [advantage_of_leasing_usd(in_advance=early, **terms).round(2) for early in (False, True)]
    [array([13741.61]), array([-5236.28])]
    """
    after_tax = debt_rate * (1.0 - tax_fraction)
    dates = np.arange(float(payments)) + (0.0 if in_advance else 1.0)
    rent = np.repeat((payment_usd * (1.0 - tax_fraction))[:, None], payments, axis=1)
    shields = cost_usd[:, None] * depreciation_fractions * tax_fraction[:, None]
    years = np.arange(1.0, shields.shape[1] + 1.0)
    end = np.minimum(residual_usd, buyout_usd) * (1.0 - tax_fraction) / (1.0 + residual_rate) ** payments
    return np.asarray(
        cost_usd
        - present_value(rate=after_tax, flows=rent, periods=dates)
        - present_value(rate=after_tax, flows=shields, periods=years)
        - end
    )


def lease_books(*, payments_usd: Floats, rate: Floats, in_advance: bool, kind: LeaseKind) -> LeaseBooks:
    """Liability, right to use and charge by period.

    The liability starts at the present value of the payments, and the right to use at the same value.

    Args:
        payments_usd: Shape (n, periods), positive.
        rate: Shape (n,), per period: the lease's own, else that of borrowing.
        in_advance: Paid at the start of each period.
        kind: Finance or operating.

    Source:
        ASC 842 and IFRS 16 (recalled).

    >>> books = lease_books(payments_usd=np.array([[100.0, 100.0, 100.0]]), rate=np.array([0.1]),
    ...     in_advance=False, kind=LeaseKind.OPERATING)
    >>> books.liability.round(2), books.expense.round(2)
    (array([[173.55,  90.91,   0.  ]]), array([[100., 100., 100.]]))
    """
    periods = payments_usd.shape[1]
    dates = np.arange(float(periods)) + (0.0 if in_advance else 1.0)
    start = present_value(rate=rate, flows=payments_usd, periods=dates)
    owed, interests, owed_after = start, [], []
    for paid in payments_usd.T:
        interest = (owed - paid if in_advance else owed) * rate
        owed = owed + interest - paid
        interests.append(interest)
        owed_after.append(owed)
    interest = np.stack(interests, axis=1)
    if kind is LeaseKind.OPERATING:
        level = payments_usd.mean(axis=1, keepdims=True)
        amortisation = level - interest
    else:
        amortisation = np.repeat(start[:, None] / periods, periods, axis=1)
    asset = start[:, None] - np.cumsum(amortisation, axis=1)
    return LeaseBooks(interest, np.stack(owed_after, axis=1), amortisation, asset, interest + amortisation)
