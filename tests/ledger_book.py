"""The smallest workbook that holds a ledger, for comparing formulas in an office program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell

from planner.arrays import Floats
from planner.ledger import Axis, Ledger
from planner.ledger.excel import formula, number
from tests.office import values

SCALARS, MONTHS, TABLES = "Scalars", "Cash flow", "Tables"
STALE = -12345.678
"""Stored beside every formula: an office program that trusts it fails the comparison."""
_FIRST = {Axis.SCALAR: 2, Axis.MONTH: 3, Axis.TABLE: 1}
_SHEET = {Axis.SCALAR: SCALARS, Axis.MONTH: MONTHS, Axis.TABLE: TABLES}


class BookCells:
    """Addresses of the lines: one row for each line, on the sheet of its axis."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._row = {line.key: row for row, line in enumerate(ledger, start=1)}

    @property
    def months(self) -> int:
        """Length of the time axis."""
        return self._ledger.months

    def row(self, key: str) -> int:
        """Row of a line, from 0."""
        return self._row[key]

    def place(self, key: str, offset: int = 0) -> tuple[str, str]:
        """Sheet and plain address of one value."""
        axis = self._ledger[key].axis
        return _SHEET[axis], xl_rowcol_to_cell(self._row[key], _FIRST[axis] + offset)

    def at(self, key: str, month: int | None) -> str:
        """Cell of a scalar line, or of a series in one month."""
        axis = self._ledger[key].axis
        assert axis is not Axis.TABLE
        if axis is Axis.SCALAR:
            return f"{SCALARS}!{xl_rowcol_to_cell(self._row[key], 2, row_abs=True, col_abs=True)}"
        assert month is not None
        return f"'{MONTHS}'!{self.place(key, month)[1]}"

    def span(self, key: str, first: int, last: int, *, fixed_start: bool = False) -> str:
        """Cells of a series."""
        assert self._ledger[key].axis is Axis.MONTH
        assert 0 <= first <= last < self.months
        start = xl_rowcol_to_cell(self._row[key], 3 + first, col_abs=fixed_start)
        return f"'{MONTHS}'!{start}:{self.place(key, last)[1]}"

    def before(self, key: str, month: int, initial: str) -> str:
        """The month before, or what stands before the first."""
        return self.at(key, month - 1) if month else f"({initial})"

    def window(self, key: str, month: int, months: int) -> str:
        """This month and those before it."""
        return self.span(key, max(0, month + 1 - months), month)

    def constant(self, value: float) -> str:
        """The number itself."""
        return number(value)

    def table(self, key: str) -> str:
        """Cells of a table."""
        width = self._ledger.value(key).shape[1]
        return f"{TABLES}!{self.place(key)[1]}:{self.place(key, width - 1)[1]}"


def write(ledger: Ledger, path: Path) -> None:
    """Write a ledger's first member, every formula with a stale stored value."""
    cells = BookCells(ledger)
    with xlsxwriter.Workbook(path) as book:
        sheets = {name: book.add_worksheet(name) for name in (SCALARS, MONTHS, TABLES)}
        for line in ledger:
            sheet = sheets[_SHEET[line.axis]]
            sheet.write_string(cells.row(line.key), 0, line.label)
            if line.expression is None:
                for offset, value in enumerate(np.atleast_1d(ledger.value(line.key)[0])):
                    sheet.write_number(cells.place(line.key, offset)[1], value)
            elif line.axis is Axis.SCALAR:
                sheet.write_formula(cells.place(line.key)[1], formula(line.expression, cells), None, STALE)
            else:
                for month in range(ledger.months):
                    text = formula(line.expression, cells, month)
                    sheet.write_formula(cells.place(line.key, month)[1], text, None, STALE)


def read(ledger: Ledger, path: Path) -> dict[str, list[Any]]:
    """What a recalculated workbook holds for each formula."""
    cells, stored = BookCells(ledger), values(path)
    return {
        line.key: [
            stored.get(cells.place(line.key, offset))
            for offset in range(ledger.months if line.axis is Axis.MONTH else 1)
        ]
        for line in ledger
        if line.expression is not None
    }


def differences(found: list[Any], expected: Floats, *, relative: float) -> list[str]:
    """Where a workbook's values are not the ledger's; "n/a" stands for not a number.

    A difference of 1e-9 passes at any size: office programs turn a difference of two almost equal
    numbers into a plain 0.
    """
    wrong = []
    for offset, (cell, value) in enumerate(zip(found, np.atleast_1d(expected), strict=True)):
        if np.isnan(value):
            same = cell == "n/a"
        else:
            same = isinstance(cell, (int, float)) and abs(cell - value) <= max(1e-9, relative * abs(value))
        if not same:
            wrong.append(f"[{offset}] workbook {cell!r}, ledger {value!r}")
    return wrong
