"""Networks of the topologies beside the Clos of rails: counts a reader can check, and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.design.fabric import FabricDesign, FabricRequest, SwitchPorts, Tier, Topology, design_fabric
from planner.design.growth import growth_stages, largest_gpus, room_to_grow
from planner.design.reach import blast_radius, hops
from planner.design.wiring import wiring
from planner.errors import DesignError

TWIN = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
WIDE = SwitchPorts("sn5600", 64, 800.0, 4)
DGX = FabricRequest(gpus=1024, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0, leaf=TWIN)


def of(topology: Topology, **changes: object) -> FabricDesign:
    return design_fabric(replace(DGX, topology=topology, **changes))  # type: ignore[arg-type]


def test_a_fat_tree_has_every_nic_of_a_node_on_one_leaf() -> None:
    built = of(Topology.FAT_TREE)
    assert (built.topology, built.leaves, built.spines) == (Topology.FAT_TREE, 32, 16)
    assert built.nodes_per_leaf_group == 4  # 32 ports of a leaf towards nodes of 8 NICs
    node_leaf = wiring(built)[0]
    assert all(len(set(node_leaf.upper[node_leaf.lower == node])) == 1 for node in (0, 3, 4, 127))


def test_dual_tor_puts_the_halves_of_a_nic_on_two_leaves_of_separate_planes() -> None:
    built = of(Topology.DUAL_TOR, leaf=WIDE, nic_ports=2)
    assert (built.planes, built.request.link_rate_gbit_per_s) == (2, 200.0)
    assert built.node_leaf_cables == built.node_leaf_links == 2 * 1024
    leaf_of = wiring(built)[0]
    assert len(set(leaf_of.upper[leaf_of.lower == 0])) == 16  # 8 rails on 2 planes
    leaf = next(row for row in blast_radius(built) if row.element == "leaf")
    assert leaf.lost_fraction == 1 / 16


def test_dual_tor_refuses_other_numbers_of_planes() -> None:
    with pytest.raises(DesignError, match="has 2 planes, 4 asked"):
        of(Topology.DUAL_TOR, planes=4)


def test_a_pod_to_core_ratio_saves_cores_and_bisection() -> None:
    fair = of(Topology.RAIL_OPTIMISED, gpus=16_384)
    tapered = of(Topology.RAIL_OPTIMISED, gpus=16_384, spine_oversubscription=15.0)
    assert (fair.tiers, tapered.tiers) == (3, 3)
    assert 1.0 < tapered.spine_oversubscription <= 15.0
    assert tapered.cores < fair.cores
    assert tapered.bisection_gbit_per_s < fair.bisection_gbit_per_s


def test_every_pair_of_dragonfly_groups_is_joined() -> None:
    built = of(Topology.DRAGONFLY, gpus=16_384)
    assert built.shape is not None
    groups = len(built.shape.pods)
    assert (groups, built.cores, built.tiers, built.lateral_tier) == (16, 0, 2, Tier.SPINE)
    lateral = next(part for part in wiring(built) if part.tier == "spine-spine")
    spines = built.shape.spines_per_pod
    joined = {(int(a) // spines, int(b) // spines) for a, b in zip(lateral.lower, lateral.upper, strict=True)}
    assert joined == {(a, b) for a in range(groups) for b in range(a + 1, groups)}
    assert hops(built).farthest == 4


def test_a_dragonfly_of_one_link_a_pair_has_the_known_size() -> None:
    """(R/2)^4 endpoints (recalled in topo-dragonfly), and the one group more that the ports leave room for."""
    for radix, published in ((36, 104_976), (64, 1_048_576)):
        plain = FabricRequest(
            gpus=8,
            gpus_per_node=1,
            nics_per_node=1,
            nic_rate_gbit_per_s=400.0,
            leaf=SwitchPorts("s", radix, 400.0, 1),
            topology=Topology.DRAGONFLY,
        )
        most = largest_gpus(plain, tiers=2)
        assert most == published + (radix // 2) ** 2
        full = design_fabric(replace(plain, gpus=published))
        assert full.shape is not None and full.shape.links_per_pod_pair == 1


def test_a_dragonfly_too_large_is_refused() -> None:
    small = SwitchPorts("s", 8, 400.0, 1)
    with pytest.raises(DesignError, match="a dragonfly needs 280 endpoint ports, has 272"):
        of(Topology.DRAGONFLY, gpus=280, gpus_per_node=1, nics_per_node=1, leaf=small)


def test_a_torus_has_no_switch_and_joins_each_node_to_its_neighbours() -> None:
    built = of(Topology.TORUS)
    assert built.torus is not None
    assert (built.switches, built.torus.dimensions, built.torus.links) == (0, (8, 4, 4), (2, 1, 1))
    assert built.lateral_links == 128 * 4
    assert hops(built).through == "nodes"
    with pytest.raises(DesignError, match="can't grow without moving"):
        of(Topology.TORUS, grow_to_gpus=2048)
    with pytest.raises(DesignError, match="2 links or more of each node, it has 1"):
        of(Topology.TORUS, nics_per_node=1)


def test_domains_are_joined_each_to_each() -> None:
    trays = {"gpus_per_node": 4, "nics_per_node": 4, "scaleup_domain_gpus": 72}
    built = of(Topology.DIRECT, gpus=72 * 9, **trays)
    assert built.mesh is not None
    assert (built.mesh.domains, built.mesh.links_per_pair, built.lateral_links) == (9, 9, 36 * 9)
    with pytest.raises(DesignError, match="a domain needs 73 links to reach every other, it has 72"):
        of(Topology.DIRECT, gpus=72 * 74, **trays)


@pytest.mark.parametrize("topology", [Topology.TORUS, Topology.DIRECT])
def test_without_switches_no_port_can_be_kept(topology: Topology) -> None:
    with pytest.raises(DesignError, match="without a switch there are none"):
        of(topology, gpus=64, reserved_ports=4)


def test_a_pair_takes_half_of_every_node_on_each_switch() -> None:
    built = of(Topology.RAIL_OPTIMISED, gpus=64, paired=True)
    assert (built.leaves, built.lateral_links, built.lateral_cables) == (2, 32, 16)
    assert built.tier_ports[0].free == 0
    with pytest.raises(DesignError, match="a switch of a pair needs"):
        of(Topology.RAIL_OPTIMISED, gpus=64, paired=True, reserved_ports=4)


def test_a_network_laid_out_to_grow_is_not_the_smallest_for_now() -> None:
    """512 GPUs alone take 8 spines; laid out for 4,096 every leaf reaches the 32 spines of its pod."""
    now, later = (
        of(Topology.RAIL_OPTIMISED, gpus=512),
        of(Topology.RAIL_OPTIMISED, gpus=512, grow_to_gpus=4096),
    )
    assert (now.leaves, now.spines) == (16, 8)
    assert (later.leaves, later.spines, later.cores) == (16, 32, 0)
    assert room_to_grow(later).tier_gpus >= 512
    assert sum(stage.leaves for stage in growth_stages(DGX, [512, 1024, 4096])) == 128


def test_growth_downwards_is_refused() -> None:
    with pytest.raises(DesignError, match="laid out for 512 GPUs can't hold 1,024"):
        of(Topology.RAIL_OPTIMISED, grow_to_gpus=512)
    with pytest.raises(DesignError, match="rising numbers"):
        growth_stages(DGX, [1024, 512])


def test_reserved_ports_of_a_growing_network_stand_in_its_first_leaf_group() -> None:
    built = of(Topology.RAIL_OPTIMISED, gpus=248, reserved_ports=4, grow_to_gpus=1016)
    assert (built.leaves, built.displaced_nodes) == (8, 1)
    whole = of(Topology.RAIL_OPTIMISED, gpus=1016, reserved_ports=4, grow_to_gpus=1016)
    assert (whole.leaves, whole.spines) == (32, 16)  # the published counts of 127 nodes


@pytest.mark.parametrize(
    ("changes", "element", "gpus", "lost"),
    [
        ({}, "leaf", 256, 1 / 8),
        ({}, "spine", 1024, 1 / 16),
        ({"planes": 2, "leaf": WIDE}, "plane", 1024, 1 / 2),
        ({"gpus": 16_384}, "core", 16_384, 1 / 256),
    ],
)
def test_a_failure_takes_the_share_that_is_left_out(
    changes: dict[str, object], element: str, gpus: int, lost: float
) -> None:
    built = of(Topology.RAIL_OPTIMISED, **changes)
    row = next(row for row in blast_radius(built) if row.element == element)
    assert (row.gpus, row.lost_fraction) == (gpus, lost)


@pytest.mark.parametrize(("gpus", "farthest"), [(32, 1), (1024, 3), (16_384, 5)])
def test_hops_rise_with_tiers(gpus: int, farthest: int) -> None:
    found = hops(of(Topology.RAIL_OPTIMISED, gpus=gpus))
    assert (found.nearest, found.farthest) == (1, farthest)
