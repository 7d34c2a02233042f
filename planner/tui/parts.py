"""The picker of catalog parts: ids at once, what they are and whether they fit as soon as that is known.

The list can be sorted by name or by a figure, and two of its parts put side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from planner.catalog.index import CatalogIndex, IndexRow
from planner.errors import InputError
from planner.present import format as fmt
from planner.tui.lines import Line, Lines, plain
from planner.tui.overlay import Choice, Overlay, Picker
from planner.tui.part_compare import side_by_side
from planner.tui.screens import shell

DEFAULT = ""
"""Key of the choice that takes a value away."""
SORTS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    ((), "name"),
    (("price_usd", "usd_per_gpu_hour"), "price"),
    (("power_typical_w", "power_max_w", "power_w", "max_power_w"), "power"),
    (("",), "newest figure"),
)
"""Figures that a list can be sorted by, and what they are called; a part without the figure stands last."""


class PartPicker(Picker):
    """Picks an item of one family."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "sort", "sort", id="picker.sort"),
        Binding("f3", "beside", "compare two", id="picker.beside"),
    ]

    def __init__(
        self, title: str, ids: Sequence[str], family: str, now: str, nullable: bool, *, note: str = ""
    ) -> None:
        first = (
            [Choice(DEFAULT, "(default)", "let the planner choose, or none", "default")] if nullable else []
        )
        super().__init__(title, [*first, *(Choice(one, one, "", one) for one in ids)], now=now, note=note)
        self.first = first
        self.family = family
        self.index: CatalogIndex | None = None
        self.held = ""
        self.sorted_by = 0
        self.drawn: dict[str, tuple[Choice, Line]] = {}
        self.foot = "type to filter   enter picks   F2 sort   F3 compare two   esc back"

    def told(self, index: CatalogIndex, as_of: str) -> None:
        """Enter what each item is; filters may hold comparisons from here on."""
        self.index = index
        reasons = {one.key: one.why_not for one in self.choices}
        self.choices = (
            *self.first,
            *(
                Choice(row.id, row.id, _told(row), row.text, reasons.get(row.id) or _why_not(row, as_of))
                for row in self._in_order(index)
            ),
        )
        self.narrow = partial(_narrow, index, self.family)
        if self.is_mounted:
            self.fill()

    def _in_order(self, index: CatalogIndex) -> list[IndexRow]:
        rows = list(index.rows(self.family))
        names = SORTS[self.sorted_by][0]
        if names == ("",):
            newest = {row.id: max((one.as_of for one in row.figures), default="") for row in rows}
            return sorted(rows, key=lambda row: newest[row.id], reverse=True)
        if not names:
            return rows
        values: dict[str, float] = {}
        for row in rows:
            figure = next((found for name in names if (found := row.figure(name)) is not None), None)
            if figure is not None:
                values[row.id] = figure.value
        return sorted(rows, key=lambda row: (row.id not in values, values.get(row.id, 0.0)))

    def _line(self, one: Choice) -> Line:
        """A row, made once for each width: a filter that passes thousands draws what is there already."""
        drawn = self.drawn.get(one.key)
        if drawn is None or drawn[0] is not one:
            drawn = (one, super()._line(one))
            self.drawn[one.key] = drawn
        return drawn[1]

    def on_resize(self) -> None:
        """Rows are made for a width."""
        self.drawn.clear()
        if self.is_mounted:
            self.fill()

    def action_sort(self) -> None:
        """Sort by the next thing there is to sort by."""
        if self.index is None:
            return
        self.sorted_by = (self.sorted_by + 1) % len(SORTS)
        self.told(self.index, shell(self.app).as_of)
        self.tell(f"sorted by {SORTS[self.sorted_by][1]}   F2 sort   F3 compare two   enter picks")

    def action_beside(self) -> None:
        """Remember the part under the cursor; the second time, put the two side by side."""
        here = self.view.key
        index = self.index
        if index is None or (self.family, here) not in index.by_id or not self.is_current:
            self.app.bell()
        elif self.held in ("", here):
            self.held = here
            self.tell(f"{here} is held: F3 on another one puts the two side by side")
        else:
            pair = [index.by_id[(self.family, one)] for one in (self.held, here)]
            self.held = ""
            lines = side_by_side(pair[0], pair[1], shell(self.app).catalog(), self.room)
            self.app.push_screen(
                Overlay(f"{pair[0].id} and {pair[1].id}", lines, foot="↑ ↓ moves   esc back to the list")
            )

    def tell(self, text: str) -> None:
        """Say something in the last line."""
        self.query_one("#overlay-foot", Lines).show([plain(f" {text}", "accent")])


def _told(row: IndexRow) -> str:
    price = row.figure("price_usd")
    cost = f"{fmt.money(price.value)} {price.letter}, " if price is not None else ""
    return f"{cost}{row.summary}"


def _why_not(row: IndexRow, as_of: str) -> str:
    if not row.orderable:
        return row.why_not_orderable or "can't be ordered yet"
    if row.available and row.available > as_of[: len(row.available)]:
        return f"can be ordered from {row.available}"
    return ""


def _narrow(index: CatalogIndex, family: str, text: str) -> tuple[frozenset[str] | None, str]:
    try:
        return frozenset(row.id for row in index.rows(family, text)), ""
    except InputError as error:
        return frozenset(), "; ".join(str(one) for one in error.problems)
