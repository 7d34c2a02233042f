"""An evaluation as JSON for other programs: headlines, and the whole ledger with its sources.

The classes of `planner.present.json_contract` say what it holds. `json_text` gives plain data of their
layout, one ledger line a row of text, so that two outputs can be compared with `diff`.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import Any, Final

import planner
from planner.catalog.profiles import Profile
from planner.errors import Place
from planner.evaluate import Evaluation, Tried
from planner.ledger import Axis, Line
from planner.ledger.words import words
from planner.present.json_design import design_output
from planner.present.view.model import Headline as Cell
from planner.present.view.outcomes import finding, headlines, verdict
from planner.scenario.anchors import anchors_of, serving_anchors_of
from planner.scenario.quotes import quotes_of

SCHEMA_VERSION: Final = 1


def json_text(evaluation: Evaluation) -> str:
    """The output of one evaluation; the same evaluation gives the same text."""
    return _laid_out(_output(evaluation)) + "\n"


def _output(evaluation: Evaluation) -> dict[str, Any]:
    loaded, parts, ledger = evaluation.loaded, evaluation.parts, evaluation.ledger
    cells = headlines(evaluation)
    said, meets = verdict(evaluation, cells)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": "cluster-planner",
        "tool_version": planner.__version__,
        "name": loaded.scenario.name,
        "scenario": loaded.document.path,
        "as_of": parts.as_of,
        "hashes": {
            "scenario": loaded.digest(),
            "catalog": parts.catalog.digest(),
            "calibration": _calibration_digest(evaluation),
            **_quotes_digest(evaluation),
        },
        "calibration": _calibration(evaluation),
        "feasible": evaluation.feasible,
        "finding": finding(evaluation),
        "verdict": said,
        "meets_limits": meets,
        "problems": _problems(evaluation),
        "remedies": [_tried(one) for one in evaluation.tried],
        "headlines": [_headline(cell, evaluation) for cell in cells],
        "design": design_output(evaluation),
        "months": ledger.months,
        "lines": [_line(line, evaluation) for line in ledger],
        "sources": _sources(evaluation),
    }


def _calibration_digest(evaluation: Evaluation) -> str:
    runs = "".join(repr(anchor.run) for anchor in anchors_of(evaluation.loaded))
    runs += "".join(repr(anchor.point) for anchor in serving_anchors_of(evaluation.loaded))
    return hashlib.sha256((evaluation.parts.catalog.digest(Profile) + runs).encode()).hexdigest()[:16]


def _quotes_digest(evaluation: Evaluation) -> dict[str, str]:
    """Hash of the quotes that the scenario names, where it names any."""
    lines = quotes_of(evaluation.loaded).lines
    if not lines:
        return {}
    said = "".join(repr(replace(line, place=Place(""))) for line in lines)
    return {"quotes": hashlib.sha256(said.encode()).hexdigest()[:16]}


def _calibration(evaluation: Evaluation) -> dict[str, list[str]]:
    """Profiles that the plan rests on, and those that were named and can't speak for its accelerator."""
    if evaluation.built is None:
        return {"profiles": [], "refused": []}
    shelves = [one.shelf for one in evaluation.built.performance.domains]
    return {
        "profiles": list(dict.fromkeys(e.item.id for one in shelves for e in (*one.own, *one.siblings))),
        "refused": list(evaluation.built.performance.refused),
    }


def _problems(evaluation: Evaluation) -> list[dict[str, Any]]:
    if evaluation.refusal is None:
        return []
    return [
        {
            "message": problem.message,
            "place": str(problem.place) if problem.place else "",
            "key": problem.key,
            "remedies": [one.words for one in problem.offered],
        }
        for problem in evaluation.refusal.problems
    ]


def _tried(tried: Tried) -> dict[str, Any]:
    return {
        "problem": tried.problem.key,
        "message": tried.problem.message,
        "words": tried.remedy.words,
        "edits": [{"path": list(path), "value": value} for path, value in tried.remedy.edits],
        "builds": tried.builds,
        "misses": list(tried.breaks),
        "values": {key: _number(value) for key, value in tried.values.items()},
        "changes": {key: _number(value) for key, value in tried.changes.items()},
    }


def _headline(cell: Cell, evaluation: Evaluation) -> dict[str, Any]:
    ledger, found = evaluation.ledger, evaluation.ranges.get(cell.key)
    known = cell.value is not None and cell.key in ledger
    return {
        "key": cell.key,
        "name": cell.name,
        "unit": ledger[cell.key].unit if known else None,
        "better": cell.better.value,
        "value": _number(cell.value),
        "low": _number(cell.low),
        "p50": None if found is None else _number(found.p50),
        "high": _number(cell.high),
        "limit": _number(cell.limit),
        "met": cell.met,
        "odds": _number(cell.odds),
        "judged_key": cell.judged_key,
        "judged_value": _number(cell.judged_value),
        "saturated": cell.saturated,
        "basis": cell.letter,
    }


def _line(line: Line, evaluation: Evaluation) -> dict[str, Any]:
    ledger, found = evaluation.ledger, evaluation.ranges.get(line.key)
    # Where a plan can't be built, formulas may read lines that were never entered.
    array = ledger.values.get(line.key)
    values: list[float] = [] if array is None else array[0].ravel().tolist()
    value = (values[0] if values else None) if line.axis is Axis.SCALAR else values
    source = line.source
    return {
        "key": line.key,
        "label": line.label,
        "unit": line.unit,
        "axis": line.axis.value,
        "kind": line.kind.value,
        "sign": line.sign.value,
        "value": [_number(one) for one in value] if isinstance(value, list) else _number(value),
        "low": _number(line.low if found is None else found.p10),
        "p50": None if found is None else _number(found.p50),
        "high": _number(line.high if found is None else found.p90),
        "source": None
        if source is None
        else {
            "where": source.where,
            "source": source.source,
            "basis": source.basis.value,
            "as_of": source.as_of,
            "verified": source.verified,
            "note": source.note,
        },
        "function": line.function,
        "inputs": list(ledger.inputs_of(line.key)),
        "words": words(line, ledger.lines),
    }


def _sources(evaluation: Evaluation) -> dict[str, dict[str, str]]:
    used = sorted({line.source.source for line in evaluation.ledger if line.source is not None} - {""})
    known = evaluation.parts.catalog.sources
    return {
        one: {
            "title": known[one].title,
            "publisher": known[one].publisher,
            "locator": known[one].locator,
            "date": str(known[one].date or ""),
        }
        for one in used
        if one in known
    }


def _number(value: float | None) -> float | None:
    """A number that JSON can hold; -0.0 becomes 0.0."""
    return None if value is None or not math.isfinite(value) else value + 0.0


def _laid_out(output: dict[str, Any]) -> str:
    """One field a line, and one line for each item of what is long."""
    fields = []
    for name, value in output.items():
        if name in ("problems", "remedies", "headlines", "lines"):
            fields.append(f'"{name}": {_block("[", "]", [_compact(item) for item in value])}')
        elif (name == "design" and value is not None) or name == "sources":
            items = [f"{_compact(key)}: {_compact(item)}" for key, item in value.items()]
            fields.append(f'"{name}": {_block("{", "}", items)}')
        else:
            fields.append(f'"{name}": {_compact(value)}')
    return "{\n " + ",\n ".join(fields) + "\n}"


def _block(start: str, end: str, items: list[str]) -> str:
    return f"{start}\n  " + ",\n  ".join(items) + f"\n {end}" if items else start + end


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
