"""The count-only path counts what the designer draws, and cost rises with endpoints."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.design.clos_search import LINKS_PER_SWITCH
from planner.design.counts import CLOS, WHY_NOT, fabric_counts, stacked
from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, Topology, design_fabric
from planner.errors import DesignError

COUNTED = (
    "tiers",
    "leaves",
    "spines",
    "cores",
    "node_leaf_links",
    "node_leaf_cables",
    "reserved_links",
    "leaf_spine_links",
    "leaf_spine_cables",
    "spine_core_links",
    "spine_core_cables",
)


@st.composite
def clos_requests(draw: st.DrawFn) -> FabricRequest:
    """The Clos family with every option that the counts know."""
    topology = draw(st.sampled_from(CLOS))
    nics = draw(st.sampled_from([1, 2, 4, 8]))
    planes = 2 if topology is Topology.DUAL_TOR else draw(st.sampled_from([1, 2, 4]))
    sizes = st.sampled_from([4, 8, 18, 20, 32, 64])
    return FabricRequest(
        gpus=8 * draw(st.integers(1, 4000)),
        gpus_per_node=8,
        nics_per_node=nics,
        nic_rate_gbit_per_s=400.0 * planes,
        nic_ports=draw(st.sampled_from([1, 2])) if planes > 1 else 1,
        planes=planes,
        leaf=SwitchPorts("s", draw(sizes), 800.0, 2),
        spine=SwitchPorts("t", draw(sizes), 800.0, 2, ports_per_cage=draw(st.sampled_from([1, 2]))),
        core=SwitchPorts("u", draw(sizes), 800.0, 2),
        topology=topology,
        oversubscription=draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, 7.0])),
        spine_oversubscription=draw(st.sampled_from([1.0, 2.0, 7.0])),
        reserved_ports=draw(st.sampled_from([0, 1, 4, 9])),
        scaleup_domain_gpus=draw(st.sampled_from([None, 64])),
        tiers_max=draw(st.sampled_from([1, 2, 3])),
        rail_tiers_max=draw(st.sampled_from([1, 2, 3])),
    )


def built_or_none(request: FabricRequest) -> FabricDesign | None:
    try:
        return design_fabric(request)
    except DesignError:
        return None


@settings(deadline=None, max_examples=60)
@given(st.lists(clos_requests(), min_size=1, max_size=12))
def test_counts_are_those_of_the_designs_or_none_can_be_built(requests: list[FabricRequest]) -> None:
    counts = fabric_counts(stacked(requests))
    for index, request in enumerate(requests):
        built = built_or_none(request)
        assert bool(counts.feasible[index]) == (built is not None), WHY_NOT[counts.why_not[index]]
        for name in COUNTED:
            assert getattr(counts, name)[index] == (0 if built is None else getattr(built, name)), name


def test_what_is_not_counted_here_is_refused() -> None:
    asked = FabricRequest(
        gpus=64,
        gpus_per_node=8,
        nics_per_node=8,
        nic_rate_gbit_per_s=400.0,
        leaf=SwitchPorts("s", 64, 400.0, 1),
    )
    for change in ({"topology": Topology.TORUS}, {"whole_nodes": False}, {"grow_to_gpus": 128}):
        with pytest.raises(ValueError, match="counted are"):
            stacked([replace(asked, **change)])


def test_ten_thousand_designs_take_less_than_a_millisecond_each() -> None:
    """They take about a tenth of that; the bound is that of the issue."""
    random = np.random.default_rng(7)
    asked = FabricRequest(
        gpus=8,
        gpus_per_node=8,
        nics_per_node=8,
        nic_rate_gbit_per_s=400.0,
        leaf=SwitchPorts("s", 64, 400.0, 1),
    )
    small = stacked([asked])
    n = 10_000
    many = replace(
        small,
        **{name: np.repeat(getattr(small, name), n) for name in small.__dataclass_fields__},
    )
    radix = random.choice([32, 64, 128, 144, 512], n)
    many = replace(
        many,
        gpus=8 * random.integers(1, 16_384, n),
        leaf_radix=radix,
        spine_radix=radix,
        core_radix=radix,
        oversubscription=random.choice([1.0, 2.0, 3.0], n),
        planes=random.choice([1, 2, 4], n),
    )
    start = time.perf_counter()
    found = fabric_counts(many)
    assert (time.perf_counter() - start) / n < 1e-3
    assert found.feasible.mean() > 0.7  # the rest is too large for 32 ports


@pytest.mark.parametrize("topology", CLOS)
@pytest.mark.parametrize("radix", [8, 16, 32, 64, 128, 144, 512])
@pytest.mark.parametrize(
    ("prices", "ratio"),
    [
        ((1.0, 0.0), 1.0),
        ((0.0, 1.0), 1.0),
        ((float(LINKS_PER_SWITCH), 1.0), 2.0),
        ((float(LINKS_PER_SWITCH), 1.0), 3.0),
    ],
)
def test_cost_rises_with_endpoints_within_a_number_of_tiers(
    topology: Topology, radix: int, prices: tuple[float, float], ratio: float
) -> None:
    """Switches alone and cables alone rise without oversubscription, so any prices do; with it the weights do."""
    switch_usd, cable_usd = prices
    single = stacked(
        [
            FabricRequest(
                gpus=2,
                gpus_per_node=1,
                nics_per_node=1,
                nic_rate_gbit_per_s=400.0,
                leaf=SwitchPorts("s", radix, 400.0, 2),
                topology=topology,
                oversubscription=ratio,
                rail_tiers_max=3,
            )
        ]
    )
    gpus = np.unique(np.geomspace(2, 131_072, 4000).astype(np.int64))
    many = replace(
        single,
        **{name: np.repeat(getattr(single, name), len(gpus)) for name in single.__dataclass_fields__},
    )
    found = fabric_counts(replace(many, gpus=gpus))
    switches = found.leaves + found.spines + found.cores
    cables = found.node_leaf_links + found.leaf_spine_links + found.spine_core_links
    cost = switch_usd * switches + cable_usd * cables
    same = (found.tiers[1:] == found.tiers[:-1]) & found.feasible[1:] & found.feasible[:-1]
    falls = np.flatnonzero(same & (np.diff(cost) < 0))
    assert len(falls) == 0, [(int(gpus[i]), float(cost[i]), float(cost[i + 1])) for i in falls[:5]]
