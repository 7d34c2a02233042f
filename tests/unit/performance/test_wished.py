"""Scenarios with a plan and software of their own: evaluated as they say, with the band of what is known of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.errors import DesignError
from planner.evaluate import Evaluation, evaluate
from planner.performance.parallelism import gpus_in_use
from planner.performance.train import Trained
from planner.scenario.load import load_scenario

BASE = "h200-1024-ndr"
KEY = "performance.training"


def evaluated(changes: dict[str, Any], base: str = BASE) -> Evaluation:
    said = [f"workloads.0.{name}={json.dumps(value)}" for name, value in changes.items()]
    return evaluate(load_scenario(base, changes=said), open_catalog())


def built(changes: dict[str, Any], base: str = BASE) -> tuple[Evaluation, Trained]:
    found = evaluated(changes, base)
    if found.built is None:
        assert found.refusal is not None
        raise found.refusal
    return found, found.built.performance.trained[0]


MIXTURE = {
    "model": "mixtral-8x22b", "sequence_tokens": 8192, "batch_sequences": 1024, "precision": "fp8",
}  # fmt: skip
SEVERAL = {
    "tensor": 2, "pipeline": 4, "schedule": "zero-bubble", "context": 2, "context_kind": "all-gather", "expert": 8,
    "sharding": "hybrid", "shard_ranks": 2, "recompute": "operators", "recompute_layers_fraction": 0.25,
    "offload": ["optimiser", "activations"], "gradient_compression_ratio": 4, "local_steps": 10,
}  # fmt: skip


def test_every_field_of_a_plan_arrives_where_the_model_reads_it() -> None:
    found, trained = built(
        MIXTURE | {"plan": SEVERAL, "routing": "skewed", "software": "megatron-core", "release": "2026-06",
                   "scaling": "fine"}
    )  # fmt: skip
    plan = trained.plan
    expected = {
        "tensor_ranks": 2, "pipeline_ranks": 4, "context_ranks": 2, "data_ranks": 64, "expert_ranks": 8,
        "zero_stage": 3, "shard_ranks": 2, "backward_split": 1, "context_gathered": 1, "local_steps": 10,
        "gradient_compression_ratio": 4, "recomputed_layers_fraction": 0.25, "recomputed_linear_fraction": 0.5,
        "recomputed_attention_fraction": 0, "offloaded_optimiser": 1, "offloaded_activations": 1,
        "offloaded_weights": 0, "asynchronous": 0,
    }  # fmt: skip
    assert {name: float(getattr(plan, name)[0]) for name in expected} == expected
    ledger = found.ledger
    for name, value in (
        ("zero_bubble", 1),
        ("local_steps", 10),
        ("shard_ranks", 2),
        ("offload_optimiser", 1),
    ):
        assert ledger.scalar(f"{KEY}.plan.{name}") == value
    assert f"{KEY}.plan.offload_weights" not in ledger
    parts = sum(ledger.scalar(key) for key in ledger.lines if key.startswith(f"{KEY}.parts."))
    assert parts == pytest.approx(ledger.scalar(f"{KEY}.step_s"), rel=1e-12)
    # the accelerators' own measured link to the host, about 55 GB/s of pinned memory
    assert 50 < ledger.scalar("calibration.d2h_gbyte_per_s") < 60
    assert ledger.scalar("assumption.training_expert_load_ratio") > 1


def test_figures_of_features_are_read_for_plans_that_use_them_alone() -> None:
    found, _ = built({"plan": {"tensor": 8, "sharding": "fsdp"}})
    for name in ("zero_bubble_ratio", "host_link_hidden_fraction", "compression_bytes_per_parameter",
                 "local_state_bytes_per_parameter", "expert_load_ratio", "context_gather_exposed_fraction"):  # fmt: skip
        assert f"assumption.training_{name}" not in found.ledger


def half_band(changes: dict[str, Any], base: str = BASE) -> float:
    line = built(changes, base)[0].ledger[f"{KEY}.model_error_ratio"]
    assert line.high is not None
    return float(line.high) - 1.0


def test_a_known_stack_has_the_band_of_its_kind() -> None:
    figures = {
        name: open_catalog().figure("performance", f"model_band_{name}_fraction")[0].value
        for name in ("known_stack", "unknown_stack", "moe")
    }
    assert figures["known_stack"] < figures["unknown_stack"]
    assert half_band({}) == pytest.approx(figures["unknown_stack"])
    assert half_band({"software": "mlperf"}) == pytest.approx(figures["known_stack"])
    assert half_band(MIXTURE | {"software": "mlperf"}) == pytest.approx(figures["moe"])


def step_s(**changes: Any) -> float:
    return float(built(changes)[1].step.step_s[0])


def test_software_release_scaling_and_routing_move_the_step() -> None:
    plan = {"tensor": 4, "pipeline": 2, "expert": 8}
    dense = {"tensor": 8, "pipeline": 2, "recompute": "full"}
    assert step_s(plan=dense, software="megatron-2021") > 1.2 * step_s(plan=dense)
    assert step_s(plan=dense, software="mlperf") < step_s(plan=dense, software="megatron-core")
    assert step_s(plan=dense, software="megatron-core") == step_s(plan=dense)
    fp8 = {"plan": dense, "precision": "fp8"}
    assert step_s(**fp8, scaling="row") > step_s(**fp8, scaling="fine") > step_s(**fp8)
    assert step_s(**MIXTURE, plan=plan, release="2026-06") < step_s(**MIXTURE, plan=plan, release="2025-05")
    balanced, skewed, padded = (
        step_s(**MIXTURE, plan=plan, release="2026-06", routing=one)
        for one in ("balanced", "skewed", "capacity")
    )
    assert balanced < skewed < padded


def test_stacks_of_2021_keep_scores_and_have_no_sequence_parallelism_unless_stated() -> None:
    old = {"tensor": 8, "pipeline": 4, "recompute": "full"}
    plain = built({"plan": old, "software": "megatron-2021"})[1]
    stated = built({"plan": old | {"sequence_parallel": True}, "software": "megatron-2021"})[1]
    assert plain.plan.sequence_parallel[0] == 0 and stated.plan.sequence_parallel[0] == 1
    assert plain.case.memory.score_bytes_per_entry[0] == 5
    assert not plain.job.sequence_parallel


def test_formats_of_gradients_and_optimiser_states_move_memory_and_time() -> None:
    plan = {"tensor": 8, "pipeline": 4, "sharding": "none", "recompute": "full"}
    wide = built({"plan": plan, "precision": "bf16"})[1]
    held = float(wide.memory.optimiser_bytes[0])
    for states, byte in (("bf16-moments", 8), ("8bit-moments", 6.1), ("bf16", 4)):
        other = built({"plan": plan, "precision": "bf16", "optimiser_states": states})[1]
        assert float(other.memory.optimiser_bytes[0]) == pytest.approx(held * byte / 12)
        saved = (wide.step.parts.optimiser_s - other.step.parts.optimiser_s) / wide.step.parts.optimiser_s
        # a state less is read and written less: of the 34 bytes that an update moves
        assert float(saved[0]) == pytest.approx(2 * (12 - byte) / 34)
    narrow = built({"plan": plan, "precision": "bf16", "gradients": "bf16"})[1]
    assert float(narrow.memory.gradients_bytes[0]) == pytest.approx(float(wide.memory.gradients_bytes[0]) / 2)
    assert narrow.step.parts.data_exposed_s[0] < wide.step.parts.data_exposed_s[0]
    tuned = {"plan": plan, "software": "mlperf"}
    assert built(tuned)[1].case.state.gradient[0] == 2
    assert built(tuned | {"gradients": "fp32"})[1].case.state.gradient[0] == 4


def test_the_host_link_carries_what_is_offloaded() -> None:
    found, trained = built(
        {"plan": {"tensor": 8, "pipeline": 4, "sharding": "zero1", "offload": ["optimiser"]}}
    )
    plan = trained.plan
    bare = built({"plan": {"tensor": 8, "pipeline": 4, "sharding": "zero1"}})[1]
    states = float(bare.memory.optimiser_bytes[0])
    seconds = found.ledger.scalar(f"{KEY}.step_s")
    assert found.ledger.scalar(f"{KEY}.host_link_gbyte_per_s") == pytest.approx(states / seconds / 1e9)
    waited = trained.step.parts.optimiser_s[0] - bare.step.parts.optimiser_s[0]
    rates = trained.case.features
    slower = min(rates.to_host_bytes_per_s[0], rates.from_host_bytes_per_s[0])
    assert waited == pytest.approx(states / slower)
    assert plan.offloaded_optimiser[0] == 1 and f"{KEY}.host_link_s" not in found.ledger


def test_fewer_data_ranks_leave_gpus_idle() -> None:
    found, trained = built({"plan": {"tensor": 8, "pipeline": 4, "data": 16}})
    assert gpus_in_use(trained.plan)[0] == 512
    assert found.ledger.scalar(f"{KEY}.mfu_fraction") == pytest.approx(float(trained.step.mfu[0]) / 2)


def test_shard_groups_are_those_of_a_domain_by_default() -> None:
    _, trained = built({"model": "llama-3.1-8b", "plan": {"tensor": 2, "sharding": "hybrid"}})
    assert trained.plan.shard_ranks[0] == 4
    assert trained.plan.data_ranks[0] == 512


def test_the_step_states_flop_in_each_convention() -> None:
    ledger = built({"plan": {"tensor": 8, "pipeline": 4, "recompute": "full"}})[0].ledger
    causal, full, hardware = (
        ledger.scalar(f"{KEY}.{name}_per_token")
        for name in ("model_flop_causal", "model_flop_full", "hardware_flop")
    )
    assert causal < full and 1.25 * causal < hardware < 4 / 3 * causal
    assert hardware / causal == pytest.approx(
        ledger.scalar(f"{KEY}.hfu_fraction") / ledger.scalar(f"{KEY}.mfu_fraction")
    )


def test_offload_takes_the_slot_where_nothing_was_measured() -> None:
    """No profile of B300 has the host link, so the generation of its adapters' slot says it."""
    found, trained = built(
        {"plan": {"tensor": 8, "offload": ["optimiser"], "sharding": "fsdp"}}, base="b300-2048-cpo"
    )
    assert "assumption.pcie_usable_fraction" in found.ledger
    rate = trained.case.features.to_host_bytes_per_s
    assert np.all(rate > 40e9) and rate[0] == trained.case.features.from_host_bytes_per_s[0]


def test_every_problem_of_a_plan_is_said_at_once() -> None:
    plan = {"tensor": 7, "pipeline": 3, "context": 3, "expert": 5, "expert_tensor": 3}
    with pytest.raises(DesignError) as raised:
        built(MIXTURE | {"plan": plan})
    said = [problem.message for problem in raised.value.problems]
    for part in (
        "doesn't divide 1,024 GPUs", "doesn't divide 48 heads", "two blocks for each of 3 context ranks",
        "expert 5 doesn't divide 8 experts", "expert_tensor 3 doesn't divide tensor 7",
    ):  # fmt: skip
        assert any(part in one for one in said), (part, said)
    with pytest.raises(DesignError, match="shard groups of 3 don't divide 512"):
        built({"plan": {"tensor": 2, "sharding": "hybrid", "shard_ranks": 3}})
