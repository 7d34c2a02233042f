"""Axes, order and circles of formulas."""

from __future__ import annotations

import numpy as np
import pytest

from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import (
    Operand,
    cumsum,
    flag,
    irr,
    lookup,
    maximum,
    npv,
    pmt,
    prev,
    ref,
    rolling_max,
    round_up,
    sum_months,
    sum_year,
    xnpv,
)
from planner.sourced import Source

SOURCE = Source("test")


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger(months=3)
    made.given("a", "A", "1", 2.0, SOURCE)
    made.given("s", "S", "1", [1.0, -4.0, 9.0], SOURCE, axis=Axis.MONTH)
    made.given("t", "T", "1", [10.0, 20.0], SOURCE, axis=Axis.TABLE)
    return made


def derived(ledger: Ledger, expression: Operand, key: str = "x") -> Line:
    return ledger.derive(key, key.upper(), "1", expression)


@pytest.mark.parametrize(
    ("expression", "axis"),
    [
        (5, Axis.SCALAR),
        (ref("a"), Axis.SCALAR),
        (ref("s"), Axis.MONTH),
        (ref("a") + ref("s"), Axis.MONTH),
        (maximum(1, ref("a"), ref("s")), Axis.MONTH),
        (flag(ref("a"), ">", 1), Axis.SCALAR),
        (flag(ref("a"), ">", ref("s")), Axis.MONTH),
        (round_up(ref("s")), Axis.MONTH),
        (prev("s"), Axis.MONTH),
        (cumsum("s") * 2, Axis.MONTH),
        (rolling_max("s", 2), Axis.MONTH),
        (lookup("t", 1), Axis.SCALAR),
        (lookup("t", ref("s")), Axis.MONTH),
        (sum_months("s"), Axis.SCALAR),
        (sum_year("s", first=0), Axis.SCALAR),
        (npv(ref("a"), "s"), Axis.SCALAR),
        (xnpv(ref("a"), "s", "s"), Axis.SCALAR),
        (irr("s"), Axis.SCALAR),
        (ref("s") / sum_months("s"), Axis.MONTH),
        (pmt(ref("a"), 3, 1), Axis.SCALAR),
        (pmt(ref("a"), 3, ref("s")), Axis.MONTH),
    ],
)
def test_a_formula_has_an_axis_by_what_it_reads(ledger: Ledger, expression: Operand, axis: Axis) -> None:
    assert derived(ledger, expression).axis is axis


@pytest.mark.parametrize("expression", [ref("t"), ref("t") * 2, sum_months("s") + ref("t")])
def test_a_table_is_read_by_lookup_alone(ledger: Ledger, expression: Operand) -> None:
    with pytest.raises(ValueError, match="table t is read without lookup"):
        derived(ledger, expression)


def test_a_scalar_formula_fills_a_series_that_asks_for_it(ledger: Ledger) -> None:
    ledger.derive("x", "X", "1", ref("a") * 2, axis=Axis.MONTH)
    assert ledger.value("x").tolist() == [[4.0, 4.0, 4.0]]


def test_a_formula_may_read_lines_that_come_later(ledger: Ledger) -> None:
    ledger.derive("x", "X", "1", ref("later") * 2, axis=Axis.SCALAR)
    ledger.derive("later", "Later", "1", ref("a") + 1)
    assert ledger.scalar("x") == 6.0


def test_a_later_line_needs_the_axis_said(ledger: Ledger) -> None:
    with pytest.raises(KeyError, match="later"):
        derived(ledger, ref("later") * 2)


def test_a_long_chain_of_formulas_is_no_recursion(ledger: Ledger) -> None:
    line = ledger["a"]
    for at in range(3000):
        line = derived(ledger, line + 1, f"x{at}")
    assert ledger.scalar("x2999") == 3002.0


def test_a_line_that_does_not_exist_is_named(ledger: Ledger) -> None:
    ledger.derive("x", "X", "1", ref("nowhere") * 2, axis=Axis.SCALAR)
    for key in ("x", "nowhere"):
        with pytest.raises(KeyError, match="no ledger line 'nowhere'"):
            ledger.value(key)


@pytest.mark.parametrize("axis", [Axis.SCALAR, Axis.MONTH])
def test_a_circle_without_last_month_names_its_lines(ledger: Ledger, axis: Axis) -> None:
    ledger.derive("x", "X", "1", ref("y") + 1, axis=axis)
    ledger.derive("y", "Y", "1", ref("z") * 2, axis=axis)
    ledger.derive("z", "Z", "1", ref("x") - ref("a"), axis=axis)
    with pytest.raises(ValueError, match="circle: x, y, z"):
        ledger.value("y")


