"""Cash flow, present values and unit costs."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.capex import Capex
from planner.finance.opex import Opex
from planner.finance.timeline import PhaseDates, Timeline
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Const, Expr, added, cumsum, flag, irr, npv, prev, sum_months
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import Parts
from planner.sourced import Basis, Source
from planner.units import MONTHS_PER_YEAR

OLDEST_RESALE_YEARS = 5
"""Age up to which the catalog has resale figures."""


@dataclass(frozen=True, slots=True)
class CashFlow:
    """Ledger lines of cash: residual, revenue, net, balance, and the monthly discount rate."""

    residual: Line
    revenue: Line | None
    cost: Line
    net: Line
    cumulative: Line
    rate: Line


def cash_flow(ledger: Ledger, parts: Parts, bought: Capex, running: Opex, time: Timeline) -> CashFlow:
    """Enter the flows and what they are worth today."""
    loaded, money = parts.loaded, parts.loaded.scenario.money
    residual = _residual(ledger, parts, bought, time)
    cost = ledger.derive(
        "cash.cost_usd", "All costs net of residual value", "USD",
        added([*bought.payments, running.total, residual]), sign=Sign.CASH,
    )  # fmt: skip
    revenue = None
    net_flow: Expr = cost
    if money.sell_usd_per_gpu_hour is not None:
        price = wish_line(
            ledger, loaded, "money.sell_usd_per_gpu_hour", "Price of a sold GPU-hour", "USD/GPU-h",
            money.sell_usd_per_gpu_hour, "money", "sell_usd_per_gpu_hour",
        )  # fmt: skip
        revenue = ledger.derive(
            "cash.revenue_usd", "Revenue", "USD", ledger["timing.gpu_hours_sold"] * price, sign=Sign.CASH
        )
        net_flow = cost + revenue
    net = ledger.derive("cash.net_usd", "Net cash flow", "USD", net_flow, sign=Sign.CASH)
    ledger.derive(
        "cash.opening_usd", "Cumulative cash at the start", "USD", prev("cash.closing_usd", 0),
        axis=Axis.MONTH, sign=Sign.CASH,
    )  # fmt: skip
    closing = ledger.derive(
        "cash.closing_usd", "Cumulative cash at the end", "USD", ledger["cash.opening_usd"] + net,
        axis=Axis.MONTH, sign=Sign.CASH,
    )  # fmt: skip
    rate = _monthly_rate(ledger, parts)
    flow = CashFlow(residual, revenue, cost, net, closing, rate)
    _present_values(ledger, bought, running, flow)
    return flow


def _residual(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Line:
    """What servers and an owned building are still worth at the end.

    Servers are sold at the share of their price that their age leaves, phase by phase; a building
    stands in at its book value.
    """
    last = flag(time.month, "=", ledger.months - 1)
    servers = added(
        phase.server_share * _resale(ledger, parts, dates)
        for phase, dates in zip(time.phases, time.dates, strict=True)
    )
    value: Expr = ledger["capex.servers_usd"] * servers * last
    if bought.facility is not None:
        left = bought.facility - cumsum("book.depreciation_facility_usd")
        value = value + left * last
    return ledger.derive("cash.residual_usd", "Residual value", "USD", value, sign=Sign.CASH)


def _resale(ledger: Ledger, parts: Parts, phase: PhaseDates) -> Line:
    """Share of a server's price that a sale at the end brings: as wished, else by its age."""
    wish = parts.loaded.scenario.money.depreciation.residual_fraction
    if wish is not None:
        key = "money.depreciation.residual_fraction"
        return ledger[key] if key in ledger else wish_line(
            ledger, parts.loaded, key, "Resale value at the end, share of the servers' price", "fraction", wish,
            "money", "depreciation", "residual_fraction",
        )  # fmt: skip
    age = int((ledger.months - 1 - phase.service_month) / MONTHS_PER_YEAR + 0.5)  # nearest year, halves up
    if age > OLDEST_RESALE_YEARS:
        key = "finance.residual_beyond_fraction"
        return ledger[key] if key in ledger else ledger.given(
            key, f"Resale value after more than {OLDEST_RESALE_YEARS} years", "fraction", 0.0,
            Source("planner", "planner-defaults", Basis.ESTIMATE, verified=False,
                   note=f"no resale figures beyond {OLDEST_RESALE_YEARS} years are known: taken as nothing"),
        )  # fmt: skip
    year = max(1, age)
    label = f"Resale value after {year} years, share of the servers' price"
    return assume(ledger, parts.catalog, "finance", f"residual_fraction_year{year}", label, "fraction")


def _monthly_rate(ledger: Ledger, parts: Parts) -> Line:
    wish = parts.loaded.scenario.money.discount_rate_fraction
    label = "Discount rate a year"
    yearly = (
        assume(ledger, parts.catalog, "finance", "discount_rate_fraction", label, "fraction/year")
        if wish is None
        else wish_line(
            ledger, parts.loaded, "money.discount_rate_fraction", label, "fraction/year", wish,
            "money", "discount_rate_fraction",
        )
    )  # fmt: skip
    return ledger.derive(
        "money.discount_rate_monthly", "Discount rate a month", "fraction/month",
        (1 + yearly) ** (Const(1.0) / MONTHS_PER_YEAR) - 1,
    )  # fmt: skip


def _present_values(ledger: Ledger, bought: Capex, running: Opex, flow: CashFlow) -> None:
    rate = flow.rate
    for key, label, lines in (
        ("capex", "Purchase", bought.payments),
        ("opex", "Running costs", (running.total,)),
        ("residual", "Residual value", (flow.residual,)),
    ):
        series: Line = lines[0]
        if len(lines) > 1:
            series = ledger.derive(f"cash.{key}_usd", f"{label} paid", "USD", added(lines), sign=Sign.CASH)
        ledger.derive(
            f"tco.{key}_npv_usd", f"{label}, present value", "USD", -npv(rate, series), sign=Sign.COST
        )
    for line in running.lines:
        name = line.key.removeprefix("cash.opex_").removesuffix("_usd")
        ledger.derive(
            f"tco.opex_{name}_npv_usd",
            f"{line.label}, present value",
            "USD",
            -npv(rate, line),
            sign=Sign.COST,
        )
    ledger.derive(
        "tco.npv_usd", "Cost of ownership, present value", "USD", -npv(rate, flow.cost), sign=Sign.COST
    )
    ledger.derive("tco.total_usd", "Cost of ownership", "USD", -sum_months(flow.cost), sign=Sign.COST)
    ledger.derive("metrics.npv_usd", "Net present value", "USD", npv(rate, flow.net), sign=Sign.CASH)
    if flow.revenue is not None:
        monthly = ledger.derive(
            "metrics.irr_monthly", "Rate of return a month", "fraction/month", irr(flow.net)
        )
        ledger.derive(
            "metrics.irr_fraction",
            "Rate of return a year",
            "fraction/year",
            (1 + monthly) ** MONTHS_PER_YEAR - 1,
        )
        ledger.derive(
            "cash.cumulative_revenue_usd", "Revenue so far", "USD", cumsum(flow.revenue), sign=Sign.CASH
        )
