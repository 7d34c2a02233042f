"""Purchases: class totals, site construction, installation, and when they are paid."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Site
from planner.design.bom import LABELS, AssetClass, BomRow
from planner.finance.cost_lines import further_purchases
from planner.finance.erosion_lines import Erosion
from planner.finance.landed_lines import budget, contingency, landed
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Const, Expr, added
from planner.scenario.givens import assume, figure_line
from planner.scenario.parts import Parts
from planner.scenario.schema import Housing
from planner.scenario.site import Redundancy
from planner.units import KILO


@dataclass(frozen=True, slots=True)
class Capex:
    """Ledger lines of the purchase.

    Attributes:
        classes: Total of each class that is bought, by its key's last word.
        compute: Servers, NICs and storage with their installation, and cooling at the rack; the servers' life.
        network: Switches, optics and cables with theirs; the network's life.
        facility: Construction, with further purchases that go with it; None under colocation.
        building: What of that is written off: all but land.
        land: Land, which stands in at its price at the end.
        payments: Monthly payments of each of the three, cash in positive (so these are negative).
    """

    classes: tuple[Line, ...]
    compute: Line
    network: Line
    facility: Line | None
    total: Line
    payments: tuple[Line, ...]
    building: Line | None = None
    land: Line | None = None


def capex(
    ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline, eroded: Erosion | None = None
) -> Capex:
    """Enter class totals, the sum, and the payments by month.

    Args:
        rows: The bill of materials, at today's prices.
        time: With each phase's share of what is paid.
        eroded: Fall of prices until the orders.
    """
    classes: dict[AssetClass, Line] = {}
    for kind in AssetClass:
        costs = [row.cost for row in rows if row.demand.asset_class is kind]
        if costs:
            classes[kind] = ledger.derive(
                f"capex.{kind.value}_usd", LABELS[kind], "USD", added(costs), sign=Sign.COST
            )
    rate = assume(
        ledger,
        parts.catalog,
        "finance",
        "installation_fraction",
        "Installation, share of hardware",
        "fraction",
    )
    install, cooling, facility = "capex.installation_usd", _cooling(ledger, parts), _facility(ledger, parts)
    hardware, fallen = _hardware(ledger, classes, eroded)
    stack = landed(ledger, parts, hardware)
    more = further_purchases(ledger, parts, rows, hardware)
    bought = [
        *classes.values(),
        *(() if fallen is None else (fallen,)),
        ledger.derive(install, "Racks, installation, burn-in", "USD", hardware * rate, sign=Sign.COST),
        *(() if stack is None else stack.lines),
        *(one for one in (cooling, facility) if one is not None),
        more.server, more.network, more.facility,
    ]  # fmt: skip
    beside = rate if stack is None else rate + stack.fraction
    parts_of = {
        "network": _class_cost(classes, eroded, network=True),
        "compute": _class_cost(classes, eroded, network=False),
    }
    before = {
        "network": parts_of["network"] * (1 + beside) + more.network,
        "compute": parts_of["compute"] * (1 + beside)
        + (more.server if cooling is None else cooling + more.server),
    }
    if facility is not None:
        before["facility"] = facility + more.facility
    reserve = contingency(ledger, parts)
    bases: dict[str, Expr] = {}
    if reserve is not None:
        fraction = 0.0 if stack is None else stack.fraction
        for name, cost in before.items():
            goods = parts_of.get(name, Const(0.0))
            bases[name] = reserve.base_of(goods, goods * (1 + fraction), cost)
        spent = ledger.derive(
            "capex.contingency_usd", "Contingency expected to be spent", "USD",
            reserve.spent_of(added(bases.values())), sign=Sign.COST,
        )  # fmt: skip
        bought.append(spent)
    total = ledger.derive("capex.total_usd", "Purchase", "USD", added(bought), sign=Sign.COST)
    if reserve is not None:
        budget(ledger, reserve, added(bases.values()), total)
        before = {name: cost + reserve.spent_of(bases[name]) for name, cost in before.items()}
    network, compute = (
        ledger.derive(f"capex.{name}_with_installation_usd", label, "USD", before[name], sign=Sign.COST)
        for name, label in (("network", "Network, installed"), ("compute", "Servers and storage, installed"))
    )
    whole = None
    if facility is not None:
        whole = ledger.derive(
            "capex.building_usd",
            "Construction and what goes with it",
            "USD",
            before["facility"],
            sign=Sign.COST,
        )
    written = None
    if whole is not None and more.land is not None:
        written = ledger.derive(
            "capex.building_without_land_usd", "Construction that is written off", "USD", whole - more.land,
            sign=Sign.COST, note="land is not",
        )  # fmt: skip
    payments = [
        _payments(ledger, "compute", "Servers and storage paid", compute, time, network=False),
        _payments(ledger, "network", "Network paid", network, time, network=True),
    ]
    if whole is not None:
        payments.append(_construction_paid(ledger, whole, time))
    return Capex(
        tuple(bought), compute, network, whole, total, tuple(payments), written or whole,
        None if written is None else more.land,
    )  # fmt: skip


def _hardware(
    ledger: Ledger, classes: dict[AssetClass, Line], eroded: Erosion | None
) -> tuple[Line, Line | None]:
    """What the parts cost when they are ordered, and how much of today's prices has gone by then."""
    fallen = None
    if eroded is not None:
        lost = [
            line * ((eroded.network if kind.is_network else eroded.server) - 1)
            for kind, line in classes.items()
        ]
        fallen = ledger.derive(
            "capex.price_erosion_usd", "Fall of prices until the orders", "USD", added(lost), sign=Sign.COST
        )
    paid = [*classes.values(), *(() if fallen is None else (fallen,))]
    return ledger.derive(
        "capex.hardware_usd", "Hardware as priced at the orders", "USD", added(paid), sign=Sign.COST
    ), fallen


