"""Debt: payments, amortisation, cover, size, and interest while building."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.ledger.rates import internal_rate, payment, present_value


@dataclass(frozen=True, slots=True)
class Amortisation:
    """A loan period by period; all amounts positive, shape (n, periods).

    Attributes:
        opening: Debt at the period's start.
        interest: Of the period.
        principal: Repaid in it.
        closing: Debt at its end; 0 in the last.
    """

    opening: Floats
    interest: Floats
    principal: Floats
    closing: Floats


@dataclass(frozen=True, slots=True)
class Construction:
    """Interest while building.

    Attributes:
        interest: Shape (n, periods).
        capitalised: Shape (n,), draws and interest at the end.
    """

    interest: Floats
    capitalised: Floats


def loan_payment_usd(*, rate: Floats, periods: Floats, lent_usd: Floats, in_advance: bool) -> Floats:
    """Cash flow of each level payment: negative for a loan received, as PMT has it.

    Args:
        rate: Per period.
        periods: How many payments.
        lent_usd: Received now.
        in_advance: Paid at the start of each period instead of its end.

    Returns:
        What the arguments broadcast to.

    Source:
        finance_cases.yaml, pmt_excel.

    >>> loan_payment_usd(rate=np.array([0.08 / 12]), periods=np.array([10.0]), lent_usd=np.array([1e4]),
    ...     in_advance=True).round(2)
    array([-1030.16])
    """
    at_end = -payment(rate=rate, periods=periods, present=lent_usd)
    return np.asarray(at_end / (1.0 + rate)) if in_advance else at_end


def amortisation(*, rate: Floats, periods: int, lent_usd: Floats, interest_only: int = 0) -> Amortisation:
    """A loan repaid by level payments at the end of each period.

    Args:
        rate: Shape (n,), per period.
        periods: How many, those with interest alone among them.
        lent_usd: Shape (n,).
        interest_only: Periods at the start in which nothing is repaid.

    Source:
        finance_cases.yaml, ipmt_npf.

    >>> loan = amortisation(rate=np.array([0.0824 / 12]), periods=12, lent_usd=np.array([2500.0]))
    >>> loan.interest.sum().round(2), loan.principal[0, -1].round(2), abs(loan.closing[0, -1]).round(6)
    (np.float64(112.98), np.float64(216.26), np.float64(0.0))
    """
    assert 0 <= interest_only < periods, (interest_only, periods)
    level = payment(rate=rate, periods=np.array([float(periods - interest_only)]), present=lent_usd)
    debt, openings, interests, principals, closings = lent_usd, [], [], [], []
    for period in range(periods):
        interest = debt * rate
        repaid = level - interest if period >= interest_only else np.zeros_like(debt)
        openings.append(debt)
        interests.append(interest)
        principals.append(repaid)
        debt = debt - repaid
        closings.append(debt)
    return Amortisation(*(np.stack(rows, axis=1) for rows in (openings, interests, principals, closings)))


def implied_rate(*, periods: int, payment_usd: Floats, lent_usd: Floats) -> Floats:
    """Rate per period of a loan with level payments at the end, as RATE has it.

    Args:
        periods: How many payments.
        payment_usd: Shape (n,), negative.
        lent_usd: Shape (n,), received now.

    Returns:
        Shape (n,).

    Source:
        finance_cases.yaml, rate_excel.

    >>> implied_rate(periods=48, payment_usd=np.array([-200.0]), lent_usd=np.array([8000.0])).round(9)
    array([0.00770147])
    """
    paid = np.repeat(payment_usd[:, None], periods, axis=1)
    flows = np.concatenate([lent_usd[:, None], paid], axis=1)
    return internal_rate(flows=flows, periods=np.arange(periods + 1.0))


def debt_service_cover(*, cash_usd: Floats, service_usd: Floats) -> Floats:
    """Cash available over interest and repayment (DSCR), by period.

    Args:
        cash_usd: Shape (n, periods), after operating cost and tax.
        service_usd: Shape (n, periods), positive.

    Returns:
        Shape (n, periods); not a number where nothing is due.

    >>> debt_service_cover(cash_usd=np.array([[130.0, 90.0, 50.0]]), service_usd=np.array([[100.0, 100.0, 0.0]]))
    array([[1.3, 0.9, nan]])
    """
    due = service_usd > 0
    return np.where(due, cash_usd / np.where(due, service_usd, 1.0), np.nan)


def least_cover(*, cash_usd: Floats, service_usd: Floats) -> Floats:
    """Lowest cover of all periods, shape (n,); not a number without debt.

    >>> least_cover(cash_usd=np.array([[130.0, 90.0, 50.0]]), service_usd=np.array([[100.0, 100.0, 0.0]]))
    array([0.9])
    """
    cover = debt_service_cover(cash_usd=cash_usd, service_usd=service_usd)
    least = np.where(np.isnan(cover), np.inf, cover).min(axis=-1)
    return np.where(np.isinf(least), np.nan, least)


def sculpted_debt_usd(*, cash_usd: Floats, cover: Floats, rate: Floats) -> Floats:
    """Largest loan whose service keeps a cover in every period: service is cash over cover.

    Args:
        cash_usd: Shape (n, periods), at the end of each.
        cover: Shape (n,), wanted DSCR.
        rate: Shape (n,), per period.

    Returns:
        Shape (n,).

    >>> sculpted_debt_usd(cash_usd=np.array([[130.0, 130.0]]), cover=np.array([1.3]), rate=np.array([0.1])).round(2)
    array([173.55])
    """
    service = np.maximum(cash_usd, 0.0) / cover[:, None]
    return present_value(rate=rate, flows=service, periods=np.arange(1.0, cash_usd.shape[1] + 1.0))


def construction_interest(*, draws_usd: Floats, rate: Floats) -> Construction:
    """Interest on draws in the middle of each period, added to the debt at its end.

    Args:
        draws_usd: Shape (n, periods).
        rate: Shape (n,), per period.

    Source:
        finance_cases.yaml, idc: (40 M / 2) at 8 %, then (41.6 M + 60 M / 2) at 8 %.

    >>> built = construction_interest(draws_usd=np.array([[40e6, 60e6]]), rate=np.array([0.08]))
    >>> built.interest, built.capitalised
    (array([[1600000., 5728000.]]), array([1.07328e+08]))
    """
    debt = np.zeros(draws_usd.shape[0])
    rows = []
    for drawn in draws_usd.T:
        interest = (debt + drawn / 2.0) * rate
        rows.append(interest)
        debt = debt + drawn + interest
    return Construction(np.stack(rows, axis=1), debt)
