"""Costs spread over time, hours and energy: recovery factors, yearly cost, cost of a GPU-hour."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.ledger.rates import payment, present_value


def capital_recovery_fraction(*, rate: Floats, periods: Floats) -> Floats:
    """Level payment per period that recovers a capital of 1.

    Args:
        rate: Per period.
        periods: How many; say whether years of construction count among them.

    Returns:
        What the arguments broadcast to; 1 / periods at a rate of 0.

    Source:
        finance_cases.yaml, crf_zero and wacc_profast (whose 33 years are 30 of operation and 3 of construction).

    >>> capital_recovery_fraction(rate=np.array([0.1, 0.0]), periods=np.array([5.0])).round(6)
    array([0.263797, 0.2     ])
    """
    return payment(rate=rate, periods=periods, present=np.ones(1))


def equivalent_annual(*, rate: Floats, periods: Floats, npv: Floats) -> Floats:
    """Level amount per period of the same present value, to compare options of different lives.

    Source:
        finance_cases.yaml, eac_ab.

    >>> equivalent_annual(rate=np.array([0.11]), periods=np.array([2.0, 3.0]),
    ...     npv=np.array([-307.63, -411.59])).round(2)
    array([-179.64, -168.43])
    """
    return npv * capital_recovery_fraction(rate=rate, periods=periods)


def levelised_cost(*, rate: Floats, costs: Floats, units: Floats) -> Floats:
    """Present value of costs over present value of what they make, at one rate and one timing.

    Args:
        rate: Shape (n,), per period.
        costs: Shape (n, periods), positive, net of what is left at the end; the first now.
        units: Shape (n, periods): GPU-hours (say which), tokens or kWh.

    Returns:
        Shape (n,), costs per unit.

    Source:
        finance_cases.yaml, lcoc_residual.

    >>> costs, hours = np.array([[1000.0, 100.0, 100.0]]), np.array([[0.0, 400.0, 400.0]])
    >>> levelised_cost(rate=np.array([0.1]), costs=costs, units=hours).round(4)  # 1173.55 / 694.21
    array([1.6905])
    """
    periods = np.arange(costs.shape[-1], dtype=np.float64)
    cost = present_value(rate=rate, flows=costs, periods=periods)
    return cost / present_value(rate=rate, flows=units, periods=periods)


def fixed_charge_fraction(
    *,
    recovery_fraction: Floats,
    tax_fraction: Floats,
    depreciation_pv_fraction: Floats,
    credit_fraction: Floats,
) -> Floats:
    """Yearly charge on a capital of 1 that also pays its income tax.

    Args:
        recovery_fraction: Capital recovery factor.
        tax_fraction: Income tax rate.
        depreciation_pv_fraction: Present value of the deductions, share of the capital.
        credit_fraction: Investment tax credit; half of it is taken off the basis.

    Returns:
        What the arguments broadcast to.

    Source:
        NREL ATB, equations pages: FCR = CRF x (1 - t d (1 - c/2) - c) / (1 - t).

    >>> fixed_charge_fraction(recovery_fraction=np.array([0.1]), tax_fraction=np.array([0.25]),
    ...     depreciation_pv_fraction=np.array([0.8]), credit_fraction=np.array([0.0])).round(6)
    array([0.106667])
    """
    shield = tax_fraction * depreciation_pv_fraction * (1.0 - credit_fraction / 2.0)
    return recovery_fraction * (1.0 - shield - credit_fraction) / (1.0 - tax_fraction)


def fixed_charge_usd_per_kwh(
    *, charge_fraction: Floats, capex_usd: Floats, fixed_usd_per_year: Floats, kwh_per_year: Floats,
    variable_usd_per_kwh: Floats,
) -> Floats:  # fmt: skip
    """Levelised cost of energy by a fixed charge rate.

    Source:
        NREL SAM, LCOE calculator: (FCR x TCC + FOC) / AEP + VOC; finance_cases.yaml, lcoe_sam.

    >>> fixed_charge_usd_per_kwh(charge_fraction=np.array([0.098]), capex_usd=np.array([5e7]),
    ...     fixed_usd_per_year=np.array([2e6]), kwh_per_year=np.array([2e8]),
    ...     variable_usd_per_kwh=np.array([0.01])).round(6)
    array([0.0445])
    """
    return (charge_fraction * capex_usd + fixed_usd_per_year) / kwh_per_year + variable_usd_per_kwh


def share_fractions(*, amounts: Floats) -> Floats:
    """Share of each part in the total: what a breakdown of cost shows.

    Args:
        amounts: Shape (n, parts).

    Returns:
        Shape (n, parts); not a number where the total is 0.

    >>> share_fractions(amounts=np.array([[2.0, 1.0, 1.0]]))
    array([[0.5 , 0.25, 0.25]])
    """
    total = amounts.sum(axis=-1, keepdims=True)
    return np.where(total != 0.0, amounts / np.where(total != 0.0, total, 1.0), np.nan)
