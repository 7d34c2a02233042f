"""Book depreciation, straight line from the in-service date."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.capex import Capex
from planner.finance.differences import apart
from planner.finance.timeline import PhaseLines, Timeline
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added, cumsum, minimum, prev
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class Depreciation:
    """Ledger lines: charge by month of each class, their sum, and the book value."""

    charges: tuple[Line, ...]
    total: Line
    book_value: Line


def depreciation(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Depreciation:
    """Enter the charges; each phase's share starts in the month after it goes into service."""
    charges = [
        _charge(ledger, parts, "server", "Servers and storage", bought.compute, time, network=False),
        _charge(ledger, parts, "network", "Network", bought.network, time, network=True),
    ]
    if bought.building is not None:
        charges.append(_construction(ledger, parts, bought.building, time))
    total = ledger.derive("book.depreciation_usd", "Depreciation", "USD", added(charges))
    paid = ledger.derive("book.additions_usd", "Additions", "USD", -added(bought.payments))
    value = ledger.derive(
        "book.value_usd", "Book value", "USD", apart(cumsum(paid), cumsum(total)),
        note="includes deposits for what is not yet in service",
    )  # fmt: skip
    return Depreciation(tuple(charges), total, value)


def _construction(ledger: Ledger, parts: Parts, amount: Line, time: Timeline) -> Line:
    """With the servers of each phase, or from the building's own in-service date."""
    if time.building is None:
        return _charge(ledger, parts, "facility", "Construction", amount, time, network=False)
    life = book_life(ledger, parts, "facility", "Construction")
    age = ledger.derive(
        "timing.building_age_months", "Months in service, building", "month", cumsum(time.building.working)
    )
    written = ledger.derive(
        "book.facility_building_written_off_fraction", "Written off, building", "fraction",
        minimum(1, age / (life * MONTHS_PER_YEAR)),
    )  # fmt: skip
    return ledger.derive(
        "book.depreciation_facility_usd",
        "Depreciation, construction",
        "USD",
        amount * (written - prev(written, 0)),
    )


def _charge(
    ledger: Ledger, parts: Parts, name: str, label: str, amount: Line, time: Timeline, *, network: bool
) -> Line:
    life = book_life(ledger, parts, name, label)
    shares = [_share(ledger, phase, life, name, network) for phase in time.phases]
    return ledger.derive(
        f"book.depreciation_{name}_usd", f"Depreciation, {label.lower()}", "USD", amount * added(shares)
    )


def book_life(ledger: Ledger, parts: Parts, name: str, label: str) -> Line:
    """Years a class is written off over in the books: as typed, else the catalog's; entered once."""
    key = f"{name}_years"
    wish = getattr(parts.loaded.scenario.money.depreciation, key)
    line_key, line_label = f"money.depreciation.{key}", f"Book life, {label.lower()}"
    if line_key in ledger:
        return ledger[line_key]
    return (
        assume(ledger, parts.catalog, "finance", f"{name}_life_years", line_label, "years")
        if wish is None
        else wish_line(
            ledger, parts.loaded, line_key, line_label, "years", wish, "money", "depreciation", key
        )
    )


def _share(ledger: Ledger, phase: PhaseLines, life: Line, name: str, network: bool) -> Expr:
    """Part of the amount charged in a month: a month over the life until the share is used up."""
    share = phase.network_share if network else phase.server_share
    age_key = f"phase.{phase.id}.age_months"
    age = (
        ledger[age_key]
        if age_key in ledger
        else ledger.derive(age_key, f"Months in service, phase {phase.id}", "month", cumsum(phase.working))
    )
    key = f"book.{name}_{phase.id}_written_off_fraction"
    written = ledger.derive(
        key, f"Written off, {name}, phase {phase.id}", "fraction",
        minimum(1, age / (life * MONTHS_PER_YEAR)),
    )  # fmt: skip
    return share * (written - prev(written, 0))
