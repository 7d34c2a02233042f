"""The cable schedule: a row for each length that is ordered, and how many links it makes."""

from __future__ import annotations

from collections import Counter
from typing import Final

from planner.design.cabling import LengthClass
from planner.present.view.cables import class_words
from planner.present.view.reading import Reading
from planner.present.workbook.calc import Frame
from planner.present.workbook.cells import letters
from planner.present.workbook.layout import (
    CABLE_LINKS,
    CABLE_LONGEST,
    CABLE_ORDERED,
    CABLE_PARTS,
    FIRST_ROW,
    HEAD_ROW,
    NAME,
    UNIT,
)
from planner.present.workbook.sheet import Sheet

_HEAD: Final = (
    "Between, medium",
    "Unit",
    "Links",
    "Ordered in, m",
    "Longest, m",
    "Parts",
    "Key",
    "How it comes about",
)
LAST_PRINTED: Final = CABLE_PARTS
"""Keys and explanations stay on the screen."""


def cable_schedule(sheet: Sheet, frame: Frame) -> None:
    """Length classes with their links as designed, and the sum of all links below."""
    built = frame.evaluation.built
    assert built is not None
    sheet.head(HEAD_ROW, _HEAD, right=frozenset({CABLE_LINKS, CABLE_ORDERED, CABLE_LONGEST}))
    for column, width in enumerate((58, 12, 18, 14, 14, 46, 46, 84)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(FIRST_ROW, UNIT)
    reading = Reading(frame.evaluation, built)
    names = {
        row: f"{one.tier}, {class_words(reading, one)}, {one.ordered_m:g} m"
        for row, one in frame.layout.cables
    }
    same = Counter(names.values())
    for row, one in frame.layout.cables:
        # Two parts of one medium and length are two rows, and a name stands for one row only.
        _row(sheet, row, names[row] if same[names[row]] == 1 else f"{names[row]} ({one.medium})", one)
    _total(sheet, [one for _, one in frame.layout.cables])


def _row(sheet: Sheet, row: int, name: str, one: LengthClass) -> None:
    sheet.text(row, NAME, name)
    sheet.text(row, UNIT, "link", "unit")
    sheet.number(row, CABLE_LINKS, float(one.links), "computed", "#,##0")
    sheet.number(row, CABLE_ORDERED, one.ordered_m, "computed", "#,##0.0")
    sheet.number(row, CABLE_LONGEST, one.longest_m, "computed", "#,##0.0")
    sheet.text(row, CABLE_PARTS, one.medium, "unit")


def _total(sheet: Sheet, classes: list[LengthClass]) -> None:
    row, column = FIRST_ROW + len(classes), letters(CABLE_LINKS)
    if not classes:
        sheet.text(row, NAME, "No network joins the servers, so there is nothing to cable.")
        return
    for blank in range(NAME, CABLE_PARTS + 1):
        sheet.text(row, blank, "" if blank else "All links", "total")
    text = f"=SUM({column}{FIRST_ROW + 1}:{column}{row})"
    sheet.formula(row, CABLE_LINKS, text, float(sum(one.links for one in classes)), "total", "#,##0")
