"""Servers and bare hosts as the models take them, away from any scenario."""

from __future__ import annotations

import pytest

from planner.catalog.schema import Accelerator, Server
from planner.catalog.store import Entry, open_catalog
from planner.choices import Precision
from planner.errors import DesignError
from planner.performance.collectives import Collective
from planner.performance.machines import Machines, Node, power_ratios
from planner.performance.software import best_shares
from tests.unit.performance.conftest import one

CATALOG = open_catalog([])
MACHINES = Machines(CATALOG)


def chip(name: str) -> Entry[Accelerator]:
    return CATALOG.entry(Accelerator, name)


def gather_s(node: Node, ranks: float = 8.0) -> float:
    inside = node.hardware.links.inside
    return float(inside.time_s(Collective.ALL_GATHER, message_bytes=one(2.0**30), ranks=one(ranks))[0])


def test_a_bare_host_has_the_chip_and_the_links_of_a_server_of_the_same_part() -> None:
    part = chip("h100-sxm5-80gb")
    served = MACHINES.get(CATALOG.entry(Server, "dgx-h100"), Precision.BF16)
    bare = MACHINES.bare(part, Precision.BF16, ranks=8)
    assert bare.hardware.chip.peak_flop_per_s == served.hardware.chip.peak_flop_per_s
    assert gather_s(bare) == pytest.approx(gather_s(served))
    assert bare.constants == served.constants
    assert MACHINES.bare(part, Precision.BF16, ranks=4) is bare


def test_more_cards_than_a_bridge_joins_talk_over_the_slots() -> None:
    pair, box = (MACHINES.bare(chip("h100-pcie-80gb"), Precision.BF16, ranks=ranks) for ranks in (2, 8))
    assert gather_s(pair, 2.0) < 0.5 * gather_s(box, 2.0)


def test_a_format_that_an_accelerator_lacks_is_refused() -> None:
    with pytest.raises(DesignError, match="no fp8 arithmetic"):
        MACHINES.bare(chip("a100-sxm4-80gb"), Precision.FP8, ranks=8)


def test_a_card_with_less_power_for_each_flop_runs_slower() -> None:
    ratios = {
        name: power_ratios(MACHINES.bare(chip(name), Precision.BF16, ranks=8), form="16bit")[1]
        for name in ("h100-pcie-80gb", "h100-sxm5-80gb", "h20-96gb", "a100-pcie-80gb")
    }
    assert ratios["h100-sxm5-80gb"] == ratios["h20-96gb"] == 1.0
    assert 0.5 < ratios["h100-pcie-80gb"] < ratios["a100-pcie-80gb"] < 1.0


def test_a_plan_on_an_untabulated_part_takes_its_best_measured_product() -> None:
    shares = {
        name: MACHINES.bare(chip(name), Precision.BF16, ranks=8).constants.gemm_share_of_peak_fraction[0]
        for name in ("mi300x", "gaudi2")
    }
    kept = CATALOG.figure("performance", "training_products_over_best_ratio")[0].value
    for name, share in shares.items():
        assert share == pytest.approx(best_shares(chip(name).item)[0] * kept)
