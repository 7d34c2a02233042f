"""The complete list of cost lines: which model has each, and the further costs a scenario names.

A line of the list that nothing covers is a given zero, "not planned": an input that may be filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.design.bom import AssetClass, BomRow
from planner.finance.escalation import amount_line, first_service, forward, risen, spot, times
from planner.finance.timeline import Timeline
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Const, Expr, added, flag, prev, ref
from planner.scenario.givens import wish_line
from planner.scenario.money_costs import FURTHER, Cost, Driver, Escalator, Falls, Known, TaxClass, falls_of
from planner.scenario.parts import GroupParts, Parts
from planner.scenario.schema import Housing
from planner.sourced import Basis, Source
from planner.units import KILO, MONTHS_PER_YEAR

COVERED: Final[dict[str, tuple[str, ...]]] = {
    "accelerators, servers and trays, scale-up switches": ("capex.servers_usd",),
    "scale-out switches": ("capex.switches_usd",),
    "NICs and DPUs": ("capex.nics_usd", "capex.servers_usd"),
    "transceivers, co-packaged engines and lasers": ("capex.optics_usd", "capex.switches_usd"),
    "cables, fibre trunks and patch panels": ("capex.cables_usd",),
    "storage": ("capex.storage_usd",),
    "management network": ("capex.management_usd", "capex.switches_usd"),
    "installation, integration and burn-in": ("capex.installation_usd",),
    "coolant distribution, manifolds, rear doors": ("capex.cooling_usd", "capex.facility_usd"),
    "facility power, chillers and building": ("capex.facility_usd",),
    "freight": ("capex.freight_usd",),
    "insurance in transit": ("capex.transit_insurance_usd",),
    "duty": ("capex.duty_usd",),
    "non-recoverable sales tax or VAT": ("capex.sales_tax_usd",),
    "initial spares": ("cluster.spare_fraction", "assumption.spares_network_fraction"),
    "contingency": ("capex.contingency_usd",),
    "interest during construction": ("debt.capitalised_interest_usd",),
    "energy, by time of use, with riders": ("cash.opex_energy_usd",),
    "demand charges": ("cash.opex_demand_usd",),
    "colocation rent": ("cash.opex_space_usd",),
    "hardware support": ("cash.opex_support_usd",),
    "software per GPU": ("cash.opex_software_usd",),
    "staff": ("cash.opex_staff_usd",),
    "insurance": ("cash.opex_insurance_usd",),
    "facility maintenance": ("cash.opex_space_usd",),
    "failed jobs": ("performance.goodput_fraction",),
    "residual value, net of selling": ("cash.residual_usd",),
    "debt interest": ("debt.interest_usd",),
    "debt fees": ("debt.fee_usd",),
    "lease payments": ("lease.rent_usd",),
    "equity return": ("metrics.equity_irr_fraction",),
    "income tax, losses, bonus, disposal": ("tax.due_usd",),
}
"""Lines of the list that a model has, with the ledger keys that may hold them."""


LAND: Final = "land"
"""Name of the purchase that no law and no book writes off."""


@dataclass(frozen=True, slots=True)
class Purchases:
    """Further purchases by tax class; each sum is there, of zeros if nothing is planned.

    Attributes:
        land: The part of the building's that is never written off; None for a tenant.
    """

    server: Line
    network: Line
    facility: Line
    land: Line | None


@dataclass(frozen=True, slots=True)
class Running:
    """Further running costs, cash in positive: planned lines, then what is not planned; what tax lets not deduct."""

    lines: tuple[Line, ...]
    not_deductible: Expr | None


def not_planned(ledger: Ledger, name: str, known: Known) -> Line:
    """A line of the list that the scenario leaves out: a zero that may be filled in."""
    unit = "USD/year" if known.falls is Falls.YEAR else "USD"
    source = Source("default", "planner-defaults", Basis.PUBLISHED, note="not planned")
    return ledger.given(f"money.costs.{name}", known.label, unit, 0.0, source, sign=Sign.COST)


def further_purchases(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], hardware: Expr) -> Purchases:
    """Enter further purchases, and those of the list that are not planned."""
    own = parts.loaded.scenario.site.housing is Housing.OWN
    found: dict[TaxClass, list[Line]] = {one: [] for one in TaxClass}
    land: Line | None = None
    for name, cost in _planned(parts, Falls.PURCHASE).items():
        line = _once(ledger, parts, rows, hardware, name, cost)
        found[_class(name, cost, own=own)].append(line)
        land = line if name == LAND else land
    for name, known in _left_out(parts, Falls.PURCHASE).items():
        line = not_planned(ledger, name, known)
        found[known.tax_class if own else _without_building(known.tax_class)].append(line)
        land = line if name == LAND else land
    sums = [
        ledger.derive(
            f"capex.further_{one.value}_usd",
            f"Further purchases, {said}",
            "USD",
            added(found[one]),
            sign=Sign.COST,
        )
        for one, said in (
            (TaxClass.SERVER, "with the servers"),
            (TaxClass.NETWORK, "with the network"),
            (TaxClass.FACILITY, "with the building"),
        )
    ]
    server, network, facility = sums
    return Purchases(server, network, facility, land if land in found[TaxClass.FACILITY] else None)


def further_running(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline) -> Running:
    """Enter yearly costs, a twelfth each month in service."""
    lines, kept = [], []
    for name, cost in _planned(parts, Falls.YEAR).items():
        lines.append(_yearly(ledger, parts, rows, time, name, cost))
        if cost.deductible_fraction < 1:
            share = wish_line(
                ledger, parts.loaded, f"money.costs.{name}.deductible_fraction", f"Deductible share, {name}",
                "fraction", cost.deductible_fraction, "money", "costs", name, "deductible_fraction",
            )  # fmt: skip
            kept.append(lines[-1] * (1 - share))
    zeros = [not_planned(ledger, name, known) for name, known in _left_out(parts, Falls.YEAR).items()]
    if zeros:
        lines.append(
            _cash(
                ledger, "opex_further", "Further running costs", added(zeros) / MONTHS_PER_YEAR * time.share
            )
        )
    return Running(tuple(lines), added(kept) if kept else None)


def further_at_end(
    ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline
) -> tuple[Line, Line]:
    """Enter costs of the last month, and deposits that are returned in it."""
    last = flag(time.month, "=", ledger.months - 1)
    ends: list[Expr] = []
    for name, cost in _planned(parts, Falls.END).items():
        amount = _once(ledger, parts, rows, ledger["capex.hardware_usd"], name, cost)
        known = FURTHER.get(name)
        by = cost.escalator or (known.escalator if known else Escalator.NONE)
        ends.append(times(amount, risen(ledger, parts, time, by)))
    ends += [not_planned(ledger, name, known) for name, known in _left_out(parts, Falls.END).items()]
    closing = _cash(ledger, "end", "Costs at the end", added(ends) * last)
    held = [
        _once(ledger, parts, rows, ledger["capex.hardware_usd"], name, cost)
        for name, cost in _planned(parts, Falls.DEPOSIT).items()
    ]
    held += [not_planned(ledger, name, known) for name, known in _left_out(parts, Falls.DEPOSIT).items()]
    deposits = _cash(
        ledger, "deposits", "Deposits, paid and returned", added(held) * (flag(time.month, "=", 0) - last)
    )
    return closing, deposits


def servers_in_service(groups: tuple[GroupParts, ...]) -> int:
    """Servers, or racks bought as one, of all groups."""
    return sum(group.servers for group in groups)


def _planned(parts: Parts, falls: Falls) -> dict[str, Cost]:
    costs = parts.loaded.scenario.money.costs
    return {name: cost for name, cost in costs.items() if falls_of(name, cost) is falls}


def _left_out(parts: Parts, falls: Falls) -> dict[str, Known]:
    costs = parts.loaded.scenario.money.costs
    return {name: known for name, known in FURTHER.items() if known.falls is falls and name not in costs}


def _class(name: str, cost: Cost, *, own: bool) -> TaxClass:
    known = FURTHER.get(name)
    found = cost.tax_class or (known.tax_class if known is not None else TaxClass.SERVER)
    return found if own else _without_building(found)


def _without_building(found: TaxClass) -> TaxClass:
    """A tenant's share in a building is written off with the servers, whose stay it shares."""
    return TaxClass.SERVER if found is TaxClass.FACILITY else found


