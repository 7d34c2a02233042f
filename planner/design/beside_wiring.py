"""Which box is joined to which on the networks beside the fabric, in the same shape as the fabric's wiring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from planner.design.beside import Beside
from planner.design.clos import Clos
from planner.design.fabric_parts import FabricDesign
from planner.design.frontend import PairedNetwork
from planner.design.management import Consoles
from planner.design.racks import Ints, RackLayout
from planner.design.wiring import TierWiring, reserved_ports_at


class NetworkWiring(NamedTuple):
    """Bundles of one network: ports of its items are numbered over all of them."""

    network: str
    wirings: tuple[TierWiring, ...]


class Attached(NamedTuple):
    """Items of one kind on a paired network.

    Attributes:
        items: How many there are.
        ports: Ports of each, an even number.
        first: Number of the first of them.
    """

    kind: str
    items: int
    ports: int
    first: int = 0


def tier_name(lower: str, upper: str) -> str:
    """Name of the links between two kinds: both joined by the only hyphen.

    >>> tier_name("inband", "inband-spine"), tier_name("node", "oob")
    ('inband-inband.spine', 'node-oob')
    """
    return "-".join(kind.replace("-", ".") for kind in (lower, upper))


def beside_wiring(made: Beside, layout: RackLayout, nodes: int) -> tuple[NetworkWiring, ...]:
    """Every bundle of links beside the fabric: in-band, storage, out-of-band; managers see `manager_wiring`.

    Args:
        made: The networks.
        layout: Racks; out-of-band switches serve what stands near them.
        nodes: Nodes of the cluster.
    """
    blocks = made.storage.blocks if made.storage is not None else 0
    node, block = Attached("node", nodes, made.host_ports), Attached("block", blocks, made.block_ports)
    own = made.storage_network is not None
    found: list[tuple[str, Iterator[TierWiring]]] = []
    if made.inband is not None:
        hosts = [node, Attached("management", made.management.servers, made.host_ports)]
        hosts += [] if own else [block]
        if made.oob is not None:
            each = made.oob.uplinks // max(1, made.oob.switches)
            hosts.append(Attached("oob", made.oob.switches, each))
        found.append(("inband", _paired("inband", made.inband, hosts, layout)))
    if made.storage_network is not None:
        hosts = [node, block, *_storage_managers(made)]
        found.append(("storage", _paired("storage", made.storage_network, hosts, layout)))
    if made.oob is not None:
        found.append(("oob", _copper(made, layout)))
    return tuple(NetworkWiring(name, tuple(one for one in wired if one.total)) for name, wired in found)


def _storage_managers(made: Beside) -> list[Attached]:
    """Managers of the storage network, numbered after those of the compute fabric."""
    count, before = made.management.storage_managers, made.management.fabric_managers
    return [Attached("ufm", count, made.storage_manager_links // count, before)] if count else []


def _paired(
    name: str, network: PairedNetwork, hosts: Sequence[Attached], layout: RackLayout
) -> Iterator[TierWiring]:
    """Half of every item's ports on each switch of a pair; pairs take what stands near, in their hall if it has room."""
    item = [one.first + np.repeat(np.arange(one.items), one.ports // 2) for one in hosts]
    rack = np.concatenate([_racks_of(layout, one.kind)[mine] for one, mine in zip(hosts, item, strict=True)])
    pair = _pairs_near(layout, rack, _racks_of(layout, name)[: network.leaves : 2], network.ports_down)
    pairs = np.split(pair, np.cumsum([len(mine) for mine in item])[:-1])
    for one, mine, at in zip(hosts, item, pairs, strict=True):
        kind, both = one.kind, np.concatenate([mine, mine])
        leaf = np.concatenate([2 * at, 2 * at + 1])
        yield TierWiring(f"{kind}-{name}", kind, name, both, leaf, np.ones_like(both))
    if network.shape is not None:
        yield _up_to_spines(name, network.shape)
        if network.cores:
            yield _up_to_cores(name, network.shape)
    elif network.peer_links:
        zero = np.zeros(1, np.int64)
        yield TierWiring(f"{name}-{name}", name, name, zero, zero + 1, zero + network.peer_links)


def _pairs_near(layout: RackLayout, rack: Ints, own: Ints, most: int) -> Ints:
    """Pair of every place on the network: one in its hall as far as those have room, then whichever has room.

    Args:
        rack: Rack of what takes each place.
        own: Rack of the first switch of every pair.
        most: Places that a pair has.
    """
    hall, home = layout.hall[rack], layout.hall[own]
    pair = np.full(len(rack), -1)
    for each in np.unique(home):
        places, there = np.flatnonzero(hall == each), np.flatnonzero(home == each)
        places = places[_by_place(layout, rack[places])][: len(there) * most]
        pair[places] = there[np.arange(len(places)) * len(there) // max(1, len(places))]
    left = np.flatnonzero(pair < 0)
    room = np.repeat(np.arange(len(own)), most - np.bincount(pair[pair >= 0], minlength=len(own)))
    pair[left[_by_place(layout, rack[left])]] = room[: len(left)]
    return pair


def _up_to_spines(name: str, shape: Clos) -> TierWiring:
    """Every leaf with every spine of its pod."""
    leaf = np.arange(shape.leaves)
    pod = np.repeat(np.arange(len(shape.pods)), shape.pods)[leaf // shape.leaves_per_group]
    spine = pod[:, None] * shape.spines_per_pod + np.arange(shape.spines_per_pod)[None, :]
    lower = np.repeat(leaf, shape.spines_per_pod)
    links = np.full_like(lower, shape.links_per_leaf_spine)
    above = f"{name}-spine"
    return TierWiring(tier_name(name, above), name, above, lower, spine.ravel(), links)


def _up_to_cores(name: str, shape: Clos) -> TierWiring:
    """Spine j of every pod with the cores of group j."""
    spine = np.arange(shape.spines)
    pod, inside = spine // shape.spines_per_pod, spine % shape.spines_per_pod
    core = inside[:, None] * shape.cores_per_spine + np.arange(shape.cores_per_spine)[None, :]
    lower = np.repeat(spine, shape.cores_per_spine)
    links = shape.links_to_cores()[pod].ravel()
    below, above = f"{name}-spine", f"{name}-core"
    return TierWiring(tier_name(below, above), below, above, lower, core.ravel(), links)


def manager_wiring(made: Beside, fabric: FabricDesign) -> tuple[TierWiring, ...]:
    """Managers in turn, on the leaves whose ports are kept for them."""
    count = made.management.fabric_managers
    if not count or not fabric.leaves:
        return ()
    link, (leaf, _) = np.arange(fabric.reserved_links), reserved_ports_at(fabric)
    return (TierWiring("ufm-leaf", "ufm", "leaf", link % count, leaf, np.ones_like(link)),)


def _copper(made: Beside, layout: RackLayout) -> Iterator[TierWiring]:
    """Management ports in the order of their racks, shared out evenly over the switches in their hall."""
    assert made.oob is not None
    if not made.oob.switches:
        return
    item = [np.repeat(np.arange(len(at)), one.ports_each) for one, at in _placed(made, layout)]
    rack, own = _console_racks(made, layout), _racks_of(layout, "oob")
    hall, home = layout.hall[rack], layout.hall[own]
    if not np.isin(hall, home).all():
        hall, home = np.zeros_like(hall), np.zeros_like(home)
    switch = np.empty(len(rack), np.int64)
    for each in np.unique(hall):
        ports, there = np.flatnonzero(hall == each), np.flatnonzero(home == each)
        ports = ports[_by_place(layout, rack[ports])]
        there = there[_by_place(layout, own[there])]
        switch[ports] = there[np.arange(len(ports)) * len(there) // len(ports)]
    uppers = np.split(switch, np.cumsum([len(part) for part in item])[:-1])
    for one, mine, upper in zip(made.consoles, item, uppers, strict=True):
        yield TierWiring(tier_name(one.kind, "oob"), one.kind, "oob", mine, upper, np.ones_like(mine))


def oob_switches_needed(made: Beside, layout: RackLayout, ports_per_switch: int) -> int:
    """Out-of-band switches at which every hall has enough of its own, as far as shares can tell.

    Switches go to halls by their share of the nodes; a hall with much else needs more, and so do all.
    """
    if made.oob is None or not made.oob.switches or not layout.hall.any():
        return 0
    halls = int(layout.hall.max()) + 1
    wanted = np.bincount(layout.hall[_console_racks(made, layout)], minlength=halls)
    there = np.bincount(layout.hall[_racks_of(layout, "oob")], minlength=halls)
    short = wanted > there * ports_per_switch
    if not short.any():
        return 0
    factor = np.ceil(wanted[short] / ports_per_switch) / np.maximum(there[short], 0.5)
    return int(np.ceil(made.oob.switches * factor.max()))


def _console_racks(made: Beside, layout: RackLayout) -> Ints:
    """Rack of every management port."""
    return np.concatenate([np.repeat(at, one.ports_each) for one, at in _placed(made, layout)])


def _placed(made: Beside, layout: RackLayout) -> list[tuple[Consoles, Ints]]:
    """What has management ports, with the rack of each item."""
    return [(one, _racks_of(layout, one.kind)[: one.items]) for one in made.consoles]


def _racks_of(layout: RackLayout, kind: str) -> Ints:
    return np.arange(layout.racks) if kind == "rack" else layout.stand(kind).rack


def _by_place(layout: RackLayout, rack: Ints) -> Ints:
    """Order along the rows, one row after the other."""
    return np.lexsort((layout.x_m[rack], layout.y_m[rack]))
