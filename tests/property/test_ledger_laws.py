"""Laws of the ledger over random formulas."""

from __future__ import annotations

import operator as op
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from planner.arrays import Floats
from planner.ledger import Axis, Ledger
from planner.ledger.excel import formula, number
from planner.ledger.nodes import (
    COMPARISONS,
    Binary,
    Const,
    Expr,
    Ref,
    cumsum,
    flag,
    lookup,
    maximum,
    minimum,
    npv,
    pmt,
    prev,
    ref,
    rolling_max,
    round_up,
    sum_months,
    sum_year,
)
from planner.ledger.words import words
from planner.sourced import Source

MONTHS = 6
SOURCE = Source("test")
SCALARS, SERIES = ("a", "b"), ("s", "u")
amounts = st.floats(-1e3, 1e3).map(lambda value: round(value, 2))


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner),
        st.builds(lambda item: -item, inner),
        st.builds(minimum, inner, inner),
        st.builds(lambda left, right: maximum(left, 0, right), inner, inner),
        st.builds(flag, inner, st.sampled_from(COMPARISONS), inner),
        st.builds(round_up, inner),
        st.builds(lambda item: lookup("t", flag(item, ">", 0) + 1), inner),
        st.builds(lambda item: pmt(0.01, 12, item), inner),
    )


def leaves(*, months: bool) -> st.SearchStrategy[Expr]:
    series = st.sampled_from(SERIES)
    found: list[st.SearchStrategy[Expr]] = [
        st.builds(Const, amounts),
        st.sampled_from(SCALARS).map(ref),
        st.builds(sum_months, series),
        series.map(lambda key: sum_year(key, first=1, months=3)),
        series.map(lambda key: npv(0.01, key)),
    ]
    if months:
        found += [
            series.map(ref),
            st.builds(prev, series, amounts),
            st.builds(cumsum, series),
            st.builds(rolling_max, series, st.integers(1, 8)),
        ]
    return st.one_of(found)


formulas = st.recursive(leaves(months=True), _grow, max_leaves=12)
scalar_formulas = st.recursive(leaves(months=False), _grow, max_leaves=8)
row = st.lists(amounts, min_size=MONTHS, max_size=MONTHS)
members = st.lists(st.fixed_dictionaries({"a": amounts, "s": row}), min_size=2, max_size=4)


def filled(draws: dict[str, Floats] | None = None, **values: Any) -> Ledger:
    ledger = Ledger(months=MONTHS, draws=draws)
    ledger.given("a", "Alpha", "1", values.get("a", 3.5), SOURCE)
    ledger.given("b", "Beta", "1", values.get("b", -2.0), SOURCE)
    ledger.given(
        "s", "Sigma", "1", values.get("s", [1.5, -20.0, 300.0, 0.0, 7.0, -1.0]), SOURCE, axis=Axis.MONTH
    )
    ledger.given(
        "u", "Ypsilon", "1", values.get("u", [2.0, 3.0, 0.5, 4.0, 1.0, 9.0]), SOURCE, axis=Axis.MONTH
    )
    ledger.given("t", "Table", "1", [10.0, 20.0], SOURCE, axis=Axis.TABLE)
    return ledger


@given(expression=formulas)
def test_whole_series_and_month_by_month_come_to_the_same(expression: Expr) -> None:
    """A line that reads its own last month, times zero, goes through the months one at a time."""
    ledger = filled()
    whole = ledger.derive("whole", "Whole", "1", expression, axis=Axis.MONTH)
    ledger.derive("last", "Last", "1", flag(prev("single"), ">", 0) * 0, axis=Axis.MONTH)
    ledger.derive("single", "Single", "1", ref("last") + expression, axis=Axis.MONTH)
    np.testing.assert_array_equal(ledger.value("single"), ledger.value(whole))


