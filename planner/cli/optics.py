"""The optics command: copper, pluggable, linear and co-packaged optics of one plan, side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.cli.answers import answer, output_problems
from planner.cli.optics_text import as_text
from planner.errors import InputError, Problem, nearest
from planner.present.optics_json import as_object
from planner.present.text import explanation, find_keys
from planner.scenario.load import load_scenario
from planner.study.optics import Comparison, compare_optics

MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])(-\d\d)?")


def decide(
    name: str,
    *,
    output: Path | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    claims: bool,
    until: str | None,
    explain: str | None,
    as_json: bool,
) -> int:
    """Compare and print.

    Args:
        output: File of the answer, .json or .txt.
        claims: Add the variant that vendors claim.
        until: Date for roadmap parts that state none.
        explain: ``VARIANT:KEY`` of one number to walk down instead.

    Raises:
        InputError: Wrong options, all of them at once.
        PlannerError: The scenario is wrong, or no variant can be built.
    """
    _check(output, until)
    found = compare_optics(
        load_scenario(name, changes=changes), open_catalog(catalog), claims=claims, until=until
    )
    if explain is not None:
        print(_explained(found, explain))
        return 0
    answer(as_object(found), as_text(found), output=output, as_json=as_json)
    return 0


def _check(output: Path | None, until: str | None) -> None:
    problems = output_problems(output)
    if until is not None and not MONTH.fullmatch(until):
        problems.append(Problem(f"--wait-until: '{until}' is no month", remedy="write it as 2028-01"))
    if problems:
        raise InputError(problems)


def _explained(found: Comparison, wanted: str) -> str:
    name, _, key = wanted.partition(":")
    variant = next((one for one in found.built if one.approach == name), None)
    known = [one.approach.value for one in found.built]
    if variant is None or variant.evaluation is None:
        raise InputError(
            Problem(
                f"--explain: no variant '{name}' was built",
                remedy=nearest(name, known) or f"one of {', '.join(known)}",
            )
        )
    if key not in variant.ledger:
        near = find_keys(key or "optics", variant.ledger)
        raise InputError(
            Problem(
                f"--explain: no ledger line '{key}'",
                remedy=f"perhaps {', '.join(near) or 'one such as capex.total_usd'}",
            )
        )
    return explanation(variant.evaluation, key, depth=6)
