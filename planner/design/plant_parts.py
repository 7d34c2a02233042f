"""Catalog parts of structured cabling: panels, and the trunk that belongs to each kind of fibre."""

from __future__ import annotations

from planner.catalog.schema import Cable, PatchPanel
from planner.catalog.store import Catalog, Entry
from planner.design.cabling import CablingPlan
from planner.design.joining import Media
from planner.design.plant import STRUCTURED, Plant, design_plant
from planner.design.rack_parts import RackLayout

PANEL = "patch-panel-1u"
"""The panel that plans use."""


def panel(catalog: Catalog) -> Entry[PatchPanel]:
    """The patch panel."""
    return catalog.entry(PatchPanel, PANEL)


def panel_ports(catalog: Catalog) -> int:
    """Connectors of a panel."""
    return panel(catalog).item.ports


def trunk(catalog: Catalog, fibre: Entry[Cable]) -> Entry[Cable]:
    """The trunk that takes the place of a kind of fibre between panels.

    Raises:
        CatalogError: There is none in the catalog.
    """
    return catalog.entry(Cable, fibre.item.trunk or f"trunk-{fibre.item.id}")


def structured(catalog: Catalog, plan: CablingPlan, media: Media, layout: RackLayout) -> Plant:
    """Panels and trunks of a cabling plan, with the catalog's sizes."""
    return design_plant(
        plan,
        layout,
        ports_per_panel=panel_ports(catalog),
        channels_per_trunk={
            (row.tier, row.medium): trunk(catalog, media[(row.tier, row.medium)].cable).item.links
            for row in plan.rows
            if row.tier in STRUCTURED and not row.kind.is_assembly
        },
    )
