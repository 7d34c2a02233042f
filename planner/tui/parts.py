"""The picker of catalog parts: ids at once, what they are and whether they fit as soon as that is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from planner.catalog.index import CatalogIndex, IndexRow
from planner.errors import InputError
from planner.present import format as fmt
from planner.tui.overlay import Choice, Picker

DEFAULT = ""
"""Key of the choice that takes a value away."""


class PartPicker(Picker):
    """Picks an item of one family."""

    def __init__(self, title: str, ids: Sequence[str], family: str, now: str, nullable: bool) -> None:
        first = (
            [Choice(DEFAULT, "(default)", "let the planner choose, or none", "default")] if nullable else []
        )
        super().__init__(title, [*first, *(Choice(one, one, "", one) for one in ids)], now=now)
        self.first = first
        self.family = family

    def told(self, index: CatalogIndex, as_of: str) -> None:
        """Enter what each item is; filters may hold comparisons from here on."""
        reasons = {one.key: one.why_not for one in self.choices}
        self.choices = (
            *self.first,
            *(
                Choice(row.id, row.id, _told(row), row.text, reasons.get(row.id) or _why_not(row, as_of))
                for row in index.rows(self.family)
            ),
        )
        self.narrow = partial(_narrow, index, self.family)
        if self.is_mounted:
            self.fill()


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
