"""The fabric command: a network without a scenario."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.catalog.schema import Fabric, Nic, Switch
from planner.catalog.store import Catalog, open_catalog
from planner.choices import Topology
from planner.cli.network_text import beside_text, design_json, design_text
from planner.design.beside import switch_ports
from planner.design.beside_checks import takes_consoles
from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, design_fabric
from planner.design.fabric_checks import TOR_PAIR, WITHOUT_SWITCHES, connectors
from planner.design.pod import design_pod
from planner.errors import CatalogError, DesignError, InputError, Problem, nearest
from planner.scenario.parts import nic_lanes

PAIRED_AS = (Topology.RAIL_OPTIMISED, Topology.FAT_TREE, Topology.SINGLE_SWITCH)
"""Topologies that one switch stands for, and so a pair of them."""
TYPICAL_NIC = {
    (Fabric.INFINIBAND, 50.0): "connectx-6-200g",
    (Fabric.INFINIBAND, 100.0): "connectx-7-400g",
    (Fabric.INFINIBAND, 200.0): "connectx-8-800g",
    (Fabric.ETHERNET, 50.0): "connectx-6-200g",
    (Fabric.ETHERNET, 100.0): "connectx-7-400g",
    (Fabric.ETHERNET, 200.0): "connectx-9-800g",
}


OPTIONS = {
    "cluster.gpus": "--gpus", "network.rails": "--rails", "network.planes": "--planes",
    "network.topology": "--topology", "network.grow_to_gpus": "--grow-to", "network.inband": "--inband",
    "network.oob": "--oob", "network.reserved_ports": "--reserved-ports",
    "network.leaf.oversubscription": "--oversubscription",
    "network.spine.oversubscription": "--spine-oversubscription", "network": "",
}  # fmt: skip
"""The option that stands for a scenario's field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAsked:
    """The fabric command's options; what is None takes its default from the catalog or the topology.

    Attributes:
        tor: Leaf switches that a NIC is on: 1, or 2 for a dual-tor network.
        domain_gpus: GPUs of a scale-up domain; a node's by default.
        paired: Two switches joined directly where one would do.
        management: Count the networks beside the fabric too, on switches `inband` and `oob`.
    """

    switch: str
    gpus: int | None
    nodes: int | None
    gpus_per_node: int
    nics_per_node: int | None
    rails: int | None
    planes: int
    topology: str
    oversubscription: float
    reserved_ports: int | None
    nic: str | None
    spine_oversubscription: float = 1.0
    tor: int = 1
    grow_to: int | None = None
    domain_gpus: int | None = None
    paired: bool = False
    management: bool = False
    inband: str = "sn4700"
    oob: str = "sn2201"


def design_alone(asked: NetworkAsked, *, catalog: Sequence[Path], as_json: bool) -> int:
    """Design and print.

    Raises:
        InputError: Wrong or missing options, all of them.
        DesignError: It can't be built.
    """
    shelf = open_catalog(catalog)
    topology = _checked(asked, shelf)
    ports = shelf.entry(Switch, asked.switch)
    chosen = asked.nic or TYPICAL_NIC.get((ports.item.fabric, ports.item.lane_rate_gbit_per_s))
    if chosen is None:
        raise InputError(
            Problem(
                f"no usual NIC is known for '{asked.switch}'",
                key="--nic",
                remedy="name one: planner catalog list nics",
            )
        )
    nic = shelf.get(Nic, chosen)
    _check_nic(asked, ports.item, nic)
    try:
        built = design_fabric(_request(asked, topology, shelf, switch_ports(ports), nic))
    except DesignError as error:
        said = (replace(one, key=OPTIONS.get(one.key, one.key)) for one in error.problems)
        raise DesignError(said) from error
    beside = _beside(asked, shelf, built, nic)
    if as_json:
        print(json.dumps(design_json(built) | beside, indent=1))
        return 0
    print(f"{ports.item.name}, {built.request.link_rate_gbit_per_s:g} Gbit/s links, NIC {chosen}")
    for line in (*design_text(built), *beside_text(beside)):
        print(line)
    return 0


def _beside(asked: NetworkAsked, shelf: Catalog, built: FabricDesign, nic: Nic) -> dict[str, int]:
    """Counts of what stands beside the fabric, where they are asked for."""
    if not asked.management:
        return {}
    inband, oob = shelf.entry(Switch, asked.inband), shelf.entry(Switch, asked.oob)
    return design_pod(shelf, fabric=built, inband=inband, oob=oob, nic=nic).to_json()


