"""The network bought phase by phase."""

from __future__ import annotations

from datetime import date

import pytest

from planner.design.fabric import FabricRequest, SwitchPorts, design_fabric
from planner.design.phases import Phase, fabric_phases
from planner.errors import DesignError

BUILT = design_fabric(
    FabricRequest(
        gpus=1016,
        gpus_per_node=8,
        nics_per_node=8,
        nic_rate_gbit_per_s=400.0,
        leaf=SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2),
        reserved_ports=4,
    )
)


def test_the_spine_comes_first_and_leaves_with_their_servers() -> None:
    later, first = Phase("b", date(2028, 1, 1), 768), Phase("a", date(2027, 1, 1), 248)
    parts = fabric_phases(BUILT, [later, first])
    assert [part.id for part in parts] == ["a", "b"]
    assert [part.spines for part in parts] == [16, 0]
    assert [part.leaves for part in parts] == [8, 24]
    assert [part.leaf_spine_links for part in parts] == [256, 768]
    assert [part.reserved_links for part in parts] == [4, 0]


@pytest.mark.parametrize("gpus", [[248, 760], [4, 1012]])
def test_phases_that_do_not_make_the_cluster_are_refused(gpus: list[int]) -> None:
    phases = [Phase(f"p{i}", date(2027, 1 + i, 1), n) for i, n in enumerate(gpus)]
    with pytest.raises(DesignError):
        fabric_phases(BUILT, phases)
