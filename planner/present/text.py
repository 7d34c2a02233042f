"""Plain text for the terminal: headline tables, explanations, lists of keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches
from textwrap import wrap
from typing import Any

from planner.evaluate import Evaluation
from planner.ledger import Axis, Kind, Ledger, Line
from planner.ledger.nodes import CumSum, Expr, Prev, Ref, children
from planner.ledger.words import words
from planner.present import format as fmt
from planner.present.view.model import Headline, Table, View

FLOWS = ("USD", "kWh", "GPU-h")
"""Units of series whose months add up."""
MANY_INPUTS = 12
"""Inputs of a computed line that are listed unless all of them are asked for."""
ALL_LEVELS = 99


def headline_table(view: View) -> str:
    """Outcomes of one scenario, a row each: value, limit, how it is known."""
    return outcomes_table(view.headlines)


def outcomes_table(cells: Sequence[Headline]) -> str:
    """The same of headline cells alone; a limit stands below its outcome, so that 80 columns hold a row."""
    rows = [("outcome", "value", "P10 to P90", "basis")]
    for cell in cells:
        if cell.value is None:
            continue
        rows.append((cell.name, cell.text, cell.range_text, cell.letter))
        below = [_judged(cell)] if cell.limit_text else []
        rows += [(f"  {said}", "", "", "") for said in (*below, cell.note) if said]
    return _columns(rows)


def _judged(cell: Headline) -> str:
    """A limit, whether it is met, and how often."""
    said = f"limit {cell.limit_text}"
    if cell.met is not None:
        said += f": {'met' if cell.met else 'MISSED'}"
    if cell.odds is not None:
        said += f" ({'' if cell.met else 'met '}in {fmt.out_of_100(cell.odds)} draws)"
    return said


def batch_table(rows: Sequence[tuple[str, tuple[Headline, ...]]]) -> str:
    """Outcomes of many scenarios, a row each scenario."""
    if not rows:
        return ""
    head = ("scenario", *(cell.bar for cell in rows[0][1]))
    return _columns([head, *((name, *(cell.short for cell in cells)) for name, cells in rows)])


def remedy_table(tried: Table) -> str:
    """Remedies that were tried, under the problem each cures: its words, then a line with what comes of it."""
    lines, before = [f"{tried.caption}:"], ""
    for problem, remedy, *figures, left in tried.rows:
        if problem.text != before:
            lines += _wrapped(problem.text, 2)
            before = problem.text
        named = zip(tried.columns[2:-1], figures, strict=True)
        said = [f"{column.name}: {cell.text}" for column, cell in named if cell.value is not None]
        lines += _wrapped(remedy.text, 4)
        lines += _wrapped("; ".join([*said, left.text]), 6)
    return "\n".join(lines)


def anchors_text(view: View) -> str:
    """Measured points of one's own endpoint beside the model, one block a point; empty without any."""
    lines: list[str] = []
    for table in view.measured:
        lines += _wrapped(f"{table.caption}:", 0)
        for row in table.rows:
            point, flight, *times, remark = (cell.text for cell in row)
            lines += _wrapped(
                f"{point}, {flight} in flight: TPOT {times[0]} ms measured, {times[1]} by the model, {times[2]} corrected; "
                f"TTFT {times[3]} ms measured, {times[4]} by the model, {times[5]} corrected", 2,
            )  # fmt: skip
            if remark:
                lines += _wrapped(f"look: {remark}", 4)
    return "\n".join(lines)


