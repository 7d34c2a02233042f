"""Ledger lines of what tax lets write off: by percentage tables, or evenly.

Deductions by table fall in the last month of a fiscal year, and in the last month of the plan, where all that is
left of the basis is set against the resale. So the half year of the year of a sale needs no line: what it leaves
out of the table stays in the basis of the same year's sale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.finance.capex import Capex
from planner.finance.depreciation import book_life
from planner.finance.macrs import HALF_YEAR, macrs_table
from planner.finance.timeline import PhaseDates, PhaseLines, Timeline, start_of
from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import (
    Const,
    Expr,
    added,
    flag,
    lookup,
    maximum,
    minimum,
    prev,
    round_up,
)
from planner.scenario.givens import assume, wish_line
from planner.scenario.money import LONGEST_TABLE_YEARS, Tax, TaxMethod
from planner.scenario.parts import Parts
from planner.sourced import Basis, Source
from planner.units import MONTHS_PER_YEAR

QUARTER_MONTHS = 3
HALF_MONTH = 0.5
LAST_QUARTER = 4
_LABELS = {"server": "servers and storage", "network": "network", "facility": "construction"}
_LAW = {
    "server": "recovery_server_years",
    "network": "recovery_network_years",
    "facility": "recovery_shell_years",
}


@dataclass(frozen=True, slots=True)
class TaxBasis:
    """A class of the purchase: what is written off, and the share of each phase."""

    name: str
    amount: Line
    shares: tuple[Line | Const, ...]


@dataclass(frozen=True, slots=True)
class Deductions:
    """Ledger lines of what tax lets write off.

    Attributes:
        total: By month, positive.
        basis: All that is written off or left at the end.
        server: Share of a phase's servers that is deducted in a month, by phase, for what is added to their cost.
        year_end: 1 in months in which a fiscal year, or the plan, ends.
    """

    total: Line
    basis: Expr
    server: tuple[Line, ...]
    year_end: Line


def deductions(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Deductions:
    """Enter fiscal years, recovery periods, and deductions of every class and phase."""
    terms = parts.loaded.scenario.money.tax
    assert terms is not None
    position, year = _calendar(ledger, parts, terms, time)
    year_end = ledger.derive(
        "tax.year_end", "Fiscal year or plan ends", "flag",
        maximum(flag(position, "=", year * MONTHS_PER_YEAR), flag(time.month, "=", ledger.months - 1)),
    )  # fmt: skip
    classes = _classes(bought, time)
    quarters = {date.id: _quarter(parts, terms, date) for date in time.dates}
    late = _mid_quarters(ledger, parts, terms, classes, time, quarters)
    charges: list[Line] = []
    server: tuple[Line, ...] = ()
    for one in classes:
        if one.name == "facility" and time.building is not None:
            profiles: tuple[Line, ...] = (_building_profile(ledger, parts, terms),)
        else:
            profiles = tuple(
                _profile(ledger, parts, terms, one.name, phase, date, year_end, quarters[date.id], late)
                for phase, date in zip(time.phases, time.dates, strict=True)
            )
        if one.name == "server":
            server = profiles
        shares = added(_times(share, profile) for share, profile in zip(one.shares, profiles, strict=True))
        charges.append(
            ledger.derive(
                f"tax.depreciation_{one.name}_usd",
                f"Deduction, {_LABELS[one.name]}",
                "USD",
                one.amount * shares,
            )
        )
    total = ledger.derive("tax.depreciation_usd", "Deductions for the purchase", "USD", added(charges))
    basis = [one.amount for one in classes]
    return Deductions(total, added(basis if bought.land is None else [*basis, bought.land]), server, year_end)


def _times(share: Line | Const, profile: Line) -> Expr:
    return profile if isinstance(share, Const) else share * profile


def _calendar(ledger: Ledger, parts: Parts, terms: Tax, time: Timeline) -> tuple[Expr, Line]:
    """Months since the fiscal year began that holds month 0, month 0 counting as one more; and the fiscal year."""
    _, month = start_of(parts.loaded, parts.as_of)
    passed = (month - terms.fiscal_year_start_month) % int(MONTHS_PER_YEAR)
    source = Source(
        "planner", "planner-defaults", Basis.PUBLISHED,
        note=f"month 0 is month {month} of the calendar, and the fiscal year begins with month "
        f"{terms.fiscal_year_start_month}",
    )  # fmt: skip
    before = ledger.given(
        "tax.months_before", "Months of the fiscal year before month 0", "month", float(passed), source
    )
    position = ledger.derive(
        "tax.position", "Months since the first fiscal year began", "month", time.month + before + 1
    )
    year = ledger.derive("tax.year", "Fiscal year of the plan", "1", round_up(position / MONTHS_PER_YEAR))
    return position, year


def _quarter(parts: Parts, terms: Tax, date: PhaseDates) -> tuple[int, int]:
    """Fiscal year of the plan, from 1, and quarter of a phase's in-service date."""
    _, month = start_of(parts.loaded, parts.as_of)
    at = date.service_month + (month - terms.fiscal_year_start_month) % 12
    return at // 12 + 1, at % 12 // QUARTER_MONTHS + 1


