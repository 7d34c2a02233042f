"""The cluster as drawn: fabric, racks, cables, and the networks beside them, from a scenario's parts."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Fabric, Switch
from planner.catalog.store import Entry
from planner.choices import Topology
from planner.design.cabling import CablingPlan, TierLinks, plan_cabling
from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, design_fabric
from planner.design.frontend import (
    OutOfBandNetwork,
    PairedNetwork,
    PairedRequest,
    design_out_of_band,
    design_paired,
)  # fmt: skip
from planner.design.lengths import fabric_link_lengths
from planner.design.media import Bought, candidates, nic_end, switch_end
from planner.design.racks import Floor, RackLayout, RackLimits, ServerLoad, SwitchLoad, design_racks
from planner.errors import DesignError, Problem
from planner.scenario.parts import GroupParts, Parts
from planner.units import KILO

TIERS = ("leaf", "spine", "core")


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is built.

    Attributes:
        media: Catalog items behind each medium of the cabling, by tier pair and the medium's id.
        nodes: Fabric nodes: servers, or trays of rack-scale systems.
    """

    parts: Parts
    fabric: FabricDesign
    cabling: CablingPlan
    media: dict[tuple[str, str], Bought]
    layout: RackLayout
    inband: PairedNetwork | None
    oob: OutOfBandNetwork | None
    nodes: int

    @property
    def switch_counts(self) -> dict[str, int]:
        """Switches by tier."""
        return {"leaf": self.fabric.leaves, "spine": self.fabric.spines, "core": self.fabric.cores}


def switch_ports(entry: Entry[Switch]) -> SwitchPorts:
    """Front of a catalog switch for the fabric's designer."""
    item = entry.item
    return SwitchPorts(
        item.id, item.cages, item.cage_rate_gbit_per_s, item.links_per_cage_max,
        ports_per_cage=item.ports_per_cage, pluggable=item.optics is None,
    )  # fmt: skip


def draw_cluster(parts: Parts) -> Cluster:
    """Design everything that has a count or a place.

    Raises:
        DesignError: The parts are right and the cluster can't be built; says what is short.
    """
    group = _alike(parts)
    per_node, nics = _node(group)
    request = _request(parts, group, per_node, nics)
    fabric = design_fabric(request)
    nodes = parts.gpus // per_node
    inband, oob = _frontend(parts, nodes, fabric)
    layout = _racks(parts, per_node, fabric, inband, oob)
    tiers, media = _tier_links(parts, group, fabric, layout)
    return Cluster(parts, fabric, plan_cabling(tiers), media, layout, inband, oob, nodes)


def _alike(parts: Parts) -> GroupParts:
    """The group that stands for all; one fabric joins nodes of one kind."""
    first = parts.groups[0]
    for group in parts.groups[1:]:
        if group.server.item.id != first.server.item.id:
            raise DesignError(
                Problem(
                    f"groups '{first.wish.id}' and '{group.wish.id}' have different servers, and one fabric "
                    "and one job take servers of one kind",
                    key="cluster.groups",
                    remedy="plan them as two scenarios and compare or add the reports",
                )
            )
    return first


def _node(group: GroupParts) -> tuple[int, int]:
    """GPUs and NICs of one fabric node: a server, or a tray of a rack."""
    server = group.server.item
    trays = server.trays if server.is_rack and server.trays else 1
    return server.gpus // trays, server.compute_nics.count // trays


def _request(parts: Parts, group: GroupParts, per_node: int, nics: int) -> FabricRequest:
    network = parts.loaded.scenario.network
    rate = group.nic.item.port_rate_gbit_per_s.value * group.nic.item.ports
    if not parts.tiers:
        # Nothing joins servers: a stand-in switch of no ports lets the designer say so.
        nothing = SwitchPorts("none", 1, rate, 1)
        return FabricRequest(
            gpus=parts.gpus, gpus_per_node=per_node, nics_per_node=nics, nic_rate_gbit_per_s=rate,
            leaf=nothing, topology=Topology.NONE,
            scaleup_domain_gpus=group.server.item.scaleup_domain_gpus,
        )  # fmt: skip
    leaf, spine, core = (switch_ports(tier.switch) for tier in parts.tiers)
    reserved = network.reserved_ports or 0
    if network.reserved_ports is None and parts.tiers[0].switch.item.fabric is Fabric.INFINIBAND:
        reserved = int(parts.catalog.figure("network", "ufm_links_per_fabric_count")[0].value)
    return FabricRequest(
        gpus=parts.gpus, gpus_per_node=per_node, nics_per_node=nics, nic_rate_gbit_per_s=rate,
        leaf=leaf, spine=spine, core=core, topology=network.topology, planes=network.planes,
        oversubscription=network.leaf.oversubscription, reserved_ports=reserved,
        scaleup_domain_gpus=group.server.item.scaleup_domain_gpus,
    )  # fmt: skip