@given(expression=st.one_of(formulas, scalar_formulas), batch=members)
def test_a_batch_equals_its_members(expression: Expr, batch: list[dict[str, Any]]) -> None:
    draws = {key: np.array([member[key] for member in batch]) for key in ("a", "s")}
    together = filled(draws)
    together.derive("x", "X", "1", expression)
    together.derive("y", "Y", "1", prev("y", 1) * 0.5 + ref("x"))
    for at, member in enumerate(batch):
        alone = filled(**member)
        alone.derive("x", "X", "1", expression)
        alone.derive("y", "Y", "1", prev("y", 1) * 0.5 + ref("x"))
        for key in ("x", "y"):
            np.testing.assert_allclose(
                together.value(key)[at], alone.value(key)[0], rtol=1e-12, atol=1e-12, equal_nan=True
            )


@given(price=st.floats(1.0, 1e6), counts=row)
def test_doubling_a_price_doubles_its_line_and_its_totals(price: float, counts: list[float]) -> None:
    def cost(usd: float) -> Ledger:
        ledger = filled(a=usd, s=counts)
        line = ledger.derive("cost", "Cost", "USD", ref("a") * ref("s"))
        ledger.derive("total", "Total", "USD", sum_months(line))
        ledger.derive("value", "Value", "USD", npv(0.01, line))
        ledger.derive("so_far", "So far", "USD", cumsum(line))
        return ledger

    once, twice = cost(price), cost(2 * price)
    for key in ("cost", "total", "value", "so_far"):
        np.testing.assert_array_equal(twice.value(key), 2 * once.value(key))


class _Names:
    months = MONTHS

    def at(self, key: str, month: int | None) -> str:
        return key

    def span(self, key: str, first: int, last: int, *, fixed_start: bool = False) -> str:
        raise NotImplementedError

    def table(self, key: str) -> str:
        raise NotImplementedError

    def before(self, key: str, month: int, initial: str) -> str:
        raise NotImplementedError

    def window(self, key: str, month: int, months: int) -> str:
        raise NotImplementedError

    def constant(self, value: float) -> str:
        return number(value)


def _exact(expr: Expr, values: dict[str, Fraction]) -> Fraction:
    match expr:
        case Const(value):
            return Fraction(value)
        case Ref(key):
            return values[key]
        case Binary(operator, left, right):
            return _EXACT[operator](_exact(left, values), _exact(right, values))
        case _:
            raise AssertionError(expr)


_EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv, "^": op.pow,
}  # fmt: skip
arithmetic = st.recursive(
    st.one_of(st.sampled_from("abc").map(ref), st.integers(-3, 3).map(lambda value: Const(float(value)))),
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner),
        st.builds(lambda item: -item, inner),
        st.builds(lambda item, power: item**power, inner, st.sampled_from([2, 3, -1])),
    ),
    max_leaves=10,
)


@given(expression=arithmetic)
@example(expression=-(ref("a") ** 2 * ref("b")))
def test_brackets_keep_the_meaning_of_a_formula(expression: Expr) -> None:
    """The formula's text, read by Python in exact fractions, comes to what the tree means.

    Python reads a bare -a^2 otherwise than Excel does, so such a text must not occur at all.
    """
    values = {"a": Fraction(7), "b": Fraction(-5, 3), "c": Fraction(11, 13)}
    text = formula(expression, _Names())[1:]
    assert not re.search(r"(^|[(])-[\w.]+\^", text)
    try:
        expected = _exact(expression, values)
    except ZeroDivisionError:
        return
    python = re.sub(r"\d+", r"F(\g<0>)", text).replace("^", "**")
    # Sums and products are exact, so leaving out brackets that change nothing changes nothing.
    try:
        found = eval(python, {"__builtins__": {}, "F": Fraction, **values})
    except ZeroDivisionError:
        return
    assert found == expected


@given(expression=st.one_of(formulas, scalar_formulas))
def test_words_name_every_line_that_is_read(expression: Expr) -> None:
    ledger = filled()
    line = ledger.derive("x", "X", "1", expression)
    sentence = words(line, ledger.lines).lower()
    assert sentence.count("(") == sentence.count(")")
    for key in ledger.inputs_of("x"):
        assert ledger[key].label.lower() in sentence
