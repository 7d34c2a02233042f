"""What would make a plan fit the memory: changes of the plan by what they cost, then other machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from planner.performance.memory import total_bytes
from planner.performance.parallelism import Plan, microbatches
from planner.performance.plans import divisors, pipeline_degrees
from planner.performance.search import Case, PlanChoice, evaluate_plans, memory_of
from planner.performance.search_space import LEAN, Job, search_space, stage_layers
from planner.performance.search_words import number

GROWTH = tuple(2**step for step in range(1, 11))
"""Multiples of ranks and of GPUs that are tried."""


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
            said = (
                "recompute of all layers"
                if count == layers
                else f"recompute of {count} of {layers} layers a stage"
            )
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
            yield (
                f"pipeline {stages}",
                replace(fewer, pipeline_ranks=_one(stages), zero_stage=zero, virtual_stages=_one(1)),
            )
        context = int(number(plan, "context_ranks") * factor)
        if job.sequence_tokens % (2 * context) == 0:
            yield f"context {context}", replace(fewer, context_ranks=_one(context))


def more_memory_in_words(case: Case, job: Job, choice: PlanChoice, *, more_gpus: bool = True) -> list[str]:
    """GPUs in number and in size that would carry a job for which no plan fits."""
    fewest = gpus_that_fit(case, job) if more_gpus else None
    said = [] if fewest is None else [f"{fewest:,} GPUs or more, over which states are shared out"]
    return [*said, f"GPUs with {np.ceil(choice.needed_bytes / 1e9):.0f} GB or more"]


def gpus_that_fit(case: Case, job: Job) -> int | None:
    """The fewest whole scale-up domains, in GPUs, on which some plan fits; None where no number does.

    Found by halving between the GPUs of the job and a number that fits; where a larger number divides worse than a
    smaller one, it may miss the smallest by a few.
    """
    domain: int = max(1, job.domain_ranks)
    too_few = job.gpus // domain
    enough: int | None = next(
        (too_few * factor for factor in GROWTH if _fits(case, job, too_few * factor * domain)), None
    )
    if enough is None:
        return None
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _fits(case, job, middle * domain):
            enough = middle
        else:
            too_few = middle
    return enough * domain


def _fits(case: Case, job: Job, gpus: int) -> bool:
    plans = search_space(replace(job, gpus=gpus), LEAN).flat()
    return bool(np.any(total_bytes(memory_of(case, plans)) <= case.chip.memory_bytes))


def _one(value: float) -> np.ndarray:
    return np.array([float(value)])
