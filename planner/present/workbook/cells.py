"""Formulas as text, for the places that `layout` gave the lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from planner.ledger import Axis, Ledger, Line
from planner.ledger.excel import formula, number
from planner.ledger.nodes import (
    Binary,
    Expr,
    Extreme,
    Flag,
    Ref,
    RoundUp,
)  # fmt: skip
from planner.present.workbook.constants import PLAIN
from planner.present.workbook.layout import FIRST_MONTH, HEAD_ROW, INPUT_TABLE, Layout, Spot

_HERE, _BEFORE, _RAW = "\x01", "\x02", "\x03"
"""Stand-ins: the formula's own column, the one before, and text that is an address already."""
_ANY = 7
"""A month in the middle: a series formula is rendered for it once, and moved by its column."""


def letters(column: int) -> str:
    """Name of a column counted from 0.

    >>> letters(0), letters(25), letters(26), letters(66)
    ('A', 'Z', 'AA', 'BO')
    """
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def quoted(sheet: str) -> str:
    """Sheet name as a formula writes it.

    >>> quoted("Inputs"), quoted("Cash flow")
    ('Inputs!', "'Cash flow'!")
    """
    return f"{sheet}!" if sheet.isalnum() else f"'{sheet}'!"


class SheetCells:
    """Addresses as seen from one sheet; what `planner.ledger.excel` asks for them."""

    def __init__(self, layout: Layout, sheet: str) -> None:
        self._layout, self._sheet = layout, sheet
        self._ledger: Ledger = layout.ledger
        self._columns = [letters(FIRST_MONTH + month) for month in range(self._ledger.months)]
        self.floating = False

    @property
    def months(self) -> int:
        """Length of the time axis."""
        return self._ledger.months

    @property
    def columns(self) -> list[str]:
        """Column name of each month."""
        return self._columns

    def spot(self, key: str) -> Spot:
        """Cell of a line that formulas read."""
        return self._layout.live.get(key) or self._layout.spots[key]

    def is_series(self, key: str) -> bool:
        """Whether a line runs over the months."""
        return self._ledger.lines[key].axis is Axis.MONTH

    def prefix(self, sheet: str) -> str:
        """Sheet's name before an address, nothing on the sheet itself."""
        return "" if sheet == self._sheet else quoted(sheet)

    def at(self, key: str, month: int | None) -> str:
        """Cell of a scalar line, or of a series in one month."""
        if key[0] == _RAW:
            return key[1:]
        spot = self.spot(key)
        if self._ledger.lines[key].axis is Axis.SCALAR:
            return f"{self.prefix(spot.sheet)}${letters(spot.column)}${spot.row + 1}"
        assert month is not None
        return f"{self.prefix(spot.sheet)}{self._column(month)}{spot.row + 1}"

    def span(self, key: str, first: int, last: int, *, fixed_start: bool = False) -> str:
        """Cells of a series from one month to another."""
        spot, names = self._layout.spots[key], self._columns
        row = spot.row + 1
        if fixed_start:
            text = f"${names[first]}{row}:{self._column(last)}{row}"
        else:
            still = "$" if self.floating else ""
            text = f"{still}{names[first]}{row}:{still}{names[last]}{row}"
        return self.prefix(spot.sheet) + text

    def before(self, key: str, month: int, initial: str) -> str:
        """A series in the month before; one formula for all months, that asks whether this is the first."""
        spot, here = self._layout.spots[key], self._column(month)
        earlier = self._column(month - 1) if month else letters(FIRST_MONTH - 1)
        return f"IF({here}${HEAD_ROW + 1}=0,{initial},{self.prefix(spot.sheet)}{earlier}{spot.row + 1})"

    def window(self, key: str, month: int, months: int) -> str:
        """This month and those before it; near the first month the window is cut by MAX, not by another formula."""
        spot, names = self._layout.spots[key], self._columns
        number_here = f"{self._column(month)}${HEAD_ROW + 1}"
        row = f"{self.prefix(spot.sheet)}${names[0]}{spot.row + 1}:${names[-1]}{spot.row + 1}"
        start = f"MAX(1,{number_here}+1-{self.constant(float(months - 1))})"
        return f"INDEX({row},1,{start}):INDEX({row},1,{number_here}+1)"

    def constant(self, value: float) -> str:
        """0 and 1 as they are, any other number as the cell that holds it."""
        spot = self._layout.constants.get(float(value))
        if value in PLAIN or spot is None:
            return number(value)
        return f"{self.prefix(spot.sheet)}${letters(spot.column)}${spot.row + 1}"

    def table(self, key: str) -> str:
        """Cells of a table line."""
        spot, width = self._layout.spots[key], self._ledger.value(key).shape[1]
        end = letters(INPUT_TABLE + width - 1)
        return f"{self.prefix(spot.sheet)}${letters(INPUT_TABLE)}${spot.row + 1}:${end}${spot.row + 1}"

    def _column(self, month: int) -> str:
        if not self.floating:
            return self._columns[month]
        if month == _ANY:
            return _HERE
        return _BEFORE if month == _ANY - 1 else f"${self._columns[month]}"


def scalar_formula(cells: SheetCells, line: Line) -> str:
    """Formula of a scalar line."""
    assert line.expression is not None
    return formula(shortened(line.expression, cells), cells)


def month_formulas(cells: SheetCells, line: Line) -> Iterator[str]:
    """Formulas of a series, month by month: one text that differs by the column alone."""
    assert line.expression is not None
    expr, names = shortened(line.expression, cells), cells.columns
    if cells.months <= _ANY + 1:
        for month, name in enumerate(names):
            yield formula(expr, cells, month).replace(_HERE, name)
        return
    cells.floating = True
    text = formula(expr, cells, _ANY)
    cells.floating = False
    for before, name in itertools.pairwise((letters(FIRST_MONTH - 1), *names)):
        yield text.replace(_HERE, name).replace(_BEFORE, before)


def shortened(expr: Expr, cells: SheetCells) -> Expr:
    """The same expression with sums of neighbouring cells written as SUM over their range."""
    match expr:
        case Binary(operator, left, right):
            total = _range(expr, cells)
            if total is not None:
                return Ref(_RAW + total)
            return Binary(operator, shortened(left, cells), shortened(right, cells))
        case Extreme(which, items):
            return Extreme(which, tuple(shortened(item, cells) for item in items))
        case Flag(left, comparison, right):
            return Flag(shortened(left, cells), comparison, shortened(right, cells))
        case RoundUp(item):
            return RoundUp(shortened(item, cells))
        case _:
            return expr


def _range(expr: Expr, cells: SheetCells) -> str | None:
    """SUM over the cells of a plain sum of three or more lines that lie below each other."""
    keys: list[str] = []
    while isinstance(expr, Binary) and expr.operator == "+" and isinstance(expr.right, Ref):
        keys.append(expr.right.key)
        expr = expr.left
    if not isinstance(expr, Ref) or len(keys) < 2:
        return None
    keys.append(expr.key)
    spots = [cells.spot(key) for key in reversed(keys)]
    first, last = spots[0], spots[-1]
    if any(
        (spot.sheet, spot.column, spot.row) != (first.sheet, first.column, first.row + step)
        for step, spot in enumerate(spots)
    ):
        return None
    series = first.column == FIRST_MONTH and cells.is_series(expr.key)
    start, end = (_HERE, _HERE) if series else (f"${letters(first.column)}$",) * 2
    return f"SUM({cells.prefix(first.sheet)}{start}{first.row + 1}:{end}{last.row + 1})"
