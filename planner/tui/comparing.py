"""A comparison as lines of text: sentence, outcomes with their ranges, what differs, what would turn it over."""

from __future__ import annotations

from dataclasses import replace

from planner.present.view.compare import compare_section, lead, range_texts
from planner.present.view.model import Table
from planner.study.compare import Comparison
from planner.tui.drawing import table_lines
from planner.tui.lines import Line, cut, left, plain, right, wrapped

FIRST_ROWS = 6
"""Rows of differing inputs and lines that are shown before all of them are asked for."""
WIDE, NARROW_PLANS = 110, 3
"""Cells from which how sure a row is stands beside it, and plans that a narrower screen has room for."""


def compared_lines(found: Comparison, width: int, *, whole: bool, at: int = 0) -> list[Line]:
    """Sentence, outcomes, differing inputs, what would turn it over, design and money."""
    section = compare_section(found)
    tables = {one.id: _fitting(one, found, width, at) for one in section.tables}
    lines = [plain(f" {one}") for one in wrapped(lead(found), width - 2)]
    for row in tables["compare-verdicts"].rows:
        lines += [
            plain(f" {one}", "dim") for one in wrapped(f"{row[0].text}: {row[1].text}", width - 2, "   ")
        ]
    lines += [Line(), *_outcomes(found, tables["compare-outcomes"], width)]
    lines += [Line(), *_cut(tables["compare-inputs"], width, whole)]
    turns = [f"{row[1].text} on {row[0].text} once {row[2].text}" for row in tables["compare-turns"].rows]
    lines += [Line(), plain(f" {tables['compare-turns'].caption}", "head")]
    shown = turns if whole else turns[:FIRST_ROWS]
    lines += [plain(f"  {one}") for text in shown for one in wrapped(text, width - 3, "  ")]
    lines += _more(len(turns) - len(shown)) if turns else [plain("  no single input does", "dim")]
    for name in ("compare-design", "compare-money"):
        lines += [Line(), *_cut(tables[name], width, whole)]
    return lines


def _fitting(table: Table, found: Comparison, width: int, at: int) -> Table:
    """The table with names of plans as long as their columns may be; of four plans a narrow screen has room for three.

    Args:
        at: Place of the plan in front, which is always among them.
    """
    shown = list(range(len(found.entrants)))
    if width < WIDE and len(shown) > NARROW_PLANS:
        shown.remove(max(place for place in shown if place not in (0, at)))
    room = max(1, (width - 34) // len(shown) - 4)
    names = {f"{one.letter} {one.name}": place for place, one in enumerate(found.entrants)}
    kept = [index for index, one in enumerate(table.columns) if names.get(one.name, 0) in shown]
    columns = tuple(table.columns[index] for index in kept)
    return replace(
        table,
        columns=tuple(
            replace(one, name=cut(one.name, room) if one.name in names else one.name) for one in columns
        ),
        rows=tuple(tuple(row[index] for index in kept) for row in table.rows),
    )


def _outcomes(found: Comparison, table: Table, width: int) -> list[Line]:
    """The table, with how sure each row is under it where there is no room beside it; ranges as strips when wide."""
    if width < WIDE:
        narrow = replace(table, columns=table.columns[:-1], rows=tuple(row[:-1] for row in table.rows))
        lines = table_lines(narrow, width)
        head, rows = lines[: len(lines) - len(table.rows)], lines[len(lines) - len(table.rows) :]
        for line, row in zip(rows, table.rows, strict=True):
            head += [line, plain(f"     {cut(row[-1].text, width - 6)}", "dim")]
        return head
    lines = table_lines(table, width)
    lines.append(plain(" P10 ├──┤ P90 of each on one scale, ● as planned", "head"))
    for outcome in found.outcomes:
        lines += _strips(found, outcome.key, outcome.label, width)
    return lines


def _strips(found: Comparison, key: str, label: str, width: int) -> list[Line]:
    """A range for each plan, all on one scale."""
    row = next(one for one in found.outcomes if one.key == key)
    spreads = [one.evaluation.ranges.get(key) for one in found.entrants]
    ends = [end for one in spreads if one is not None for end in (one.p10, one.p90)]
    ends += [value for value in row.values if value is not None]
    if not ends:
        return []
    low, high, room = min(ends), max(ends), max(10, width - 64)
    scale = (room - 1) / (high - low) if high > low else 0.0
    lines = []
    for place, (one, spread, told) in enumerate(
        zip(found.entrants, spreads, range_texts(found, row), strict=True)
    ):
        cells = [" "] * room
        if spread is not None:
            first, last = (round((end - low) * scale) for end in (spread.p10, spread.p90))
            for at in range(first, last + 1):
                cells[at] = "─"
            cells[first], cells[last] = "├", "┤"
        value = row.values[place]
        if value is not None:
            cells[round((value - low) * scale)] = "●"
        name = left(label if place == 0 else "", 30)
        lines.append(plain(f" {name} {one.letter} {''.join(cells)} {right(told, 28)}"))
    return lines


def _cut(table: Table, width: int, whole: bool) -> list[Line]:
    rows = table.rows if whole else table.rows[:FIRST_ROWS]
    return [*table_lines(replace(table, rows=rows), width), *_more(len(table.rows) - len(rows))]


def _more(left_out: int) -> list[Line]:
    return [plain(f"   … {left_out} more, a shows all", "dim")] if left_out > 0 else []
