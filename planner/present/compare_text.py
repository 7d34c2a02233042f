"""Scenarios side by side as text for a terminal of 80 columns or more."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

from planner.present.view.compare import compare_section, lowered
from planner.present.view.model import Table
from planner.study.compare import Comparison

WIDE: Final = 80
FIRST: Final = 26
"""Cells of the first column; longer words go on in the next line."""
MOST_ROWS: Final = 24
"""Rows of a table of lines; JSON and HTML have all of them."""


def as_text(comparison: Comparison) -> str:
    """Lead, then a table after the other; long tables name how much they leave out."""
    section = compare_section(comparison)
    parts = [_filled(section.lead)]
    for table in section.tables:
        if table.id == "compare-verdicts":
            parts.append("\n".join(_filled(f"{row[0].text}: {row[1].text}", "  ") for row in table.rows))
        elif table.id == "compare-turns":
            parts.append(_sentences(table))
        else:
            parts.append(_laid(table))
    parts.append("\n".join(_filled(note, "  ") for note in section.notes))
    return "\n\n".join(parts)


def _sentences(table: Table) -> str:
    lines = [f"{row[1].text} on {lowered(row[0].text)} once {row[2].text}" for row in table.rows]
    said = lines or ["nothing within the range of any single input"]
    return "\n".join([_filled(table.caption), *(_filled(f"  {one}", "    ") for one in said)])


def _laid(table: Table) -> str:
    columns = [at for at, column in enumerate(table.columns) if column.name != "How sure"]
    room = (WIDE - FIRST) // (len(columns) - 1)
    lines = [_filled(table.caption), _row(_heads(table, columns, room), room)]
    for row in table.rows[:MOST_ROWS]:
        lines.append(_row([row[at].text for at in columns], room))
        if len(columns) < len(table.columns) and table.columns[-1].name == "How sure":
            lines.append(_filled(f"  {row[-1].text}", "  "))
    left = len(table.rows) - MOST_ROWS
    return "\n".join([*lines, *([f"  … and {left} more: --json, or -o DIR"] if left > 0 else [])])


def _heads(table: Table, columns: Sequence[int], room: int) -> list[str]:
    """Headings: letters alone where names don't fit, but for the first table, which says whose they are."""
    names = [table.columns[at].name for at in columns]
    fits = all(len(name) < room for name in names[1:])
    return names if fits or table.id == "compare-outcomes" else [names[0], *(name[:1] for name in names[1:])]


def _row(texts: Sequence[str], room: int) -> str:
    """One row; what is wider than its column goes on below, so that no unit and no mark is lost."""
    first, *rest = texts
    cells = [_folded(first, FIRST - 1, " "), *(_folded(text, room - 1) for text in rest)]
    lines = []
    for at in range(max(map(len, cells))):
        name, *values = (cell[at] if at < len(cell) else "" for cell in cells)
        lines.append(f"{name.ljust(FIRST)}{''.join(value.rjust(room) for value in values)}".rstrip())
    return "\n".join(lines)


def _folded(text: str, width: int, hang: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=hang) or [""]


def _filled(text: str, hang: str = "") -> str:
    return textwrap.fill(text, WIDE, subsequent_indent=hang, break_on_hyphens=False)
