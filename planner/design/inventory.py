"""Counts of the design as ledger lines: what must be bought, and what draws power."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from planner.catalog.figure import Figure
from planner.catalog.schema import Nic, Switch, Transceiver
from planner.catalog.store import Entry
from planner.design.beside import appliances
from planner.design.beside_lines import enter_beside
from planner.design.bom import AssetClass, Demand
from planner.design.cabling import plan_cabling
from planner.design.cabling_lines import cable_counts, enter_cabling, panel_demands
from planner.design.cluster import TIERS, Cluster
from planner.design.fabric import design_fabric
from planner.design.fabric_lines import enter_fabric, wished_fabric
from planner.design.frontend import design_out_of_band, design_paired
from planner.design.management import design_management
from planner.design.racks import design_racks
from planner.ledger import Ledger, Line
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.parts import GroupParts


class State(StrEnum):
    """What the cluster is doing."""

    IDLE = "idle"
    TYPICAL = "typical"
    PEAK = "peak"


@dataclass(frozen=True, slots=True)
class Consumer:
    """A kind of part that draws power.

    Attributes:
        slug: Middle of its keys, ``power.<slug>.typical_w``.
        category: ``servers``, ``network``, ``optics``, ``storage`` or ``management``, for drawings.
        count: Ledger line with how many are running.
        watts: Given line of the draw of one, for each state; empty for servers, whose draw follows from what they
            are predicted to do (see `planner.power.it_load`).
    """

    slug: str
    label: str
    category: str
    count: Line
    watts: dict[State, Line]


@dataclass(frozen=True, slots=True)
class Inventory:
    """Parts to buy and parts that draw power."""

    demands: tuple[Demand, ...]
    consumers: tuple[Consumer, ...]


def enter_design(ledger: Ledger, cluster: Cluster) -> None:
    """Enter the given numbers the design rests on, and the headline counts."""
    parts, fabric = cluster.parts, cluster.fabric
    loaded = parts.loaded
    # of several groups the sum, which no line of the scenario says alone
    path = ("cluster", "groups", *((0, "gpus") if len(parts.groups) == 1 else ()))
    gpus = wish_line(ledger, loaded, "cluster.gpus", "GPUs in service", "1", parts.gpus, *path)
    request = fabric.request
    nic = parts.groups[0].nic
    rate = ledger.given(
        "network.nic_rate_gbit_per_s", "Rate of a NIC, one direction", "Gbit/s",
        request.nic_rate_gbit_per_s, nic.source("port_rate_gbit_per_s"),
    )  # fmt: skip
    inputs: list[Line] = [gpus, rate]
    if parts.tiers:
        inputs.append(
            wish_line(
                ledger, loaded, "network.leaf.oversubscription", "Leaf oversubscription", "1",
                loaded.scenario.network.leaf.oversubscription, "network", "leaf", "oversubscription",
            )
        )  # fmt: skip
    if parts.tiers and fabric.leaves:
        leaf = parts.tiers[0].switch
        inputs.append(
            ledger.given(
                "network.leaf_radix", "Ports of a leaf switch at the link's rate", "1", fabric.radix,
                leaf.source("cages"),
            )
        )  # fmt: skip
    inputs += wished_fabric(ledger, cluster)
    why = " ".join(fabric.why)
    for key, label, value in (
        ("leaf_switches", "Leaf switches", fabric.leaves),
        ("spine_switches", "Spine switches", fabric.spines),
        ("core_switches", "Core switches", fabric.cores),
        ("links", "Links of the compute fabric", fabric.links),
        ("tiers", "Switch tiers", fabric.tiers),
    ):
        ledger.compute(
            f"design.fabric.{key}", label, "1", value, function=design_fabric, inputs=inputs, note=why
        )
    ledger.compute(
        "design.fabric.bisection_gbit_per_s", "Bisection bandwidth, one direction", "Gbit/s",
        fabric.bisection_gbit_per_s, function=design_fabric, inputs=inputs, note=why,
    )  # fmt: skip
    enter_fabric(ledger, fabric, inputs)
    ledger.compute(
        "design.fabric.transceivers", "Optical modules of the compute fabric in service", "1", cluster.fabric_modules,
        function=plan_cabling, inputs=[ledger["design.fabric.links"]],
        note="the cheapest medium that reaches each length class, copper first",
    )  # fmt: skip
    ledger.compute(
        "design.racks", "Racks", "1", cluster.layout.racks, function=design_racks, inputs=[gpus],
        note="servers by rack units, power and weight; switches near servers and mid-floor",
    )  # fmt: skip
    enter_cabling(ledger, cluster)
    enter_beside(ledger, cluster.parts, cluster.beside)


def take_inventory(ledger: Ledger, cluster: Cluster) -> Inventory:
    """Enter every count, and say what is bought and what draws power."""
    spare = _network_spares(ledger, cluster)
    demands: list[Demand] = []
    consumers: list[Consumer] = []
    for part in (_servers, _switches, _modules, _cables, _storage, _management):
        bought, drawing = part(ledger, cluster, spare)
        demands += bought
        consumers += drawing
    return Inventory(tuple(demands), tuple(consumers))


Found = tuple[list[Demand], list[Consumer]]


def _network_spares(ledger: Ledger, cluster: Cluster) -> Line:
    return assume(
        ledger, cluster.parts.catalog, "finance", "spares_network_fraction",
        "Spare network parts, share of those in service", "fraction",
    )  # fmt: skip


def _servers(ledger: Ledger, cluster: Cluster, network_spare: Line) -> Found:
    parts = cluster.parts
    spare = wish_line(
        ledger, parts.loaded, "cluster.spare_fraction", "Spare servers, share of those in service", "fraction",
        parts.spare_fraction, "cluster", "spare_fraction",
    )  # fmt: skip
    demands: list[Demand] = []
    consumers: list[Consumer] = []
    by_server: dict[str, int] = defaultdict(int)
    for group in parts.groups:
        by_server[group.server.item.id] += group.servers
    entries = {group.server.item.id: group for group in parts.groups}
    for server_id, number in by_server.items():
        group = entries[server_id]
        server = group.server
        count = ledger.compute(
            f"bom.{server_id}.designed", f"{server.item.name}, in service", "1", number,
            function=take_inventory, inputs=["cluster.gpus"],
            note=f"GPUs over {server.item.gpus} in each",
        )  # fmt: skip
        demands.append(
            Demand(server_id, server.item.name, server, AssetClass.SERVERS, count, spare, server=server_id)
        )
        consumers.append(Consumer(server_id, server.item.name, "servers", count, {}))
        bought, drawing = _adapters(ledger, cluster, group, count, network_spare)
        demands += bought
        consumers += drawing
    return demands, consumers


def _adapters(ledger: Ledger, cluster: Cluster, group: GroupParts, servers: Line, spare: Line) -> Found:
    """Adapters that the server's price leaves out, and those that replace included ones.

    A server's draw is measured or rated for the whole box with its cards, so only the difference
    that a replacement makes is added.
    """
    server, slot = group.server.item, group.server.item.compute_nics
    demands: list[Demand] = []
    consumers: list[Consumer] = []
    own = group.nic.item.id
    slots = [(slot, own, "")]
    if server.frontend_nics is not None:
        front = server.frontend_nics
        # the same adapter in both places is counted, and can be priced, for each of them
        slots.append((front, front.nic, ".front-end" if front.nic == own else ""))
    for one, nic_id, where in slots:
        replaced = nic_id != one.nic
        if one.included and not replaced:
            continue
        entry = cluster.parts.catalog.entry(Nic, nic_id)
        cards = ledger.compute(
            f"bom.{nic_id}.{server.id}{where}.designed", f"{entry.item.name}, in {server.name}", "1",
            ledger.value(servers) * one.count, function=take_inventory, inputs=[servers],
            note=f"{one.count} in each server",
        )  # fmt: skip
        slug = f"{nic_id}.{server.id}{where}"
        before = cluster.parts.catalog.entry(Nic, one.nic) if replaced and one.included else None
        demands.append(
            Demand(
                slug, entry.item.name, entry, AssetClass.NICS, cards, spare, instead_of=before, server=server.id
            )
        )  # fmt: skip
        if before is not None and entry.item.power_w is not None and before.item.power_w is not None:
            watts = ledger.derive(
                f"watts.{slug}.more_w", f"Draw of {entry.item.name} beyond {before.item.name}", "W",
                _nic_watts(ledger, entry) - _nic_watts(ledger, before),
            )  # fmt: skip
            states = dict.fromkeys(State, watts)
            consumers.append(
                Consumer(slug, f"{entry.item.name}, beyond {before.item.name}", "network", cards, states)
            )
    return demands, consumers


def _nic_watts(ledger: Ledger, entry: Entry[Nic]) -> Line:
    return figure_line(
        ledger, f"watts.{entry.item.id}.typical_w", f"Draw of {entry.item.name}", "W", entry, "power_w"
    )


def _peak_watts(ledger: Ledger, entry: Entry[Any], typical: Line) -> Line:
    """Highest sustained draw: as much above the typical one as its source's range goes, else the nameplate."""
    figure: Figure = getattr(entry.item, typical_field(entry))
    field = typical_field(entry)
    top = figure.high
    if top is None:
        most: Figure | None = getattr(entry.item, "power_max_w", None)
        top, field = (figure.value, field) if most is None else (most.value, "power_max_w")
    ratio = ledger.given(
        f"watts.{entry.item.id}.peak_ratio", f"Highest over typical draw of {entry.item.name}", "1",
        top / figure.value, entry.source(field),
    )  # fmt: skip
    return ledger.derive(
        f"watts.{entry.item.id}.peak_w", f"Highest draw of {entry.item.name}", "W", typical * ratio
    )