def _label(name: str, cost: Cost) -> str:
    known = FURTHER.get(name)
    return cost.label or (known.label if known is not None else name.replace("-", " ").capitalize())


def _typed(ledger: Ledger, parts: Parts, name: str, cost: Cost, per: str) -> tuple[Line, str]:
    shares = cost.per in (Driver.HARDWARE, Driver.BOOK_VALUE, Driver.REVENUE)
    unit = ("fraction" if shares else "USD") + per
    label = _label(name, cost) + ("" if cost.per is Driver.TOTAL else f", for each {cost.per.value}")
    if shares:
        label = f"{_label(name, cost)}, share of {cost.per.value}"
    return amount_line(
        ledger, parts, f"money.costs.{name}", label, unit, cost.amount, "money", "costs", name, "amount"
    )


def _once(
    ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], hardware: Expr, name: str, cost: Cost
) -> Line:
    amount, code = _typed(ledger, parts, name, cost, "" if cost.per is Driver.TOTAL else f"/{cost.per.value}")
    counted = _counted(ledger, parts, rows, cost.per) if cost.per is not Driver.HARDWARE else hardware
    key = "capex.further" if falls_of(name, cost) is Falls.PURCHASE else "money.once"
    return ledger.derive(
        f"{key}_{name}_usd", _label(name, cost), "USD", _product(amount, counted, spot(ledger, parts, code)),
        sign=Sign.COST, axis=Axis.SCALAR,
    )  # fmt: skip