def _checked(asked: NetworkAsked, shelf: Catalog) -> Topology:
    problems = _missing(asked, shelf)
    if (asked.gpus is None) == (asked.nodes is None):
        problems.append(Problem("give either --gpus or --nodes"))
    known = [one.value for one in Topology]
    if asked.topology not in known:
        remedy = nearest(asked.topology, known) or f"one of {', '.join(known)}"
        problems.append(Problem(f"no topology '{asked.topology}'", remedy=remedy))
    elif asked.tor == TOR_PAIR and asked.topology not in {Topology.RAIL_OPTIMISED, Topology.DUAL_TOR}:
        problems.append(
            Problem(f"--tor {TOR_PAIR} and --topology {asked.topology} exclude each other", remedy="give one")
        )
    elif asked.paired and asked.topology not in PAIRED_AS:
        problems.append(
            Problem(f"--paired and --topology {asked.topology} exclude each other", remedy="give one")
        )
    if problems:
        raise InputError(problems)
    return Topology.DUAL_TOR if asked.tor == TOR_PAIR else Topology(asked.topology)


def _missing(asked: NetworkAsked, shelf: Catalog) -> list[Problem]:
    """Parts that the catalog doesn't have, and switches that the networks beside the fabric can't be built on."""
    wanted: list[tuple[str, type[Switch] | type[Nic], str | None]] = [
        ("--switch", Switch, asked.switch), ("--nic", Nic, asked.nic),
    ]  # fmt: skip
    if asked.management:
        wanted += [("--inband", Switch, asked.inband), ("--oob", Switch, asked.oob)]
    problems: list[Problem] = []
    for option, kind, name in wanted:
        try:
            item = shelf.get(kind, name) if name is not None else None
        except CatalogError as error:
            problems += [Problem(one.message, one.place, option, one.remedy) for one in error.problems]
            continue
        if option == "--oob" and isinstance(item, Switch) and not takes_consoles(item):
            problems.append(Problem(f"'{item.id}' has no ports of 1 Gbit/s", key=option, remedy="sn2201 has"))
        elif option == "--inband" and isinstance(item, Switch) and item.fabric is not Fabric.ETHERNET:
            problems.append(
                Problem(f"'{item.id}' speaks {item.fabric}", key=option, remedy="an Ethernet switch")
            )
    return problems


def _check_nic(asked: NetworkAsked, switch: Switch, nic: Nic) -> None:
    """The NIC speaks the switch's protocol, and its lanes divide over the planes.

    Raises:
        InputError: What doesn't fit, all of it.
    """
    problems = []
    if switch.fabric not in nic.fabrics:
        problems.append(
            Problem(
                f"'{nic.id}' speaks {', '.join(nic.fabrics)}, and '{switch.id}' {switch.fabric}",
                key="--nic",
                remedy="choose another NIC or switch",
            )
        )
    lanes = nic_lanes(nic)
    if lanes % asked.planes:
        fits = [str(planes) for planes in range(1, lanes + 1) if lanes % planes == 0]
        problems.append(
            Problem(
                f"{asked.planes} planes don't divide the {lanes} lanes of '{nic.id}'",
                key="--planes",
                remedy=f"choose from {', '.join(fits)}",
            )
        )
    if problems:
        raise InputError(problems)


def _request(
    asked: NetworkAsked, topology: Topology, shelf: Catalog, leaf: SwitchPorts, nic: Nic
) -> FabricRequest:
    reserved = asked.reserved_ports
    if reserved is None:
        default = shelf.figure("network", "ufm_links_per_fabric_count")[0].value
        infiniband = shelf.get(Switch, asked.switch).fabric is Fabric.INFINIBAND
        reserved = int(default) if infiniband and topology not in WITHOUT_SWITCHES else 0
    per_node = asked.gpus_per_node
    return FabricRequest(
        gpus=asked.gpus if asked.gpus is not None else (asked.nodes or 0) * per_node,
        gpus_per_node=per_node,
        nics_per_node=per_node if asked.nics_per_node is None else asked.nics_per_node,
        nic_rate_gbit_per_s=nic.port_rate_gbit_per_s.value * nic.ports,
        leaf=leaf,
        topology=topology,
        rails=asked.rails,
        planes=asked.planes,
        nic_ports=connectors(topology, asked.planes, nic.ports),
        oversubscription=asked.oversubscription,
        spine_oversubscription=asked.spine_oversubscription,
        reserved_ports=reserved,
        scaleup_domain_gpus=asked.domain_gpus,
        grow_to_gpus=asked.grow_to,
        paired=asked.paired,
    )
