"""Port numbers of links."""

from __future__ import annotations

import numpy as np

from planner.design.fabric_parts import Tier
from planner.design.link_ports import numbered
from planner.design.wiring import TierWiring


def pair(tier: str, lower: Tier, upper: Tier, low: list[int], up: list[int], links: list[int]) -> TierWiring:
    return TierWiring(tier, lower, upper, np.array(low), np.array(up), np.array(links))


def test_an_items_links_take_its_ports_tier_by_tier() -> None:
    down = pair("node-leaf", Tier.NODE, Tier.LEAF, [0, 1, 2], [0, 0, 0], [1, 1, 1])
    up = pair("leaf-spine", Tier.LEAF, Tier.SPINE, [0, 0], [0, 1], [2, 2])
    below, above = numbered([down, up])
    assert list(below.upper_port) == [0, 1, 2]
    assert list(above.lower_port) == [3, 4, 5, 6]


def test_ports_of_equals_are_numbered_over_both_of_their_ends() -> None:
    ring = pair("node-node", Tier.NODE, Tier.NODE, [0, 1, 2], [1, 2, 0], [1, 1, 1])
    (made,) = numbered([ring])
    taken = list(zip([0, 1, 2, 1, 2, 0], [*made.lower_port, *made.upper_port], strict=True))
    assert len(set(taken)) == 6
    assert {port for _, port in taken} == {0, 1}
