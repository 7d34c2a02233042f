"""What a person changed in a workbook of the planner: values of inputs, the case that is selected.

Only three places are read: the values and keys of Inputs (columns C and L), the selected case, and the
scenario's text, which the workbook carries. Everything else is compared with what the planner wrote.
"""

from __future__ import annotations

import math
import re
import warnings
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from planner.errors import InputError, Place, Problem
from planner.intake.structure import Cell, alike, shown, structure_problems
from planner.scenario.yamltext import typed

INPUTS, SCENARIOS, CHANGES, SUMMARY, CHECKS = "Inputs", "Scenarios", "Changes", "Summary", "Checks"
VALUE, PLANNED, UNIT, KEY = "C", "G", "D", "L"
SELECTOR: Final[Cell] = (SCENARIOS, "C3")
"""Cell that names the selected case."""
TOLERANCE: Final[Cell] = (CHECKS, "B5")
LIMITS: Final = 6
"""Column F of Summary, for limits: they are judged there, and are no part of the plan's values."""
CATALOG_STAMP: Final = "Catalog, hash"
"""Beside it stands the hash of all catalog items that were read, some of them for nothing in the workbook."""
CARRIED: Final = "The scenario as it was read"
"""Beginning of the heading above the carried text."""
_LARGEST: Final = 60_000_000
_PLACE: Final = re.compile(r"(.+):(\d+)")
_FIRST_INPUT: Final = 4


@dataclass(frozen=True, slots=True)
class Carried:
    """The scenario that a workbook was made from.

    Attributes:
        texts: Name and text of the file, then of those it extends.
        changes: ``key=value`` of the command that wrote the workbook, in order.
        digests: Hashes of scenario and catalog as the workbook states them.
    """

    texts: tuple[tuple[str, str], ...]
    changes: tuple[str, ...]
    digests: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Edit:
    """A value that a reader typed over an input, or that the selected case has for it."""

    key: str
    value: float
    planned: float
    cell: str
    case: str = ""


def open_workbook(path: Path) -> Any:
    """A workbook as openpyxl reads it.

    Raises:
        InputError: It can't be read, or is no workbook.
    """
    place = Place(str(path))
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(
                Problem(f"has more than {_LARGEST:,} bytes", place, remedy="give a workbook of the planner")
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError(Problem(f"can't be read: {error.strerror or error}", place)) from error
    return read_workbook(data, str(path))


def read_workbook(data: bytes, name: str) -> Any:
    """The same from bytes.

    Raises:
        InputError: It is no workbook.
    """
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what openpyxl leaves out of a file isn't read here
            return openpyxl.load_workbook(BytesIO(data))
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, TypeError, SyntaxError) as error:
        raise InputError(
            Problem(
                "is no workbook that can be read", Place(name), remedy="save it as .xlsx, without a password"
            )
        ) from error


def carried(book: Any, name: str) -> Carried:
    """The scenario that a workbook carries on its sheet of changes.

    Raises:
        InputError: It carries none.
    """
    lines: dict[str, list[str]] = {}
    changes: list[str] = []
    below = False
    for row in book[CHANGES].iter_rows(max_col=6, values_only=True) if CHANGES in book.sheetnames else ():
        first, second, where = row[0], row[1] if len(row) > 1 else None, row[5] if len(row) > 5 else None
        if isinstance(where, str) and where.startswith("--set ") and not below:
            changes.append(where.removeprefix("--set "))
        if isinstance(first, str) and first.startswith(CARRIED):
            below = True
        elif below and isinstance(first, str) and (match := _PLACE.fullmatch(first)):
            lines.setdefault(match[1], []).append("" if second is None else str(second))
    if not lines:
        raise InputError(
            Problem(
                "carries no scenario",
                Place(name),
                remedy="give a workbook that planner run wrote, with its sheet Changes",
            )
        )
    texts = tuple((file, "\n".join(found) + "\n") for file, found in lines.items())
    return Carried(texts, tuple(dict.fromkeys(changes)), _digests(book))


def _digests(book: Any) -> tuple[str, str]:
    """Hashes of scenario and catalog in the file's properties; empty where there are none."""
    said = re.fullmatch(r"scenario (\w+), catalog (\w+)", str(book.properties.description or ""))
    return (said[1], said[2]) if said else ("", "")


