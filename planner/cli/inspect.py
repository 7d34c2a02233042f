"""Commands that read: check, explain, init, schema."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.errors import InputError, Place, PlannerError, Problem, ScenarioError, nearest
from planner.scenario.load import load_scenario


def check_scenarios(names: Sequence[str], *, changes: Sequence[str], catalog: Sequence[Path]) -> int:
    """Print every problem of every scenario; 0 where there is none, else 2."""
    from planner.cli.app import say_problems
    from planner.evaluate import evaluate
    from planner.scenario.parts import with_part_problems

    worst = 0
    shelf = open_catalog(catalog)
    for name in names:
        try:
            found = evaluate(load_scenario(name, changes=changes), shelf)
            if found.refusal is not None:
                raise found.refusal
            print(f"{name}: ok")
        except PlannerError as error:
            worst = 2
            whole = with_part_problems(error, shelf) if isinstance(error, ScenarioError) else error
            said = [str(problem) if problem.place else f"{name}: {problem}" for problem in whole.problems]
            say_problems(said, to_stdout=True)
    return worst


def explain_key(
    name: str, key: str | None, *, changes: Sequence[str], catalog: Sequence[Path], depth: int, as_json: bool
) -> int:
    """Print the tree below a key, or all keys."""
    from planner.evaluate import evaluate
    from planner.present.text import explanation, explanation_json, find_keys, key_list

    evaluation = evaluate(load_scenario(name, changes=changes), open_catalog(catalog))
    if evaluation.refusal is not None:
        raise evaluation.refusal
    if key is None:
        print(json.dumps(list(evaluation.ledger.lines), indent=1) if as_json else key_list(evaluation.ledger))
        return 0
    if key not in evaluation.ledger:
        near = find_keys(key, evaluation.ledger)
        remedy = f"perhaps {', '.join(near)}" if near else f"planner explain {name} lists the keys"
        raise InputError(Problem(f"no ledger line '{key}'", remedy=remedy))
    if as_json:
        print(json.dumps(explanation_json(evaluation, key, depth=depth), indent=1, allow_nan=False))
    else:
        print(explanation(evaluation, key, depth=depth))
    return 0


def write_template(path: Path, *, force: bool) -> int:
    """Write the commented scenario and its schema.

    Raises:
        InputError: The file is there already, or can't be written.
    """
    from planner.present.files import write_atomically
    from planner.scenario.template import scenario_template

    if os.path.lexists(path) and not force:
        raise InputError(
            Problem("is there already", Place(str(path)), remedy="choose another name, or give --force")
        )
    schema_path = path.with_name("scenario.schema.json")
    write_atomically(path, scenario_template(schema_name=schema_path.name).encode())
    if force or not schema_path.exists():
        write_atomically(schema_path, _schema_text("scenario").encode())
    print(f"{path}: written; next: planner check {path}, then planner tui {path}", file=sys.stderr)
    return 0


def print_schema(what: str) -> int:
    """Print a JSON Schema.

    Raises:
        InputError: There is none of this name.
    """
    print(_schema_text(what), end="")
    return 0


def _schema_text(what: str) -> str:
    from planner.field_docs import DescribedSchema

    if what == "scenario":
        from planner.scenario.schema import Scenario

        found = Scenario.model_json_schema(schema_generator=DescribedSchema)
    elif what == "catalog":
        from planner.catalog.schema import FAMILIES

        found = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Catalog items by family",
            "properties": {
                name: kind.model_json_schema(schema_generator=DescribedSchema)
                for name, kind in FAMILIES.items()
            },
        }
    elif what == "measured":
        from planner.study.fidelity.schema import json_schema as measured_schema

        found = measured_schema()
    elif what == "anchor":
        from planner.scenario.anchors import AnchorFile

        found = AnchorFile.model_json_schema(schema_generator=DescribedSchema)
    elif what == "report":
        from planner.present.json_contract import json_schema

        found = json_schema()
    else:
        known = ("scenario", "catalog", "anchor", "measured", "report")
        raise InputError(
            Problem(f"no schema '{what}'", remedy=nearest(what, known) or f"one of {', '.join(known)}")
        )
    return json.dumps(found, indent=1) + "\n"
