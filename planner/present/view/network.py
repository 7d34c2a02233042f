"""What is built to join the GPUs: the drawing, cables, the network's share, racks and floor."""

from __future__ import annotations

from planner.present.view.beside import beside_notes, storage_table
from planner.present.view.cables import cables_table, schedule_figure, totals_table
from planner.present.view.faults import blast_radius, hops_table
from planner.present.view.model import Figure, Section, Table
from planner.present.view.racks import elevation_figure, floor_figure
from planner.present.view.reading import Reading
from planner.present.view.shares import NOTES as SHARE_NOTES
from planner.present.view.shares import published_table, shares_figure
from planner.present.view.topology import topology_figure, topology_in_words

__all__ = ["network_section", "topology_in_words"]
NOTES = (
    "Links are port pairs at the endpoint's rate; a cable is what is ordered, and may carry two links.",
    "Cable runs are Manhattan distances between racks, up to the tray and down again; cross trays are taken to be "
    "wherever a run needs them.",
)


def network_section(reading: Reading) -> Section:
    """C14 and its kin: topology, cable schedule, network share, racks, floor."""
    cluster = reading.built.cluster
    why = " ".join(cluster.fabric.why)
    wanted: list[Figure | None] = [topology_figure(reading)]
    if cluster.cabling.classes:
        wanted.append(schedule_figure(reading))
    wanted += [shares_figure(reading), elevation_figure(reading), floor_figure(reading)]
    figures = tuple(figure for figure in wanted if figure is not None)
    if not cluster.fabric.links:
        return Section(
            "network", "Network", why, figures, (blast_radius(reading),),
            ("No switch joins the servers, so there are no tiers and no cables to list.",),
        )  # fmt: skip
    tables: list[Table | None] = [
        blast_radius(reading),
        hops_table(reading),
        storage_table(reading),
        cables_table(reading),
        totals_table(reading),
        published_table(reading),
    ]
    shown = tuple(table for table in tables if table is not None)
    return Section("network", "Network", why, figures, shown, (*beside_notes(reading), *NOTES, *SHARE_NOTES))