def read_edits(
    given: Any,
    expected: Any,
    name: str,
    *,
    followed: Collection[str],
    cases: Mapping[str, Mapping[str, float]],
) -> tuple[list[Edit], list[Problem]]:
    """What was changed, after looking that nothing else was; and what was typed that is no value.

    Args:
        given: The edited workbook.
        expected: The same as the planner writes it.
        name: File that the problems speak of.
        followed: Keys whose values may be edited.
        cases: Values of each case by key; the first case is the plan itself.

    Raises:
        InputError: Every change of something that is no input, with its cell.
    """
    rows = _input_rows(expected, followed)
    limits = _limits(expected)
    stamps = {
        (SUMMARY, f"B{cell.row}") for (cell,) in expected[SUMMARY].iter_rows(max_col=1) if cell.value == CATALOG_STAMP
    }  # fmt: skip
    free = {(INPUTS, f"{VALUE}{row}") for row in rows.values()} | limits | stamps | {SELECTOR, TOLERANCE}
    problems = structure_problems(given, expected, name, free)
    if problems:
        raise InputError(problems)
    edits, wrong = _typed(given[INPUTS], rows, name)
    case = given[SELECTOR[0]][SELECTOR[1]].value
    if case not in cases:
        place = Place(f"{name}, {SELECTOR[0]}!{SELECTOR[1]}")
        wrong.append(Problem(f"no case {shown(case)}", place, remedy=f"one of {', '.join(cases)}"))
    mine = {edit.key for edit in edits}
    planned = {key: expected[INPUTS][f"{VALUE}{row}"].value for key, row in rows.items()}
    selected = [
        Edit(key, value, planned[key], f"{SELECTOR[0]}!{SELECTOR[1]}", case)
        for key, value in cases.get(case, {}).items()
        if key not in mine and not alike(value, planned[key])
    ]
    return [*edits, *selected], wrong


def _limits(expected: Any) -> set[Cell]:
    """Cells of Summary that hold a limit to type over."""
    rows = expected[SUMMARY].iter_rows(min_col=LIMITS, max_col=LIMITS)
    return {(SUMMARY, cell.coordinate) for (cell,) in rows if not cell.protection.locked}


def typed_limits(given: Any, expected: Any) -> list[str]:
    """Cells of limits that were changed: the workbook judges them, and the scenario keeps its own."""
    return sorted(
        cell
        for sheet, cell in _limits(expected)
        if not alike(given[sheet][cell].value, expected[sheet][cell].value)
    )


def _input_rows(expected: Any, followed: Collection[str]) -> dict[str, int]:
    sheet = expected[INPUTS]
    found: dict[str, int] = {}
    for (cell,) in sheet[f"{KEY}{_FIRST_INPUT}" : f"{KEY}{sheet.max_row}"]:
        if cell.value in followed:
            found[str(cell.value)] = cell.row
    assert set(found) == set(followed), f"not on Inputs: {set(followed) - set(found)}"
    return found


def _typed(sheet: Any, rows: Mapping[str, int], name: str) -> tuple[list[Edit], list[Problem]]:
    edits, wrong = [], []
    for key, row in rows.items():
        cell, planned = sheet[f"{VALUE}{row}"], sheet[f"{PLANNED}{row}"].value
        if alike(cell.value, planned):
            continue
        said = not_a_number(cell.value, cell.data_type, str(sheet[f"{UNIT}{row}"].value), planned)
        if said:
            wrong.append(Problem(said[0], Place(f"{name}, {INPUTS}!{cell.coordinate}"), key, said[1]))
        else:
            edits.append(Edit(key, float(cell.value), float(planned), f"{INPUTS}!{cell.coordinate}"))
    return edits, wrong


def not_a_number(value: Any, kind: str, unit: str, planned: float) -> tuple[str, str] | None:
    """Why a cell's content is no value of an input, and the remedy; None where it is one.

    >>> not_a_number(0.15, "n", "%", 0.1)
    >>> not_a_number("15%", "s", "%", 0.1)
    ("holds the text '15%', and a number is needed", 'type 0.15')
    >>> not_a_number(None, "n", "USD", 5.0)
    ('is empty, and a number is needed', 'type 5 to leave it as planned')
    """
    if value is None or value == "":
        return "is empty, and a number is needed", f"type {planned:g} to leave it as planned"
    if isinstance(value, date):
        return (
            f"holds {shown(value)}, and a number in {unit} is needed",
            "type the number, and give the cell the format of its neighbours",
        )
    if kind == "f":
        return f"holds the formula {shown(value)}, and a number is needed", "type what it comes to"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return f"holds {shown(value)}, and a number is needed", "type the number"
    if isinstance(value, str):
        meant = typed(value)
        number = isinstance(meant, int | float) and not isinstance(meant, bool)
        return (
            f"holds the text {shown(value)}, and a number is needed",
            f"type {meant:g}" if number else f"type a number in {unit}",
        )
    if not math.isfinite(value):
        return "is beyond all bounds", "type a finite number"
    return None


def has_ranges(book: Any) -> bool:
    """Whether the outcomes of a workbook have P10 and P90, which draws gave."""
    rows = book[SUMMARY].iter_rows(min_row=7, max_col=11, values_only=True)
    return any(isinstance(row[3], int | float) and isinstance(row[10], str) for row in rows)
