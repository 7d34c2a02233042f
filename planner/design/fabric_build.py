"""Multiplies one network's counts by its planes and rails, and counts cables and ports."""

from __future__ import annotations

from collections.abc import Mapping

from planner.choices import Topology
from planner.design.clos import Clos
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier, TierPorts
from planner.design.leaf_groups import displaced_nodes


def assembled(
    request: FabricRequest,
    topology: Topology,
    shape: Clos | None,
    *,
    down: int,
    groups: int,
    per_group: int,
    why: tuple[str, ...],
) -> FabricDesign:
    """Multiply one network's counts by the planes (and rails, where each is a network of its own)."""
    planes, rate = request.planes, request.link_rate_gbit_per_s
    networks = planes * (per_group if topology is Topology.RAIL_ONLY else 1)
    endpoints = request.nodes * request.nics_per_node
    leaves, spines, cores = groups * per_group * planes, 0, 0
    leaf_spine = spine_core = lateral = halves = 0
    if shape is not None:
        spines, cores = shape.spines * networks, shape.cores * networks
        leaf_spine, spine_core = shape.leaf_spine_links * networks, shape.spine_core_links * networks
        lateral, pods = shape.pod_pair_links * networks, len(shape.pods)
        halves = (pods // 2) * (pods - pods // 2) * shape.links_per_pod_pair * networks
    reserved = request.reserved_ports * networks
    node_leaf = endpoints * planes
    per_leaf = down // request.links_per_rail if per_group > 1 or shape else request.nodes
    narrowest = min(links for links in (node_leaf, leaf_spine, spine_core, 2 * halves) if links)
    return FabricDesign(
        request=request,
        topology=topology,
        nodes=request.nodes,
        networks=networks,
        leaf_groups=groups,
        nodes_per_leaf_group=max(1, per_leaf),
        leaf_down_ports=down,
        leaves_per_group=per_group,
        shape=shape,
        leaves=leaves,
        spines=spines,
        cores=cores,
        node_leaf_links=node_leaf,
        node_leaf_cables=endpoints * min(request.nic_ports, planes),
        reserved_links=reserved,
        leaf_spine_links=leaf_spine,
        leaf_spine_cables=cables_for(request, leaf_spine, Tier.LEAF, Tier.SPINE),
        spine_core_links=spine_core,
        spine_core_cables=cables_for(request, spine_core, Tier.SPINE, Tier.CORE),
        tiers=shape.tiers if shape else 1,
        radix=request.radix(Tier.LEAF),
        oversubscription=down / shape.uplinks_per_leaf if shape else 1.0,
        bisection_gbit_per_s=narrowest * rate / 2.0,
        tier_ports=tier_ports(
            request, (leaves, spines, cores), (node_leaf + reserved, leaf_spine, spine_core), (0, lateral)
        ),
        why=why,
        lateral_tier=Tier.SPINE if lateral else None,
        lateral_links=lateral,
        lateral_cables=cables_for(request, lateral, Tier.SPINE, Tier.SPINE),
        displaced_nodes=displaced_nodes(request, down=down) if shape else 0,
    )


def no_network(request: FabricRequest) -> FabricDesign:
    """The design of GPUs that one scale-up domain holds."""
    domain = max(request.gpus_per_node, request.scaleup_domain_gpus or 0)
    why = (f"{request.gpus:,} GPUs are inside one scale-up domain of {domain:,}: no switch is needed.",)
    return without_switches(request, Topology.NONE, why=why)


def without_switches(
    request: FabricRequest,
    topology: Topology,
    *,
    why: tuple[str, ...],
    links: int = 0,
    bisection_links: int = 0,
) -> FabricDesign:
    """A design without leaves: nothing at all, or nodes joined by so many links."""
    return FabricDesign(
        request=request,
        topology=topology,
        nodes=request.nodes,
        networks=1 if links else 0,
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
        bisection_gbit_per_s=bisection_links * request.link_rate_gbit_per_s,
        tier_ports=(),
        why=why,
        lateral_tier=Tier.NODE if links else None,
        lateral_links=links,
        lateral_cables=links,
    )


def cables_for(request: FabricRequest, links: int, lower: Tier, upper: Tier) -> int:
    """Cables that carry so many links between two tiers of switches."""
    if not links:
        return 0
    rate = request.link_rate_gbit_per_s
    return -(-links // min(request.switch(tier).links_per_port(rate) for tier in (lower, upper)))


def tier_ports(
    request: FabricRequest,
    switches: tuple[int, int, int],
    links: tuple[int, int, int],
    lateral: tuple[int, int] = (0, 0),
) -> tuple[TierPorts, ...]:
    """Ports of each tier that there is.

    `links` are those below leaves, spines and cores, and `lateral` those between leaves and between spines.
    """
    below, leaf_spine, spine_core = links
    sides = {
        Tier.LEAF: (below, leaf_spine + 2 * lateral[0]),
        Tier.SPINE: (leaf_spine, spine_core + 2 * lateral[1]),
        Tier.CORE: (spine_core, 0),
    }
    counts: Mapping[Tier, int] = dict(zip(sides, switches, strict=True))
    return tuple(
        TierPorts(tier, counts[tier], counts[tier] * request.radix(tier), down, up)
        for tier, (down, up) in sides.items()
        if counts[tier]
    )
