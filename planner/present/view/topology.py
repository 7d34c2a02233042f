"""C14, what is drawn of the compute network: its form, its tiers, and the links between them."""

from __future__ import annotations

from planner.design.cluster import TIERS
from planner.design.frontend import OutOfBandNetwork
from planner.present import format as fmt
from planner.present.view.forms import form, node_counts
from planner.present.view.model import Cell, Column, Figure, Table
from planner.present.view.reading import Reading, number, whole, words

BELOW = {"leaf": "node-leaf", "spine": "leaf-spine", "core": "spine-core"}


def topology_in_words(reading: Reading) -> str:
    """Topology, tiers, size, ratio in a line."""
    fabric = reading.built.cluster.fabric
    if not fabric.links:
        return f"{fabric.nodes} node{'s' if fabric.nodes > 1 else ''} without a fabric"
    if not fabric.leaves:
        return f"{fabric.topology} without switches"
    tiers = f"{fabric.tiers} tier{'s' if fabric.tiers > 1 else ''}"
    planes = f", {fabric.planes} planes" if fabric.planes > 1 else ""
    ratio = f", {fmt.plain(fabric.oversubscription)}:1" if fabric.shape is not None else ""
    return f"{fabric.topology}, {tiers}{planes}{ratio}"


def topology_figure(reading: Reading) -> Figure:
    """The drawing's data, with the tier table behind it."""
    fabric = reading.built.cluster.fabric
    said = topology_in_words(reading)
    help_, data = form(reading)
    rate = f", {fmt.count(fabric.request.link_rate_gbit_per_s)} Gbit/s links" if fabric.links else ""
    rows = _tier_rows(reading)
    if not rows:
        rows = [
            (words("node"), words(name), whole(count), *[words(fmt.NOTHING)] * 8)
            for name, count in node_counts(reading)
        ]
    gpus = fmt.count(reading.value("cluster.gpus"))
    return Figure(
        "C14", "topology", f"{gpus} GPUs: {said}{rate}", help_, data,
        Table("tiers", "Networks by tier", COLUMNS, tuple(rows)),
    )  # fmt: skip


COLUMNS = (
    Column("Tier", numeric=False), Column("Switch", numeric=False), Column("Count"), Column("Spare"),
    Column("Ports used"), Column("Ports free"), Column("Links down"), Column("Cable", numeric=False),
    Column("Longest", "m"), Column("Draw", "kW"), Column("Cost", "M USD"),
)  # fmt: skip


def _switch_key(reading: Reading, tier: str, end: str) -> str:
    """Ledger key of a tier's switch, such as ``bom.leaf-qm9700.count``; empty where there is none."""
    for row in reading.built.bom:
        if row.demand.where == tier:
            start, finish = end.split("*")
            key = f"{start}{row.demand.slug}{finish}"
            return key if reading.has(key) else ""
    return ""


def _reach(reading: Reading, tier: str) -> tuple[str, float]:
    """Main medium below a tier, and its longest link in metres."""
    rows = [row for row in reading.built.cluster.cabling.rows if row.tier == BELOW.get(tier)]
    if not rows:
        return fmt.NOTHING, 0.0
    main = max(rows, key=lambda row: row.links)
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{main.kind.replace('transceiver-pair', 'optical')}{more}", max(row.longest_m for row in rows)


def _tier_rows(reading: Reading) -> list[tuple[Cell, ...]]:
    cluster = reading.built.cluster
    rows: list[tuple[Cell, ...]] = []
    for tier, ports in zip(TIERS, cluster.fabric.tier_ports, strict=False):
        index = TIERS.index(tier)
        medium, longest = _reach(reading, tier)
        down = {0: cluster.fabric.node_leaf_links, 1: cluster.fabric.leaf_spine_links}
        links = down.get(index, cluster.fabric.spine_core_links)
        rows.append(
            (
                words(tier), words(cluster.parts.tiers[index].switch.item.name),
                reading.count(f"design.fabric.{tier}_switches"),
                *_spare_and_ports(reading, tier, ports.used, ports.free), whole(links), words(medium),
                number(longest) if longest else words(fmt.NOTHING), *_draw_and_cost(reading, tier),
            )
        )  # fmt: skip
    rows += _lateral_row(reading)
    for tier, switches, cables, entry in (
        ("inband", cluster.inband, cluster.inband, cluster.parts.inband),
        ("oob", cluster.oob, cluster.oob, cluster.parts.oob),
    ):
        if switches is None or cables is None or entry is None or not switches.switches:
            continue
        links = cables.cables if isinstance(cables, OutOfBandNetwork) else cables.host_links
        rows.append(
            (
                words("in-band" if tier == "inband" else "out-of-band"), words(entry.item.name),
                whole(switches.switches), *_spare_and_ports(reading, tier, None, None), whole(links),
                words(fmt.NOTHING), words(fmt.NOTHING), *_draw_and_cost(reading, tier),
            )
        )  # fmt: skip
    return rows


def _lateral_row(reading: Reading) -> list[tuple[Cell, ...]]:
    """Links between equals: nodes of a torus or a mesh, leaves of a pair, spines of a dragonfly's groups."""
    fabric = reading.built.cluster.fabric
    if fabric.lateral_tier is None or not fabric.lateral_links:
        return []
    pair = f"{fabric.lateral_tier}-{fabric.lateral_tier}"
    found = [row for row in reading.built.cluster.cabling.rows if row.tier == pair]
    medium = (
        max(found, key=lambda row: row.links).kind.replace("transceiver-pair", "optical")
        if found
        else fmt.NOTHING
    )
    longest = number(max(row.longest_m for row in found)) if found else words(fmt.NOTHING)
    nothing = words(fmt.NOTHING)
    return [
        (
            words(f"{fabric.lateral_tier} to {fabric.lateral_tier}"), *[nothing] * 5, whole(fabric.lateral_links),
            words(medium), longest, nothing, nothing,
        )
    ]  # fmt: skip


def _spare_and_ports(reading: Reading, tier: str, used: int | None, free: int | None) -> tuple[Cell, ...]:
    row = next((row for row in reading.built.bom if row.demand.where == tier), None)
    spares = 0.0 if row is None else reading.value(row.count) - reading.value(row.demand.designed)
    ports = (words(fmt.NOTHING),) * 2 if used is None or free is None else (whole(used), whole(free))
    return (whole(spares), *ports)


def _draw_and_cost(reading: Reading, tier: str) -> tuple[Cell, ...]:
    watts, cost = _switch_key(reading, tier, "power.*.typical_w"), _switch_key(reading, tier, "capex.*_usd")
    return (
        reading.number(watts, 1e-3) if watts else words(fmt.NOTHING),
        reading.number(cost, 1e-6) if cost else words(fmt.NOTHING),
    )