def typical_field(entry: Entry[Any]) -> str:
    """Name of the figure that holds an item's typical draw."""
    names = ("power_typical_w", "power_w", "power_per_end_w")
    return next(name for name in names if getattr(entry.item, name, None) is not None)


def _watts(
    ledger: Ledger, slug: str, state: State, name: str, entry: Entry[Any], field: str, figure: Figure
) -> Line:
    return ledger.given(
        f"watts.{slug}.{state}_w", f"Draw of {name}, {state}", "W", figure.value, entry.source(field),
        low=figure.low, high=figure.high,
    )  # fmt: skip


def _steady(ledger: Ledger, slug: str, entry: Entry[Any], category: str, count: Line) -> Consumer:
    """A part that draws much the same in every state; the range's top is its peak."""
    key = f"watts.{entry.item.id}.typical_w"
    field = typical_field(entry)
    if key in ledger:
        line = ledger[key]
    else:
        line = _watts(
            ledger, entry.item.id, State.TYPICAL, entry.item.name, entry, field, getattr(entry.item, field)
        )
    figure: Figure = getattr(entry.item, field)
    peak_key = f"watts.{entry.item.id}.peak_w"
    peak = line
    if figure.high is not None and figure.high > figure.value > 0:
        peak = ledger[peak_key] if peak_key in ledger else _peak_watts(ledger, entry, line)
    watts = {State.IDLE: line, State.TYPICAL: line, State.PEAK: peak}
    return Consumer(slug, entry.item.name, category, count, watts)


