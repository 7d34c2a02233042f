"""Link lengths from the floor."""

from __future__ import annotations

import time

import numpy as np
import pytest

from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, design_fabric
from planner.design.lengths import fabric_link_lengths
from planner.design.racks import RackLayout, RackLimits, ServerLoad, SwitchLoad, design_racks

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
    """Four racks either side of the network rack: 1 to 4 pitches of 0.6 m, two drops of 1.5 m, 1 m slack."""
    built, layout = placed(256)
    node_leaf, leaf_spine = fabric_link_lengths(built, layout)
    assert node_leaf.length_m == pytest.approx([4.6, 5.2, 5.8, 6.4])
    assert list(node_leaf.links) == [64, 64, 64, 64]
    assert leaf_spine.length_m == pytest.approx([2.0])  # inside the one network rack
    assert node_leaf.mean_m == pytest.approx(5.5)


def test_another_layout_than_the_design_is_refused() -> None:
    built, _ = placed(256)
    _, other = placed(512)
    with pytest.raises(ValueError, match="other nodes or switches"):
        fabric_link_lengths(built, other)


def test_sixteen_thousand_gpus_take_milliseconds() -> None:
    """The aim is 5 ms; the bound leaves room for a busy machine."""
    built, layout = placed(16384)
    spent = []
    for _ in range(5):
        start = time.perf_counter()
        lengths = fabric_link_lengths(built, layout)
        spent.append(time.perf_counter() - start)
    assert min(spent) < 0.02
    assert np.sum([tier.total for tier in lengths]) == built.links
