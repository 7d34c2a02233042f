"""Income tax on a project: what becomes of losses, and what deductions are worth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.arrays import Floats
from planner.ledger.rates import present_value


class Losses(StrEnum):
    """What a year's tax loss is good for."""

    USED = "used"
    """Set off at once against other income of the group: tax is negative."""
    FLOORED = "floored"
    """Lost: tax is never negative and nothing is carried. It destroys value without saying so."""
    CARRIED = "carried"
    """Carried forward without end, against a capped share of later income."""


@dataclass(frozen=True, slots=True)
class Tax:
    """Tax by year, shape (n, years).

    Attributes:
        due: Tax; negative where a loss is used at once.
        losses_used: Set off in the year.
        losses_left: Carried on at its end.
    """

    due: Floats
    losses_used: Floats
    losses_left: Floats


def income_tax(*, income_usd: Floats, tax_fraction: Floats, losses: Losses, cap_fraction: Floats) -> Tax:
    """Tax on taxable income, losses being used, lost or carried.

    Args:
        income_usd: Shape (n, years), after depreciation; negative for a loss.
        tax_fraction: Shape (n,).
        losses: What becomes of a loss.
        cap_fraction: Shape (n,), share of a year's income that carried losses may offset: ``loss_cap_fraction``
            of ``catalog/assumptions/tax.yaml``; read only where losses are carried.

    Source:
        planner-finance-notes (losses used, floored, or carried with a cap of 80 %).

    >>> tax = income_tax(income_usd=np.array([[-100.0, 50.0, 100.0]]), tax_fraction=np.array([0.2]),
    ...     losses=Losses.CARRIED, cap_fraction=np.array([0.8]))
    >>> tax.due, tax.losses_left  # 40 of 50 offset, then 60 of at most 80
    (array([[0., 2., 8.]]), array([[100.,  60.,   0.]]))
    """
    if losses is Losses.USED:
        nothing = np.zeros_like(income_usd)
        return Tax(income_usd * tax_fraction[:, None], nothing, nothing)
    carry = 1.0 if losses is Losses.CARRIED else 0.0
    left = np.zeros(income_usd.shape[0])
    due, used, lefts = [], [], []
    for income in income_usd.T:
        gain = np.maximum(income, 0.0)
        offset = np.minimum(left, cap_fraction * gain)
        left = left - offset + carry * np.maximum(-income, 0.0)
        due.append(tax_fraction * (gain - offset))
        used.append(offset)
        lefts.append(left)
    return Tax(*(np.stack(rows, axis=1) for rows in (due, used, lefts)))


def shield_usd(*, deductions_usd: Floats, tax_fraction: Floats, rate: Floats) -> Floats:
    """Present value of the tax that deductions save, the first at the end of year 1.

    Args:
        deductions_usd: Shape (n, years).
        tax_fraction: Shape (n,).
        rate: Shape (n,), per year, nominal.

    Returns:
        Shape (n,).

    Source:
        finance_cases.yaml, tax_shield_pv.

    >>> shield_usd(deductions_usd=np.array([[1e6, 0.0]]), tax_fraction=np.array([0.21]), rate=np.array([0.1])).round(4)
    array([190909.0909])
    """
    years = np.arange(1.0, deductions_usd.shape[1] + 1.0)
    return tax_fraction * present_value(rate=rate, flows=deductions_usd, periods=years)


def after_tax_flows_usd(*, earned_usd: Floats, tax_usd: Floats, invested_usd: Floats) -> Floats:
    """Cash after tax: the investment now, then what each year earns less its tax.

    The years must reach as far as the deductions do: property of five years has six, and without the sixth the
    last shield is lost.

    Args:
        earned_usd: Shape (n, years), before depreciation and tax; zero where only deductions are left.
        tax_usd: Shape (n, years), as of `income_tax`.
        invested_usd: Shape (n,), positive.

    Returns:
        Shape (n, years + 1).

    Source:
        finance_cases.yaml, after_tax_project.

    >>> earned, deducted = np.array([[350.0, 0.0]]), np.array([[200.0, 57.6]])
    >>> tax = income_tax(income_usd=earned - deducted, tax_fraction=np.array([0.25]), losses=Losses.USED,
    ...     cap_fraction=np.array([0.8]))
    >>> after_tax_flows_usd(earned_usd=earned, tax_usd=tax.due, invested_usd=np.array([1000.0]))
    array([[-1000. ,   312.5,    14.4]])
    """
    return np.concatenate([-invested_usd[:, None], earned_usd - tax_usd], axis=1)


def sale_after_tax_usd(*, price_usd: Floats, tax_basis_usd: Floats, tax_fraction: Floats) -> Floats:
    """What a sale leaves after tax on its gain over the basis left (recapture); a loss saves tax.

    >>> sale_after_tax_usd(price_usd=np.array([100.0]), tax_basis_usd=np.array([40.0]), tax_fraction=np.array([0.25]))
    array([85.])
    """
    return price_usd - tax_fraction * (price_usd - tax_basis_usd)
