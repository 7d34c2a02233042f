"""A scenario's own plan as the models take it, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.catalog.llm import Model
from planner.choices import ContextKind, Offload, Schedule, Sharding, Software
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem, Remedy
from planner.performance.parallelism import Plan, recompute_fields
from planner.performance.software import UNFUSED
from planner.scenario.schema import PlanChoice, Workload

ZERO_STAGE = {Sharding.NONE: 0, Sharding.ZERO1: 1, Sharding.ZERO2: 2, Sharding.FSDP: 3, Sharding.HYBRID: 3}


@dataclass(frozen=True, slots=True)
class _Wish:
    """A plan with all that it has to divide."""

    plan: PlanChoice
    model: Model
    gpus: int
    sequences: int
    sequence_tokens: int
    domain_ranks: int

    @property
    def block(self) -> int:
        """GPUs of one data rank."""
        return self.plan.tensor * self.plan.pipeline * self.plan.context

    @property
    def data(self) -> int:
        """Data ranks; 0 where the GPUs don't divide."""
        if self.plan.data is not None:
            return self.plan.data if self.plan.data * self.block <= self.gpus else 0
        return self.gpus // self.block if self.gpus % self.block == 0 else 0

    @property
    def shard_ranks(self) -> int:
        """Ranks of a shard group: those wished, or as many as divide the group and stand in one domain."""
        near = max(1, self.domain_ranks // self.plan.tensor)
        return self.plan.shard_ranks or math.gcd(self.data * self.plan.context, near)


def wished_plan(
    cluster: Cluster, workload: Workload, index: int, sequences: int, *, domain_ranks: int
) -> Plan:
    """The plan that a workload names, as a batch of one.

    Args:
        cluster: Whose GPUs it takes all.
        workload, index: With the plan, and its place in the scenario.
        sequences: Of a step.
        domain_ranks: GPUs of a scale-up domain.

    Raises:
        DesignError: It doesn't divide the GPUs, the batch or the model; every problem.
    """
    assert isinstance(workload.plan, PlanChoice)
    wish = _Wish(
        workload.plan, cluster.parts.models[workload.model].item, cluster.parts.gpus, sequences,
        workload.sequence_tokens, domain_ranks,
    )  # fmt: skip
    place = cluster.parts.loaded.document.place(("workloads", index, "plan"))
    auto = Remedy("write plan: auto to search for one that does", ("workloads", index, "plan"), "auto")
    problems = [
        Problem(one, place, f"workloads.{workload.id}.plan", remedies=(auto,)) for one in _against(wish)
    ]
    if problems:
        raise DesignError(problems)
    return _plan(wish, workload.software)


def _against(wish: _Wish) -> Iterator[str]:
    plan, model = wish.plan, wish.model
    if not wish.data:
        context = f" x context {plan.context}" if plan.context > 1 else ""
        degrees = f"tensor {plan.tensor} x pipeline {plan.pipeline}{context}"
        if plan.data is None:
            yield f"{degrees} doesn't divide {wish.gpus:,} GPUs"
        else:
            yield f"{degrees} x data {plan.data} is more than {wish.gpus:,} GPUs"
    elif wish.sequences % (wish.data * plan.microbatch):
        yield (
            f"{wish.sequences:,} sequences don't divide over {wish.data:,} data ranks x {plan.microbatch} "
            "in a microbatch"
        )
    if model.heads % plan.tensor:
        yield f"tensor {plan.tensor} doesn't divide {model.heads} heads"
    if plan.pipeline > model.layers:
        yield f"{plan.pipeline} pipeline stages are more than {model.layers} layers"
    if plan.context > 1 and wish.sequence_tokens % (2 * plan.context):
        yield f"two blocks for each of {plan.context} context ranks don't divide {wish.sequence_tokens:,} tokens"
    yield from _against_experts(wish)
    if wish.data and plan.shard_ranks and (wish.data * plan.context) % plan.shard_ranks:
        yield f"shard groups of {plan.shard_ranks} don't divide {wish.data * plan.context:,} data and context ranks"


def _against_experts(wish: _Wish) -> Iterator[str]:
    plan, model = wish.plan, wish.model
    if not model.experts:
        if plan.expert > 1 or plan.expert_tensor > 1:
            yield "the model is dense: leave expert and expert_tensor out"
        return
    if plan.expert > 1 and model.experts % plan.expert:
        yield f"expert {plan.expert} doesn't divide {model.experts} experts"
    if plan.expert_tensor > 1 and model.expert_ffn % plan.expert_tensor:
        yield f"expert_tensor {plan.expert_tensor} doesn't divide the experts' width of {model.expert_ffn:,}"
    if plan.tensor % plan.expert_tensor:
        yield f"expert_tensor {plan.expert_tensor} doesn't divide tensor {plan.tensor}"
    ranks, experts = plan.tensor * plan.context * wish.data, plan.expert * plan.expert_tensor
    if ranks and ranks % experts:
        yield f"expert x expert_tensor of {experts} doesn't divide the {ranks:,} ranks of a stage"


def _plan(wish: _Wish, software: Software | None) -> Plan:
    plan = wish.plan
    shares_stream = plan.sequence_parallel
    if shares_stream is None:
        shares_stream = software not in UNFUSED
    numbers = {
        "tensor_ranks": plan.tensor, "pipeline_ranks": plan.pipeline, "context_ranks": plan.context,
        "data_ranks": wish.data, "expert_ranks": plan.expert, "expert_tensor_ranks": plan.expert_tensor,
        "virtual_stages": plan.virtual_stages, "microbatch_sequences": plan.microbatch,
        "global_batch_sequences": wish.sequences, "sequence_tokens": wish.sequence_tokens,
        "zero_stage": ZERO_STAGE[plan.sharding], "sequence_parallel": shares_stream,
        "shard_ranks": wish.shard_ranks if plan.sharding is Sharding.HYBRID else 0,
        "backward_split": plan.schedule is Schedule.ZERO_BUBBLE,
        "context_gathered": plan.context_kind is ContextKind.ALL_GATHER and plan.context > 1,
        "gradient_compression_ratio": plan.gradient_compression_ratio, "local_steps": plan.local_steps,
        "asynchronous": plan.asynchronous,
        "offloaded_optimiser": Offload.OPTIMISER in plan.offload,
        "offloaded_activations": Offload.ACTIVATIONS in plan.offload,
        "offloaded_weights": Offload.WEIGHTS in plan.offload,
    }  # fmt: skip
    return Plan(
        **{name: np.array([float(value)]) for name, value in numbers.items()},
        **recompute_fields(plan.recompute, layers_fraction=plan.recompute_layers_fraction),
    )
