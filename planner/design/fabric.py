"""The scale-out network: how many leaves, spines, cores, links and cables join the GPUs.

Radix counts ports at the endpoint's link rate. A link is one port pair at that rate; a cable is what is
ordered (an 800G cable may carry two 400G links). Counts are for all planes together.

Source:
    topo-fat-tree, topo-spine-divisor, topo-ufm, topo-partial-su, topo-rail, topo-twin-plane, topo-rail-only.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from planner.choices import Topology
from planner.design.clos import Clos, LeafSplit, groups_max, leaf_split, three_tiers, two_tiers
from planner.design.fabric_build import assembled
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier, TierGroup, TierPorts
from planner.design.ports import SwitchPorts, refusal
from planner.errors import DesignError

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
    _check(request)
    if request.gpus <= max(request.gpus_per_node, request.scaleup_domain_gpus or 0):
        return _no_network(request)
    if request.topology is Topology.NONE:
        raise refusal(
            f"{request.gpus:,} GPUs need a network between scale-up domains of "
            f"{request.scaleup_domain_gpus or request.gpus_per_node:,}, topology is none",
            "topology rail-optimised",
            f"{request.scaleup_domain_gpus or request.gpus_per_node:,} GPUs or fewer",
            key="network.topology",
        )
    if request.nics_per_node == 0:
        raise refusal(
            f"{request.nodes:,} nodes need 1 NIC or more each to be joined, each has 0",
            "a server with NICs",
            f"{request.gpus_per_node:,} GPUs or fewer, which need no network",
        )
    if request.topology is Topology.RAIL_ONLY:
        return _rail_only(request)
    single = _single_switch(request)
    return single if single is not None else _rail_optimised(request)


def leaf_groups_for(request: FabricRequest, *, nodes: int, down: int, reserved_ports: int) -> int:
    """Leaf groups that so many nodes and the reserved ports fill, by whole scalable units."""
    per_leaf = nodes_per_leaf(request, down=down)
    rails = request.rails_built
    by_nodes = -(-nodes // per_leaf) if request.whole_nodes else -(-nodes * request.links_per_rail // down)
    by_ports = -(-(nodes * request.nics_per_node + reserved_ports) // (down * rails))
    return max(by_nodes, by_ports)


def nodes_per_leaf(request: FabricRequest, *, down: int) -> int:
    """Whole nodes that the ports of one leaf serve, 1 at least where nodes may be spread."""
    whole = down // request.links_per_rail
    if whole == 0 and request.whole_nodes:
        raise refusal(
            f"a node needs {request.links_per_rail:,} ports on a rail's leaf, it has {down:,} towards nodes",
            f"more rails ({request.rails_built:,} now)",
            "a leaf with more ports",
            "nodes that may be spread over leaves",
            key="network.rails",
        )
    return max(1, whole)


def _check(request: FabricRequest) -> None:
    """Refuse numbers that describe no cluster."""
    positive = {
        "gpus": request.gpus,
        "gpus_per_node": request.gpus_per_node,
        "planes": request.planes,
        "nic_ports": request.nic_ports,
        "rails": request.rails_built,
    }
    for name, value in positive.items():
        if value < 1:
            raise refusal(f"{name} needs 1 or more, has {value:,}", f"{name} of 1 or more")
    if request.oversubscription < 1.0:
        raise refusal(
            f"oversubscription needs 1.0 or more, has {request.oversubscription:g}",
            "1.0, which is non-blocking",
            key="network.leaf.oversubscription",
        )
    if not 1 <= request.tiers_max <= 3:
        raise refusal(f"1 to 3 tiers can be designed, {request.tiers_max} asked", "tiers_max of 1 to 3")
    whole, rest = divmod(request.gpus, request.gpus_per_node)
    if whole and rest:
        low, high = whole * request.gpus_per_node, (whole + 1) * request.gpus_per_node
        raise refusal(
            f"{request.gpus:,} GPUs fill no whole number of nodes of {request.gpus_per_node:,}",
            f"{low:,} GPUs",
            f"{high:,} GPUs",
            key="cluster.gpus",
        )
    if request.nics_per_node % request.rails_built:
        raise refusal(
            f"{request.nics_per_node:,} NICs of a node can't be spread evenly over "
            f"{request.rails_built:,} rails",
            f"{request.nics_per_node:,} rails",
            "1 rail",
            key="network.rails",
        )
    if request.planes % min(request.nic_ports, request.planes):
        raise refusal(
            f"{request.planes:,} planes can't be spread evenly over {request.nic_ports:,} ports of a NIC",
            f"{request.nic_ports:,} planes",
            key="network.planes",
        )


def _no_network(request: FabricRequest) -> FabricDesign:
    domain = max(request.gpus_per_node, request.scaleup_domain_gpus or 0)
    why = (f"{request.gpus:,} GPUs are inside one scale-up domain of {domain:,}: no switch is needed.",)
    return FabricDesign(
        request=request,
        topology=Topology.NONE,
        nodes=request.nodes,
        networks=0,
        leaf_groups=0,
        nodes_per_leaf_group=0,
        leaf_down_ports=0,
        leaves_per_group=0,
        shape=None,
        leaves=0,
        spines=0,
        cores=0,
        node_leaf_links=0,
        node_leaf_cables=0,
        reserved_links=0,
        leaf_spine_links=0,
        leaf_spine_cables=0,
        spine_core_links=0,
        spine_core_cables=0,
        tiers=0,
        radix=0,
        oversubscription=1.0,
        bisection_gbit_per_s=0.0,
        tier_ports=(),
        why=why,
    )


def _single_switch(request: FabricRequest) -> FabricDesign | None:
    """One switch for each plane, where all endpoints and reserved ports fit on it."""
    radix, needed = request.radix(Tier.LEAF), request.nodes * request.nics_per_node + request.reserved_ports
    if needed <= radix:
        why = f"{needed:,} ports are needed and one {request.leaf.id} has {radix:,}: one tier is enough."
        return assembled(request, Topology.SINGLE_SWITCH, None, down=radix, groups=1, per_group=1, why=(why,))
    if request.topology is Topology.SINGLE_SWITCH or request.tiers_max == 1:
        raise refusal(
            f"one switch needs {needed:,} ports, has {radix:,}",
            "topology rail-optimised with two or three tiers",
            f"a switch with {needed:,} ports or more at {request.link_rate_gbit_per_s:,.0f} Gbit/s",
            f"{(radix - request.reserved_ports) // request.nics_per_node * request.gpus_per_node:,} GPUs or fewer",
            key="network.topology",
        )
    return None


def _rail_optimised(request: FabricRequest) -> FabricDesign:
    split = _split(request)
    groups = leaf_groups_for(
        request, nodes=request.nodes, down=split.down, reserved_ports=request.reserved_ports
    )
    split = _as_used(request, split, groups)
    shape = _smallest_clos(request, groups=groups, leaves_per_group=request.rails_built, split=split)
    if shape is None:
        raise _too_large(request, split, groups)
    why = _why(request, shape, split, groups)
    return assembled(
        request,
        Topology.RAIL_OPTIMISED,
        shape,
        down=split.down,
        groups=groups,
        per_group=request.rails_built,
        why=why,
    )


def _rail_only(request: FabricRequest) -> FabricDesign:
    """A network for each rail, with no link between rails; traffic across rails goes over the scale-up."""
    radix = request.radix(Tier.LEAF)
    endpoints = request.nodes * request.links_per_rail + request.reserved_ports
    rails = request.rails_built
    if endpoints <= radix:
        why = f"Each rail's {endpoints:,} endpoints fit on one leaf of {radix:,} ports: no spine is needed."
        return assembled(request, Topology.RAIL_ONLY, None, down=radix, groups=1, per_group=rails, why=(why,))
    if request.rail_tiers_max < 2:
        raise refusal(
            f"a rail needs {endpoints:,} ports, its leaf has {radix:,}",
            "topology rail-optimised",
            "more planes",
            f"{(radix - request.reserved_ports) // request.links_per_rail * request.gpus_per_node:,} "
            "GPUs or fewer",
            key="network.topology",
        )
    split = _split(request)
    reserved = request.reserved_ports * rails
    groups = leaf_groups_for(request, nodes=request.nodes, down=split.down, reserved_ports=reserved)
    shape = _smallest_clos(request, groups=groups, leaves_per_group=1, split=split)
    if shape is None:
        raise _too_large(request, split, groups)
    told = (f"Each rail's {endpoints:,} endpoints get {shape.tiers} tiers of their own: {rails} rails.",)
    return assembled(
        request, Topology.RAIL_ONLY, shape, down=split.down, groups=groups, per_group=rails, why=told
    )


def _split(request: FabricRequest) -> LeafSplit:
    radix = request.radix(Tier.LEAF)
    split = leaf_split(radix=radix, oversubscription=request.oversubscription)
    if min(split.down, split.up_max) < 1:
        raise refusal(
            f"a leaf needs a port down and a port up, {request.leaf.id} has {radix:,} in all",
            "a leaf with more ports",
            "a lower oversubscription",
        )
    return split


def _as_used(request: FabricRequest, split: LeafSplit, groups: int) -> LeafSplit:
    """Uplinks of an oversubscribed leaf follow the ports it really gives to nodes, spread evenly.

    A non-blocking leaf keeps its full split, as the reference architectures do.
    """
    if request.oversubscription <= 1.0:
        return split
    kept = -(-request.reserved_ports // (groups * request.rails_built))
    used = min(split.down, -(-request.nodes // groups) * request.links_per_rail + kept)
    wanted = max(1, ceil(used / request.oversubscription - 1e-9))
    return LeafSplit(used, wanted, request.radix(Tier.LEAF) - used)


def _smallest_clos(
    request: FabricRequest, *, groups: int, leaves_per_group: int, split: LeafSplit
) -> Clos | None:
    limit = request.rail_tiers_max if request.topology is Topology.RAIL_ONLY else request.tiers_max
    spine = request.radix(Tier.SPINE)
    found = two_tiers(groups=groups, leaves_per_group=leaves_per_group, split=split, spine_radix=spine)
    if found is not None or limit < 3:
        return found
    return three_tiers(
        groups=groups,
        leaves_per_group=leaves_per_group,
        split=split,
        spine_radix=spine,
        core_radix=request.radix(Tier.CORE),
    )


def endpoints_max(request: FabricRequest) -> int:
    """Endpoints of one plane that the switches can join within the tiers allowed, reserved ones included.

    >>> endpoints_max(FabricRequest(gpus=8, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0,
    ...     leaf=SwitchPorts("r64", 64, 400.0, 1), tiers_max=2))
    2048
    """
    if request.tiers_max == 1 and request.topology is not Topology.RAIL_ONLY:
        return request.radix(Tier.LEAF)
    split, rail_only = _split(request), request.topology is Topology.RAIL_ONLY
    rails = request.rails_built
    tiers = request.rail_tiers_max if rail_only else request.tiers_max
    if tiers == 1:
        return request.radix(Tier.LEAF) * rails
    groups = groups_max(
        tiers=tiers,
        leaves_per_group=1 if rail_only else rails,
        spine_radix=request.radix(Tier.SPINE),
        core_radix=request.radix(Tier.CORE) if tiers == 3 else 0,
    )
    return groups * rails * split.down


def _too_large(request: FabricRequest, split: LeafSplit, groups: int) -> DesignError:
    rail_only = request.topology is Topology.RAIL_ONLY
    tiers = request.rail_tiers_max if rail_only else request.tiers_max
    needed = request.nodes * request.nics_per_node
    needed += request.reserved_ports * (request.rails_built if rail_only else 1)
    most = endpoints_max(request)
    remedies = [f"{tiers + 1} tiers"] if tiers < 3 else []
    remedies += [
        f"switches with more ports than {request.radix(Tier.SPINE):,}",
        f"more planes than {request.planes}",
        f"an oversubscription above {request.oversubscription:g}",
    ]
    remedies += [] if rail_only else ["topology rail-only"]
    message = f"a fabric of {tiers} tiers needs {needed:,} endpoint ports, has {most:,}"
    if needed <= most:
        per_group = split.down * request.rails_built
        message = (
            f"a fabric of {tiers} tiers needs {groups:,} leaf groups, has room for {most // per_group:,}"
        )
    return refusal(message, *remedies)


def _why(request: FabricRequest, shape: Clos, split: LeafSplit, groups: int) -> tuple[str, ...]:
    per_leaf = nodes_per_leaf(request, down=split.down)
    rails = request.rails_built
    told = [
        f"A leaf gives {split.down:,} of its {request.radix(Tier.LEAF):,} ports to nodes, so {rails:,} "
        f"leaves (one for each rail) serve {per_leaf:,} nodes, and {request.nodes:,} nodes take "
        f"{groups:,} such group{'s, the last built whole' if groups > 1 else ', built whole'}.",
        f"{shape.spines_per_pod:,} spines let every leaf reach every spine with "
        f"{shape.links_per_leaf_spine:,} link{'s' if shape.links_per_leaf_spine > 1 else ''}, "
        "the fewest that do.",
    ]
    if request.reserved_ports:
        told += _reserved_in_words(request, groups)
    if shape.tiers == 3:
        most = groups_max(
            tiers=2, leaves_per_group=rails, spine_radix=request.radix(Tier.SPINE), core_radix=0
        )
        told.append(
            f"Two tiers join {most:,} leaf groups and {groups:,} are needed: "
            f"{len(shape.pods):,} pods meet in a third tier."
        )
    if request.planes > 1:
        told.append(
            f"{request.planes:,} planes give each link {request.link_rate_gbit_per_s:,.0f} Gbit/s of the "
            f"NIC's {request.nic_rate_gbit_per_s:,.0f}, and the switches more ports."
        )
    return tuple(told)


def _reserved_in_words(request: FabricRequest, groups: int) -> list[str]:
    """What the ports kept for management cost, and the two ways to save it; nothing where they cost nothing."""
    down, kept = _split(request).down, request.reserved_ports
    more = groups - leaf_groups_for(request, nodes=request.nodes, down=down, reserved_ports=0)
    if more < 1:
        return []
    fewer = next(
        (
            count
            for count in range(1, request.nodes)
            if leaf_groups_for(request, nodes=request.nodes - count, down=down, reserved_ports=kept) < groups
        ),
        0,
    )
    saved = f"{_counted(fewer, 'node')} fewer would save {'one' if more > 1 else 'it'}, and " if fewer else ""
    bare = design_fabric(replace(request, reserved_ports=0))
    leaves = _counted(bare.leaves, "leaf" if bare.leaves == 1 else "leave")
    return [
        f"{_counted(kept, 'port')} kept for management ask{'s' if kept == 1 else ''} for "
        f"{_counted(more, 'more leaf group')}: {saved}reserved_ports: 0 would need "
        f"{leaves} and {_counted(bare.spines, 'spine')}."
    ]


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
