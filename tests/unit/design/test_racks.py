"""Racks and where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from planner.design.racks import Floor, NetworkPlace, RackLimits, ServerLoad, SwitchLoad, design_racks
from planner.errors import DesignError

DGX = ServerLoad(id="dgx", count=32, rack_units=8, power_kw=10.2, weight_kg=130.0)
LEAF = SwitchLoad(tier="leaf", count=8, rack_units=1, power_kw=1.7)


@pytest.mark.parametrize(
    ("limits", "racks"),
    [
        (RackLimits(rack_units=48, power_kw=100.0), 6),  # by units: 6 in a rack
        (RackLimits(rack_units=48, power_kw=44.0), 8),  # by power: 4
        (RackLimits(rack_units=48, power_kw=100.0, weight_kg=400.0), 11),  # by weight: 3
        (RackLimits(rack_units=48, power_kw=100.0, reserved_units=4), 7),  # 44 usable: 5
    ],
)
def test_a_rack_holds_the_least_of_units_power_and_weight(limits: RackLimits, racks: int) -> None:
    assert design_racks(servers=[DGX], switches=[], limits=limits).server_racks == racks


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (RackLimits(rack_units=48, power_kw=10.0), "needs 10.2 kW, a rack has 10.0"),
        (RackLimits(rack_units=6, power_kw=44.0), "needs 8.0 rack units, a rack has 6.0"),
        (RackLimits(rack_units=48, power_kw=44.0, weight_kg=100.0), "needs 130.0 kg"),
    ],
)
def test_a_server_beyond_the_rack_is_refused(limits: RackLimits, message: str) -> None:
    with pytest.raises(DesignError, match=message) as refused:
        design_racks(servers=[DGX], switches=[], limits=limits)
    problem = refused.value.problems[0]
    wanted = "site.rack_limit_kw: 11" if "kW" in message else "a rack with"
    assert wanted in problem.remedy


def test_a_rack_scale_system_is_one_rack_with_all_its_nodes() -> None:
    nvl72 = ServerLoad(id="nvl72", count=8, rack_units=48, power_kw=132.0, whole_rack=True, nodes=18)
    layout = design_racks(servers=[nvl72], switches=[], limits=RackLimits(rack_units=42, power_kw=140.0))
    assert layout.server_racks == 8
    assert np.array_equal(layout.node_rack, np.repeat(np.arange(8), 18))
    with pytest.raises(DesignError, match=r"needs 132\.0 kW"):
        design_racks(servers=[nvl72], switches=[], limits=RackLimits(rack_units=48, power_kw=100.0))


@pytest.mark.parametrize(("place", "slot"), [(NetworkPlace.MIDDLE, 4), (NetworkPlace.END, 0)])
def test_network_racks_stand_where_asked(place: NetworkPlace, slot: int) -> None:
    layout = design_racks(
        servers=[DGX],
        switches=[LEAF],
        limits=RackLimits(rack_units=48, power_kw=44.0),
        floor_plan=Floor(network_place=place),
    )
    rack = layout.switch_rack("leaf")[0]
    assert layout.x_m[rack] == pytest.approx(slot * 0.6)
    assert (layout.network_racks, layout.rows, layout.racks_per_row) == (1, 1, 9)


def test_central_switches_stand_in_the_middle_rows() -> None:
    layout = design_racks(
        servers=[ServerLoad(id="dgx", count=400, rack_units=8, power_kw=10.2)],
        switches=[LEAF, SwitchLoad(tier="spine", count=30, rack_units=1, power_kw=1.7, central=True)],
        limits=RackLimits(rack_units=48, power_kw=44.0),
    )
    middle = layout.y_m.max() / 2
    assert np.abs(layout.y_m[layout.switch_rack("spine")] - middle).max() <= 3.0


def test_switches_of_several_tiers_share_network_racks_within_the_limits() -> None:
    switches = [LEAF, SwitchLoad(tier="spine", count=4, rack_units=1, power_kw=1.7)]
    layout = design_racks(servers=[], switches=switches, limits=RackLimits(rack_units=8, power_kw=44.0))
    assert layout.racks == 2
    assert layout.power_kw.sum() == pytest.approx(12 * 1.7)


def test_no_servers_and_no_switches_make_no_rack() -> None:
    layout = design_racks(servers=[], switches=[], limits=RackLimits(rack_units=42, power_kw=40.0))
    assert (layout.racks, layout.rows, layout.floor_area_m2) == (0, 0, 0.0)
