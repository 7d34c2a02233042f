"""Lines and the ledger that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Union

import numpy as np

from planner.arrays import Floats
from planner.errors import Problem, ScenarioError, nearest
from planner.ledger.nodes import Expr, Operand, node, references
from planner.sourced import Basis, Source


class Axis(StrEnum):
    """Shape of a line's values: ``(n,)``, ``(n, months)`` or ``(n, entries)``."""

    SCALAR = "scalar"
    MONTH = "month"
    TABLE = "table"


class Kind(StrEnum):
    """Where a line's value comes from."""

    GIVEN = "given"
    COMPUTED = "computed"
    DERIVED = "derived"


class Sign(StrEnum):
    """What a larger value means for the payer; cash-flow lines are CASH, in positive."""

    NONE = "none"
    COST = "cost"
    CASH = "cash"


@dataclass(frozen=True, slots=True, eq=False)
class Line(Expr):
    """One number, or one series, that a report can show.

    Attributes:
        key: Stable name, such as ``capex.optics_usd``.
        label: What a person reads.
        unit: Unit as shown, ``1`` for a plain count or ratio.
        axis: Scalar, series over months, or table.
        kind: Given, computed or derived.
        sign: Cost, cash flow or neither.
        source: Where a given line comes from.
        low: P10 of a given line, if its source has a range.
        high: P90 of it.
        expression: Formula of a derived line.
        function: Dotted name of the model function of a computed line.
        inputs: Keys a computed line was computed from.
        note: How it was computed, in a sentence.
    """

    key: str
    label: str
    unit: str
    axis: Axis
    kind: Kind
    sign: Sign = Sign.NONE
    source: Source | None = None
    low: float | None = None
    high: float | None = None
    expression: Expr | None = None
    function: str = ""
    inputs: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Override:
    """A value a user types over a given or computed line, with the reason."""

    value: float
    unit: str
    reason: str
    where: str


Value = Union[float, int, Sequence[float], Floats]


