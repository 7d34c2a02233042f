"""Rack units: what stands where, like racks folded."""

from __future__ import annotations

import numpy as np

from planner.design.positions import SlotKind, elevations, rack_slots
from planner.design.racks import RackLayout, RackLimits, ServerLoad, SwitchLoad, design_racks

LIMITS = RackLimits(rack_units=42, power_kw=44.0, weight_kg=1500.0)


def mixed() -> RackLayout:
    return design_racks(
        servers=[
            ServerLoad(id="dgx", count=9, rack_units=8, power_kw=10.0, weight_kg=130.0),
            ServerLoad(id="flash", count=3, rack_units=2, power_kw=1.0, nodes=0),
        ],
        switches=[
            SwitchLoad(tier="leaf", count=8, rack_units=2, power_kw=1.7, panel_units=0.3),
            SwitchLoad(tier="spine", count=4, rack_units=1, power_kw=1.7, panel_units=0.5, central=True),
        ],
        limits=LIMITS,
    )


def test_like_racks_are_shown_once_with_their_count() -> None:
    found = elevations(mixed())
    assert [(one.rack, one.count) for one in found] == [(0, 2), (2, 1), (3, 1), (4, 1), (5, 1)]
    assert sum(one.count for one in found) == mixed().racks
    assert found[0].power_kw == 40.0
    assert found[0].weight_kg == 4 * 130.0


def test_servers_stand_at_the_floor_and_switches_below_the_panels_at_the_top() -> None:
    server, last, flash, near, central = elevations(mixed())
    assert [slot.unit_from for slot in server.slots] == [1, 9, 17, 25]
    assert [slot.unit_from for slot in last.slots] == [1]
    assert {slot.kind for slot in flash.slots} == {SlotKind.EQUIPMENT}
    assert [slot.unit_from for slot in near.slots] == [24, 26, 28, 30, 32, 34, 36, 38, 40]
    assert (near.slots[-1].kind, near.slots[-1].units) == (SlotKind.PANEL, 3)  # 8 x 0.3 is 2.4
    assert [(slot.unit_from, slot.units) for slot in central.slots] == [
        (37, 1),
        (38, 1),
        (39, 1),
        (40, 1),
        (41, 2),
    ]


def test_panels_leave_room_for_fewer_switches() -> None:
    """21 switches of 2 units fill 42; with a unit of panel for each 14 do."""
    loads = [
        SwitchLoad(tier="leaf", count=42, rack_units=2, power_kw=0.1, panel_units=share)
        for share in (0.0, 1.0)
    ]
    racks = [design_racks(servers=[], switches=[load], limits=LIMITS).racks for load in loads]
    assert racks == [2, 3]


def test_a_rack_scale_system_is_one_item_and_its_trays_have_heights() -> None:
    layout = design_racks(
        servers=[ServerLoad(id="nvl72", count=2, rack_units=48, power_kw=40.0, whole_rack=True, nodes=18)],
        switches=[],
        limits=LIMITS,
    )
    (only,) = elevations(layout)
    assert (only.count, only.slots[0].units, len(only.slots)) == (2, 42, 1)
    unit = layout.stand("node").unit
    assert unit[:18].min() == 1
    assert unit.max() <= 42
    assert np.all(np.diff(unit[:18]) >= 1)


def test_no_two_things_take_the_same_unit() -> None:
    layout = mixed()
    for slots in rack_slots(layout):
        taken = [unit for slot in slots for unit in range(slot.unit_from, slot.unit_from + slot.units)]
        assert len(taken) == len(set(taken))
        assert max(taken) <= layout.limits.usable_units
