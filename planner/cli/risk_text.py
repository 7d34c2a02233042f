"""The risk of a plan as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from planner.evaluate import Evaluation
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, words
from planner.present.view.risk_parts import cut, risk_lead, risk_notes, risk_tables, share_table, swing_table

WIDE = 80
SHORTEST = 24
"""Letters of a name that stand beside its figures at least."""
INDENT = 2
BELOW = {"next-steps": 3}
"""Columns that go on lines of their own below the row, by table."""
SHORT = {
    "Result at P10": "at P10", "Result at P90": "at P90", "Standard error": "+-",
    "Narrows P10 to P90 by": "narrows", "First order": "first",
}  # fmt: skip


def as_text(evaluation: Evaluation) -> str:
    """Everything, a table after the other."""
    risk = evaluation.risk
    assert risk is not None and evaluation.built is not None
    reading = Reading(evaluation, evaluation.built)
    parts = [evaluation.loaded.scenario.name, _filled(risk_lead(reading, risk)), _table(_results(reading))]
    if risk.swings:
        parts.append(_table(_without(swing_table(reading, risk), ("P10", "P90", "Flips the limit"))))
    if risk.shares:
        parts.append(_table(share_table(reading, risk)))
    parts += [_table(one) for one in risk_tables(reading, risk)]
    parts.append("\n".join(_filled(note, hang="  ") for note in risk_notes(reading, risk)))
    return "\n\n".join(parts)


def _results(reading: Reading) -> Table:
    """Quantiles of every result, and the largest of their standard errors as a share of the width."""
    evaluation = reading.evaluation
    risk = evaluation.risk
    assert risk is not None

    def row(key: str) -> tuple[Cell, ...]:
        found, error, unit = evaluation.ranges[key], risk.errors[key], reading.ledger[key].unit
        width = found.p90 - found.p10
        worst = max(error.p10, error.p50, error.p90) / width if width > 0 else 0.0
        quantiles = _in_one_unit([fmt.quantity(value, unit) for value in (found.p10, found.p50, found.p90)])
        return (
            Cell(reading.ledger[key].label, key=key),
            *(words(one) for one in quantiles),
            words(fmt.percent(worst)),
        )

    return Table(
        "results",
        "Results over the draws; the error is the largest standard error of the three, of P10 to P90",
        (
            Column("Result", numeric=False),
            Column("P10"),
            Column("P50"),
            Column("P90"),
            Column("Error", "%"),
        ),
        tuple(row(key) for key in evaluation.ranges),
    )


def _in_one_unit(quantities: Sequence[str]) -> Sequence[str]:
    """Numbers of one unit carry it once, in the last.

    >>> _in_one_unit(["1.2 M USD", "1.3 M USD"]), _in_one_unit(["950 kW", "1.1 MW"])
    (['1.2', '1.3 M USD'], ['950 kW', '1.1 MW'])
    """
    units = {one.partition(" ")[2] for one in quantities}
    return (
        quantities
        if len(units) > 1
        else [*(one.partition(" ")[0] for one in quantities[:-1]), quantities[-1]]
    )


def _without(table: Table, names: Sequence[str]) -> Table:
    kept = [at for at, column in enumerate(table.columns) if column.name not in names]
    return Table(
        table.id, table.caption, tuple(table.columns[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in table.rows),
    )  # fmt: skip


def _filled(said: str, *, hang: str = "", start: str = "") -> str:
    return textwrap.fill(
        said,
        WIDE,
        initial_indent=start,
        subsequent_indent=hang,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _table(table: Table) -> str:
    beside = BELOW.get(table.id, len(table.columns))
    rows = [[_head(column) for column in table.columns[:beside]]]
    rows += [[cell.text for cell in row[:beside]] for row in table.rows]
    widths = [max(len(row[at]) for row in rows) for at in range(beside)]
    named = 1 if table.columns[0].name == "Do" else 0
    left = WIDE - (sum(widths) - widths[named]) - 2 * (beside - 1)
    # figures that leave a name no room stand on the line below it
    apart = left < min(SHORTEST, widths[named])
    widths[named] = INDENT if apart else min(widths[named], left)

    def line(texts: Sequence[str]) -> str:
        first, *more = textwrap.wrap(
            texts[named], WIDE if apart else widths[named], subsequent_indent=" "
        ) or [""]
        shown = [*texts[:named], " " * INDENT if apart else first, *texts[named + 1 :]]
        laid = [
            text.rjust(width) if column.numeric else cut(text, width).ljust(width)
            for text, width, column in zip(shown, widths, table.columns, strict=False)
        ]
        figures = "  ".join(laid).rstrip()
        if apart:
            return f"{texts[named]}\n{figures}"
        start = sum(widths[:named]) + 2 * named
        return "\n".join([figures, *(f"{' ' * start}{one}" for one in more)])

    lines = [_filled(table.caption), line(rows[0])]
    for row, texts in zip(table.rows, rows[1:], strict=True):
        lines.append(line(texts))
        lines += [_filled(cell.text, start="    ", hang="    ") for cell in row[beside:]]
    return "\n".join(lines)


def _head(column: Column) -> str:
    name = SHORT.get(column.name, column.name)
    return f"{name} %" if column.unit.startswith("%") else name
