"""Ledger lines of storage, the networks beside the fabric, and management; and what the report says of them."""

from __future__ import annotations

from functools import lru_cache

import pytest

from planner.catalog.store import open_catalog
from planner.design.beside_lines import RULES
from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Kind
from planner.present.text import explanation
from planner.present.view.build import view
from planner.scenario.load import load_scenario

BASE = "h200-1024-ndr"


@lru_cache(maxsize=8)
def _evaluated(*changes: str) -> Evaluation:
    return evaluate(load_scenario(BASE, changes=changes), open_catalog())


UNSET = "network.storage={system: flash-parallel-500tb}"
LARGE = "workloads=[{id: big, kind: training, model: llama-3.1-405b, tokens_trillion: 15.6}]"


def test_a_count_that_is_not_wished_for_is_computed_from_the_needs() -> None:
    ledger = _evaluated(UNSET, LARGE).ledger
    line = ledger["bom.flash-parallel-500tb.designed"]
    assert line.kind is Kind.COMPUTED
    assert "design.storage.needed_blocks" in line.inputs
    assert ledger.scalar(line) == ledger.scalar("design.storage.needed_blocks") == 3.0


def test_a_wished_count_is_the_users() -> None:
    ledger = _evaluated().ledger
    assert ledger["bom.flash-parallel-500tb.designed"].kind is Kind.GIVEN
    assert ledger.scalar("bom.flash-parallel-500tb.designed") == 4.0
    assert ledger.scalar("design.storage.write_gbyte_per_s") == 4 * 30.0
    assert ledger.scalar("design.storage.capacity_tb") == 4 * 500.0


def test_needs_reach_every_rule_and_its_source() -> None:
    said = explanation(_evaluated(), "design.storage.needed_blocks", depth=99)
    for key in RULES:
        assert f"[assumption.{key}]" in said
    assert "catalog/models/llama-3.1-70b.yaml" in said


def test_storage_speed_reaches_the_checkpoint_time() -> None:
    """One block of 30 GB/s takes four times as long as four, while 1,024 GPUs could write 91 GB/s."""
    slow, fast = _evaluated("network.storage.count=1"), _evaluated("network.storage.count=2")
    key = "performance.training.checkpoint_write_s"
    assert slow.ledger.scalar(key) == pytest.approx(2.0 * fast.ledger.scalar(key))


def test_what_storage_lacks_is_said_with_the_verdict_and_what_it_has_is_not() -> None:
    short, enough = (_evaluated(LARGE, f"network.storage.count={count}") for count in (1, 3))
    assert "a checkpoint of 5.59 TB stops the job for 186 s." in view(short).verdict
    assert "Storage of" not in view(enough).verdict
    network = next(one for one in view(short).sections if one.id == "network")
    assert any(note.startswith("Storage of 1 block gives 30 GB/s") for note in network.notes)
    table = next(one for one in network.tables if one.id == "storage")
    assert [row[4].text for row in table.rows] == ["3", "1", "1"]


def test_management_is_bought_racked_powered_and_supported() -> None:
    evaluation = _evaluated("network.reserved_ports=4")
    ledger = evaluation.ledger
    assert ledger.scalar("design.management.servers") == 5.0
    assert ledger.scalar("design.management.fabric_managers") == 2.0
    assert ledger.scalar("bom.management-server.count") == 5.0
    assert ledger.scalar("bom.ufm-enterprise-appliance.count") == 2.0
    price = ledger.scalar("price.management-server.price_usd") * 5
    price += ledger.scalar("price.ufm-enterprise-appliance.price_usd") * 2
    assert ledger.scalar("capex.management_usd") == price
    assert ledger.scalar("power.ufm-enterprise-appliance.typical_w") == 2 * 410.0
    assert len(evaluation.built.cluster.layout.stand("ufm").rack) == 2  # type: ignore[union-attr]


def test_networks_beside_the_fabric_have_their_counts_and_their_rate() -> None:
    ledger = _evaluated("network.storage.switch=sn5600").ledger
    for name in ("inband", "storage_network"):
        assert ledger.scalar(f"design.{name}.switches") >= 2
        assert ledger.scalar(f"design.{name}.link_gbit_per_s") == 200.0
        assert (
            ledger.scalar(
                f"bom.{name.removesuffix('_network')}-{'sn4700' if name == 'inband' else 'sn5600'}.count"
            )
            > 0
        )
    assert ledger.scalar("design.oob.uplinks") == 2 * ledger.scalar("design.oob.switches")


def test_an_override_of_what_the_design_is_sized_by_is_refused() -> None:
    change = "overrides={assumption.checkpoints_kept_count: {value: 2, unit: '1', reason: fewer}}"
    with pytest.raises(ScenarioError, match="belongs to the design"):
        _evaluated(change)
