"""The cluster as drawn: fabric, racks, cables, and the networks beside them, from a scenario's parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from planner.catalog.schema import Fabric, Switch
from planner.catalog.store import Entry
from planner.choices import Topology
from planner.design.beside import Beside, appliances, design_beside, switch_ports
from planner.design.beside_links import beside_links, manager_end
from planner.design.beside_wiring import beside_wiring, manager_wiring, oob_switches_needed
from planner.design.cabling import CablingPlan, TierLinks, plan_cabling
from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, design_fabric
from planner.design.fabric_checks import WITHOUT_SWITCHES, connectors
from planner.design.frontend import OutOfBandNetwork, PairedNetwork
from planner.design.halls import place_racks
from planner.design.joining import Media, joined
from planner.design.kinds import joinable, node_shape
from planner.design.lateral_wiring import PortPairs
from planner.design.link_ports import rank
from planner.design.media import nic_end, switch_end
from planner.design.plant import Plant, panel_shares
from planner.design.plant_parts import panel_ports, structured
from planner.design.racks import Floor, HallSpace, RackLayout, RackLimits, ServerLoad, SwitchLoad
from planner.design.wiring import TierWiring, reserved_ports_at, wiring, wiring_ports
from planner.scenario.parts import GroupParts, Parts
from planner.units import KILO

TIERS = ("leaf", "spine", "core")
ROUNDS = 8
"""Rounds in which racks and the switches that reach them settle; two or three as a rule."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is built.

    Attributes:
        media: Catalog items behind each medium of the cabling, by tier pair and the medium's id.
        plant: Panels and trunks of what is cabled from row to row.
        nodes: Fabric nodes: servers, or trays of rack-scale systems.
    """

    parts: Parts
    fabric: FabricDesign
    cabling: CablingPlan
    media: Media
    layout: RackLayout
    plant: Plant
    beside: Beside
    nodes: int

    @property
    def inband(self) -> PairedNetwork | None:
        """In-band network; None where the scenario has none."""
        return self.beside.inband

    @property
    def oob(self) -> OutOfBandNetwork | None:
        """Out-of-band network; None where the scenario has none."""
        return self.beside.oob

    @property
    def fabric_modules(self) -> int:
        """Optical modules in service in the compute fabric, its managers' among them."""
        own = {"node", "ufm", *TIERS}
        return sum(row.modules for row in self.cabling.rows if set(row.tier.split("-")) <= own)

    @property
    def switch_counts(self) -> dict[str, int]:
        """Switches by tier."""
        return {"leaf": self.fabric.leaves, "spine": self.fabric.spines, "core": self.fabric.cores}


def draw_cluster(parts: Parts) -> Cluster:
    """Design everything that has a count or a place.

    Raises:
        DesignError: The parts are right and the cluster can't be built; says what is short.
    """
    group = joinable(parts)
    per_node, nics = node_shape(group)
    request = _request(parts, group, per_node, nics)
    fabric = design_fabric(request)
    nodes = parts.gpus // per_node
    wired = wiring(fabric)
    beside, layout = _housed(parts, per_node, nodes, fabric, wired)
    tiers, media = _tier_links(parts, group, fabric, (*wired, *manager_wiring(beside, fabric)), layout)
    more, more_media = beside_links(parts, beside, layout, beside_wiring(beside, layout, nodes))
    cabling, media = plan_cabling([*tiers, *more]), media | more_media
    plant = structured(parts.catalog, cabling, media, layout)
    return Cluster(parts, fabric, cabling, media, layout, plant, beside, nodes)


def fabric_of(parts: Parts) -> FabricDesign:
    """The scale-out fabric alone, without racks and cables.

    Raises:
        DesignError: It can't be built.
    """
    group = joinable(parts)
    return design_fabric(_request(parts, group, *node_shape(group)))


