"""Two parts of one family side by side: every figure of both, those that differ first."""

from __future__ import annotations

from typing import Any, Final

from planner.catalog.figure import Figure
from planner.catalog.index import IndexRow
from planner.catalog.schema import FAMILIES
from planner.catalog.store import Catalog
from planner.catalog.summaries import unit_of
from planner.present import format as fmt
from planner.tui.lines import Line, cut, left, plain, right

SKIPPED: Final = {"id", "sources", "figures", "notes", "note"}


def side_by_side(one: IndexRow, two: IndexRow, catalog: Catalog, width: int) -> list[Line]:
    """Lines of a table with a column for each part; ``≠`` marks a row in which they differ."""
    first, second = (catalog.entry(FAMILIES[row.family], row.id).item for row in (one, two))
    name_size = min(30, max(18, width // 3))
    size = max(10, (width - name_size - 6) // 2)
    rows = [
        (name, _told(name, getattr(first, name, None)), _told(name, getattr(second, name, None)))
        for name in _names(first, second)
    ]
    rows = [(name, mine, other) for name, mine, other in rows if mine or other]
    head = f"   {left('', name_size)} {right(one.id, size)} {right(two.id, size)}"
    lines = [plain(head, "head")]
    for differ in (True, False):
        found = [row for row in rows if (row[1] != row[2]) == differ]
        if found:
            title = f" {len(found)} differ" if differ else f" {len(found)} are the same"
            lines.append(plain(title, "accent" if differ else "dim"))
        for name, mine, other in found:
            mark, style = ("≠", "plain") if differ else (" ", "dim")
            text = f" {mark} {left(name, name_size)} {right(mine, size)} {right(other, size)}"
            lines.append(plain(cut(text, width), style, key=name, stop=True))
    return lines


def _names(*items: Any) -> list[str]:
    names = dict.fromkeys(name for item in items for name in type(item).model_fields)
    return [name for name in names if name not in SKIPPED]


def _told(name: str, value: Any) -> str:
    """A field in a few words; empty where there is nothing to say."""
    if isinstance(value, Figure):
        return f"{fmt.written(value.value)} {unit_of(name)} {value.basis.letter}".replace("  ", " ")
    if value in (None, "", (), {}):
        return ""
    if isinstance(value, dict):
        return f"{len(value)} entries"
    if isinstance(value, tuple | list):
        return ", ".join(_short(one) for one in value)
    return _short(value)


def _short(value: Any) -> str:
    if hasattr(value, "model_dump"):
        return " ".join(_short(one) for one in value.model_dump(exclude_defaults=True).values())
    return fmt.written(value) if isinstance(value, str | int | float | bool) else str(value)
