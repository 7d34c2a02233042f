"""Everything beside the GPUs' fabric: in-band, storage and out-of-band networks, and the servers that manage it all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.catalog.schema import Appliance, Fabric, Nic, Switch
from planner.catalog.store import Catalog, Entry
from planner.design.fabric_parts import FabricDesign
from planner.design.frontend import (
    OutOfBandNetwork,
    PairedNetwork,
    PairedRequest,
    design_out_of_band,
    design_paired,
)
from planner.design.management import ConsolePorts, Consoles, Management, consoles, design_management
from planner.design.ports import SwitchPorts, refusal
from planner.design.storage import StoragePlan, block_ports, plan_storage
from planner.errors import Remedy
from planner.scenario.parts import GroupParts, Parts

MANAGEMENT_SERVER = "management-server"
FABRIC_MANAGER = "ufm-enterprise-appliance"
"""Appliances that are bought, items of the catalog."""
UPLINK_RATE_GBIT_PER_S = 100.0
"""Rate of an out-of-band switch's uplinks where the catalog has none."""
FRESH_PCIE_GEN = 6
"""PCIe generation of the adapters of servers that get the faster front-end links: the host's age shows there."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Networks beside the fabric, and what hangs on them.

    Attributes:
        storage_network: A storage network of its own; None where storage is on the in-band network.
        host_ports: Network ports of a node or a management server on one network.
        block_ports: Network ports of a storage block.
        storage_manager_links: Ports of the storage network kept for fabric managers.
        consoles: What the out-of-band network reaches; power strips once racks are known.
        uplink_rate_gbit_per_s: Rate of a link from an out-of-band switch up.
    """

    storage: StoragePlan | None
    inband: PairedNetwork | None
    storage_network: PairedNetwork | None
    oob: OutOfBandNetwork | None
    management: Management
    host_ports: int
    block_ports: int
    storage_manager_links: int
    consoles: tuple[Consoles, ...]
    uplink_rate_gbit_per_s: float

    @property
    def switch_counts(self) -> tuple[tuple[str, int], ...]:
        """Switches of the paired networks by kind, those of no count left out."""
        found = []
        for name, network in (("inband", self.inband), ("storage", self.storage_network)):
            if network is not None:
                found += [
                    (name, network.leaves),
                    (f"{name}-spine", network.spines),
                    (f"{name}-core", network.cores),
                ]
        return tuple((kind, count) for kind, count in found if count)


def switch_ports(entry: Entry[Switch]) -> SwitchPorts:
    """Front of a catalog switch for the networks' designers."""
    item = entry.item
    return SwitchPorts(
        item.id, item.cages, item.cage_rate_gbit_per_s, item.links_per_cage_max,
        ports_per_cage=item.ports_per_cage, pluggable=item.optics is None,
    )  # fmt: skip


def design_beside(
    parts: Parts, nodes: int, fabric: FabricDesign, *, racks: int = 0, oob_least: int = 0
) -> Beside:
    """Design the networks beside the fabric.

    In-band and storage links are two to a node, one to each switch of a pair, at the rate of the server's class
    that its front-end adapter and the switch carry.

    Args:
        parts: What the scenario names.
        nodes: Nodes of the fabric: servers, or trays of rack-scale systems.
        fabric: The compute fabric; its switches have consoles and its reserved ports have managers.
        racks: Racks whose power strips are reached out of band; 0 while they aren't known.
        oob_least: Out-of-band switches at least, for every hall to have its own.

    Raises:
        DesignError: A switch has too few ports, nodes have too few for two networks, or nothing joins storage.
    """
    catalog, own = parts.catalog, parts.storage_switch
    storage = plan_storage(parts, nodes)
    if own is not None and storage is not None:
        _check_node_ports(parts, own)
    kept = _kept_ports(parts) if own is not None and storage is not None else 0
    management = design_management(
        nodes=nodes, inband=parts.inband is not None,
        servers_wanted=int(_figure(catalog, "management_servers_count")),
        managers_per_fabric=int(_figure(catalog, "ufm_appliances_per_fabric_count")),
        fabrics=fabric.planes, fabric_links=fabric.reserved_links, storage_links=kept,
    )  # fmt: skip
    carrier = own or parts.inband
    if storage is not None and carrier is None and nodes > 1:
        raise refusal(
            f"storage is to serve {nodes:,} nodes, and no network joins it to them",
            Remedy("an in-band network", ("network", "inband"), "sn4700"),
            Remedy("a storage network of its own", ("network", "storage", "switch"), "sn4700"),
            key="network.inband",
        )
    each = 0
    if storage is not None and carrier is not None:
        fastest = max(storage.each.read_gbyte_per_s, storage.each.write_gbyte_per_s)
        each = block_ports(block_gbyte_per_s=fastest, rate_gbit_per_s=frontend_rate(parts, carrier))
    block_links = each * storage.blocks if storage is not None else 0
    made = Beside(
        storage=storage, inband=None, storage_network=None, oob=None, management=management,
        host_ports=_host_ports(catalog), block_ports=each, storage_manager_links=kept, consoles=(),
        uplink_rate_gbit_per_s=_uplink_rate(parts),
    )  # fmt: skip
    if own is not None and storage is not None:
        made = replace(made, storage_network=_paired(parts, "storage", own, nodes, block_links + kept))
    extra = 0 if own is not None else block_links
    return _with_inband(made, parts, nodes, fabric, extra_ports=extra, racks=racks, oob_least=oob_least)


