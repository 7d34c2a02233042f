"""The quotes and bom commands: vendors' quotes side by side, and what goes out to them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.errors import InputError, Place, Problem
from planner.scenario.load import load_scenario
from planner.scenario.yamltext import inline


def with_quotes(changes: list[str], quotes: Sequence[Path]) -> list[str]:
    """Changes of a call that names files of quotes.

    >>> with_quotes([], [Path("acme.csv")])
    ['quotes=[acme.csv]']
    """
    return [*changes, f"quotes={inline([str(one) for one in quotes])}"] if quotes else changes


def compare(
    files: Sequence[Path],
    *,
    scenario: str | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    explain: str | None,
    as_json: bool,
) -> int:
    """Show what quotes hold, and with a scenario what each vendor's make of its bill.

    Args:
        explain: A key of the comparison to walk down to its sources instead.

    Returns:
        1 where every vendor's delivery is too late for a phase; otherwise 0.

    Raises:
        InputError: Files, scenario or options that are wrong.
        DesignError: The plan can't be built.
    """
    from planner.cli.quotes_text import as_object, as_text, lines_object, lines_text
    from planner.intake.quotes import read_quotes
    from planner.present.text import explanation, find_keys
    from planner.scenario.quote_match import match_quotes
    from planner.study.procurement import compare_quotes

    shelf, quotes = open_catalog(catalog), read_quotes(files)
    if scenario is None:
        if explain is not None or changes:
            raise InputError(Problem("--explain and --set need a plan", remedy="name one with --scenario"))
        matched = match_quotes(quotes, shelf)
        answer = lines_object(quotes, matched)
        print(json.dumps(answer, indent=1) if as_json else "\n".join(lines_text(answer)))
        return 0
    found = compare_quotes(load_scenario(scenario, changes=changes), shelf, quotes)
    if explain is not None:
        if explain not in found.base.ledger:
            near = find_keys(explain, found.base.ledger)
            raise InputError(
                Problem(
                    f"--explain: no ledger line '{explain}'",
                    remedy=f"perhaps {', '.join(near) or 'one such as capex.total_usd'}",
                )
            )
        print(explanation(found.base, explain, depth=6))
        return 0
    answer = as_object(found)
    print(json.dumps(answer, indent=1, allow_nan=False) if as_json else "\n".join(as_text(answer)))
    return 1 if found.offers and all(any(one.late for one in offer.ready) for offer in found.offers) else 0


def write_bom(
    scenario: str, *, output: Path, changes: Sequence[str], catalog: Sequence[Path], as_json: bool
) -> int:
    """Write the bill of materials as CSV, or the request for quotes as a workbook.

    Raises:
        InputError: The scenario or the file's name is wrong.
        DesignError: The plan can't be built.
    """
    from planner.evaluate import evaluate
    from planner.present.files import write_atomically

    if output.suffix not in (".csv", ".xlsx"):
        raise InputError(
            Problem(
                "a bill is written as CSV, a request for quotes as a workbook", Place(str(output)),
                remedy="end the name in .csv or .xlsx",
            )
        )  # fmt: skip
    evaluation = evaluate(load_scenario(scenario, changes=changes), open_catalog(catalog))
    if evaluation.built is None:
        assert evaluation.refusal is not None
        raise evaluation.refusal
    if output.suffix == ".csv":
        from planner.present.bom_csv import bom_csv

        data, what = bom_csv(evaluation), "bill of materials"
    else:
        from planner.present.rfq import rfq_bytes

        data, what = rfq_bytes(evaluation), "request for quotes"
    write_atomically(output, data)
    said = {"file": str(output), "what": what, "parts": len(evaluation.built.bom)}
    print(f"{output}: {what}, {said['parts']} parts", file=sys.stderr)
    if as_json:
        print(json.dumps(said))
    return 0
