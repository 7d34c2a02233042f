"""What goods cost once they stand in the hall: freight, insurance, duty, tax, contingency."""

from __future__ import annotations

from dataclasses import dataclass

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class Landed:
    """Landed cost, part by part, shape (n,).

    Attributes:
        shipped_usd: Goods, freight and insurance: the value that duty is taken on (CIF).
        duty_usd: On it.
        tax_usd: Sales tax or VAT on both that is not recovered.
        total_usd: All of them: the base of depreciation.
        contingency_usd: Above the total; no part of that base until it is spent.
        budget_usd: Total and contingency.
    """

    shipped_usd: Floats
    duty_usd: Floats
    tax_usd: Floats
    total_usd: Floats
    contingency_usd: Floats
    budget_usd: Floats


def landed_cost(
    *, goods_usd: Floats, freight_usd: Floats, insurance_usd: Floats, duty_fraction: Floats, tax_fraction: Floats,
    recovered_fraction: Floats, contingency_fraction: Floats,
) -> Landed:  # fmt: skip
    """The stack of charges on a purchase; contingency comes last, after tax.

    Args:
        goods_usd: Price at the maker's door.
        freight_usd: Transport.
        insurance_usd: In transit.
        duty_fraction: Of goods, freight and insurance.
        tax_fraction: Sales tax or VAT, of the duty-paid value.
        recovered_fraction: Share of the tax that comes back: 1 for recoverable VAT, 0 for sales tax.
        contingency_fraction: Of the landed cost.

    Source:
        planner-finance-notes: 100,000 lands at 115,441.20, and 121,213.26 with 5 %. The notes don't say the rates;
        1.8 % freight and insurance, 5 % duty and 8 % tax give both to the cent.

    >>> import numpy as np
    >>> landed = landed_cost(goods_usd=np.array([1e5]), freight_usd=np.array([1500.0]),
    ...     insurance_usd=np.array([300.0]), duty_fraction=np.array([0.05]), tax_fraction=np.array([0.08]),
    ...     recovered_fraction=np.array([0.0]), contingency_fraction=np.array([0.05]))
    >>> landed.total_usd.round(2), landed.budget_usd.round(2)
    (array([115441.2]), array([121213.26]))
    """
    shipped = goods_usd + freight_usd + insurance_usd
    duty = shipped * duty_fraction
    tax = (shipped + duty) * tax_fraction * (1.0 - recovered_fraction)
    total = shipped + duty + tax
    contingency = total * contingency_fraction
    return Landed(shipped, duty, tax, total, contingency, total + contingency)
