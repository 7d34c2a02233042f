"""What the scenario asks of the network is read, and what an architect asks back has a line."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario

CATALOG = open_catalog()


def found(name: str, *changes: str) -> Evaluation:
    evaluation = evaluate(load_scenario(name, changes=changes), CATALOG)
    assert evaluation.refusal is None, evaluation.refusal
    return evaluation


def values(evaluation: Evaluation, *keys: str) -> tuple[float, ...]:
    return tuple(evaluation.ledger.scalar(f"design.fabric.{key}") for key in keys)


def test_hops_sizes_room_and_blast_radius_have_lines() -> None:
    plain = found("h200-1024-ndr")
    assert values(plain, "hops_nearest", "hops_farthest", "ports_used", "ports_free") == (1, 3, 3072, 0)
    assert values(plain, "largest_two_tiers_gpus", "largest_three_tiers_gpus") == (2048, 65_536)
    assert values(plain, "room_leaf_gpus", "room_topology_gpus") == (0, 1024)
    assert values(plain, "blast.leaf_gpus", "blast.leaf_lost_fraction") == (256, 0.125)


def test_growth_rails_and_ratios_of_the_scenario_shape_the_network() -> None:
    grown = found("h200-1024-ndr", "network.grow_to_gpus=4096", "network.rails=4")
    assert grown.ledger.scalar("network.grow_to_gpus") == 4096
    assert grown.ledger.scalar("network.rails") == 4
    assert values(grown, "leaf_switches", "spine_switches") == (32, 32)
    assert values(grown, "room_tier_gpus") == (3072,)
    tapered = found("h100-16384-roce", "network.spine.oversubscription=4")
    assert tapered.ledger.scalar("network.spine.oversubscription") == 4
    assert values(tapered, "spine_oversubscription") == (4,)


@pytest.mark.parametrize("topology", ["fat-tree", "dual-tor", "dragonfly", "torus"])
def test_a_cluster_of_any_topology_trains_and_is_paid_for(topology: str) -> None:
    built = found("h200-1024-ndr", f"network.topology={topology}")
    assert built.ledger.scalar("performance.training.step_s") > 0
    assert built.ledger.scalar("capex.total_usd") > 0
    switches = sum(values(built, "leaf_switches", "spine_switches", "core_switches"))
    assert (switches == 0) == (topology == "torus")
    assert values(built, "links")[0] > 0


def test_domains_joined_directly_need_no_switch_in_the_scenario() -> None:
    built = found("gb200-nvl72-16", "network.topology=direct", "network.reserved_ports=0")
    assert values(built, "leaf_switches", "links") == (0, 480)
