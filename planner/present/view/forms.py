"""The network's form as drawn: tiers of switches, groups on a ring, a mesh of domains, or a grid of nodes."""

from __future__ import annotations

from typing import Any

from planner.choices import Topology
from planner.design.cluster import TIERS
from planner.design.fabric_parts import FabricDesign, Tier
from planner.present import format as fmt
from planner.present.view.reading import Reading

PAIR = {Tier.NODE: "node-leaf", Tier.LEAF: "leaf-spine", Tier.SPINE: "spine-core"}
"""Links from a tier up."""
HELP = "Like groups are folded: the first and the last of each stand for all. Dashed lines are mostly copper."
RING_HELP = "Every group has links to every other. One group is unfolded beside them, and all are alike."
MESH_HELP = "Every domain has links to every other; there is no switch between them."
GRID_HELP = "Solid lines join neighbours, dashed lines stand for what is left out, and bent ones close each line to a ring."


def form(reading: Reading) -> tuple[str, dict[str, Any]]:
    """How to read the drawing, and its data."""
    fabric = reading.built.cluster.fabric
    if fabric.torus is not None:
        return GRID_HELP, _grid(reading)
    if fabric.mesh is not None:
        return MESH_HELP, _mesh(reading)
    if fabric.lateral_tier is Tier.SPINE:
        return RING_HELP, _ring(reading)
    return HELP, _tiers(reading)


def links_words(reading: Reading, links: int) -> str:
    """Links of one pair of tiers with their rate."""
    rate = reading.built.cluster.fabric.request.link_rate_gbit_per_s
    return f"{fmt.count(links)} links x {fmt.count(rate)} Gbit/s"


def media_words(reading: Reading, pair: str) -> str:
    """What links of a pair of tiers are mostly made of, and the longest; empty where none is cabled."""
    rows = [row for row in reading.built.cluster.cabling.rows if row.tier == pair]
    if not rows:
        return ""
    main = max(rows, key=lambda row: row.links)
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    longest = fmt.significant(max(row.longest_m for row in rows))
    return f"{main.kind.replace('transceiver-pair', 'optical')}{more}, up to {longest} m"


def node_counts(reading: Reading) -> list[tuple[str, int]]:
    """Every kind of node with how many there are: servers, or trays of rack-scale systems."""
    parts = reading.built.cluster.parts
    found = []
    for kind in parts.kinds:
        server = kind.server.item
        trays = server.trays if server.is_rack and server.trays else 1
        found.append(
            (f"trays of {server.name}" if server.is_rack else server.name, parts.servers_of(kind) * trays)
        )
    return found


def _nodes_words(reading: Reading) -> list[str]:
    return [f"{fmt.count(count)} x {name}" for name, count in node_counts(reading)]


def _node_label(reading: Reading) -> str:
    """All nodes on one short line: of several kinds by their ids, as names would not fit."""
    counts = node_counts(reading)
    if len(counts) == 1:
        return f"{fmt.count(counts[0][1])} x {counts[0][0]}"
    ids = [kind.server.item.id for kind in reading.built.cluster.parts.kinds]
    return ", ".join(f"{fmt.count(count)} x {one}" for one, (_, count) in zip(ids, counts, strict=True))


def _server_names(reading: Reading) -> str:
    return " and ".join(kind.server.item.name for kind in reading.built.cluster.parts.kinds)


def _lines(*said: str) -> list[str]:
    return [one for one in said if one]


def _grid(reading: Reading) -> dict[str, Any]:
    cluster, torus = reading.built.cluster, reading.built.cluster.fabric.torus
    assert torus is not None
    sizes = [size for size in torus.dimensions if size > 1]
    each = " + ".join(
        str(2 * links) for size, links in zip(torus.dimensions, torus.links, strict=True) if size > 1
    )
    return {
        "form": "grid", "sizes": sizes or [1], "unit": "node",
        "lines": _lines(
            *_nodes_words(reading), " x ".join(fmt.count(size) for size in sizes) + " torus",
            links_words(reading, cluster.fabric.lateral_links), media_words(reading, "node-node"),
            f"{each} links at a node, both ways", f"{fmt.count(torus.hops_farthest)} links to the farthest node",
        ),
    }  # fmt: skip