def _yearly(
    ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline, name: str, cost: Cost
) -> Line:
    amount, code = _typed(
        ledger, parts, name, cost,
        {Driver.KWH: "/kWh", Driver.REVENUE: "", Driver.TOTAL: "/year"}.get(cost.per, f"/{cost.per.value}/year"),
    )  # fmt: skip
    rate = forward(ledger, parts, time, code)
    if cost.per is Driver.KWH:
        flow: Expr = _product(amount, ref("energy.kwh"), rate)
    elif cost.per is Driver.REVENUE:
        flow = amount * ref("cash.revenue_usd")
    elif cost.per is Driver.BOOK_VALUE:
        flow = amount * prev("book.value_usd", 0) / MONTHS_PER_YEAR
    else:
        counted = (
            ledger["capex.hardware_usd"]
            if cost.per is Driver.HARDWARE
            else _counted(ledger, parts, rows, cost.per)
        )
        flow = _product(amount, counted, rate) / MONTHS_PER_YEAR * time.share
    known = FURTHER.get(name)
    by = cost.escalator or (known.escalator if known else Escalator.NONE)
    flow = times(flow, risen(ledger, parts, time, by))
    if cost.first_month:
        begins = wish_line(
            ledger, parts.loaded, f"money.costs.{name}.first_month", f"Months in service before, {name}", "month",
            float(cost.first_month), "money", "costs", name, "first_month",
        )  # fmt: skip
        flow = flow * flag(time.month, ">", first_service(ledger, time) + begins)
    return _cash(ledger, f"opex_further_{name}", _label(name, cost), flow)


def _product(amount: Line, counted: Expr, rate: Expr) -> Expr:
    """Amount by count by rate, without factors of 1."""
    found: Expr = amount
    for factor in (counted, rate):
        if not (isinstance(factor, Const) and factor.value == 1.0):
            found = found * factor
    return found


def _counted(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], per: Driver) -> Expr:
    """How many of what an amount is counted by."""
    if per is Driver.SERVER:
        key = "cluster.servers"
        return ledger[key] if key in ledger else ledger.compute(
            key, "Servers in service", "1", servers_in_service(parts.groups), function=servers_in_service,
            inputs=["cluster.gpus"],
        )  # fmt: skip
    if per in (Driver.SWITCH, Driver.TRANSCEIVER):
        kind = AssetClass.SWITCHES if per is Driver.SWITCH else AssetClass.OPTICS
        return added(row.count for row in rows if row.demand.asset_class is kind)
    simple: dict[Driver, str] = {
        Driver.GPU: "cluster.gpus",
        Driver.RACK: "design.racks",
        Driver.RESERVED_KW: "power.reserved_it_kw",
        Driver.FTE: "money.staff_fte",
    }
    if per is Driver.PEAK_KW:
        return ledger["power.demand_peak_w"] / KILO
    return Const(1.0) if per is Driver.TOTAL else ref(simple[per])


def _cash(ledger: Ledger, name: str, label: str, cost: Expr) -> Line:
    return ledger.derive(f"cash.{name}_usd", label, "USD", -cost, sign=Sign.CASH, axis=Axis.MONTH)
