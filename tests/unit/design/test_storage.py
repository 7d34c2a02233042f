"""Storage sized from checkpoints, loading and datasets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.catalog.llm import Model
from planner.catalog.store import open_catalog
from planner.design.storage import (
    Amount,
    StoragePlan,
    StorageRules,
    WorkloadNeed,
    block_ports,
    checkpoint_bytes,
    plan_storage,
    size_storage,
    storage_rules,
)
from planner.performance.models import parameters
from planner.performance.shapes import shape_of
from planner.scenario.load import load_text
from planner.scenario.parts import Parts, resolve

BLOCK = Amount(30.0, 80.0, 500.0)
RULES = StorageRules(13.8, 1800.0, 0.05, 0.089, 10.0, 8.0, 4.0, 300.0, 40.0)
NEED = WorkloadNeed("pretrain", 5.6e12, 5.6e12, 125e12, 0.03, 62.0)
SCENARIO = """\
name: storage
workloads:
{workloads}
cluster: {{groups: [{{id: all, server: hgx-h100, gpus: {gpus}}}]}}
network: {{leaf: {{switch: sn5600}}, storage: {{system: flash-parallel-500tb{count}}}}}
site: {{location: us-texas}}
"""
TRAINING = "  - {id: train, kind: training, model: llama-3.1-405b, tokens_trillion: 15.6}"
SERVING = "  - {id: serve, kind: serving, model: llama-3.1-70b, precision: fp8}"


def _parts(workloads: str, *, gpus: int = 1024, count: str = "") -> Parts:
    text = SCENARIO.format(workloads=workloads, gpus=gpus, count=count)
    return resolve(load_text(text, Path("storage.yaml")), open_catalog())


def _plan(parts: Parts) -> StoragePlan:
    found = plan_storage(parts, parts.gpus // 8)
    assert found is not None
    return found


def test_a_checkpoint_burst_binds_where_the_model_is_large() -> None:
    """405e9 x 13.8 bytes = 5.589 TB in 5 % of 1,800 s: 62.1 GB/s over 30 GB/s of a block."""
    plan = _plan(_parts(TRAINING))
    assert plan.asked.write_gbyte_per_s == pytest.approx(62.1)
    assert (plan.needed, plan.blocks) == (3, 3)
    assert plan.why.startswith("writing binds")


def test_gpus_that_write_slower_than_the_burst_ask_for_no_more_than_they_write() -> None:
    assert _plan(_parts(TRAINING, gpus=64)).asked.write_gbyte_per_s == pytest.approx(64 * 0.089)


def test_room_is_for_kept_checkpoints_and_the_dataset() -> None:
    """Ten checkpoints of 5.589 TB and 15.6e12 tokens of 8 bytes."""
    assert _plan(_parts(TRAINING)).asked.capacity_tb == pytest.approx(55.89 + 124.8)


def test_a_fleet_reads_its_weights_into_every_node_in_the_target_time() -> None:
    """1,024 nodes x 70.6 GB in 300 s are 241 GB/s: more than one node's reference rate of 40."""
    plan = _plan(_parts(SERVING, gpus=8192))
    assert plan.asked.read_gbyte_per_s == pytest.approx(1024 * 70.6 / 300.0)
    assert plan.needs[0].checkpoint_bytes == 0.0
    assert plan.blocks == 4


def test_bursts_of_several_workloads_take_the_largest_and_their_room_adds_up() -> None:
    halves = "\n".join(one.replace("}", ", share_fraction: 0.5}") for one in (TRAINING, SERVING))
    both = _plan(_parts(halves, gpus=8192))
    assert both.asked.write_gbyte_per_s == pytest.approx(62.1)
    assert both.asked.read_gbyte_per_s == pytest.approx(1024 * 70.6 / 300.0)
    assert both.asked.capacity_tb == pytest.approx(55.89 + 124.8 + 0.0706)


def test_tokens_are_a_small_part_of_what_is_read() -> None:
    """1,024 x 989 TFLOP/s over 6 x 405e9 FLOP a token are 417,000 tokens/s: 1.7 MB/s."""
    assert _plan(_parts(TRAINING)).needs[0].token_gbyte_per_s == pytest.approx(0.00167, rel=0.01)


def test_a_wished_count_stays_and_says_what_it_lacks_with_the_effect() -> None:
    plan = _plan(_parts(TRAINING, count=", count: 1"))
    assert (plan.blocks, plan.needed) == (1, 3)
    assert plan.shortfalls == (
        "Storage of 1 block gives 30 GB/s of writing and 62.1 are needed: a checkpoint of 5.59 TB stops the job "
        "for 186 s.",
    )
    assert _plan(_parts(TRAINING, count=", count: 3")).shortfalls == ()


def test_every_lack_is_said() -> None:
    """480 TB of data leave 20 TB of 500, which is three checkpoints of 5.6 TB."""
    need = replace(NEED, dataset_bytes=480e12)
    asked = Amount(62.0, 100.0, 536.0)
    short = size_storage(asked=asked, each=BLOCK, count=1, needs=(need,), rules=RULES).shortfalls
    assert ["writing" in short[0], "reading" in short[1], "room for 500 TB" in short[2]] == [True] * 3
    assert short[2].endswith("which leaves room for 3 of 10 checkpoints.")


def test_more_need_never_takes_fewer_blocks() -> None:
    asked = Amount(62.0, 40.0, 181.0)
    before = size_storage(asked=asked, each=BLOCK, count=None, needs=(), rules=RULES).blocks
    for name in Amount._fields:
        more = asked._replace(**{name: getattr(asked, name) * 10})
        assert size_storage(asked=more, each=BLOCK, count=None, needs=(), rules=RULES).blocks >= before


def test_a_scenario_without_storage_has_no_plan() -> None:
    parts = _parts(TRAINING)
    scenario = parts.loaded.scenario
    bare = scenario.model_copy(update={"network": scenario.network.model_copy(update={"storage": None})})
    assert (
        plan_storage(replace(parts, loaded=replace(parts.loaded, scenario=bare), storage=None), 128) is None
    )


def test_the_published_parameters_give_the_checkpoint_that_performance_counts() -> None:
    """Design takes the publisher's count, performance counts the dimensions: within 2 % for every model."""
    catalog = open_catalog()
    rules = storage_rules(_parts(TRAINING))
    for name in catalog.ids(Model):
        entry = catalog.entry(Model, name)
        stated = checkpoint_bytes(
            parameters=entry.item.parameters_stated.value, bytes_per_parameter=rules.bytes_per_parameter
        )
        counted = checkpoint_bytes(
            parameters=parameters(shape_of(entry.item)), bytes_per_parameter=rules.bytes_per_parameter
        )
        assert float(counted[0]) == pytest.approx(stated, rel=0.02), name  # type: ignore[index]


def test_a_slow_block_still_has_a_port_to_each_switch() -> None:
    assert [block_ports(block_gbyte_per_s=1.0, rate_gbit_per_s=rate) for rate in (100.0, 400.0)] == [2, 2]
    assert block_ports(block_gbyte_per_s=80.0, rate_gbit_per_s=100.0) == 8
