"""Search over execution plans: all of a space are timed and weighed, and the best are kept.

Blocks of plans go through the very functions that evaluate one plan. A block's axes stay apart until they have to
meet, so the layers are timed once for each tensor, context, expert and microbatch size, and data-parallel
communication once for each layout and sharding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.corrections import TrainingConstants
from planner.performance.features import Features
from planner.performance.links import Links
from planner.performance.memory import (
    MemoryConstants,
    TrainingMemory,
    largest_part,
    total_bytes,
    training_memory,
)  # fmt: skip
from planner.performance.models import ModelShape
from planner.performance.parallelism import Plan, gpus_in_use, slot_layers
from planner.performance.plans import plan_table, plans_of
from planner.performance.roofline import ChipRates
from planner.performance.search_leaders import Leaders
from planner.performance.search_words import HOLDERS, overflow_in_words, why_it_lost
from planner.performance.training import StateBytes, TrainingStep, training_step

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Takes the plans done and the plans in all."""


class Goal(StrEnum):
    """What a plan is judged by."""

    TIME = "time"
    """Time of a step."""
    COST = "cost"
    """GPU time of a step: what the run costs at one price of a GPU-hour."""
    ENERGY = "energy"
    """Energy of a step at the meter."""


@dataclass(frozen=True, slots=True)
class Case:
    """A model on a machine with all corrections; arrays of shape (1,), or (n,) for draws with one plan."""

    shape: ModelShape
    chip: ChipRates
    links: Links
    constants: TrainingConstants
    state: StateBytes
    memory: MemoryConstants
    features: Features = field(default_factory=Features)


@dataclass(frozen=True, slots=True)
class Draw:
    """Power at the meter of one GPU with its share of everything else; shape (1,).

    Attributes:
        load_w: While it computes or communicates.
        idle_w: While it waits in the bubble of a pipeline.
    """

    load_w: Floats
    idle_w: Floats


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Full evaluation of plans, of the shape their fields broadcast to."""

    step: TrainingStep
    memory: TrainingMemory
    needed_bytes: Floats
    fits: NDArray[np.bool_]


Watch = Callable[[Plan, Evaluated], None]
"""Takes a block of plans and what came of it."""


def evaluate_plans(case: Case, plan: Plan) -> Evaluated:
    """Time, breakdown, memory and feasibility of plans.

    Args:
        case: Model, machine and corrections.
        plan: One plan or many; fields may have several axes that broadcast.

    Returns:
        See `Evaluated`.
    """
    step = training_step(
        shape=case.shape,
        plan=plan,
        chip=case.chip,
        links=case.links,
        constants=case.constants,
        state=case.state,
        features=case.features,
    )
    memory = memory_of(case, plan)
    needed = total_bytes(memory)
    return Evaluated(step, memory, needed, needed <= case.chip.memory_bytes)


def memory_of(case: Case, plan: Plan) -> TrainingMemory:
    """Memory of plans, by what holds it."""
    return training_memory(
        shape=case.shape, plan=plan, state=case.state, constants=case.memory, features=case.features
    )


def least_recompute(case: Case, plan: Plan) -> Plan:
    """Plans with as many layers of a stage computed again as they need to fit the memory.

    Every layer of recompute costs time, so for given other axes this is the quickest. Memory as a function of the
    share is bent upwards at most, so what the straight line between none and all says does fit.

    Args:
        case: Model, machine and corrections, of shape (1,).
        plan: Plans without recompute, fields of shape (n,).
    """

    def needed(share: float) -> Floats:
        again = replace(plan, recomputed_layers_fraction=np.full(1, share))
        return total_bytes(memory_of(case, again))

    none, every, layers = needed(0.0), needed(1.0), slot_layers(case.shape, plan)
    over = np.maximum(none - case.chip.memory_bytes, 0.0)
    share = np.where(none > every, over / np.maximum(none - every, 1.0), 0.0)
    # rounding must not ask for a further layer
    counted = np.ceil(np.minimum(share, 1.0) * layers - 1e-9)
    return replace(plan, recomputed_layers_fraction=counted / layers)


def goal_values(goal: Goal, plan: Plan, step: TrainingStep, draw: Draw | None) -> Floats:
    """What a goal makes small, for one step: seconds, GPU-seconds or joules.

    A GPU draws its load's power while it computes or communicates, and its idle power in the bubble.
    """
    if goal is Goal.TIME:
        return step.step_s
    if goal is Goal.COST or draw is None:
        return step.step_s * gpus_in_use(plan)
    waiting = step.parts.bubble_s * (draw.load_w - draw.idle_w)
    return (step.step_s * draw.load_w - waiting) * gpus_in_use(plan)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A plan of a ranking, evaluated again; arrays of shape (1,).

    Attributes:
        value: What the ranking is by, see `goal_values`.
        searched_value: The same as found among all others.
        why: What it loses most by against the first one; empty for the first.
    """

    plan: Plan
    step: TrainingStep
    memory: TrainingMemory
    value: float
    searched_value: float
    why: str


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """What a search found.

    Attributes:
        feasible: Something fits; the plan is None otherwise.
        why_not: Which need exceeds what is there, else empty.
        tried, fitting: Plans evaluated, and of these the ones that fit the memory.
        plan: The best by time.
        rankings: The best by each goal, best first.
        refused: Degrees and layouts that can't be, and plans that don't fit, by reason.
        axes: What each axis took.
        needed_bytes, available_bytes: Memory of the plan, or of the leanest one where nothing fits.
        leanest: Plan of the least memory where nothing fits.
    """

    feasible: bool
    why_not: str
    tried: int
    fitting: int
    plan: Plan | None
    rankings: Mapping[Goal, tuple[Ranked, ...]]
    refused: Mapping[str, int]
    axes: Mapping[str, tuple[float, ...]]
    needed_bytes: float
    available_bytes: float
    leanest: Plan | None = None

    @property
    def runner_up(self) -> Plan | None:
        """The second plan by time, where there is one."""
        ranked = self.rankings.get(Goal.TIME, ())
        return ranked[1].plan if len(ranked) > 1 else None

    @property
    def runner_up_step_s(self) -> Floats | None:
        """Its step."""
        ranked = self.rankings.get(Goal.TIME, ())
        return ranked[1].step.step_s if len(ranked) > 1 else None


