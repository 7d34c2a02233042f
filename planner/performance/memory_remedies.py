"""Edits of a scenario that make a training workload fit the memory: other plans first, then other machines."""

from __future__ import annotations

from planner.choices import Sharding
from planner.errors import Remedy
from planner.performance.search import Case, PlanChoice
from planner.performance.search_remedies import (
    MORE_GPUS,
    gpus_that_fit,
    larger_gpus_in_words,
    plan_remedies,
    some_plan_fits,
    wish_changes,
)
from planner.performance.search_space import Job
from planner.scenario.remedies import to_gpus
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import Workload


def memory_remedies(workload: Workload, index: int, case: Case, job: Job, choice: PlanChoice) -> list[Remedy]:
    """Changes of a wished plan, GPUs in number, and GPUs in size.

    Args:
        workload: What doesn't fit.
        index: Its place among the workloads.
        case: Model, machine and corrections, of shape (1,).
        job: Cluster and batch.
        choice: Of plans none of which fits, with the leanest.
    """
    wish = workload.plan
    assert choice.leanest is not None
    found: list[Remedy] = []
    if isinstance(wish, PlanWish):
        path = ("workloads", index, "plan")
        for said, other in plan_remedies(case, job, choice.leanest):
            changes = wish_changes(choice.leanest, other, data=wish.data is not None)
            edits = [((*path, field), value) for field, value in changes.items()]
            found.append(Remedy(said, *edits[0], tuple(edits[1:])))
        if some_plan_fits(case, job):
            found.append(Remedy("plan: auto, to search for one that fits", path, "auto"))
    # a plan that keeps its states to a group gains nothing from more GPUs
    grows = not isinstance(wish, PlanWish) or wish.sharding is Sharding.FSDP
    fewest = gpus_that_fit(case, job) if grows else None
    if fewest is not None:
        found.append(to_gpus(fewest, MORE_GPUS.removeprefix("GPUs ")))
    return [*found, Remedy(larger_gpus_in_words(choice))]
