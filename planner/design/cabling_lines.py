"""Ledger lines of the cabling: what is pulled and plugged, the hours and money of it, and what fails at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from planner.catalog.schema import Cable
from planner.catalog.store import Entry
from planner.design.bom import AssetClass, Demand
from planner.design.cabling import CablingPlan, plan_cabling
from planner.design.cluster import Cluster
from planner.design.fabric_parts import Tier
from planner.design.halls import place_racks
from planner.design.plant import JUMPER_M, Plant, design_plant
from planner.design.plant_parts import panel, trunk
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.scenario.givens import assume, figure_line
from planner.scenario.parts import GroupParts, Parts

RULES = {
    "cable_install_hours": ("Hours to pull, label, clean, plug and test an optical link", "h"),
    "copper_install_hours": ("Hours to lay, plug and test a copper cable", "h"),
    "connector_clean_minutes": ("Minutes to inspect and clean a fibre connector", "min"),
    "install_usd_per_hour": ("Hour of a cabling contractor", "USD/h"),
    "early_life_module_failure_fraction": ("Modules that fail before or during acceptance", "fraction"),
    "link_repair_hours": ("Hours to find and mend a link", "h"),
    "burn_in_days": ("Days under load before links are accepted", "days"),
    "cabling_technicians_count": ("Technicians who cable at the same time", "1"),
    "shift_hours_per_day": ("Hours a technician works a day", "h"),
    "propagation_ns_per_m": ("Time of light or current in a metre of cable", "ns/m"),
}
"""What labour and early failures rest on, of the network's assumptions: label and unit of each."""


COMPUTE = {str(tier) for tier in Tier}
"""Kinds of items of the compute fabric, whose messages collectives wait for."""


@dataclass(slots=True)
class CableCounts:
    """Catalog cables in service, by item: pieces and metres of those that are priced by length."""

    entries: dict[str, Entry[Cable]] = field(default_factory=dict)
    pieces: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    metres: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, entry: Entry[Cable], pieces: int, metres: float) -> None:
        """Count so many more."""
        self.entries[entry.item.id] = entry
        self.pieces[entry.item.id] += pieces
        self.metres[entry.item.id] += metres


def cable_counts(cluster: Cluster) -> CableCounts:
    """Cables of every kind. A cable over panels is two jumpers and a share of a trunk."""
    found = CableCounts()
    for row in cluster.cabling.rows:
        found.add(cluster.media[(row.tier, row.medium)].cable, row.cables, row.fibre_m)
    for over in cluster.plant.rows:
        fibre = cluster.media[(over.tier, over.medium)].cable
        found.add(fibre, over.channels, 2.0 * JUMPER_M * over.channels - over.channel_m)
        found.add(trunk(cluster.parts.catalog, fibre), over.trunks, over.trunk_m)
    return found


def panel_demands(ledger: Ledger, cluster: Cluster, spare: Line) -> list[Demand]:
    """Patch panels to buy; none where nothing runs over panels."""
    number = int(cluster.plant.panels.sum())
    if not number:
        return []
    entry: Entry[Any] = panel(cluster.parts.catalog)
    count = ledger.compute(
        f"bom.{entry.item.id}.designed", f"{entry.item.name}, in service", "1", number, function=design_plant,
        inputs=["design.cabling.channels"], note="whole panels in every rack that has fibre to other rows",
    )  # fmt: skip
    return [Demand(entry.item.id, entry.item.name, entry, AssetClass.CABLES, count, spare)]


def enter_cabling(ledger: Ledger, cluster: Cluster) -> None:
    """Enter counts, labour and early failures of all cables that are planned.

    Needs ``cluster.gpus`` in the ledger.
    """
    _enter_floor(ledger, cluster)
    if not cluster.cabling.rows:
        return
    counts = _enter_counts(ledger, cluster.cabling, cluster.plant)
    rules = {
        key: assume(ledger, cluster.parts.catalog, "network", key, label, unit)
        for key, (label, unit) in RULES.items()
        if key != "propagation_ns_per_m"
    }
    _enter_labour(ledger, counts, rules)
    _enter_early(ledger, counts, rules)
    _enter_backplane(ledger, cluster)


def _enter_counts(ledger: Ledger, plan: CablingPlan, plant: Plant) -> dict[str, Line]:
    copper = [row for row in plan.rows if row.kind.is_copper]
    glass = [row for row in plan.rows if not row.kind.is_copper]
    plugs = [row for row in plan.rows if row.fibres_per_link]
    wanted: tuple[tuple[str, str, str, float], ...] = (
        ("links", "Links that are cabled, all networks", "1", sum(row.links for row in plan.rows)),
        ("optical_cables", "Fibre and active optical cables", "1", sum(row.cables for row in glass)),
        ("copper_cables", "Copper cables", "1", sum(row.cables for row in copper)),
        ("modules", "Optical modules", "1", plan.transceivers),
        ("fibres", "Fibres that carry light", "1", sum(row.fibres for row in plan.rows)),
        ("longest_m", "Longest link", "m", max(row.longest_m for row in plan.rows)),
        ("copper_m", "Copper cable as ordered", "m", sum(row.copper_m for row in copper)),
        ("fibre_m", "Optical cable as ordered, port to port", "m", sum(row.fibre_m for row in glass)),
        ("channels", "Fibre cables that run over patch panels", "1", plant.channels),
        ("trunks", "Trunks between patch panels", "1", plant.trunks),
        ("panel_ports", "Patch panel ports in use", "1", float(plant.panel_ports.sum())),
        (
            "connectors", "Fibre connectors to be cleaned", "1",
            2 * sum(row.cables for row in plugs) + 4 * plant.channels,
        ),
    )  # fmt: skip
    panels = ("channels", "trunks", "panel_ports")
    return {
        key: ledger.compute(
            f"design.cabling.{key}", label, unit, value,
            function=design_plant if key in panels else plan_cabling, inputs=["cluster.gpus"],
        )
        for key, label, unit, value in wanted
    }  # fmt: skip


