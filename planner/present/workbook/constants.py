"""Numbers that stand in formulas: each is a cell with a name, so that no formula holds a bare number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.ledger import Kind, Ledger
from planner.ledger.excel import IRR_GUESS
from planner.ledger.nodes import DECIMALS, Const, Expr, Irr, RollingMax, RoundUp, children

PLAIN: Final = (0.0, 1.0, -1.0)
"""Numbers that a formula may hold."""
THOUSAND, MILLION = 1e3, 1e6
"""Divisors of what Summary shows in kW, MW and M USD."""
_LABELS: Final = {
    2.0: ("Two: both ends of a link, or half of a whole", "1"),
    DECIMALS: ("Decimals that decide whether a count is whole", "digits"),
    8.76: ("Hours in a year, thousands", "1000 h"),
    12.0: ("Months in a year", "months"),
    24.0: ("Hours in a day", "h"),
    60.0: ("Minutes in an hour, or months of five years", "1"),
    365.0: ("Days in a year", "days"),
    THOUSAND: ("A thousand: kilo, or thousandths", "1"),
    3600.0: ("Seconds in an hour", "s"),
    8760.0: ("Hours in a year", "h"),
    86400.0: ("Seconds in a day", "s"),
    MILLION: ("A million: mega, or millionths", "1"),
    IRR_GUESS: ("Rate a month from which a search for a rate of return starts", "1"),
}
"""Names and units of the numbers known by convention; all others are named by the formula they stand in."""


def constants_of(ledger: Ledger) -> tuple[float, ...]:
    """Numbers of all formulas but 0 and 1, and the divisors of Summary, in order of size.

    >>> ledger = Ledger(months=1)
    >>> _ = ledger.derive("yearly", "Yearly", "USD", Const(1.0) * 12)
    >>> constants_of(ledger)
    (12.0, 1000.0, 1000000.0)
    """
    return tuple(sorted(_first_users(ledger)))


def constant_label(value: float, ledger: Ledger) -> tuple[str, str]:
    """Name and unit of a number."""
    if value in _LABELS:
        return _LABELS[value]
    user = _first_users(ledger)[value]
    return f"Number in the formula of: {ledger[user].label}", "1"


def _first_users(ledger: Ledger) -> dict[float, str]:
    found = {THOUSAND: "", MILLION: ""}
    for line in ledger:
        if line.kind is Kind.DERIVED and line.expression is not None:
            for value in _numbers(line.expression):
                found.setdefault(value, line.key)
    return {value: key for value, key in found.items() if value not in PLAIN}


def _numbers(expr: Expr) -> Iterator[float]:
    match expr:
        case Const(value):
            yield value
        case RoundUp():
            yield float(DECIMALS)
        case Irr():
            yield IRR_GUESS
        case RollingMax(_, months):
            yield float(months - 1)
    for child in children(expr):
        yield from _numbers(child)
