"""Switches, links and cables of many networks at once, without drawing them: the count-only path of sweeps.

The arithmetic is that of `planner.design.fabric.design_fabric` for leaves, spines and cores, on arrays: one
element of each is one design. Property tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.arrays import Floats
from planner.choices import Topology
from planner.design.clos_search import LayoutAsked, laid_out
from planner.design.fabric_checks import as_topology_wants
from planner.design.fabric_parts import FabricRequest, Tier

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

CLOS = (Topology.RAIL_OPTIMISED, Topology.FAT_TREE, Topology.RAIL_ONLY, Topology.DUAL_TOR)
"""Topologies that are counted here."""
WHY_NOT = (
    "",
    "a node needs more ports on a rail's leaf than it has towards nodes",
    "a leaf needs a port down and a port up",
    "a rail needs more ports than its leaf has",
    "there are more leaf groups than the tiers allowed can join",
    "nodes need NICs to be joined",
)
"""Reasons of `FabricCounts.why_not`, by number."""
SLACK = 1e-9
"""Keeps a quotient that is whole but for rounding from being cut to the next number."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountRequests:
    """What is asked, as arrays of shape (n,); `FabricRequest` says what each is.

    Radixes are at the link's rate. `leaf_spine_links_per_cable` and its sister are the links that share a
    cable between two switches. A fat tree is `rails` of 1, a dual-tor network `planes` of 2.
    """

    gpus: Ints
    gpus_per_node: Ints
    nics_per_node: Ints
    rails: Ints
    planes: Ints
    leaf_radix: Ints
    spine_radix: Ints
    core_radix: Ints
    oversubscription: Floats
    spine_oversubscription: Floats
    reserved_ports: Ints
    scaleup_domain_gpus: Ints
    nic_connectors: Ints
    leaf_spine_links_per_cable: Ints
    spine_core_links_per_cable: Ints
    tiers_max: Ints
    rail_only: Flags
    rail_tiers_max: Ints


@dataclass(frozen=True, slots=True, eq=False)
class FabricCounts:
    """Counts for all planes together, arrays of shape (n,); zeros where a design isn't feasible.

    Attributes:
        why_not: Number of the reason in `WHY_NOT`, 0 where it is feasible.
    """

    tiers: Ints
    leaves: Ints
    spines: Ints
    cores: Ints
    node_leaf_links: Ints
    node_leaf_cables: Ints
    reserved_links: Ints
    leaf_spine_links: Ints
    leaf_spine_cables: Ints
    spine_core_links: Ints
    spine_core_cables: Ints
    why_not: Ints

    @property
    def feasible(self) -> Flags:
        """Whether each can be built."""
        return np.equal(self.why_not, 0)


