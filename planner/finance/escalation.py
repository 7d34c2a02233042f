"""Ledger lines of prices that rise over the years in service, and of foreign currencies."""

from __future__ import annotations

from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Const, Expr, maximum, minimum, round_up
from planner.scenario.givens import wish_line
from planner.scenario.money_costs import Amount, Escalator
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR

_FIELDS = {
    Escalator.ENERGY: ("energy_fraction", "Rise of the price of energy a year"),
    Escalator.LABOUR: ("labour_fraction", "Rise of wages a year"),
    Escalator.SUPPORT: ("support_fraction", "Rise of support and software a year"),
    Escalator.COLOCATION: ("colocation_fraction", "Rise of rent or upkeep a year"),
}


def first_service(ledger: Ledger, time: Timeline) -> Expr:
    """Month of the first in-service date."""
    months = [ledger[f"phase.{phase.id}.service_month"] for phase in time.phases]
    return months[0] if len(months) == 1 else minimum(*months)


def contract_year(ledger: Ledger, time: Timeline) -> Line:
    """Full years in service before a month: 0 in the first twelve months, so prices rise on the anniversary."""
    key = "timing.years_in_service"
    if key in ledger:
        return ledger[key]
    passed = (time.month - first_service(ledger, time)) / MONTHS_PER_YEAR
    return ledger.derive(key, "Years in service before", "years", maximum(0, round_up(passed) - 1))


def risen(ledger: Ledger, parts: Parts, time: Timeline, by: Escalator) -> Line | None:
    """Price of a month over today's, by what it rises with; None where the scenario has no rise."""
    money = parts.loaded.scenario.money
    key = f"escalation.{by.value}_factor"
    if by is Escalator.NONE:
        return None
    if key in ledger:
        return ledger[key]
    if by is Escalator.INFLATION:
        if money.inflation_fraction == 0:
            return None
        rise = inflation(ledger, parts)
    else:
        if money.escalation is None:
            return None
        field, label = _FIELDS[by]
        rise = wish_line(
            ledger, parts.loaded, f"money.escalation.{field}", label, "fraction/year",
            getattr(money.escalation, field), "money", "escalation", field,
        )  # fmt: skip
    return ledger.derive(
        key, f"Price over today's, {by.value}", "1", (1 + rise) ** contract_year(ledger, time)
    )


def inflation(ledger: Ledger, parts: Parts) -> Line:
    """General rise of prices a year."""
    key = "money.inflation_fraction"
    if key in ledger:
        return ledger[key]
    value = parts.loaded.scenario.money.inflation_fraction
    return wish_line(
        ledger, parts.loaded, key, "Inflation a year", "fraction/year", value, "money", "inflation_fraction"
    )


def times(amount: Expr, factor: Line | None) -> Expr:
    """An amount, risen."""
    return amount if factor is None else amount * factor


def amount_line(
    ledger: Ledger, parts: Parts, key: str, label: str, unit: str, value: float | Amount, *path: str
) -> tuple[Line, str]:
    """An amount as typed, and its currency."""
    if not isinstance(value, Amount):
        return wish_line(ledger, parts.loaded, key, label, unit, value, *path), "USD"
    line = wish_line(
        ledger, parts.loaded, key, label, unit.replace("USD", value.currency), value.value, *path, "value"
    )
    return line, value.currency


def spot(ledger: Ledger, parts: Parts, code: str) -> Expr:
    """USD for one unit of a currency on the plan's date: the rate for purchases."""
    if code == "USD":
        return Const(1.0)
    key = f"fx.{code}_usd"
    if key in ledger:
        return ledger[key]
    value = parts.loaded.scenario.money.currencies[code].usd
    return wish_line(
        ledger,
        parts.loaded,
        key,
        f"USD for one {code}",
        f"USD/{code}",
        value,
        "money",
        "currencies",
        code,
        "usd",
    )


def forward(ledger: Ledger, parts: Parts, time: Timeline, code: str) -> Expr:
    """USD for one unit in each month by covered interest parity: the rate for running costs."""
    now = spot(ledger, parts, code)
    if code == "USD":
        return now
    terms = parts.loaded.scenario.money.currencies[code]
    if terms.rate_fraction is None or terms.usd_rate_fraction is None:
        return now
    key = f"fx.{code}_forward_usd"
    if key in ledger:
        return ledger[key]
    home, foreign = (
        wish_line(ledger, parts.loaded, f"fx.{code}_{name}_rate", label, "fraction/year", value,
                  "money", "currencies", code, field)
        for name, label, value, field in (
            ("usd", f"Interest in USD a year, beside {code}", terms.usd_rate_fraction, "usd_rate_fraction"),
            ("own", f"Interest in {code} a year", terms.rate_fraction, "rate_fraction"),
        )
    )  # fmt: skip
    return ledger.derive(
        key, f"USD for one {code} by month", f"USD/{code}",
        now * ((1 + home) / (1 + foreign)) ** (time.month / MONTHS_PER_YEAR),
    )  # fmt: skip
