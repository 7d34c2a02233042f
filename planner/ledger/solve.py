"""Works out the formulas of a ledger with numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np

from planner.arrays import Floats
from planner.ledger import rates
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
    children,
    references,
)  # fmt: skip
from planner.ledger.stepping import Whole, step_through

if TYPE_CHECKING:
    from planner.ledger.lines import Axis, Ledger, Line

_AGGREGATES = (SumMonths, SumYear, Npv, Xnpv, Irr, Xirr, Mirr)
_OPERATORS: dict[str, Callable[..., Floats]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power,
}  # fmt: skip
_SAME = 2.0**-48
"""Relative difference under which office programs hold two numbers equal."""


def axis_of(expr: Expr, lines: Mapping[str, Line]) -> Axis:
    """Month for anything that reads a series element by element, else scalar.

    Raises:
        KeyError: A line that is not entered yet; say the axis of such a formula.
        ValueError: A table read other than by `lookup`.
    """
    from planner.ledger.lines import Axis

    if isinstance(expr, Ref):
        if lines[expr.key].axis is Axis.TABLE:
            raise ValueError(f"table {expr.key} is read without lookup")
        return lines[expr.key].axis
    if isinstance(expr, (Prev, CumSum, RollingMax)):
        return Axis.MONTH
    if isinstance(expr, _AGGREGATES):
        return Axis.SCALAR
    for child in children(expr)[1:] if isinstance(expr, Lookup) else children(expr):
        if axis_of(child, lines) is Axis.MONTH:
            return Axis.MONTH
    return Axis.SCALAR


def solve(ledger: Ledger, keys: Iterable[str]) -> None:
    """Fill in the values of the keys and of all they read.

    Lines that refer to each other through `prev` are worked out month by month together.

    Raises:
        KeyError: A formula reads a line that does not exist.
        ValueError: A circle without `prev`.
    """
    with quietly():
        for group in in_order(ledger, keys):
            work_out(ledger, group)


def quietly() -> np.errstate:
    """Divisions by zero and the like give what has no number, and no warning."""
    return np.errstate(divide="ignore", invalid="ignore")


def work_out(ledger: Ledger, group: list[str]) -> None:
    """Fill in one line, or several that refer to each other through `prev`; all they read is there.

    Called within `quietly`.
    """
    if len(group) == 1 and group[0] not in ledger.inputs_of(group[0]):
        line = ledger.lines[group[0]]
        assert line.expression is not None
        ledger.values[line.key] = _shaped(ledger, line, _evaluate(line.expression, ledger))
    else:
        _by_month(ledger, group)


def evaluate(expr: Expr, ledger: Ledger) -> Floats:
    """Values of an expression: (n,), or (n, months) where it reads a series; a row of 1 where all n are the same."""
    with quietly():
        return _evaluate(expr, ledger)


def _evaluate(expr: Expr, ledger: Ledger) -> Floats:
    # nearly all nodes are of these three kinds, and a pattern takes longer to match than a sum to work out
    if isinstance(expr, Binary):
        left, right = _evaluate(expr.left, ledger), _evaluate(expr.right, ledger)
        return _OPERATORS[expr.operator](*(_pair(left, right) if left.ndim != right.ndim else (left, right)))
    if isinstance(expr, Ref):
        return _once(ledger.values[expr.key])
    return _constant(expr.value) if isinstance(expr, Const) else _seldom(expr, ledger)


def _seldom(expr: Expr, ledger: Ledger) -> Floats:
    values = ledger.values
    match expr:
        case Extreme(which, items):
            return _extreme(which, _aligned(*(_evaluate(item, ledger) for item in items)))
        case Flag(left, comparison, right):
            return _flag(comparison, *_pair(_evaluate(left, ledger), _evaluate(right, ledger)))
        case RoundUp(item):
            return _round_up(_evaluate(item, ledger))
        case Prev(line, initial):
            first, series = _evaluate(initial, ledger), _once(values[line.key])
            rows = max(len(first), len(series))
            return np.concatenate(
                [
                    np.broadcast_to(first, (rows,))[:, None],
                    np.broadcast_to(series[:, :-1], (rows, series.shape[1] - 1)),
                ],
                axis=1,
            )
        case CumSum(line):
            return np.cumsum(_once(values[line.key]), axis=1)
        case RollingMax(line, months):
            return _rolling_max(_once(values[line.key]), months)
        case Lookup(table, index):
            return _look_up(_once(values[table.key]), _evaluate(index, ledger), table.key)
        case Pmt():
            return _payment(*_aligned(*(_evaluate(child, ledger) for child in children(expr))))
        case _:
            return _aggregate(expr, ledger)


def _aggregate(expr: Expr, ledger: Ledger) -> Floats:
    months = np.arange(ledger.months, dtype=np.float64)

    def series(line: Ref) -> Floats:
        return _once(ledger.values[line.key])

    match expr:
        case SumMonths(line):
            return np.asarray(series(line).sum(axis=1))
        case SumYear(line, first, count):
            return np.asarray(series(line)[:, first : first + count].sum(axis=1))
        case Npv(rate, line):
            return rates.present_value(rate=_evaluate(rate, ledger), flows=series(line), periods=months)
        case Xnpv(rate, line, dates):
            return rates.present_value(
                rate=_evaluate(rate, ledger), flows=series(line), periods=_years(series(dates))
            )
        case Irr(line):
            return rates.internal_rate(flows=series(line), periods=months)
        case Xirr(line, dates):
            return rates.internal_rate(flows=series(line), periods=_years(series(dates)))
        case Mirr(line, finance_rate, reinvest_rate):
            return rates.modified_rate(
                flows=series(line),
                finance_rate=_evaluate(finance_rate, ledger),
                reinvest_rate=_evaluate(reinvest_rate, ledger),
            )
        case _:
            raise AssertionError(f"unknown node {type(expr).__name__}")


@lru_cache(maxsize=1024)
def _constant(value: float) -> Floats:
    """A number as an array of one; never written to."""
    found = np.full(1, value)
    found.flags.writeable = False
    return found


def _once(array: Floats) -> Floats:
    """The one row of an array that repeats it: what no draw touches is worked out once, not n times."""
    return array[:1] if len(array) > 1 and array.strides[0] == 0 else array


def _years(dates: Floats) -> Floats:
    return (dates - dates[:, :1]) / 365.0


def _aligned(*arrays: Floats) -> list[Floats]:
    """Scalars among series get an axis to broadcast over the months."""
    deepest = max(array.ndim for array in arrays)
    return [array[:, None] if array.ndim < deepest else array for array in arrays]


def _pair(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The same of two."""
    if left.ndim == right.ndim:
        return left, right
    return (left[:, None], right) if left.ndim < right.ndim else (left, right[:, None])


