"""Ledger lines of the discount rate, and present values by the scenario's timing of flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planner.finance.escalation import inflation
from planner.finance.timeline import Timeline, start_of
from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import Const, Expr, added, flag, npv, round_up, sum_months, xnpv
from planner.scenario.givens import assume, wish_line
from planner.scenario.money import Discounting, RateBasis
from planner.scenario.parts import Parts
from planner.sourced import Basis, Source
from planner.units import MONTHS_PER_YEAR

EPOCH = date(1899, 12, 30)
"""Day 0 of an office program."""
HALF = 0.5
"""Flows of a year fall half a year before its end."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Discount rate, nominal, for flows in money of their day.

    Attributes:
        yearly: A year.
        monthly: A month, which compounds to it.
        timing: When flows are taken to fall.
        dates: Days of the months, where flows are discounted by dates.
        middle: Worth today of 1 paid over a year, and of 1 paid at its end, where years are discounted.
        end: See ``middle``.
    """

    yearly: Line
    monthly: Line
    timing: Discounting
    dates: Line | None = None
    middle: Line | None = None
    end: Line | None = None


def rates(ledger: Ledger, parts: Parts, time: Timeline) -> Rates:
    """Enter the discount rate: as typed, else the cost of capital, else the catalog's; lifted by inflation if real."""
    yearly = _yearly(ledger, parts)
    monthly = ledger.derive(
        "money.discount_rate_monthly", "Discount rate a month", "fraction/month",
        (1 + yearly) ** (Const(1.0) / MONTHS_PER_YEAR) - 1,
    )  # fmt: skip
    timing = parts.loaded.scenario.money.discounting
    if timing is Discounting.DATES:
        return Rates(yearly, monthly, timing, dates=month_days(ledger, parts))
    if timing is Discounting.MONTHS:
        return Rates(yearly, monthly, timing)
    year = ledger.derive(
        "timing.year", "Year from the first payment", "1", round_up(time.month / MONTHS_PER_YEAR)
    )
    end = ledger.derive(
        "money.discount_end_factor", "Worth today of 1 at the year's end", "1", (1 + yearly) ** -year
    )
    middle = ledger.derive(
        "money.discount_middle_factor", "Worth today of 1 in the middle of the year", "1",
        (1 + yearly) ** (HALF * flag(time.month, ">", 0) - year),
        note="the first payment is not discounted",
    )  # fmt: skip
    return Rates(yearly, monthly, timing, middle=middle, end=end)


def worth(ledger: Ledger, found: Rates, line: Line, ends: Sequence[Line] = ()) -> Expr:
    """Present value of a series.

    Args:
        line: The series, whole.
        ends: Parts of it that fall at the end of the last year whatever the timing: resale and decommissioning.
    """
    if found.dates is not None:
        return xnpv(found.yearly, line, found.dates)
    if found.middle is None or found.end is None:
        return npv(found.monthly, line)
    flow: Expr = line * found.middle
    if ends and ends[0] is line:
        flow = line * found.end
    elif ends:
        flow = flow + added(ends) * (found.end - found.middle)
    head, _, rest = line.key.partition(".")
    return sum_months(
        ledger.derive(
            f"{head}.discounted_{rest}", f"{line.label}, discounted", line.unit, flow, sign=line.sign
        )
    )


def month_days(ledger: Ledger, parts: Parts) -> Line:
    """First days of the months, as an office program counts days."""
    key = "timing.day"
    if key in ledger:
        return ledger[key]
    year, month = start_of(parts.loaded, parts.as_of)
    days = []
    for at in range(ledger.months):
        years, rest = divmod(month - 1 + at, int(MONTHS_PER_YEAR))
        days.append(float((date(year + years, rest + 1, 1) - EPOCH).days))
    source = Source(
        "planner", "planner-defaults", Basis.PUBLISHED, note="first day of each month, from the first order"
    )
    return ledger.given(key, "Day of the flows", "day", days, source, axis=Axis.MONTH)


def _yearly(ledger: Ledger, parts: Parts) -> Line:
    money, label = parts.loaded.scenario.money, "Discount rate a year"
    real = money.rate_basis is RateBasis.REAL
    if money.discount_rate_fraction is not None:
        typed = wish_line(
            ledger, parts.loaded, "money.discount_rate_fraction", f"{label}, real" if real else label, "fraction/year",
            money.discount_rate_fraction, "money", "discount_rate_fraction",
        )  # fmt: skip
    elif money.capital is not None:
        typed = cost_of_capital(ledger, parts)
    else:
        typed = assume(ledger, parts.catalog, "finance", "discount_rate_fraction", label, "fraction/year")
    if not real:
        return typed
    return ledger.derive(
        "money.discount_rate_nominal_fraction", f"{label}, nominal", "fraction/year",
        (1 + typed) * (1 + inflation(ledger, parts)) - 1,
    )  # fmt: skip


def cost_of_capital(ledger: Ledger, parts: Parts) -> Line:
    """Weighted average cost of capital; after tax where the scenario has a tax rate."""
    terms = parts.loaded.scenario.money.capital
    assert terms is not None
    debt, interest, equity = (
        wish_line(ledger, parts.loaded, f"money.capital.{field}", label, unit, getattr(terms, field),
                  "money", "capital", field)
        for field, label, unit in (
            ("debt_fraction", "Debt over debt and equity", "fraction"),
            ("debt_rate_fraction", "Interest of debt a year", "fraction/year"),
            ("equity_rate_fraction", "Return that owners ask a year", "fraction/year"),
        )
    )  # fmt: skip
    after = (
        interest * (1 - tax_rate(ledger, parts)) if parts.loaded.scenario.money.tax is not None else interest
    )
    return ledger.derive(
        "money.capital.rate_fraction", "Weighted average cost of capital", "fraction/year",
        debt * after + (1 - debt) * equity,
    )  # fmt: skip


def tax_rate(ledger: Ledger, parts: Parts) -> Line:
    """Rate of income tax; entered once."""
    key = "tax.rate_fraction"
    if key in ledger:
        return ledger[key]
    tax = parts.loaded.scenario.money.tax
    assert tax is not None
    return wish_line(
        ledger,
        parts.loaded,
        key,
        "Income tax rate",
        "fraction",
        tax.rate_fraction,
        "money",
        "tax",
        "rate_fraction",
    )
