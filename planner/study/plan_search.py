"""The plan search of one scenario: every legal plan of a training workload, the best, and the front of time and cost.

The command and the terminal interface ask the same question here; what they print is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.errors import DesignError, InputError, Problem
from planner.evaluate import Evaluation, evaluate
from planner.performance.parallelism import Plan, gpus_in_use
from planner.performance.plans import plan_table, plans_of, whole_table
from planner.performance.search import (
    Evaluated,
    Goal,
    PlanChoice,
    Ranked,
    evaluate_plans,
    goal_values,
    row_of,
    search_plans,
)
from planner.performance.search_run import Run, RunRates, run_of, run_rates
from planner.performance.search_space import EVERY, search_space
from planner.performance.search_words import why_it_lost
from planner.performance.train import Trained
from planner.scenario.load import Loaded
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import WorkloadKind

Progress = Callable[[int, int], None]
"""Takes the plans done and the plans in all; may raise `WithdrawnError`."""


@dataclass(frozen=True, slots=True)
class Own:
    """The plan that a scenario names, evaluated beside the others; no plan where it can't run, and why."""

    ranked: Ranked | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class PlanPoint:
    """A plan with its run, as a point of days against USD.

    Attributes:
        on_front: No other point is both sooner and cheaper.
        own: It is the plan that the scenario names.
    """

    ranked: Ranked
    run: Run
    on_front: bool
    own: bool


@dataclass(frozen=True, slots=True)
class FoundPlans:
    """What a search of one workload found.

    Attributes:
        trained: The workload with the plan that its scenario gets by default.
        front: The quickest plan for every number of GPUs in use.
        index: Place of the workload in the scenario.
    """

    trained: Trained
    choice: PlanChoice
    rates: RunRates
    front: tuple[Ranked, ...]
    own: Own | None
    index: int


def training_workloads(loaded: Loaded) -> dict[str, int]:
    """Places of the training workloads by id; only these have plans to search."""
    return {
        one.id: index
        for index, one in enumerate(loaded.scenario.workloads)
        if one.kind is WorkloadKind.TRAINING
    }


def find_plans(
    own: Loaded,
    open_to_all: Loaded,
    catalog: Catalog,
    *,
    index: int,
    goal: Goal = Goal.TIME,
    top: int = 10,
    zero_bubble: bool = False,
    progress: Callable[[int], Progress | None] = lambda _: None,
) -> FoundPlans:
    """Search every legal plan of a workload on the cluster of its scenario.

    Args:
        own: The scenario as it stands.
        open_to_all: The same with ``plan: auto`` for the workload, so that its own plan says nothing of what else
            there is.
        catalog: Where parts are looked up.
        index: Place of the workload.
        goal: What the scenario's own plan is set against.
        top: Plans kept by each goal.
        zero_bubble: Try the zero-bubble schedule too.
        progress: Takes the number of plans, gives what is told after each block.

    Raises:
        PlannerError: The scenario is wrong, or its cluster can't be built.
    """
    evaluation = evaluate(open_to_all, catalog)
    if evaluation.built is None:
        assert evaluation.refusal is not None
        raise evaluation.refusal
    wanted = open_to_all.scenario.workloads[index].id
    found = next(one for one in evaluation.built.performance.trained if one.workload.id == wanted)
    rates = rates_of(evaluation, found)
    wished = _own_plan(own, index, catalog)
    if zero_bubble:
        found = _with_zero_bubble(found, catalog)
    space = search_space(found.job, replace(EVERY, zero_bubble=zero_bubble))
    total, quickest = space.plans(), _Quickest()
    choice = search_plans(
        found.case, space.blocks(), total=total, top=top, draw=rates.draw, refused=space.refused,
        axes=space.values(), progress=progress(total), watch=quickest.see,
    )  # fmt: skip
    beside = None if wished is None else _beside(wished, choice, rates, goal)
    return FoundPlans(found, choice, rates, quickest.ranked(found), beside, index)


def rates_of(evaluation: Evaluation, found: Trained) -> RunRates:
    """What turns a step of a workload into a run, read off an evaluation."""
    assert evaluation.built is not None
    cluster = evaluation.built.cluster
    return run_rates(evaluation.ledger, found, gpus=cluster.parts.gpus, nodes=cluster.nodes)


def _own_plan(loaded: Loaded, index: int, catalog: Catalog) -> Trained | DesignError | None:
    """The scenario's own plan, evaluated, or why it can't run; None where it names none."""
    workload = loaded.scenario.workloads[index]
    if not isinstance(workload.plan, PlanWish):
        return None
    evaluation = evaluate(loaded, catalog)
    if evaluation.built is None:
        assert evaluation.refusal is not None
        return evaluation.refusal
    return next(one for one in evaluation.built.performance.trained if one.workload.id == workload.id)