@dataclass(slots=True)
class _Tally:
    """What has been seen so far."""

    leaders: dict[Goal, Leaders]
    tried: int = 0
    fitting: int = 0
    overflows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(HOLDERS), dtype=np.int64))
    least_bytes: float = float("inf")
    leanest: Plan | None = None

    def see(self, plan: Plan, found: Evaluated, draw: Draw | None) -> None:
        self.tried += found.needed_bytes.size
        fitting = int(np.count_nonzero(found.fits))
        self.fitting += fitting
        if fitting < found.fits.size:
            place = largest_part(found.memory)[~found.fits].astype(np.intp)
            self.overflows += np.bincount(place, minlength=len(HOLDERS))
        if self.fitting == 0:
            least = int(found.needed_bytes.argmin())
            if found.needed_bytes.flat[least] < self.least_bytes:
                self.least_bytes = float(found.needed_bytes.flat[least])
                self.leanest = plans_of(plan_table(plan, np.array([least])))
        if fitting:
            for goal, leaders in self.leaders.items():
                leaders.see(plan, goal_values(goal, plan, found.step, draw), found.fits)


def search_plans(
    case: Case,
    blocks: Iterable[Plan],
    *,
    total: int,
    top: int = 10,
    draw: Draw | None = None,
    goals: Iterable[Goal] = tuple(Goal),
    refused: Mapping[str, int] | None = None,
    axes: Mapping[str, Iterable[float]] | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> PlanChoice:
    """Evaluate all plans and keep the best by each goal.

    Args:
        case: Model, machine and corrections, of shape (1,).
        blocks: Plans, see `search_space.Space.blocks`.
        total: Plans in all blocks, for the progress.
        top: Plans kept by each goal.
        draw: Power of a GPU; without it nothing is ranked by energy.
        goals: What to rank by.
        refused, axes: What the space says of itself.
        progress: Told after every block.
        watch: Shown every block and what came of it.

    Returns:
        See `PlanChoice`. The plans of its rankings are evaluated again, by the same functions.
    """
    wanted = [goal for goal in goals if goal is not Goal.ENERGY or draw is not None]
    tally = _Tally({goal: Leaders(top) for goal in wanted})
    for plan in blocks:
        found = evaluate_plans(case, plan)
        tally.see(plan, found, draw)
        if watch is not None:
            watch(plan, found)
        if progress is not None:
            progress(tally.tried, total)
    said = {name: tuple(values) for name, values in (axes or {}).items()}
    why = dict(refused or {}) | {
        f"plans: memory, most of it {name}": int(count)
        for name, count in zip(HOLDERS, tally.overflows, strict=True)
        if count
    }
    available = float(case.chip.memory_bytes[0])
    if not tally.fitting:
        least = tally.least_bytes if tally.tried else 0.0
        return PlanChoice(
            False, _why_not(case, tally), tally.tried, 0, None, {}, why, said, least, available, tally.leanest
        )
    rankings = {goal: _ranking(case, goal, leaders, draw) for goal, leaders in tally.leaders.items()}
    first = rankings[wanted[0]][0]
    needed = float(total_bytes(first.memory)[0])
    return PlanChoice(
        True, "", tally.tried, tally.fitting, first.plan, rankings, why, said, needed, available
    )


def _why_not(case: Case, tally: _Tally) -> str:
    if tally.leanest is None:
        return "no parallel layout divides the model, the batch and the GPUs"
    available = float(case.chip.memory_bytes[0])
    over = overflow_in_words(row_of(evaluate_plans(case, tally.leanest).memory, 0), available)
    which = "the plan" if tally.tried == 1 else f"the leanest of {tally.tried:,} plans"
    return f"memory: {which} needs {tally.least_bytes / 1e9:.1f} GB a GPU of {available / 1e9:.1f} GB, {over}"


def _ranking(case: Case, goal: Goal, leaders: Leaders, draw: Draw | None) -> tuple[Ranked, ...]:
    table = leaders.table[: leaders.most]
    found = evaluate_plans(case, plans_of(table))
    own = goal_values(goal, plans_of(table), found.step, draw)
    ranked: list[Ranked] = []
    for row in range(len(table)):
        plan, step = plans_of(table[row : row + 1]), row_of(found.step, row)
        why = why_it_lost(goal, ranked[0].plan, ranked[0].step, plan, step) if ranked else ""
        ranked.append(
            Ranked(plan, step, row_of(found.memory, row), float(own[row]), float(leaders.values[row]), why)
        )
    return tuple(ranked)


def row_of(values: T, row: int) -> T:
    """One row of a dataclass of arrays of shape (n,), as arrays of shape (1,)."""
    assert is_dataclass(values) and not isinstance(values, type)
    cut: dict[str, Any] = {}
    for one in fields(values):
        value = getattr(values, one.name)
        cut[one.name] = (
            row_of(value, row) if is_dataclass(value) else value[row : row + 1] if value.size > 1 else value
        )
    return replace(values, **cut)
