"""Own, lease or rent: evaluates, prints, and writes the answer and its monthly costs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.cli.answers import answer, output_problems
from planner.cli.own_or_rent_text import as_text
from planner.errors import InputError, Place, Problem
from planner.present.files import write_atomically
from planner.present.focus import focus_csv
from planner.present.options_json import as_object
from planner.present.text import explanation, find_keys
from planner.scenario.load import load_scenario
from planner.study.options import Comparison, own_or_rent


def compare(
    name: str,
    *,
    reference: str | None,
    output: Path | None,
    focus: Path | None,
    explain: str | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Compare and print.

    Args:
        reference: Option that differences are taken against.
        output: File of the answer, .json or .txt.
        focus: File of monthly costs, .csv.
        explain: Key of one number to walk down instead.

    Raises:
        InputError: Wrong options, all of them at once.
        PlannerError: The scenario is wrong, or the plan can't be built.
    """
    _check(output, focus)
    found = own_or_rent(load_scenario(name, changes=changes), open_catalog(catalog), reference=reference)
    if explain is not None:
        print(_explained(found, explain))
        return 0
    if focus is not None:
        write_atomically(focus, focus_csv(found).encode())
        print(f"{focus}: written", file=sys.stderr)
    answer(as_object(found), as_text(found), output=output, as_json=as_json)
    return 0


def _check(output: Path | None, focus: Path | None) -> None:
    problems = output_problems(output)
    if focus is not None and focus.suffix != ".csv":
        problems.append(
            Problem("monthly costs are written as CSV", Place(str(focus)), remedy="end the name in .csv")
        )
    if problems:
        raise InputError(problems)


def _explained(found: Comparison, key: str) -> str:
    if key not in found.ledger:
        near = find_keys(key or "options", found.ledger)
        raise InputError(
            Problem(
                f"--explain: no ledger line '{key}'",
                remedy=f"perhaps {', '.join(near) or 'one such as tco.npv_usd'}",
            )
        )
    return explanation(found.evaluation, key, depth=6)
