"""What of the cluster is network: the parts make the whole, and a part lies in one network only."""

from __future__ import annotations

from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Built, Evaluation, evaluate
from planner.finance.network_share import NETWORKS, Part, cabling_split, part_of_tier
from planner.scenario.load import load_scenario, shipped_scenarios


@cache
def made(name: str, *changes: str) -> Evaluation:
    return evaluate(load_scenario(name, changes=changes), open_catalog())


def built(evaluation: Evaluation) -> Built:
    assert evaluation.built is not None
    return evaluation.built


@pytest.mark.parametrize("name", shipped_scenarios())
def test_parts_of_cost_and_load_make_the_bill_and_the_it_load(name: str) -> None:
    evaluation = made(name)
    ledger = evaluation.ledger
    bill = sum(ledger.scalar(row.cost) for row in built(evaluation).bom)
    assert ledger.scalar("share.cost.whole_usd") == pytest.approx(bill, rel=1e-12)
    assert ledger.scalar("share.power.whole_w") == pytest.approx(ledger.scalar("power.it_w"), rel=1e-12)
    assert ledger.scalar("share.idle.whole_w") == pytest.approx(ledger.scalar("power.it_idle_w"), rel=1e-12)
    for start, end in (("share.cost", "usd"), ("share.power", "w")):
        parts = [f"{start}.{part.value}_{end}" for part in Part]
        total = sum(ledger.scalar(key) for key in parts if key in ledger)
        assert total == pytest.approx(ledger.scalar(f"{start}.whole_{end}"), rel=1e-12)


def test_switches_modules_and_cables_are_the_networks_cost() -> None:
    evaluation = made("h200-1024-ndr")
    ledger = evaluation.ledger
    classes = sum(
        ledger.scalar(row.cost) for row in built(evaluation).bom if row.demand.asset_class in ("switches", "optics", "cables")
    )  # fmt: skip
    assert ledger.scalar("share.cost.network_usd") == pytest.approx(classes, rel=0.01)
    assert ledger.scalar("share.cost.scale_out_usd") < ledger.scalar("share.cost.network_usd")


def test_an_item_of_several_networks_is_cut_by_its_counts() -> None:
    evaluation = made("h100-16384-roce")
    cut = cabling_split(built(evaluation).cluster)
    for key, line in evaluation.ledger.lines.items():
        if key.startswith("share.of."):
            item, part = key.removeprefix("share.of.").removesuffix("_fraction").rsplit(".", 1)
            total = sum(cut[item].values())
            assert evaluation.ledger.scalar(line) == pytest.approx(cut[item][Part(part)] / total)


def test_energy_of_the_network_is_its_load_over_the_year() -> None:
    ledger = made("h200-1024-ndr").ledger
    busy = ledger.scalar("power.busy_fraction")
    idle, load = ledger.scalar("share.idle.network_w"), ledger.scalar("share.power.network_w")
    average = idle + (load - idle) * busy
    share = average / ledger.scalar("power.average_it_w")
    assert ledger.scalar("share.energy.network_fraction") == pytest.approx(share, rel=1e-9)


def test_a_server_alone_has_no_network_share() -> None:
    ledger = made("h100-8-lab").ledger
    assert "share.cost.network_fraction" not in ledger
    assert ledger.scalar("share.cost.whole_usd") == ledger.scalar("share.cost.servers_usd")


@pytest.mark.parametrize(
    ("tier", "part"),
    [
        ("leaf", Part.SCALE_OUT), ("spine-core", Part.SCALE_OUT), ("node-node", Part.SCALE_OUT),
        ("inband", Part.STORAGE_NETWORK), ("host-storage", Part.STORAGE_NETWORK), ("oob", Part.MANAGEMENT),
        ("ufm-leaf", Part.MANAGEMENT), ("leaf-management", Part.MANAGEMENT),
    ],
)  # fmt: skip
def test_a_tier_belongs_to_one_network(tier: str, part: Part) -> None:
    assert part_of_tier(tier) is part
    assert part.is_network
    assert part in NETWORKS
