"""Ledger lines of prices that fall until each phase's order."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.catalog.figure import Figure
from planner.design.bom import AssetClass, BomRow
from planner.finance.timeline import PhaseLines, Timeline, start_of
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import Parts
from planner.sourced import Basis, Source
from planner.units import MONTHS_PER_YEAR

MIDDLE_OF_THE_YEAR = "07"
"""Month taken for a price whose source gives a year alone."""


@dataclass(frozen=True, slots=True)
class Erosion:
    """Share of today's prices that is paid, all phases together."""

    server: Line
    network: Line


def erosion(
    ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline
) -> tuple[Erosion | None, Timeline]:
    """Enter the fall of prices by the date of each order, and each phase's share of what is paid.

    Price at the order is today's times (1 - fall) to the power of the years since the price's date; payment and
    in-service dates don't change it.

    Returns:
        The factors, and the time axis with shares of cost in place of shares of servers; None and the axis as it
        was where the scenario asks for no fall.
    """
    if parts.loaded.scenario.money.price_erosion is None:
        return None, time
    server = _factors(ledger, parts, rows, time, network=False)
    network = _factors(ledger, parts, rows, time, network=True)
    phases = tuple(
        replace(phase, server_share=_share(ledger, phase, "server", server[phase.id], ledger["erosion.server_factor"]),
                network_share=_share(ledger, phase, "network", network[phase.id], ledger["erosion.network_factor"]))
        for phase in time.phases
    )  # fmt: skip
    found = Erosion(ledger["erosion.server_factor"], ledger["erosion.network_factor"])
    return found, replace(time, phases=phases)


def _factors(
    ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline, *, network: bool
) -> dict[str, Line]:
    """Price at each phase's order over today's, and the average by what each buys."""
    name, label = ("network", "network") if network else ("server", "servers and storage")
    fall = _fall(ledger, parts, name, label)
    alone = _modules_alone(ledger, parts, rows) if network else None
    age = _age(ledger, parts, rows, name, label, network=network, modules=alone is not None)
    found: dict[str, Line] = {}
    shares: dict[str, Line] = {}
    for phase in time.phases:
        months = ledger[f"phase.{phase.id}.order_month"] + age
        left: Expr = (1 - fall) ** (months / MONTHS_PER_YEAR)
        found[phase.id] = ledger.derive(
            f"erosion.{name}_{phase.id}_factor", f"Price at the order over today's, {label}, phase {phase.id}", "1",
            left if alone is None else 1 - alone * (1 - left),
        )  # fmt: skip
        shares[phase.id] = phase.network_share if network else phase.server_share
    ledger.derive(
        f"erosion.{name}_factor", f"Price paid over today's, {label}", "1",
        added(shares[phase] * factor for phase, factor in found.items()),
    )  # fmt: skip
    return found


def _modules_alone(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...]) -> Line | None:
    """Share of modules in the network's price, where the catalog's fall is taken: its figure is of modules.

    Switches and cables keep today's price then; none where the scenario states a fall for all of the network.
    """
    wish = parts.loaded.scenario.money.price_erosion
    costs = [row.cost for row in rows if row.demand.asset_class.is_network]
    if not costs or (wish is not None and wish.network_fraction_per_year is not None):
        return None
    modules = [row.cost for row in rows if row.demand.asset_class is AssetClass.OPTICS]
    return ledger.derive(
        "erosion.network_modules_fraction", "Share of the network's price that falls: optical modules", "fraction",
        added(modules) / added(costs), note="switches and cables keep today's price: no figure of theirs is known",
    )  # fmt: skip


def _found(row: BomRow) -> tuple[float, str]:
    """Price of a part and its date, as quoted or in the catalog, whatever is typed over it.

    A workbook can't know that a typed price is newer: an edit has to come to the same there and here.
    """
    if row.quote is not None:
        return row.quote.price_usd, row.quote.line.date
    entry, field = row.demand.entry, row.demand.price_field
    figure: Figure = getattr(entry.item, field)
    return figure.value, entry.source(field).as_of


def _share(ledger: Ledger, phase: PhaseLines, name: str, factor: Line, average: Line) -> Line:
    share: Expr = phase.network_share if name == "network" else phase.server_share
    return ledger.derive(
        f"phase.{phase.id}.{name}_cost_share_fraction", f"Share of what is paid, {name}, phase {phase.id}",
        "fraction", share * factor / average,
    )  # fmt: skip


def _fall(ledger: Ledger, parts: Parts, name: str, label: str) -> Line:
    wish = parts.loaded.scenario.money.price_erosion
    value = getattr(wish, f"{name}_fraction_per_year")
    said = f"Fall of prices a year, {label}"
    if value is None:
        key = (
            "optics_price_erosion_fraction_per_year"
            if name == "network"
            else "price_erosion_fraction_per_year"
        )
        return assume(ledger, parts.catalog, "finance", key, said, "fraction/year")
    field = f"{name}_fraction_per_year"
    return wish_line(
        ledger, parts.loaded, f"money.price_erosion.{field}", said, "fraction/year", value,
        "money", "price_erosion", field,
    )  # fmt: skip


def _age(
    ledger: Ledger,
    parts: Parts,
    rows: tuple[BomRow, ...],
    name: str,
    label: str,
    *,
    network: bool,
    modules: bool,
) -> Line:
    """Months from the date of the price to the first payment; that of the part that costs most."""
    lines = [
        row for row in rows
        if row.demand.asset_class.is_network is network and (not modules or row.demand.asset_class is AssetClass.OPTICS)
    ]  # fmt: skip
    dearest = max(lines, key=lambda row: _found(row)[0] * ledger.scalar(row.demand.designed), default=None)
    as_of, part = parts.as_of, "no part"
    if dearest is not None:
        as_of, part = _found(dearest)[1] or parts.as_of, dearest.demand.name
    year, month = (*as_of.split("-"), MIDDLE_OF_THE_YEAR)[:2]
    start_year, start_month = start_of(parts.loaded, parts.as_of)
    months = (start_year - int(year)) * int(MONTHS_PER_YEAR) + start_month - int(month)
    return ledger.given(
        f"erosion.{name}_price_age_months", f"From the date of prices to month 0, {label}", "month",
        float(max(0, months)),
        Source("planner", "planner-defaults", Basis.PUBLISHED,
               note=f"price of {part}, the dearest of them, is of {as_of}; a year alone counts from its middle"),
    )  # fmt: skip
