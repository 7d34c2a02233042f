"""What of the purchase, the load and the energy is network: servers, scale-out, storage network, management.

The boundary is that of the published shares: adapters stand with the servers they sit in, and a share of the
purchase is one of hardware, without installation and construction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from planner.design.bom import AssetClass, BomRow, Demand
from planner.design.cluster import Cluster
from planner.design.inventory import Consumer, State, take_inventory
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, ref
from planner.power.it_load import Load
from planner.units import HOURS_PER_YEAR, KILO


class Part(StrEnum):
    """What a part of the cluster is for."""

    SERVERS = "servers"
    SCALE_OUT = "scale_out"
    STORAGE_NETWORK = "storage_network"
    MANAGEMENT = "management"
    STORAGE = "storage"
    MANAGERS = "managers"

    @property
    def is_network(self) -> bool:
        """Whether it carries data between machines."""
        return self in NETWORKS


NETWORKS = (Part.SCALE_OUT, Part.STORAGE_NETWORK, Part.MANAGEMENT)
LABELS = {
    Part.SERVERS: "Servers with their adapters",
    Part.SCALE_OUT: "Scale-out network",
    Part.STORAGE_NETWORK: "Storage and in-band network",
    Part.MANAGEMENT: "Management network",
    Part.STORAGE: "Storage",
    Part.MANAGERS: "Management servers",
}

Split = Mapping[Part, float]
"""How many of an item serve each part."""


def part_of_tier(tier: str) -> Part:
    """Network that links of a tier pair, or switches of a tier, belong to.

    >>> part_of_tier("leaf-spine").value, part_of_tier("host-storage").value, part_of_tier("oob").value
    ('scale_out', 'storage_network', 'management')
    """
    if "oob" in tier or "ufm" in tier:
        return Part.MANAGEMENT
    if "inband" in tier or "storage" in tier:
        return Part.STORAGE_NETWORK
    return Part.MANAGEMENT if "management" in tier else Part.SCALE_OUT


def cabling_split(cluster: Cluster) -> dict[str, dict[Part, float]]:
    """For every module and cable of the cabling, how many each network takes."""
    found: dict[str, dict[Part, float]] = defaultdict(lambda: defaultdict(float))
    for row in cluster.cabling.rows:
        bought, part = cluster.media[(row.tier, row.medium)], part_of_tier(row.tier)
        for entry, number in ((bought.lower, row.modules_lower), (bought.upper, row.modules_upper)):
            if entry is not None:
                found[entry.item.id][part] += number
        found[bought.cable.item.id][part] += row.cables
    return found


def network_share(ledger: Ledger, cluster: Cluster, rows: Sequence[BomRow], loads: Sequence[Load]) -> None:
    """Enter cost, load and yearly energy of each part, and the network's share of each.

    Args:
        ledger: Takes the lines ``share.cost.*``, ``share.power.*`` and ``share.energy.*``.
        cluster: Says which network an item's cables and modules belong to.
        rows: The bill of materials, with its cost lines.
        loads: What draws power, with its lines by state.
    """
    split = cabling_split(cluster)
    costs: dict[Part, list[Expr]] = defaultdict(list)
    optics: list[Expr] = []
    cabling: list[Expr] = []
    for row in rows:
        for part, cost in _pieces(ledger, _split_of(row.demand, split), row.demand.entry.item.id, row.cost):
            costs[part].append(cost)
        if row.demand.asset_class is AssetClass.OPTICS:
            optics.append(ref(row.cost))
        if row.demand.asset_class in (AssetClass.OPTICS, AssetClass.CABLES):
            cabling.append(ref(row.cost))
    _enter(ledger, "cost", "USD", costs, "hardware bought", sign=Sign.COST)
    of_servers = {row.demand.slug for row in rows if row.demand.asset_class in _WITH_SERVERS}
    for name, unit, state in (("power", "W", State.TYPICAL), ("idle", "W", State.IDLE)):
        watts: dict[Part, list[Expr]] = defaultdict(list)
        for load in loads:
            one = _consumer_split(load.consumer, split, of_servers)
            item = _item_of(load.consumer, split)
            for part, piece in _pieces(ledger, one, item, load.watts[state]):
                watts[part].append(piece)
        _enter(ledger, name, unit, watts, "IT load" if name == "power" else "idle IT load")
    _energy(ledger)
    _ratios(ledger, optics, cabling)


_WITH_SERVERS = (AssetClass.SERVERS, AssetClass.NICS)


def _split_of(demand: Demand, split: Mapping[str, Split]) -> Split:
    if demand.asset_class in _WITH_SERVERS:
        return {Part.SERVERS: 1.0}
    if demand.asset_class is AssetClass.STORAGE:
        return {Part.STORAGE: 1.0}
    if demand.asset_class is AssetClass.MANAGEMENT:
        return {Part.MANAGERS: 1.0}
    if demand.asset_class in (AssetClass.OPTICS, AssetClass.CABLES):
        return split.get(demand.entry.item.id) or {part_of_tier(demand.where or demand.slug): 1.0}
    return {part_of_tier(demand.where): 1.0}


def _consumer_split(consumer: Consumer, split: Mapping[str, Split], of_servers: set[str]) -> Split:
    if consumer.category == "servers" or consumer.slug in of_servers:
        return {Part.SERVERS: 1.0}
    if consumer.category == "storage":
        return {Part.STORAGE: 1.0}
    if consumer.category == "management":
        return {Part.MANAGERS: 1.0}
    return split.get(consumer.slug) or {part_of_tier(consumer.slug): 1.0}


def _item_of(consumer: Consumer, split: Mapping[str, Split]) -> str:
    return consumer.slug if consumer.slug in split else ""


def _pieces(ledger: Ledger, split: Split, item: str, whole: Line) -> Iterable[tuple[Part, Expr]]:
    """A line cut over the parts that share its item; counts of the design say how."""
    total = sum(split.values())
    used = {part: number for part, number in split.items() if number}
    if len(used) < 2:
        return [(part, ref(whole)) for part in used or split]
    return [(part, whole * _fraction(ledger, item, part, number / total)) for part, number in used.items()]


def _fraction(ledger: Ledger, item: str, part: Part, value: float) -> Line:
    key = f"share.of.{item}.{part.value}_fraction"
    if key in ledger:
        return ledger[key]
    return ledger.compute(
        key, f"Of {item}, share in: {LABELS[part].lower()}", "fraction", value, function=take_inventory,
        inputs=["design.fabric.links"], note="by the cables and modules of each network",
    )  # fmt: skip


def _enter(
    ledger: Ledger,
    name: str,
    unit: str,
    found: Mapping[Part, Sequence[Expr]],
    of: str,
    *,
    sign: Sign = Sign.NONE,
) -> None:
    """Lines of every part there is, their sum, and the network's sum."""
    suffix = unit.lower()
    lines = {
        part: ledger.derive(f"share.{name}.{part.value}_{suffix}", f"{LABELS[part]}, {of}", unit,
                            added(found[part]), sign=sign)
        for part in Part if found.get(part)
    }  # fmt: skip
    whole = ledger.derive(
        f"share.{name}.whole_{suffix}", f"All parts, {of}", unit, added(lines.values()), sign=sign
    )
    network = [line for part, line in lines.items() if part.is_network]
    if network:
        all_of = ledger.derive(
            f"share.{name}.network_{suffix}", f"All networks, {of}", unit, added(network), sign=sign
        )
        if name != "idle":
            ledger.derive(
                f"share.{name}.network_fraction", f"Network, share of {of}", "fraction", all_of / whole
            )


