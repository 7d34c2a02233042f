"""The scale-out network: how many leaves, spines, cores, links and cables join the GPUs.

Radix counts ports at the endpoint's link rate. A link is one port pair at that rate; a cable is what is
ordered (an 800G cable may carry two 400G links). Counts are for all planes together.

Source:
    topo-fat-tree, topo-spine-divisor, topo-ufm, topo-partial-su, topo-rail, topo-twin-plane, topo-rail-only.
"""

from __future__ import annotations

from planner.choices import Topology
from planner.design.clos import groups_max
from planner.design.clos_search import Layout, LayoutAsked, laid_out
from planner.design.dragonfly import dragonfly, dragonfly_groups_max
from planner.design.fabric_build import assembled, no_network
from planner.design.fabric_checks import WITHOUT_SWITCHES, as_topology_wants, check_request
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier, TierGroup, TierPorts
from planner.design.fabric_words import growth_in_words, in_words, too_large
from planner.design.leaf_groups import kept_per_leaf, leaf_groups_for, nodes_per_leaf, split_of
from planner.design.ports import SwitchPorts, refusal
from planner.design.switchless import joined_directly, joined_pair, joined_torus

__all__ = [
    "FabricDesign",
    "FabricRequest",
    "SwitchPorts",
    "Tier",
    "TierGroup",
    "TierPorts",
    "Topology",
    "design_fabric",
    "endpoints_max",
    "leaf_groups_for",
    "nodes_per_leaf",
]


def design_fabric(request: FabricRequest) -> FabricDesign:
    """The smallest network that joins the GPUs as asked, or a `DesignError` saying what is short.

    127 nodes of 8 NICs at 400G on 64-port switches, 4 ports kept for management (4 scalable units):

    >>> twin = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
    >>> built = design_fabric(FabricRequest(gpus=1016, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=twin, reserved_ports=4))
    >>> built.leaves, built.spines, built.node_leaf_links + built.reserved_links, built.leaf_spine_cables
    (32, 16, 1020, 1024)
    """
    request = as_topology_wants(request)
    check_request(request)
    domain = request.scaleup_domain_gpus or request.gpus_per_node
    if max(request.gpus, request.grow_to_gpus or 0) <= max(request.gpus_per_node, domain):
        return no_network(request)
    _check_joined(request, domain)
    if request.topology is Topology.TORUS:
        return joined_torus(request)
    if request.topology is Topology.DIRECT:
        return joined_directly(request)
    if request.topology is Topology.RAIL_ONLY:
        return _rail_only(request)
    if request.paired:
        return joined_pair(request)
    single = _single_switch(request)
    return single if single is not None else _tiered(request)


def _check_joined(request: FabricRequest, domain: int) -> None:
    if request.topology is Topology.NONE:
        raise refusal(
            f"{request.gpus:,} GPUs need a network between scale-up domains of {domain:,}, topology is none",
            "topology rail-optimised",
            f"{domain:,} GPUs or fewer",
            key="network.topology",
        )
    if request.nics_per_node == 0:
        raise refusal(
            f"{request.nodes:,} nodes need 1 NIC or more each to be joined, each has 0",
            "a server with NICs",
            f"{request.gpus_per_node:,} GPUs or fewer, which need no network",
        )


def _single_switch(request: FabricRequest) -> FabricDesign | None:
    """One switch for each plane, where all endpoints and reserved ports fit on it."""
    radix = request.radix(Tier.LEAF)
    needed = request.nodes_laid_out * request.nics_per_node + request.reserved_ports
    if needed <= radix:
        why = f"{needed:,} ports are needed and one {request.leaf.id} has {radix:,}: one tier is enough."
        return assembled(request, Topology.SINGLE_SWITCH, None, down=radix, groups=1, per_group=1, why=(why,))
    if request.topology is Topology.SINGLE_SWITCH or request.tiers_max == 1:
        raise refusal(
            f"one switch needs {needed:,} ports, has {radix:,}",
            "topology rail-optimised with two or three tiers",
            f"a switch with {needed:,} ports or more at {request.link_rate_gbit_per_s:,.0f} Gbit/s",
            *_fewer_gpus(request, radix=radix, ports_each=request.nics_per_node),
            key="network.topology",
        )
    return None


def _fewer_gpus(request: FabricRequest, *, radix: int, ports_each: int) -> tuple[str, ...]:
    """The GPUs that a switch has ports for, as a remedy; none where it hasn't enough for one node."""
    nodes = max(0, radix - request.reserved_ports) // ports_each
    return (f"{nodes * request.gpus_per_node:,} GPUs or fewer",) if nodes else ()


def _tiered(request: FabricRequest) -> FabricDesign:
    """Leaf groups under spines, and what joins the pods of spines where one doesn't do."""
    final = _layout(request, request.reserved_ports, leaves_per_group=request.rails_built)
    if final.shape is None:
        raise too_large(request, final.split, final.groups, endpoints_max(request))
    now = _groups_now(request, final, request.reserved_ports)
    topology = request.topology
    why = in_words(request, final.shape, final.split, final.groups, design_fabric)
    return assembled(
        request,
        Topology.RAIL_OPTIMISED if topology is Topology.SINGLE_SWITCH else topology,
        final.shape.first_groups(now),
        down=final.split.down,
        groups=now,
        per_group=request.rails_built,
        why=why + growth_in_words(request, now, final.groups),
    )


