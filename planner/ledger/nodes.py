"""Expressions over ledger lines: a closed set of nodes.

Every node renders three ways: numpy (`planner.ledger.solve`), Excel (`planner.ledger.excel`) and
words (`planner.ledger.words`). A node is scalar or a series over months; element-wise nodes take
both and broadcast a scalar over the months.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter
from typing import Any, Final, Protocol, Union


class Keyed(Protocol):
    """Anything that names a line, a `Line` above all."""

    @property
    def key(self) -> str:
        """Stable name of the line."""


class Expr:
    """Base of all nodes; arithmetic on nodes and lines builds further nodes."""

    __slots__ = ()
    __array_ufunc__ = None  # a numpy number on the left hands over to the operators below

    def __add__(self, other: Operand) -> Binary:
        return Binary("+", node(self), node(other))

    def __radd__(self, other: Operand) -> Binary:
        return Binary("+", node(other), node(self))

    def __sub__(self, other: Operand) -> Binary:
        return Binary("-", node(self), node(other))

    def __rsub__(self, other: Operand) -> Binary:
        return Binary("-", node(other), node(self))

    def __mul__(self, other: Operand) -> Binary:
        return Binary("*", node(self), node(other))

    def __rmul__(self, other: Operand) -> Binary:
        return Binary("*", node(other), node(self))

    def __truediv__(self, other: Operand) -> Binary:
        return Binary("/", node(self), node(other))

    def __rtruediv__(self, other: Operand) -> Binary:
        return Binary("/", node(other), node(self))

    def __pow__(self, other: Operand) -> Binary:
        return Binary("^", node(self), node(other))

    def __rpow__(self, other: Operand) -> Binary:
        return Binary("^", node(other), node(self))

    def __neg__(self) -> Binary:
        return Binary("-", Const(0.0), node(self))


Operand = Union[Expr, float, int]


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    """A plain number that needs no source: 0, 1, 12."""

    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Ref(Expr):
    """Another line, by key; it may be defined later."""

    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    """``+ - * / ^`` of two nodes."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Extreme(Expr):
    """Element-wise ``min`` or ``max``."""

    which: str
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Flag(Expr):
    """1 where the comparison holds, else 0.

    Numbers that differ by rounding alone are equal, as they are in office programs.
    """

    left: Expr
    comparison: str
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class RoundUp(Expr):
    """Next whole number, away from zero. A count that is whole to six decimals stays."""

    item: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Prev(Expr):
    """Last month's value of a line; ``initial`` in the first month."""

    line: Ref
    initial: Expr


@dataclass(frozen=True, slots=True, eq=False)
class CumSum(Expr):
    """Running total of a series up to and including this month."""

    line: Ref


@dataclass(frozen=True, slots=True, eq=False)
class RollingMax(Expr):
    """Largest value of this and the ``months - 1`` months before."""

    line: Ref
    months: int


@dataclass(frozen=True, slots=True, eq=False)
class Lookup(Expr):
    """Entry of a table line, counted from 1; an index outside the table is an error.

    A fraction of the index is cut off, so ``month / 12 + 1`` is the year a month lies in.
    """

    table: Ref
    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class SumMonths(Expr):
    """Total of a series."""

    line: Ref


@dataclass(frozen=True, slots=True, eq=False)
class SumYear(Expr):
    """Total of a series over ``months`` months from ``first`` on (counted from month 0)."""

    line: Ref
    first: int
    months: int


@dataclass(frozen=True, slots=True, eq=False)
class Npv(Expr):
    """Present value: month 0 undiscounted, month t divided by (1 + rate)^t."""

    rate: Expr
    line: Ref


@dataclass(frozen=True, slots=True, eq=False)
class Xnpv(Expr):
    """Present value by dates: actual days over 365 from the first date, at a yearly rate."""

    rate: Expr
    line: Ref
    dates: Ref


@dataclass(frozen=True, slots=True, eq=False)
class Irr(Expr):
    """Rate per month at which the present value is zero; not a number where there is none."""

    line: Ref


@dataclass(frozen=True, slots=True, eq=False)
class Xirr(Expr):
    """Yearly rate at which the dated present value is zero; not a number where there is none."""

    line: Ref
    dates: Ref


@dataclass(frozen=True, slots=True, eq=False)
class Mirr(Expr):
    """Modified rate of return per month; not a number without both an outflow and an inflow."""

    line: Ref
    finance_rate: Expr
    reinvest_rate: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Pmt(Expr):
    """Payment per period that repays ``present`` (positive in, positive payment out)."""

    rate: Expr
    periods: Expr
    present: Expr


def node(operand: Operand) -> Expr:
    """A node of a number, a line or a node."""
    if isinstance(operand, Expr):
        key = getattr(operand, "key", None)
        return Ref(key) if key is not None and not isinstance(operand, Ref) else operand
    return Const(float(operand))


