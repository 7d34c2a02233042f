"""Counts of one folded Clos, whole and partly built."""

from __future__ import annotations

import pytest

from planner.design.clos import Clos, LeafSplit, groups_max, leaf_split, pods_of

WHOLE = Clos(3, (4, 4, 2), 8, 32, 1, 4, (32, 32, 16))


@pytest.mark.parametrize(
    ("groups", "pods", "tiers", "cores"),
    [(1, (1,), 2, 0), (4, (4,), 2, 0), (5, (4, 1), 3, 128), (10, (4, 4, 2), 3, 128)],
)
def test_a_part_has_the_spines_of_its_pods_and_cores_from_the_second_pod(
    groups: int, pods: tuple[int, ...], tiers: int, cores: int
) -> None:
    part = WHOLE.first_groups(groups)
    assert (part.pods, part.tiers, part.spines, part.cores) == (pods, tiers, 32 * len(pods), cores)


def test_links_of_a_spine_are_spread_over_its_cores_evenly() -> None:
    assert WHOLE.links_to_cores().tolist() == [[8] * 4, [8] * 4, [4] * 4]
    assert WHOLE.spine_core_links == 32 * (32 + 32 + 16)


def test_a_ratio_above_the_spines_leaves_room_for_more_leaves() -> None:
    fair = groups_max(tiers=3, leaves_per_group=8, spine_radix=64, core_radix=64)
    tapered = groups_max(
        tiers=3, leaves_per_group=8, spine_radix=64, core_radix=64, spine_oversubscription=3.0
    )
    assert (fair, tapered) == (256, 384)


def test_pods_too_small_for_a_leaf_group_are_none() -> None:
    assert pods_of(groups=2, leaves_per_group=8, split=LeafSplit(4, 4, 4), spine_down=4) is None


def test_a_leaf_without_oversubscription_is_halved() -> None:
    assert leaf_split(radix=144, oversubscription=1.0) == LeafSplit(72, 72, 72)
