"""Which unit of its rack everything stands in, with like racks folded together.

Servers stand from the floor up. In network racks patch panels are at the top and switches below them from
the top down, in the order they were filled. A rack-scale system is one item over the whole height.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.design.rack_parts import NODE, RackLayout, Stand


class SlotKind(StrEnum):
    """What a slot holds, for drawing."""

    SERVER = "server"
    SWITCH = "switch"
    PANEL = "panel"
    EQUIPMENT = "equipment"
    """Storage and other servers that no fabric joins."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Something in a rack: its lowest unit, counted from 1 at the floor, and its height in units."""

    unit_from: int
    units: int
    label: str
    kind: SlotKind


@dataclass(frozen=True, slots=True)
class RackElevation:
    """A kind of rack as seen from the front, and how many of it stand on the floor.

    Attributes:
        rack: Index of the first of them in the layout.
        count: Racks that hold the same things in the same units.
        slots: From the floor up.
        power_kw: Peak power of one, and `power_limit_kw` what a rack may draw.
        weight_kg: Weight of what is known to weigh something, and `weight_limit_kg` what a rack carries.
    """

    rack: int
    count: int
    slots: tuple[Slot, ...]
    units: int
    power_kw: float
    power_limit_kw: float
    weight_kg: float
    weight_limit_kg: float | None

    @property
    def units_used(self) -> int:
        """Units that something stands in."""
        return sum(slot.units for slot in self.slots)


def rack_slots(layout: RackLayout) -> list[list[Slot]]:
    """What stands in every rack, from the floor up."""
    found: list[list[Slot]] = [[] for _ in range(layout.racks)]
    for stand in layout.stands:
        kind = _kind(layout, stand)
        for rack, unit in _items(stand):
            units = layout.limits.usable_units if stand.whole else stand.units
            found[rack].append(Slot(unit, units, stand.label, kind))
    for rack in np.flatnonzero(layout.panel_units).tolist():
        panels = int(layout.panel_units[rack])
        top = layout.limits.usable_units
        found[rack].append(Slot(top - panels + 1, panels, "Patch panels", SlotKind.PANEL))
    return [sorted(slots, key=lambda slot: slot.unit_from) for slots in found]


def elevations(layout: RackLayout) -> tuple[RackElevation, ...]:
    """Every distinct kind of rack once, in the order of the racks' numbers.

    >>> from planner.design.racks import RackLimits, ServerLoad, SwitchLoad, design_racks
    >>> layout = design_racks(servers=[ServerLoad(id="dgx", count=10, rack_units=8, power_kw=10.2)],
    ...     switches=[SwitchLoad(tier="leaf", count=2, rack_units=1, power_kw=1.7)],
    ...     limits=RackLimits(rack_units=48, power_kw=44.0))
    >>> [(one.count, [slot.unit_from for slot in one.slots]) for one in elevations(layout)]
    [(2, [1, 9, 17, 25]), (1, [1, 9]), (1, [47, 48])]
    """
    kinds: dict[tuple[Slot, ...], list[int]] = {}
    for rack, slots in enumerate(rack_slots(layout)):
        kinds.setdefault(tuple(slots), []).append(rack)
    return tuple(
        RackElevation(
            racks[0], len(racks), slots, layout.limits.rack_units, float(layout.power_kw[racks[0]]),
            layout.limits.power_kw, float(layout.weight_kg[racks[0]]), layout.limits.weight_kg,
        )
        for slots, racks in kinds.items()
    )  # fmt: skip


def _kind(layout: RackLayout, stand: Stand) -> SlotKind:
    if stand.kind == NODE:
        return SlotKind.SERVER
    network = bool(len(stand.rack)) and int(stand.rack.min()) >= layout.server_racks
    return SlotKind.SWITCH if network else SlotKind.EQUIPMENT


def _items(stand: Stand) -> Iterator[tuple[int, int]]:
    """Rack and lowest unit of every box; nodes that share one are listed once."""
    unit = np.ones_like(stand.unit) if stand.whole else stand.unit
    for rack, at in np.unique(np.stack([stand.rack, unit]), axis=1).T:
        yield int(rack), int(at)
