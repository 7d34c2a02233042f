"""The run command: many scenarios, several formats, several processes, one exit code."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli.fail_over import Bound, bounds_of, broken_bounds
from planner.errors import INTERNAL, InputError, PlannerError, Problem, nearest

if TYPE_CHECKING:
    from planner.evaluate import Evaluation
    from planner.present.view.model import View

FORMATS = ("html", "xlsx", "json")
PR_SET_PDEATHSIG = 1
"""Linux's number for "send me this signal when my parent ends"."""
PARALLEL_FROM = 4
"""Scenarios from which starting processes pays."""


@dataclass(frozen=True, slots=True)
class Task:
    """One scenario to evaluate and write."""

    name: str
    stem: str
    output: Path
    changes: tuple[str, ...]
    formats: tuple[str, ...]
    catalog: tuple[Path, ...]
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What became of it: its exit code, problems in words, the view, the files written, and bounds it is over."""

    task: Task
    code: int
    problems: tuple[str, ...]
    view: View | None
    files: tuple[str, ...]
    over: tuple[str, ...] = ()


def run_batch(
    names: Sequence[str],
    *,
    everything: bool,
    output: Path,
    changes: Sequence[str],
    formats: str,
    catalog: Sequence[Path],
    jobs: int | None,
    as_json: bool,
    fail_over: Sequence[str] = (),
) -> int:
    """Evaluate and write all; print what was found; return the worst exit code.

    Raises:
        InputError: The call itself is wrong: no scenario, unknown format, unreadable bound, unwritable folder.
    """
    from planner.cli.app import say_problems
    from planner.present.outputs import make_folder

    bounds = bounds_of(fail_over)
    tasks = [
        replace(task, bounds=bounds) for task in _tasks(names, everything, output, changes, formats, catalog)
    ]
    make_folder(output)
    done: list[Done] = []
    # being told to end is an interrupt: what is in hand is finished, and workers don't stay behind
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for one in _progress(_results(tasks, jobs), len(tasks)):
            done.append(one)
    except KeyboardInterrupt:
        print(f"interrupted: {len(done)} of {len(tasks)} scenarios written", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    order = {task: index for index, task in enumerate(tasks)}
    done.sort(key=lambda one: order[one.task])
    for one in done:
        say_problems(list(one.problems))
    if as_json:
        print(json.dumps([_summary(one) for one in done], indent=1, allow_nan=False))
    else:
        _print(done)
    return max((one.code for one in done), default=0)


def _tasks(
    names: Sequence[str],
    everything: bool,
    output: Path,
    changes: Sequence[str],
    formats: str,
    catalog: Sequence[Path],
) -> list[Task]:
    from planner.scenario.load import shipped_scenarios

    wanted = [*names, *(shipped_scenarios() if everything else ())]
    problems = []
    if not wanted:
        problems.append(
            Problem(
                "no scenario given", remedy=f"give a file, --all, or one of {', '.join(shipped_scenarios())}"
            )
        )
    kinds = tuple(dict.fromkeys(part.strip() for part in formats.split(",") if part.strip()))
    problems += [
        Problem(
            f"no format '{kind}'",
            key="--format",
            remedy=nearest(kind, FORMATS) or f"any of {', '.join(FORMATS)}",
        )
        for kind in kinds
        if kind not in FORMATS
    ]
    if not kinds:
        problems.append(Problem("names no format", key="--format", remedy=f"any of {', '.join(FORMATS)}"))
    stems: dict[str, str] = {}
    for name in dict.fromkeys(wanted):
        stem = Path(name).stem if Path(name).suffix in (".yaml", ".yml") else Path(name).name
        if stem in stems:
            problems.append(
                Problem(
                    f"'{stems[stem]}' and '{name}' would write the same files", remedy="rename one of them"
                )
            )
        stems[stem] = name
    if problems:
        raise InputError(problems)
    return [Task(name, stem, output, tuple(changes), kinds, tuple(catalog)) for stem, name in stems.items()]


def _results(tasks: Sequence[Task], jobs: int | None) -> Iterator[Done]:
    """Results as they come; in this process for a few scenarios, else in several."""
    workers = min(jobs or os.cpu_count() or 1, len(tasks))
    if workers < 2 or (jobs is None and len(tasks) < PARALLEL_FROM):
        for task in tasks:
            yield run_one(task)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    method = "fork" if sys.platform.startswith("linux") else "spawn"
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method), initializer=_quiet)
    try:
        futures = [pool.submit(run_one, task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        # Scenarios in hand are finished, so that their files are whole; the others are not begun. A
        # further ctrl-C must not cut this short, or workers would be left behind.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _quiet() -> None:
    """A worker leaves signals to the parent, which lets it finish, and ends when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_one(task: Task) -> Done:
    """Evaluate one scenario and write its files; a fault of ours in one doesn't end the batch."""
    try:
        return _run_one(task)
    except Exception:  # whatever broke in this scenario, the others go on
        import traceback

        said = f"{task.name}: a fault of ours, not of your input; please report these lines"
        return Done(task, INTERNAL, (said, traceback.format_exc()), None, ())


