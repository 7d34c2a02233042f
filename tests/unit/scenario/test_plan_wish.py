"""The plan and the software that a scenario names: a round trip, contradictions, defaults in the template."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from planner.choices import Offload, Schedule, Software
from planner.field_docs import field_docs
from planner.scenario.schema import PlanChoice, Workload
from planner.scenario.template import scenario_template

PLAN = {
    "tensor": 2, "sequence_parallel": False, "async_tensor": True, "pipeline": 4, "schedule": "zero-bubble",
    "context": 2, "context_kind": "all-gather", "expert": 8, "expert_tensor": 2, "data": 16,
    "recompute": "operators", "recompute_layers_fraction": 0.25, "sharding": "hybrid", "shard_ranks": 2,
    "offload": ["optimiser", "activations", "weights"], "gradient_compression_ratio": 4.0, "local_steps": 10,
    "asynchronous": True,
}  # fmt: skip
WORKLOAD = {
    "id": "a", "kind": "training", "model": "mixtral-8x22b", "precision": "fp8", "scaling": "fine",
    "software": "megatron-core", "release": "2026-06", "routing": "skewed",
    "optimiser_states": "bf16-moments", "gradients": "bf16", "plan": PLAN,
}  # fmt: skip


def test_every_field_survives_a_round_trip() -> None:
    found = Workload.model_validate(WORKLOAD)
    assert Workload.model_validate_json(found.model_dump_json()) == found
    assert found.model_dump(mode="json", exclude_unset=True) == WORKLOAD
    assert isinstance(found.plan, PlanChoice)
    assert found.plan.schedule is Schedule.ZERO_BUBBLE and found.software is Software.MEGATRON_CORE
    assert found.plan.offload == tuple(Offload)


def test_plans_written_before_there_were_these_fields_mean_what_they_did() -> None:
    found = PlanChoice.model_validate({"tensor": 8, "pipeline": 4, "virtual_stages": 2, "sharding": "zero1"})
    assert found.schedule is None and found.context == 1 and found.offload == () and found.local_steps == 1


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"pipeline": 2, "schedule": "interleaved"}, "needs virtual_stages of 2 or more"),
        ({"pipeline": 2, "schedule": "1f1b", "virtual_stages": 2}, "interleaved takes 2"),
        ({"pipeline": 2, "schedule": "zero-bubble", "virtual_stages": 2}, "has virtual_stages 1"),
        ({"schedule": "zero-bubble"}, "needs pipeline of 2 or more"),
        ({"recompute_layers_fraction": 0.5}, "needs recompute: full, selective or operators"),
        ({"local_steps": 2}, "sharding none or hybrid"),
        ({"asynchronous": True, "sharding": "fsdp"}, "sharding none or hybrid"),
        ({"shard_ranks": 4}, "is for sharding: hybrid"),
        ({"offload": ["weights", "weights"]}, "names something twice"),
        ({"gradient_compression_ratio": 0.5}, "greater than or equal to 1"),
        ({"offload": ["gradients"]}, "'optimiser', 'activations' or 'weights'"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(plan: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        PlanChoice.model_validate(plan)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"precision": "bf16"}, "scaling is for precision fp8 or fp4"), ({"release": "2026-13"}, "pattern"),
     ({"software": "megatron"}, "megatron-core"), ({"routing": "uneven"}, "balanced")],
)  # fmt: skip
def test_software_and_scaling_are_checked(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Workload.model_validate(WORKLOAD | change)


def test_the_template_shows_the_fields_of_a_plan_with_their_help() -> None:
    text = scenario_template(schema_name="s.json")
    docs = field_docs(PlanChoice)
    for name in PlanChoice.model_fields:
        assert f"      # {name}: " in text
        assert " ".join(docs[name].split()) in text