def _switches(ledger: Ledger, cluster: Cluster, spare: Line) -> Found:
    parts = cluster.parts
    wanted: list[tuple[str, Entry[Switch], int, Any]] = [
        (tier, parts.tiers[index].switch, cluster.switch_counts[tier], design_fabric)
        for index, tier in enumerate(TIERS)
        if cluster.switch_counts[tier]
    ]
    for tier, entry, network in (
        ("inband", parts.inband, cluster.inband),
        ("storage", parts.storage_switch, cluster.beside.storage_network),
    ):
        if entry is not None and network is not None and network.switches:
            wanted.append((tier, entry, network.switches, design_paired))
    if parts.oob is not None and cluster.oob is not None and cluster.oob.switches:
        wanted.append(("oob", parts.oob, cluster.oob.switches, design_out_of_band))
    demands: list[Demand] = []
    consumers: list[Consumer] = []
    for tier, entry, number, function in wanted:
        slug, headline = f"{tier}-{entry.item.id}", f"design.fabric.{tier}_switches"
        if headline in ledger:
            count = ledger[headline]
        else:
            count = ledger.compute(
                f"bom.{slug}.designed", f"{entry.item.name}, {tier}", "1", number, function=function,
                inputs=["cluster.gpus"],
            )  # fmt: skip
        name = f"{entry.item.name}, {tier}"
        demands.append(Demand(slug, name, entry, AssetClass.SWITCHES, count, spare, where=tier))
        if entry.item.power_typical_w is not None:
            consumers.append(_steady(ledger, slug, entry, "network", count))
    return demands, consumers