def _classes(bought: Capex, time: Timeline) -> tuple[TaxBasis, ...]:
    server = tuple(phase.server_share for phase in time.phases)
    found = [
        TaxBasis("server", bought.compute, server),
        TaxBasis("network", bought.network, tuple(phase.network_share for phase in time.phases)),
    ]
    if bought.building is not None:
        found.append(
            TaxBasis("facility", bought.building, server if time.building is None else (Const(1.0),))
        )
    return tuple(found)


def recovery_years(parts: Parts, ledger: Ledger, terms: Tax, name: str) -> float:
    """Recovery period of a class: as typed, else the law's, or the book life under straight line."""
    wish = getattr(terms, f"{name}_years")
    if wish is not None:
        return float(wish)
    if terms.method is TaxMethod.STRAIGHT_LINE:
        return float(ledger.value(book_life(ledger, parts, name, _LABELS[name].capitalize()))[0])
    return parts.catalog.figure("tax", _LAW[name])[0].value


def _years_line(ledger: Ledger, parts: Parts, terms: Tax, name: str) -> Line:
    """The same as a line, where no table stands for it."""
    field = f"{name}_years"
    key, label = f"tax.{field}", f"Recovery period, {_LABELS[name]}"
    if key in ledger:
        return ledger[key]
    wish = getattr(terms, field)
    if wish is not None:
        return wish_line(ledger, parts.loaded, key, label, "years", wish, "money", "tax", field)
    if terms.method is TaxMethod.STRAIGHT_LINE:
        return book_life(ledger, parts, name, _LABELS[name].capitalize())
    return assume(ledger, parts.catalog, "tax", _LAW[name], label, "years")


def _bonus(ledger: Ledger, parts: Parts, terms: Tax) -> Line:
    label = "Share deducted at once"
    if terms.bonus_fraction is None and terms.method is TaxMethod.STRAIGHT_LINE:
        key = "tax.bonus_fraction"
        source = Source("default", "planner-defaults", Basis.PUBLISHED, note="straight line without a bonus")
        return ledger[key] if key in ledger else ledger.given(key, label, "fraction", 0.0, source)
    return tax_given(
        ledger,
        parts,
        "tax.bonus_fraction",
        label,
        "fraction",
        terms.bonus_fraction,
        "bonus_fraction",
        "bonus_fraction",
    )


def tax_given(
    ledger: Ledger, parts: Parts, key: str, label: str, unit: str, wish: float | None, field: str, figure: str
) -> Line:
    """As typed, else the figure of tax law."""
    if wish is None:
        return assume(ledger, parts.catalog, "tax", figure, label, unit)
    if key in ledger:
        return ledger[key]
    return wish_line(ledger, parts.loaded, key, label, unit, wish, "money", "tax", field)


def _by_table(terms: Tax, years: float) -> bool:
    return terms.method is TaxMethod.MACRS and years <= LONGEST_TABLE_YEARS


def _mid_quarters(
    ledger: Ledger,
    parts: Parts,
    terms: Tax,
    classes: Sequence[TaxBasis],
    time: Timeline,
    quarters: dict[str, tuple[int, int]],
) -> dict[int, Line]:
    """Fiscal years with something in their last quarter: 1 where that makes every asset of the year mid-quarter."""
    tables = [one for one in classes if _by_table(terms, recovery_years(parts, ledger, terms, one.name))]
    if not tables:
        return {}
    whole: dict[int, list[Expr]] = {}
    late: dict[int, list[Expr]] = {}
    for index, date in enumerate(time.dates):
        year, quarter = quarters[date.id]
        basis = [
            one.amount * one.shares[index]
            for one in tables
            if index < len(one.shares) and not isinstance(one.shares[index], Const)
        ]
        whole.setdefault(year, []).extend(basis)
        if quarter == LAST_QUARTER:
            late.setdefault(year, []).extend(basis)
    limit = assume(
        ledger, parts.catalog, "tax", "mid_quarter_threshold_fraction",
        "Share in the last quarter over which the mid-quarter tables hold", "fraction",
    ) if late else None  # fmt: skip
    found = {}
    for year, amounts in late.items():
        assert limit is not None
        share = ledger.derive(
            f"tax.last_quarter_{year}_fraction", f"Share in service in the last quarter, fiscal year {year}", "fraction",
            added(amounts) / added(whole[year]),
        )  # fmt: skip
        found[year] = ledger.derive(
            f"tax.mid_quarter_{year}",
            f"Mid-quarter tables hold, fiscal year {year}",
            "flag",
            flag(share, ">", limit),
        )
    return found


