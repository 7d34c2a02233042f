"""Racks on the floor: how many, what stands in each, and where.

A server rack holds what its units, power and weight allow; a rack-scale system is a rack of its own.
Switches near the servers are spread over the rows; central ones (the top tier) stand in the rows
nearest the middle of the floor. Rack power strips stand upright behind the posts and take no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.design.rack_fill import Filled, fill_servers, fill_switches, items_per_rack
from planner.design.rack_parts import (
    Floor,
    HallSpace,
    Ints,
    NetworkPlace,
    RackGroup,
    RackLayout,
    RackLimits,
    ServerLoad,
    Stand,
    SwitchLoad,
)

__all__ = [
    "Floor",
    "HallSpace",
    "Ints",
    "NetworkPlace",
    "RackGroup",
    "RackLayout",
    "RackLimits",
    "ServerLoad",
    "Stand",
    "SwitchLoad",
    "design_racks",
    "items_per_rack",
    "merged",
]

NETWORK_GROUPS = ("network, near servers", "network, central")
"""Groups of network racks, in the order their racks are numbered after the servers'."""


def design_racks(
    *,
    servers: Sequence[ServerLoad],
    switches: Sequence[SwitchLoad],
    limits: RackLimits,
    floor_plan: Floor | None = None,
) -> RackLayout:
    """Fill racks and place them in the rows of one hall.

    >>> layout = design_racks(servers=[ServerLoad(id="dgx", count=32, rack_units=8, power_kw=10.2)],
    ...     switches=[SwitchLoad(tier="leaf", count=8, rack_units=1, power_kw=1.7)],
    ...     limits=RackLimits(rack_units=48, power_kw=44.0))
    >>> layout.server_racks, layout.network_racks, layout.rows
    (8, 1, 1)

    Raises:
        DesignError: A server or switch is more than a rack takes.
    """
    plan = floor_plan or Floor()
    parts = [fill_servers(servers, limits)]
    for name, central in zip(NETWORK_GROUPS, (False, True), strict=True):
        loads = [load for load in switches if load.central is central]
        parts.append(fill_switches(name, loads, limits, mixed=not central))
    total = sum(part.racks for part in parts)
    rows, order = _rows(parts[0].racks, parts[1].racks, parts[2].racks, plan)
    x, y = np.zeros(total), np.zeros(total)
    for row, racks in enumerate(order):
        x[racks] = np.arange(len(racks)) * plan.rack_pitch_m
        y[racks] = row * plan.row_pitch_m
    return RackLayout(
        groups=tuple(group for part in parts for group in part.groups),
        server_racks=parts[0].racks,
        network_racks=parts[1].racks + parts[2].racks,
        rows=rows,
        racks_per_row=max((len(racks) for racks in order), default=0),
        x_m=x,
        y_m=y,
        power_kw=np.concatenate([part.power_kw for part in parts]),
        weight_kg=np.concatenate([part.weight_kg for part in parts]),
        panel_units=np.concatenate([part.panel_units for part in parts]),
        stands=_all_stands(parts),
        floor=plan,
        limits=limits,
        hall=np.zeros(total, np.int64),
    )


def _all_stands(parts: Sequence[Filled]) -> tuple[Stand, ...]:
    """Stands of all parts, their racks numbered one part after the other."""
    found: list[Stand] = []
    first = 0
    for part in parts:
        found += [replace(stand, rack=stand.rack + first) for stand in part.stands]
        first += part.racks
    return tuple(found)


def _rows(servers: int, near: int, central: int, plan: Floor) -> tuple[int, list[Ints]]:
    """Rack indices of every row, in the order they stand."""
    total = servers + near + central
    rows = -(-total // plan.racks_per_row)
    sizes = _even(total, rows)
    upto = np.concatenate([[0], np.cumsum(sizes)])
    # the middle of a network rack's share of the floor decides in which row it stands
    near_each = [int(n) for n in np.diff((2 * near * upto + total) // max(1, 2 * total))]
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


def merged(
    parts: Sequence[tuple[int, RackLayout, dict[str, Ints]]], halls: tuple[HallSpace, ...]
) -> RackLayout:
    """Layouts of several halls as one, its racks ordered as in one hall: by what they hold, then by hall.

    Args:
        parts: Hall, its racks, and for every kind the numbers that its items have in the whole plan.
        halls: All halls, by index.
    """
    order: list[tuple[int, str, int, int, int]] = []
    names = list(dict.fromkeys(group.id for _, part, _ in parts for group in part.groups))
    names.sort(key=lambda name: NETWORK_GROUPS.index(name) if name in NETWORK_GROUPS else -1)
    for place, (_, part, _) in enumerate(parts):
        first = 0
        for group in part.groups:
            order.append((names.index(group.id), group.id, place, first, group.racks))
            first += group.racks
    order.sort()
    number = [np.zeros(part.racks, np.int64) for _, part, _ in parts]
    at = 0
    for _, _, place, first, racks in order:
        number[place][first : first + racks] = np.arange(at, at + racks)
        at += racks
    plan = parts[0][1].floor
    rows = np.concatenate([[0], np.cumsum([part.rows for _, part, _ in parts])])
    across = [part.y_m + rows[place] * plan.row_pitch_m for place, (_, part, _) in enumerate(parts)]
    return replace(
        parts[0][1],
        groups=tuple(
            _added([g for _, part, _ in parts for g in part.groups if g.id == name]) for name in names
        ),
        server_racks=sum(part.server_racks for _, part, _ in parts),
        network_racks=sum(part.network_racks for _, part, _ in parts),
        rows=int(rows[-1]),
        racks_per_row=max(part.racks_per_row for _, part, _ in parts),
        x_m=_scattered(number, [part.x_m for _, part, _ in parts]),
        y_m=_scattered(number, across),
        power_kw=_scattered(number, [part.power_kw for _, part, _ in parts]),
        weight_kg=_scattered(number, [part.weight_kg for _, part, _ in parts]),
        panel_units=_scattered(number, [part.panel_units for _, part, _ in parts]).astype(np.int64),
        hall=_scattered(number, [np.full(part.racks, hall) for hall, part, _ in parts]).astype(np.int64),
        stands=_joined(parts, number),
        halls=halls,
    )


def _scattered(number: Sequence[Ints], values: Sequence[NDArray[Any]]) -> Floats:
    found = np.zeros(sum(len(part) for part in number))
    for at, value in zip(number, values, strict=True):
        found[at] = value
    return found


def _added(groups: Sequence[RackGroup]) -> RackGroup:
    return RackGroup(
        groups[0].id,
        sum(group.racks for group in groups),
        sum(group.items for group in groups),
        max(group.items_per_rack for group in groups),
        max(group.power_kw_max for group in groups),
    )


def _joined(
    parts: Sequence[tuple[int, RackLayout, dict[str, Ints]]], number: Sequence[Ints]
) -> tuple[Stand, ...]:
    """Stands of every kind with its items in their order in the whole plan."""
    found = []
    for kind in dict.fromkeys(stand.kind for _, part, _ in parts for stand in part.stands):
        stands = [part.stand(kind) for _, part, _ in parts]
        items = np.concatenate([own.get(kind, np.zeros(0, np.int64)) for _, _, own in parts])
        rack = np.concatenate([at[stand.rack] for at, stand in zip(number, stands, strict=True)])
        back = np.argsort(items, kind="stable")
        unit = np.concatenate([stand.unit for stand in stands])
        filled = next(stand for stand in stands if len(stand.rack))
        found.append(replace(filled, rack=rack[back], unit=unit[back]))
    return tuple(found)