def _mesh(reading: Reading) -> dict[str, Any]:
    fabric, mesh = reading.built.cluster.fabric, reading.built.cluster.fabric.mesh
    assert mesh is not None
    what = (
        "trays" if any(kind.server.item.is_rack for kind in reading.built.cluster.parts.kinds) else "servers"
    )
    return {
        "form": "ring", "groups": mesh.domains, "inside": [],
        "lines": _lines(
            f"{fmt.count(mesh.domains)} domains of {fmt.count(mesh.nodes_per_domain)} {what}", _server_names(reading),
            f"{fmt.count(mesh.links_per_pair)} links between any two", links_words(reading, fabric.lateral_links),
            media_words(reading, "node-node"), f"room for {fmt.count(mesh.domains_laid_out)} domains",
        ),
    }  # fmt: skip


def _ring(reading: Reading) -> dict[str, Any]:
    cluster, fabric = reading.built.cluster, reading.built.cluster.fabric
    shape = fabric.shape
    assert shape is not None
    names = [cluster.parts.tiers[TIERS.index(tier)].switch.item.name for tier in (Tier.SPINE, Tier.LEAF)]
    leaves, nodes = shape.pods[0] * fabric.leaves_per_group, fabric.nodes_per_pod
    planes = f"in each of {fabric.planes} planes, all alike" if fabric.planes > 1 else ""
    return {
        "form": "ring", "groups": len(shape.pods),
        "inside": [
            {"name": f"{fmt.count(shape.spines_per_pod)} spines", "items": shape.spines_per_pod, "fill": "var(--c6)"},
            {"name": f"{fmt.count(leaves)} leaves", "items": leaves, "fill": "var(--c1)"},
            {"name": f"{fmt.count(nodes)} nodes", "items": nodes, "fill": "var(--c5)"},
        ],
        "lines": _lines(
            f"{fmt.count(len(shape.pods))} groups joined each to each", planes,
            f"{fmt.count(shape.links_per_pod_pair)} links between any two",
            f"between groups: {links_words(reading, fabric.lateral_links)}", media_words(reading, "spine-spine"),
            f"{fmt.count(fabric.spines)} x {names[0]}, spine",
            f"inside: {links_words(reading, fabric.leaf_spine_links)}", media_words(reading, "leaf-spine"),
            f"{fmt.count(fabric.leaves)} x {names[1]}, leaf",
            f"to nodes: {links_words(reading, fabric.node_leaf_links)}", media_words(reading, "node-leaf"),
            *_nodes_words(reading),
        ),
    }  # fmt: skip


def _tiers(reading: Reading) -> dict[str, Any]:
    fabric = reading.built.cluster.fabric
    groups = _groups(fabric)
    tiers = [
        _tier(reading, tier, groups[tier])
        for tier in (Tier.CORE, Tier.SPINE, Tier.LEAF, Tier.NODE)
        if tier in groups
    ]
    return {
        "form": "tiers",
        "tiers": tiers,
        "planes": _behind(fabric),
        "note": f"{_note(fabric)} {_halls(reading)}".strip(),
    }


def _halls(reading: Reading) -> str:
    """Halls that racks stand in; empty where there is one."""
    layout = reading.built.cluster.layout
    names = [hall.id for at, hall in enumerate(layout.halls) if (layout.hall == at).any()]
    if len(names) < 2:
        return ""
    return f"Over {len(names)} halls: {', '.join(names[:4])}{' and more' if len(names) > 4 else ''}."


def _in_pairs(fabric: FabricDesign) -> bool:
    return fabric.topology is Topology.DUAL_TOR


