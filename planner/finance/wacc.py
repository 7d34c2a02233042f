"""Cost of capital: what lenders and owners ask, by the market's weights."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def wacc(*, debt_fraction: Floats, debt_rate: Floats, equity_rate: Floats, tax_fraction: Floats) -> Floats:
    """Weighted average cost of capital after tax; nominal, for nominal flows.

    Args:
        debt_fraction: Debt over debt and equity at market values.
        debt_rate: Interest per year, before tax.
        equity_rate: Return the owners ask, per year.
        tax_fraction: Tax rate that interest is deducted at; 0 for the rate before tax.

    Returns:
        What the arguments broadcast to.

    Source:
        finance_cases.yaml, wacc_profast; the case here is recalled: 12.4 % before and 11.0 % after tax.

    >>> wacc(debt_fraction=np.array([0.4]), debt_rate=np.array([0.1]), equity_rate=np.array([0.14]),
    ...     tax_fraction=np.array([0.0, 0.35])).round(6)
    array([0.124, 0.11 ])
    """
    after_tax = debt_rate * (1.0 - tax_fraction)
    return np.asarray(debt_fraction * after_tax + (1.0 - debt_fraction) * equity_rate)


def debt_fraction(*, debt_to_equity: Floats) -> Floats:
    """Debt over debt and equity, of debt over equity.

    >>> debt_fraction(debt_to_equity=np.array([1.72])).round(6)
    array([0.632353])
    """
    return debt_to_equity / (1.0 + debt_to_equity)


def equity_rate(*, risk_free_rate: Floats, beta: Floats, premium: Floats) -> Floats:
    """Return that owners ask by the capital asset pricing model.

    Args:
        risk_free_rate: Per year.
        beta: How the share moves with the market.
        premium: Return of the market above the risk-free rate.

    >>> equity_rate(risk_free_rate=np.array([0.1]), beta=np.array([0.5]), premium=np.array([0.08]))
    array([0.14])
    """
    return risk_free_rate + beta * premium


def relevered_beta(*, beta: Floats, debt_to_equity: Floats, tax_fraction: Floats) -> Floats:
    """Beta of a company with debt, from the beta of the same business without.

    Source:
        Hamada 1972 (recalled).

    >>> relevered_beta(beta=np.array([0.8]), debt_to_equity=np.array([0.5]), tax_fraction=np.array([0.2]))
    array([1.12])
    """
    return beta * (1.0 + (1.0 - tax_fraction) * debt_to_equity)
