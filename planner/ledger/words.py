"""Renders an expression as words, for the report, the TUI and ``planner explain``."""

from __future__ import annotations

from collections.abc import Mapping

from planner.ledger.lines import Kind, Line
from planner.ledger.nodes import (
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
    children,
)  # fmt: skip

_SIGNS = {"+": " + ", "-": " - ", "*": " x ", "/": " / ", "^": " ^ "}
_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
_COMPARISONS = {"<": "is under", "<=": "is at most", "=": "equals", ">=": "is at least", ">": "is over"}


def words(line: Line, lines: Mapping[str, Line]) -> str:
    """How a line came about, in one sentence without its name.

    >>> from planner.ledger import Ledger
    >>> from planner.sourced import Source
    >>> ledger = Ledger(months=1)
    >>> count = ledger.given("count", "Modules", "1", 4, Source("scenario.yaml:3"))
    >>> price = ledger.given("price", "Price of a module", "USD", 900, Source("scenario.yaml:4"))
    >>> words(ledger.derive("capex", "Optics", "USD", count * price), ledger.lines)
    'modules x price of a module'
    """
    if line.kind is Kind.DERIVED:
        assert line.expression is not None
        return _text(line.expression, lines)[0]
    if line.kind is Kind.COMPUTED:
        return line.note or f"computed by {line.function.rsplit('.', 1)[-1].replace('_', ' ')}"
    assert line.source is not None
    return line.source.note or f"from {line.source.where}"


def _text(expr: Expr, lines: Mapping[str, Line]) -> tuple[str, int]:
    def text(child: Expr) -> str:
        return _bracketed(_text(child, lines), 0)

    match expr:
        case Const(value):
            return f"{value:,.10g}", 9 if value >= 0 else 0
        case Ref(key):
            return _mid_sentence(lines[key].label) if key in lines else key, 9
        case Binary("-", Const(0.0), right):
            return f"minus {_bracketed(_text(right, lines), 1)}", 0
        case Binary(operator, left, right):
            return _binary(operator, _text(left, lines), _text(right, lines))
        case Extreme(which, items):
            name = "smallest" if which == "min" else "largest"
            return f"the {name} of {', '.join(text(item) for item in items)}", 0
        case Flag(left, comparison, right):
            return f"1 where {text(left)} {_COMPARISONS[comparison]} {text(right)}, else 0", 0
        case RoundUp(item):
            return f"{_bracketed(_text(item, lines), 3)} rounded up", 0
        case Prev(line, initial):
            return f"last month's {text(line)} (at first {_text(initial, lines)[0]})", 9
        case CumSum(line):
            return f"{text(line)} so far", 9
        case RollingMax(line, months):
            return f"the highest {text(line)} of {months} months", 9
        case Lookup(table, index):
            return f"entry {_bracketed(_text(index, lines), 3)} of {text(table)}", 9
        case SumMonths(line):
            return f"{text(line)} over all months", 9
        case SumYear(line, first, months):
            return f"{text(line)} in months {first} to {first + months - 1}", 9
        case Npv(rate, line):
            return f"present value of {text(line)} at {_bracketed(_text(rate, lines), 3)}", 9
        case Xnpv(rate, line, dates):
            at = _bracketed(_text(rate, lines), 3)
            return f"present value of {text(line)} by {text(dates)} at {at}", 9
        case Irr(line):
            return f"rate of return of {text(line)}", 9
        case Xirr(line, dates):
            return f"rate of return of {text(line)} by {text(dates)}", 9
        case Mirr(line, finance_rate, reinvest_rate):
            finance, reinvest = (_bracketed(_text(rate, lines), 3) for rate in (finance_rate, reinvest_rate))
            return f"rate of return of {text(line)} financed at {finance} and reinvested at {reinvest}", 9
        case Pmt():
            at, over, lent = (_bracketed(_text(child, lines), 3) for child in children(expr))
            return f"level payment for {lent} over {over} periods at {at}", 9
        case _:
            raise AssertionError(f"unknown node {type(expr).__name__}")


def _mid_sentence(label: str) -> str:
    """A label as it reads inside a sentence: names such as GPU and InfiniBand keep their capital.

    >>> _mid_sentence("Price of a GPU"), _mid_sentence("InfiniBand switches")
    ('price of a GPU', 'InfiniBand switches')
    """
    first = label.split(" ", 1)[0]
    return label if first[1:] != first[1:].lower() or len(first) == 1 else label[:1].lower() + label[1:]


def _bracketed(part: tuple[str, int], strength: int) -> str:
    return part[0] if part[1] > strength else f"({part[0]})"


def _binary(operator: str, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
    strength = _STRENGTH[operator]
    left_text = _bracketed(left, strength if operator == "^" else strength - 1)
    loose = right[1] < strength if operator in "+*" else right[1] <= strength
    right_text = f"({right[0]})" if loose else right[0]
    return f"{left_text}{_SIGNS[operator]}{right_text}", strength
