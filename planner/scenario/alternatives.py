"""Parts of the catalog that could stand in a part's place: cooling methods, switches, servers.

They are read through a catalog of their own, so that looking for remedies doesn't change what a report says
it rests on.
"""

from __future__ import annotations

from math import floor
from typing import TypeVar

from planner.catalog.item import Item
from planner.catalog.schema import Accelerator, CoolingType, Fabric, Server, Switch
from planner.catalog.store import Catalog
from planner.errors import CatalogError
from planner.scenario.parts import Parts
from planner.units import MIB

T = TypeVar("T", bound=Item)


def beside(catalog: Catalog) -> Catalog:
    """The same folders, read apart."""
    return Catalog(catalog.folders)


def coolings(shelf: Catalog, parts: Parts, *, kw: float = 0.0, liquid: bool = False) -> list[CoolingType]:
    """Other cooling methods that take a rack of so many kW, and liquid where it is wanted, the least capable first."""
    fits = [
        one
        for one in _all(shelf, CoolingType)
        if one.id != parts.cooling.item.id
        and (one.liquid or not liquid)
        and (one.rack_limit_kw is None or one.rack_limit_kw.value >= kw)
    ]
    return sorted(fits, key=lambda one: (one.rack_limit_kw.value if one.rack_limit_kw else 1e9, one.id))


def link_rate_gbit_per_s(parts: Parts) -> float:
    """Rate of one link of the fabric: the NIC's, over the planes it is split into."""
    nic = parts.groups[0].nic.item
    return nic.port_rate_gbit_per_s.value * nic.ports / parts.loaded.scenario.network.planes


def ports_of(switch: Switch, rate_gbit_per_s: float) -> int:
    """Ports of a switch at a link's rate; 0 where one link is faster than a cage."""
    fits = floor(switch.cage_rate_gbit_per_s / rate_gbit_per_s + 1e-9)
    return switch.cages * min(switch.links_per_cage_max, fits)


def switches(shelf: Catalog, parts: Parts, *, more_ports: bool = True) -> list[Switch]:
    """Other switches that can be ordered, of the same fabric and lane rate, the fewest ports first.

    Where the plan names none, those that the NIC can speak to.

    Args:
        more_ports: Only those with more ports at the link's rate than the leaf has.
    """
    rate, nic = link_rate_gbit_per_s(parts), parts.groups[0].nic.item
    now = parts.tiers[0].switch.item if parts.tiers else None
    fabrics = (now.fabric,) if now is not None else nic.fabrics
    lane = now.lane_rate_gbit_per_s if now is not None else nic.lane_rate_gbit_per_s
    least = ports_of(now, rate) if now is not None and more_ports else 0
    fits = [
        one
        for one in _all(shelf, Switch)
        if (now is None or one.id != now.id)
        and one.fabric in fabrics
        and one.lane_rate_gbit_per_s == lane
        and ports_of(one, rate) > least
        and one.price_usd is not None
        and _orderable(one, parts)
    ]
    return sorted(fits, key=lambda one: (ports_of(one, rate), one.cooling.value, one.id))


def beside_switches(shelf: Catalog, parts: Parts, now: Switch) -> list[Switch]:
    """Ethernet switches that can be ordered and carry more than one beside the fabric does, the least first."""
    fits = [
        one
        for one in _all(shelf, Switch)
        if one.fabric is Fabric.ETHERNET
        and one.cages * one.cage_rate_gbit_per_s > now.cages * now.cage_rate_gbit_per_s
        and one.price_usd is not None
        and _orderable(one, parts)
    ]
    return sorted(fits, key=lambda one: (one.cages * one.cage_rate_gbit_per_s, one.cooling.value, one.id))


def servers_with_memory(shelf: Catalog, parts: Parts) -> list[tuple[Server, float]]:
    """Other servers that can be ordered whose accelerators have more memory, with its bytes, the least first."""
    now = parts.groups[0].accelerator.item.memory_mib.value
    found: list[tuple[Server, float]] = []
    sizes = {one.id: one.memory_mib.value for one in _all(shelf, Accelerator)}
    for server in _all(shelf, Server):
        memory = sizes.get(server.accelerator, 0.0)
        if memory > now and server.price_usd is not None and _orderable(server, parts):
            found.append((server, memory * MIB))
    return sorted(found, key=lambda one: (one[1], one[0].id))


def _orderable(item: T, parts: Parts) -> bool:
    """Whether a part can be ordered on the plan's date."""
    return item.orderable and (item.available is None or item.available <= parts.as_of[: len(item.available)])


def _all(shelf: Catalog, kind: type[T]) -> list[T]:
    """Items of a family that can be read: a broken one that the plan doesn't name is no remedy, and no problem."""
    found = []
    for item_id in shelf.ids(kind):
        try:
            found.append(shelf.get(kind, item_id))
        except CatalogError:
            continue
    return found
