"""What would make a plan fit the memory: changes of the plan by what they cost, then other machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from planner.choices import Recompute, Sharding
from planner.performance.memory import total_bytes
from planner.performance.parallelism import Plan, microbatches
from planner.performance.plans import divisors, pipeline_degrees
from planner.performance.search import Case, PlanChoice, evaluate_plans, memory_of
from planner.performance.search_space import LEAN, Job, search_space, stage_layers
from planner.performance.search_words import number

MORE_GPUS = "GPUs or more, over which states are shared out"
GROWTH = tuple(2**step for step in range(1, 11))
"""Multiples of ranks and of GPUs that are tried."""


def remedies_in_words(case: Case, job: Job, plan: Plan, *, most: int = 3) -> list[str]:
    """The words of `plan_remedies`."""
    return [said for said, _ in plan_remedies(case, job, plan, most=most)]


def plan_remedies(case: Case, job: Job, plan: Plan, *, most: int = 3) -> list[tuple[str, Plan]]:
    """The cheapest changes of one axis that make a plan fit, one for each axis, with what it costs in time.

    Args:
        case: Model, machine and corrections, of shape (1,).
        job: Cluster and batch.
        plan: One plan that doesn't fit.
        most: Remedies wanted.
    """
    before = float(evaluate_plans(case, plan).step.step_s[0])
    cheapest: dict[str, tuple[float, str, Plan]] = {}
    for said, other in _changes(job, plan):
        result = evaluate_plans(case, other)
        change, kind = float(result.step.step_s[0]) / before - 1.0, said.split()[0]
        if result.fits[0] and (kind not in cheapest or change < cheapest[kind][0]):
            cheapest[kind] = (change, said, other)
    ranked = sorted(cheapest.values(), key=lambda one: one[:2])
    return [(f"{said} ({change * 100:+.0f} % step time)", other) for change, said, other in ranked[:most]]


SHARDING = (Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, Sharding.FSDP)
"""What is sharded, by stage."""


def wish_changes(before: Plan, after: Plan, *, data: bool) -> dict[str, int | float | str | None]:
    """Fields of a scenario's plan that differ between two plans, with their new values.

    Args:
        before: The plan as it was wished.
        after: The plan to be wished.
        data: Whether the data ranks are wished too, and not left to follow from the other axes.
    """
    found: dict[str, int | float | str | None] = {}
    counts = {
        "tensor_ranks": "tensor", "pipeline_ranks": "pipeline", "context_ranks": "context",
        "microbatch_sequences": "microbatch", "virtual_stages": "virtual_stages",
    }  # fmt: skip
    for name, field in (*counts.items(), ("data_ranks", "data")) if data else counts.items():
        if number(before, name) != number(after, name):
            found[field] = int(number(after, name))
    if number(before, "zero_stage") != number(after, "zero_stage"):
        found["sharding"] = SHARDING[int(number(after, "zero_stage"))].value
    share = number(after, "recomputed_layers_fraction")
    if number(before, "recomputed_layers_fraction") != share:
        found |= {"recompute": _others(after).value, "recompute_layers_fraction": share}
    if found.get("virtual_stages") == 1:
        found["schedule"] = None  # interleaved needs more of them
    return found


def _others(plan: Plan) -> Recompute:
    """What is computed again in the layers that aren't computed again whole."""
    if number(plan, "recomputed_attention_fraction"):
        return Recompute.SELECTIVE
    return Recompute.OPERATORS if number(plan, "recomputed_linear_fraction") else Recompute.FULL


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
    said = [] if fewest is None else [f"{fewest:,} {MORE_GPUS}"]
    return [*said, larger_gpus_in_words(choice)]


def larger_gpus_in_words(choice: PlanChoice) -> str:
    """Memory of a GPU on which the leanest plan would fit."""
    return f"GPUs with {np.ceil(choice.needed_bytes / 1e9):.0f} GB or more"


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


def some_plan_fits(case: Case, job: Job) -> bool:
    """Whether the memory of a job's own GPUs carries any plan."""
    return _fits(case, job, job.gpus)


def _fits(case: Case, job: Job, gpus: int) -> bool:
    plans = search_space(replace(job, gpus=gpus), LEAN).flat()
    return bool(np.any(total_bytes(memory_of(case, plans)) <= case.chip.memory_bytes))


def _one(value: float) -> np.ndarray:
    return np.array([float(value)])
