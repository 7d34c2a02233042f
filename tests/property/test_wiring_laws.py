"""Laws of the wiring: counted links, no port twice, growth that moves nothing."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, Tier, Topology, design_fabric
from planner.design.growth import growth_stages, room_to_grow
from planner.design.wiring import reserved_ports_at, wiring, wiring_ports
from planner.errors import DesignError

SWITCHED = (
    Topology.RAIL_OPTIMISED,
    Topology.FAT_TREE,
    Topology.RAIL_ONLY,
    Topology.DUAL_TOR,
    Topology.DRAGONFLY,
)


@st.composite
def any_request(draw: st.DrawFn, *, nodes_max: int = 400) -> FabricRequest:
    """Every topology on switches small and large, so that each is met with every number of tiers."""
    topology = draw(st.sampled_from([*SWITCHED, Topology.TORUS, Topology.DIRECT]))
    switchless = topology in (Topology.TORUS, Topology.DIRECT)
    nics = draw(st.sampled_from([1, 2, 4, 8]))
    leaf = SwitchPorts("s", draw(st.sampled_from([8, 16, 18, 32, 36, 64])), 800.0, 2)
    spine = SwitchPorts("t", draw(st.sampled_from([8, 16, 32, 64])), 800.0, 2)
    planes = 2 if topology is Topology.DUAL_TOR else draw(st.sampled_from([1, 2, 4]))
    per_node = draw(st.sampled_from([1, 4, 8]))
    return FabricRequest(
        gpus=per_node * draw(st.integers(1, nodes_max)),
        gpus_per_node=per_node,
        nics_per_node=nics,
        nic_rate_gbit_per_s=400.0 * planes,
        planes=planes,
        leaf=leaf,
        spine=spine,
        topology=topology,
        oversubscription=draw(st.sampled_from([1.0, 1.5, 2.0, 3.0])),
        spine_oversubscription=draw(st.sampled_from([1.0, 2.0, 7.0])),
        reserved_ports=0 if switchless else draw(st.sampled_from([0, 1, 4, 9])),
        scaleup_domain_gpus=draw(st.sampled_from([None, 4 * per_node])),
        whole_nodes=draw(st.booleans()),
        rail_tiers_max=draw(st.sampled_from([1, 2, 3])),
        paired=draw(st.booleans()) and draw(st.booleans()),
    )


def built_or_none(request: FabricRequest) -> FabricDesign | None:
    try:
        return design_fabric(request)
    except DesignError as error:
        assert all(problem.remedy for problem in error.problems)
        return None


def ports_of(design: FabricDesign, kind: Tier) -> int:
    """Ports of one item at the link's rate."""
    return design.request.links_per_node if kind is Tier.NODE else design.request.radix(kind)


def counted_links(design: FabricDesign) -> dict[str, int]:
    wanted = {
        "node-leaf": design.node_leaf_links,
        "leaf-spine": design.leaf_spine_links,
        "spine-core": design.spine_core_links,
        f"{design.lateral_tier}-{design.lateral_tier}": design.lateral_links,
    }
    return {tier: links for tier, links in wanted.items() if links}


def ends(design: FabricDesign) -> Counter[tuple[Tier, int, int]]:
    """How often each port of each item is used, reserved ones included."""
    found: Counter[tuple[Tier, int, int]] = Counter()
    for part in wiring_ports(design):
        pairs = part.pairs
        found.update(
            (Tier(part.lower_kind), *at)
            for at in zip(pairs.lower.tolist(), pairs.lower_port.tolist(), strict=True)
        )
        found.update(
            (Tier(part.upper_kind), *at)
            for at in zip(pairs.upper.tolist(), pairs.upper_port.tolist(), strict=True)
        )
    leaf, port = reserved_ports_at(design)
    found.update((Tier.LEAF, *at) for at in zip(leaf.tolist(), port.tolist(), strict=True))
    return found


def joined(design: FabricDesign) -> set[tuple[str, int, int, int, int]]:
    """Every link with its ports."""
    found = set()
    for part in wiring_ports(design):
        pairs = part.pairs
        columns = (pairs.lower, pairs.lower_port, pairs.upper, pairs.upper_port)
        found |= {(part.tier, *row) for row in zip(*(column.tolist() for column in columns), strict=True)}
    return found


@settings(deadline=None, max_examples=250)
@given(any_request())
def test_the_wiring_has_exactly_the_counted_links(request_: FabricRequest) -> None:
    built = built_or_none(request_)
    assume(built is not None)
    assert built is not None
    assert {part.tier: part.total for part in wiring(built)} == counted_links(built)
    assert {part.tier: len(part.pairs.lower) for part in wiring_ports(built)} == counted_links(built)
    counts = {
        Tier.NODE: built.nodes,
        Tier.LEAF: built.leaves,
        Tier.SPINE: built.spines,
        Tier.CORE: built.cores,
    }
    for part in wiring(built):
        for kind, items in ((Tier(part.lower_kind), part.lower), (Tier(part.upper_kind), part.upper)):
            assert int(items.min()) >= 0 and int(items.max()) < counts[kind]