def _beside(own: Trained | DesignError, choice: PlanChoice, rates: RunRates, goal: Goal) -> Own:
    """The scenario's own plan in the terms of a ranking."""
    if isinstance(own, DesignError):
        return Own(None, own.problems[0].message)
    if not choice.feasible:
        return Own(None, choice.why_not)
    best, plan = choice.rankings[goal][0], own.plan
    alone = evaluate_plans(own.case, plan)
    value = float(goal_values(goal, plan, alone.step, rates.draw)[0])
    why = why_it_lost(goal, best.plan, best.step, plan, alone.step)
    return Own(Ranked(plan, alone.step, alone.memory, value, value, why))


def _with_zero_bubble(found: Trained, catalog: Catalog) -> Trained:
    """The case with the schedule's figure, which an evaluation reads only for plans that have it."""
    figure, _ = catalog.figure("performance", "training_zero_bubble_ratio")
    features = replace(found.case.features, zero_bubble_ratio=np.array([figure.value]))
    return replace(found, case=replace(found.case, features=features))


@dataclass(slots=True)
class _Quickest:
    """The quickest plan that fits, for each number of GPUs in use."""

    steps: dict[int, float] = field(default_factory=dict)
    rows: dict[int, Floats] = field(default_factory=dict)

    def see(self, plan: Plan, found: Evaluated) -> None:
        """Take in a block, whose GPUs in use differ along the first axis alone."""
        steps = np.where(found.fits, found.step.step_s, np.inf)
        flat = steps.reshape(len(steps), -1)
        best, counts = flat.argmin(axis=1), np.broadcast_to(gpus_in_use(plan).ravel(), len(flat))
        for row, (place, gpus) in enumerate(zip(best, counts, strict=True)):
            value = float(flat[row, place])
            if value < self.steps.get(int(gpus), np.inf):
                at = np.array([row * flat.shape[1] + int(place)])
                self.steps[int(gpus)], self.rows[int(gpus)] = value, plan_table(plan, at)

    def ranked(self, found: Trained) -> tuple[Ranked, ...]:
        """Those plans, evaluated alone, the fewest GPUs first."""
        if not self.rows:
            return ()
        plans = plans_of(np.concatenate([self.rows[gpus] for gpus in sorted(self.rows)]))
        whole = evaluate_plans(found.case, plans)
        table = whole_table(plans)
        return tuple(
            Ranked(
                plans_of(table[row : row + 1]), row_of(whole.step, row), row_of(whole.memory, row),
                float(whole.step.step_s[row]), self.steps[gpus], "",
            )
            for row, gpus in enumerate(sorted(self.rows))
        )  # fmt: skip


def points(found: FoundPlans) -> tuple[PlanPoint, ...]:
    """Every plan that was kept, the soonest first: rankings, the front, and the scenario's own."""
    ranked = [one for ranking in found.choice.rankings.values() for one in ranking]
    ranked += found.front
    mine = None
    if found.own is not None and found.own.ranked is not None:
        ranked.append(found.own.ranked)
        mine = whole_table(found.own.ranked.plan).tobytes()
    each = {whole_table(one.plan).tobytes(): one for one in ranked}
    runs = {name: run_of(found.rates, one) for name, one in each.items()}
    best = front_of([(run.days, run.usd) for run in runs.values()])
    made = [
        PlanPoint(each[name], run, at in best, name == mine) for at, (name, run) in enumerate(runs.items())
    ]
    return tuple(sorted(made, key=lambda one: (one.run.days, one.run.usd)))


def front_of(values: Sequence[tuple[float, float]]) -> frozenset[int]:
    """Places of the pairs that no other pair beats in both, less being better; of equal pairs the first.

    >>> sorted(front_of([(1.0, 9.0), (2.0, 5.0), (2.0, 7.0), (3.0, 5.0)]))
    [0, 1]
    """
    found, least = [], float("inf")
    for at in sorted(range(len(values)), key=lambda at: (*values[at], at)):
        if values[at][1] < least:
            found.append(at)
            least = values[at][1]
    return frozenset(found)


def refuse_no_training(loaded: Loaded, name: str) -> dict[str, int]:
    """The training workloads, of which there has to be one.

    Raises:
        InputError: There is none.
    """
    found = training_workloads(loaded)
    if not found:
        raise InputError(
            Problem(f"'{name}' has no training workload, and only these have plans to search",
                    remedy="add a workload of kind: training")
        )  # fmt: skip
    return found


__all__ = [
    "FoundPlans",
    "Own",
    "PlanPoint",
    "find_plans",
    "front_of",
    "points",
    "rates_of",
    "refuse_no_training",
    "training_workloads",
]  # fmt: skip