class Ledger:
    """Lines in the order in which they were entered.

    Args:
        months: Length of the time axis, month 0 included.
        overrides: Values that replace given or computed lines.
        draws: Arrays of shape (n,) that replace given lines, for sweeps and draws; a series takes
            the same value in every month, or an array of shape (n, months).
    """

    def __init__(
        self,
        *,
        months: int,
        overrides: Mapping[str, Override] | None = None,
        draws: Mapping[str, Floats] | None = None,
    ) -> None:
        self.months = months
        self.overrides = dict(overrides or {})
        self.draws = dict(draws or {})
        sizes = {array.shape[0] for array in self.draws.values()}
        if len(sizes) > 1:
            raise ValueError(f"draws of several sizes: {sorted(sizes)}")
        self.n = sizes.pop() if sizes else 1
        self.lines: dict[str, Line] = {}
        self.values: dict[str, Floats] = {}
        self._inputs: dict[str, tuple[Line, tuple[str, ...]]] = {}

    def __getitem__(self, key: str) -> Line:
        return self.lines[key]

    def __contains__(self, key: str) -> bool:
        return key in self.lines

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines.values())

    def given(
        self,
        key: str,
        label: str,
        unit: str,
        value: Value,
        source: Source,
        *,
        low: float | None = None,
        high: float | None = None,
        axis: Axis = Axis.SCALAR,
        sign: Sign = Sign.NONE,
    ) -> Line:
        """Enter a value from the catalog or the scenario."""
        array = self._array(value, axis)
        if key in self.draws:
            array = self._spread(self.draws[key], axis)
        line = Line(key, label, unit, axis, Kind.GIVEN, sign, source=source, low=low, high=high)
        return self._enter(line, array)

    def compute(
        self,
        key: str,
        label: str,
        unit: str,
        value: Value,
        *,
        function: Callable[..., Any],
        inputs: Iterable[Line | str] = (),
        axis: Axis = Axis.SCALAR,
        sign: Sign = Sign.NONE,
        note: str = "",
    ) -> Line:
        """Enter a model function's result, with the lines it was computed from."""
        keys = tuple(item if isinstance(item, str) else item.key for item in inputs)
        missing = [key for key in keys if key not in self.lines]
        assert not missing, f"{key} names inputs that are not in the ledger: {missing}"
        name = f"{function.__module__}.{function.__qualname__}"
        line = Line(key, label, unit, axis, Kind.COMPUTED, sign, function=name, inputs=keys, note=note)
        return self._enter(line, self._array(value, axis))

    def derive(
        self,
        key: str,
        label: str,
        unit: str,
        expression: Operand,
        *,
        axis: Axis | None = None,
        sign: Sign = Sign.NONE,
        note: str = "",
    ) -> Line:
        """Enter a formula over other lines.

        Args:
            axis: Needed only where the formula reads lines that come later.
        """
        from planner.ledger.solve import axis_of

        expr = node(expression)
        line = Line(
            key, label, unit, axis or axis_of(expr, self.lines), Kind.DERIVED, sign,
            expression=expr, note=note,
        )  # fmt: skip
        if key in self.overrides:
            raise ScenarioError(
                Problem(
                    f"'{key}' is a formula, and only given and computed lines take an override",
                    key=f"overrides.{key}",
                    remedy=f"override what it reads: {', '.join(dict.fromkeys(references(expr)))}",
                )
            )
        return self._enter(line, None)

    def value(self, key: str | Line) -> Floats:
        """Values of a line; formulas are worked out on first use.

        Returns:
            Shape (n,), (n, months) or (n, entries) by the line's axis.

        Raises:
            KeyError: No such line.
            ValueError: Lines refer to each other in a circle without `prev`.
        """
        name = key if isinstance(key, str) else key.key
        if name not in self.values:
            from planner.ledger.solve import solve

            solve(self, [name])
        return self.values[name]

    def scalar(self, key: str | Line, index: int = 0) -> float:
        """One value of a scalar line."""
        return float(self.value(key)[index])

    def solve(self) -> None:
        """Work out every formula."""
        from planner.ledger.solve import solve

        solve(self, self.lines)

    def inputs_of(self, key: str) -> tuple[str, ...]:
        """Keys a line is made from, in order, each once."""
        line = self.lines[key]
        known = self._inputs.get(key)
        if known is not None and known[0] is line:
            return known[1]
        found = line.inputs if line.expression is None else tuple(references(line.expression))
        self._inputs[key] = line, tuple(dict.fromkeys(found))
        return self._inputs[key][1]

    def locked(self) -> frozenset[str]:
        """Keys of given lines that a computed line rests on, if only through formulas.

        Changing one of them needs a new run.
        """
        waiting = [key for line in self if line.kind is Kind.COMPUTED for key in line.inputs]
        seen: set[str] = set()
        while waiting:
            key = waiting.pop()
            if key not in seen:
                seen.add(key)
                waiting += self.inputs_of(key)
        return frozenset(key for key in seen if self.lines[key].kind is Kind.GIVEN)

    def refuse_unused_overrides(self) -> None:
        """Say which overrides name no line.

        Raises:
            ScenarioError: One problem for each of them, with the nearest keys.
        """
        unused = [key for key in self.overrides if key not in self.lines]
        if unused:
            raise ScenarioError(
                Problem(
                    f"no ledger line '{key}'",
                    key=f"overrides.{key}",
                    remedy=nearest(key, self.lines) or "planner explain lists the keys",
                )
                for key in unused
            )

    def _array(self, value: Value, axis: Axis) -> Floats:
        array = np.asarray(value, dtype=np.float64)
        if axis is Axis.SCALAR:
            shape: tuple[int, ...] = (self.n,)
        else:
            shape = (self.n, self.months if axis is Axis.MONTH else array.shape[-1])
        if array.size != 1 or shape != (1,) or array.ndim > 1:
            return np.broadcast_to(array, shape)
        # one number of a single plan, as most are: spreading it out takes ten times as long
        found = array.reshape(1)
        found.flags.writeable = False
        return found

    def _spread(self, array: Floats, axis: Axis) -> Floats:
        """One value for each member, over the months of a series."""
        if axis is Axis.MONTH and array.ndim == 1:
            return np.broadcast_to(array[:, None], (self.n, self.months))
        return array

    def _enter(self, line: Line, array: Floats | None) -> Line:
        assert line.key not in self.lines, f"line {line.key} is entered twice"
        override = self.overrides.get(line.key)
        if override is not None:
            if override.unit != line.unit:
                raise ScenarioError(
                    Problem(
                        f"'{line.key}' is in '{line.unit}', and the override says '{override.unit}'",
                        key=f"overrides.{line.key}.unit",
                    )
                )
            if line.axis is Axis.TABLE:
                raise ScenarioError(
                    Problem(
                        f"'{line.key}' is a table, and an override is one number",
                        key=f"overrides.{line.key}",
                    )
                )
            source = Source(override.where, basis=Basis.USER, note=override.reason)
            line = Line(line.key, line.label, line.unit, line.axis, Kind.GIVEN, line.sign, source=source)
            array = self._spread(self._array(override.value, Axis.SCALAR), line.axis)
        self.lines[line.key] = line
        if array is not None:
            self.values[line.key] = array
        return line
