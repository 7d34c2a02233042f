"""How nodes and reserved ports fill the leaves: whole scalable units, one leaf for each rail."""

from __future__ import annotations

from planner.choices import Topology
from planner.design.clos import LeafSplit, leaf_split
from planner.design.fabric_parts import FabricRequest, Tier
from planner.design.ports import refusal


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


def leaf_groups_for(request: FabricRequest, *, nodes: int, down: int, reserved_ports: int) -> int:
    """Leaf groups that so many nodes and the reserved ports fill, by whole scalable units.

    In a network laid out to grow the reserved ports stay in the first leaf group, so that no cable of
    theirs moves when more groups come.
    """
    per_leaf = nodes_per_leaf(request, down=down)
    rails = request.rails_built
    if request.grow_to_gpus is not None:
        kept = kept_per_leaf(request)
        if request.whole_nodes:
            return max(1, -(-(nodes + displaced_nodes(request, down=down)) // per_leaf))
        return max(1, -(-(nodes * request.links_per_rail + kept) // down))
    by_nodes = -(-nodes // per_leaf) if request.whole_nodes else -(-nodes * request.links_per_rail // down)
    by_ports = -(-(nodes * request.nics_per_node + reserved_ports) // (down * rails))
    return max(by_nodes, by_ports)


def kept_per_leaf(request: FabricRequest) -> int:
    """Reserved ports on the leaf of the first group that has most of them."""
    rail_only = request.topology is Topology.RAIL_ONLY
    return request.reserved_ports if rail_only else -(-request.reserved_ports // request.rails_built)


def displaced_nodes(request: FabricRequest, *, down: int) -> int:
    """Nodes for which the first leaf group of a network laid out to grow has no place, by its reserved ports."""
    if request.grow_to_gpus is None:
        return 0
    per_leaf = nodes_per_leaf(request, down=down)
    spare = down - per_leaf * request.links_per_rail
    return min(per_leaf, -(-max(0, kept_per_leaf(request) - spare) // request.links_per_rail))


def split_of(request: FabricRequest) -> LeafSplit:
    """A leaf's ports down and up, before it is known how many are used."""
    radix = request.radix(Tier.LEAF)
    split = leaf_split(radix=radix, oversubscription=request.oversubscription)
    if min(split.down, split.up_max) < 1:
        raise refusal(
            f"a leaf needs a port down and a port up, {request.leaf.id} has {radix:,} in all",
            "a leaf with more ports",
            "a lower oversubscription",
        )
    if request.grow_to_gpus is not None and kept_per_leaf(request) >= split.down:
        raise refusal(
            f"{request.reserved_ports:,} reserved ports leave none to nodes in the first leaf group",
            "fewer reserved ports",
            "no growth laid out",
            key="network.reserved_ports",
        )
    return split