def _modules(ledger: Ledger, cluster: Cluster, spare: Line) -> Found:
    counts: dict[str, int] = defaultdict(int)
    entries: dict[str, Entry[Transceiver]] = {}
    for row in cluster.cabling.rows:
        bought = cluster.media[(row.tier, row.medium)]
        for entry, number in ((bought.lower, row.modules_lower), (bought.upper, row.modules_upper)):
            if entry is not None and number:
                counts[entry.item.id] += number
                entries[entry.item.id] = entry
    demands: list[Demand] = []
    consumers: list[Consumer] = []
    for item_id, number in counts.items():
        entry = entries[item_id]
        count = _cabled(ledger, item_id, entry.item.name, "1", number)
        demands.append(Demand(item_id, entry.item.name, entry, AssetClass.OPTICS, count, spare))
        consumers.append(_steady(ledger, item_id, entry, "optics", count))
    return demands, consumers


def _cabled(ledger: Ledger, slug: str, name: str, unit: str, number: float) -> Line:
    return ledger.compute(
        f"bom.{slug}.designed", f"{name}, in service", unit, number, function=plan_cabling,
        inputs=["design.fabric.links"], note="counted over the length classes of every tier pair",
    )  # fmt: skip


def _cables(ledger: Ledger, cluster: Cluster, spare: Line) -> Found:
    counts = cable_counts(cluster)
    demands = panel_demands(ledger, cluster, spare)
    consumers: list[Consumer] = []
    for item_id, number in counts.pieces.items():
        entry = counts.entries[item_id]
        count = _cabled(ledger, item_id, entry.item.name, "1", number)
        demands.append(Demand(item_id, entry.item.name, entry, AssetClass.CABLES, count, spare))
        if entry.item.power_per_end_w is not None and entry.item.power_per_end_w.value > 0:
            ends = ledger.derive(f"bom.{item_id}.ends", f"Ends of {entry.item.name}", "1", count * 2)
            consumers.append(_steady(ledger, item_id, entry, "optics", ends))
        metres = counts.metres[item_id]
        if metres and entry.item.price_usd_per_m is not None:
            length = _cabled(ledger, f"{item_id}.metres", f"{entry.item.name}, length", "m", metres)
            demands.append(
                Demand(
                    f"{item_id}.metres", f"{entry.item.name}, by length", entry, AssetClass.CABLES, length, spare,
                    price_field="price_usd_per_m", unit="m",
                )
            )  # fmt: skip
    return demands, consumers


def _storage(ledger: Ledger, cluster: Cluster, spare: Line) -> Found:
    entry, plan = cluster.parts.storage, cluster.beside.storage
    if entry is None or plan is None:
        return [], []
    count = ledger[f"bom.{entry.item.id}.designed"]
    demand = Demand(entry.item.id, entry.item.name, entry, AssetClass.STORAGE, count, None)
    return [demand], [_steady(ledger, entry.item.id, entry, "storage", count)]


def _management(ledger: Ledger, cluster: Cluster, spare: Line) -> Found:
    demands: list[Demand] = []
    consumers: list[Consumer] = []
    for kind, entry, number in appliances(cluster.parts, cluster.beside):
        name, slug = entry.item.name, entry.item.id
        count = ledger.compute(
            f"bom.{slug}.designed", f"{name}, in service", "1", number, function=design_management,
            inputs=["cluster.gpus"], note=cluster.beside.management.why,
        )  # fmt: skip
        demands.append(Demand(slug, name, entry, AssetClass.MANAGEMENT, count, None, where=kind))
        consumers.append(_steady(ledger, slug, entry, "management", count))
    return demands, consumers
