"""What would make a plan fit the memory: changes of the plan by what they cost, then other machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from planner.performance.memory import total_bytes, training_memory
from planner.performance.parallelism import Plan, gpus_in_use, microbatches
from planner.performance.plans import divisors, pipeline_degrees
from planner.performance.search import Case, PlanChoice, evaluate_plans
from planner.performance.search_space import Job, quick_axes, search_space, stage_layers
from planner.performance.search_words import number

GROWTH = (2, 4, 8, 16)
"""Multiples of the GPUs that are tried where no plan fits."""


def remedies_in_words(case: Case, job: Job, plan: Plan, *, most: int = 3) -> list[str]:
    """The cheapest changes of one axis that make a plan fit, one for each axis, with what it costs in time.

    Args:
        case: Model, machine and corrections, of shape (1,).
        job: Cluster and batch.
        plan: One plan that doesn't fit.
        most: Remedies wanted.
    """
    before = float(evaluate_plans(case, plan).step.step_s[0])
    cheapest: dict[str, tuple[float, str]] = {}
    for said, other in _changes(job, plan):
        result = evaluate_plans(case, other)
        change, kind = float(result.step.step_s[0]) / before - 1.0, said.split()[0]
        if result.fits[0] and (kind not in cheapest or change < cheapest[kind][0]):
            cheapest[kind] = (change, said)
    return [f"{said} ({change * 100:+.0f} % step time)" for change, said in sorted(cheapest.values())[:most]]


def _changes(job: Job, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Single changes of a plan that are legal, the mildest of each kind first."""
    micro, pipeline = number(plan, "microbatch_sequences"), number(plan, "pipeline_ranks")
    for size in reversed(divisors(int(micro))[:-1]):
        yield f"microbatch {size}", replace(plan, microbatch_sequences=_one(size))
    layers = stage_layers(layers=job.count("layers"), stages=int(pipeline))
    for count in range(1, layers + 1):
        share = count / layers
        if share > number(plan, "recomputed_layers_fraction"):
            said = "recompute of all layers" if count == layers else f"recompute of {count} of {layers} layers a stage"
            yield said, replace(plan, recomputed_layers_fraction=_one(share))
    if pipeline == 1:
        for stage, said in ((2, "sharding of gradients too (zero2)"), (3, "sharding of all states (fsdp)")):
            if stage > number(plan, "zero_stage"):
                yield said, replace(plan, zero_stage=_one(stage))
    yield from _wider(job, plan)


def _wider(job: Job, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """More tensor, pipeline or context ranks in place of data ranks."""
    data, tensor = number(plan, "data_ranks"), number(plan, "tensor_ranks")
    for factor in GROWTH:
        if data % factor:
            return
        fewer = replace(plan, data_ranks=_one(data / factor))
        if float(microbatches(fewer)[0]) % 1.0:
            continue
        ranks = int(tensor * factor)
        if job.count("heads") % ranks == 0 and job.domain_ranks % ranks == 0:
            yield f"tensor {ranks}", replace(fewer, tensor_ranks=_one(ranks))
        stages = int(number(plan, "pipeline_ranks") * factor)
        if stages in pipeline_degrees(layers=job.count("layers"), limit=job.gpus):
            zero = np.minimum(plan.zero_stage, 1.0)
            yield f"pipeline {stages}", replace(
                fewer, pipeline_ranks=_one(stages), zero_stage=zero, virtual_stages=_one(1)
            )
        context = int(number(plan, "context_ranks") * factor)
        if job.sequence_tokens % (2 * context) == 0:
            yield f"context {context}", replace(fewer, context_ranks=_one(context))


def more_memory_in_words(case: Case, job: Job, choice: PlanChoice) -> list[str]:
    """GPUs in number and in size that would carry a job for which no plan fits."""
    said = []
    for factor in GROWTH:
        larger = replace(job, gpus=job.gpus * factor)
        plans = search_space(larger, quick_axes(job.sequence_tokens)).flat()
        memory = training_memory(shape=case.shape, plan=plans, state=case.state, constants=case.memory)
        fits = total_bytes(memory) <= choice.available_bytes
        if np.any(fits):
            fewest = float(gpus_in_use(plans)[fits].min())
            said.append(f"{fewest:,.0f} GPUs, over which states are shared out")
            break
    return [*said, f"GPUs with {np.ceil(choice.needed_bytes / 1e9):.0f} GB or more"]


def _one(value: float) -> np.ndarray:
    return np.array([float(value)])
