"""The picker of catalog parts: ids at once, what they are, whether they fit and what they do as soon as that is known.

The list can be sorted by name, by a figure or by what a part does to the plan, and two of its parts put side by side.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from planner.catalog.index import CatalogIndex, IndexRow
from planner.errors import InputError
from planner.present import format as fmt
from planner.present.view.model import Headline
from planner.tui.effects import (
    CELLS,
    COST,
    Effect,
    columns_of,
    effect_key,
    effect_parts,
    effect_said,
    split_filter,
)
from planner.tui.lines import Line, Lines, LinesView, Part, left, plain, right
from planner.tui.overlay import Choice, Picker
from planner.tui.part_compare import Beside
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
NEAR: Final = 12
"""Rows around the cursor whose effects are worked out before those of the rest."""


class PartPicker(Picker):
    """Picks an item of one family; where it is for a field of the open plan, each item's effect stands beside it."""

    DETAIL_ROWS: ClassVar[int] = 4
    HEADED: ClassVar[bool] = True
    HINT: ClassVar[str] = "filter: words and comparisons, such as 800g price<900"
    DEFAULT_CSS = "PartPicker #overlay-detail { height: 4; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "sort", "sort", id="picker.sort"),
        Binding("f3", "beside", "compare two", id="picker.beside"),
    ]

    class Judged(Message):
        """It is known which parts don't fit, and why."""

        def __init__(self, reasons: dict[str, str]) -> None:
            super().__init__()
            self.reasons = reasons

    class Weighed(Message):
        """It is known what one part does; without an effect, all that can be worked out is."""

        def __init__(self, part: str, effect: Effect | None) -> None:
            super().__init__()
            self.part, self.effect = part, effect

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
        self.drawn: dict[str, tuple[Choice, Effect | None, Line]] = {}
        self.foot = "type to filter   enter picks   F2 sort   F3 compare two   esc back"
        self.weighing = False
        self.plan_text = ""
        self.base: tuple[Headline, ...] = ()
        self.effects: dict[str, Effect] = {}
        self.order: tuple[str, ...] = ()
        self.at = 0
        self.touched = time.monotonic()
        self._filtered_by = ""
        self.asked: tuple[str, ...] = ()

    # What becomes known while it is open

    def told(self, index: CatalogIndex, as_of: str) -> None:
        """Enter what each item is; filters may hold comparisons from here on."""
        self.index = index
        reasons = {one.key: one.why_not for one in self.choices}
        rows = (
            Choice(row.id, row.id, _told(row), row.text, reasons.get(row.id) or _why_not(row, as_of))
            for row in self._in_order(index)
        )
        self.choices = (*self.first, *rows)
        self.narrow = self._narrowed
        self._redraw()

    def weighs(self, text: str, base: Sequence[Headline], known: Mapping[str, Effect]) -> None:
        """Effects are going to be worked out; those known of an earlier text are shown as stale until then."""
        self.weighing, self.plan_text, self.base = True, text, tuple(base)
        self.effects = dict(known)
        self._redraw()

    def on_part_picker_judged(self, event: Judged) -> None:
        """Dim what doesn't fit."""
        self.choices = tuple(
            replace(one, why_not=event.reasons.get(one.key, one.why_not)) for one in self.choices
        )
        self._redraw()

    def on_part_picker_weighed(self, event: Weighed) -> None:
        """Show one effect; once all are known, a list sorted by them is sorted again."""
        if event.effect is not None:
            self.effects[event.part] = event.effect
            if event.effect.why_not:
                self.choices = tuple(
                    replace(one, why_not=one.why_not or event.effect.why_not)
                    if one.key == event.part
                    else one
                    for one in self.choices
                )
        elif self.index is not None and self.sorted_by >= len(SORTS):
            self.told(self.index, shell(self.app).as_of)
        self._redraw()
        for screen in self.app.screen_stack:
            if isinstance(screen, Beside):
                screen.effects = self.outcomes
                screen.fill()

    def _redraw(self) -> None:
        if self.is_mounted and not self._left:
            self.fill()

    def next_of(self, done: set[str]) -> str | None:
        """The part whose effect is wanted next: those compared, near the cursor, passing the filter, and then the rest.

        It is asked from the thread that works them out.
        """
        order, at = self.order, self.at
        near = order[max(0, at - NEAR) : at + NEAR]
        fitting = [one.key for one in self.choices if not one.why_not]
        wanted = (one for one in (*self.asked, *near, *order) if one in fitting)
        return next((one for one in (*wanted, *fitting) if one not in done), None)

    # How it is drawn

    @property
    def heads(self) -> tuple[str, ...]:
        """Outcomes that have a column."""
        return columns_of(self.base or next((one.headlines for one in self.effects.values()), ()))

    def fill(self) -> None:
        """The list, and the names of its columns over it."""
        if self.wanted != self._filtered_by:
            self._filtered_by, self.touched = self.wanted, time.monotonic()
        super().fill()
        self.order = tuple(line.key for line in self.view.lines if line.stop)
        self._head()

    def _head(self) -> None:
        head = self.query_one("#overlay-heads", Lines)
        head.display = self.weighing
        if not self.weighing:
            return
        self.query_one("#overlay-filter", Input).placeholder = f"{self.HINT} capex<0"
        fitting = [one.key for one in self.choices if not one.why_not]
        left_over = sum(self._stale(one) for one in fitting)
        told = (
            f"{left_over} still to work out" if left_over else "against this plan" if self.base else "with it"
        )
        size = 33 if self.room > 90 else 27
        names = "".join(f"{right(bar, CELLS - 2)}  " for bar in self.heads)
        head.show([Line(((left(f"   {told}", size), "dim"), (names, "head")))])

    @property
    def outcomes(self) -> dict[str, Effect]:
        """What is known of each part, also that it doesn't fit."""
        out = {one.key: Effect(self.plan_text, why_not=one.why_not) for one in self.choices if one.why_not}
        return {**self.effects, **out}

    def _stale(self, part: str) -> bool:
        held = self.effects.get(part)
        return held is None or held.text != self.plan_text

    def columns(self, one: Choice) -> tuple[Part, ...]:
        """What a part does to the plan."""
        if not self.weighing:
            return ()
        held = self.effects.get(one.key)
        stale = held is not None and held.text != self.plan_text
        return effect_parts(held, self.heads, stale=stale, alone=not self.base)

    def about(self, one: Choice) -> str:
        """What the part under the cursor does, with values."""
        held = self.effects.get(one.key)
        if not self.weighing or one.why_not:
            return ""
        if held is None:
            return "with it: being worked out …"
        return effect_said(held, self.heads, stale=held.text != self.plan_text)

    def _line(self, one: Choice) -> Line:
        """A row, made once for each width and effect: a filter that passes thousands draws what is there already."""
        drawn, held = self.drawn.get(one.key), self.effects.get(one.key)
        if drawn is None or drawn[0] is not one or drawn[1] is not held:
            drawn = (one, held, super()._line(one))
            self.drawn[one.key] = drawn
        return drawn[2]

    def on_resize(self, event: events.Resize) -> None:
        """Rows are made for a width."""
        self.drawn.clear()
        self._redraw()

    def on_lines_view_moved(self, event: LinesView.Moved) -> None:
        """What is near the cursor is worked out first."""
        self.at, self.touched = event.index, time.monotonic()

    # Filter, sort, compare

    def _narrowed(self, text: str) -> tuple[frozenset[str] | None, str]:
        """Parts that pass the words and figures of a filter, and what it says of effects."""
        assert self.index is not None
        rest, wishes = split_filter(text) if self.weighing else (text, ())
        keys, wrong = _narrow(self.index, self.family, rest)
        if keys is None or not wishes:
            return keys, wrong
        passing = (key for key in keys if all(one.holds(self.effects.get(key), self.base) for one in wishes))
        return frozenset(passing), wrong

    def knows(self, word: str) -> bool:
        """Comparisons of figures and effects."""
        return bool(re.fullmatch(r"[a-z0-9_]+(<=|>=|!=|<|>|=).*", word))

    @property
    def sorts(self) -> tuple[str, ...]:
        """What the list can be sorted by."""
        effects = tuple(f"effect on {bar}" for bar in self.heads) if self.weighing else ()
        return (*(name for _, name in SORTS), *effects)

    def _in_order(self, index: CatalogIndex) -> list[IndexRow]:
        rows = list(index.rows(self.family))
        if self.sorted_by >= len(SORTS):
            bar = (*self.heads, *COST)[self.sorted_by - len(SORTS)]
            return sorted(rows, key=lambda row: effect_key(self.effects.get(row.id), bar, self.base))
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

    def action_sort(self) -> None:
        """Sort by the next thing there is to sort by."""
        if self.index is None:
            return
        self.sorted_by = (self.sorted_by + 1) % len(self.sorts)
        self.told(self.index, shell(self.app).as_of)
        self.tell(f"sorted by {self.sorts[self.sorted_by]}   F2 sort   F3 compare two   enter picks")

    def action_beside(self) -> None:
        """Remember the part under the cursor; the second time, put the two side by side."""
        here = self.view.key
        index = self.index
        if index is None or (self.family, here) not in index.by_id or not self.is_current:
            self.app.bell()
        elif self.held in ("", here):
            self.held = here
            self.asked = (here,)
            self.tell(f"{here} is held: F3 on another one puts the two side by side")
        else:
            pair = [index.by_id[(self.family, one)] for one in (self.held, here)]
            self.asked, self.held = (self.held, here), ""
            effects = self.outcomes if self.weighing else None
            self.app.push_screen(Beside(pair[0], pair[1], shell(self.app).catalog(), effects))

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
