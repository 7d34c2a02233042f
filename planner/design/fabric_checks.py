"""Refusals of numbers that describe no cluster, and the defaults that a topology brings."""

from __future__ import annotations

from dataclasses import replace

from planner.choices import Topology
from planner.design.fabric_parts import FabricRequest
from planner.design.ports import refusal

TOR_PAIR = 2
"""Leaves that a NIC is on, and planes above them, in a dual-tor network."""
WITHOUT_SWITCHES = (Topology.TORUS, Topology.DIRECT)


def as_topology_wants(request: FabricRequest) -> FabricRequest:
    """The request with what its topology implies: a dual-tor network has two planes, one for each leaf of a NIC.

    A NIC has a port for each, or its one connector is split (`nic_ports`).

    >>> from planner.design.ports import SwitchPorts
    >>> asked = FabricRequest(gpus=64, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0,
    ...     leaf=SwitchPorts("s", 64, 800.0, 4), topology=Topology.DUAL_TOR)
    >>> as_topology_wants(asked).planes, as_topology_wants(asked).link_rate_gbit_per_s
    (2, 200.0)
    """
    if request.topology is not Topology.DUAL_TOR:
        return request
    if request.planes not in (1, TOR_PAIR):
        raise refusal(
            f"a dual-tor network has {TOR_PAIR} planes, {request.planes:,} asked",
            f"{TOR_PAIR} planes",
            "topology rail-optimised, which takes any number of planes",
            key="network.planes",
        )
    return replace(request, planes=TOR_PAIR)


def connectors(topology: Topology, planes: int, ports: int) -> int:
    """Connectors of a NIC that have planes of their own: its ports where the planes divide over them, else 1.

    >>> connectors(Topology.DUAL_TOR, 1, 2), connectors(Topology.RAIL_OPTIMISED, 1, 2)
    (2, 1)
    """
    planes = TOR_PAIR if topology is Topology.DUAL_TOR else planes
    return ports if planes > 1 and planes % ports == 0 else 1


def check_request(request: FabricRequest) -> None:
    """Refuse numbers that describe no cluster."""
    _check_counts(request)
    _check_ratios(request)
    _check_nodes(request)
    _check_nics(request)


def _check_counts(request: FabricRequest) -> None:
    positive = {
        "gpus": request.gpus,
        "gpus_per_node": request.gpus_per_node,
        "planes": request.planes,
        "nic_ports": request.nic_ports,
        "rails": request.rails_built,
    }
    for name, value in positive.items():
        if value < 1:
            raise refusal(f"{name} needs 1 or more, has {value:,}", f"{name} of 1 or more")
    if not 1 <= request.tiers_max <= 3:
        raise refusal(f"1 to 3 tiers can be designed, {request.tiers_max} asked", "tiers_max of 1 to 3")


def _check_ratios(request: FabricRequest) -> None:
    for tier, ratio in (("leaf", request.oversubscription), ("spine", request.spine_oversubscription)):
        if ratio < 1.0:
            name = "oversubscription" if tier == "leaf" else "oversubscription of the spines"
            raise refusal(
                f"{name} needs 1.0 or more, has {ratio:g}",
                "1.0, which is non-blocking",
                key=f"network.{tier}.oversubscription",
            )


def _check_nodes(request: FabricRequest) -> None:
    per_node = request.gpus_per_node
    for gpus, key in ((request.gpus, "cluster.gpus"), (request.grow_to_gpus or 0, "network.grow_to_gpus")):
        whole, rest = divmod(gpus, per_node)
        if whole and rest:
            raise refusal(
                f"{gpus:,} GPUs fill no whole number of nodes of {per_node:,}",
                f"{whole * per_node:,} GPUs",
                f"{(whole + 1) * per_node:,} GPUs",
                key=key,
            )
    if request.grow_to_gpus is not None and request.grow_to_gpus < request.gpus:
        raise refusal(
            f"a network laid out for {request.grow_to_gpus:,} GPUs can't hold {request.gpus:,}",
            f"growth to {request.gpus:,} GPUs or more",
            f"{request.grow_to_gpus:,} GPUs or fewer now",
            key="network.grow_to_gpus",
        )


def _check_nics(request: FabricRequest) -> None:
    if request.topology not in WITHOUT_SWITCHES and request.nics_per_node % request.rails_built:
        raise refusal(
            f"{request.nics_per_node:,} NICs of a node can't be spread evenly over "
            f"{request.rails_built:,} rails",
            f"{request.nics_per_node:,} rails",
            "1 rail",
            key="network.rails",
        )
    if request.planes % min(request.nic_ports, request.planes):
        raise refusal(
            f"{request.planes:,} planes can't be spread evenly over {request.nic_ports:,} ports of a NIC",
            f"{request.nic_ports:,} planes",
            key="network.planes",
        )
