"""Own, lease or rent as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from planner.present.view.model import Column, Table
from planner.present.view.options import options_section
from planner.study.options import Comparison

WIDE = 80
SHORT = {
    "Price of": "Of", "Cost, NPV": "NPV", "Saved, NPV": "Saved", "Rate of return": "Return",
    "Breaks even at": "Even at", "Reference is ahead from": "Ahead", "Basis": "",
}  # fmt: skip
"""Heads of columns that are too wide for a terminal; what they mean stands below the table."""
MEANS = (
    "Of: date of the price. Saved: by choosing the option over the first one, whose own cost the others are compared "
    "with. Return: what the one of the two that pays more at first earns on that; so a high one speaks for the first "
    "one where the option is a rent. Even at: utilisation at which both cost the same. Ahead: month from which the "
    "first one has cost less in total. Letter: weakest basis of the cost."
)


def as_text(comparison: Comparison) -> str:
    """Everything, a table after the other."""
    section = options_section(comparison)
    parts = [comparison.evaluation.loaded.scenario.name, _filled(section.lead)]
    for table in section.tables:
        parts.append("\n".join([_filled(table.caption), *_table(table)]))
        if table.id == "options":
            parts.append(_filled(MEANS))
    parts.append("\n".join(_filled(note, hang="  ") for note in section.notes))
    return "\n\n".join(parts)


def _filled(text: str, *, hang: str = "") -> str:
    return textwrap.fill(text, WIDE, subsequent_indent=hang, break_on_hyphens=False)


def _table(table: Table) -> Iterator[str]:
    """Aligned columns within the width: the first column gives way, or the row goes on on a second line."""
    heads = [SHORT.get(column.name, column.name) for column in table.columns]
    units = [column.unit for column in table.columns]
    rows = [[cell.text for cell in row] for row in table.rows]
    widths = [max(len(text) for text in column) for column in zip(heads, units, *rows, strict=True)]
    apart = sum(widths) + len(widths) - 1 > WIDE
    for at, texts in enumerate((heads, units, *rows)):
        if at == 1 and not any(units):
            continue
        first, rest = texts[0], _aligned(texts[1:], widths[1:], table.columns[1:])
        if not apart:
            yield f"{first.ljust(widths[0])} {rest}".rstrip()
            continue
        if first and at != 1:
            yield first
        yield f"  {rest}".rstrip()


def _aligned(texts: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    cells = zip(texts, widths, columns, strict=True)
    return " ".join(
        text.rjust(width) if column.numeric else text.ljust(width) for text, width, column in cells
    )
