"""Blast radius: what one failed link, switch or rack takes away."""

from __future__ import annotations

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


def _fabric_rows(reading: Reading) -> list[tuple[Cell, ...]]:
    cluster = reading.built.cluster
    fabric, request = cluster.fabric, cluster.fabric.request
    if not fabric.leaves:
        return []
    gpus = int(reading.value("cluster.gpus"))
    ports = request.nics_per_node * fabric.planes
    plane = "" if fabric.planes == 1 else f" in one of {fabric.planes} planes"
    rails = request.rails_built * fabric.planes
    rows: list[tuple[Cell, ...]] = [
        (
            words("Link of a node"), whole(fabric.node_leaf_links),
            words(f"one rail of {request.rails_built}{plane} for the {request.gpus_per_node} GPUs of a node"),
            whole(request.gpus_per_node), share(1 / ports),
        ),
        (
            words("Leaf switch"), whole(fabric.leaves),
            words(f"one rail of {request.rails_built}{plane} for its {fmt.count(fabric.gpus_per_leaf)} GPUs"),
            whole(fabric.gpus_per_leaf), share(1 / rails if rails else 1 / ports),
        ),
    ]  # fmt: skip
    shape = fabric.shape
    if shape is None:
        return rows
    pod_gpus = -(-gpus // max(1, len(shape.pods)))
    rows += [
        (
            words("Link of a leaf to a spine"), whole(fabric.leaf_spine_links),
            words(f"one of {fabric.uplinks_per_leaf} uplinks of a leaf"), whole(fabric.gpus_per_leaf),
            share(1 / (fabric.uplinks_per_leaf * rails)),
        ),
        (
            words("Spine switch"), whole(fabric.spines),
            words(f"one of {shape.spines_per_pod} ways between the leaves of a pod{plane}"), whole(pod_gpus),
            share(1 / (shape.spines_per_pod * fabric.planes)),
        ),
    ]  # fmt: skip
    if fabric.cores:
        each = shape.cores
        rows.append(
            (
                words("Core switch"), whole(fabric.cores), words(f"one of {each} ways between pods{plane}"),
                whole(gpus), share(1 / (each * fabric.planes)),
            )
        )  # fmt: skip
    return rows


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
