"""Cash flow by month, before and after tax, and what it is worth today."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.capex import Capex
from planner.finance.operator import selling_price
from planner.finance.opex import Opex
from planner.finance.residual_lines import residual
from planner.finance.tax_deductions import Deductions, deductions
from planner.finance.tax_lines import Assessed, assess, disposal
from planner.finance.timeline import Timeline
from planner.finance.worth import Rates, rates, worth
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, flag, prev, sum_months
from planner.scenario.givens import wish_line
from planner.scenario.parts import Parts
from planner.units import DAYS_PER_YEAR, MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class CashFlow:
    """Ledger lines of cash: residual, revenue, net, balance, and the monthly discount rate.

    Attributes:
        cost: All costs net of residual value, before income tax.
        ends: The parts of it that fall at the end of the plan: resale, then further costs.
        tax: Income tax paid, cash in positive; None before tax.
        net: Cost, revenue, working capital and tax: what the project leaves, whoever finances it.
        rates: Discount rates and the timing of flows.
        written: Deductions for tax; None before tax.
        assessed: The tax computation.
    """

    residual: Line
    revenue: Line | None
    cost: Line
    ends: tuple[Line, ...]
    tax: Line | None
    net: Line
    cumulative: Line
    rate: Line
    rates: Rates
    written: Deductions | None = None
    assessed: Assessed | None = None


def cash_flow(ledger: Ledger, parts: Parts, bought: Capex, running: Opex, time: Timeline) -> CashFlow:
    """Enter the flows and what they are worth today."""
    sold = residual(ledger, parts, bought, time)
    ends = (sold, running.at_end)
    cost = ledger.derive(
        "cash.cost_usd", "All costs net of residual value", "USD",
        added([*bought.payments, running.total, *ends, running.deposits]), sign=Sign.CASH,
    )  # fmt: skip
    revenue = _revenue(ledger, parts, time)
    flows: list[Line] = [cost] if revenue is None else [cost, revenue]
    tied = _working_capital(ledger, parts, running, revenue, time)
    if tied is not None:
        flows.append(tied)
    written, assessed, tax = None, None, None
    if parts.loaded.scenario.money.tax is not None:
        written = deductions(ledger, parts, bought, time)
        income = taxable(running, revenue) - written.total + disposal(ledger, time, written, sold + 0)
        assessed = assess(ledger, parts, "tax", "", income, written.year_end)
        tax = ledger.derive("cash.tax_usd", "Income tax paid", "USD", -assessed.due, sign=Sign.CASH)
        flows.append(tax)
    net = ledger.derive("cash.net_usd", "Net cash flow", "USD", added(flows), sign=Sign.CASH)
    ledger.derive(
        "cash.opening_usd", "Cumulative cash at the start", "USD", prev("cash.closing_usd", 0),
        axis=Axis.MONTH, sign=Sign.CASH,
    )  # fmt: skip
    closing = ledger.derive(
        "cash.closing_usd", "Cumulative cash at the end", "USD", ledger["cash.opening_usd"] + net,
        axis=Axis.MONTH, sign=Sign.CASH,
    )  # fmt: skip
    found = rates(ledger, parts, time)
    flow = CashFlow(sold, revenue, cost, ends, tax, net, closing, found.monthly, found, written, assessed)
    _present_values(ledger, bought, running, flow)
    return flow


def taxable(running: Opex, revenue: Line | None) -> Expr:
    """What is earned and spent in a month as tax has it, before deductions for the purchase."""
    found = running.total + running.at_end
    if revenue is not None:
        found = found + revenue
    return found if running.not_deductible is None else found - running.not_deductible


def _revenue(ledger: Ledger, parts: Parts, time: Timeline) -> Line | None:
    money = parts.loaded.scenario.money
    if money.sell_usd_per_gpu_hour is None:
        return None
    price = selling_price(ledger, parts, time, sell_price(ledger, parts))
    return ledger.derive(
        "cash.revenue_usd", "Revenue", "USD", ledger["timing.gpu_hours_sold"] * price, sign=Sign.CASH
    )


def sell_price(ledger: Ledger, parts: Parts) -> Line:
    """Price of a sold GPU-hour; entered once."""
    key, value = "money.sell_usd_per_gpu_hour", parts.loaded.scenario.money.sell_usd_per_gpu_hour
    assert value is not None
    if key in ledger:
        return ledger[key]
    return wish_line(
        ledger,
        parts.loaded,
        key,
        "Price of a sold GPU-hour",
        "USD/GPU-h",
        value,
        "money",
        "sell_usd_per_gpu_hour",
    )


def _working_capital(
    ledger: Ledger, parts: Parts, running: Opex, revenue: Line | None, time: Timeline
) -> Line | None:
    """Cash effect of what customers owe and suppliers are owed; all of it is released in the last month."""
    terms = parts.loaded.scenario.money.working_capital
    if terms is None:
        return None
    payable = wish_line(
        ledger, parts.loaded, "wc.payable_days", "Days until running costs are paid", "day", terms.payable_days,
        "money", "working_capital", "payable_days",
    )  # fmt: skip
    tied: Expr = running.total * payable
    if revenue is not None:
        receivable = wish_line(
            ledger, parts.loaded, "wc.receivable_days", "Days until customers pay", "day", terms.receivable_days,
            "money", "working_capital", "receivable_days",
        )  # fmt: skip
        tied = revenue * receivable + tied
    open_ = flag(time.month, "<", ledger.months - 1)
    balance = ledger.derive(
        "wc.closing_usd", "Working capital", "USD", tied * (MONTHS_PER_YEAR / DAYS_PER_YEAR) * open_,
        note="revenue and running costs of a month, by days of a year of 365",
    )  # fmt: skip
    return ledger.derive(
        "cash.working_capital_usd",
        "Change of working capital",
        "USD",
        prev(balance, 0) - balance,
        sign=Sign.CASH,
    )


def _present_values(ledger: Ledger, bought: Capex, running: Opex, flow: CashFlow) -> None:
    found = flow.rates
    paid: Line = bought.payments[0]
    if len(bought.payments) > 1:
        paid = ledger.derive("cash.capex_usd", "Purchase paid", "USD", added(bought.payments), sign=Sign.CASH)
    for key, label, series, ends in (
        ("capex", "Purchase", paid, ()),
        ("opex", "Running costs", running.total, ()),
        ("residual", "Residual value", flow.residual, (flow.residual,)),
        ("end", "Costs at the end", running.at_end, (running.at_end,)),
        ("deposits", "Deposits", running.deposits, ()),
        *((("tax", "Income tax", flow.tax, ()),) if flow.tax is not None else ()),
    ):
        ledger.derive(
            f"tco.{key}_npv_usd",
            f"{label}, present value",
            "USD",
            -worth(ledger, found, series, ends),
            sign=Sign.COST,
        )
    for line in running.lines:
        name = line.key.removeprefix("cash.opex_").removesuffix("_usd")
        ledger.derive(
            f"tco.opex_{name}_npv_usd",
            f"{line.label}, present value",
            "USD",
            -worth(ledger, found, line),
            sign=Sign.COST,
        )
    cost = -worth(ledger, found, flow.cost, flow.ends)
    if flow.tax is None:
        ledger.derive("tco.npv_usd", "Cost of ownership, present value", "USD", cost, sign=Sign.COST)
        ledger.derive("tco.total_usd", "Cost of ownership", "USD", -sum_months(flow.cost), sign=Sign.COST)
    else:
        before = ledger.derive(
            "tco.before_tax_npv_usd",
            "Cost of ownership before income tax, present value",
            "USD",
            cost,
            sign=Sign.COST,
        )
        ledger.derive(
            "tco.npv_usd", "Cost of ownership after income tax, present value", "USD",
            before + ledger["tco.tax_npv_usd"], sign=Sign.COST,
        )  # fmt: skip
        ledger.derive(
            "tco.total_usd", "Cost of ownership after income tax", "USD",
            -sum_months(flow.cost) - sum_months(flow.tax), sign=Sign.COST,
        )  # fmt: skip
    ledger.derive(
        "metrics.npv_usd",
        "Net present value",
        "USD",
        worth(ledger, found, flow.net, flow.ends),
        sign=Sign.CASH,
    )
