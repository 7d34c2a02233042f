"""Renders an expression as an Excel formula. Where a line's cells are is the caller's business."""

from __future__ import annotations

from typing import Protocol

from planner.ledger.nodes import (
    DECIMALS,
    Binary,
    Const,
    CumSum,
    Expr,
    Extreme,
    Flag,
    Irr,
    Lookup,
    Mirr,
    Npv,
    Pmt,
    Prev,
    Ref,
    RollingMax,
    RoundUp,
    SumMonths,
    SumYear,
    Xirr,
    Xnpv,
)  # fmt: skip

IRR_GUESS = 0.01
"""Rate a month from which office programs start their search."""
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}


class Cells(Protocol):
    """Addresses of the lines in a workbook, as seen from the sheet that holds the formula."""

    def at(self, key: str, month: int | None) -> str:
        """Cell of a scalar line, or of a series in one month."""

    def span(self, key: str, first: int, last: int, *, fixed_start: bool = False) -> str:
        """Cells of a series from month ``first`` to ``last``, both included."""

    def table(self, key: str) -> str:
        """Cells of a table line, all in one row."""

    def before(self, key: str, month: int, initial: str) -> str:
        """A series in the month before ``month``; ``initial``, a formula's text, before the first."""

    def window(self, key: str, month: int, months: int) -> str:
        """Cells of a series in ``month`` and the ``months - 1`` before it, as far as there are any."""

    def constant(self, value: float) -> str:
        """A number of a formula: its digits, or a cell that holds it."""

    @property
    def months(self) -> int:
        """Length of the time axis."""


def formula(expr: Expr, cells: Cells, month: int | None = None) -> str:
    """Formula text with its equals sign.

    Args:
        expr: What to render.
        cells: Where the lines lie.
        month: Column of a series formula; None for a scalar one.
    """
    return "=" + _render(expr, cells, month)[0]


def number(value: float) -> str:
    """A number as Excel reads it.

    >>> number(12.0), number(0.1), number(-2e-07)
    ('12', '0.1', '-2E-07')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value).upper()


def _render(expr: Expr, cells: Cells, month: int | None) -> tuple[str, int]:
    """Text and binding strength: 9 for what never needs brackets."""

    def text(child: Expr) -> str:
        return _render(child, cells, month)[0]

    last = cells.months - 1
    match expr:
        case Const(value):
            return cells.constant(value), 9 if value >= 0 else 0
        case Ref(key):
            return cells.at(key, month), 9
        case Binary(operator, left, right):
            return _binary(operator, left, right, cells, month)
        case Extreme(which, items):
            return f"{which.upper()}({','.join(text(item) for item in items)})", 9
        case Flag(left, comparison, right):
            return f"IF({text(left)}{comparison}{text(right)},1,0)", 9
        case RoundUp(item):
            return f"ROUNDUP(ROUND({text(item)},{cells.constant(DECIMALS)}),0)", 9
        case Prev(line, initial):
            assert month is not None
            return cells.before(line.key, month, _render(initial, cells, None)[0]), 9
        case CumSum(line):
            assert month is not None
            return f"SUM({cells.span(line.key, 0, month, fixed_start=True)})", 9
        case RollingMax(line, months):
            assert month is not None
            return f"MAX({cells.window(line.key, month, months)})", 9
        case Lookup(table, index):
            return f"INDEX({cells.table(table.key)},1,{text(index)})", 9
        case SumMonths(line):
            return f"SUM({cells.span(line.key, 0, last)})", 9
        case SumYear(line, first, count):
            if first > last:
                return "0", 9
            return f"SUM({cells.span(line.key, first, min(first + count - 1, last))})", 9
        case Npv(rate, line):
            later = f"+NPV({text(rate)},{cells.span(line.key, 1, last)})" if last else ""
            return cells.at(line.key, 0) + later, 1
        case Xnpv(rate, line, dates):
            return f"XNPV({text(rate)},{cells.span(line.key, 0, last)},{cells.span(dates.key, 0, last)})", 9
        case Irr(line):
            return f'IFERROR(IRR({cells.span(line.key, 0, last)},{cells.constant(IRR_GUESS)}),"n/a")', 9
        case Xirr(line, dates):
            spans = f"{cells.span(line.key, 0, last)},{cells.span(dates.key, 0, last)}"
            return f'IFERROR(XIRR({spans}),"n/a")', 9
        case Mirr(line, finance_rate, reinvest_rate):
            span = cells.span(line.key, 0, last)
            return f'IFERROR(MIRR({span},{text(finance_rate)},{text(reinvest_rate)}),"n/a")', 9
        case Pmt(rate, periods, present):
            return f"-PMT({text(rate)},{text(periods)},{text(present)})", 0
        case _:
            raise AssertionError(f"unknown node {type(expr).__name__}")


def _binary(operator: str, left: Expr, right: Expr, cells: Cells, month: int | None) -> tuple[str, int]:
    strength = _PRECEDENCE[operator]
    left_text, left_strength = _render(left, cells, month)
    right_text, right_strength = _render(right, cells, month)
    if operator == "-" and isinstance(left, Const) and left.value == 0.0:
        # Excel binds a leading minus tighter than a power: -A1^2 is the square of -A1.
        bare = right_strength >= 2 and "^" not in right_text
        return (f"-{right_text}" if bare else f"-({right_text})"), 0
    if left_strength < strength or (operator == "^" and left_strength <= strength):
        left_text = f"({left_text})"
    loose = right_strength < strength if operator in "+*" else right_strength <= strength
    if loose:
        right_text = f"({right_text})"
    return f"{left_text}{operator}{right_text}", strength