def ref(line: Keyed | str) -> Ref:
    """Reference to a line, by itself or by the key of one that comes later."""
    return Ref(line if isinstance(line, str) else line.key)


def added(items: Iterable[Operand]) -> Expr:
    """Sum of all items; the number 0 for none."""
    nodes = [node(item) for item in items]
    return reduce(lambda total, item: Binary("+", total, item), nodes) if nodes else Const(0.0)


def minimum(*items: Operand) -> Extreme:
    """Element-wise smallest."""
    return Extreme("min", tuple(node(item) for item in items))


def maximum(*items: Operand) -> Extreme:
    """Element-wise largest."""
    return Extreme("max", tuple(node(item) for item in items))


def flag(left: Operand, comparison: str, right: Operand) -> Flag:
    """1 where ``left comparison right`` holds; the comparison is one of ``< <= = >= >``."""
    if comparison not in COMPARISONS:
        raise ValueError(f"no comparison {comparison!r}")
    return Flag(node(left), comparison, node(right))


def round_up(item: Operand) -> RoundUp:
    """Next whole number."""
    return RoundUp(node(item))


def prev(line: Keyed | str, initial: Operand = 0.0) -> Prev:
    """Last month's value."""
    return Prev(ref(line), node(initial))


def cumsum(line: Keyed | str) -> CumSum:
    """Running total."""
    return CumSum(ref(line))


def rolling_max(line: Keyed | str, months: int) -> RollingMax:
    """Largest of the last ``months`` months, this one among them."""
    if months < 1:
        raise ValueError(f"the largest of {months} months")
    return RollingMax(ref(line), months)


def lookup(table: Keyed | str, index: Operand) -> Lookup:
    """Entry of a table, from 1."""
    return Lookup(ref(table), node(index))


def sum_months(line: Keyed | str) -> SumMonths:
    """Total over the whole timeline."""
    return SumMonths(ref(line))


def sum_year(line: Keyed | str, *, first: int, months: int = 12) -> SumYear:
    """Total of twelve months from month ``first`` on; months past the timeline count as zero."""
    if first < 0 or months < 1:
        raise ValueError(f"the total of {months} months from month {first} on")
    return SumYear(ref(line), first, months)


def npv(rate: Operand, line: Keyed | str) -> Npv:
    """Present value at a rate per month."""
    return Npv(node(rate), ref(line))


def xnpv(rate: Operand, line: Keyed | str, dates: Keyed | str) -> Xnpv:
    """Present value at a yearly rate, by dates."""
    return Xnpv(node(rate), ref(line), ref(dates))


def irr(line: Keyed | str) -> Irr:
    """Internal rate of return per month."""
    return Irr(ref(line))


def xirr(line: Keyed | str, dates: Keyed | str) -> Xirr:
    """Internal rate of return per year, by dates."""
    return Xirr(ref(line), ref(dates))


def mirr(line: Keyed | str, finance_rate: Operand, reinvest_rate: Operand) -> Mirr:
    """Modified internal rate of return per month."""
    return Mirr(ref(line), node(finance_rate), node(reinvest_rate))


def pmt(rate: Operand, periods: Operand, present: Operand) -> Pmt:
    """Level payment of a loan."""
    return Pmt(node(rate), node(periods), node(present))


DECIMALS = 6
"""How many decimals decide whether a count is whole: more than floating point leaves at a billion."""

COMPARISONS = ("<", "<=", "=", ">=", ">")


_BELOW: Final[Mapping[type[Expr], Callable[[Any], tuple[Expr, ...]]]] = {
    Binary: attrgetter("left", "right"),
    Extreme: attrgetter("items"),
    Flag: attrgetter("left", "right"),
    RoundUp: lambda expr: (expr.item,),
    Prev: attrgetter("line", "initial"),
    Lookup: attrgetter("table", "index"),
    **dict.fromkeys((CumSum, RollingMax, SumMonths, SumYear, Irr), lambda expr: (expr.line,)),
    Npv: attrgetter("rate", "line"),
    Xnpv: attrgetter("rate", "line", "dates"),
    Xirr: attrgetter("line", "dates"),
    Mirr: attrgetter("line", "finance_rate", "reinvest_rate"),
    Pmt: attrgetter("rate", "periods", "present"),
}
"""What stands below each kind of node; the others have nothing below them."""


def children(expr: Expr) -> tuple[Expr, ...]:
    """Nodes directly below one, in order of appearance."""
    below = _BELOW.get(type(expr))
    return () if below is None else below(expr)


def references(expr: Expr, *, lagged: bool | None = None) -> Iterator[str]:
    """Keys an expression reads, from left to right.

    Args:
        expr: The expression.
        lagged: True for last month's values only, False for all others, None for both.
    """
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Ref):
            if lagged is not True:
                yield one.key
        elif isinstance(one, Prev):
            if lagged is not False:
                yield one.line.key
            waiting.append(one.initial)
        else:
            waiting += reversed(children(one))
