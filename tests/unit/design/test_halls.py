"""Several halls: who stands where, and how long the way between them is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, design_fabric
from planner.design.halls import place_racks
from planner.design.lengths import link_tables
from planner.design.racks import Floor, HallSpace, RackLayout, RackLimits, ServerLoad, SwitchLoad
from planner.design.wiring import wiring
from planner.errors import DesignError

TWIN = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
TWO = (HallSpace(id="a", racks=30), HallSpace(id="b", racks=60, distance_m=400.0))


def placed(*halls: HallSpace, gpus: int = 1024) -> tuple[FabricDesign, RackLayout]:
    built = design_fabric(
        FabricRequest(gpus=gpus, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0, leaf=TWIN)
    )
    layout = place_racks(
        servers=[
            ServerLoad(id="dgx", count=built.nodes, rack_units=8, power_kw=20.0),
            ServerLoad(id="flash", count=2, rack_units=2, power_kw=1.0, nodes=0),
        ],
        switches=[
            SwitchLoad(tier="leaf", count=built.leaves, rack_units=1, power_kw=1.7),
            SwitchLoad(tier="spine", count=built.spines, rack_units=1, power_kw=1.7, central=True),
            SwitchLoad(tier="oob", count=4, rack_units=1, power_kw=0.1),
        ],
        limits=RackLimits(rack_units=42, power_kw=44.0),
        floor_plan=Floor(racks_per_row=12),
        halls=halls,
        wirings=wiring(built),
    )
    return built, layout


def test_a_first_hall_that_takes_everything_changes_nothing() -> None:
    _, alone = placed()
    _, roomy = placed(HallSpace(id="a", racks=500), HallSpace(id="b", racks=5, distance_m=9e3))
    assert roomy.racks == alone.racks
    assert np.array_equal(roomy.x_m, alone.x_m)
    assert not roomy.hall.any()


def test_halls_are_filled_in_their_order_and_none_beyond_its_racks() -> None:
    built, layout = placed(*TWO)
    _, alone = placed()
    held = np.bincount(layout.hall, minlength=2)
    assert held[0] <= 30
    assert held[1] <= 60
    assert len(layout.node_rack) == built.nodes
    assert np.array_equal(np.unique(layout.node_rack), np.arange(layout.server_racks - 1))
    assert layout.power_kw.sum() == pytest.approx(alone.power_kw.sum())
    assert sorted(group.id for group in layout.groups) == sorted(group.id for group in alone.groups)
    assert sum(group.racks for group in layout.groups) == layout.racks
    assert len(set(zip(layout.x_m.round(3), layout.y_m.round(3), strict=True))) == layout.racks


def test_no_link_between_a_node_and_its_leaf_leaves_a_hall() -> None:
    built, layout = placed(*TWO)
    node_leaf, leaf_spine = link_tables(wiring(built), layout)
    assert not node_leaf.crossing_m.any()
    home = layout.hall[layout.switch_rack("leaf")][leaf_spine.lower]
    assert set(layout.hall[layout.switch_rack("spine")]) == {0}
    assert np.array_equal(leaf_spine.crossing_m > 0, home == 1)
    assert leaf_spine.crossing_m.max() == pytest.approx(400.0)
    assert np.all(leaf_spine.length_m > leaf_spine.crossing_m)


def test_a_longer_route_makes_only_the_crossing_links_longer() -> None:
    built, near = placed(*TWO)
    _, far = placed(TWO[0], replace(TWO[1], distance_m=1400.0))
    before, after = link_tables(wiring(built), near)[1], link_tables(wiring(built), far)[1]
    assert after.length_m - before.length_m == pytest.approx(np.where(before.crossing_m > 0, 1000.0, 0.0))


@pytest.mark.parametrize(
    ("halls", "message"),
    [
        ((HallSpace(id="a", racks=30), HallSpace(id="b", racks=10)), "the halls take 40 racks, and .* more"),
        ((HallSpace(id="a", racks=1), HallSpace(id="b", racks=90)), "hall 'a' takes 1 racks, and central"),
        (
            (HallSpace(id="a", racks=8), HallSpace(id="b", racks=9)),
            "nodes that share leaves take 1[0-9] racks",
        ),
    ],
)
def test_halls_that_are_too_small_are_refused_with_the_racks_that_are_needed(
    halls: tuple[HallSpace, ...], message: str
) -> None:
    with pytest.raises(DesignError, match=message) as refused:
        placed(*halls)
    assert refused.value.problems[0].remedies[0].path[:2] == ("site", "halls")


def test_what_the_refusal_asks_for_is_enough() -> None:
    halls = (HallSpace(id="a", racks=30), HallSpace(id="b", racks=10))
    with pytest.raises(DesignError) as refused:
        placed(*halls)
    remedy = refused.value.problems[0].remedies[0]
    _, layout = placed(halls[0], replace(halls[1], racks=remedy.value))
    assert layout.hall.max() == 1
