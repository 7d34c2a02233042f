"""A plan of execution as the fields of a scenario's ``plan:``."""

from __future__ import annotations

from planner.choices import ContextKind, Offload, Recompute, Schedule
from planner.performance.parallelism import Plan
from planner.performance.search_words import number, sharding_in_words

ALWAYS = ("tensor", "pipeline", "data", "microbatch")
"""Degrees that a plan always says."""
FIELDS = (
    ("tensor", "tensor_ranks"), ("pipeline", "pipeline_ranks"), ("context", "context_ranks"), ("data", "data_ranks"),
    ("expert", "expert_ranks"), ("expert_tensor", "expert_tensor_ranks"), ("virtual_stages", "virtual_stages"),
    ("microbatch", "microbatch_sequences"),
)  # fmt: skip


def scenario_plan(plan: Plan) -> dict[str, object]:
    """The plan as a scenario's `plan:`, without what is the default there."""
    whole = number(plan, "recomputed_layers_fraction")
    recompute = Recompute.FULL if whole else Recompute.NONE
    if number(plan, "recomputed_attention_fraction") and whole < 1.0:
        recompute = Recompute.SELECTIVE
    if number(plan, "recomputed_linear_fraction") and whole < 1.0:
        recompute = Recompute.OPERATORS
    said: dict[str, object] = {
        **{name: int(number(plan, field)) for name, field in FIELDS if name in ALWAYS or number(plan, field) > 1},
        "recompute": recompute.value, "sharding": sharding_in_words(plan),
    }  # fmt: skip
    if 0.0 < whole < 1.0:
        said["recompute_layers_fraction"] = whole
    if number(plan, "shard_ranks"):
        said["shard_ranks"] = int(number(plan, "shard_ranks"))
    if number(plan, "backward_split"):
        said["schedule"] = Schedule.ZERO_BUBBLE.value
    if number(plan, "context_gathered"):
        said["context_kind"] = ContextKind.ALL_GATHER.value
    if not number(plan, "sequence_parallel"):
        said["sequence_parallel"] = False
    away = [one.value for one in Offload if number(plan, f"offloaded_{one.value}")]
    if away:
        said["offload"] = away
    if number(plan, "gradient_compression_ratio") > 1:
        said["gradient_compression_ratio"] = number(plan, "gradient_compression_ratio")
    if number(plan, "local_steps") > 1:
        said["local_steps"] = int(number(plan, "local_steps"))
    if number(plan, "asynchronous"):
        said["asynchronous"] = True
    return said
