"""The optics decision as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.present.view.model import Cell, Table
from planner.present.view.optics import optics_section
from planner.study.optics import Comparison
from planner.study.optics_claims import NO_CONDITIONS

WIDE = 80
LAST_WRAPS = {
    "optics-wait": ("Why no order",),
    "optics-energy": ("So",),
    "optics-claims": ("Conditions", "Source", "Used"),
    "optics-wait-assumed": ("Source",),
}
"""Columns that go on a line of their own below the row, by table."""


def as_text(comparison: Comparison) -> str:
    """Everything, a table after the other; of the claims, those on parts of the variants."""
    section = optics_section(comparison)
    parts = [comparison.loaded.scenario.name, _filled(section.lead)]
    for table in section.tables:
        parts.append(_claims(comparison, table) if table.id == "optics-claims" else _table(table))
    parts.append("\n".join(_filled(note, hang="  ") for note in section.notes))
    return "\n\n".join(parts)


def _claims(comparison: Comparison, table: Table) -> str:
    shown = {"co-packaged optics"}
    for one in comparison.built:
        for part in one.built.cluster.parts.tiers:
            shown |= {part.switch.item.id, part.switch.item.optics or ""}
    rows = tuple(row for row in table.rows if row[0].text in shown)
    said = _table(replace(table, rows=rows))
    left = len(table.rows) - len(rows)
    return f"{said}\n{left} more, on parts of no variant: --json" if left else said


def _filled(text: str, *, hang: str = "", start: str = "") -> str:
    return textwrap.fill(
        text,
        WIDE,
        initial_indent=start,
        subsequent_indent=hang,
        break_on_hyphens=False,
        break_long_words=True,
    )


def _table(table: Table) -> str:
    below = LAST_WRAPS.get(table.id, ())
    kept = [at for at, column in enumerate(table.columns) if column.name not in below]
    moved = [at for at, column in enumerate(table.columns) if column.name in below]
    widths = {
        at: max(
            [
                len(table.columns[at].name),
                len(table.columns[at].unit),
                *(len(row[at].text) for row in table.rows),
            ]
        )
        for at in kept
    }
    # what is wider than a terminal has its first column on a line of its own
    apart = sum(widths.values()) + len(widths) - 1 > WIDE
    beside = kept[1:] if apart else kept
    gap = "  " if sum(widths[at] for at in beside) + 2 * len(beside) <= WIDE else " "

    def line(texts: Mapping[int, str]) -> str:
        laid = (
            texts[at].rjust(widths[at]) if table.columns[at].numeric else texts[at].ljust(widths[at])
            for at in beside
        )
        return (("  " if apart else "") + gap.join(laid)).rstrip()

    lines = [_filled(table.caption)]
    if apart:
        lines.append(table.columns[kept[0]].name)
    lines.append(line({at: table.columns[at].name for at in kept}))
    if any(table.columns[at].unit for at in beside):
        lines.append(line({at: table.columns[at].unit for at in kept}))
    for row in table.rows:
        if apart:
            lines.append(row[kept[0]].text)
        lines.append(line({at: row[at].text for at in kept}))
        said = _below(table, row, moved)
        if said:
            lines.append(_filled(said, start="    ", hang="    "))
    return "\n".join(lines)


def _below(table: Table, row: Sequence[Cell], moved: Sequence[int]) -> str:
    if len(moved) < 2:
        return "".join(row[at].text for at in moved)
    return "; ".join(f"{table.columns[at].name.lower()}: {row[at].text}" for at in moved).replace(
        f"conditions: {NO_CONDITIONS}", NO_CONDITIONS
    )
