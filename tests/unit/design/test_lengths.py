"""Link lengths from the floor."""

from __future__ import annotations

import time

import numpy as np
import pytest

from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, design_fabric
from planner.design.fabric_parts import Tier
from planner.design.lengths import link_tables
from planner.design.rack_parts import UNIT_M
from planner.design.racks import Floor, RackLayout, RackLimits, ServerLoad, SwitchLoad, design_racks
from planner.design.wiring import TierWiring, wiring

TWIN = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)


def placed(gpus: int) -> tuple[FabricDesign, RackLayout]:
    built = design_fabric(
        FabricRequest(gpus=gpus, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0, leaf=TWIN)
    )
    layout = design_racks(
        servers=[ServerLoad(id="dgx", count=built.nodes, rack_units=8, power_kw=10.2)],
        switches=[
            SwitchLoad(tier="leaf", count=built.leaves, rack_units=1, power_kw=1.7),
            SwitchLoad(tier="spine", count=built.spines, rack_units=1, power_kw=1.7),
            SwitchLoad(tier="core", count=built.cores, rack_units=1, power_kw=1.7, central=True),
        ],
        limits=RackLimits(rack_units=48, power_kw=44.0),
    )
    return built, layout


def test_a_row_of_nine_racks_has_lengths_a_reader_can_check() -> None:
    """Node 1: lowest of its rack, 4 racks of 0.6 m from the switches, its middle 4 units (0.178 m) high.

    Leaf 1 is at the top, in unit 48 (2.111 m). Up to the tray at 2.5 m, along 2.4 m and down: 2 x 2.5 - 0.178
    - 2.111 + 2.4 = 5.1 m, and a fifth of slack makes 6.13 m.
    """
    built, layout = placed(256)
    node_leaf, leaf_spine = link_tables(wiring(built), layout)
    assert node_leaf.length_m[0] == pytest.approx(1.2 * (5.0 - 4 * UNIT_M - 47.5 * UNIT_M + 2.4))
    inside = np.abs(
        layout.stand("leaf").height_m[leaf_spine.lower] - layout.stand("spine").height_m[leaf_spine.upper]
    )
    assert leaf_spine.length_m == pytest.approx(1.2 * (1.0 + inside))  # inside the one network rack


def test_a_cable_to_another_row_takes_the_nearest_cross_tray() -> None:
    """Racks 1 m from the row's left end on both sides of an aisle: 1 m back to the end, 3 m across, 1 m."""
    floor = Floor(racks_per_row=9, rack_pitch_m=1.0, cross_trays=2, slack_fraction=0.0)
    servers = [ServerLoad(id="box", count=18, rack_units=8, power_kw=40.0)]
    layout = design_racks(
        servers=servers, switches=[], limits=RackLimits(rack_units=48, power_kw=44.0), floor_plan=floor
    )
    pair = TierWiring("node-node", Tier.NODE, Tier.NODE, np.array([1]), np.array([10]), np.array([1]))
    table = link_tables([pair], layout)[0]
    drops = 2 * (2.5 - 4 * UNIT_M)
    assert table.length_m == pytest.approx([1.0 + 3.0 + 1.0 + drops])


def test_another_layout_than_the_design_is_refused() -> None:
    _, layout = placed(256)
    other, _ = placed(512)
    with pytest.raises(ValueError, match="other nodes or switches"):
        link_tables(wiring(other), layout)


def test_sixteen_thousand_gpus_take_milliseconds() -> None:
    """About 10 ms with every port and unit; the bound leaves room for a busy machine."""
    built, layout = placed(16384)
    spent = []
    for _ in range(5):
        start = time.perf_counter()
        lengths = link_tables(wiring(built), layout)
        spent.append(time.perf_counter() - start)
    assert min(spent) < 0.2
    assert np.sum([tier.total for tier in lengths]) == built.links
