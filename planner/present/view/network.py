"""What is built to join the GPUs: tiers, cables, racks."""

from __future__ import annotations

from typing import Any

from planner.design.cluster import TIERS
from planner.design.fabric_parts import Tier
from planner.design.frontend import OutOfBandNetwork
from planner.present import format as fmt
from planner.present.view.faults import blast_radius
from planner.present.view.model import Cell, Column, Figure, Section, Table
from planner.present.view.power import rack_limit_kw
from planner.present.view.reading import Reading, number, whole, words

BELOW = {"leaf": "node-leaf", "spine": "leaf-spine", "core": "spine-core"}
NOTES = (
    "Links are port pairs at the endpoint's rate; a cable is what is ordered, and may carry two links.",
    "Cable runs are Manhattan distances between racks, up to the tray and down again; cross trays are taken to be "
    "wherever a run needs them.",
)


def network_section(reading: Reading) -> Section:
    """C14, tiers, cables, blast radius, floor."""
    fabric = reading.built.cluster.fabric
    figures = [_topology(reading), _floor(reading)]
    if not fabric.leaves:
        return Section(
            "network", "Network", " ".join(fabric.why), tuple(figures), (blast_radius(reading),),
            ("No switch joins the servers, so there are no tiers and no cables to list.",),
        )  # fmt: skip
    return Section(
        "network",
        "Network",
        " ".join(fabric.why),
        tuple(figures),
        (_cables(reading), blast_radius(reading)),
        NOTES,
    )


def topology_in_words(reading: Reading) -> str:
    """Topology, tiers, size, ratio in a line."""
    fabric = reading.built.cluster.fabric
    if not fabric.leaves:
        return f"{fabric.nodes} node{'s' if fabric.nodes > 1 else ''} without a fabric"
    tiers = f"{fabric.tiers} tier{'s' if fabric.tiers > 1 else ''}"
    planes = f", {fabric.planes} planes" if fabric.planes > 1 else ""
    ratio = f", {fmt.plain(fabric.oversubscription)}:1" if fabric.shape is not None else ""
    return f"{fabric.topology}, {tiers}{planes}{ratio}"


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
                words(tier),
                words(cluster.parts.tiers[index].switch.item.name),
                reading.count(f"design.fabric.{tier}_switches"),
                *_spare_and_ports(reading, tier, ports.used, ports.free),
                whole(links),
                words(medium),
                number(longest) if longest else words(fmt.NOTHING),
                *_draw_and_cost(reading, tier),
            )
        )
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


def _topology(reading: Reading) -> Figure:
    cluster, fabric = reading.built.cluster, reading.built.cluster.fabric
    groups: dict[Tier, list[dict[str, Any]]] = {}
    for group in fabric.tier_groups():
        groups.setdefault(group.tier, []).append(
            {"label": group.label, "groups": group.groups, "each": group.per_group, "up": group.links_up_each}
        )
    unused = fabric.leaf_groups - sum(group["groups"] for group in groups[Tier.NODE]) if fabric.leaves else 0
    if unused > 0:
        groups[Tier.NODE].append({"label": "no nodes, reserved ports", "groups": unused, "each": 0, "up": 0})
    ports = {str(one.tier): one for one in fabric.tier_ports}
    counts = {**cluster.switch_counts, "node": fabric.nodes}
    links = {
        "node": fabric.node_leaf_links,
        "leaf": fabric.leaf_spine_links,
        "spine": fabric.spine_core_links,
    }
    server = cluster.parts.groups[0].server.item
    tiers = []
    for tier in (Tier.CORE, Tier.SPINE, Tier.LEAF, Tier.NODE):
        if tier not in groups:
            continue
        name = server.name if tier is Tier.NODE else cluster.parts.tiers[TIERS.index(tier)].switch.item.name
        if tier is Tier.NODE and server.is_rack:
            name = f"trays of {name}"
        above = {"node": "leaf", "leaf": "spine", "spine": "core"}.get(tier, "")
        media = [row for row in cluster.cabling.rows if row.tier == BELOW.get(above)]
        copper = bool(media) and max(media, key=lambda row: row.links).kind.is_copper
        found = ports.get(str(tier))
        tiers.append(
            {
                "tier": str(tier), "name": name, "groups": groups[tier],
                "count": f"{fmt.count(counts[tier])} x {name}",
                "links": f"{fmt.count(links[tier])} links up" if links.get(tier) else "",
                "free": f"{fmt.count(found.free)} ports free" if found is not None else "",
                "copper": copper,
            }
        )  # fmt: skip
    said = topology_in_words(reading)
    rate = "" if not fabric.leaves else f", {fmt.count(fabric.request.link_rate_gbit_per_s)} Gbit/s links"
    rows = _tier_rows(reading)
    if not rows:
        rows = [(words("node"), words(server.name), whole(fabric.nodes), *[words(fmt.NOTHING)] * 8)]
    gpus = fmt.count(reading.value("cluster.gpus"))
    return Figure(
        "C14",
        "topology",
        f"{gpus} GPUs: {said}{rate}",
        "Like groups are folded: the first and the last of each stand for all. Dashed lines are mostly copper.",
        {"tiers": tiers, "planes": fabric.planes, "rails": fabric.request.rails_built},
        Table(
            "tiers",
            "Networks by tier",
            (
                Column("Tier", numeric=False),
                Column("Switch", numeric=False),
                Column("Count"),
                Column("Spare"),
                Column("Ports used"),
                Column("Ports free"),
                Column("Links down"),
                Column("Cable", numeric=False),
                Column("Longest", "m"),
                Column("Draw", "kW"),
                Column("Cost", "M USD"),
            ),
            tuple(rows),
        ),
    )