def _binary(operator: str, left: Floats, right: Floats) -> Floats:
    return _OPERATORS[operator](left, right)


def _extreme(which: str, arrays: Iterable[Floats]) -> Floats:
    pick: Callable[..., Floats] = np.minimum if which == "min" else np.maximum
    found: Floats = reduce(pick, arrays)
    return found


def _flag(comparison: str, left: Floats, right: Floats) -> Floats:
    near = np.abs(left - right) <= _SAME * np.minimum(np.abs(left), np.abs(right))
    same = near | (left == right)
    holds = same if "=" in comparison else np.zeros_like(same)
    if "<" in comparison:
        holds = holds | (left < right) & ~same
    if ">" in comparison:
        holds = holds | (left > right) & ~same
    return np.where(holds, 1.0, 0.0)


def _payment(rate: Floats, periods: Floats, present: Floats) -> Floats:
    return rates.payment(rate=rate, periods=periods, present=present)


def _round_up(values: Floats) -> Floats:
    near = np.round(values, DECIMALS)
    return np.copysign(np.ceil(np.abs(near)), near)


def _rolling_max(series: Floats, months: int) -> Floats:
    found = series.copy()
    for back in range(1, min(months, series.shape[1])):
        found[:, back:] = np.maximum(found[:, back:], series[:, :-back])
    return found


def _look_up(table: Floats, index: Floats, key: str) -> Floats:
    at = index.astype(np.int64) - 1
    if at.min() < 0 or at.max() >= table.shape[1]:
        raise ValueError(f"index outside table {key}")
    if at.ndim == 1:
        return np.take_along_axis(table, at[:, None], axis=1)[:, 0]
    return np.take_along_axis(table, at, axis=1)