def _with_inband(
    made: Beside,
    parts: Parts,
    nodes: int,
    fabric: FabricDesign,
    *,
    extra_ports: int,
    racks: int,
    oob_least: int,
) -> Beside:
    """Add in-band and out-of-band; each needs the other's counts, which settle in a few rounds."""
    hosts = nodes + made.management.servers
    uplinks = 0
    for _ in range(8):
        if parts.inband is not None:
            made = replace(made, inband=_paired(parts, "inband", parts.inband, hosts, extra_ports + uplinks))
        if parts.oob is None:
            return made
        reached = _consoles(parts, made, nodes, fabric, racks)
        oob = _out_of_band(parts, reached, parts.oob, oob_least)
        made = replace(made, oob=oob, consoles=reached)
        if oob.uplinks == uplinks:
            return made
        uplinks = oob.uplinks
    return made


def _paired(parts: Parts, name: str, entry: Entry[Switch], hosts: int, extra: int) -> PairedNetwork:
    catalog = parts.catalog
    ratio = "storage_network_oversubscription_ratio" if name == "storage" else "inband_oversubscription_ratio"
    return design_paired(
        PairedRequest(
            id=name, hosts=hosts, port_rate_gbit_per_s=frontend_rate(parts, entry), leaf=switch_ports(entry),
            ports_per_host=_host_ports(catalog),
            peer_links=int(_figure(catalog, "inband_peer_links_count")),
            oversubscription=_figure(catalog, ratio), extra_ports=extra,
        )
    )  # fmt: skip


def _out_of_band(
    parts: Parts, reached: tuple[Consoles, ...], entry: Entry[Switch], least: int
) -> OutOfBandNetwork:
    wanted = int(_figure(parts.catalog, "oob_uplinks_per_switch_count"))
    return design_out_of_band(
        cables=sum(one.ports for one in reached), ports_per_switch=entry.item.cages,
        uplinks_per_switch=wanted if parts.inband is not None else 0,
        spare_fraction=_figure(parts.catalog, "oob_spare_ports_fraction"), switches_least=least,
    )  # fmt: skip


def _consoles(
    parts: Parts, made: Beside, nodes: int, fabric: FabricDesign, racks: int
) -> tuple[Consoles, ...]:
    own = (("leaf", fabric.leaves), ("spine", fabric.spines), ("core", fabric.cores))
    return consoles(
        console_ports(parts.catalog), nodes=nodes, management=made.management,
        switches=(*own, *made.switch_counts),
        storage_blocks=made.storage.blocks if made.storage is not None else 0, racks=racks,
    )  # fmt: skip


def console_ports(catalog: Catalog) -> ConsolePorts:
    """1G ports of one box of each sort, as the catalog has them."""
    kinds = ("node", "server", "switch", "storage_block", "rack")
    return ConsolePorts(**{kind: int(_figure(catalog, f"oob_links_per_{kind}_count")) for kind in kinds})


def _figure(catalog: Catalog, key: str) -> float:
    return catalog.figure("network", key)[0].value


def _host_ports(catalog: Catalog) -> int:
    return int(_figure(catalog, "north_south_links_per_node_count"))


