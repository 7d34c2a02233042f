"""The cheapest way to build a folded Clos."""

from __future__ import annotations

import pytest

from planner.design.clos import LeafSplit
from planner.design.clos_search import three_tiers, two_tiers

HALVES = LeafSplit(32, 32, 32)


@pytest.mark.parametrize(("groups", "spines"), [(1, 4), (2, 8), (3, 16), (4, 16)])
def test_spines_of_two_tiers_are_the_published_divisors(groups: int, spines: int) -> None:
    """B200 SuperPODs of one to four units (topo-spine-divisor)."""
    found = two_tiers(groups=groups, leaves_per_group=8, split=HALVES, spine_radix=64)
    assert found is not None and found.spines == spines


def test_more_leaves_than_ports_are_none() -> None:
    assert two_tiers(groups=9, leaves_per_group=8, split=HALVES, spine_radix=64) is None
    assert three_tiers(groups=257, leaves_per_group=8, split=HALVES, spine_radix=64, core_radix=64) is None


def test_a_pod_more_may_be_cheaper_than_full_pods() -> None:
    """Nine full pods of 32 leaves would want 256 cores, since 7 links to each of 5 are more than a spine has."""
    found = three_tiers(groups=288, leaves_per_group=1, split=HALVES, spine_radix=64, core_radix=64)
    assert found is not None
    assert found.leaves + found.spines + found.cores < 288 + 288 + 256
    assert found.leaf_spine_links == found.spine_core_links == 288 * 32


def test_a_spine_port_saved_is_weighed_against_links() -> None:
    """21 uplinks wanted and 22 there: two spines with 11 links each, not three with 7."""
    found = two_tiers(groups=4, leaves_per_group=1, split=LeafSplit(42, 21, 22), spine_radix=64)
    assert found is not None
    assert (found.spines, found.links_per_leaf_spine) == (2, 11)
