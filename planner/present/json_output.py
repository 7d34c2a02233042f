"""An evaluation as JSON for other programs: headlines, and the whole ledger with its sources.

The classes below are the contract, and `json_schema` prints it. `json_text` fills them as plain
data, one ledger line a row of text, so that two outputs can be compared with `diff`.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

import planner
from planner.catalog.profiles import Profile
from planner.errors import Place
from planner.evaluate import Evaluation, Tried
from planner.ledger import Axis, Line
from planner.ledger.words import words
from planner.present.json_design import Design, design_output
from planner.present.view.model import Headline as Cell
from planner.present.view.outcomes import finding, headlines, verdict
from planner.scenario.anchors import anchors_of, serving_anchors_of
from planner.scenario.quotes import quotes_of

SCHEMA_VERSION: Final = 1


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Hashes(_Strict):
    """What the numbers depend on: equal hashes and tool version give equal numbers."""

    scenario: str
    """Hash of the merged scenario."""
    catalog: str
    """Hash of the catalog items that were read."""
    calibration: str
    """Hash of the calibration profiles that were read, and of the anchors' runs."""
    quotes: str | None = None
    """Hash of the quotes that the scenario names; none where it names no quotes."""


class Calibration(_Strict):
    """Measured profiles."""

    profiles: tuple[str, ...]
    """Ids of the profiles that may speak, those of this very accelerator first."""
    refused: tuple[str, ...]
    """Profiles the scenario names that can't speak for its accelerator, and why."""


class Problem(_Strict):
    """Why a plan can't be built."""

    message: str
    """What is wrong."""
    place: str
    """File, line and column, where there is one."""
    key: str
    """Field or ledger key it is about."""
    remedies: tuple[str, ...]
    """What would put it right, one by one."""


class Edit(_Strict):
    """A field of the scenario to write."""

    path: tuple[str | int, ...]
    """Keys and item numbers."""
    value: bool | int | float | str | list[str] | None
    """What to write; null for the planner's own choice."""


class TriedRemedy(_Strict):
    """A remedy that was applied to a copy of the scenario and evaluated."""

    problem: str
    """Field that the problem it cures speaks of."""
    message: str
    """The problem."""
    words: str
    """The remedy."""
    edits: tuple[Edit, ...]
    """Fields to write."""
    builds: bool
    """Whether the plan can be built with it; where it can't, something else is in the way besides."""
    misses: tuple[str, ...]
    """Limits that the plan would miss with it, besides those it misses already."""
    values: dict[str, float | None]
    """Outcomes with it, by ledger key."""
    changes: dict[str, float | None]
    """The same less those of the plan as it stands; empty where that can't be built."""


class Headline(_Strict):
    """One cell of the outcomes bar."""

    key: str
    """Key of the ledger line."""
    name: str
    """Name for people."""
    unit: str | None
    """Unit of the value and the limit; null where the plan has no such outcome."""
    better: Literal["higher", "lower"]
    """Which direction is good."""
    value: float | None
    """Value; null where the plan has no such outcome."""
    low: float | None
    """P10 over draws of the inputs."""
    p50: float | None
    """Median over the same draws."""
    high: float | None
    """P90 over the same draws."""
    limit: float | None
    """Limit of the scenario."""
    met: bool | None
    """Whether the limit is met; null without a limit or a value."""
    odds: float | None
    """Share of the draws that meet the limit."""
    judged_key: str | None
    """Line that the limit is judged by where it isn't ``key``, such as power at peak; null where it is."""
    judged_value: float | None
    """Value of that line; ``met`` and ``odds`` are judged by it."""
    basis: str
    """Letter of the weakest basis that carries it; empty without a value."""


class Source(_Strict):
    """Where a given value comes from."""

    where: str
    """File and line, ``default`` or ``--set``."""
    source: str
    """Id in ``sources``; empty for a user's value."""
    basis: Literal["measured", "datasheet", "published", "quote", "claim", "estimate", "user"]
    """How it is known."""
    as_of: str
    """Date of the figure, as precise as its source gives it."""
    verified: bool
    """False where nobody read the figure in a source."""
    note: str
    """Why, for estimates and defaults."""


class LedgerLine(_Strict):
    """One number or series of the ledger."""

    key: str
    """Stable name."""
    label: str
    """Name for people."""
    unit: str
    """Unit; ``1`` for counts and ratios."""
    axis: Literal["scalar", "month", "table"]
    """Shape of the value: a number, one for each month, or a table."""
    kind: Literal["given", "computed", "derived"]
    """Where it comes from."""
    sign: Literal["none", "cost", "cash"]
    """Whether it is a cost (positive) or cash (in positive)."""
    value: float | tuple[float | None, ...] | None
    """Number, or a list along the axis; null for what has no value."""
    low: float | None
    """P10: of a given line as its source says, of a result over draws of the inputs."""
    p50: float | None
    """Median of a result over the same draws."""
    high: float | None
    """P90, as the P10."""
    source: Source | None
    """Of a given line."""
    function: str
    """Model function of a computed line; empty otherwise."""
    inputs: tuple[str, ...]
    """Keys it is made from."""
    words: str
    """How it came about, in words."""


class Publication(_Strict):
    """A publication that figures rest on."""

    title: str
    """Title."""
    publisher: str
    """Who published it."""
    locator: str
    """Address, page or commit."""
    date: str
    """Date, empty where unknown."""


class Output(_Strict):
    """What `planner run --format json` writes for one scenario."""

    schema_version: Literal[1]
    """Version of this layout."""
    tool: Literal["cluster-planner"]
    """What wrote it."""
    tool_version: str
    """Version of the tool."""
    name: str
    """Name of the scenario."""
    scenario: str
    """File of the scenario."""
    as_of: str
    """Date against which prices are stale and parts orderable."""
    hashes: Hashes
    """What the numbers depend on."""
    calibration: Calibration
    """Measured profiles that may speak for the accelerator, and those that were named and can't."""
    feasible: bool
    """Whether the cluster can be built."""
    finding: str
    """The plan in a sentence."""
    verdict: str
    """Limits met and missed."""
    meets_limits: bool
    """Whether all limits are met; false where the plan can't be built."""
    problems: tuple[Problem, ...]
    """Why it can't be built; empty where it can."""
    remedies: tuple[TriedRemedy, ...]
    """Remedies of a refused plan or a missed limit that were tried, the cheapest of each problem first."""
    headlines: tuple[Headline, ...]
    """The outcomes bar."""
    design: Design | None
    """What is built, folded by likeness; null where the plan can't be built."""
    months: int = Field(ge=1)
    """Length of the time axis, month 0 included."""
    lines: tuple[LedgerLine, ...]
    """The ledger, in the order of the calculation."""
    sources: dict[str, Publication]
    """Publications by id, those that lines rest on."""


def json_schema() -> dict[str, Any]:
    """JSON Schema of the output."""
    return Output.model_json_schema()


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
    shelf = evaluation.built.performance.domain.shelf
    return {
        "profiles": [entry.item.id for entry in (*shelf.own, *shelf.siblings)],
        "refused": list(shelf.refused),
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
