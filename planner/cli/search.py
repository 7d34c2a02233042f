"""The search command: every legal plan of a training workload on a cluster, and the best of them."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from planner.catalog.store import Catalog, open_catalog
from planner.choices import Schedule
from planner.cli.search_text import Own, as_object, as_rows, as_text
from planner.errors import DesignError, InputError, Place, Problem, nearest
from planner.evaluate import Evaluation, evaluate
from planner.performance.search import (
    Goal,
    PlanChoice,
    Ranked,
    evaluate_plans,
    goal_values,
    search_plans,
)
from planner.performance.search_run import RunRates, run_rates
from planner.performance.search_space import EVERY, search_space
from planner.performance.search_words import why_it_lost
from planner.performance.train import Trained
from planner.present.files import write_atomically
from planner.scenario.load import Loaded, load_scenario
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import WorkloadKind

SHORT_SEARCH = 500_000
"""Plans that are done before anybody would look at progress."""


def search_scenario(
    name: str,
    *,
    workload: str | None,
    top: int,
    by: str,
    output: Path | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    as_json: bool,
    zero_bubble: bool = False,
) -> int:
    """Search and print; 2 where no plan fits.

    Args:
        zero_bubble: Also try the zero-bubble schedule, which few stacks have; a scenario whose own plan has it has it
            tried anyway.

    Raises:
        InputError: Wrong options, all of them at once.
        PlannerError: The scenario is wrong, or its cluster can't be built.
    """
    goal = _checked(by, output)
    loaded = load_scenario(name, changes=changes)
    index = _workload(loaded, workload, name)
    items = open_catalog(catalog)
    own = _own(loaded, index, items)
    wish = loaded.scenario.workloads[index].plan
    zero_bubble |= isinstance(wish, PlanWish) and wish.schedule is Schedule.ZERO_BUBBLE
    # the scenario's own plan says nothing of what else there is
    loaded = load_scenario(name, changes=[*changes, f"workloads.{index}.plan=auto"])
    evaluation = evaluate(loaded, items)
    if evaluation.built is None:
        assert evaluation.refusal is not None
        raise evaluation.refusal
    wanted = loaded.scenario.workloads[index].id
    found = next(one for one in evaluation.built.performance.trained if one.workload.id == wanted)
    rates = _rates(evaluation, found)
    choice = _search(_with_zero_bubble(found, items) if zero_bubble else found, rates, top, zero_bubble)
    beside = None if own is None else _beside(own, choice, rates, goal)
    answer = as_object(loaded.scenario.name, found, choice, rates, goal, beside)
    if output is not None:
        write_atomically(output, _file(output, answer, as_rows(found, choice, rates)))
        print(f"{output}: written", file=sys.stderr)
    print(
        json.dumps(answer, indent=1, allow_nan=False)
        if as_json
        else as_text(found, choice, rates, goal, beside)
    )
    return 0


def _checked(by: str, output: Path | None) -> Goal:
    problems = []
    known = [goal.value for goal in Goal]
    if by not in known:
        problems.append(
            Problem(f"--by: no goal '{by}'", remedy=nearest(by, known) or f"one of {', '.join(known)}")
        )
    if output is not None and output.suffix not in (".csv", ".json"):
        problems.append(
            Problem(
                "plans are written as CSV or JSON", Place(str(output)), remedy="end the name in .csv or .json"
            )
        )
    if problems:
        raise InputError(problems)
    return Goal(by)


def _workload(loaded: Loaded, wanted: str | None, name: str) -> int:
    """Place of the training workload that is meant: the first one by default."""
    training = {
        one.id: index
        for index, one in enumerate(loaded.scenario.workloads)
        if one.kind is WorkloadKind.TRAINING
    }
    if not training:
        raise InputError(
            Problem(f"'{name}' has no training workload, and only these have plans to search",
                    remedy="add a workload of kind: training")
        )  # fmt: skip
    if wanted is None:
        return next(iter(training.values()))
    if wanted not in training:
        remedy = nearest(wanted, list(training)) or f"one of {', '.join(training)}"
        raise InputError(Problem(f"--workload: '{name}' has no training workload '{wanted}'", remedy=remedy))
    return training[wanted]


def _rates(evaluation: Evaluation, found: Trained) -> RunRates:
    assert evaluation.built is not None
    cluster = evaluation.built.cluster
    return run_rates(evaluation.ledger, found, gpus=cluster.parts.gpus, nodes=cluster.nodes)


def _own(loaded: Loaded, index: int, items: Catalog) -> Trained | DesignError | None:
    """The scenario's own plan, evaluated, or why it can't run; None where it names none."""
    workload = loaded.scenario.workloads[index]
    if not isinstance(workload.plan, PlanWish):
        return None
    evaluation = evaluate(loaded, items)
    if evaluation.built is None:
        assert evaluation.refusal is not None
        return evaluation.refusal
    return next(one for one in evaluation.built.performance.trained if one.workload.id == workload.id)


def _beside(own: Trained | DesignError, choice: PlanChoice, rates: RunRates, goal: Goal) -> Own:
    """The scenario's own plan in the terms of a ranking."""
    if isinstance(own, DesignError):
        return Own(None, own.problems[0].message)
    best, plan = choice.rankings[goal][0], own.plan
    alone = evaluate_plans(own.case, plan)
    value = float(goal_values(goal, plan, alone.step, rates.draw)[0])
    why = why_it_lost(goal, best.plan, best.step, plan, alone.step)
    return Own(Ranked(plan, alone.step, alone.memory, value, value, why))


def _with_zero_bubble(found: Trained, items: Catalog) -> Trained:
    """The case with the schedule's figure, which an evaluation reads only for plans that have it."""
    figure, _ = items.figure("performance", "training_zero_bubble_ratio")
    features = replace(found.case.features, zero_bubble_ratio=np.array([figure.value]))
    return replace(found, case=replace(found.case, features=features))


def _search(found: Trained, rates: RunRates, top: int, zero_bubble: bool) -> PlanChoice:
    space = search_space(found.job, replace(EVERY, zero_bubble=zero_bubble))
    total = space.plans()
    with _progress(total) as progress:
        return search_plans(
            found.case, space.blocks(), total=total, top=top, draw=rates.draw, refused=space.refused,
            axes=space.values(), progress=progress,
        )  # fmt: skip


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr where that is a terminal and the search takes a while."""
    if total < SHORT_SEARCH or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task("plans", total=total)
        yield lambda done, _: bar.update(job, completed=done)


def _file(path: Path, answer: dict[str, object], rows: list[dict[str, object]]) -> bytes:
    if path.suffix == ".json":
        return (json.dumps(answer, indent=1, allow_nan=False) + "\n").encode()
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