def _cables(reading: Reading) -> Table:
    rows = [
        (
            words(row.tier),
            words(row.medium),
            words(row.kind),
            whole(row.links),
            whole(row.cables),
            whole(row.modules),
            number(row.longest_m),
            number(row.power_w / 1e3),
            words(fmt.NOTHING) if row.cost is None else number(row.cost.typ_usd / 1e3),
        )
        for row in reading.built.cluster.cabling.rows
    ]
    cabling = reading.built.cluster.cabling
    priced = [row.cost.typ_usd for row in cabling.rows if row.cost is not None]
    rows.append(
        (
            words("All"), words(""), words(""), whole(sum(row.links for row in cabling.rows)), whole(cabling.cables),
            whole(cabling.transceivers), number(max((row.longest_m for row in cabling.rows), default=0.0)),
            number(cabling.power_w / 1e3), number(sum(priced) / 1e3),
        )
    )  # fmt: skip
    return Table(
        "cabling",
        "Cables and optics of the compute fabric, in service (without spares)",
        (
            Column("Between", numeric=False),
            Column("Medium", numeric=False),
            Column("Kind", numeric=False),
            Column("Links"),
            Column("Cables"),
            Column("Modules"),
            Column("Longest", "m"),
            Column("Draw", "kW"),
            Column("Cost", "k USD"),
        ),
        tuple(rows),
        total=True,
    )


def _floor(reading: Reading) -> Figure:
    layout = reading.built.cluster.layout
    limit = rack_limit_kw(reading)
    servers = {group.server.item.id for group in reading.built.cluster.parts.groups}
    kinds: list[str] = []
    for group in layout.groups:
        kind = "server" if group.id in servers else "network" if group.id.startswith("network") else "storage"
        kinds += [kind] * group.racks
    rows = [
        (
            words(group.id), whole(group.racks), whole(group.items), whole(group.items_per_rack),
            number(group.power_kw_max), words(fmt.NOTHING) if limit is None else number(limit),
        )
        for group in layout.groups
    ]  # fmt: skip
    fullest = max(group.power_kw_max for group in layout.groups)
    against = "" if limit is None else f" of {fmt.significant(limit)} kW"
    row_s = "row" if layout.rows == 1 else "rows"
    return Figure(
        "C14b",
        "racks",
        f"{fmt.count(layout.racks)} rack{'s' if layout.racks > 1 else ''} in {layout.rows} {row_s}; the fullest "
        f"draws {fmt.significant(fullest)} kW{against}",
        "Each square is a rack seen from above, rows from top to bottom; aisles lie between rows.",
        {
            "x": [round(float(x), 3) for x in layout.x_m], "y": [round(float(y), 3) for y in layout.y_m],
            "kinds": kinds, "pitch": layout.floor.rack_pitch_m, "row_pitch": layout.floor.row_pitch_m,
        },
        Table(
            "racks",
            "Racks by what stands in them",
            (
                Column("Holds", numeric=False),
                Column("Racks"),
                Column("Items"),
                Column("In a full rack"),
                Column("Fullest", "kW"),
                Column("Limit", "kW"),
            ),
            tuple(rows),
        ),
    )  # fmt: skip
