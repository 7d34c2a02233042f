"""Racks on the floor: how many, what stands in each, and where.

A server rack holds what its units, power and weight allow; a rack-scale system is a rack of its own.
Switches near the servers are spread over the rows; central ones (the top tier) stand in the rows
nearest the middle of the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.design.ports import refusal

Ints = NDArray[np.int64]
"""Indices, one for each item."""


class NetworkPlace(StrEnum):
    """Where in a row the network racks stand."""

    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class RackLimits:
    """What one rack takes; `reserved_units` are for power strips, patch panels and the like."""

    rack_units: int
    power_kw: float
    weight_kg: float | None = None
    reserved_units: int = 0

    @property
    def usable_units(self) -> int:
        """Units left for equipment."""
        return self.rack_units - self.reserved_units


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    """Servers of one kind, with peak power each.

    Args:
        id: Name used in messages and results.
        count: Servers, or rack-scale systems.
        rack_units: Height of one.
        power_kw: Peak power of one, which the rack's limit has to carry.
        weight_kg: Weight of one.
        whole_rack: One system is one rack (NVL72 class): its height and weight aren't compared.
        nodes: Nodes of the fabric in one server: 1, the trays of a rack-scale system, 0 for storage.
    """

    id: str
    count: int
    rack_units: int
    power_kw: float
    weight_kg: float | None = None
    whole_rack: bool = False
    nodes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchLoad:
    """Switches of one tier; `power_kw` of one with its optics.

    `central` ones stand mid-floor. The others are spread along the rows in their order, all tiers alike:
    so a leaf stands near its nodes, and in three tiers a pod's spines near its leaves.
    """

    tier: str
    count: int
    rack_units: int
    power_kw: float
    weight_kg: float | None = None
    central: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Geometry of the floor, in metres.

    Args:
        racks_per_row: Racks in a row at most.
        rack_pitch_m: From a rack to its neighbour.
        row_pitch_m: From a row to the next, aisle included.
        vertical_m: From a port up to the tray, at each end of a cable.
        slack_m: Added to every cable that leaves its rack.
        in_rack_m: Length of a cable that stays in its rack.
        network_place: Where in a row network racks stand.
    """

    racks_per_row: int = 16
    rack_pitch_m: float = 0.6
    row_pitch_m: float = 3.0
    vertical_m: float = 1.5
    slack_m: float = 1.0
    in_rack_m: float = 2.0
    network_place: NetworkPlace = NetworkPlace.MIDDLE


@dataclass(frozen=True, slots=True)
class RackGroup:
    """Racks filled alike: `items_per_rack` is that of a full one, power that of the fullest."""

    id: str
    racks: int
    items: int
    items_per_rack: int
    power_kw_max: float


@dataclass(frozen=True, slots=True, eq=False)
class RackLayout:
    """Racks with their place. Rack indices run over server racks first, then network racks.

    `node_rack[i]` is the rack of fabric node i; `switch_rack(tier)[j]` that of switch j of a tier.
    """

    groups: tuple[RackGroup, ...]
    server_racks: int
    network_racks: int
    rows: int
    racks_per_row: int
    x_m: Floats
    y_m: Floats
    power_kw: Floats
    node_rack: Ints
    switch_racks: tuple[tuple[str, Ints], ...]
    floor: Floor

    @property
    def racks(self) -> int:
        """All racks."""
        return self.server_racks + self.network_racks

    @property
    def floor_area_m2(self) -> float:
        """Rows by their pitches: racks and aisles, without rooms for power and cooling."""
        return self.rows * self.floor.row_pitch_m * self.racks_per_row * self.floor.rack_pitch_m

    def switch_rack(self, tier: str) -> Ints:
        """Rack of every switch of a tier; empty where the tier isn't there."""
        return next((racks for name, racks in self.switch_racks if name == tier), np.zeros(0, np.int64))