@settings(deadline=None, max_examples=250)
@given(any_request(nodes_max=120))
def test_no_port_has_two_links_and_no_item_more_links_than_ports(request_: FabricRequest) -> None:
    built = built_or_none(request_)
    assume(built is not None)
    assert built is not None
    used = ends(built)
    assert max(used.values(), default=1) == 1
    assert all(0 <= port < ports_of(built, kind) for kind, _, port in used)
    for tier in built.tier_ports:
        assert sum(kind is tier.tier for kind, _, _ in used) == tier.used
    assert sum(len(part.pairs.lower) for part in wiring_ports(built)) + built.reserved_links == built.links


@settings(deadline=None, max_examples=120)
@given(any_request(nodes_max=60), st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_growth_adds_links_and_moves_none(request_: FabricRequest, more: list[int]) -> None:
    """Each stage's links, ports and reserved ports are among those of the next."""
    step = max(request_.gpus_per_node, request_.scaleup_domain_gpus or 0)
    sizes = np.cumsum([-(-request_.gpus // step) * step, *(step * n for n in more)]).tolist()
    try:
        stages = [design_fabric(replace(request_, gpus=gpus, grow_to_gpus=sizes[-1])) for gpus in sizes]
    except DesignError as error:
        assert all(problem.remedy for problem in error.problems)
        return
    whole = built_or_none(replace(request_, gpus=sizes[-1], grow_to_gpus=sizes[-1]))
    assert whole is not None and whole.to_json() == stages[-1].to_json()
    for earlier, later in itertools.pairwise(stages):
        assert joined(earlier) <= joined(later)
        now, then = (
            set(zip(*(a.tolist() for a in reserved_ports_at(d)), strict=True)) for d in (earlier, later)
        )
        assert now <= then
    assert max(ends(stages[-1]).values(), default=1) == 1
    added = growth_stages(request_, sizes)
    assert sum(stage.links for stage in added) == stages[-1].links
    assert all(
        min(stage.leaves, stage.spines, stage.cores, stage.links, stage.cables) >= 0 for stage in added
    )


@settings(deadline=None, max_examples=120)
@given(any_request(nodes_max=200))
def test_gpus_that_fit_free_ports_need_no_other_switch(request_: FabricRequest) -> None:
    """As many GPUs as the leaves have room for change no count of switches."""
    request_ = replace(request_, oversubscription=1.0, paired=False)
    built = built_or_none(request_)
    assume(built is not None)
    assert built is not None
    room = room_to_grow(built)
    assert 0 <= room.leaf_gpus <= room.tier_gpus
    assert room.topology_gpus is None or room.tier_gpus <= room.topology_gpus
    if built.leaves:
        fuller = design_fabric(replace(request_, gpus=request_.gpus + room.leaf_gpus))
        assert (fuller.leaves, fuller.tiers) == (built.leaves, built.tiers)


@pytest.mark.parametrize("topology", SWITCHED)
@pytest.mark.parametrize("radix", [8, 32, 64, 144, 512])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_up_to_131072_endpoints_in_any_radix_ports_balance(
    topology: Topology, radix: int, data: st.DataObject
) -> None:
    endpoints = data.draw(st.integers(1, 131_072))
    built = built_or_none(
        FabricRequest(
            gpus=endpoints,
            gpus_per_node=1,
            nics_per_node=1,
            nic_rate_gbit_per_s=400.0,
            leaf=SwitchPorts("s", radix, 400.0, 2),
            topology=topology,
            rail_tiers_max=3,
        )
    )
    if built is None or not built.leaves:
        return
    ports = {tier.tier: tier for tier in built.tier_ports}
    assert all(tier.free >= 0 for tier in built.tier_ports)
    assert ports[Tier.LEAF].down_used == built.node_leaf_links == endpoints * built.planes
    assert ports[Tier.LEAF].up_used == built.leaf_spine_links
    if Tier.SPINE in ports:
        assert ports[Tier.SPINE].down_used == built.leaf_spine_links
        assert ports[Tier.SPINE].up_used == built.spine_core_links + 2 * built.lateral_links
    if Tier.CORE in ports:
        assert ports[Tier.CORE].down_used == built.spine_core_links


@pytest.mark.parametrize(
    ("topology", "radix", "endpoints"),
    [
        (Topology.RAIL_OPTIMISED, 128, 131_072),
        (Topology.FAT_TREE, 512, 131_072),
        (Topology.DRAGONFLY, 64, 131_072),
        (Topology.DUAL_TOR, 128, 131_072),
    ],
)
def test_the_largest_networks_are_wired_port_by_port(topology: Topology, radix: int, endpoints: int) -> None:
    built = design_fabric(
        FabricRequest(
            gpus=endpoints,
            gpus_per_node=8,
            nics_per_node=8,
            nic_rate_gbit_per_s=400.0,
            leaf=SwitchPorts("s", radix, 400.0, 2),
            topology=topology,
        )
    )
    for part in wiring_ports(built):
        pairs = part.pairs
        for kind, items, ports in (
            (Tier(part.lower_kind), pairs.lower, pairs.lower_port),
            (Tier(part.upper_kind), pairs.upper, pairs.upper_port),
        ):
            each = ports_of(built, kind)
            assert int(ports.max()) < each
            assert part.lower_kind is part.upper_kind or len(np.unique(items * each + ports)) == len(items)