def test_a_line_that_reads_itself_in_the_same_month_is_a_circle(ledger: Ledger) -> None:
    ledger.derive("x", "X", "1", ref("x") + prev("x"), axis=Axis.MONTH)
    with pytest.raises(ValueError, match="circle: x"):
        ledger.value("x")


def test_a_circle_beside_last_month_names_only_the_lines_in_it(ledger: Ledger) -> None:
    derived(ledger, prev("y"), "x")
    ledger.derive("y", "Y", "1", ref("z") + ref("x"), axis=Axis.MONTH)
    ledger.derive("z", "Z", "1", ref("y") * 2, axis=Axis.MONTH)
    with pytest.raises(ValueError, match="circle: y, z"):
        ledger.value("x")


@pytest.mark.parametrize("total", [sum_months("y"), sum_year("y", first=0), npv(0.1, "y"), irr("y")])
def test_a_total_over_a_series_that_rests_on_it_is_a_circle(ledger: Ledger, total: Operand) -> None:
    derived(ledger, prev("x"), "y")
    ledger.derive("x", "X", "1", ref("s") + total, axis=Axis.MONTH)
    with pytest.raises(ValueError, match="circle: y, x"):
        ledger.value("x")


def test_a_line_may_read_its_own_last_month(ledger: Ledger) -> None:
    derived(ledger, prev("x", 100) * ref("a"), "x")
    assert ledger.value("x").tolist() == [[200.0, 400.0, 800.0]]


def test_a_total_so_far_of_an_earlier_line_may_feed_a_circle(ledger: Ledger) -> None:
    derived(ledger, prev("paid"), "before")
    ledger.derive("paid", "Paid", "1", cumsum("s") + rolling_max("before", 2), axis=Axis.MONTH)
    assert ledger.value("paid").tolist() == [[1.0, -2.0, 7.0]]


def test_the_month_before_the_first_is_the_initial_value(ledger: Ledger) -> None:
    derived(ledger, prev("s", ref("a") * 5))
    assert ledger.value("x").tolist() == [[10.0, 1.0, -4.0]]


@pytest.mark.parametrize("index", [0, 3])
def test_an_index_outside_the_table_is_an_error(ledger: Ledger, index: int) -> None:
    derived(ledger, lookup("t", index))
    with pytest.raises(ValueError, match="index outside table t"):
        ledger.value("x")


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (2.0, 2.0),
        (2.0000001, 2.0),
        (2.00001, 3.0),
        (0.1 * 3 * 10, 3.0),
        (1e7 * 1.1, 1.1e7),
        (-1.5, -2.0),
        (0.0, 0.0),
    ],
)
def test_counts_round_up_unless_they_are_whole_up_to_rounding(value: float, whole: float) -> None:
    ledger = Ledger(months=1)
    derived(ledger, round_up(value))
    assert ledger.scalar("x") == whole


@pytest.mark.parametrize("months", [0, -1])
def test_a_window_has_a_month_at_least(months: int) -> None:
    with pytest.raises(ValueError, match="months"):
        rolling_max("s", months)
    with pytest.raises(ValueError, match="months"):
        sum_year("s", first=0, months=months)


def test_a_total_counts_months_past_the_end_as_zero(ledger: Ledger) -> None:
    derived(ledger, sum_year("s", first=2), "part")
    derived(ledger, sum_year("s", first=3), "past")
    assert (ledger.scalar("part"), ledger.scalar("past")) == (9.0, 0.0)


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="no comparison '=='"):
        flag(1, "==", 2)


def test_a_payment_pairs_scalars_with_each_month() -> None:
    """As many members as months: the axes can't be mixed up unnoticed."""
    ledger = Ledger(months=3, draws={"r": np.array([0.0, 0.1, 0.2])})
    rate = ledger.given("r", "R", "1", 0.0, SOURCE)
    lent = ledger.given("s", "S", "1", [100.0, 200.0, 300.0], SOURCE, axis=Axis.MONTH)
    derived(ledger, pmt(rate, 1, lent))
    expected = np.outer([1.0, 1.1, 1.2], [100.0, 200.0, 300.0])
    np.testing.assert_allclose(ledger.value("x"), expected, rtol=1e-12)


def test_numpy_numbers_may_stand_on_either_side(ledger: Ledger) -> None:
    derived(ledger, np.float64(3.0) * ref("a") ** np.float64(2.0) - np.float64(1.0))
    assert ledger.scalar("x") == 11.0
