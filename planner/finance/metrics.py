"""Ledger lines of what the plan returns: rates, payback, yearly cost, cover of the levelised price, equity."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.cashflow import CashFlow, taxable
from planner.finance.debt_lines import Debt, cover
from planner.finance.differences import apart
from planner.finance.opex import Opex
from planner.finance.tax_lines import Assessed, assess, disposal
from planner.finance.timeline import Timeline
from planner.finance.worth import worth
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, cumsum, flag, irr, mirr, pmt, prev, sum_months, xirr
from planner.scenario.money import LossUse
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR


def metrics(ledger: Ledger, flow: CashFlow, time: Timeline) -> None:
    """Enter all of them but those that a pure cost has none of."""
    _yearly_cost(ledger, time, flow)
    if flow.revenue is None:
        return
    _rate_of_return(ledger, "metrics.irr", "Rate of return", flow.net)
    reinvested = ledger.derive(
        "metrics.mirr_monthly", "Modified rate of return a month", "fraction/month",
        mirr(flow.net, flow.rate, flow.rate), note="financed and reinvested at the discount rate",
    )  # fmt: skip
    ledger.derive(
        "metrics.mirr_fraction", "Modified rate of return a year", "fraction/year",
        (1 + reinvested) ** MONTHS_PER_YEAR - 1,
    )  # fmt: skip
    if flow.rates.dates is not None:
        single = flag(ledger["metrics.irr_turns"], "=", 1)
        ledger.derive(
            "metrics.xirr_fraction", "Rate of return a year by dates", "fraction/year",
            xirr(flow.net, flow.rates.dates) * single / single,
        )  # fmt: skip
    ledger.derive(
        "cash.cumulative_revenue_usd", "Revenue so far", "USD", cumsum(flow.revenue), sign=Sign.CASH
    )
    _payback(ledger, time, "metrics.payback", "Payback", flow.net)
    today = ledger.derive(
        "cash.net_today_usd", "Net cash flow at month 0's value", "USD", flow.net / (1 + flow.rate) ** time.month,
        sign=Sign.CASH,
    )  # fmt: skip
    _payback(ledger, time, "metrics.discounted_payback", "Payback, discounted", today)


def _yearly_cost(ledger: Ledger, time: Timeline, flow: CashFlow) -> None:
    """Level yearly amount of the same present value, over the horizon, to compare plans of different lives."""
    working = ledger.derive("timing.in_service", "In service", "flag", flag(time.share, ">", 0))
    horizon = ledger.derive("money.horizon_years", "Horizon", "years", sum_months(working) / MONTHS_PER_YEAR)
    ledger.derive(
        "metrics.equivalent_annual_cost_usd", "Equivalent annual cost", "USD/year",
        pmt(flow.rates.yearly, horizon, ledger["tco.npv_usd"]), sign=Sign.COST,
    )  # fmt: skip


def _rate_of_return(ledger: Ledger, key: str, label: str, net: Line) -> None:
    """Internal rate, where the running total changes its sign once: then one positive rate at most exists.

    Several changes may have several rates, none of which is the answer (Norstrom's criterion, recalled).
    """
    total = ledger.derive(
        f"{key}_cumulative_usd", f"Cash so far, {label.lower()}", "USD", cumsum(net), sign=Sign.CASH
    )
    turns = ledger.derive(
        f"{key}_turn_flags", f"Running total changes its sign, {label.lower()}", "flag",
        flag(total * prev(total, 0), "<", 0),
    )  # fmt: skip
    count = ledger.derive(f"{key}_turns", f"Changes of sign, {label.lower()}", "1", sum_months(turns))
    single = flag(count, "=", 1)
    monthly = ledger.derive(
        f"{key}_monthly", f"{label} a month", "fraction/month", irr(net) * single / single,
        note="given where cash so far changes its sign once; with several changes several rates may fit",
    )  # fmt: skip
    ledger.derive(f"{key}_fraction", f"{label} a year", "fraction/year", (1 + monthly) ** MONTHS_PER_YEAR - 1)


def _payback(ledger: Ledger, time: Timeline, key: str, label: str, flow: Line) -> None:
    """Months until cash so far is back at zero, within the month in a straight line; no number if never."""
    so_far = ledger.derive(
        f"{key}_so_far_usd", f"Cash so far, {label.lower()}", "USD", cumsum(flow), sign=Sign.CASH
    )
    before = ledger.derive(
        f"{key}_before_usd", f"Cash before the month, {label.lower()}", "USD", prev(so_far, 0), sign=Sign.CASH
    )
    crossed = ledger.derive(
        f"{key}_crossed",
        f"Back at zero, {label.lower()}",
        "flag",
        flag(before, "<", 0) * flag(so_far, ">=", 0),
    )
    first = ledger.derive(
        f"{key}_first", f"Back at zero for the first time, {label.lower()}", "flag",
        crossed * flag(cumsum(crossed), "=", 1),
    )  # fmt: skip
    at = ledger.derive(
        f"{key}_at_month", f"Month of it, {label.lower()}", "month",
        first * (time.month - 1 - before / (flow * first + (1 - first))),
    )  # fmt: skip
    ever = sum_months(first)
    ledger.derive(f"{key}_months", label, "month", sum_months(at) * ever / ever)


def levelised(ledger: Ledger, parts: Parts, flow: CashFlow, time: Timeline) -> None:
    """Enter what selling every installed hour at its levelised cost would bring over what it costs: 1.

    After tax, the price also pays the tax on itself, which is known in advance where losses are used at once.
    """
    cost = ledger["tco.before_tax_npv_usd" if flow.tax is not None else "tco.npv_usd"]
    sold = ledger.derive(
        "cash.at_levelised_price_usd", "Installed hours sold at their levelised cost", "USD",
        time.hours * ledger["unit.usd_per_gpu_hour"], sign=Sign.CASH,
    )  # fmt: skip
    ledger.derive(
        "metrics.levelised_cover_ratio", "Installed hours sold at their levelised cost, over cost", "1",
        worth(ledger, flow.rates, sold) / cost, note="1: the present value at that price is zero",
    )  # fmt: skip
    tax = parts.loaded.scenario.money.tax
    if tax is None or tax.losses is not LossUse.USED or flow.written is None:
        return
    year_end, rate = flow.written.year_end, ledger["tax.rate_fraction"]
    hours = _by_fiscal_year(ledger, "hours", "GPU-hours", time.hours, year_end)
    taxed = worth(ledger, flow.rates, hours)
    alone: Expr = ledger["tco.npv_usd"] + 0
    if flow.revenue is not None:
        sold_now = _by_fiscal_year(ledger, "revenue", "Revenue", flow.revenue, year_end)
        alone = alone - rate * worth(ledger, flow.rates, sold_now)
    ledger.derive(
        "unit.usd_per_gpu_hour_after_tax", "Price of an installed GPU-hour that pays all costs and tax", "USD/GPU-h",
        alone / (ledger["unit.pv_gpu_hours_installed"] - rate * taxed), sign=Sign.COST,
    )  # fmt: skip


def _by_fiscal_year(ledger: Ledger, name: str, label: str, series: Line, year_end: Line) -> Line:
    """Enter what a fiscal year has of a series, in the month in which its tax is assessed."""
    key = f"tax.{name}_in_year"
    so_far = ledger.derive(
        key, f"{label} so far in the fiscal year", series.unit, series + prev(key, 0) * (1 - prev(year_end, 0)),
        axis=Axis.MONTH,
    )  # fmt: skip
    return ledger.derive(
        f"tax.{name}_assessed",
        f"{label} of the fiscal year, in its last month",
        series.unit,
        so_far * year_end,
    )


@dataclass(frozen=True, slots=True)
class Owners:
    """What the loan makes of tax: the computation with interest, tax paid, and interest deducted with the servers."""

    assessed: Assessed
    tax: Line
    deducted: Line


def equity(
    ledger: Ledger, parts: Parts, running: Opex, flow: CashFlow, time: Timeline, found: Debt | None
) -> Owners | None:
    """Enter what the loan leaves to owners: cash, its rate of return, and the lender's cover.

    Interest lowers tax; interest added to the debt is part of the servers' cost and is written off with them.
    """
    if found is None:
        return None
    owners = _with_interest(ledger, parts, running, flow, time, found)
    tax = None if owners is None else owners.tax
    before: Expr = flow.net + found.cash
    if tax is not None and flow.tax is not None:
        before = before - flow.tax + tax
    own = ledger.derive("cash.equity_usd", "Cash of the owners", "USD", before, sign=Sign.CASH)
    ledger.derive(
        "metrics.equity_npv_usd", "Net present value to the owners", "USD", worth(ledger, flow.rates, own, flow.ends),
        sign=Sign.CASH, note="at the discount rate of the plan",
    )  # fmt: skip
    if flow.revenue is None:
        return owners
    _rate_of_return(ledger, "metrics.equity_irr", "Rate of return to the owners", own)
    earned: Expr = flow.revenue + running.total
    if "cash.working_capital_usd" in ledger:
        earned = earned + ledger["cash.working_capital_usd"]
    available = ledger.derive(
        "debt.available_usd", "Cash available for debt service", "USD", earned if tax is None else earned + tax,
        sign=Sign.CASH,
    )  # fmt: skip
    cover(ledger, parts, time, found, available)
    return owners


def _with_interest(
    ledger: Ledger, parts: Parts, running: Opex, flow: CashFlow, time: Timeline, found: Debt
) -> Owners | None:
    written = flow.written
    if written is None:
        return None
    # a building's own tranche comes last and has no servers: its interest is written off when all is sold
    shares = added(total * share for total, share in zip(found.capitalised, written.server, strict=False))
    more = ledger.derive("debt.deduction_usd", "Deduction of interest added to the debt", "USD", shares)
    left = apart(added(found.capitalised), sum_months(more))
    income = (
        taxable(running, flow.revenue) - written.total - more - found.interest - found.fee
        + disposal(ledger, time, written, flow.residual, left)
    )  # fmt: skip
    assessed = assess(ledger, parts, "tax.levered", ", with the loan", income, written.year_end)
    tax = ledger.derive(
        "cash.levered_tax_usd", "Income tax paid, with the loan", "USD", -assessed.due, sign=Sign.CASH
    )
    return Owners(assessed, tax, more)
