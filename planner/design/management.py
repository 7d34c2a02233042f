"""Servers that run the cluster: fabric managers, head nodes; and the 1G ports that reach every box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Management:
    """What runs the cluster beside the nodes.

    Attributes:
        servers: Head nodes, schedulers and the like on the in-band network.
        fabric_managers: Appliances of the compute fabric, with the ports kept for them.
        storage_managers: Appliances of a storage network on InfiniBand.
    """

    servers: int
    fabric_managers: int
    storage_managers: int
    why: str

    @property
    def managers(self) -> int:
        """Appliances of all fabrics."""
        return self.fabric_managers + self.storage_managers


def design_management(
    *,
    nodes: int,
    inband: bool,
    servers_wanted: int,
    managers_per_fabric: int,
    fabrics: int,
    fabric_links: int,
    storage_links: int = 0,
) -> Management:
    """Management servers of a cluster of several nodes, and two managers to each InfiniBand fabric.

    One node alone needs neither; servers need an in-band network. A fabric without ports kept for managers is
    run by a manager on a switch.

    Args:
        nodes: Nodes of the cluster.
        inband: Whether there is an in-band network.
        servers_wanted: Management servers of a cluster.
        managers_per_fabric: Appliances of one InfiniBand fabric.
        fabrics: Planes of the compute fabric.
        fabric_links: Ports of the compute fabric kept for managers, all planes together; 0 on Ethernet.
        storage_links: The same of the storage network.

    >>> design_management(nodes=127, inband=True, servers_wanted=5, managers_per_fabric=2, fabrics=1,
    ...     fabric_links=4).managers
    2
    """
    servers = servers_wanted if inband and nodes > 1 else 0
    compute = min(managers_per_fabric * fabrics, fabric_links)
    storage = min(managers_per_fabric, storage_links)
    said = []
    if servers:
        said.append(f"{servers:,} management servers, as in a published pod.")
    if compute + storage:
        said.append(
            f"{compute + storage:,} fabric managers on {fabric_links + storage_links:,} ports kept for them."
        )
    return Management(servers, compute, storage, " ".join(said) or "Nothing is bought to run the cluster.")


@dataclass(frozen=True, slots=True)
class Consoles:
    """Items of one kind with management ports: BMCs, switches' consoles, power strips."""

    kind: str
    items: int
    ports_each: int

    @property
    def ports(self) -> int:
        """Ports of all of them."""
        return self.items * self.ports_each


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePorts:
    """1G ports of one box of each sort."""

    node: int
    server: int
    switch: int
    storage_block: int
    rack: int


def consoles(
    ports: ConsolePorts,
    *,
    nodes: int,
    management: Management,
    switches: Sequence[tuple[str, int]],
    storage_blocks: int = 0,
    racks: int = 0,
) -> tuple[Consoles, ...]:
    """Everything that the out-of-band network reaches; kinds of which there are none are left out.

    The published pod of four nodes, with two fabric and two in-band switches, has 29 cables:

    >>> each = ConsolePorts(node=4, server=1, switch=2, storage_block=2, rack=0)
    >>> found = consoles(each, nodes=4, management=Management(5, 0, 0, ""),
    ...     switches=(("leaf", 2), ("inband", 2)))
    >>> sum(one.ports for one in found)
    29
    """
    found = [
        Consoles("node", nodes, ports.node),
        Consoles("management", management.servers, ports.server),
        Consoles("ufm", management.managers, ports.server),
        Consoles("block", storage_blocks, ports.storage_block),
        *(Consoles(kind, count, ports.switch) for kind, count in switches),
        Consoles("rack", racks, ports.rack),
    ]
    return tuple(one for one in found if one.ports)
