"""What is asked of the scale-out network, and what it is built as."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from planner.choices import Topology
from planner.design.clos import Clos
from planner.design.meshes import Mesh, Torus
from planner.design.ports import SwitchPorts


class Tier(StrEnum):
    """A layer of the network, nodes at the bottom."""

    NODE = "node"
    LEAF = "leaf"
    SPINE = "spine"
    CORE = "core"


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricRequest:
    """What is asked of the network.

    Args:
        gpus: GPUs to join, whole nodes.
        gpus_per_node: GPUs of one node: a server, or a tray or a rack of a rack-scale system.
        nics_per_node: NICs of one node on this network.
        nic_rate_gbit_per_s: Rate of a NIC, one direction, over all planes.
        leaf: Ports of a leaf switch; `spine` and `core` are the same kind where they are left out.
        rails: Leaf sets a node is spread over; where it is left out a NIC for each rail, and 1 in a fat tree.
        planes: Networks side by side, each with a share of every NIC's rate; without switches, the links
            that each NIC is split into.
        nic_ports: Connectors of one NIC; one connector carries all planes unless it has more.
        oversubscription: Leaf ports down to ports up at most, 1 or more.
        reserved_ports: Endpoint ports kept for management in every fabric (4 with UFM on InfiniBand).
        scaleup_domain_gpus: GPUs joined without this network; a node's where it is left out.
        whole_nodes: Keep all of a node's links of one rail on one leaf.
        spine_oversubscription: A spine's links down to its links up at most, 1 or more: it counts where there
            is a third tier, and tapers the links between the groups of a dragonfly.
        grow_to_gpus: GPUs the network is laid out for; what is built now is the part that `gpus` need, and
            growing adds switches and cables and moves none. The same as `gpus` where it is left out.
        paired: Build two switches joined directly where one would do; every node has half its NICs on each.
        tiers_max: Layers of switches allowed, 1 to 3.
        rail_tiers_max: Layers allowed in each rail of a rail-only network (1 is a leaf for each rail).
    """

    gpus: int
    gpus_per_node: int
    nics_per_node: int
    nic_rate_gbit_per_s: float
    leaf: SwitchPorts
    spine: SwitchPorts | None = None
    core: SwitchPorts | None = None
    topology: Topology = Topology.RAIL_OPTIMISED
    rails: int | None = None
    planes: int = 1
    nic_ports: int = 1
    oversubscription: float = 1.0
    reserved_ports: int = 0
    scaleup_domain_gpus: int | None = None
    whole_nodes: bool = True
    tiers_max: int = 3
    rail_tiers_max: int = 1
    spine_oversubscription: float = 1.0
    grow_to_gpus: int | None = None
    paired: bool = False

    @property
    def nodes(self) -> int:
        """Nodes that hold the GPUs."""
        return -(-self.gpus // self.gpus_per_node)

    @property
    def rails_built(self) -> int:
        """Rails, with the default filled in."""
        if self.topology is Topology.FAT_TREE:
            return self.rails or 1
        return self.rails or max(1, self.nics_per_node)

    @property
    def nodes_laid_out(self) -> int:
        """Nodes the network is laid out for, those that come later included."""
        return max(self.nodes, -(-(self.grow_to_gpus or 0) // self.gpus_per_node))

    @property
    def links_per_node(self) -> int:
        """Links of a node, all planes together."""
        return self.nics_per_node * self.planes

    @property
    def links_per_rail(self) -> int:
        """Links that a node has to each rail, in one plane."""
        return self.nics_per_node // self.rails_built

    @property
    def link_rate_gbit_per_s(self) -> float:
        """Rate of one link: a NIC's share in one plane, one direction."""
        return self.nic_rate_gbit_per_s / self.planes

    def switch(self, tier: Tier) -> SwitchPorts:
        """The switch of a tier, with the defaults filled in."""
        spine = self.spine or self.leaf
        return {Tier.LEAF: self.leaf, Tier.SPINE: spine, Tier.CORE: self.core or spine}[tier]

    def radix(self, tier: Tier) -> int:
        """Ports of a tier's switch at the link's rate."""
        return self.switch(tier).radix(self.link_rate_gbit_per_s)


@dataclass(frozen=True, slots=True)
class TierPorts:
    """Ports of a tier at the endpoint's rate; reserved management ports count as used and face down.

    Links to a tier's own kind (between the groups of a dragonfly, or a pair of leaves) count as facing up, at
    both of their ends.
    """

    tier: Tier
    switches: int
    ports: int
    down_used: int
    up_used: int

    @property
    def used(self) -> int:
        """Ports with a link or kept for management."""
        return self.down_used + self.up_used

    @property
    def free(self) -> int:
        """Ports with nothing in them."""
        return self.ports - self.used