def _shaped(ledger: Ledger, line: Line, array: Floats) -> Floats:
    from planner.ledger.lines import Axis

    if line.axis is Axis.MONTH and array.ndim == 1:
        array = array[:, None]
    width = (ledger.n,) if line.axis is Axis.SCALAR else (ledger.n, ledger.months)
    return array if array.shape == width else np.broadcast_to(array, width)


def in_order(ledger: Ledger, keys: Iterable[str]) -> list[list[str]]:
    """Strongly connected groups of unsolved formulas, each after all it reads (Tarjan, iterative)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: dict[str, None] = {}
    groups: list[list[str]] = []
    done = ledger.values
    for start in keys:
        if start in done or start in order:
            continue
        work: list[tuple[str, list[str]]] = [(start, _unsolved(ledger, start))]
        order[start] = lowest[start] = len(order)
        open_[start] = None
        while work:
            key, rest = work[-1]
            if rest:
                child = rest.pop()
                if child not in order:
                    order[child] = lowest[child] = len(order)
                    open_[child] = None
                    work.append((child, _unsolved(ledger, child)))
                elif child in open_:
                    lowest[key] = min(lowest[key], order[child])
                continue
            work.pop()
            if work:
                parent = work[-1][0]
                lowest[parent] = min(lowest[parent], lowest[key])
            if lowest[key] == order[key]:
                group = []
                while True:
                    member, _ = open_.popitem()
                    group.append(member)
                    if member == key:
                        break
                groups.append(sorted(group, key=list(ledger.lines).index) if len(group) > 1 else group)
    return groups


def _unsolved(ledger: Ledger, key: str) -> list[str]:
    if key not in ledger.lines:
        raise KeyError(f"no ledger line '{key}'")
    return [child for child in reversed(ledger.inputs_of(key)) if child not in ledger.values]


def _by_month(ledger: Ledger, group: list[str]) -> None:
    """Work out lines that refer to each other through `prev`, all of them month after month."""
    from planner.ledger.lines import Axis

    lines = [ledger.lines[key] for key in _order_within_month(ledger, group)]
    whole = {key for line in lines for key in _read_whole(_expression(ledger, line.key))}
    if any(line.axis is not Axis.MONTH or line.key in whole for line in lines):
        raise ValueError(f"lines refer to each other in a circle: {', '.join(group)}")
    found = step_through(
        {line.key: _expression(ledger, line.key) for line in lines},
        Whole(
            lambda expr: _evaluate(expr, ledger), _binary, _extreme, _flag, _round_up, _look_up, _payment,
            lambda key: _once(ledger.values[key]),
        ),
        months=ledger.months,
        rows=_rows_needed(ledger, group),
    )  # fmt: skip
    for line in lines:
        ledger.values[line.key] = _shaped(ledger, line, found[line.key])


def _rows_needed(ledger: Ledger, group: list[str]) -> int:
    """One row where nothing that the lines read differs between members."""
    read = {key for member in group for key in ledger.inputs_of(member)} - set(group)
    return max((len(_once(ledger.values[key])) for key in read), default=1)


def _order_within_month(ledger: Ledger, group: list[str]) -> list[str]:
    waiting = {
        key: {read for read in references(_expression(ledger, key), lagged=False) if read in group}
        for key in group
    }
    ordered: list[str] = []
    while waiting:
        ready = [key for key, reads in waiting.items() if not reads - set(ordered)]
        if not ready:
            raise ValueError(f"lines refer to each other in a circle: {', '.join(waiting)}")
        ordered += ready
        for key in ready:
            del waiting[key]
    return ordered


def _read_whole(expr: Expr) -> Iterator[str]:
    """Keys whose whole series must be known before the first month."""
    if isinstance(expr, _AGGREGATES):
        yield from references(expr)
        return
    for child in children(expr):
        yield from _read_whole(child)


def _expression(ledger: Ledger, key: str) -> Expr:
    expression = ledger.lines[key].expression
    assert expression is not None
    return expression
