"""A worksheet with what all sheets of this workbook share: header, protection, print set-up."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from xlsxwriter.worksheet import Worksheet

from planner.present.workbook.layout import CHECKS
from planner.present.workbook.styles import Styles

NOT_A_NUMBER: Final = "n/a"
A4: Final = 9
_ALLOWED: Final = {
    "format_columns": True, "format_rows": True, "autofilter": True, "sort": True,
    "select_locked_cells": True, "select_unlocked_cells": True, "objects": False,
}  # fmt: skip
_WHOLE_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_CELL_LIMIT: Final = 32_000
"""Excel holds 32,767 characters in a cell."""


@dataclass(frozen=True, slots=True)
class Area:
    """Rows and columns that are printed, from column A on; None is the last one used."""

    first_row: int = 0
    last_row: int | None = None
    last_column: int | None = None


class PlainWorksheet(Worksheet):  # type: ignore[misc]  # the library has no types
    """Takes formulas as they are written.

    The library searches each formula for thirty functions that came after Excel 2010, to mark them as such. That is a
    third of the time a workbook takes, and no formula here has one.
    """

    def _prepare_formula(self, formula: str, expand_future_functions: bool = False) -> str:
        if not formula.startswith("="):
            return str(super()._prepare_formula(formula, expand_future_functions))
        return formula[1:]


class Sheet:
    """Writes cells by role; rows and columns count from 0."""

    def __init__(self, book: Any, name: str, styles: Styles) -> None:
        self.name, self.styles = name, styles
        self.raw = book.add_worksheet(name, PlainWorksheet)
        self.rows = 0
        self.columns = 0

    def text(self, row: int, column: int, text: str, role: str = "text") -> None:
        """A text; what begins with an equals sign stays one."""
        self._used(row, column)
        self.raw.write_string(row, column, text[:_CELL_LIMIT], self.styles.get(role))

    def day(self, row: int, column: int, day: str, role: str = "left") -> None:
        """A date as precise as it is known: a day and a year are numbers, a month is text."""
        if _WHOLE_DATE.fullmatch(day):
            days = (date.fromisoformat(day) - date(1899, 12, 30)).days
            self.number(row, column, days, role, "yyyy-mm-dd")
        elif day.isdigit():
            self.number(
                row, column, float(day), role, "0"
            )  # a year kept as text would be a number in disguise
        elif day:
            self.text(row, column, day, role)

    def number(self, row: int, column: int, value: float, role: str, pattern: str) -> None:
        """A number; "n/a" stands for none."""
        self._used(row, column)
        if math.isfinite(value):
            self.raw.write_number(row, column, value + 0.0, self.styles.get(role, pattern))
        else:
            self.raw.write_string(row, column, NOT_A_NUMBER, self.styles.get(role, pattern))

    def formula(
        self, row: int, column: int, formula: str, value: float | str | bool, role: str, pattern: str = ""
    ) -> None:
        """A formula with the value Python found, so that viewers that don't calculate show it."""
        self._used(row, column)
        if isinstance(value, float) and not math.isfinite(value):
            formula, value = or_not_a_number(formula), NOT_A_NUMBER
        # -0.0 becomes 0.0: a minus before a zero puzzles.
        shown = value if isinstance(value, str | bool) else value + 0.0
        self.raw.write_formula(row, column, formula, self.styles.get(role, pattern), shown)

    def head(self, row: int, names: tuple[str, ...], *, right: frozenset[int] = frozenset()) -> None:
        """Headings of columns, from the first column on."""
        for column, name in enumerate(names):
            self.text(row, column, name, "head right" if column in right else "head in" if column else "head")

    def status(self, row: int, column: int, text: str) -> None:
        """Whether all checks pass, live."""
        style = self.styles.get("status")
        self.raw.write_formula(row, column, f"={CHECKS}!$A$2", style, text)
        alarm = {
            "type": "text", "criteria": "begins with", "value": "FAIL", "format": self.styles.get("banner"),
        }  # fmt: skip
        self.raw.conditional_format(row, column, row, column, alarm)

    def finish(
        self,
        *,
        repeat: tuple[int, int] | None = None,
        pages_high: int = 0,
        area: Area | None = None,
        upright: bool = False,
    ) -> None:
        """Protect without a password, and set up printing on pages of full width.

        Args:
            repeat: Rows of headings printed on every page.
            pages_high: Most pages below each other; 0 for as many as it takes.
            area: What is printed. Keys, sources and months stay on the screen: with them the print
                would be too small to read.
            upright: Portrait instead of landscape.
        """
        area = area or Area()
        raw = self.raw
        raw.protect("", dict(_ALLOWED))
        if upright:
            raw.set_portrait()
        else:
            raw.set_landscape()
        raw.set_paper(A4)
        last_row = self.rows if area.last_row is None else area.last_row
        last_column = self.columns if area.last_column is None else area.last_column
        raw.print_area(area.first_row, 0, last_row, last_column)
        raw.fit_to_pages(1, pages_high)
        raw.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        raw.set_footer("&L&8cluster-planner&C&8&A&R&8page &P of &N")
        raw.hide_gridlines(2)
        if repeat is not None:
            raw.repeat_rows(*repeat)

    def _used(self, row: int, column: int) -> None:
        self.rows = max(self.rows, row)
        self.columns = max(self.columns, column)


def or_not_a_number(formula: str) -> str:
    """The formula, or "n/a" where it has no result.

    >>> or_not_a_number("=A1/B1")
    '=IFERROR(A1/B1,"n/a")'
    """
    return f'=IFERROR({formula[1:]},"{NOT_A_NUMBER}")'