def _class_cost(classes: dict[AssetClass, Line], eroded: Erosion | None, *, network: bool) -> Expr:
    """Hardware of the network, or of all else, as priced at the orders."""
    cost = added(line for kind, line in classes.items() if kind.is_network is network)
    if eroded is None:
        return cost
    return cost * (eroded.network if network else eroded.server)


def _cooling(ledger: Ledger, parts: Parts) -> Line | None:
    """What a tenant brings: coolant distribution units, or doors where their price is known.

    In a building of one's own the distribution units are part of the hall.
    """
    method, housing = parts.cooling, parts.loaded.scenario.site.housing
    cost: Expr | None = None
    if method.item.price_usd_per_kw is not None:
        price = figure_line(
            ledger, "cooling.price_usd_per_kw", "Cooling equipment at the rack", "USD/kW", method, "price_usd_per_kw"
        )  # fmt: skip
        cost = price * ledger["power.reserved_it_kw"]
    elif method.item.liquid and housing is Housing.COLOCATION:
        price = assume(
            ledger, parts.catalog, "facility", "cdu_price_usd_per_kw",
            "Coolant distribution units, for a kW of capacity", "USD/kW",
        )  # fmt: skip
        capacity = ledger["power.cooling.distribution_units"] * ledger["assumption.cdu_capacity_kw"]
        cost = price * capacity
    if cost is None:
        return None
    return ledger.derive("capex.cooling_usd", "Cooling at the rack", "USD", cost, sign=Sign.COST)


def _facility(ledger: Ledger, parts: Parts) -> Line | None:
    """Construction for the IT power that may be drawn: shell, power and cooling at market figures.

    Those are taken for one spare of each. Halls for liquid-cooled racks cost the premium of AI halls.
    """
    if parts.loaded.scenario.site.housing is not Housing.OWN:
        return None
    known = parts.site.item.construction_usd_per_w is not None
    place = parts.site if known else parts.catalog.entry(Site, "world")
    per_watt = figure_line(
        ledger, "site.construction_usd_per_w", "Construction for a watt of IT", "USD/W", place,
        "construction_usd_per_w",
    )  # fmt: skip
    cost: Expr = per_watt * (ledger["power.reserved_it_kw"] * KILO)
    ratio = _redundancy_ratio(ledger, parts)
    if ratio is not None:
        cost = cost * ratio
    if parts.cooling.item.liquid:
        premium = assume(
            ledger, parts.catalog, "facility", "construction_ai_premium_fraction",
            "AI halls over others", "fraction",
        )  # fmt: skip
        cost = cost * (1 + premium)
    return ledger.derive("capex.facility_usd", "Data-centre construction", "USD", cost, sign=Sign.COST)


def _redundancy_ratio(ledger: Ledger, parts: Parts) -> Line | None:
    """Construction with another number of spares than market figures are taken for."""
    wish = parts.loaded.scenario.site.redundancy
    if wish is Redundancy.N_PLUS_1:
        return None
    name = "n" if wish is Redundancy.N else "2n"
    return assume(
        ledger, parts.catalog, "facility", f"construction_redundancy_{name}_ratio",
        f"Construction with {wish.value} over N+1", "1",
    )  # fmt: skip


def _construction_paid(ledger: Ledger, amount: Line, time: Timeline) -> Line:
    """With the servers, or by the dates of its own."""
    label = "Construction paid"
    if time.building is None:
        return _payments(ledger, "facility", label, amount, time, network=False)
    return ledger.derive(
        "cash.capex_facility_usd", label, "USD", -amount * time.building.paid, sign=Sign.CASH
    )


def _payments(ledger: Ledger, name: str, label: str, amount: Line, time: Timeline, *, network: bool) -> Line:
    shares = [(phase.network_share if network else phase.server_share) * phase.paid for phase in time.phases]
    return ledger.derive(f"cash.capex_{name}_usd", label, "USD", -amount * added(shares), sign=Sign.CASH)