def _request(parts: Parts, group: GroupParts, per_node: int, nics: int) -> FabricRequest:
    network = parts.loaded.scenario.network
    rate = group.nic.item.port_rate_gbit_per_s.value * group.nic.item.ports
    domain = group.server.item.scaleup_domain_gpus
    shared: dict[str, Any] = {
        "gpus": parts.gpus, "gpus_per_node": per_node, "nics_per_node": nics, "nic_rate_gbit_per_s": rate,
        "scaleup_domain_gpus": domain,
    }  # fmt: skip
    switchless = network.topology in WITHOUT_SWITCHES
    if not parts.tiers and not switchless:
        # Nothing joins servers: a stand-in switch of no ports lets the designer say so.
        return FabricRequest(**shared, leaf=SwitchPorts("none", 1, rate, 1), topology=Topology.NONE)
    shared |= {
        "topology": network.topology, "planes": network.planes, "rails": network.rails,
        "grow_to_gpus": network.grow_to_gpus,
    }  # fmt: skip
    if switchless:
        return FabricRequest(
            **shared, leaf=SwitchPorts("none", 1, rate, 1), reserved_ports=network.reserved_ports or 0
        )
    leaf, spine, core = (switch_ports(tier.switch) for tier in parts.tiers)
    reserved = network.reserved_ports or 0
    if network.reserved_ports is None and parts.tiers[0].switch.item.fabric is Fabric.INFINIBAND:
        reserved = int(parts.catalog.figure("network", "ufm_links_per_fabric_count")[0].value)
    return FabricRequest(
        **shared, leaf=leaf, spine=spine, core=core, reserved_ports=reserved,
        oversubscription=network.leaf.oversubscription,
        spine_oversubscription=network.spine.oversubscription,
        nic_ports=connectors(network.topology, network.planes, group.nic.item.ports),
    )  # fmt: skip


def _housed(
    parts: Parts, per_node: int, nodes: int, fabric: FabricDesign, wired: tuple[TierWiring, ...]
) -> tuple[Beside, RackLayout]:
    """Networks beside the fabric, and all racks.

    Strips in racks take management ports, whose switches take racks, and every hall wants switches of its own:
    the counts rise until they agree.
    """
    racks = least = 0
    beside = design_beside(parts, nodes, fabric)
    layout = _racks(parts, per_node, fabric, wired, beside)
    ports = parts.oob.item.cages if parts.oob is not None else 0
    for _ in range(ROUNDS):
        needed = oob_switches_needed(beside, layout, ports)
        if layout.racks <= racks and not needed:
            break
        racks, least = max(racks, layout.racks), max(least, needed)
        beside = design_beside(parts, nodes, fabric, racks=racks, oob_least=least)
        layout = _racks(parts, per_node, fabric, wired, beside)
    return beside, layout


def _racks(
    parts: Parts,
    per_node: int,
    fabric: FabricDesign,
    wired: tuple[TierWiring, ...],
    beside: Beside,
) -> RackLayout:
    site = parts.loaded.scenario.site
    units = int(parts.catalog.figure("facility", "rack_usable_units")[0].value)
    limit = site.rack_limit_kw
    if limit is None:
        found = parts.cooling.item.rack_limit_kw
        limit = found.value if found is not None else 1e3
    servers = [_server_load(parts, kind, per_node) for kind in parts.kinds]
    if beside.storage is not None and parts.storage is not None:
        servers.append(
            ServerLoad(
                id=parts.storage.item.id, count=beside.storage.blocks, kind="block",
                rack_units=int(parts.storage.item.rack_units),
                power_kw=parts.storage.item.power_w.value / KILO, nodes=0,
            )
        )  # fmt: skip
    counts = (fabric.leaves, fabric.spines, fabric.cores)
    top = max((index for index, count in enumerate(counts) if count), default=0)
    panels = panel_shares(wired, _per_cable(fabric), panel_ports(parts.catalog))
    switches = [
        _switch_load(
            tier,
            parts.tiers[index].switch,
            count,
            central=index == top and index > 0,
            panel_units=panels.get(tier, 0.0),
        )
        for index, (tier, count) in enumerate(zip(TIERS, counts, strict=True))
        if count
    ]
    switches += _beside_loads(parts, beside, central=top > 0)
    slack = parts.catalog.figure("network", "cable_slack_fraction")[0].value
    return place_racks(
        servers=servers,
        switches=switches,
        limits=RackLimits(rack_units=units, power_kw=limit),
        floor_plan=Floor(racks_per_row=site.row_racks, row_pitch_m=site.row_pitch_m, slack_fraction=slack),
        halls=[HallSpace(id=hall.id, racks=hall.racks, distance_m=hall.distance_m) for hall in site.halls],
        wirings=wired,
    )


