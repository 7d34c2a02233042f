"""The risk command: ranges, odds, what moves a result, and what to measure or negotiate next."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.cli.risk_text import as_text
from planner.errors import InputError, Place, Problem, ScenarioError, nearest
from planner.evaluate import DESIGNED, Evaluation, evaluate
from planner.ledger import Axis, Kind
from planner.present.files import write_atomically
from planner.present.risk_json import as_object
from planner.scenario.load import load_scenario
from planner.scenario.parts import with_part_problems
from planner.study.limits import missed_limits
from planner.study.risk import CUBES, Effort, with_risk
from planner.study.risk_inputs import Bounds

KINDS = (".json", ".txt", ".html")


def say_risk(
    name: str,
    *,
    key: str,
    draws: int,
    seed: int,
    ranges: Sequence[str],
    output: Path | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Draw and print; 1 where the plan as it stands misses a limit.

    Args:
        key: The result that is taken apart.
        draws: At least; a multiple of the hypercubes is drawn.
        ranges: ``KEY=LOW:HIGH``, P10 and P90 of inputs.
        output: File of the answer: .json, .txt, or the whole report as .html.

    Raises:
        InputError: Wrong options, all of them at once.
        PlannerError: The scenario is wrong, or the plan can't be built.
    """
    problems = _of_output(output)
    bounds, wrong = read_ranges(ranges)
    if problems or wrong:
        raise InputError([*problems, *wrong])
    evaluation = _evaluated(name, changes, catalog)
    _refuse_ranges(evaluation, bounds)
    found = with_risk(
        evaluation, key, effort=Effort.of(max(draws, 2 * CUBES)), seed=seed, bounds=bounds, say=_say
    )
    answer = json.dumps(as_object(found), indent=1, allow_nan=False) if as_json else as_text(found)
    if output is not None:
        write_atomically(output, _bytes(found, output.suffix))
        print(f"{output}: written", file=sys.stderr)
    print(answer)
    return 1 if missed_limits(found) else 0


def _evaluated(name: str, changes: Sequence[str], catalog: Sequence[Path]) -> Evaluation:
    shelf = open_catalog(catalog)
    try:
        evaluation = evaluate(load_scenario(name, changes=changes), shelf)
    except ScenarioError as error:
        raise with_part_problems(error, shelf) from error
    if evaluation.refusal is not None:
        raise evaluation.refusal
    return evaluation


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def _bytes(found: Evaluation, suffix: str) -> bytes:
    if suffix == ".html":
        from planner.present.html import html_text

        return html_text(found).encode()
    if suffix == ".json":
        return f"{json.dumps(as_object(found), indent=1, allow_nan=False)}\n".encode()
    return f"{as_text(found)}\n".encode()


def _of_output(output: Path | None) -> list[Problem]:
    if output is None or output.suffix in KINDS:
        return []
    return [
        Problem(
            "risk is written as JSON, text or a whole report",
            Place(str(output)),
            remedy=f"end the name in {', '.join(KINDS[:-1])} or {KINDS[-1]}",
        )
    ]


def read_ranges(ranges: Sequence[str]) -> tuple[dict[str, Bounds], list[Problem]]:
    """P10 and P90 by key from ``KEY=LOW:HIGH``, and what is wrong.

    >>> read_ranges(["money.utilisation_fraction=0.6:0.9"])
    ({'money.utilisation_fraction': (0.6, 0.9)}, [])
    """
    found: dict[str, Bounds] = {}
    problems = []
    for said in ranges:
        key, _, ends = said.partition("=")
        low, high = (_number(end) for end in (ends.partition(":")[0], ends.partition(":")[2]))
        if not key or low is None or high is None:
            remedy = "write KEY=LOW:HIGH, such as money.utilisation_fraction=0.6:0.9"
            problems.append(Problem(f"--range: '{said}' is no range", remedy=remedy))
        elif low > high:
            problems.append(
                Problem(
                    f"--range: {key} goes from {low:g} down to {high:g}",
                    remedy=f"write {key}={high:g}:{low:g}",
                )
            )
        else:
            found[key] = (low, high)
    return found, problems


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _refuse_ranges(evaluation: Evaluation, bounds: Mapping[str, Bounds]) -> None:
    """Ranges are of given numbers that the design does not rest on, and hold the plan's value.

    Raises:
        InputError: One problem for each that isn't.
    """
    problems = []
    ledger = evaluation.ledger
    for key, (low, high) in bounds.items():
        if key not in ledger:
            remedy = nearest(key, ledger.lines) or "planner explain lists the keys"
            problems.append(Problem(f"--range: no ledger line '{key}'", remedy=remedy))
        elif ledger[key].kind is not Kind.GIVEN or ledger[key].axis is not Axis.SCALAR:
            reads = ", ".join(ledger.inputs_of(key)[:3])
            remedy = (
                f"give ranges of what it rests on: {reads}" if reads else "give a range of a single number"
            )
            problems.append(Problem(f"--range: '{key}' is no given number", remedy=remedy))
        elif key.startswith(DESIGNED):
            problems.append(
                Problem(f"--range: the design rests on '{key}'", remedy="compare scenarios instead")
            )
        elif not low <= ledger.scalar(key) <= high:
            value = f"{ledger.scalar(key):g}"
            problems.append(
                Problem(
                    f"--range: {key} is {value}, outside {low:g} to {high:g}",
                    remedy=f"hold {value} between the two",
                )
            )
        elif low < 0 <= ledger.scalar(key) and key.endswith(("_usd", "_fraction", "_hours", "_w")):
            problems.append(Problem(f"--range: {key} can't fall below 0", remedy=f"write {key}=0:{high:g}"))
    if problems:
        raise InputError(problems)