def items_per_rack(
    *, what: str, rack_units: int, power_kw: float, weight_kg: float | None, limits: RackLimits
) -> int:
    """How many like items one rack takes: the least of what units, power and weight allow.

    >>> items_per_rack(what="server", rack_units=8, power_kw=10.2, weight_kg=130.0,
    ...     limits=RackLimits(rack_units=48, power_kw=44.0))
    4
    """
    asked = [("rack units", float(rack_units), float(limits.usable_units)), ("kW", power_kw, limits.power_kw)]
    if weight_kg is not None and limits.weight_kg is not None:
        asked.append(("kg", weight_kg, limits.weight_kg))
    for unit, needed, had in asked:
        if needed > had:
            raise refusal(
                f"a {what} needs {needed:,.1f} {unit}, a rack has {had:,.1f}",
                *(
                    ("site.cooling: direct-liquid", f"site.rack_limit_kw: {ceil(needed):,}")
                    if unit == "kW"
                    else (f"a rack with {needed:,.1f} {unit} or more",)
                ),
                f"a server with less than {had:,.1f} {unit}",
                key="site.rack_limit_kw" if unit == "kW" else "site",
            )
    return min((floor(had / needed + 1e-9) for _, needed, had in asked if needed > 0), default=1)


def design_racks(
    *,
    servers: Sequence[ServerLoad],
    switches: Sequence[SwitchLoad],
    limits: RackLimits,
    floor_plan: Floor | None = None,
) -> RackLayout:
    """Fill racks and place them in rows.

    >>> layout = design_racks(servers=[ServerLoad(id="dgx", count=32, rack_units=8, power_kw=10.2)],
    ...     switches=[SwitchLoad(tier="leaf", count=8, rack_units=1, power_kw=1.7)],
    ...     limits=RackLimits(rack_units=48, power_kw=44.0))
    >>> layout.server_racks, layout.network_racks, layout.rows
    (8, 1, 1)

    Raises:
        DesignError: A server or switch is more than a rack takes.
    """
    plan = floor_plan or Floor()
    groups, node_rack, server_kw = _fill_servers(servers, limits)
    packs = [
        _pack([load for load in switches if load.central is central], limits, mixed=not central)
        for central in (False, True)
    ]
    (near_racks, near_kw, near_at), (far_racks, far_kw, far_at) = packs
    first = len(server_kw)
    total = first + near_racks + far_racks
    rows, order = _rows(first, near_racks, far_racks, plan)
    x, y = np.zeros(total), np.zeros(total)
    for row, racks in enumerate(order):
        x[racks] = np.arange(len(racks)) * plan.rack_pitch_m
        y[racks] = row * plan.row_pitch_m
    places = [(tier, racks + first) for tier, racks in near_at]
    places += [(tier, racks + first + near_racks) for tier, racks in far_at]
    groups += [_network_group("network, near servers", near_at, near_kw)] if near_racks else []
    groups += [_network_group("network, central", far_at, far_kw)] if far_racks else []
    return RackLayout(
        groups=tuple(groups),
        server_racks=first,
        network_racks=near_racks + far_racks,
        rows=rows,
        racks_per_row=max((len(racks) for racks in order), default=0),
        x_m=x,
        y_m=y,
        power_kw=np.concatenate([server_kw, near_kw, far_kw]),
        node_rack=node_rack,
        switch_racks=tuple(places),
        floor=plan,
    )


