"""Boxes that the ranks of a measured collective stand in."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Accelerator, ScaleUp, Server
from planner.catalog.store import Catalog
from planner.performance.machines import HOST_GPUS
from planner.study.fidelity.schema import CollectiveRow


@dataclass(frozen=True, slots=True)
class Box:
    """What holds accelerators that talk without a network.

    Attributes:
        name: Server of the catalog, or the accelerator's own link.
        most: Accelerators it holds.
        tray: Accelerators of a tray of a rack; 0 of other boxes.
    """

    name: str
    most: int
    tray: int


def box_of(catalog: Catalog, chip: Accelerator, server: Server | None) -> Box:
    """The box of an accelerator: its server, else as many as its link joins, at least those of a host."""
    if server is not None:
        tray = server.gpus // (server.trays or 1) if server.is_rack else 0
        return Box(server.name, max(server.gpus, server.scaleup_domain_gpus), tray)
    link = catalog.get(ScaleUp, chip.scaleup) if chip.scaleup else None
    most = max(HOST_GPUS, (link.domain_gpus_max or 0) if link is not None else 0)
    return Box(f"a box of {chip.name}", most, 0)


def with_boxes(row: CollectiveRow, box: Box) -> CollectiveRow:
    """The row with full boxes where it doesn't state how many there are, and racks where it counts their trays."""
    stated = "n_nodes" in row.model_fields_set
    if box.tray and row.n_nodes > 1:
        stated = row.n_gpus // row.n_nodes > box.tray
    boxes = -(-row.n_gpus // box.most)
    if stated or row.n_gpus % boxes:
        return row
    return row.model_copy(update={"n_nodes": boxes})


def uneven(row: CollectiveRow, box: Box) -> str:
    """Why a row's GPUs can't stand in its nodes; empty where they can."""
    if row.n_gpus % row.n_nodes:
        return f"{row.n_gpus:,} GPUs don't spread evenly over {row.n_nodes:,} nodes"
    if row.n_gpus // row.n_nodes > box.most:
        return f"{row.n_gpus // row.n_nodes:,} GPUs a node, and {box.name} holds {box.most:,}"
    return ""
