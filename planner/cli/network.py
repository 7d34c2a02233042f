"""The fabric command: a network without a scenario."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from planner.catalog.schema import Fabric, Nic, Switch
from planner.catalog.store import Catalog, open_catalog
from planner.choices import Topology
from planner.design.cluster import switch_ports
from planner.design.fabric import FabricRequest, design_fabric
from planner.errors import InputError, Problem, nearest

TYPICAL_NIC = {
    (Fabric.INFINIBAND, 50.0): "connectx-6-200g",
    (Fabric.INFINIBAND, 100.0): "connectx-7-400g",
    (Fabric.INFINIBAND, 200.0): "connectx-8-800g",
    (Fabric.ETHERNET, 50.0): "connectx-6-200g",
    (Fabric.ETHERNET, 100.0): "connectx-7-400g",
    (Fabric.ETHERNET, 200.0): "connectx-9-800g",
}


def design_alone(
    *,
    switch: str,
    gpus: int | None,
    nodes: int | None,
    gpus_per_node: int,
    nics_per_node: int | None,
    rails: int | None,
    planes: int,
    topology: str,
    oversubscription: float,
    reserved_ports: int | None,
    nic: str | None,
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Design and print.

    Raises:
        InputError: Wrong or missing options, all of them.
        DesignError: It can't be built.
    """
    if (gpus is None) == (nodes is None):
        raise InputError(Problem("give either --gpus or --nodes"))
    known = [one.value for one in Topology]
    if topology not in known:
        raise InputError(
            Problem(
                f"no topology '{topology}'", remedy=nearest(topology, known) or f"one of {', '.join(known)}"
            )
        )
    shelf = open_catalog(catalog)
    ports = shelf.entry(Switch, switch)
    fabric = ports.item.fabric
    chosen = nic or TYPICAL_NIC.get((fabric, ports.item.lane_rate_gbit_per_s))
    if chosen is None:
        raise InputError(
            Problem(
                f"no usual NIC is known for '{switch}'",
                key="--nic",
                remedy="name one: planner catalog list nics",
            )
        )
    rate = _nic_rate(shelf, chosen)
    if reserved_ports is None:
        default = shelf.figure("network", "ufm_links_per_fabric_count")[0].value
        reserved_ports = int(default) if fabric is Fabric.INFINIBAND else 0
    built = design_fabric(
        FabricRequest(
            gpus=gpus if gpus is not None else (nodes or 0) * gpus_per_node,
            gpus_per_node=gpus_per_node,
            nics_per_node=gpus_per_node if nics_per_node is None else nics_per_node,
            nic_rate_gbit_per_s=rate,
            leaf=switch_ports(ports),
            topology=Topology(topology),
            rails=rails,
            planes=planes,
            oversubscription=oversubscription,
            reserved_ports=reserved_ports,
        )
    )
    if as_json:
        print(json.dumps(built.to_json(), indent=1))
        return 0
    print(f"{ports.item.name}, {rate / planes:g} Gbit/s links, NIC {chosen}")
    width = max(len(key) for key in built.to_json())
    for key, count in built.to_json().items():
        print(f"{key.removesuffix('_count').replace('_', ' '):<{width}} {count:>9,}")
    for sentence in built.why:
        print(sentence)
    return 0


def _nic_rate(catalog: Catalog, nic: str) -> float:
    item = catalog.get(Nic, nic)
    return item.port_rate_gbit_per_s.value * item.ports
