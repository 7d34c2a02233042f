"""Whether an edited workbook is still the workbook the planner wrote, but for its input cells.

The judge is the same workbook written anew from the scenario that the edited one carries.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from datetime import date
from typing import Any, Final

from planner.errors import Place, Problem

_DIGITS: Final = 1e-12
"""Office programs keep 15 digits of a number, and the planner writes 16."""
_SHOWN: Final = 60
Cell = tuple[str, str]
"""Name of the sheet, and address such as ``C12``."""


def structure_problems(given: Any, expected: Any, name: str, free: Collection[Cell]) -> list[Problem]:
    """Every change of sheets, rows, labels, formulas and locked values, by cell.

    Where rows have moved nothing else is compared: every reference to them has changed too.

    Args:
        given: The edited workbook, as openpyxl reads it.
        expected: The same as the planner writes it.
        name: File that the problems speak of.
        free: Cells that may hold something else.
    """
    found = _sheets(given, expected, name)
    if found:
        return found
    moved = [
        problem
        for sheet in expected.worksheets
        if (problem := _moved(given[sheet.title], sheet, name)) is not None
    ]
    if moved:
        return moved
    return [
        problem for sheet in expected.worksheets for problem in _cells(given[sheet.title], sheet, name, free)
    ]


def _sheets(given: Any, expected: Any, name: str) -> list[Problem]:
    there, wanted, place = given.sheetnames, expected.sheetnames, Place(name)
    found = [
        Problem(f"sheet '{one}' is missing", place, remedy="put it back: its formulas belong to the model")
        for one in wanted
        if one not in there
    ]
    found += [
        Problem(f"sheet '{one}' was added", place, remedy="keep it in a file of its own")
        for one in there
        if one not in wanted
    ]
    found += [
        Problem(f"sheet '{one}' is hidden", place, remedy="show it: a model for others hides nothing")
        for one in wanted
        if one in there and given[one].sheet_state != "visible"
    ]
    if not found and there != wanted:
        found.append(
            Problem("the sheets are in another order", place, remedy=f"put them back: {', '.join(wanted)}")
        )
    return found


def _labels(sheet: Any) -> list[str]:
    """What the rows are called, by their first two columns of text, without what formulas say."""
    return [
        "|".join(str(cell.value) for cell in row if isinstance(cell.value, str) and cell.data_type != "f")
        for row in sheet.iter_rows(max_col=2)
    ]


def _moved(given: Any, expected: Any, name: str) -> Problem | None:
    """Rows that were put in or taken out, told by labels that stand elsewhere."""
    there, wanted = _labels(given), _labels(expected)
    while there and not there[-1]:
        there.pop()
    while wanted and not wanted[-1]:
        wanted.pop()
    if len(there) == len(wanted):
        return None  # what differs is a cell that was changed
    row = next((at for at, (one, other) in enumerate(zip(there, wanted, strict=False)) if one != other), None)
    at = (len(there) if row is None else row) + 1
    lost = len(wanted) - len(there)
    if lost < 0 and row is None:
        return None  # something typed below the last row is a cell that was filled
    what = f"{lost} rows are missing" if lost > 0 else f"{-lost} rows were added"
    return Problem(
        f"{what} from row {at} on", Place(f"{name}, {expected.title}!A{at}"), remedy="put the rows back as they were"
    )  # fmt: skip


def _cells(given: Any, expected: Any, name: str, free: Collection[Cell]) -> Iterator[Problem]:
    rows = max(given.max_row, expected.max_row)
    columns = max(given.max_column, expected.max_column)
    pairs = zip(
        given.iter_rows(max_row=rows, max_col=columns),
        expected.iter_rows(max_row=rows, max_col=columns),
        strict=True,
    )
    for there, wanted in pairs:
        for cell, was in zip(there, wanted, strict=True):
            if cell.value == was.value or (expected.title, cell.coordinate) in free:
                continue
            said = _changed(cell, was)
            if said:
                place = Place(f"{name}, {expected.title}!{cell.coordinate}")
                yield Problem(said[0], place, remedy=said[1])


def _changed(cell: Any, was: Any) -> tuple[str, str] | None:
    """What is wrong with a cell, and the remedy; None where it says the same in another way."""
    if was.data_type == "f":
        if cell.data_type == "f" and normal(str(cell.value)) == normal(str(was.value)):
            return None
        what = "is now" if cell.data_type == "f" else "was replaced by"
        return f"formula {shown(was.value)} {what} {shown(cell.value)}", "put the formula back"
    if was.value in (None, ""):
        return None if cell.value in (None, "") else (
            f"holds {shown(cell.value)}, and the planner leaves it empty", "empty it"
        )  # fmt: skip
    if alike(cell.value, was.value):
        return None
    return f"was {shown(was.value)} and is {shown(cell.value)}, in a cell that is locked", "put it back"


def alike(value: Any, other: Any) -> bool:
    """Whether two cells hold the same, up to the digits that office programs keep.

    >>> alike(0.1, 0.1 + 1e-16), alike(0.1, 0.2), alike("a", "a")
    (True, False, True)
    """
    if _is_number(value) and _is_number(other):
        return math.isclose(value, other, rel_tol=_DIGITS, abs_tol=1e-300)
    return bool(value == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A cell's content in a sentence.

    >>> shown(None), shown(0.25), shown("abc")
    ('nothing', '0.25', "'abc'")
    """
    if value is None or value == "":
        return "nothing"
    if isinstance(value, date):
        return f"the date {value:%Y-%m-%d}"
    text = str(value) if not isinstance(value, str) or value.startswith("=") else f"'{value}'"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def normal(formula: str) -> str:
    """A formula without what programs write in several ways: spaces, and the case of names.

    >>> normal('=Sum( $A1 , 2 )&" a b"')
    '=SUM($A1,2)&" a b"'
    """
    parts = formula.split('"')
    return '"'.join(part if at % 2 else "".join(part.split()).upper() for at, part in enumerate(parts))