def _energy(ledger: Ledger) -> None:
    """Energy of a year by the time under load: what a part draws idle, and what work adds."""
    busy, pue = ledger["power.busy_fraction"], ledger["power.pue"]
    if "share.power.network_w" not in ledger:
        return
    idle, typical = ledger["share.idle.network_w"], ledger["share.power.network_w"]
    year = ledger.derive(
        "share.energy.network_kwh_per_year", "Energy of the networks in a full year, at the meter", "kWh/year",
        (idle + (typical - idle) * busy) * pue * (HOURS_PER_YEAR / KILO),
    )  # fmt: skip
    ledger.derive(
        "share.energy.network_fraction", "Network, share of the year's energy", "fraction",
        year / ledger["power.energy_kwh_per_year"],
    )  # fmt: skip


def _ratios(ledger: Ledger, optics: Sequence[Expr], cabling: Sequence[Expr]) -> None:
    """The scale-out network's part of all networks, modules' part, and money for each GPU."""
    for name, suffix, of in (("cost", "usd", "cost"), ("power", "w", "load")):
        whole, part = f"share.{name}.network_{suffix}", f"share.{name}.scale_out_{suffix}"
        if whole in ledger and part in ledger:
            ledger.derive(
                f"share.{name}.scale_out_of_network_fraction", f"Scale-out, share of the networks' {of}", "fraction",
                ledger[part] / ledger[whole],
            )  # fmt: skip
    if "share.cost.network_usd" not in ledger:
        return
    network = ledger["share.cost.network_usd"]
    ledger.derive(
        "share.cost.network_usd_per_gpu", "Networks for a GPU", "USD/GPU", network / ledger["cluster.gpus"]
    )
    if optics:
        ledger.derive(
            "share.cost.optics_of_network_fraction", "Optical modules, share of the networks' cost", "fraction",
            added(optics) / network,
        )  # fmt: skip
    if cabling:
        ledger.derive(
            "share.cost.cabling_usd_per_gpu", "Modules, cables and fibre for a GPU", "USD/GPU",
            added(cabling) / ledger["cluster.gpus"],
        )  # fmt: skip
