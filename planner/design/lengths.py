"""How long the fabric's links are, from where the racks stand.

A link runs from its port up to a tray, along and across the rows, and down again. Trays are taken to
cross rows anywhere, so the run is the Manhattan distance between the racks; where a floor has few cross
trays the true run is longer, and `slack_m` is the place to say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.choices import Topology
from planner.design.fabric_parts import FabricDesign, Tier
from planner.design.racks import Ints, RackLayout


@dataclass(frozen=True, slots=True, eq=False)
class LinkLengths:
    """Links between two tiers by length: `links[i]` links of `length_m[i]`, shortest first."""

    tier: str
    length_m: Floats
    links: Ints

    @property
    def total(self) -> int:
        """All links."""
        return int(self.links.sum())

    @property
    def longest_m(self) -> float:
        """Length of the longest link."""
        return float(self.length_m.max(initial=0.0))

    @property
    def mean_m(self) -> float:
        """Mean length of a link."""
        return float((self.length_m * self.links).sum() / max(1, self.total))


def fabric_link_lengths(design: FabricDesign, layout: RackLayout) -> tuple[LinkLengths, ...]:
    """Length of every link, tier pair by tier pair: node-leaf, leaf-spine, spine-core, leaf-management.

    The layout holds as many nodes, leaves, spines and cores as the design. Management links run from the
    last leaf group to the first central network rack.
    """
    if not design.leaves:
        return ()
    wanted = {Tier.LEAF: design.leaves, Tier.SPINE: design.spines, Tier.CORE: design.cores}
    if len(layout.node_rack) != design.nodes or any(
        len(layout.switch_rack(tier)) != count for tier, count in wanted.items()
    ):
        raise ValueError("the layout places other nodes or switches than the design has")
    found = [_lengths(layout, "node-leaf", *_node_leaf(design, layout))]
    if design.shape is not None:
        found.append(_lengths(layout, "leaf-spine", *_leaf_spine(design, layout)))
    if design.cores:
        found.append(_lengths(layout, "spine-core", *_spine_core(design, layout)))
    if design.reserved_links:
        leaves = layout.switch_rack(Tier.LEAF)[-design.leaves_per_group * design.planes :]
        at = leaves[np.arange(design.reserved_links) % len(leaves)]
        hub = (layout.switch_rack(Tier.SPINE) if design.spines else leaves)[0]
        found.append(_lengths(layout, "leaf-management", at, np.full_like(at, hub), np.ones_like(at)))
    return tuple(found)


def _lengths(layout: RackLayout, tier: str, lower: Ints, upper: Ints, links: Ints) -> LinkLengths:
    """Group links by the slots and rows between their racks, all at once."""
    floor = layout.floor
    slot = np.rint(layout.x_m / floor.rack_pitch_m).astype(np.int64)
    row = np.rint(layout.y_m / floor.row_pitch_m).astype(np.int64)
    width = int(slot.max(initial=0)) + 1
    apart = np.abs(slot[lower] - slot[upper]) + np.abs(row[lower] - row[upper]) * width
    count = np.bincount(apart, weights=links).astype(np.int64)
    steps = np.flatnonzero(count)
    run = (steps % width) * floor.rack_pitch_m + (steps // width) * floor.row_pitch_m
    length = np.where(steps == 0, floor.in_rack_m, run + 2.0 * floor.vertical_m + floor.slack_m)
    order = np.argsort(length, kind="stable")
    return LinkLengths(tier, length[order], count[steps][order])


def _node_leaf(design: FabricDesign, layout: RackLayout) -> tuple[Ints, Ints, Ints]:
    """Leaf (group, plane, rail) of every link of every node; leaves are numbered in that order."""
    request = design.request
    rails, per_rail = request.rails_built, request.links_per_rail
    nodes = np.arange(design.nodes)[:, None, None, None]
    copy = np.arange(per_rail)[None, :, None, None]
    if design.leaf_groups == 1:
        group = np.zeros_like(nodes)
    elif request.whole_nodes:
        group = nodes // design.nodes_per_leaf_group
    else:
        group = (nodes * per_rail + copy) // design.leaf_down_ports
    plane = np.arange(design.planes)[None, None, :, None]
    rail = np.arange(rails)[None, None, None, :] if design.topology is not Topology.SINGLE_SWITCH else 0
    leaf = (group * design.planes + plane) * design.leaves_per_group + rail
    shape = (design.nodes, per_rail, design.planes, rails)
    lower = np.broadcast_to(layout.node_rack[:, None, None, None], shape).ravel()
    upper = layout.switch_rack(Tier.LEAF)[np.broadcast_to(leaf, shape).ravel()]
    return lower, upper, np.ones_like(lower)


def _leaf_spine(design: FabricDesign, layout: RackLayout) -> tuple[Ints, Ints, Ints]:
    """Every leaf with every spine of its pod and network; spines are numbered (pod, network, spine)."""
    shape = design.shape
    assert shape is not None
    per_group, planes = design.leaves_per_group, design.planes
    leaf = np.arange(design.leaves)
    group, plane, rail = leaf // (per_group * planes), leaf // per_group % planes, leaf % per_group
    network = plane * per_group + rail if design.topology is Topology.RAIL_ONLY else plane
    pod = np.repeat(np.arange(len(shape.pods)), shape.pods)[group]
    first = (pod * design.networks + network) * shape.spines_per_pod
    spine = first[:, None] + np.arange(shape.spines_per_pod)[None, :]
    lower = np.repeat(layout.switch_rack(Tier.LEAF), shape.spines_per_pod)
    upper = layout.switch_rack(Tier.SPINE)[spine.ravel()]
    return lower, upper, np.full_like(lower, shape.links_per_leaf_spine)


def _spine_core(design: FabricDesign, layout: RackLayout) -> tuple[Ints, Ints, Ints]:
    """Spine j of every pod with the cores of group j; cores are numbered (network, spine, core)."""
    shape = design.shape
    assert shape is not None
    spine = np.arange(design.spines)
    per_pod = shape.spines_per_pod
    pod, in_pod = spine // (per_pod * design.networks), spine % (per_pod * design.networks)
    core = in_pod[:, None] * shape.cores_per_spine + np.arange(shape.cores_per_spine)[None, :]
    lower = np.repeat(layout.switch_rack(Tier.SPINE), shape.cores_per_spine)
    links = np.repeat(np.array(shape.links_per_spine_core)[pod], shape.cores_per_spine)
    return lower, layout.switch_rack(Tier.CORE)[core.ravel()], links