def _profile(
    ledger: Ledger,
    parts: Parts,
    terms: Tax,
    name: str,
    phase: PhaseLines,
    date: PhaseDates,
    year_end: Line,
    quarter: tuple[int, int],
    late: dict[int, Line],
) -> Line:
    """Share of a phase's basis that is deducted in a month; entered once for each recovery period."""
    n = recovery_years(parts, ledger, terms, name)
    if not _by_table(terms, n):
        return _even(
            ledger, parts, terms, f"tax.{name}_{phase.id}_fraction", f"{_LABELS[name]}, phase {phase.id}", name,
            ledger[f"phase.{phase.id}.age_months"], over=n > LONGEST_TABLE_YEARS,
        )  # fmt: skip
    key = f"tax.{n:g}_years_{phase.id}_fraction"
    if key in ledger:
        return ledger[key]
    first_key = f"phase.{phase.id}.tax_year"
    first = (
        ledger[first_key]
        if first_key in ledger
        else ledger.derive(
            first_key, f"Fiscal year in service, phase {phase.id}", "1",
            round_up((ledger[f"phase.{phase.id}.service_month"] + ledger["tax.months_before"] + 1) / MONTHS_PER_YEAR),
        )
    )  # fmt: skip
    bonus = _bonus(ledger, parts, terms)
    year = ledger["tax.year"]
    at = minimum(n + 3, maximum(1, year - first + 2))
    share: Expr = lookup(_table(ledger, parts, int(n), HALF_YEAR), at)
    switch = late.get(quarter[0])
    if switch is not None:
        share = switch * lookup(_table(ledger, parts, int(n), quarter[1]), at) + (1 - switch) * share
    return ledger.derive(
        key, f"Deducted, {n:g} years, phase {phase.id}", "fraction",
        year_end * ((1 - bonus) * share + bonus * flag(year, "=", first)),
    )  # fmt: skip


def _table(ledger: Ledger, parts: Parts, years: int, quarter: int) -> Line:
    """Column of the law with a zero before and after it."""
    key = f"tax.table_{years}_years" + (f"_quarter_{quarter}" if quarter else "")
    if key in ledger:
        return ledger[key]
    column, source = macrs_table(catalog=parts.catalog, recovery_years=years, quarter=quarter)
    name = f"mid-quarter, quarter {quarter}" if quarter else "half-year"
    padded = np.concatenate([[0.0], column, [0.0]])
    return ledger.given(key, f"MACRS, {years} years, {name}", "fraction", padded, source, axis=Axis.TABLE)


def _building_profile(ledger: Ledger, parts: Parts, terms: Tax) -> Line:
    """Even whatever the law's tables: a building's dates are its own."""
    over = recovery_years(parts, ledger, terms, "facility") > LONGEST_TABLE_YEARS
    return _even(
        ledger, parts, terms, "tax.facility_building_fraction", "building", "facility",
        ledger["timing.building_age_months"], over=over,
    )  # fmt: skip


def _even(
    ledger: Ledger, parts: Parts, terms: Tax, key: str, said: str, name: str, age: Line, *, over: bool
) -> Line:
    """Even by month in service; under the law's long periods from the middle of the month."""
    years = _years_line(ledger, parts, terms, name)
    middle = terms.method is TaxMethod.MACRS and over
    months: Expr = maximum(0, age - HALF_MONTH) if middle else age
    written = ledger.derive(
        f"{key.removesuffix('_fraction')}_written_off_fraction", f"Written off for tax, {said}", "fraction",
        minimum(1, months / (years * MONTHS_PER_YEAR)),
    )  # fmt: skip
    even: Expr = written - prev(written, 0)
    if not over:
        bonus = _bonus(ledger, parts, terms)
        even = even * (1 - bonus) + bonus * flag(age, "=", 1)
    return ledger.derive(key, f"Deducted, {said}", "fraction", even)