def _server_load(parts: Parts, kind: GroupParts, per_node: int) -> ServerLoad:
    """All servers of a kind, whatever group they are of: a rack that one group leaves half empty takes the next."""
    item = kind.server.item
    return ServerLoad(
        id=item.id, count=parts.servers_of(kind), rack_units=int(item.rack_units.value) if item.rack_units else 8,
        power_kw=item.power_max_w.value / KILO, weight_kg=item.weight_kg.value if item.weight_kg else None,
        whole_rack=item.is_rack, nodes=item.gpus // per_node,
    )  # fmt: skip


def _beside_loads(parts: Parts, beside: Beside, *, central: bool) -> list[SwitchLoad]:
    """Switches and managers beside the fabric; leaves that have spines above stand near the servers."""
    found = []
    kinds = dict(beside.switch_counts)
    for kind, count in kinds.items():
        network = kind.partition("-")[0]
        entry = parts.inband if network == "inband" else parts.storage_switch
        assert entry is not None
        near = kind == network and f"{network}-spine" in kinds
        load = _switch_load(kind, entry, count, central=central and not near)
        found.append(replace(load, together=2) if kind == network else load)
    if beside.oob is not None and parts.oob is not None and beside.oob.switches:
        found.append(_switch_load("oob", parts.oob, beside.oob.switches, central=False))
    for kind, appliance, count in appliances(parts, beside):
        item = appliance.item
        weight = item.weight_kg.value if item.weight_kg is not None else None
        found.append(
            SwitchLoad(
                tier=kind, count=count, rack_units=ceil(item.rack_units.value),
                power_kw=item.power_max_w.value / KILO, weight_kg=weight, central=central, label=item.name,
            )
        )  # fmt: skip
    return found


def _switch_load(
    tier: str, entry: Entry[Switch], count: int, *, central: bool, panel_units: float = 0.0
) -> SwitchLoad:
    item = entry.item
    watts = item.power_max_w or item.power_typical_w
    return SwitchLoad(
        tier=tier, count=count, rack_units=max(1, int(item.rack_units)),
        power_kw=watts.value / KILO if watts is not None else 0.0, central=central,
        weight_kg=item.weight_kg.value if item.weight_kg is not None else None, panel_units=panel_units,
        label=f"{item.name}, {tier}",
    )  # fmt: skip


def _per_cable(fabric: FabricDesign) -> dict[str, int]:
    """Links that a fibre carries, by tier pair."""
    beside = f"{fabric.lateral_tier}-{fabric.lateral_tier}"
    return {
        "node-leaf": fabric.node_leaf_links // max(1, fabric.node_leaf_cables),
        "leaf-spine": fabric.leaf_spine_links // max(1, fabric.leaf_spine_cables),
        "spine-core": fabric.spine_core_links // max(1, fabric.spine_core_cables),
        beside: fabric.lateral_links // max(1, fabric.lateral_cables),
    }


def _pairs(fabric: FabricDesign, wired: tuple[TierWiring, ...]) -> dict[str, PortPairs]:
    """Links of the compute fabric with their ports; managers take those that are kept for them."""
    found = {one.tier: one.pairs for one in wiring_ports(fabric)}
    for one in wired:
        if one.tier not in found:
            leaf, port = reserved_ports_at(fabric)
            found[one.tier] = PortPairs(one.lower, rank(one.lower), leaf, port)
    return found


def _tier_links(
    parts: Parts, group: GroupParts, fabric: FabricDesign, wired: tuple[TierWiring, ...], layout: RackLayout
) -> tuple[list[TierLinks], Media]:
    """Links of the compute fabric, those to its managers among them."""
    network, catalog = parts.loaded.scenario.network, parts.catalog
    if not wired:
        return [], {}
    rate = fabric.request.link_rate_gbit_per_s
    wishes = (network.leaf, network.spine, network.core)
    ends = {
        "node": nic_end(catalog, group.nic, fabric.links_per_connector, network.endpoint_optic),
        **{
            tier: switch_end(catalog, part.switch, rate, wish.optic)
            for tier, part, wish in zip(TIERS, parts.tiers, wishes, strict=False)
        },
    }
    ends["ufm"] = manager_end(parts, ends["node"])
    return joined(
        catalog, layout, wired, ends, copper=network.copper, links_per_cable=_per_cable(fabric),
        pairs=_pairs(fabric, wired),
    )  # fmt: skip
