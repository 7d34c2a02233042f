"""Ledger lines of what servers are worth by age, and of what is left at the end."""

from __future__ import annotations

import math

from planner.finance.capex import Capex
from planner.finance.timeline import PhaseDates, PhaseLines, Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, cumsum, flag, sum_months
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import Parts
from planner.sourced import Basis, Source
from planner.units import MONTHS_PER_YEAR

OLDEST_RESALE_YEARS = 5
"""Age up to which the catalog has resale figures."""


def residual(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Line:
    """What servers and an owned building are still worth at the end.

    Servers are sold at the share of their price that their age leaves, phase by phase; a building
    stands in at its book value.
    """
    last = flag(time.month, "=", ledger.months - 1)
    servers = added(
        phase.server_share * _at_end(ledger, parts, phase, dates)
        for phase, dates in zip(time.phases, time.dates, strict=True)
    )
    price: Expr = ledger["capex.servers_usd"]
    if "erosion.server_factor" in ledger:
        price = price * ledger["erosion.server_factor"]
    value: Expr = price * servers * last
    if bought.facility is not None:
        left = bought.facility - cumsum("book.depreciation_facility_usd")
        value = value + left * last
    return ledger.derive("cash.residual_usd", "Residual value", "USD", value, sign=Sign.CASH)


def _at_end(ledger: Ledger, parts: Parts, phase: PhaseLines, dates: PhaseDates) -> Expr:
    """Share of a server's price that a sale at the end brings."""
    wished = wished_share(ledger, parts)
    if wished is not None:
        return wished
    months = ledger.months - 1 - dates.service_month
    if months % MONTHS_PER_YEAR == 0 or months < MONTHS_PER_YEAR:
        return resale_share(ledger, parts, months, None)
    age = ledger.derive(
        f"phase.{phase.id}.age_at_end_years", f"Age at the end, phase {phase.id}", "years",
        sum_months(phase.working) / MONTHS_PER_YEAR,
    )  # fmt: skip
    return resale_share(ledger, parts, months, age)


def wished_share(ledger: Ledger, parts: Parts) -> Line | None:
    """Resale value at the end as typed."""
    wish = parts.loaded.scenario.money.depreciation.residual_fraction
    if wish is None:
        return None
    key = "money.depreciation.residual_fraction"
    return ledger[key] if key in ledger else wish_line(
        ledger, parts.loaded, key, "Resale value at the end, share of the servers' price", "fraction", wish,
        "money", "depreciation", "residual_fraction",
    )  # fmt: skip


def resale_share(ledger: Ledger, parts: Parts, months: int, age: Expr | None) -> Expr:
    """Share of the price that servers of an age bring, between the catalog's years in a straight line.

    Under a year counts as one, since what is new and used already is worth no more; after the last figure it
    falls to nothing within a year.

    Args:
        months: The age, which says between which figures it lies.
        age: The same in years as a line; None where it is a whole number of years, or less than one.
    """
    younger = max(1, math.floor(months / MONTHS_PER_YEAR))
    if age is None or months < MONTHS_PER_YEAR:
        return _figure(ledger, parts, younger)
    if younger > OLDEST_RESALE_YEARS:
        return _figure(ledger, parts, younger)
    low, high = _figure(ledger, parts, younger), _figure(ledger, parts, younger + 1)
    return low + (high - low) * (age - younger)


def _figure(ledger: Ledger, parts: Parts, years: int) -> Line:
    if years > OLDEST_RESALE_YEARS:
        key = "finance.residual_beyond_fraction"
        return ledger[key] if key in ledger else ledger.given(
            key, f"Resale value after more than {OLDEST_RESALE_YEARS} years", "fraction", 0.0,
            Source("planner", "planner-defaults", Basis.ESTIMATE, verified=False,
                   note=f"no resale figures beyond {OLDEST_RESALE_YEARS} years are known: taken as nothing"),
        )  # fmt: skip
    label = f"Resale value after {years} years, share of the servers' price"
    return assume(ledger, parts.catalog, "finance", f"residual_fraction_year{years}", label, "fraction")
