"""The search command: every legal plan of a training workload on a cluster, and the best of them."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.choices import Schedule
from planner.cli.search_text import as_object, as_rows, as_text
from planner.errors import InputError, Place, Problem, nearest
from planner.performance.search import Goal
from planner.present.files import write_atomically
from planner.scenario.load import Loaded, load_scenario
from planner.scenario.schema import PlanChoice as PlanWish
from planner.study.plan_search import find_plans, refuse_no_training

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
    wish = loaded.scenario.workloads[index].plan
    zero_bubble |= isinstance(wish, PlanWish) and wish.schedule is Schedule.ZERO_BUBBLE
    with ExitStack() as bars:
        plans = find_plans(
            loaded, load_scenario(name, changes=[*changes, f"workloads.{index}.plan=auto"]), open_catalog(catalog),
            index=index, goal=goal, top=top, zero_bubble=zero_bubble,
            progress=lambda total: bars.enter_context(_progress(total)),
        )  # fmt: skip
    found, choice, rates, beside = plans.trained, plans.choice, plans.rates, plans.own
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
    training = refuse_no_training(loaded, name)
    if wanted is None:
        return next(iter(training.values()))
    if wanted not in training:
        remedy = nearest(wanted, list(training)) or f"one of {', '.join(training)}"
        raise InputError(Problem(f"--workload: '{name}' has no training workload '{wanted}'", remedy=remedy))
    return training[wanted]


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
