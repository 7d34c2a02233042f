"""Multiplies one network's counts by its planes and rails, and counts cables and ports."""

from __future__ import annotations

from collections.abc import Mapping

from planner.choices import Topology
from planner.design.clos import Clos
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier, TierPorts


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
    leaf_spine = spine_core = 0
    if shape is not None:
        spines, cores = shape.spines * networks, shape.cores * networks
        leaf_spine, spine_core = shape.leaf_spine_links * networks, shape.spine_core_links * networks
    reserved = request.reserved_ports * networks
    node_leaf = endpoints * planes
    per_leaf = down // request.links_per_rail if per_group > 1 or shape else request.nodes
    narrowest = min(links for links in (node_leaf, leaf_spine, spine_core) if links)
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
        leaf_spine_cables=_cables(request, leaf_spine, Tier.LEAF, Tier.SPINE),
        spine_core_links=spine_core,
        spine_core_cables=_cables(request, spine_core, Tier.SPINE, Tier.CORE),
        tiers=shape.tiers if shape else 1,
        radix=request.radix(Tier.LEAF),
        oversubscription=down / shape.uplinks_per_leaf if shape else 1.0,
        bisection_gbit_per_s=narrowest * rate / 2.0,
        tier_ports=_tier_ports(
            request, (leaves, spines, cores), node_leaf + reserved, leaf_spine, spine_core
        ),
        why=why,
    )


def _cables(request: FabricRequest, links: int, lower: Tier, upper: Tier) -> int:
    if not links:
        return 0
    rate = request.link_rate_gbit_per_s
    return -(-links // min(request.switch(tier).links_per_port(rate) for tier in (lower, upper)))


def _tier_ports(
    request: FabricRequest, switches: tuple[int, int, int], down: int, leaf_spine: int, spine_core: int
) -> tuple[TierPorts, ...]:
    links = {Tier.LEAF: (down, leaf_spine), Tier.SPINE: (leaf_spine, spine_core), Tier.CORE: (spine_core, 0)}
    counts: Mapping[Tier, int] = dict(zip(links, switches, strict=True))
    return tuple(
        TierPorts(tier, counts[tier], counts[tier] * request.radix(tier), below, above)
        for tier, (below, above) in links.items()
        if counts[tier]
    )