def _behind(fabric: FabricDesign) -> int:
    """Planes drawn one behind the other; in pairs of leaves both planes are seen."""
    return 1 if _in_pairs(fabric) else fabric.planes


def _note(fabric: FabricDesign) -> str:
    rate = fmt.count(fabric.request.link_rate_gbit_per_s)
    said = ""
    if _in_pairs(fabric):
        said = f"Every adapter has {rate} Gbit/s to each leaf of a pair, one leaf in each of two planes."
    elif fabric.planes > 1:
        behind = "the other" if fabric.planes == 2 else f"the other {fabric.planes - 1}"
        said = (
            f"One of {fabric.planes} planes in front, {behind} behind it: they share no switch, "
            f"and every adapter has {rate} Gbit/s to each."
        )
    if fabric.lateral_tier is Tier.LEAF:
        said += f" The leaves of a pair are joined: {fmt.count(fabric.lateral_links)} links."
    return said.strip()


HUES = {Tier.NODE: "var(--c5)"}
FIRST_HUE, SECOND_HUE = "var(--c1)", "var(--c6)"


def _groups(fabric: FabricDesign) -> dict[Tier, list[dict[str, Any]]]:
    """Like groups by tier, of one plane where planes are drawn behind each other."""
    planes = _behind(fabric)
    groups: dict[Tier, list[dict[str, Any]]] = {}
    for group in fabric.tier_groups():
        one = {
            "label": group.label, "groups": group.groups, "each": group.per_group,
            "hue": HUES.get(group.tier, FIRST_HUE),
        }  # fmt: skip
        found = groups.setdefault(group.tier, [])
        if group.tier is Tier.LEAF:
            found.append({**one, "each": max(1, group.per_group // planes)})
        elif group.tier is Tier.NODE:
            found.append(one)
        elif _in_pairs(fabric) and group.groups % 2 == 0:
            half = {**one, "groups": group.groups // 2}
            found.append({**half, "label": f"first plane, {group.label}"})
            found.append({**half, "label": f"second plane, {group.label}", "hue": SECOND_HUE})
        else:
            found.append({**one, "groups": max(1, group.groups // planes)})
    unused = fabric.leaf_groups - sum(group["groups"] for group in groups[Tier.NODE]) if fabric.leaves else 0
    if unused > 0:
        empty = {"label": "no nodes, reserved ports", "groups": unused, "each": 0, "hue": HUES[Tier.NODE]}
        groups[Tier.NODE].append(empty)
    return groups


def _tier(reading: Reading, tier: Tier, groups: list[dict[str, Any]]) -> dict[str, Any]:
    cluster, fabric = reading.built.cluster, reading.built.cluster.fabric
    if tier is Tier.NODE:
        name, counted = " and ".join(one for one, _ in node_counts(reading)), _node_label(reading)
    else:
        name = cluster.parts.tiers[TIERS.index(tier)].switch.item.name
        counted = f"{fmt.count(cluster.switch_counts[tier])} x {name}"
    links = {
        Tier.NODE: fabric.node_leaf_links, Tier.LEAF: fabric.leaf_spine_links, Tier.SPINE: fabric.spine_core_links,
    }.get(tier, 0)  # fmt: skip
    media = [row for row in cluster.cabling.rows if row.tier == PAIR.get(tier)]
    ports = next((one for one in fabric.tier_ports if one.tier == tier), None)
    pairs = tier is Tier.LEAF and _in_pairs(fabric)
    return {
        "tier": str(tier), "name": name, "groups": groups, "count": counted,
        "links": links_words(reading, links) if links else "",
        "media": media_words(reading, PAIR.get(tier, "")) if links else "",
        "free": f"{fmt.count(ports.free)} ports free" if ports is not None else "",
        "copper": bool(media) and max(media, key=lambda row: row.links).kind.is_copper,
        "pairs": pairs, "everywhere": pairs, "planes": tier is not Tier.NODE and _behind(fabric) > 1,
    }  # fmt: skip
