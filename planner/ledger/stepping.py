"""Works out lines that refer to each other through `prev`, month after month.

What doesn't hang on the lines themselves is worked out for all months at once beforehand. The rest is turned into
functions of the month: of plain numbers where all members agree, else of arrays over the members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.arrays import Floats
from planner.ledger.nodes import (
    Binary,
    CumSum,
    Expr,
    Extreme,
    Flag,
    Lookup,
    Pmt,
    Prev,
    Ref,
    RollingMax,
    RoundUp,
    children,
    references,
)

Step = Callable[[int], Any]
"""Value of a node in a month; called for every month once, in order."""


@dataclass(frozen=True, slots=True)
class Whole:
    """How nodes are worked out over arrays.

    Attributes:
        series: Values of a node that hangs on none of the lines, over all months at once.
        binary: Of an operator and two arrays.
        extreme: Of min or max and several arrays.
        flag: Of a comparison and two arrays.
        round_up: Of an array.
        look_up: Of a table, an index and the table's key.
        payment: Of rate, periods and what is lent.
        table: Values of a table.
    """

    series: Callable[[Expr], Floats]
    binary: Callable[[str, Floats, Floats], Floats]
    extreme: Callable[[str, Sequence[Floats]], Floats]
    flag: Callable[[str, Floats, Floats], Floats]
    round_up: Callable[[Floats], Floats]
    look_up: Callable[[Floats, Floats, str], Floats]
    payment: Callable[..., Floats]
    table: Callable[[str], Floats]


def step_through(
    expressions: Mapping[str, Expr], whole: Whole, *, months: int, rows: int
) -> dict[str, Floats]:
    """Values of lines that read each other.

    Args:
        expressions: Formulas by key, each after those that it reads in the same month.
        whole: How nodes are worked out.
        months: Length of the time axis.
        rows: Members; 1 where all agree.

    Returns:
        Shape (rows, months) by key.
    """
    columns: dict[str, list[Any]] = {key: [] for key in expressions}
    builder = _Builder(columns, whole, months, single=rows == 1)
    steps = [(columns[key], builder.step(expression)) for key, expression in expressions.items()]
    with np.errstate(divide="ignore", invalid="ignore"):
        for month in range(months):
            for column, step in steps:
                column.append(step(month))
    if rows == 1:
        return {key: np.array([column], dtype=np.float64) for key, column in columns.items()}
    return {
        key: np.stack([np.broadcast_to(one, (rows,)) for one in column], axis=1)
        for key, column in columns.items()
    }


class _Builder:
    """Turns nodes into functions of the month."""

    def __init__(self, columns: dict[str, list[Any]], whole: Whole, months: int, *, single: bool) -> None:
        self.columns, self.whole, self.months, self.single = columns, whole, months, single
        self.own = frozenset(columns)

    def step(self, expr: Expr) -> Step:
        """The function of one node."""
        if not self.own.intersection(references(expr)):
            return self._known(self.whole.series(expr))
        match expr:
            case Ref(key):
                column = self.columns[key]
                return lambda month: column[month]
            case Prev(line, initial):
                return (
                    self._last_month(self.columns[line.key], self.step(initial))
                    if (line.key in self.own)
                    else self._after(self.whole.series(line), self.step(initial))
                )
            case Binary(operator, left, right):
                return self._binary(operator, self.step(left), self.step(right))
            case Extreme(which, items):
                return self._extreme(which, [self.step(item) for item in items])
            case Flag(left, comparison, right):
                return self._pair(self.whole.flag, comparison, self.step(left), self.step(right))
            case CumSum(line):
                return self._running(self.columns[line.key])
            case RollingMax(line, window):
                return self._highest(self.columns[line.key], window)
            case _:
                return self._rare(expr)

    def _known(self, values: Floats) -> Step:
        """Values that are known for all months: (rows,) or (rows, months)."""
        if values.ndim == 1:
            fixed = float(values[0]) if self.single else values
            return lambda _: fixed
        series: Any = values[0].tolist() if self.single else np.ascontiguousarray(values.T)
        return lambda month: series[month]

    def _after(self, values: Floats, initial: Step) -> Step:
        """Last month's value of a line that is known."""
        known = self._known(values)
        return lambda month: initial(month) if month == 0 else known(month - 1)

    def _last_month(self, column: list[Any], initial: Step) -> Step:
        return lambda month: initial(month) if month == 0 else column[month - 1]

    def _binary(self, operator: str, left: Step, right: Step) -> Step:
        if self.single and operator == "+":
            return lambda month: left(month) + right(month)
        if self.single and operator == "-":
            return lambda month: left(month) - right(month)
        if self.single and operator == "*":
            return lambda month: left(month) * right(month)
        return self._pair(self.whole.binary, operator, left, right)

    def _pair(self, function: Callable[..., Floats], name: str, left: Step, right: Step) -> Step:
        if not self.single:
            return lambda month: function(name, left(month), right(month))
        return lambda month: float(function(name, np.array(left(month)), np.array(right(month))))

    def _extreme(self, which: str, items: list[Step]) -> Step:
        if not self.single:
            return lambda month: self.whole.extreme(which, [item(month) for item in items])
        pick = min if which == "min" else max

        def chosen(month: int) -> float:
            values = [item(month) for item in items]
            return math.nan if any(map(math.isnan, values)) else pick(values)

        return chosen

    def _running(self, column: list[Any]) -> Step:
        total: list[Any] = [0.0]

        def so_far(month: int) -> Any:
            total[0] = column[month] if month == 0 else total[0] + column[month]
            return total[0]

        return so_far

    def _highest(self, column: list[Any], window: int) -> Step:
        def highest(month: int) -> Any:
            values = column[max(0, month + 1 - window) : month + 1]
            return max(values) if self.single else np.max(np.stack(np.broadcast_arrays(*values)), axis=0)

        return highest

    def _rare(self, expr: Expr) -> Step:
        """Nodes that seldom stand in such lines: worked out over arrays."""
        whole = self.whole
        below = [self.step(child) for child in children(expr)[1 if isinstance(expr, Lookup) else 0 :]]
        match expr:
            case RoundUp():
                function: Callable[..., Floats] = whole.round_up
            case Pmt():
                function = whole.payment
            case Lookup(table, _):
                entries, key = whole.table(table.key), table.key

                def function(index: Floats) -> Floats:
                    return whole.look_up(entries, index, key)

            case _:
                raise AssertionError(f"a node reads a whole series of its own lines: {type(expr).__name__}")
        if not self.single:
            return lambda month: function(*(step(month) for step in below))
        return lambda month: float(function(*(np.array([step(month)]) for step in below))[0])
