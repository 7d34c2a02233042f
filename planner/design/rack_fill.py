"""Fills racks: servers of a kind together, switches in an order, patch panels above the switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from planner.arrays import Floats
from planner.design.ports import refusal
from planner.design.rack_parts import Ints, RackGroup, RackLimits, ServerLoad, Stand, SwitchLoad
from planner.errors import Remedy


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """Racks with what stands in them, numbered from 0."""

    groups: tuple[RackGroup, ...]
    stands: tuple[Stand, ...]
    power_kw: Floats
    weight_kg: Floats
    panel_units: Ints

    @property
    def racks(self) -> int:
        """How many there are."""
        return len(self.power_kw)


def items_per_rack(
    *, what: str, rack_units: float, power_kw: float, weight_kg: float | None, limits: RackLimits
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
                    (
                        Remedy("site.cooling: direct-liquid", ("site", "cooling"), "direct-liquid"),
                        Remedy(
                            f"site.rack_limit_kw: {ceil(needed):,}", ("site", "rack_limit_kw"), ceil(needed)
                        ),
                    )
                    if unit == "kW"
                    else (f"a rack with {needed:,.1f} {unit} or more",)
                ),
                f"a server with less than {had:,.1f} {unit}",
                key="site.rack_limit_kw" if unit == "kW" else "site",
            )
    return min((floor(had / needed + 1e-9) for _, needed, had in asked if needed > 0), default=1)


def fill_servers(servers: Sequence[ServerLoad], limits: RackLimits) -> Filled:
    """Racks of each kind of server, one kind after the other; kinds don't share a rack.

    >>> fill_servers([ServerLoad(id="dgx", count=5, rack_units=8, power_kw=10.2)],
    ...     RackLimits(rack_units=48, power_kw=44.0)).stands[0].unit
    array([ 1,  9, 17, 25,  1])
    """
    groups: list[RackGroup] = []
    stands: list[Stand] = []
    power, weight = [np.zeros(0)], [np.zeros(0)]
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
        at = np.arange(load.count) // per_rack
        held = np.bincount(at, minlength=count).astype(np.float64)
        stands.append(_server_stand(load, at + racks, per_rack, limits))
        power.append(held * load.power_kw)
        weight.append(held * (load.weight_kg or 0.0))
        full = min(per_rack, load.count)
        groups.append(RackGroup(load.id, count, load.count, full, full * load.power_kw))
        racks += count
    return Filled(
        tuple(groups), tuple(stands), np.concatenate(power), np.concatenate(weight), np.zeros(racks, np.int64)
    )


def _server_stand(load: ServerLoad, rack: Ints, per_rack: int, limits: RackLimits) -> Stand:
    """Items of one load from the floor up; a rack-scale system's nodes are spread over its height."""
    each = max(1, load.nodes)
    if load.whole_rack:
        tray = np.tile(np.arange(each) * limits.rack_units // each, load.count) + 1
        return Stand(load.item_kind, load.id, 1, np.repeat(rack, each), tray, whole=True)
    unit = np.arange(load.count) % per_rack * load.rack_units + 1
    return Stand(load.item_kind, load.id, load.rack_units, np.repeat(rack, each), np.repeat(unit, each))


def fill_switches(name: str, loads: Sequence[SwitchLoad], limits: RackLimits, *, mixed: bool) -> Filled:
    """Network racks filled in order: tier by tier, or mixed so that like parts of all tiers stand together.

    A rack's patch panels take whole units at its top, next to the trays, as many as its switches' shares add
    up to; the switches hang below them from the top down, so that cables are short.
    """
    for load in loads:
        items_per_rack(
            what=f"{load.tier} switch",
            rack_units=load.rack_units + ceil(load.panel_units),
            power_kw=load.power_kw,
            weight_kg=load.weight_kg,
            limits=limits,
        )
    queue = sorted(
        ((item + 0.5) / load.count if mixed else 0.0, kind, item)
        for kind, load in enumerate(loads)
        for item in range(load.count)
    )
    rack = [np.zeros(load.count, np.int64) for load in loads]
    unit = [np.zeros(load.count, np.int64) for load in loads]
    kilowatts: list[float] = []
    kilograms: list[float] = []
    panels: list[float] = []
    used = 0
    heaviest = limits.weight_kg or float("inf")
    for _, kind, item in queue:
        load = loads[kind]
        kg = load.weight_kg or 0.0
        if (
            not kilowatts
            or used + load.rack_units + ceil(panels[-1] + load.panel_units - 1e-9) > limits.usable_units
            or kilowatts[-1] + load.power_kw > limits.power_kw + 1e-9
            or kilograms[-1] + kg > heaviest
        ):
            kilowatts.append(0.0)
            kilograms.append(0.0)
            panels.append(0.0)
            used = 0
        used += load.rack_units
        rack[kind][item], unit[kind][item] = len(kilowatts) - 1, used
        kilowatts[-1] += load.power_kw
        kilograms[-1] += kg
        panels[-1] += load.panel_units
    panel_units = np.array([ceil(one - 1e-9) for one in panels], np.int64)
    stands = tuple(
        Stand(
            load.tier,
            load.label or load.tier,
            load.rack_units,
            at,
            limits.usable_units - panel_units[at] - down + 1,
        )
        for load, at, down in zip(loads, rack, unit, strict=True)
    )
    power = np.array(kilowatts, np.float64)
    return Filled(
        (_network_group(name, stands, power),) if kilowatts else (),
        stands,
        power,
        np.array(kilograms, np.float64),
        panel_units,
    )


def _network_group(name: str, stands: Sequence[Stand], power_kw: Floats) -> RackGroup:
    held = np.concatenate([stand.rack for stand in stands])
    fullest = int(np.bincount(held).max())
    return RackGroup(name, len(power_kw), len(held), fullest, float(power_kw.max()))