def _run_one(task: Task) -> Done:
    from planner.present.outputs import write_reports
    from planner.present.view.brief import brief
    from planner.present.view.remedies import cheapest_in_words
    from planner.study.plan import plan
    from planner.study.remedies import problems_of, with_remedies

    try:
        evaluation = with_remedies(plan(task.name, changes=task.changes, catalog=task.catalog))
    except PlannerError as error:
        return Done(task, 2, _said(task, error), None, ())
    shown = brief(evaluation)
    try:
        written = write_reports(evaluation, task.output, task.stem, task.formats)
        files = tuple(str(path) for path in written)
    except PlannerError as error:
        return Done(task, 2, _said(task, error), shown, ())
    if evaluation.refusal is not None:
        return Done(task, 2, _said(task, evaluation.refusal, evaluation), shown, files)
    missed = tuple(
        f"{problem.place or task.name}: {problem.key}: {problem.message} ({cheapest})"
        for problem in problems_of(evaluation)
        if (cheapest := cheapest_in_words(evaluation, problem))
    )
    try:
        over = broken_bounds(task.bounds, evaluation)
    except InputError as error:
        return Done(task, 2, _said(task, error), shown, files)
    said = (*_unused(task, evaluation), *missed, *(f"{task.name}: --fail-over: {one}" for one in over))
    return Done(task, 0 if shown.meets and not over else 1, said, shown, files, over)


def _unused(task: Task, evaluation: Evaluation) -> tuple[str, ...]:
    """Calibration profiles that can't speak for the accelerator, and lines of quotes that mean no part."""
    from planner.scenario.quote_match import match_quotes
    from planner.scenario.quotes import quotes_of

    built = evaluation.built
    refused = () if built is None else built.performance.refused
    unmatched = match_quotes(quotes_of(evaluation.loaded), evaluation.parts.catalog).unmatched
    return (
        *(f"{task.name}: not used: profile {one}" for one in refused),
        *(
            f"{one.line.place}: not used: '{one.line.part}' is no part of the catalog ({one.remedy})"
            for one in unmatched
        ),
    )


def _said(task: Task, error: PlannerError, evaluation: Evaluation | None = None) -> tuple[str, ...]:
    """Each problem, with its cheapest cure where remedies were tried."""
    from planner.present.view.remedies import cheapest_in_words

    found = []
    for one in error.problems:
        cheapest = cheapest_in_words(evaluation, one) if evaluation is not None else ""
        told = str(one) if one.place else f"{task.name}: {one}"
        found.append(f"{told}; {cheapest}" if cheapest else told)
    return tuple(found)


def _progress(results: Iterable[Done], total: int) -> Iterator[Done]:
    """A progress bar on stderr where that is a terminal and there is more than one scenario."""
    if total < 2 or not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import Progress

    waiting = iter(results)
    first = next(waiting)  # workers are started before the bar's thread is
    with Progress(console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task("scenarios", total=total, completed=1)
        yield first
        for one in waiting:
            bar.advance(job)
            yield one


def _print(done: Sequence[Done]) -> None:
    from planner.present.text import anchors_text, batch_table, headline_table, remedy_table

    if len(done) == 1:
        one = done[0]
        if one.view is not None:
            print(one.view.finding)
            print(one.view.verdict)
            if one.view.tried is not None:
                print(remedy_table(one.view.tried))
            if one.view.feasible:
                print(headline_table(one.view))
                if measured := anchors_text(one.view):
                    print(measured)
        for path in one.files:
            print(f"written: {path}")
        return
    print(
        batch_table(
            [
                (one.task.stem, one.view.headlines)
                for one in done
                if one.view is not None and one.view.feasible
            ]
        )
    )
    for one in done:
        if one.code:
            said = one.view.verdict if one.view is not None else "not read"
            print(f"{one.task.stem}: {said}")
    print(f"written: {sum(len(one.files) for one in done)} files in {done[0].task.output}")


def _summary(one: Done) -> dict[str, Any]:
    view = one.view
    return {
        "scenario": one.task.name,
        "exit_code": one.code,
        "finding": view.finding if view is not None else None,
        "verdict": view.verdict if view is not None else None,
        "feasible": view.feasible if view is not None else None,
        "meets_limits": view.meets if view is not None else None,
        "over": list(one.over),
        "outcomes": {cell.key: cell.value for cell in view.headlines} if view is not None else {},
        "problems": list(one.problems),
        "files": list(one.files),
    }