def stacked(requests: Sequence[FabricRequest]) -> CountRequests:
    """Arrays of requests, for those topologies and whole nodes that are counted here.

    Raises:
        ValueError: One of another topology, of spread nodes, of a pair or laid out to grow.
    """
    wanted = [as_topology_wants(one) for one in requests]
    if any(
        one.topology not in CLOS or not one.whole_nodes or one.paired or one.grow_to_gpus is not None
        for one in wanted
    ):
        raise ValueError(f"counted are {', '.join(CLOS)} of whole nodes, without growth")

    def ints(values: Sequence[int]) -> Ints:
        return np.array(values, dtype=np.int64)

    def per_cable(one: FabricRequest, lower: Tier, upper: Tier) -> int:
        rate = one.link_rate_gbit_per_s
        return min(one.switch(tier).links_per_port(rate) for tier in (lower, upper))

    return CountRequests(
        gpus=ints([one.gpus for one in wanted]),
        gpus_per_node=ints([one.gpus_per_node for one in wanted]),
        nics_per_node=ints([one.nics_per_node for one in wanted]),
        rails=ints([one.rails_built for one in wanted]),
        planes=ints([one.planes for one in wanted]),
        leaf_radix=ints([one.radix(Tier.LEAF) for one in wanted]),
        spine_radix=ints([one.radix(Tier.SPINE) for one in wanted]),
        core_radix=ints([one.radix(Tier.CORE) for one in wanted]),
        oversubscription=np.array([one.oversubscription for one in wanted]),
        spine_oversubscription=np.array([one.spine_oversubscription for one in wanted]),
        reserved_ports=ints([one.reserved_ports for one in wanted]),
        scaleup_domain_gpus=ints([one.scaleup_domain_gpus or one.gpus_per_node for one in wanted]),
        nic_connectors=ints([one.nic_ports for one in wanted]),
        leaf_spine_links_per_cable=ints([per_cable(one, Tier.LEAF, Tier.SPINE) for one in wanted]),
        spine_core_links_per_cable=ints([per_cable(one, Tier.SPINE, Tier.CORE) for one in wanted]),
        tiers_max=ints([one.tiers_max for one in wanted]),
        rail_only=np.array([one.topology is Topology.RAIL_ONLY for one in wanted]),
        rail_tiers_max=ints([one.rail_tiers_max for one in wanted]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Which designs need no network, which one leaf (for each rail) and which tiers, and why some can't be."""

    nodes: Ints
    one_leaf: Flags
    tiered: Flags
    leaf_down: Ints
    least_groups: Ints
    reserved: Ints
    why_not: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Shapes:
    """Numbers of one network; zeros where it has no tiers."""

    groups: Ints
    tiers: Ints
    spines: Ints
    uplinks: Ints
    cores: Ints
    spine_core_links: Ints


def fabric_counts(asked: CountRequests) -> FabricCounts:
    """Counts of every design.

    All arithmetic is on arrays; networks of tiers that are asked for more than once, with other numbers of
    planes or reserved ports, are looked for once.

    127 nodes of 8 NICs on 64-port switches with 4 ports kept, as `design_fabric` counts them:

    >>> from planner.design.ports import SwitchPorts
    >>> twin = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
    >>> one = FabricRequest(gpus=1016, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0, leaf=twin,
    ...     reserved_ports=4)
    >>> found = fabric_counts(stacked([one]))
    >>> found.leaves, found.spines, found.leaf_spine_cables
    (array([32]), array([16]), array([1024]))
    """
    plan = _planned(asked)
    shapes = _shapes(asked, plan)
    return _multiplied(asked, plan, shapes)


def _planned(asked: CountRequests) -> _Plan:
    tiers = np.where(asked.rail_only, asked.rail_tiers_max, asked.tiers_max)
    nodes, per_rail = -(-asked.gpus // asked.gpus_per_node), asked.nics_per_node // asked.rails
    joined = asked.gpus > np.maximum(asked.gpus_per_node, asked.scaleup_domain_gpus)
    needed = nodes * np.where(asked.rail_only, per_rail, asked.nics_per_node) + asked.reserved_ports
    fits, ratio = needed <= asked.leaf_radix, asked.oversubscription
    down = np.floor(asked.leaf_radix * ratio / (1.0 + ratio) + SLACK).astype(np.int64)
    whole = down // np.maximum(1, per_rail)
    why_not = np.select(
        [
            ~joined,
            asked.nics_per_node == 0,
            fits,
            (tiers < 2) & asked.rail_only,
            tiers < 2,
            np.minimum(down, asked.leaf_radix - down) < 1,
            whole == 0,
        ],
        [0, 5, 0, 3, 4, 2, 1],
        default=0,
    )
    tiered = joined & ~fits & np.equal(why_not, 0)
    reserved = asked.reserved_ports * np.where(asked.rail_only, asked.rails, 1)
    by_nodes = -(-nodes // np.maximum(1, whole))
    by_ports = -(-(nodes * asked.nics_per_node + reserved) // np.maximum(1, down * asked.rails))
    one_leaf = joined & fits & np.equal(why_not, 0)
    return _Plan(nodes, one_leaf, tiered, down, np.maximum(by_nodes, by_ports), reserved, why_not)


def _shapes(asked: CountRequests, plan: _Plan) -> _Shapes:
    """The network above the leaves of every design that has one."""
    found = np.zeros((6, len(plan.nodes)), dtype=np.int64)
    at = np.flatnonzero(plan.tiered)
    # nodes matter beyond the groups they fill only where uplinks follow them
    loose = asked.oversubscription > 1.0
    rows = np.stack(
        [
            np.where(loose, plan.nodes, 0), np.where(loose, asked.nics_per_node // asked.rails, 0),
            np.where(loose, plan.reserved, 0), asked.rails, np.where(asked.rail_only, 1, asked.rails),
            asked.leaf_radix, plan.leaf_down, asked.spine_radix, asked.core_radix, asked.oversubscription,
            asked.spine_oversubscription, plan.least_groups,
            np.where(asked.rail_only, asked.rail_tiers_max, asked.tiers_max),
        ]
    )[:, at].astype(np.float64)  # fmt: skip
    unique, back = np.unique(rows, axis=1, return_inverse=True)
    columns = np.array([_shape(row) for row in unique.T.tolist()], dtype=np.int64).reshape(-1, 6)
    found[:, at] = columns[back.ravel()].T
    plan.why_not[at[found[0, at] == 0]] = 4
    return _Shapes(*found)


def _shape(row: Sequence[float]) -> tuple[int, int, int, int, int, int]:
    """Numbers of `_Shapes` for one row of what is asked; zeros where none can be built."""
    whole = [int(value) for value in row]
    layout = laid_out(
        LayoutAsked(
            nodes=whole[0],
            links_per_rail=whole[1],
            reserved_ports=whole[2],
            kept_per_leaf=None,
            rails=whole[3],
            leaves_per_group=whole[4],
            leaf_radix=whole[5],
            leaf_down=whole[6],
            spine_radix=whole[7],
            core_radix=whole[8],
            oversubscription=row[9],
            spine_oversubscription=row[10],
            least_groups=whole[11],
            tiers_max=whole[12],
        )
    )
    shape = layout.shape
    if shape is None:
        return (0,) * 6
    return (
        layout.groups, shape.tiers, shape.spines, shape.uplinks_per_leaf, shape.cores, shape.spine_core_links,
    )  # fmt: skip


def _multiplied(asked: CountRequests, plan: _Plan, shapes: _Shapes) -> FabricCounts:
    """Counts times planes, and rails where each is a network of its own."""
    tiered = shapes.groups > 0
    built = tiered | plan.one_leaf
    networks = asked.planes * np.where(asked.rail_only, asked.rails, 1)
    per_group = np.where(asked.rail_only | tiered, asked.rails, 1)
    leaves = np.where(built, np.maximum(1, shapes.groups) * per_group * asked.planes, 0)
    leaf_spine, spine_core = leaves * shapes.uplinks, shapes.spine_core_links * networks
    endpoints = np.where(built, plan.nodes * asked.nics_per_node, 0)
    return FabricCounts(
        tiers=np.where(tiered, shapes.tiers, plan.one_leaf.astype(np.int64)),
        leaves=leaves,
        spines=shapes.spines * networks,
        cores=shapes.cores * networks,
        node_leaf_links=endpoints * asked.planes,
        node_leaf_cables=endpoints * np.minimum(asked.nic_connectors, asked.planes),
        reserved_links=np.where(built, asked.reserved_ports * networks, 0),
        leaf_spine_links=leaf_spine,
        leaf_spine_cables=-(-leaf_spine // asked.leaf_spine_links_per_cable),
        spine_core_links=spine_core,
        spine_core_cables=-(-spine_core // asked.spine_core_links_per_cable),
        why_not=plan.why_not,
    )