def _frontend(
    parts: Parts, nodes: int, fabric: FabricDesign
) -> tuple[PairedNetwork | None, OutOfBandNetwork | None]:
    storage = parts.loaded.scenario.network.storage
    hosts = nodes + (2 * storage.count if storage is not None else 0)
    inband = None
    if parts.inband is not None:
        rate = parts.catalog.figure("network", "north_south_hgx_h100_link_gbit_per_s")[0].value
        inband = design_paired(
            PairedRequest(
                id="inband", hosts=hosts, port_rate_gbit_per_s=rate, leaf=switch_ports(parts.inband)
            )
        )
    oob = None
    if parts.oob is not None:
        consoles = hosts + fabric.leaves + fabric.spines + fabric.cores + (inband.switches if inband else 0)
        oob = design_out_of_band(cables=consoles, ports_per_switch=parts.oob.item.cages)
    return inband, oob


def _racks(
    parts: Parts,
    per_node: int,
    fabric: FabricDesign,
    inband: PairedNetwork | None,
    oob: OutOfBandNetwork | None,
) -> RackLayout:
    site = parts.loaded.scenario.site
    units = int(parts.catalog.figure("facility", "rack_usable_units")[0].value)
    limit = site.rack_limit_kw
    if limit is None:
        found = parts.cooling.item.rack_limit_kw
        limit = found.value if found is not None else 1e3
    servers = [
        ServerLoad(
            id=group.server.item.id,
            count=group.servers,
            rack_units=int(group.server.item.rack_units.value) if group.server.item.rack_units else 8,
            power_kw=group.server.item.power_max_w.value / KILO,
            weight_kg=group.server.item.weight_kg.value if group.server.item.weight_kg else None,
            whole_rack=group.server.item.is_rack,
            nodes=group.server.item.gpus // per_node,
        )
        for group in parts.groups
    ]
    storage = parts.loaded.scenario.network.storage
    if storage is not None and parts.storage is not None:
        servers.append(
            ServerLoad(
                id=parts.storage.item.id, count=storage.count,
                rack_units=int(parts.storage.item.rack_units),
                power_kw=parts.storage.item.power_w.value / KILO, nodes=0,
            )
        )  # fmt: skip
    counts = (fabric.leaves, fabric.spines, fabric.cores)
    top = max((index for index, count in enumerate(counts) if count), default=0)
    switches = [
        _switch_load(tier, parts.tiers[index].switch, count, central=index == top and index > 0)
        for index, (tier, count) in enumerate(zip(TIERS, counts, strict=True))
        if count
    ]
    if inband is not None and parts.inband is not None and inband.switches:
        switches.append(_switch_load("inband", parts.inband, inband.switches, central=top > 0))
    if oob is not None and parts.oob is not None and oob.switches:
        switches.append(_switch_load("oob", parts.oob, oob.switches, central=False))
    return design_racks(
        servers=servers,
        switches=switches,
        limits=RackLimits(rack_units=units, power_kw=limit),
        floor_plan=Floor(racks_per_row=site.row_racks),
    )


def _switch_load(tier: str, entry: Entry[Switch], count: int, *, central: bool) -> SwitchLoad:
    item = entry.item
    watts = item.power_max_w or item.power_typical_w
    return SwitchLoad(
        tier=tier, count=count, rack_units=max(1, int(item.rack_units)),
        power_kw=watts.value / KILO if watts is not None else 0.0, central=central,
    )  # fmt: skip


def _tier_links(
    parts: Parts, group: GroupParts, fabric: FabricDesign, layout: RackLayout
) -> tuple[list[TierLinks], dict[tuple[str, str], Bought]]:
    network, catalog = parts.loaded.scenario.network, parts.catalog
    if not fabric.leaves:
        return [], {}
    rate = fabric.request.link_rate_gbit_per_s
    wishes = (network.leaf, network.spine, network.core)
    ends = {
        "node": nic_end(catalog, group.nic, network.planes, network.endpoint_optic),
        **{
            tier: switch_end(catalog, parts.tiers[index].switch, rate, wishes[index].optic)
            for index, tier in enumerate(TIERS)
        },
    }
    per_cable = {
        "node-leaf": fabric.node_leaf_links // max(1, fabric.node_leaf_cables),
        "leaf-spine": fabric.leaf_spine_links // max(1, fabric.leaf_spine_cables),
        "spine-core": fabric.spine_core_links // max(1, fabric.spine_core_cables),
    }
    made: list[TierLinks] = []
    media: dict[tuple[str, str], Bought] = {}
    for lengths in fabric_link_lengths(fabric, layout):
        if lengths.tier not in per_cable:
            continue  # management links end at UFM servers, which the plan doesn't buy
        lower, upper = (ends[name] for name in lengths.tier.split("-"))
        found, bought = candidates(catalog, lower, upper, copper=network.copper)
        made.append(TierLinks(lengths, lower.cage, upper.cage, max(1, per_cable[lengths.tier]), found))
        media.update({(lengths.tier, key): value for key, value in bought.items()})
    return made, media
