"""Sizes, choices and refusals of the scale-out network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.design.fabric import FabricRequest, SwitchPorts, Tier, Topology, design_fabric, endpoints_max
from planner.errors import DesignError

TWIN = SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2)
WIDE = SwitchPorts("sn5610", 64, 800.0, 2)
DGX = FabricRequest(gpus=1024, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0, leaf=TWIN)


def test_one_node_needs_no_switch() -> None:
    built = design_fabric(replace(DGX, gpus=8, nics_per_node=0))
    assert built.topology is Topology.NONE
    assert set(built.to_json().values()) == {0, 1}  # one plane, nothing else
    assert built.links == 0


def test_one_rack_scale_domain_needs_no_switch() -> None:
    trays = replace(DGX, gpus=72, gpus_per_node=4, nics_per_node=4, scaleup_domain_gpus=72)
    assert design_fabric(trays).leaves == 0
    assert design_fabric(replace(trays, gpus=144)).leaves > 0


def test_a_few_nodes_share_one_switch() -> None:
    built = design_fabric(replace(DGX, gpus=32, reserved_ports=4))
    assert (built.topology, built.leaves, built.spines, built.tiers) == (Topology.SINGLE_SWITCH, 1, 0, 1)
    assert built.tier_ports[0].free == 64 - 32 - 4


def test_each_plane_has_a_switch_of_its_own() -> None:
    assert design_fabric(replace(DGX, gpus=32, planes=2)).leaves == 2


def test_ports_kept_for_management_cost_a_scalable_unit_when_it_is_full() -> None:
    full = design_fabric(replace(DGX, gpus=1024))
    managed = design_fabric(replace(DGX, gpus=1024, reserved_ports=4))
    assert (full.leaves, managed.leaves) == (32, 40)
    assert (
        "4 ports kept for management ask for 1 more leaf group: 1 node fewer would save it, and "
        "reserved_ports: 0 would need 32 leaves and 16 spines."
    ) in managed.why
    assert not any("management" in line for line in full.why)


def test_one_leaf_group_is_said_in_the_singular() -> None:
    assert "take 1 such group, built whole" in design_fabric(replace(DGX, gpus=256)).why[0]


def test_a_cable_between_single_port_cages_carries_what_the_cage_carries() -> None:
    built = design_fabric(replace(DGX, leaf=WIDE))
    assert built.leaf_spine_links == 2 * built.leaf_spine_cables
    assert built.node_leaf_links == built.node_leaf_cables


def test_a_nic_with_a_connector_for_each_plane_has_a_cable_for_each() -> None:
    built = design_fabric(replace(DGX, planes=2, nic_ports=2))
    assert built.node_leaf_cables == built.node_leaf_links == 2048


def test_fixed_ports_of_co_packaged_optics_count_one_by_one() -> None:
    cpo = SwitchPorts("q3450", 144, 800.0, 1, pluggable=False)
    built = design_fabric(replace(DGX, gpus=10368, nic_rate_gbit_per_s=800.0, leaf=cpo))
    assert (built.radix, built.leaves, built.spines, built.tiers) == (144, 144, 72, 2)


def test_trays_of_rack_scale_systems_fill_leaves_that_whole_racks_leave_partly_empty() -> None:
    racks = replace(DGX, gpus=72 * 16, gpus_per_node=72, nics_per_node=72, rails=4, scaleup_domain_gpus=72)
    whole, spread = design_fabric(racks), design_fabric(replace(racks, whole_nodes=False))
    trays = design_fabric(replace(racks, gpus_per_node=4, nics_per_node=4))
    assert whole.leaves == 16 * 4  # 18 links of a rack on each rail: one rack for each leaf of 32 down
    assert spread.leaves == trays.leaves == 9 * 4  # 288 links of a rail over 32 down


def test_a_rail_only_network_has_a_leaf_for_each_rail_and_no_spine() -> None:
    built = design_fabric(replace(DGX, gpus=512, topology=Topology.RAIL_ONLY))
    assert (built.leaves, built.spines, built.networks) == (8, 0, 8)


def test_a_rail_larger_than_its_leaf_is_refused_or_gets_two_tiers() -> None:
    asked = replace(DGX, gpus=1024, topology=Topology.RAIL_ONLY)
    with pytest.raises(DesignError, match="a rail needs 128 ports, its leaf has 64") as refused:
        design_fabric(asked)
    assert "512 GPUs or fewer" in refused.value.problems[0].remedy
    built = design_fabric(replace(asked, rail_tiers_max=2))
    assert (built.leaves, built.spines, built.tiers) == (32, 16, 2)


def test_two_tiers_too_small_are_refused_with_needed_and_had() -> None:
    with pytest.raises(DesignError, match="needs 3,072 endpoint ports, has 2,048") as refused:
        design_fabric(replace(DGX, gpus=3072, tiers_max=2))
    assert refused.value.problems[0].remedy.startswith("3 tiers; ")


def test_a_single_switch_too_small_is_refused() -> None:
    with pytest.raises(DesignError, match="one switch needs 72 ports, has 64"):
        design_fabric(replace(DGX, gpus=72, topology=Topology.SINGLE_SWITCH))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gpus": 100}, "no whole number of nodes"),
        ({"rails": 3}, "evenly over 3 rails"),
        ({"oversubscription": 0.5}, "needs 1.0 or more"),
        ({"nic_rate_gbit_per_s": 1600.0}, "a link needs 1,600 Gbit/s"),
        ({"nics_per_node": 0}, "1 NIC or more"),
        ({"topology": Topology.NONE}, "topology is none"),
        ({"planes": 3, "nic_ports": 2}, "3 planes"),
        ({"nics_per_node": 80, "rails": 1, "gpus": 16}, "a node needs 80 ports"),
    ],
)
def test_what_cannot_be_built_is_refused_with_a_remedy(change: dict[str, object], message: str) -> None:
    with pytest.raises(DesignError, match=message) as refused:
        design_fabric(replace(DGX, **change))  # type: ignore[arg-type]
    assert refused.value.problems[0].remedy


def test_oversubscription_saves_spines_and_bisection() -> None:
    fair, tight = design_fabric(DGX), design_fabric(replace(DGX, oversubscription=3.0))
    assert 1.0 < tight.oversubscription <= 3.0
    assert tight.spines < fair.spines
    assert tight.bisection_gbit_per_s < fair.bisection_gbit_per_s == 1024 * 400.0 / 2


def test_the_most_that_fits_really_fits_and_one_node_more_does_not() -> None:
    for tiers in (2, 3):
        small = replace(DGX, leaf=SwitchPorts("r32", 32, 400.0, 1), tiers_max=tiers)
        most = endpoints_max(small)
        assert design_fabric(replace(small, gpus=most)).tiers == tiers
        with pytest.raises(DesignError):
            design_fabric(replace(small, gpus=most + 8))


def test_folded_groups_hold_every_item() -> None:
    built = design_fabric(replace(DGX, gpus=8 * 700, planes=2))
    held: dict[Tier, int] = {}
    for group in built.tier_groups():
        held[group.tier] = held.get(group.tier, 0) + group.groups * group.per_group
    assert held == {
        Tier.NODE: 700,
        Tier.LEAF: built.leaves,
        Tier.SPINE: built.spines,
        Tier.CORE: built.cores,
    }


@pytest.mark.parametrize("topology", [Topology.SINGLE_SWITCH, Topology.RAIL_ONLY])
def test_fewer_gpus_are_no_remedy_where_a_switch_has_no_room_for_one_node(topology: Topology) -> None:
    small = replace(DGX, leaf=SwitchPorts("small", 4, 400.0, 1), reserved_ports=6, topology=topology)
    with pytest.raises(DesignError) as refused:
        design_fabric(small)
    assert "GPUs or fewer" not in str(refused.value)
    with pytest.raises(DesignError, match="56 GPUs or fewer"):
        design_fabric(replace(DGX, topology=Topology.SINGLE_SWITCH, reserved_ports=4))
