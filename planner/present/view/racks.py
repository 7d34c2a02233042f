"""Racks: what stands in each kind from the bottom up, and where all of them stand."""

from __future__ import annotations

from collections import Counter
from typing import Any

from planner.design.positions import RackElevation, Slot, SlotKind, elevations
from planner.design.rack_parts import RackLayout
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Table
from planner.present.view.power import rack_limit_kw
from planner.present.view.reading import Reading, number, whole, words


def floor_figure(reading: Reading) -> Figure:
    """C14b: every rack from above, by what it holds."""
    layout = reading.built.cluster.layout
    limit = rack_limit_kw(reading)
    servers = {group.server.item.id for group in reading.built.cluster.parts.groups}
    kinds: list[str] = []
    for group in layout.groups:
        kind = "server" if group.id in servers else "network" if group.id.startswith("network") else "storage"
        kinds += [kind] * group.racks
    rows = [
        (
            words(group.id), whole(group.racks), whole(group.items), whole(group.items_per_rack),
            number(group.power_kw_max), words(fmt.NOTHING) if limit is None else number(limit),
        )
        for group in layout.groups
    ]  # fmt: skip
    fullest = max(group.power_kw_max for group in layout.groups)
    against = "" if limit is None else f" of {fmt.significant(limit)} kW"
    row_s = "row" if layout.rows == 1 else "rows"
    return Figure(
        "C14b",
        "racks",
        f"{fmt.count(layout.racks)} rack{'s' if layout.racks > 1 else ''} in {layout.rows} {row_s}; the fullest "
        f"draws {fmt.significant(fullest)} kW{against}",
        "Each square is a rack seen from above, rows from top to bottom; aisles lie between rows.",
        {
            "x": [round(float(x), 3) for x in layout.x_m], "y": [round(float(y), 3) for y in layout.y_m],
            "kinds": kinds, "pitch": layout.floor.rack_pitch_m, "row_pitch": layout.floor.row_pitch_m,
            "halls": _halls(layout),
        },
        Table(
            "racks",
            "Racks by what stands in them",
            (
                Column("Holds", numeric=False), Column("Racks"), Column("Items"), Column("In a full rack"),
                Column("Fullest", "kW"), Column("Limit", "kW"),
            ),
            tuple(rows),
        ),
    )  # fmt: skip


def _halls(layout: RackLayout) -> list[dict[str, Any]]:
    """Halls by name with their first row; none where there is one hall."""
    return [
        {"id": hall.id, "row": int(layout.row[layout.hall == at].min())}
        for at, hall in enumerate(layout.halls)
        if (layout.hall == at).any() and len(layout.halls) > 1
    ]


MOST_DRAWN = 12
"""Kinds of racks that are drawn; more stand in the table."""


def elevation_figure(reading: Reading) -> Figure:
    """C14d: one rack of each kind from the front, with power and weight against their limits."""
    found = _folded(elevations(reading.built.cluster.layout))
    shown = found[:MOST_DRAWN]
    more = (
        ""
        if len(found) == len(shown)
        else f" The {len(shown)} kinds with the most racks are drawn, all stand in the table."
    )
    return Figure(
        "C14d",
        "elevation",
        f"{len(found)} {'kind' if len(found) == 1 else 'kinds'} of racks, {found[0][0].units} units high",
        f"From the front, units counted from the floor; bars below are draw at peak and weight against what a rack takes.{more}",
        {"racks": [_rack(one, count) for one, count in shown]},
        Table(
            "elevations",
            "Kinds of racks from the floor up",
            (
                Column("Holds", numeric=False), Column("Racks"), Column("Units used"), Column("Units"),
                Column("Draw at peak", "kW"), Column("Limit", "kW"), Column("Weight", "kg"), Column("Limit", "kg"),
            ),
            tuple(_rack_row(one, count) for one, count in found),
        ),
    )  # fmt: skip


def _folded(racks: tuple[RackElevation, ...]) -> list[tuple[RackElevation, int]]:
    """Racks that hold the same things, whatever their order, as one kind: servers first, then by their number."""
    kinds: dict[tuple[tuple[str, int], ...], list[RackElevation]] = {}
    for one in racks:
        holds = Counter(slot.label for slot in one.slots)
        kinds.setdefault(tuple(sorted(holds.items())), []).append(one)
    folded = [(members[0], sum(one.count for one in members)) for members in kinds.values()]
    return sorted(folded, key=lambda kind: (not _has_servers(kind[0]), -kind[1], kind[0].rack))


def _has_servers(one: RackElevation) -> bool:
    return any(slot.kind is SlotKind.SERVER for slot in one.slots)


def _rack(one: RackElevation, count: int) -> dict[str, Any]:
    bars: list[tuple[str, float, float | None, str]] = [("", one.power_kw, _limit(one), "kW")]
    if one.weight_kg > 0:
        bars.append(("", one.weight_kg, one.weight_limit_kg, "kg"))
    return {
        "name": _holds(one), "count": count, "units": one.units, "slots": _runs(one.slots), "bars": bars,
    }  # fmt: skip


def _limit(one: RackElevation) -> float | None:
    """Limits of a thousand kilowatts stand for none."""
    return one.power_limit_kw if one.power_limit_kw < 1e3 else None


def _holds(one: RackElevation) -> str:
    counts = Counter(slot.label for slot in one.slots if slot.kind is not SlotKind.PANEL)
    if len(one.slots) == 1 and one.slots[0].units > one.units // 2:
        return one.slots[0].label  # a rack-scale system
    return ", ".join(f"{number} x {label}" for label, number in counts.items()) or "patch panels"


def _runs(slots: tuple[Slot, ...]) -> list[dict[str, Any]]:
    """Like boxes on top of each other as one run."""
    runs: list[dict[str, Any]] = []
    for slot in slots:
        last = runs[-1] if runs else None
        if (
            last is not None
            and (last["label"], last["units"], last["kind"]) == (slot.label, slot.units, str(slot.kind))
            and last["unit"] + last["units"] * last["number"] == slot.unit_from
        ):
            last["number"] += 1
        else:
            runs.append(
                {
                    "unit": slot.unit_from,
                    "units": slot.units,
                    "number": 1,
                    "label": slot.label,
                    "kind": str(slot.kind),
                }
            )
    return runs


def _rack_row(one: RackElevation, count: int) -> tuple[Cell, ...]:
    limit, nothing = _limit(one), words(fmt.NOTHING)
    return (
        words(_holds(one)), whole(count), whole(one.units_used), whole(one.units), number(one.power_kw),
        nothing if limit is None else number(limit), number(one.weight_kg) if one.weight_kg else nothing,
        nothing if one.weight_limit_kg is None else number(one.weight_limit_kg),
    )  # fmt: skip