def class_rate_key(nic: Nic) -> str:
    """Name of the figure with the front-end rate of servers whose fabric adapter is this."""
    fresh = (nic.pcie_gen or 0) >= FRESH_PCIE_GEN
    return f"north_south_hgx_{'b300' if fresh else 'h100'}_link_gbit_per_s"


def rate_key(parts: Parts) -> str:
    """Name of the figure with the front-end rate of the scenario's servers, by the adapter they come with; of several
    kinds the slowest, as a pair of switches has ports of one rate."""
    keys = [class_rate_key(parts.catalog.get(Nic, one.server.item.compute_nics.nic)) for one in parts.kinds]
    return min(keys, key=lambda key: _figure(parts.catalog, key))


def frontend_nic(parts: Parts) -> Entry[Nic] | None:
    """The servers' front-end adapter, of several kinds the slowest; None where the catalog names none and the servers
    have ports of their own."""
    found = [nic for one in parts.kinds if (nic := _own_frontend(parts, one)) is not None]
    return min(found, key=lambda nic: nic.item.port_rate_gbit_per_s.value, default=None)


def _own_frontend(parts: Parts, kind: GroupParts) -> Entry[Nic] | None:
    slot = kind.server.item.frontend_nics
    return None if slot is None else parts.catalog.entry(Nic, slot.nic)


def frontend_rate(parts: Parts, entry: Entry[Switch]) -> float:
    """Rate of a node's link, Gbit/s one direction: the class's, bounded by the adapter's port and the switch's cage."""
    nic = frontend_nic(parts)
    bounds = [_figure(parts.catalog, rate_key(parts)), entry.item.cage_rate_gbit_per_s]
    return min(*bounds, *([nic.item.port_rate_gbit_per_s.value] if nic is not None else []))


def _uplink_rate(parts: Parts) -> float:
    own = parts.oob.item.uplink_rate_gbit_per_s if parts.oob is not None else None
    return own or UPLINK_RATE_GBIT_PER_S


def _kept_ports(parts: Parts) -> int:
    """Ports that managers take on a storage network of InfiniBand."""
    own = parts.storage_switch
    if own is None or own.item.fabric is not Fabric.INFINIBAND:
        return 0
    return int(_figure(parts.catalog, "ufm_links_per_fabric_count"))


def _check_node_ports(parts: Parts, own: Entry[Switch]) -> None:
    """Two networks take the ports of two; every adapter has to speak the storage network's protocol.

    Raises:
        DesignError: Too few ports, or another protocol.
    """
    for kind in parts.kinds:
        nic = _own_frontend(parts, kind)
        if nic is not None:
            _check_ports_of(parts, own, kind, nic)


def _check_ports_of(parts: Parts, own: Entry[Switch], kind: GroupParts, nic: Entry[Nic]) -> None:
    if own.item.fabric not in nic.item.fabrics:
        raise refusal(
            f"'{own.item.id}' speaks {own.item.fabric}, and front-end adapter '{nic.item.id}' speaks "
            f"{', '.join(nic.item.fabrics)}",
            "a storage switch of that protocol",
            key="network.storage.switch",
        )
    links = _host_ports(parts.catalog)
    needed, has = links * (2 if parts.inband is not None else 1), _node_ports(kind, nic)
    if has < needed:
        raise refusal(
            f"a node of '{kind.server.item.id}' has {has:,} front-end ports, and in-band and storage networks "
            f"of their own take {needed:,}",
            Remedy("storage on the in-band network", ("network", "storage", "switch")),
            "a server with more front-end adapters",
            key="network.storage.switch",
        )


def _node_ports(group: GroupParts, nic: Entry[Nic]) -> int:
    server = group.server.item
    slot = server.frontend_nics
    assert slot is not None
    nodes = server.trays if server.is_rack and server.trays else 1
    return slot.count * nic.item.ports // nodes


def appliances(parts: Parts, made: Beside) -> tuple[tuple[str, Entry[Appliance], int], ...]:
    """Kind, item and count of the servers that manage the cluster; kinds of none are left out."""
    management = made.management
    wanted = (
        ("management", MANAGEMENT_SERVER, management.servers),
        ("ufm", FABRIC_MANAGER, management.managers),
    )
    return tuple(
        (kind, parts.catalog.entry(Appliance, item_id), count) for kind, item_id, count in wanted if count
    )