@dataclass(frozen=True, slots=True)
class TierGroup:
    """Like groups of one tier for the folded drawing: `groups` groups of `per_group` items each."""

    tier: Tier
    label: str
    groups: int
    per_group: int
    links_up_each: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricDesign:
    """The network as built. Counts are for all planes; rates are one direction.

    Attributes:
        lateral_tier: Kind of the items that are joined to their like: nodes of a torus or of joined domains,
            the leaves of a pair, the spines of a dragonfly's groups.
        lateral_links: Links between items of that kind, and `lateral_cables` the cables for them.
        torus: Its dimensions, where nodes are joined as one.
        mesh: The domains joined each to each, where that is the network.
        displaced_nodes: Places for nodes in the first leaf group that reserved ports take in a network laid
            out to grow.
    """

    request: FabricRequest
    topology: Topology
    nodes: int
    networks: int
    leaf_groups: int
    nodes_per_leaf_group: int
    leaf_down_ports: int
    leaves_per_group: int
    shape: Clos | None
    leaves: int
    spines: int
    cores: int
    node_leaf_links: int
    node_leaf_cables: int
    reserved_links: int
    leaf_spine_links: int
    leaf_spine_cables: int
    spine_core_links: int
    spine_core_cables: int
    tiers: int
    radix: int
    oversubscription: float
    bisection_gbit_per_s: float
    tier_ports: tuple[TierPorts, ...]
    why: tuple[str, ...]
    lateral_tier: Tier | None = None
    lateral_links: int = 0
    lateral_cables: int = 0
    torus: Torus | None = None
    mesh: Mesh | None = None
    displaced_nodes: int = 0

    @property
    def planes(self) -> int:
        """Networks side by side."""
        return self.request.planes

    @property
    def links_per_connector(self) -> int:
        """Links that share a connector of a NIC: its planes, where they have no connectors of their own."""
        return self.planes // min(self.request.nic_ports, self.planes)

    @property
    def pods(self) -> int:
        """Pods of one network; 0 without switches."""
        return len(self.shape.pods) if self.shape else min(1, self.leaves)

    @property
    def uplinks_per_leaf(self) -> int:
        """Links from one leaf to its spines."""
        return self.shape.uplinks_per_leaf if self.shape else 0

    @property
    def links(self) -> int:
        """Every link of the fabric, management links included."""
        below = self.node_leaf_links + self.reserved_links
        return below + self.leaf_spine_links + self.spine_core_links + self.lateral_links

    @property
    def switches(self) -> int:
        """Every switch of the fabric."""
        return self.leaves + self.spines + self.cores

    @property
    def cables(self) -> int:
        """Every cable between nodes and switches, without those of management."""
        below = self.node_leaf_cables + self.leaf_spine_cables
        return below + self.spine_core_cables + self.lateral_cables

    @property
    def spine_oversubscription(self) -> float:
        """Links of a pod from leaves to spines over those that leave it; 1 where none has to."""
        return self.shape.spine_oversubscription if self.shape else 1.0

    @property
    def nodes_per_pod(self) -> int:
        """Nodes of the largest pod (or group of a dragonfly); all nodes where there are no pods."""
        pods = self.shape.pods if self.shape else ()
        return min(self.nodes, pods[0] * self.nodes_per_leaf_group) if len(pods) > 1 else self.nodes

    @property
    def gpus_per_leaf(self) -> int:
        """GPUs that lose a path when one leaf fails."""
        return min(self.nodes, self.nodes_per_leaf_group) * self.request.gpus_per_node if self.leaves else 0

    def tier_groups(self) -> tuple[TierGroup, ...]:
        """Tiers from nodes up, like groups folded together, one plane after the other."""
        return _tier_groups(self)

    def to_json(self) -> dict[str, int]:
        """Counts under the names of the published reference tables."""
        found = {
            "leaf_count": self.leaves,
            "spine_count": self.spines,
            "core_count": self.cores,
            "node_leaf_links_count": self.node_leaf_links,
            "node_leaf_cables_count": self.node_leaf_cables,
            "node_leaf_and_ufm_cables_count": self.node_leaf_cables + self.reserved_links,
            "leaf_spine_links_count": self.leaf_spine_links,
            "leaf_spine_cables_count": self.leaf_spine_cables,
            "spine_core_links_count": self.spine_core_links,
            "spine_core_cables_count": self.spine_core_cables,
            "tiers_count": self.tiers,
            "planes_count": self.planes,
            "radix_count": self.radix,
        }
        if self.lateral_tier is not None:
            found[f"{self.lateral_tier}_{self.lateral_tier}_links_count"] = self.lateral_links
            found[f"{self.lateral_tier}_{self.lateral_tier}_cables_count"] = self.lateral_cables
        return found


def _node_groups(design: FabricDesign) -> list[TierGroup]:
    each, rest = design.request.links_per_node, design.nodes
    found: list[TierGroup] = []
    first = design.nodes_per_leaf_group - design.displaced_nodes
    if design.displaced_nodes and rest > first:
        found.append(TierGroup(Tier.NODE, "scalable unit, with management ports", 1, first, each))
        rest -= first
    full, rest = divmod(rest, design.nodes_per_leaf_group)
    if full:
        found.append(TierGroup(Tier.NODE, "scalable unit", full, design.nodes_per_leaf_group, each))
    if rest:
        found.append(TierGroup(Tier.NODE, "scalable unit, partly filled", 1, rest, each))
    return found


def _tier_groups(design: FabricDesign) -> tuple[TierGroup, ...]:
    shape = design.shape
    if not design.leaves:
        beside = 2 * design.lateral_links // max(1, design.nodes)
        return (TierGroup(Tier.NODE, "nodes", 1, design.nodes, beside),)
    found = _node_groups(design)
    found.append(
        TierGroup(
            Tier.LEAF,
            "leaf set of a scalable unit",
            design.leaf_groups,
            design.leaves_per_group * design.planes,
            design.uplinks_per_leaf,
        )
    )
    if shape is None:
        return tuple(found)
    ups = shape.uplinks_per_spine or (0,) * len(shape.pods)
    for up in sorted(set(ups), reverse=True):
        pods = ups.count(up) * design.networks
        beside = -(-shape.links_per_pod_pair * (len(shape.pods) - 1) // shape.spines_per_pod)
        found.append(TierGroup(Tier.SPINE, "spines of a pod", pods, shape.spines_per_pod, up + beside))
    if shape.tiers == 3:
        groups = shape.spines_per_pod * design.networks
        found.append(TierGroup(Tier.CORE, "core group", groups, shape.cores_per_spine, 0))
    return tuple(found)