def _wrapped(said: str, indent: int, width: int = 80) -> list[str]:
    return wrap(said, width, initial_indent=" " * indent, subsequent_indent=" " * indent)


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    spans = [row for row in rows if any(row[1:])]
    widths = [max(len(row[index]) for row in spans) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def key_list(ledger: Ledger) -> str:
    """Every key with its value and label."""
    rows = [(line.key, _value(ledger, line), line.label) for line in ledger]
    wide = max(len(key) for key, _, _ in rows)
    most = max(len(value) for _, value, _ in rows)
    return "\n".join(f"{key:<{wide}}  {value:>{most}}  {label}" for key, value, label in rows)


def explanation(evaluation: Evaluation, key: str, *, depth: int) -> str:
    """Tree of a number: value, formula in words, inputs, down to source and date."""
    lines: list[str] = []
    seen: set[str] = set()
    _explain(evaluation, key, "", 0, depth, seen, lines)
    return "\n".join(lines)


def _explain(
    evaluation: Evaluation, key: str, indent: str, level: int, depth: int, seen: set[str], out: list[str]
) -> None:
    ledger = evaluation.ledger
    line = ledger[key]
    again = key in seen and bool(ledger.inputs_of(key))
    out.append(f"{indent}{line.label} = {_value(ledger, line)}  [{key}]{'  (shown above)' if again else ''}")
    if again:
        return
    seen.add(key)
    if line.kind is Kind.GIVEN:
        out += [f"{indent}  {said}" for said in source_words(evaluation, line)]
        return
    prefix = "= " if line.kind is Kind.DERIVED else ""
    out.append(f"{indent}  {prefix}{words(line, ledger.lines)}")
    if line.kind is Kind.COMPUTED:
        out.append(f"{indent}  by {line.function}")
    if level + 1 >= depth:
        return
    inputs = [child for child in ledger.inputs_of(key) if child != key]
    group = f"inputs {' '.join(inputs)}"
    if len(inputs) > MANY_INPUTS and group in seen:
        out.append(f"{indent}    … the same {len(inputs)} inputs as above")
        return
    seen.add(group)
    shown = inputs if depth >= ALL_LEVELS or len(inputs) <= MANY_INPUTS else _widest(ledger, inputs)
    for child in shown:
        _explain(evaluation, child, indent + "    ", level + 1, depth, seen, out)
    if len(shown) < len(inputs):
        out.append(
            f"{indent}    … and {len(inputs) - len(shown)} more inputs with narrower ranges (--depth {ALL_LEVELS})"
        )


def _widest(ledger: Ledger, keys: Sequence[str]) -> list[str]:
    """The inputs with the widest ranges for their value, in their own order."""

    def width(key: str) -> float:
        line = ledger[key]
        value = ledger.scalar(line) if line.axis is Axis.SCALAR else 0.0
        if not value or (line.low is None and line.high is None):
            return 0.0
        low = value if line.low is None else line.low
        high = value if line.high is None else line.high
        return (high - low) / abs(value)

    kept = set(sorted(keys, key=lambda key: (-width(key), key))[:MANY_INPUTS])
    return [key for key in keys if key in kept]


def find_keys(word: str, ledger: Ledger, *, count: int = 5) -> list[str]:
    """Keys that a word may mean: parts of keys and labels first, headline keys before others, then look-alikes."""
    parts = [part for part in word.lower().replace("-", " ").replace("_", " ").split(".")[-1].split() if part]
    found = [
        line.key
        for line in ledger
        if parts and all(part in f"{line.key} {line.label}".lower().replace("_", " ") for part in parts)
    ]
    headline = (
        "outcome.",
        "performance.training.",
        "performance.serving.",
        "capex.total",
        "power.",
        "tco.",
        "unit.",
    )
    found.sort(key=lambda key: (not key.startswith(headline), len(key)))
    return found[:count] or get_close_matches(word, list(ledger.lines), n=count, cutoff=0.5)


def source_words(evaluation: Evaluation, line: Line) -> list[str]:
    """Where a given line stands, what it rests on, its range and date, in a few short lines."""
    source = line.source
    assert source is not None
    basis = f"{source.basis.letter} {source.basis}" + ("" if source.verified else ", not verified")
    dated = f", {source.as_of}" if source.as_of else ""
    said = [f"{source.where}: {basis}{dated}"]
    entry = evaluation.parts.catalog.sources.get(source.source)
    if entry is not None:
        where = f" ({entry.locator})" if entry.locator else ""
        said.append(f"source: {entry.title}{where}")
    if line.low is not None or line.high is not None:
        value = evaluation.ledger.scalar(line)
        low = value if line.low is None else line.low
        high = value if line.high is None else line.high
        said.append(f"range {fmt.quantity(low, line.unit)} to {fmt.quantity(high, line.unit)} (P10 to P90)")
    if source.note:
        said.append(f"note: {source.note}")
    return said


def explanation_json(evaluation: Evaluation, key: str, *, depth: int) -> dict[str, Any]:
    """The same tree as plain data; a line met before is named without its inputs."""
    return _tree(evaluation, key, depth, set())


def _tree(evaluation: Evaluation, key: str, depth: int, seen: set[str]) -> dict[str, Any]:
    ledger, line = evaluation.ledger, evaluation.ledger[key]
    found: dict[str, Any] = {
        "key": key,
        "label": line.label,
        "unit": line.unit,
        "kind": line.kind.value,
        "value": _number(ledger, line),
        "words": words(line, ledger.lines),
    }
    if line.source is not None:
        entry = evaluation.parts.catalog.sources.get(line.source.source)
        found["source"] = {
            "where": line.source.where,
            "id": line.source.source,
            "title": entry.title if entry is not None else "",
            "locator": entry.locator if entry is not None else "",
            "basis": line.source.basis.value,
            "as_of": line.source.as_of,
            "verified": line.source.verified,
            "note": line.source.note,
        }
        found["low"], found["high"] = line.low, line.high
    if line.function:
        found["function"] = line.function
    children = [child for child in ledger.inputs_of(key) if child != key]
    if key not in seen and depth > 1 and children:
        seen.add(key)
        found["inputs"] = [_tree(evaluation, child, depth - 1, seen) for child in children]
    return found


def _number(ledger: Ledger, line: Line) -> Any:
    values = ledger.value(line)[0]
    if line.axis is Axis.SCALAR:
        return float(values) if math.isfinite(values) else None
    return [float(value) for value in values]


def _value(ledger: Ledger, line: Line) -> str:
    if line.axis is Axis.SCALAR:
        return fmt.quantity(ledger.scalar(line), line.unit)
    values = ledger.value(line)[0]
    if line.axis is Axis.MONTH and not _flows(line):
        return f"{fmt.quantity(values[0], line.unit)} … {fmt.quantity(values[-1], line.unit)}"
    return f"{fmt.quantity(float(values.sum()), line.unit)} over {values.shape[0]} {line.axis}s"


def _flows(line: Line) -> bool:
    """Whether a series may be summed over months: amounts of a month, not levels and running totals."""
    if line.unit not in FLOWS:
        return False
    return not isinstance(line.expression, (CumSum, Prev)) and not _has_running_total(line.expression)


def _has_running_total(expr: Expr | None) -> bool:
    """Whether a formula adds to what was there before, as balances and book values do."""
    if expr is None:
        return False
    if isinstance(expr, (CumSum, Prev)):
        return True
    reads = {child.key for child in children(expr) if isinstance(child, Ref)}
    return "cash.opening_usd" in reads or any(_has_running_total(child) for child in children(expr))