def _fill_servers(servers: Sequence[ServerLoad], limits: RackLimits) -> tuple[list[RackGroup], Ints, Floats]:
    """Racks of each kind of server, one kind after the other; kinds don't share a rack."""
    groups: list[RackGroup] = []
    nodes: list[Ints] = [np.zeros(0, np.int64)]
    power: list[Floats] = [np.zeros(0)]
    racks = 0
    for load in servers:
        per_rack = items_per_rack(
            what=load.id,
            rack_units=0 if load.whole_rack else load.rack_units,
            power_kw=load.power_kw,
            weight_kg=None if load.whole_rack else load.weight_kg,
            limits=limits,
        )
        per_rack = 1 if load.whole_rack else per_rack
        count = -(-load.count // per_rack)
        server_rack = np.arange(load.count) // per_rack
        nodes.append(np.repeat(server_rack + racks, load.nodes))
        power.append(np.bincount(server_rack, minlength=count).astype(np.float64) * load.power_kw)
        full = min(per_rack, load.count)
        groups.append(RackGroup(load.id, count, load.count, full, full * load.power_kw))
        racks += count
    return groups, np.concatenate(nodes), np.concatenate(power)


def _pack(
    loads: Sequence[SwitchLoad], limits: RackLimits, *, mixed: bool
) -> tuple[int, Floats, list[tuple[str, Ints]]]:
    """Fill network racks in order: tier by tier, or mixed so that like parts of all tiers stand together."""
    for load in loads:
        items_per_rack(
            what=f"{load.tier} switch",
            rack_units=load.rack_units,
            power_kw=load.power_kw,
            weight_kg=load.weight_kg,
            limits=limits,
        )
    fresh = (float(limits.usable_units), limits.power_kw, limits.weight_kg or float("inf"))
    needs = [(float(load.rack_units), load.power_kw, load.weight_kg or 0.0) for load in loads]
    queue = [
        ((item + 0.5) / load.count if mixed else 0.0, kind, item)
        for kind, load in enumerate(loads)
        for item in range(load.count)
    ]
    places = [np.zeros(load.count, np.int64) for load in loads]
    held: list[list[int]] = []
    units, kw, kg = 0.0, -1.0, 0.0
    for _, kind, item in sorted(queue):
        need = needs[kind]
        if need[0] > units or need[1] > kw + 1e-9 or need[2] > kg:
            units, kw, kg = fresh
            held.append([0] * len(loads))
        units, kw, kg = units - need[0], kw - need[1], kg - need[2]
        held[-1][kind] += 1
        places[kind][item] = len(held) - 1
    tiers = [load.tier for load in loads]
    power = [sum(n * need[1] for n, need in zip(rack, needs, strict=True)) for rack in held]
    return len(held), np.array(power, dtype=np.float64), list(zip(tiers, places, strict=True))


def _network_group(name: str, places: Sequence[tuple[str, Ints]], power_kw: Floats) -> RackGroup:
    held = np.concatenate([racks for _, racks in places])
    fullest = int(np.bincount(held).max())
    return RackGroup(name, len(power_kw), len(held), fullest, float(power_kw.max()))


def _rows(servers: int, near: int, central: int, plan: Floor) -> tuple[int, list[Ints]]:
    """Rack indices of every row, in the order they stand."""
    total = servers + near + central
    rows = -(-total // plan.racks_per_row)
    sizes = _even(total, rows)
    upto = np.concatenate([[0], np.cumsum(sizes)])
    near_each = [int(n) for n in np.diff(near * upto // max(1, total))]
    room = [size - taken for size, taken in zip(sizes, near_each, strict=True)]
    central_each = _from_the_middle(central, room, gentle=max(2, plan.racks_per_row // 4))
    order: list[Ints] = []
    at = [0, servers, servers + near]
    for size, beside, mid in zip(sizes, near_each, central_each, strict=True):
        own = size - beside - mid
        parts = [np.arange(start, start + n) for start, n in zip(at, (own, beside, mid), strict=True)]
        at = [start + n for start, n in zip(at, (own, beside, mid), strict=True)]
        left = own // 2 if plan.network_place is NetworkPlace.MIDDLE else 0
        order.append(np.concatenate([parts[0][:left], parts[1], parts[2], parts[0][left:]]))
    return rows, order


def _even(items: int, rows: int) -> list[int]:
    return [(row + 1) * items // rows - row * items // rows for row in range(rows)]


def _from_the_middle(items: int, room: Sequence[int], *, gentle: int) -> list[int]:
    """Spread items over rows from the middle outwards, a few a row first, then as many as there is room."""
    taken = [0] * len(room)
    middle = (len(room) - 1) / 2
    for limit in (gentle, max(room, default=0)):
        for row in sorted(range(len(room)), key=lambda row: (abs(row - middle), row)):
            more = min(items, min(limit, room[row]) - taken[row])
            if more > 0:
                taken[row] += more
                items -= more
    return taken