def _rail_only(request: FabricRequest) -> FabricDesign:
    """A network for each rail, with no link between rails; traffic across rails goes over the scale-up."""
    radix = request.radix(Tier.LEAF)
    endpoints = request.nodes_laid_out * request.links_per_rail + request.reserved_ports
    rails = request.rails_built
    if endpoints <= radix:
        why = f"Each rail's {endpoints:,} endpoints fit on one leaf of {radix:,} ports: no spine is needed."
        return assembled(request, Topology.RAIL_ONLY, None, down=radix, groups=1, per_group=rails, why=(why,))
    if request.rail_tiers_max < 2:
        raise refusal(
            f"a rail needs {endpoints:,} ports, its leaf has {radix:,}",
            "topology rail-optimised",
            "more planes",
            *_fewer_gpus(request, radix=radix, ports_each=request.links_per_rail),
            key="network.topology",
        )
    reserved = request.reserved_ports * rails
    final = _layout(request, reserved, leaves_per_group=1)
    if final.shape is None:
        raise too_large(request, final.split, final.groups, endpoints_max(request))
    tiers = final.shape.tiers
    told = (f"Each rail's {endpoints:,} endpoints get {tiers} tiers of their own: {rails} rails.",)
    now = _groups_now(request, final, reserved)
    return assembled(
        request,
        Topology.RAIL_ONLY,
        final.shape.first_groups(now),
        down=final.split.down,
        groups=now,
        per_group=rails,
        why=told + growth_in_words(request, now, final.groups),
    )


def _layout(request: FabricRequest, reserved: int, *, leaves_per_group: int) -> Layout:
    """Leaf groups of the whole network laid out, a leaf's ports as used, and what is above."""
    split, rail_only = split_of(request), request.topology is Topology.RAIL_ONLY
    groups = leaf_groups_for(request, nodes=request.nodes_laid_out, down=split.down, reserved_ports=reserved)
    asked = LayoutAsked(
        nodes=request.nodes_laid_out,
        links_per_rail=request.links_per_rail,
        reserved_ports=reserved,
        kept_per_leaf=None if request.grow_to_gpus is None else kept_per_leaf(request),
        rails=request.rails_built,
        leaves_per_group=leaves_per_group,
        leaf_radix=request.radix(Tier.LEAF),
        leaf_down=split.down,
        spine_radix=request.radix(Tier.SPINE),
        core_radix=request.radix(Tier.CORE),
        oversubscription=request.oversubscription,
        spine_oversubscription=request.spine_oversubscription,
        least_groups=groups,
        tiers_max=request.rail_tiers_max if rail_only else request.tiers_max,
    )
    if request.topology is not Topology.DRAGONFLY:
        return laid_out(asked)
    used = asked.split(groups)
    shape = dragonfly(
        groups=groups,
        leaves_per_group=leaves_per_group,
        split=used,
        spine_radix=asked.spine_radix,
        spine_oversubscription=request.spine_oversubscription,
    )
    return Layout(groups, used, shape)


def _groups_now(request: FabricRequest, final: Layout, reserved: int) -> int:
    if request.grow_to_gpus is None:
        return final.groups
    down = final.split.down
    now = leaf_groups_for(request, nodes=request.nodes, down=down, reserved_ports=reserved)
    return min(final.groups, now)


def endpoints_max(request: FabricRequest) -> int:
    """Endpoints of one plane that the switches can join within the tiers allowed, reserved ones included.

    >>> endpoints_max(FabricRequest(gpus=8, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0,
    ...     leaf=SwitchPorts("r64", 64, 400.0, 1), tiers_max=2))
    2048
    """
    request = as_topology_wants(request)
    if request.topology in WITHOUT_SWITCHES:
        raise ValueError(f"no switch of a {request.topology} network limits its endpoints")
    if request.tiers_max == 1 and request.topology is not Topology.RAIL_ONLY:
        return request.radix(Tier.LEAF)
    split, rail_only = split_of(request), request.topology is Topology.RAIL_ONLY
    rails = request.rails_built
    tiers = request.rail_tiers_max if rail_only else request.tiers_max
    if tiers == 1:
        return request.radix(Tier.LEAF) * rails
    if request.topology is Topology.DRAGONFLY:
        groups = dragonfly_groups_max(
            leaves_per_group=rails,
            split=split,
            spine_radix=request.radix(Tier.SPINE),
            spine_oversubscription=request.spine_oversubscription,
        )
        return groups * rails * split.down
    groups = groups_max(
        tiers=tiers,
        leaves_per_group=1 if rail_only else rails,
        spine_radix=request.radix(Tier.SPINE),
        core_radix=request.radix(Tier.CORE) if tiers == 3 else 0,
        spine_oversubscription=request.spine_oversubscription,
    )
    return groups * rails * split.down
