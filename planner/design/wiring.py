"""Which item of the fabric is joined to which, with how many links, and by which ports.

Items are numbered from 0 in their tier: nodes as they are filled into scalable units, leaves by (group,
plane, rail), spines by (pod, network, spine), cores by (network, spine, core). Whatever is added to a
network laid out to grow comes after what is there, and ports keep their numbers.

A reserved link has a leaf at its lower end and a management host at its upper one, which has no number:
`reserved_ports_at` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.choices import Topology
from planner.design.clos import leaf_split
from planner.design.fabric_parts import FabricDesign, Tier
from planner.design.lateral_wiring import Ints, PortPairs, lateral_pairs
from planner.design.leaf_groups import kept_per_leaf


@dataclass(frozen=True, slots=True, eq=False)
class TierWiring:
    """Bundles between two tiers: item `lower[i]` and item `upper[i]` are joined by `links[i]` links.

    Attributes:
        tier: Name of the pair: ``node-leaf``, ``leaf-spine``, ``spine-core``; where equals are joined
            ``node-node``, ``leaf-leaf`` or ``spine-spine``.
        lower_kind: Kind of the items in `lower`, the end nearer the nodes.
        upper_kind: Kind of the items in `upper`.
        lower: Number of the item at one end.
        upper: Number of the item at the other end.
        links: Links of the bundle, at the endpoint's rate.
    """

    tier: str
    lower_kind: str
    upper_kind: str
    lower: Ints
    upper: Ints
    links: Ints

    @property
    def total(self) -> int:
        """All links of the pair."""
        return int(self.links.sum())


@dataclass(frozen=True, slots=True, eq=False)
class TierPortPairs:
    """Every link of a tier pair with its ports, counted in links at the endpoint's rate from 0 on each item.

    A node's port is NIC x planes + plane. A leaf's ports to nodes come first, then its uplinks; a spine's
    ports to leaves first, then those to cores or other groups.
    """

    tier: str
    lower_kind: str
    upper_kind: str
    pairs: PortPairs


def wiring(design: FabricDesign) -> tuple[TierWiring, ...]:
    """Every bundle of links, tier pair by tier pair; empty without a network. Reserved links aren't listed.

    >>> from planner.design.fabric import FabricRequest, SwitchPorts, design_fabric
    >>> built = design_fabric(FabricRequest(gpus=512, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=SwitchPorts("s", 64, 400.0, 1)))
    >>> [(part.tier, len(part.lower), part.total) for part in wiring(built)]
    [('node-leaf', 512, 512), ('leaf-spine', 128, 512)]
    """
    found: list[TierWiring] = []
    if design.leaves:
        found.append(TierWiring("node-leaf", Tier.NODE, Tier.LEAF, *_node_leaf(design)))
    if design.shape is not None:
        found.append(TierWiring("leaf-spine", Tier.LEAF, Tier.SPINE, *_leaf_spine(design)))
    if design.cores:
        found.append(TierWiring("spine-core", Tier.SPINE, Tier.CORE, *_spine_core(design)))
    if design.lateral_tier is not None:
        kind = design.lateral_tier
        found.append(TierWiring(f"{kind}-{kind}", kind, kind, *_bundled(lateral_pairs(design))))
    return tuple(found)


def wiring_ports(design: FabricDesign) -> tuple[TierPortPairs, ...]:
    """Every link with the port at each of its ends, in the order of `wiring`; no port is used twice.

    >>> from planner.design.fabric import FabricRequest, SwitchPorts, design_fabric
    >>> built = design_fabric(FabricRequest(gpus=512, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=SwitchPorts("s", 64, 400.0, 1)))
    >>> up = wiring_ports(built)[1].pairs
    >>> [int(column[-1]) for column in (up.lower, up.lower_port, up.upper, up.upper_port)]
    [15, 63, 7, 63]
    """
    spine_down = 0
    if design.shape is not None:
        spine_down = leaf_split(
            radix=design.request.radix(Tier.SPINE),
            oversubscription=design.request.spine_oversubscription,
        ).down
    found: list[TierPortPairs] = []
    for part in wiring(design):
        if part.lower_kind is part.upper_kind:
            pairs = lateral_pairs(design)
        else:
            lower, upper = np.repeat(part.lower, part.links), np.repeat(part.upper, part.links)
            if part.lower_kind is Tier.NODE:
                ports = _node_ports(design)
            else:
                first = design.leaf_down_ports if part.lower_kind is Tier.LEAF else spine_down
                ports = first + _nth(lower)
            pairs = PortPairs(lower, ports, upper, _nth(upper))
        found.append(TierPortPairs(part.tier, part.lower_kind, part.upper_kind, pairs))
    return tuple(found)


def reserved_ports_at(design: FabricDesign) -> tuple[Ints, Ints]:
    """Leaf and port of every reserved link.

    In a network laid out to grow they stand in the first leaf group, else as far back as ports are free;
    they take a leaf's last ports towards nodes.
    """
    if not design.reserved_links:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing
    free = np.full(design.leaves, design.leaf_down_ports)
    _, leaf, links = _node_leaf(design)
    free -= np.bincount(leaf, weights=links, minlength=design.leaves).astype(np.int64)
    group, network = _group_and_network(design, np.arange(design.leaves))
    if design.request.grow_to_gpus is not None:
        # one switch for all rails keeps all of a plane's ports, whatever the rails would have kept each
        alone = design.leaves_per_group == 1 and design.topology is not Topology.RAIL_ONLY
        kept = design.request.reserved_ports if alone else kept_per_leaf(design.request)
        free = np.where(group == 0, np.minimum(free, kept), 0)
    leaves, ports = [], []
    for one in range(design.networks):
        own = np.flatnonzero(network == one)
        depth = np.concatenate([np.arange(free[item]) for item in own])
        at = np.repeat(own, free[own])
        # the last group first (the first one when growing), and one port of each of its leaves in turn
        order = np.lexsort((at, depth, -group[at]))[: design.request.reserved_ports]
        leaves.append(at[order])
        ports.append(design.leaf_down_ports - 1 - depth[order])
    return np.concatenate(leaves), np.concatenate(ports)


def _nth(items: Ints) -> Ints:
    """For each element how often its value came before.

    >>> _nth(np.array([4, 7, 4, 4, 7]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(items, kind="stable")
    ranked = items[order]
    starts = np.searchsorted(ranked, ranked, side="left")
    found = np.empty_like(items)
    found[order] = np.arange(len(items)) - starts
    return found


def _bundled(pairs: PortPairs) -> tuple[Ints, Ints, Ints]:
    span = int(pairs.upper.max(initial=0)) + 1
    joined, links = np.unique(pairs.lower * span + pairs.upper, return_counts=True)
    return joined // span, joined % span, links


def _node_leaf(design: FabricDesign) -> tuple[Ints, Ints, Ints]:
    """Leaf (group, plane, rail) of every link of every node; leaves are numbered in that order."""
    request = design.request
    rails, per_rail = request.rails_built, request.links_per_rail
    nodes = np.arange(design.nodes)[:, None, None, None]
    copy = np.arange(per_rail)[None, :, None, None]
    if design.shape is None or design.leaf_groups == 1:
        group = np.zeros_like(nodes)
    elif request.whole_nodes:
        group = (nodes + design.displaced_nodes) // design.nodes_per_leaf_group
    else:
        kept = kept_per_leaf(request) if request.grow_to_gpus is not None else 0
        group = (nodes * per_rail + copy + kept) // design.leaf_down_ports
    plane = np.arange(design.planes)[None, None, :, None]
    rail = np.arange(rails)[None, None, None, :] if design.leaves_per_group > 1 else 0
    leaf = (group * design.planes + plane) * design.leaves_per_group + rail
    shape = (design.nodes, per_rail, design.planes, rails)
    lower = np.broadcast_to(nodes, shape).ravel()
    return lower, np.broadcast_to(leaf, shape).ravel(), np.ones_like(lower)


def _node_ports(design: FabricDesign) -> Ints:
    """Port of a node for each of its links, in the order of `_node_leaf`: NIC x planes + plane."""
    request = design.request
    rails, per_rail = request.rails_built, request.links_per_rail
    copy = np.arange(per_rail)[:, None, None]
    plane = np.arange(design.planes)[None, :, None]
    rail = np.arange(rails)[None, None, :]
    each = ((rail * per_rail + copy) * design.planes + plane).ravel()
    return np.tile(each, design.nodes)


def _group_and_network(design: FabricDesign, leaf: Ints) -> tuple[Ints, Ints]:
    per_group, planes = design.leaves_per_group, design.planes
    group, plane, rail = leaf // (per_group * planes), leaf // per_group % planes, leaf % per_group
    return group, plane * per_group + rail if design.topology is Topology.RAIL_ONLY else plane


def _leaf_spine(design: FabricDesign) -> tuple[Ints, Ints, Ints]:
    """Every leaf with every spine of its pod and network; spines are numbered (pod, network, spine)."""
    shape = design.shape
    assert shape is not None
    leaf = np.arange(design.leaves)
    group, network = _group_and_network(design, leaf)
    pod = np.repeat(np.arange(len(shape.pods)), shape.pods)[group]
    first = (pod * design.networks + network) * shape.spines_per_pod
    spine = first[:, None] + np.arange(shape.spines_per_pod)[None, :]
    lower = np.repeat(leaf, shape.spines_per_pod)
    return lower, spine.ravel(), np.full_like(lower, shape.links_per_leaf_spine)


def _spine_core(design: FabricDesign) -> tuple[Ints, Ints, Ints]:
    """Spine j of every pod with the cores of group j; cores are numbered (network, spine, core)."""
    shape = design.shape
    assert shape is not None
    spine = np.arange(design.spines)
    per_pod = shape.spines_per_pod
    pod, in_pod = spine // (per_pod * design.networks), spine % (per_pod * design.networks)
    core = in_pod[:, None] * shape.cores_per_spine + np.arange(shape.cores_per_spine)[None, :]
    lower = np.repeat(spine, shape.cores_per_spine)
    links = shape.links_to_cores()[pod].ravel()
    joined = links > 0
    return lower[joined], core.ravel()[joined], links[joined]
