"""The compare command: two to four scenarios side by side, printed and written."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.catalog.store import Catalog, open_catalog
from planner.errors import InputError, PlannerError, Problem, ScenarioError, nearest
from planner.evaluate import Evaluation, evaluate
from planner.present.compare_json import as_object
from planner.present.compare_text import as_text
from planner.present.files import write_atomically
from planner.present.outputs import make_folder
from planner.present.text import explanation, find_keys
from planner.scenario.load import load_scenario
from planner.scenario.parts import with_part_problems
from planner.study.compare import FEWEST, MOST, Comparison, compare

FORMATS = ("html", "json", "txt")
STEM = "compare"


def compare_named(
    names: Sequence[str],
    *,
    output: Path | None,
    formats: str,
    explain: str | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Compare, print, and write where a folder is given.

    Args:
        output: Folder for ``compare.html`` and its like.
        explain: ``LETTER:KEY`` of one number to walk down instead.

    Returns:
        2 where one of the scenarios can't be built, which is shown in its column; 0 otherwise.

    Raises:
        InputError: Wrong options or scenarios; every problem of all of them.
    """
    kinds = _checked(names, formats)
    found = compare(_evaluated(names, changes, open_catalog(catalog)))
    if explain is not None:
        print(_explained(found, explain))
        return 0
    whole = json.dumps(as_object(found), indent=1, allow_nan=False)
    text = as_text(found)
    if output is not None:
        make_folder(output)
        for kind in kinds:
            path = output / f"{STEM}.{kind}"
            write_atomically(path, _bytes(found, kind, whole, text))
            print(f"{path}: written", file=sys.stderr)
    print(whole if as_json else text)
    return 0 if all(one.built for one in found.entrants) else 2


def _checked(names: Sequence[str], formats: str) -> list[str]:
    problems = []
    kinds = [one.strip() for one in formats.split(",") if one.strip()]
    for kind in kinds:
        if kind not in FORMATS:
            remedy = nearest(kind, FORMATS) or f"any of {', '.join(FORMATS)}"
            problems.append(Problem(f"--format: no format '{kind}'", remedy=remedy))
    if not FEWEST <= len(names) <= MOST:
        problems.append(
            Problem(
                f"{len(names)} {'scenario' if len(names) == 1 else 'scenarios'} can't be compared",
                remedy=f"name {FEWEST} to {MOST} of them",
            )
        )
    if problems:
        raise InputError(problems)
    return kinds


def _evaluated(names: Sequence[str], changes: Sequence[str], shelf: Catalog) -> list[Evaluation]:
    """Every scenario's evaluation, or the problems of all of them."""
    found: list[Evaluation] = []
    problems: list[Problem] = []
    for name in names:
        try:
            found.append(evaluate(load_scenario(name, changes=changes), shelf))
        except ScenarioError as error:
            problems += with_part_problems(error, shelf).problems
        except PlannerError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def _bytes(found: Comparison, kind: str, whole: str, text: str) -> bytes:
    if kind == "html":
        from planner.present.html.compare import compare_html

        return compare_html(found).encode()
    return f"{whole if kind == 'json' else text}\n".encode()


def _explained(found: Comparison, wanted: str) -> str:
    letter, _, key = wanted.partition(":")
    known = [one.letter for one in found.entrants if one.built]
    one = next((entrant for entrant in found.entrants if entrant.letter == letter and entrant.built), None)
    if one is None:
        remedy = f"one of {', '.join(known)}, as in {known[0]}:capex.total_usd" if known else ""
        raise InputError(Problem(f"--explain: no scenario '{letter}' was built", remedy=remedy))
    if key not in one.evaluation.ledger:
        near = find_keys(key or "capex", one.evaluation.ledger)
        raise InputError(
            Problem(
                f"--explain: no ledger line '{key}'",
                remedy=f"perhaps {', '.join(near) or 'one such as outcome.gpu_utilisation_fraction'}",
            )
        )
    return explanation(one.evaluation, key, depth=6)
