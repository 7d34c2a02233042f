"""Two parts of one family side by side: what the plan comes to with each, then every figure, those that differ first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from planner.catalog.figure import Figure
from planner.catalog.index import IndexRow
from planner.catalog.schema import FAMILIES
from planner.catalog.store import Catalog
from planner.catalog.summaries import unit_of
from planner.present import format as fmt
from planner.tui.effects import Effect, beside_lines
from planner.tui.lines import Line, cut, left, plain, right
from planner.tui.overlay import Overlay

SKIPPED: Final = {"id", "sources", "figures", "notes", "note"}


class Beside(Overlay):
    """A table of two parts over the list they were chosen in; effects are entered as they become known."""

    def __init__(
        self, one: IndexRow, two: IndexRow, catalog: Catalog, effects: Mapping[str, Effect] | None
    ) -> None:
        super().__init__(f"{one.id} and {two.id}", foot="↑ ↓ moves   esc back to the list")
        self.one, self.two, self.catalog = one, two, catalog
        self.effects = effects

    def fill(self) -> None:
        """Draw the table."""
        if not self.is_mounted:
            return
        self.view.show(side_by_side(self.one, self.two, self.catalog, self.room, self.effects))

    def on_resize(self) -> None:
        """Columns are made for a width."""
        self.fill()


def side_by_side(
    one: IndexRow,
    two: IndexRow,
    catalog: Catalog,
    width: int,
    effects: Mapping[str, Effect] | None = None,
) -> list[Line]:
    """Lines of a table with a column for each part and one for the difference; ``≠`` marks a row in which they differ.

    Args:
        effects: What the open plan comes to with each part, by id; None where the list is for no plan.
    """
    first, second = (catalog.entry(FAMILIES[row.family], row.id).item for row in (one, two))
    names, size, last = _sizes(width)
    rows = [(name, getattr(first, name, None), getattr(second, name, None)) for name in _names(first, second)]
    head = f"   {left('', names)} {right(one.id, size)} {right(two.id, size)} {right('difference', last)}"
    lines = [plain(cut(head, width), "head")]
    if effects is not None:
        lines.append(plain(" the plan with each", "accent"))
        lines += beside_lines(effects.get(one.id), effects.get(two.id), (names, size, last))
    for differ in (True, False):
        found = [row for row in rows if _differ(row) == differ and (_told(*row[:2]) or _told(row[0], row[2]))]
        if found:
            title = f" {len(found)} differ" if differ else f" {len(found)} are the same"
            lines.append(plain(title, "accent" if differ else "dim"))
        for name, mine, other in found:
            mark, style = ("≠", "plain") if differ else (" ", "dim")
            text = (
                f" {mark} {left(name, names)} {right(_told(name, mine), size)} {right(_told(name, other), size)} "
                f"{right(difference(mine, other), last)}"
            )
            lines.append(plain(cut(text, width), style, key=name, stop=True))
    return lines


def _sizes(width: int) -> tuple[int, int, int]:
    """Cells of names, of a part's column, and of the difference."""
    names = min(30, max(16, width // 3))
    last = 16 if width >= 72 else 10
    return names, max(10, (width - names - last - 6) // 2), last


def _differ(row: tuple[str, Any, Any]) -> bool:
    return _told(row[0], row[1]) != _told(row[0], row[2])


def difference(one: Any, two: Any) -> str:
    """How much the second figure is over the first, and in percent; empty where one isn't a number.

    >>> difference(400, 800), difference(10.0, 7.5), difference("a", "b"), difference(0, 3)
    ('+400 (+100 %)', '-2.50 (-25 %)', '', '+3.00')
    """
    old, new = _number(one), _number(two)
    if old is None or new is None or old == new:
        return ""
    share = f" ({100 * (new - old) / abs(old):+.0f} %)" if old else ""
    return f"{fmt.signed(new - old)}{share}"


def _number(value: Any) -> float | None:
    if isinstance(value, Figure):
        return float(value.value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


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
