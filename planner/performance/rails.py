"""Links of one accelerator out of its scale-up domain, from catalog figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import FabricBehaviour
from planner.catalog.store import Entry
from planner.performance.assumed import Assumed
from planner.performance.collectives import Link
from planner.performance.paths import (
    ring_crossing_fraction,
    scale_out_bytes_per_s,
    uniform_crossing_fraction,
)  # fmt: skip
from planner.performance.spread import Spread
from planner.scenario.givens import figure_line

ONE = np.ones(1)


def _one() -> Floats:
    return np.ones(1)


class Crossing(Protocol):
    """Share of a job's traffic that leaves its leaf, or its pod."""

    def __call__(self, *, nodes: Floats, nodes_per_leaf: Floats) -> Floats:
        """The share, by the nodes of the job and those that one leaf or pod connects."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network as the rails need it; arrays broadcast to shape (n,).

    Attributes:
        behaviour: How it balances load and how long a hop takes.
        nic_bytes_per_s: Line rate of one accelerator's share of the NICs, one direction.
        host_bytes_per_s: Ceiling of the slot they sit in; infinite where it isn't known.
        oversubscription: Downlink over uplink capacity of a leaf.
        nodes: Nodes of the job.
        leaf_nodes: Nodes that one leaf, or the leaves of one rail group, connect.
        spineless: Whether nothing joins the leaves: rails alone, one switch, or no switch at all.
        pod_nodes: Nodes of a pod, or of a dragonfly's group; None where one pod is all.
        spine_oversubscription: A pod's links from leaves to spines over those that leave it.
        detours_ratio: Links between pods that traffic to one other pod takes: 1 on the shortest way, more in a
            dragonfly, where such traffic goes over a third group.
        spread: What a network without switches leaves of the NICs' rate; None with switches.
        crossing_s: Time that a message is on its way between halls, over the farthest path.
    """

    behaviour: Entry[FabricBehaviour]
    nic_bytes_per_s: Floats
    host_bytes_per_s: Floats
    oversubscription: Floats
    nodes: Floats
    leaf_nodes: Floats
    spineless: bool = False
    pod_nodes: Floats | None = None
    spine_oversubscription: Floats = field(default_factory=_one)
    detours_ratio: Floats = field(default_factory=_one)
    spread: Spread | None = None
    crossing_s: Floats | float = 0.0


def rails(assumed: Assumed, fabric: Fabric) -> tuple[Link, Link]:
    """Link outwards for rings and neighbours, and the same under all-to-all traffic.

    Rings load the links between pods with traffic to one other pod; an all-to-all loads them evenly.
    """
    behaviour = fabric.behaviour
    name = behaviour.item.name
    efficiency = figure_line(
        assumed.ledger, "network.bandwidth_efficiency_fraction", f"Share of uplinks that {name} delivers",
        "fraction", behaviour, "bandwidth_efficiency_fraction",
    )  # fmt: skip
    hop = figure_line(
        assumed.ledger, "network.hop_latency_us", f"Switch hop of {name}", "us", behaviour, "hop_latency_us"
    )
    reference = assumed("spine_efficiency_fraction_adaptive_infiniband")
    step = (
        assumed(f"scale_out_hop_s_{step_kind(behaviour.item.id)}")
        + assumed.use(hop) * 1e-6
        + fabric.crossing_s
    )

    def outside(crossing: Crossing, detours: Floats, share: float, through: float) -> Link:
        leaving = crossing(nodes=fabric.nodes, nodes_per_leaf=fabric.leaf_nodes)
        crowded = _crowding(fabric, crossing, leaving, detours)
        rate = scale_out_bytes_per_s(
            nic_bytes_per_s=fabric.nic_bytes_per_s * share,
            host_bytes_per_s=fabric.host_bytes_per_s,
            nic_efficiency_fraction=assumed("nic_efficiency_fraction"),
            spine_efficiency_fraction=assumed.use(efficiency) / reference,
            oversubscription=crowded / np.where(leaving > 0.0, leaving, 1.0),
            crossing_fraction=np.zeros(1) if fabric.spineless else leaving,
        )
        hops = step + assumed.use(hop) * 1e-6 * through
        return Link(rate, assumed("scale_out_start_s"), hops, assumed("scale_out_half_rate_bytes"))

    spread = fabric.spread or Spread()
    return (
        outside(ring_crossing_fraction, fabric.detours_ratio, spread.ring_fraction, 0.0),
        outside(uniform_crossing_fraction, ONE, spread.exchange_fraction, spread.exchange_nodes_through),
    )


def _crowding(fabric: Fabric, crossing: Crossing, leaving: Floats, detours: Floats) -> Floats:
    """Flows over links where they are the most: above the leaves, or above the spines of a pod."""
    crowded = leaving * fabric.oversubscription
    if fabric.pod_nodes is None:
        return crowded
    between = crossing(nodes=fabric.nodes, nodes_per_leaf=fabric.pod_nodes)
    above = between * fabric.oversubscription * fabric.spine_oversubscription * detours
    return np.maximum(crowded, above)


def step_kind(behaviour_id: str) -> str:
    """Kind of network by which the time of one step is known.

    >>> step_kind("efa-srd"), step_kind("spectrum-x")
    ('efa', 'infiniband')
    """
    return "efa" if behaviour_id.startswith("efa") else "infiniband"
