"""Bills of utilities and colocation: energy, demand with its ratchet, time of use, take-or-pay.

Energy is billed on average power and demand on the highest, both at the meter: PUE is applied before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.units import MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class Bill:
    """A period's bill.

    Attributes:
        energy_usd: For kWh.
        demand_usd: For the highest power.
        total_usd: With the fixed charge.
        usd_per_kwh: Total over energy, to compare with a flat price.
    """

    energy_usd: Floats
    demand_usd: Floats
    total_usd: Floats
    usd_per_kwh: Floats


def energy_bill(
    *, energy_kwh: Floats, usd_per_kwh: Floats, demand_kw: Floats, usd_per_kw: Floats, fixed_usd: Floats
) -> Bill:
    """Bill of a month, or of each month of a series.

    Args:
        energy_kwh: At the meter.
        usd_per_kwh: Price, or the average of a tariff by time of use.
        demand_kw: Billed power at the meter, after any ratchet.
        usd_per_kw: Demand charge for the period.
        fixed_usd: Customer charge for the period.

    Source:
        finance_cases.yaml, energy_bill.

    >>> bill = energy_bill(energy_kwh=np.array([821250.0]), usd_per_kwh=np.array([0.06]),
    ...     demand_kw=np.array([1250.0]), usd_per_kw=np.array([15.0]), fixed_usd=np.array([500.0]))
    >>> bill.total_usd, bill.usd_per_kwh.round(6)
    (array([68525.]), array([0.08344]))
    """
    energy = energy_kwh * usd_per_kwh
    demand = demand_kw * usd_per_kw
    total = energy + demand + fixed_usd
    return Bill(energy, demand, total, total / energy_kwh)


def billed_demand_kw(*, peak_kw: Floats, ratchet_fraction: Floats, months_before: int) -> Floats:
    """Power billed each month: this month's peak, or a share of the highest of the months before.

    Args:
        peak_kw: Shape (n, months), highest power at the meter.
        ratchet_fraction: Shape (n,); 0 for none.
        months_before: How many months the ratchet remembers; tariffs have 11 or 12.

    Returns:
        Shape (n, months).

    Source:
        finance_cases.yaml, demand_ratchet_ramp.

    >>> billed_demand_kw(peak_kw=np.array([[500.0, 1000.0, 600.0, 500.0]]), ratchet_fraction=np.array([0.8]),
    ...     months_before=2)
    array([[ 500., 1000.,  800.,  800.]])
    """
    billed = peak_kw.copy()
    for back in range(1, min(months_before, peak_kw.shape[1] - 1) + 1):
        remembered = ratchet_fraction[:, None] * peak_kw[:, :-back]
        billed[:, back:] = np.maximum(billed[:, back:], remembered)
    return billed


def time_of_use_usd_per_kwh(*, energy_fractions: Floats, usd_per_kwh: Floats) -> Floats:
    """Average price of energy over the windows of a tariff.

    Args:
        energy_fractions: Shape (windows,) or (n, windows), shares of the energy; for a constant load the shares
            of the hours. They sum to 1.
        usd_per_kwh: Shape (windows,) or (n, windows).

    Returns:
        Shape (n,), or a single number where both have windows alone.

    >>> time_of_use_usd_per_kwh(energy_fractions=np.array([[0.25, 0.75]]), usd_per_kwh=np.array([0.14, 0.06]))
    array([0.08])
    """
    return np.asarray((energy_fractions * usd_per_kwh).sum(axis=-1))


def escalated(*, price: Floats, rise_fraction: Floats, months: int, anniversary: int) -> Floats:
    """Price by month of a contract that rises once a year, on its anniversary.

    Args:
        price: Shape (n,), of the first year.
        rise_fraction: Shape (n,), a year.
        months: Length of the axis.
        anniversary: Months of the contract that had passed at the axis's start, 0 to 11.

    Returns:
        Shape (n, months).

    Source:
        finance_cases.yaml, take_or_pay: compounds on the anniversary, not on the calendar year.

    >>> escalated(price=np.array([100.0]), rise_fraction=np.array([0.03]), months=14, anniversary=0)[0, [0, 11, 12]]
    array([100., 100., 103.])
    """
    years = (np.arange(months) + anniversary) // int(MONTHS_PER_YEAR)
    return np.asarray(price[:, None] * (1.0 + rise_fraction[:, None]) ** years)


def take_or_pay_kw(*, used_kw: Floats, contract_kw: Floats, committed_fraction: Floats) -> Floats:
    """Power billed under a contract: what is used, but no less than the committed share.

    Use beyond the contract is billed too; whether the contract allows it is another question.

    Args:
        used_kw: Shape (n, periods).
        contract_kw: Shape (n,).
        committed_fraction: Shape (n,).

    Returns:
        Shape (n, periods).

    Source:
        finance_cases.yaml, take_or_pay.

    >>> take_or_pay_kw(used_kw=np.array([[1000.0, 1700.0, 2000.0]]), contract_kw=np.array([2000.0]),
    ...     committed_fraction=np.array([0.9]))
    array([[1800., 1800., 2000.]])
    """
    return np.maximum(used_kw, (committed_fraction * contract_kw)[:, None])
