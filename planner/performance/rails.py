"""Links of one accelerator out of its scale-up domain, from catalog figures."""

from __future__ import annotations

from dataclasses import dataclass

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
from planner.scenario.givens import figure_line


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
        spineless: Whether nothing joins the leaves: rails alone, or one switch.
    """

    behaviour: Entry[FabricBehaviour]
    nic_bytes_per_s: Floats
    host_bytes_per_s: Floats
    oversubscription: Floats
    nodes: Floats
    leaf_nodes: Floats
    spineless: bool = False


def rails(assumed: Assumed, fabric: Fabric) -> tuple[Link, Link]:
    """Link outwards for rings and neighbours, and the same under all-to-all traffic."""
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
    step = assumed(f"scale_out_hop_s_{step_kind(behaviour.item.id)}") + assumed.use(hop) * 1e-6

    def outside(crossing: Floats) -> Link:
        rate = scale_out_bytes_per_s(
            nic_bytes_per_s=fabric.nic_bytes_per_s,
            host_bytes_per_s=fabric.host_bytes_per_s,
            nic_efficiency_fraction=assumed("nic_efficiency_fraction"),
            spine_efficiency_fraction=assumed.use(efficiency) / reference,
            oversubscription=fabric.oversubscription,
            crossing_fraction=np.zeros(1) if fabric.spineless else crossing,
        )
        return Link(rate, assumed("scale_out_start_s"), step, assumed("scale_out_half_rate_bytes"))

    nodes, leaf_nodes = fabric.nodes, fabric.leaf_nodes
    return (
        outside(ring_crossing_fraction(nodes=nodes, nodes_per_leaf=leaf_nodes)),
        outside(uniform_crossing_fraction(nodes=nodes, nodes_per_leaf=leaf_nodes)),
    )


def step_kind(behaviour_id: str) -> str:
    """Kind of network by which the time of one step is known.

    >>> step_kind("efa-srd"), step_kind("spectrum-x")
    ('efa', 'infiniband')
    """
    return "efa" if behaviour_id.startswith("efa") else "infiniband"
