"""Blast radius: what one failed link, switch or rack takes away."""

from __future__ import annotations

from planner.design.growth import room_to_grow
from planner.design.reach import blast_radius as blasts
from planner.design.reach import hops
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, share, whole, words


def blast_radius(reading: Reading) -> Table:
    """One row for each thing that can fail, smallest first."""
    rows = [*_fabric_rows(reading), *_rack_rows(reading)]
    return Table(
        "blast-radius",
        "What one failure takes away",
        (
            Column("What fails", numeric=False),
            Column("There are"),
            Column("Takes away", numeric=False),
            Column("GPUs touched"),
            Column("Of their bandwidth", "%"),
        ),
        tuple(rows),
    )


NAMES = {
    "node link": "Link of a node", "node cable": "Cable of a node", "node": "Node", "domain link": "Link of two domains",
    "leaf": "Leaf switch", "link between leaves": "Link of two leaves", "leaf uplink": "Link of a leaf to a spine",
    "spine": "Spine switch", "spine uplink": "Link of a spine to a core", "core": "Core switch",
    "link between groups": "Link of two groups", "plane": "Plane",
}  # fmt: skip


def _fabric_rows(reading: Reading) -> list[tuple[Cell, ...]]:
    return [
        (
            words(NAMES.get(one.element, one.element)), whole(one.count), words(f"bandwidth {one.between}"),
            whole(one.gpus), share(one.lost_fraction),
        )
        for one in blasts(reading.built.cluster.fabric)
    ]  # fmt: skip


def hops_table(reading: Reading) -> Table:
    """How far apart endpoints are, and how many GPUs may still join."""
    fabric = reading.built.cluster.fabric
    way, room = hops(fabric), room_to_grow(fabric)
    pods = fabric.shape is not None and len(fabric.shape.pods) > 1
    said = f"{way.through} on the way"
    rows: list[tuple[Cell, ...]] = []
    if fabric.leaves:
        rails = fabric.request.rails_built > 1
        rows.append(
            (
                words("To a node on the same leaf" + (", same rail" if rails else "")),
                whole(way.nearest),
                words(said),
            )
        )
    if pods:
        rows.append((words("To the farthest in the same pod"), whole(way.same_pod), words(said)))
    rows.append((words("To the farthest of all"), whole(way.farthest), words(said)))
    rows += [
        (
            words("More on the leaves there are"),
            whole(room.leaf_gpus),
            words("GPUs, nodes and their cables alone"),
        ),
        (words("More without a new tier"), whole(room.tier_gpus), words("GPUs, no cable moved")),
    ]
    if room.topology_gpus is not None:
        rows.append(
            (
                words("More in this topology, built anew"),
                whole(room.topology_gpus),
                words("GPUs, as many tiers"),
            )
        )
    return Table(
        "hops", "How far apart, and room to grow",
        (Column("What", numeric=False), Column("Count"), Column("Of", numeric=False)), tuple(rows),
    )  # fmt: skip


def _rack_rows(reading: Reading) -> list[tuple[Cell, ...]]:
    cluster = reading.built.cluster
    servers = {group.server.item.id: group.server.item for group in cluster.parts.groups}
    rows: list[tuple[Cell, ...]] = []
    for group in cluster.layout.groups:
        item = servers.get(group.id)
        if item is None:
            what = f"up to {group.items_per_rack} of {group.items}"
            gpus: Cell = words(fmt.NOTHING)
        else:
            what = f"{group.items_per_rack} of {group.items} {'rack systems' if item.is_rack else 'servers'}"
            gpus = whole(group.items_per_rack * item.gpus)
        rows.append((words(f"Rack of {group.id}"), whole(group.racks), words(what), gpus, words(fmt.NOTHING)))
    return rows
