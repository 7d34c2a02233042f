"""Evaluates the scenarios of published decisions and compares their outputs; draws the README's table."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from planner.catalog.store import Catalog, open_catalog
from planner.documents import load_document
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Kind, Ledger
from planner.scenario.load import load_scenario

FOLDER = Path(__file__).parent
BEGIN, END = "<!-- decisions: begin -->", "<!-- decisions: end -->"
SLACK = 0.01
"""By how much an error that is listed may grow before it is news: prices of the catalog move by about that."""

Number = float
_OPERATIONS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


@dataclass(frozen=True)
class Term:
    """A line of one scenario."""

    scenario: str
    changes: tuple[str, ...]
    key: str


@dataclass(frozen=True)
class Output:
    """A published figure and where ours comes from."""

    case: str
    name: str
    unit: str
    low: float
    high: float
    tolerance: float
    how: str
    formula: str
    terms: Mapping[str, Term]
    known_error: float | None
    why: str

    @property
    def is_range(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True)
class Case:
    """One published decision; without outputs where a scenario can't express it."""

    id: str
    source: str
    outputs: tuple[Output, ...]
    missing: str


@cache
def cases() -> tuple[Case, ...]:
    return tuple(_case(row) for row in load_document(FOLDER / "cases.yaml").data)


def outputs() -> tuple[Output, ...]:
    return tuple(output for case in cases() for output in case.outputs)


def _case(row: Mapping[str, Any]) -> Case:
    found = tuple(_output(row, one) for one in row.get("outputs", ()))
    return Case(row["id"], row.get("source", ""), found, row.get("missing", ""))


def _output(row: Mapping[str, Any], one: Mapping[str, Any]) -> Output:
    scenario, changes = one.get("scenario", row["id"]), tuple(one.get("changes", ()))
    named = one.get("terms", {"value": {"key": one.get("key")}})
    terms = {
        name: Term(term.get("scenario", scenario), () if "scenario" in term else changes, term["key"])
        for name, term in named.items()
    }
    published = one["published"]
    low, high = published if isinstance(published, list) else (published, published)
    listed = one.get("not_reached", {})
    return Output(
        row["id"], one["name"], one["unit"], float(low), float(high), float(row["tolerance"]), one["how"],
        one.get("formula", "value"), terms, listed.get("error"), listed.get("why", ""),
    )  # fmt: skip


@cache
def _catalog() -> Catalog:
    return open_catalog([FOLDER / "catalog"])


@cache
def evaluated(scenario: str, changes: tuple[str, ...]) -> Evaluation:
    """The scenario's evaluation; one that can't be built is a failure of the test."""
    path = FOLDER / "scenarios" / f"{scenario}.yaml"
    found = evaluate(load_scenario(str(path), changes=list(changes)), _catalog())
    if found.refusal is not None:
        raise found.refusal
    return found


def ours(output: Output) -> float:
    """The output's value by the planner."""
    values = {}
    for name, term in output.terms.items():
        ledger = evaluated(term.scenario, term.changes).ledger
        values[name] = ledger.scalar(term.key)
    return worked_out(output.formula, values)


def worked_out(formula: str, values: Mapping[str, float]) -> float:
    """A formula of names, numbers, brackets and the four operations.

    >>> worked_out("8 * (a - 1)", {"a": 3.0})
    16.0
    """
    return _value(ast.parse(formula, mode="eval").body, values)


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATIONS[type(sign)](_value(left, values), _value(right, values))
    raise ValueError(f"no part of a formula: {ast.dump(node)}")


def error(output: Output, value: float) -> float:
    """Relative difference to the published figure, or to the nearer end of its range; 0 inside it."""
    nearest = min(max(value, output.low), output.high)
    return value / nearest - 1 if nearest else value


def reached(output: Output, value: float) -> bool:
    """Whether a figure lies within the record's tolerance, and one of a range inside it."""
    return abs(error(output, value)) <= (0.0 if output.is_range else output.tolerance)


def typed_over(output: Output) -> frozenset[str]:
    """Keys typed over that the output rests on."""
    found: set[str] = set()
    for term in output.terms.values():
        found |= _typed_below(evaluated(term.scenario, term.changes).ledger, term.key)
    return frozenset(found)


def computed_below(output: Output) -> frozenset[str]:
    """Keys of lines that design, power or performance computed and nobody typed over, which the output rests on."""
    found: set[str] = set()
    for term in output.terms.values():
        ledger = evaluated(term.scenario, term.changes).ledger
        found |= {
            key
            for key in _below(ledger, term.key)
            if ledger[key].kind is Kind.COMPUTED and key not in ledger.overrides
        }
    return frozenset(found)


def _typed_below(ledger: Ledger, key: str) -> set[str]:
    return {one for one in _below(ledger, key) if one in ledger.overrides}


def _below(ledger: Ledger, key: str) -> set[str]:
    """A line and all it rests on, short of what a value typed over it replaced."""
    seen: set[str] = set()
    left = [key]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += [] if one in ledger.overrides else list(ledger.inputs_of(one))
    return seen


def table() -> str:
    """Every published answer with ours, in Markdown; then what is not expressed, and why."""
    lines = [
        "| decision | figure | published | ours | error | by | |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    before = ""
    for output in outputs():
        value = ours(output)
        name = f"`{output.case}`" if output.case != before else ""
        before = output.case
        verdict = "reached" if reached(output, value) else f"not reached: {output.why}"
        lines.append(
            f"| {name} | {output.name}, {output.unit} | {_published(output)} | {_figure(value)} "
            f"| {_error(output, value)} | {output.how} | {verdict} |"
        )
    missing = [f"- `{case.id}`: {case.missing}" for case in cases() if not case.outputs]
    return "\n".join([_summary(), "", *lines, "", "Not expressed, for want of:", "", *missing])


def _summary() -> str:
    """How many decisions and figures are expressed and reached."""
    agreeing = [one for one in outputs() if reached(one, ours(one))]
    by_models = {one.case for one in agreeing if one.how != "overrides"}
    missed = {one.case for one in outputs()} - {one.case for one in agreeing}
    whole = {one.case for one in agreeing} - {one.case for one in outputs() if one not in agreeing}
    return (
        f"{sum(bool(case.outputs) for case in cases())} of {len(cases())} decisions are expressed; "
        f"{len(agreeing)} of {len(outputs())} figures are reached, {len(whole)} decisions in every figure and {len(missed)} "
        f"in none; {len(by_models)} are reached by design, power or performance in a figure at least."
    )


def _published(output: Output) -> str:
    if output.is_range:
        return f"{_figure(output.low)} to {_figure(output.high)}"
    return _figure(output.low)


def _figure(value: float) -> str:
    """Four digits, thousands apart.

    >>> _figure(24003840.6), _figure(0.1234567), _figure(48.0)
    ('24,003,841', '0.1235', '48')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _error(output: Output, value: float) -> str:
    found = error(output, value)
    if output.is_range and not found:
        return "inside"
    digits = 1 if abs(found) >= 0.0005 or not found else 3
    return f"{found:+.{digits}%}".replace("%", " %")


def table_of_readme(readme: str) -> str:
    """What stands between the marks of a README; empty where they aren't there."""
    _, begin, rest = readme.partition(BEGIN)
    inside, end, _ = rest.partition(END)
    return inside.strip() if begin and end else ""


def put_into_readme(readme: str, text: str) -> str:
    """A README with another table between its marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, "the README has lost the marks of its table of published answers"
    return f"{before}{begin}\n{text}\n{end}{after}"
