"""How a network grows: what each stage adds to it, and how much room the ports left have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from planner.choices import Topology
from planner.design.clos import leaf_split
from planner.design.fabric import design_fabric, endpoints_max
from planner.design.fabric_checks import WITHOUT_SWITCHES
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier
from planner.design.leaf_groups import kept_per_leaf
from planner.design.ports import refusal
from planner.errors import DesignError

DRAGONFLY_TIERS = 2
"""Tiers of switches of a dragonfly: its groups have no third above them."""


@dataclass(frozen=True, slots=True)
class GrowthStage:
    """What comes when the network grows to `gpus`; the stages add up to the network laid out."""

    gpus: int
    nodes: int
    leaves: int
    spines: int
    cores: int
    links: int
    cables: int


def growth_stages(request: FabricRequest, gpus: Sequence[int]) -> tuple[GrowthStage, ...]:
    """What each stage adds, when a network is laid out for the last of them and built stage by stage.

    Nothing that is there is taken away or joined to something else: every stage's wiring contains the one
    before, port for port. Leaf groups come with their nodes, the spines of a pod with its first leaf group,
    cores and links between pods with the second pod.

    Args:
        request: The network; its `gpus` and `grow_to_gpus` are replaced.
        gpus: GPUs in service after each stage, in rising order.

    Raises:
        DesignError: The stages don't rise, or one of them can't be built.

    >>> from planner.design.ports import SwitchPorts
    >>> twin = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
    >>> asked = FabricRequest(gpus=512, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0, leaf=twin)
    >>> [(stage.leaves, stage.spines, stage.cores) for stage in growth_stages(asked, [512, 1024, 4096])]
    [(16, 32, 0), (16, 0, 0), (96, 96, 64)]
    """
    if not gpus or any(later <= earlier for earlier, later in pairwise(gpus)):
        raise refusal(
            "stages of growth need rising numbers of GPUs", "rising numbers", key="network.grow_to_gpus"
        )
    built = [design_fabric(replace(request, gpus=now, grow_to_gpus=gpus[-1])) for now in gpus]
    found, before = [], (0,) * 6
    for now, design in zip(gpus, built, strict=True):
        after = (
            design.nodes, design.leaves, design.spines, design.cores, design.links, design.cables,
        )  # fmt: skip
        found.append(GrowthStage(now, *(b - a for a, b in zip(before, after, strict=True))))
        before = after
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Room:
    """GPUs that may still be added.

    Attributes:
        leaf_gpus: To the leaves that are there, for nodes and cables alone.
        tier_gpus: With more leaves and pods on the free ports of the upper tiers, or as the network is laid out
            to grow; no cable moved.
        topology_gpus: In a network of as many tiers built anew for the largest size; None where nothing limits.
    """

    leaf_gpus: int
    tier_gpus: int
    topology_gpus: int | None


def room_to_grow(design: FabricDesign) -> Room:
    """What the free ports are good for, without a new tier.

    31 of 32 nodes of a leaf group with 4 ports kept; its 4 spines of 64 ports have no port free:

    >>> from planner.design.ports import SwitchPorts
    >>> twin = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
    >>> room_to_grow(design_fabric(FabricRequest(gpus=240, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=twin, reserved_ports=4)))
    Room(leaf_gpus=8, tier_gpus=8, topology_gpus=1800)
    """
    request = design.request
    if not design.leaves:
        return _room_without_switches(design)
    in_leaves = max(0, _nodes_held(design, design.leaf_groups) - design.nodes)
    more = _groups_more(design)
    laid_out = request.nodes_laid_out - design.nodes
    in_tiers = max(in_leaves, laid_out, _nodes_held(design, design.leaf_groups + more) - design.nodes)
    most = _largest_nodes(design, max(1, design.tiers)) - design.nodes
    per_node = request.gpus_per_node
    return Room(in_leaves * per_node, in_tiers * per_node, max(in_tiers, most) * per_node)


def largest_gpus(request: FabricRequest, *, tiers: int) -> int | None:
    """Most GPUs that the switches join in so many tiers; None where no switch limits them, or it can't be.

    >>> from planner.design.ports import SwitchPorts
    >>> plain = FabricRequest(gpus=8, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0,
    ...     leaf=SwitchPorts("r64", 64, 400.0, 1))
    >>> largest_gpus(plain, tiers=2), largest_gpus(plain, tiers=3)
    (2048, 65536)
    """
    if request.topology in WITHOUT_SWITCHES or request.topology is Topology.NONE or not request.nics_per_node:
        return None
    if request.topology is Topology.DRAGONFLY and tiers != DRAGONFLY_TIERS:
        return None
    try:
        endpoints = endpoints_max(replace(request, tiers_max=tiers, rail_tiers_max=tiers))
    except DesignError:
        return None
    rail_only = request.topology is Topology.RAIL_ONLY
    endpoints -= request.reserved_ports * (request.rails_built if rail_only else 1)
    return endpoints // request.nics_per_node * request.gpus_per_node


def _room_without_switches(design: FabricDesign) -> Room:
    request, mesh = design.request, design.mesh
    if mesh is not None:
        more = (mesh.domains_laid_out - mesh.domains) * mesh.nodes_per_domain
        ports = mesh.nodes_per_domain * request.links_per_node
        most = (ports + 1) * mesh.nodes_per_domain - design.nodes
        return Room(0, more * request.gpus_per_node, max(more, most) * request.gpus_per_node)
    if design.torus is not None:
        return Room(0, 0, None)
    domain = max(request.gpus_per_node, request.scaleup_domain_gpus or 0)
    left = max(0, domain - request.gpus)
    return Room(left, left, left)


def _nodes_held(design: FabricDesign, groups: int) -> int:
    """Nodes that so many leaf groups hold beside the reserved ports."""
    request, rail_only = design.request, design.topology is Topology.RAIL_ONLY
    reserved = request.reserved_ports * (request.rails_built if rail_only else 1)
    if design.lateral_tier is Tier.LEAF:
        # each node more takes ports towards it and as many towards the other leaf of the pair
        return (design.radix - kept_per_leaf(request)) // 2 // request.links_per_rail
    if design.shape is None:
        # one leaf for each rail, or one switch: whatever ports are left once the reserved ones are taken
        leaves = design.leaves_per_group
        kept = kept_per_leaf(request) if leaves > 1 else reserved
        each = request.links_per_rail if leaves > 1 else request.nics_per_node
        return (design.leaf_down_ports - kept) // each
    by_leaf = groups * design.nodes_per_leaf_group - design.displaced_nodes
    ports = groups * design.leaf_down_ports * design.leaves_per_group - reserved
    return min(by_leaf, ports // request.nics_per_node)


def _groups_more(design: FabricDesign) -> int:
    """Leaf groups for which spines have free ports, and pods for which cores (or other groups) have."""
    shape, request = design.shape, design.request
    if shape is None:
        return 0
    rails = 1 if design.topology is Topology.RAIL_ONLY else design.leaves_per_group
    radix = request.radix(Tier.SPINE)
    joined = shape.tiers == 3 or shape.links_per_pod_pair > 0
    down = _spine_down(design) if joined else radix
    per_pod = down // (rails * shape.links_per_leaf_spine)
    more = sum(per_pod - size for size in shape.pods)
    pods = 0
    if shape.tiers == 3:
        links = shape.links_to_cores()
        pods = int((request.radix(Tier.CORE) - links.sum(axis=0).max()) // links.max())
    elif shape.links_per_pod_pair:
        ports = shape.spines_per_pod * (radix - down)
        pods = ports // shape.links_per_pod_pair - (len(shape.pods) - 1)
    return more + max(0, pods) * per_pod


def _spine_down(design: FabricDesign) -> int:
    request = design.request
    return leaf_split(
        radix=request.radix(Tier.SPINE), oversubscription=request.spine_oversubscription
    ).down  # fmt: skip


def _largest_nodes(design: FabricDesign, tiers: int) -> int:
    request = replace(design.request, grow_to_gpus=None)
    most = largest_gpus(request, tiers=tiers)
    return design.nodes if most is None else most // request.gpus_per_node