def _enter_labour(ledger: Ledger, counts: dict[str, Line], rules: dict[str, Line]) -> None:
    """Hours and money; the money is a part of ``capex.installation_usd`` and isn't added to it."""
    hours = ledger.derive(
        "design.cabling.install_hours", "Hours to install and test all cables", "h",
        counts["optical_cables"] * rules["cable_install_hours"]
        + counts["copper_cables"] * rules["copper_install_hours"],
    )  # fmt: skip
    ledger.derive(
        "design.cabling.clean_hours", "Hours of these that go into cleaning connectors", "h",
        counts["connectors"] * rules["connector_clean_minutes"] / 60,
    )  # fmt: skip
    ledger.derive(
        "design.cabling.labour_usd", "Cabling labour, a part of installation", "USD",
        hours * rules["install_usd_per_hour"],
    )  # fmt: skip
    ledger.derive(
        "design.cabling.days_to_accept", "Days from the first cable to accepted links", "days",
        hours / (rules["cabling_technicians_count"] * rules["shift_hours_per_day"]) + rules["burn_in_days"],
    )  # fmt: skip


def _enter_early(ledger: Ledger, counts: dict[str, Line], rules: dict[str, Line]) -> None:
    failures = ledger.derive(
        "design.cabling.early_failures", "Modules that fail before or during acceptance", "1",
        counts["modules"] * rules["early_life_module_failure_fraction"],
    )  # fmt: skip
    mending = ledger.derive(
        "design.cabling.early_repair_hours", "Hours to swap them", "h", failures * rules["link_repair_hours"]
    )
    ledger.derive(
        "design.cabling.early_repair_usd", "Labour to swap them, a part of installation", "USD",
        mending * rules["install_usd_per_hour"],
    )  # fmt: skip


def _enter_backplane(ledger: Ledger, cluster: Cluster) -> None:
    """Cables that come built into rack-scale systems of every kind, which nobody pulls on site."""
    parts = cluster.parts
    kinds = [one for one in parts.kinds if one.server.item.backplane_cables_count is not None]
    if not kinds:
        return
    racks = [_backplane_racks(ledger, parts, kind, alone=len(kinds) == 1) for kind in kinds]
    cables = [
        count
        * figure_line(
            ledger, f"servers.{one.item.id}.backplane_cables", f"Copper cables in the backplane of {one.item.name}",
            "1", one, "backplane_cables_count",
        )
        for one, count in zip((kind.server for kind in kinds), racks, strict=True)
    ]  # fmt: skip
    if len(kinds) > 1:
        ledger.derive("design.cabling.backplane_racks", "Racks with a copper backplane", "1", added(racks))
    ledger.derive(
        "design.cabling.backplane_cables", "Scale-up cables built into racks, not installed on site", "1",
        added(cables),
    )  # fmt: skip


def _backplane_racks(ledger: Ledger, parts: Parts, kind: GroupParts, *, alone: bool) -> Line:
    own = "" if alone else f"_{kind.server.item.id}"
    return ledger.compute(
        f"design.cabling.backplane_racks{own}",
        "Racks with a copper backplane" + ("" if alone else f", {kind.server.item.name}"), "1",
        parts.servers_of(kind), function=place_racks, inputs=["cluster.gpus"],
    )  # fmt: skip


def _enter_floor(ledger: Ledger, cluster: Cluster) -> None:
    """Way and time of light between halls; nothing where no link leaves its hall."""
    metres = crossing_m(cluster.cabling)
    if not metres:
        return
    way = ledger.compute(
        "design.floor.crossing_m", "Cable between halls on the farthest path, one way", "m", metres,
        function=place_racks, inputs=["cluster.gpus"],
        note="up and down again in every tier that leaves a hall, by the routes",
    )  # fmt: skip
    label, unit = RULES["propagation_ns_per_m"]
    per_metre = assume(ledger, cluster.parts.catalog, "network", "propagation_ns_per_m", label, unit)
    ledger.derive("design.floor.crossing_latency_us", "Time on it, one way", "us", way * per_metre / 1000)


def crossing_m(plan: CablingPlan) -> float:
    """Cable between halls on the farthest path through the fabric: each tier up and down, equals once."""
    found = 0.0
    for tier in plan.tiers:
        links = tier.asked.links
        if not {links.lower_kind, links.upper_kind} <= COMPUTE:
            continue
        turns = 1.0 if links.lower_kind == links.upper_kind else 2.0
        found += turns * float(links.crossing_m.max(initial=0.0))
    return found
