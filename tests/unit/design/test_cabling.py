"""The medium of every link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.design.cabling import Cage, Medium, MediumEnd, MediumKind, Price, TierLinks, plan_cabling
from planner.errors import DesignError
from tests.unit.design.cabled import links_of

NIC, SWITCH = Cage(400.0, 1), Cage(800.0, 2)


def medium(kind: MediumKind, reach_m: float, usd: float | None, name: str = "") -> Medium:
    price = None if usd is None else Price(0.8 * usd, usd, 1.2 * usd)
    if kind.is_assembly:
        return Medium(name or kind, kind, reach_m, MediumEnd(400.0, 1.0), MediumEnd(800.0, 2.0), price)
    ends = MediumEnd(400.0, 8.0, price), MediumEnd(800.0, 16.0, price)
    return Medium(name or kind, kind, reach_m, *ends, usd_per_m=1.0)


DAC = medium(MediumKind.DAC, 3.0, 200.0)
AEC = medium(MediumKind.AEC, 7.0, 400.0)
SR = medium(MediumKind.TRANSCEIVER_PAIR, 50.0, 500.0, "sr")
DR = medium(MediumKind.TRANSCEIVER_PAIR, 500.0, 700.0, "dr")


def tier(lengths: list[float], *media: Medium, lower: Cage = NIC, upper: Cage = SWITCH) -> TierLinks:
    each = [length for length in lengths for _ in range(10)]
    return TierLinks(links_of("node-leaf", each), lower, upper, 1, media)


def test_copper_comes_first_where_it_reaches_then_the_cheaper() -> None:
    plan = plan_cabling([tier([2.0, 6.0, 40.0, 90.0], DR, SR, AEC, DAC)])
    assert [(part.medium, part.ordered_m) for part in plan.classes] == [
        ("dac", 2.0),
        ("aec", 7.0),
        ("sr", 50.0),
        ("dr", 100.0),
    ]


def test_copper_comes_first_even_where_it_costs_more() -> None:
    dear = medium(MediumKind.AEC, 7.0, 5000.0)
    assert plan_cabling([tier([5.0], dear, SR)]).rows[0].medium == "aec"


def test_kinds_decide_where_a_price_is_missing() -> None:
    unpriced = medium(MediumKind.DAC, 3.0, None)
    row = plan_cabling([tier([2.0], AEC, unpriced)]).rows[0]
    assert (row.medium, row.cost) == ("dac", None)


def test_an_assembly_carries_the_links_of_its_larger_end_and_has_no_module() -> None:
    row = plan_cabling([tier([2.0], DAC)]).rows[0]
    assert (row.links, row.cables, row.modules, row.power_w) == (10, 5, 0, 10 * 1.0 + 5 * 2.0)
    assert row.cost == Price(800.0, 1000.0, 1200.0)
    assert (row.copper_m, row.fibre_m) == (10.0, 0.0)


def test_an_optical_link_has_a_module_at_both_ends() -> None:
    row = plan_cabling([tier([28.0], SR)]).rows[0]
    assert (row.modules_lower, row.modules_upper, row.cables, row.fibre_m) == (10, 5, 10, 300.0)
    assert row.power_w == 10 * 8.0 + 5 * 16.0
    assert row.cost is not None
    assert row.cost.typ_usd == 15 * 500.0 + 300.0


def test_co_packaged_optics_remove_only_the_switch_side_module() -> None:
    fixed = replace(SWITCH, pluggable=False)
    row = plan_cabling([tier([2.0], DAC, SR, upper=fixed)]).rows[0]
    assert (row.medium, row.modules_lower, row.modules_upper) == ("sr", 10, 0)
    between = plan_cabling([tier([28.0], SR, lower=fixed, upper=fixed)])
    assert (between.transceivers, between.cables, between.power_w) == (0, 10, 0.0)
    with pytest.raises(DesignError, match="co-packaged port"):
        plan_cabling([tier([2.0], DAC, upper=fixed)])


def test_a_link_that_nothing_reaches_is_refused_with_its_length() -> None:
    with pytest.raises(
        DesignError, match=r"needs 73\.4 m, the farthest medium \(sr\) has 50\.0 m"
    ) as refused:
        plan_cabling([tier([2.0, 73.4], DAC, SR)])
    assert "middle of the rows" in refused.value.problems[0].remedy


def test_a_module_of_the_wrong_rate_is_refused_with_both_rates() -> None:
    with pytest.raises(DesignError, match="needs 800 Gbit/s in its lower cage, sr has 400 Gbit/s"):
        plan_cabling([tier([28.0], SR, lower=Cage(800.0, 2))])


def test_a_tier_without_media_is_refused() -> None:
    with pytest.raises(
        DesignError, match="no cable and no module of the catalog joins the node-leaf links: a cage of 400"
    ):
        plan_cabling([tier([28.0])])
    assert plan_cabling([tier([])]).rows == ()


def test_links_that_share_a_cage_get_the_medium_of_the_longest() -> None:
    """A twin cage holds one module or one plug, so 2 m beside 40 m is no copper."""
    mixed = TierLinks(links_of("node-leaf", [2.0, 40.0, 2.0, 2.0]), NIC, SWITCH, 1, (DAC, SR))
    plan = plan_cabling([mixed])
    assert {row.medium: (row.links, row.cables) for row in plan.rows} == {"dac": (2, 1), "sr": (2, 2)}
    assert [tuple(tier.medium) for tier in plan.tiers] == [(1, 1, 0, 0)]


def test_an_odd_link_fills_a_module_and_an_assembly_of_its_own() -> None:
    """Three links on each of two leaves: two cages each, one of them half empty."""
    table = links_of("node-leaf", [28.0] * 6, uppers=2)
    row = plan_cabling([TierLinks(table, NIC, SWITCH, 1, (SR,))]).rows[0]
    assert (row.modules_lower, row.modules_upper, row.cables) == (6, 4, 6)
    short = links_of("node-leaf", [2.0] * 6, uppers=2)
    assert plan_cabling([TierLinks(short, NIC, SWITCH, 1, (DAC,))]).rows[0].cables == 4


def test_a_fibre_of_two_links_is_one_cable_to_one_port_or_a_splitter() -> None:
    """Eight links of a leaf's 800G ports: to one spine four cables, to eight spines four splitters."""
    wide = Cage(800.0, 2)
    pair = Medium("dr8", MediumKind.TRANSCEIVER_PAIR, 500.0, MediumEnd(800.0, 16.0), MediumEnd(800.0, 16.0))
    table = links_of("leaf-spine", [28.0] * 8)
    same = np.zeros(8, np.int64)
    straight = replace(table, lower=same, lower_port=np.arange(8), bundle=same)
    plan = plan_cabling([TierLinks(straight, wide, wide, 2, (pair,))])
    assert (plan.rows[0].cables, plan.rows[0].modules) == (4, 8)
    spread = replace(straight, upper=np.arange(8), upper_port=same, bundle=np.arange(8))
    plan = plan_cabling([TierLinks(spread, wide, wide, 2, (pair,))])
    assert (plan.rows[0].cables, plan.rows[0].modules_lower, plan.rows[0].modules_upper) == (4, 4, 8)


def test_a_cage_that_two_tiers_share_has_one_module() -> None:
    """Three links down and one up on a leaf of two cages: two modules there, if both tiers are of one medium."""
    down = links_of("node-leaf", [28.0] * 3)
    up = replace(links_of("leaf-spine", [28.0]), lower_port=np.array([3]))
    pair = Medium(
        "sr8", MediumKind.TRANSCEIVER_PAIR, 50.0, *(MediumEnd(800.0, 16.0, part="sr8") for _ in "ab")
    )
    below = replace(SR, upper=replace(SR.upper, part="sr8"))
    tiers = [TierLinks(down, NIC, SWITCH, 1, (below,)), TierLinks(up, SWITCH, SWITCH, 1, (pair,))]
    rows = plan_cabling(tiers).rows
    assert [(row.modules_lower, row.modules_upper) for row in rows] == [(3, 2), (0, 1)]
