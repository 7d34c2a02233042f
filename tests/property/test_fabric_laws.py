"""Laws of every fabric: ports and links balance, limits hold, growth never shrinks it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.design.clos_search import LINKS_PER_SWITCH
from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, Tier, Topology, design_fabric
from planner.design.lengths import link_tables
from planner.design.phases import Phase, fabric_phases
from planner.design.ports import fan_out
from planner.design.racks import RackLimits, ServerLoad, SwitchLoad, design_racks
from planner.design.wiring import wiring
from planner.errors import DesignError


@st.composite
def requests(draw: st.DrawFn) -> FabricRequest:
    """Small clusters on small switches, so that every number of tiers is met."""
    nics = draw(st.sampled_from([1, 2, 4, 8]))
    rails = draw(st.sampled_from([rails for rails in (1, 2, 4, 8) if nics % rails == 0]))
    switch = SwitchPorts("s", draw(st.sampled_from([8, 16, 18, 20, 32, 64])), 800.0, 2)
    spine = SwitchPorts("t", draw(st.sampled_from([16, 32, 64])), 800.0, 2)
    return FabricRequest(
        gpus=8 * draw(st.integers(1, 300)),
        gpus_per_node=8,
        nics_per_node=nics,
        rails=rails,
        nic_rate_gbit_per_s=400.0 * (planes := draw(st.sampled_from([1, 2, 4]))),
        planes=planes,
        leaf=switch,
        spine=spine,
        topology=draw(
            st.sampled_from(
                [Topology.RAIL_OPTIMISED, Topology.RAIL_ONLY, Topology.FAT_TREE, Topology.DRAGONFLY]
            )
        ),
        oversubscription=draw(st.sampled_from([1.0, 1.5, 2.0, 3.0])),
        reserved_ports=draw(st.sampled_from([0, 4])),
        whole_nodes=draw(st.booleans()),
        rail_tiers_max=draw(st.sampled_from([1, 2, 3])),
    )


def built_or_none(request: FabricRequest) -> FabricDesign | None:
    try:
        return design_fabric(request)
    except DesignError as error:
        assert all(problem.remedy for problem in error.problems)
        return None


@settings(deadline=None, max_examples=150)
@given(requests())
def test_every_link_has_two_ends_and_no_tier_has_more_links_than_ports(request_: FabricRequest) -> None:
    built = built_or_none(request_)
    if built is None or not built.leaves:
        return
    down = {tier.tier: tier.down_used for tier in built.tier_ports}
    up = {tier.tier: tier.up_used for tier in built.tier_ports}
    assert down[Tier.LEAF] == built.node_leaf_links + built.reserved_links
    assert up[Tier.LEAF] == down.get(Tier.SPINE, 0) == built.leaf_spine_links
    assert down.get(Tier.CORE, 0) == built.spine_core_links
    assert up.get(Tier.SPINE, 0) == built.spine_core_links + 2 * built.lateral_links
    assert all(tier.free >= 0 for tier in built.tier_ports)
    assert sum(tier.used for tier in built.tier_ports) == 2 * built.links - built.node_leaf_links - (
        built.reserved_links
    )
    assert built.leaf_down_ports + built.uplinks_per_leaf <= built.radix


@settings(deadline=None, max_examples=150)
@given(requests())
def test_oversubscription_stays_within_the_request(request_: FabricRequest) -> None:
    built = built_or_none(request_)
    if built is not None:
        assert built.oversubscription <= request_.oversubscription + 1e-12


@settings(deadline=None, max_examples=100)
@given(requests(), st.integers(1, 40))
def test_more_gpus_never_need_fewer_leaves(request_: FabricRequest, more: int) -> None:
    """Nor, where leaves are oversubscribed and a leaf more may save many spines, less of everything."""
    smaller = built_or_none(request_)
    larger = built_or_none(replace(request_, gpus=request_.gpus + 8 * more))
    if smaller is None:
        assert larger is None
    elif larger is not None and request_.oversubscription == 1.0:
        assert larger.leaves >= smaller.leaves
    elif larger is not None and larger.tiers == smaller.tiers and larger.topology is not Topology.DRAGONFLY:
        weights = [LINKS_PER_SWITCH * one.switches + one.links for one in (smaller, larger)]
        assert weights[1] >= weights[0]


@settings(deadline=None, max_examples=100)
@given(requests(), st.lists(st.integers(1, 50), min_size=1, max_size=4))
def test_phases_add_up_to_the_design(request_: FabricRequest, nodes: list[int]) -> None:
    built = built_or_none(replace(request_, gpus=8 * sum(nodes)))
    if built is None:
        return
    phases = [Phase(f"p{i}", date(2027, 1 + i, 1), 8 * n) for i, n in enumerate(nodes)]
    parts = fabric_phases(built, phases)
    for name in ("leaves", "spines", "cores", "node_leaf_links", "node_leaf_cables", "reserved_links"):
        assert sum(getattr(part, name) for part in parts) == getattr(built, name)
    for name in (
        "leaf_spine_links",
        "leaf_spine_cables",
        "spine_core_links",
        "spine_core_cables",
        "nodes",
        "lateral_links",
        "lateral_cables",
    ):
        assert sum(getattr(part, name) for part in parts) == getattr(built, name)
        assert all(getattr(part, name) >= 0 for part in parts)
    assert parts[0].spines == built.spines


@settings(deadline=None, max_examples=60)
@given(requests())
def test_every_link_of_the_design_gets_a_length(request_: FabricRequest) -> None:
    built = built_or_none(request_)
    if built is None:
        return
    layout = design_racks(
        servers=[ServerLoad(id="server", count=built.nodes, rack_units=8, power_kw=10.0)],
        switches=[
            SwitchLoad(tier="leaf", count=built.leaves, rack_units=1, power_kw=1.5),
            SwitchLoad(tier="spine", count=built.spines, rack_units=1, power_kw=1.5, central=True),
            SwitchLoad(tier="core", count=built.cores, rack_units=1, power_kw=1.5, central=True),
        ],
        limits=RackLimits(rack_units=42, power_kw=40.0),
    )
    assert len(set(zip(layout.x_m.round(3), layout.y_m.round(3), strict=True))) == layout.racks
    assert np.isclose(
        layout.power_kw.sum(), 10.0 * built.nodes + 1.5 * (built.leaves + built.spines + built.cores)
    )
    assert layout.power_kw.max() <= 40.0 + 1e-9
    totals = {table.tier: table.total for table in link_tables(wiring(built), layout)}
    assert totals.get("node-leaf", 0) == built.node_leaf_links
    assert totals.get("leaf-spine", 0) == built.leaf_spine_links
    assert totals.get("spine-core", 0) == built.spine_core_links


@pytest.mark.parametrize("uplinks", [8, 12, 32, 64, 72])
@given(data=st.data())
def test_spines_are_the_smallest_divisor_that_has_the_ports(uplinks: int, data: st.DataObject) -> None:
    leaves = data.draw(st.integers(1, 2 * uplinks))
    spread = fan_out(lowers=[(leaves, uplinks)], uplinks_max=uplinks, upper_ports=2 * uplinks)
    least = ceil(leaves / 2)
    divisors = [n for n in range(1, uplinks + 1) if uplinks % n == 0 and n >= least]
    assert spread is not None
    assert spread.uppers == divisors[0]
