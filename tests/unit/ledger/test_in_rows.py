"""A ledger solved some rows at a time says what it says solved at once."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrays import Floats
from planner.ledger import Axis, Ledger
from planner.ledger.in_rows import solve_in_rows
from planner.ledger.nodes import (
    cumsum,
    flag,
    irr,
    lookup,
    maximum,
    mirr,
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
MEMBERS, MONTHS = 23, 30
WANTED = (
    "debt_left", "value", "dated", "rate", "modified", "year", "payment", "peak", "counted", "picked", "fixed", "later",
    "fixed_debt",
)  # fmt: skip


def ledger_of(draws: dict[str, Floats]) -> Ledger:
    """Every kind of node over lines that are drawn, and over lines that aren't."""
    made = Ledger(months=MONTHS, draws=draws)
    price = made.given("price", "Price", "USD", 100.0, SOURCE)
    rate = made.given("monthly", "Rate", "1", 0.01, SOURCE)
    months = made.given("month", "Month", "month", list(range(MONTHS)), SOURCE, axis=Axis.MONTH)
    dates = made.given("dates", "Dates", "day", [30.0 * at for at in range(MONTHS)], SOURCE, axis=Axis.MONTH)
    table = made.given("table", "Table", "1", [0.5, 0.3, 0.2], SOURCE, axis=Axis.TABLE)
    share = made.derive("share", "Share", "1", lookup(table, months / 12 + 1))
    flow = made.derive("flow", "Flow", "USD", share * price - 900 * flag(months, "=", 0))
    # a circle through last month: a loan and its interest
    made.derive("interest", "Interest", "USD", prev("debt", price * 10) * rate, axis=Axis.MONTH)
    made.derive("debt", "Debt", "USD", prev("debt", price * 10) + ref("interest") - 40, axis=Axis.MONTH)
    made.derive("debt_left", "Debt left", "USD", sum_year("debt", first=MONTHS - 1, months=1))
    made.derive("value", "Value", "USD", npv(rate, flow))
    made.derive("dated", "Dated", "USD", xnpv(rate * 12, flow, dates))
    made.derive("rate", "Rate of return", "1", irr(flow))
    made.derive("modified", "Modified", "1", mirr(flow, rate, 0.02))
    made.derive("year", "Year", "USD", sum_year(flow, first=12))
    made.derive("payment", "Payment", "USD", pmt(rate, 12, price))
    highest = made.derive("highest", "Highest", "USD", rolling_max(flow, 4))
    made.derive("peak", "Peak", "USD", sum_months(highest))
    made.derive("counted", "Counted", "1", round_up(price / 7))
    made.derive("picked", "Picked", "1", lookup(table, 2) * price)
    total = made.derive("total", "Total", "1", cumsum(share))
    last = made.derive("last", "Last", "1", prev(total, 1.0) + maximum(share, 0.25))
    made.derive("fixed", "Fixed", "1", npv(0.01, last))
    made.derive("later", "Later", "USD", ref("after") + 1, axis=Axis.SCALAR)
    made.derive("after", "After", "USD", price * 2)
    made.derive("fixed_fee", "Fee", "USD", prev("fixed_sum", 10.0) * 0.1, axis=Axis.MONTH)
    made.derive("fixed_sum", "Sum", "USD", prev("fixed_sum", 10.0) + ref("fixed_fee"), axis=Axis.MONTH)
    made.derive("fixed_debt", "Fixed debt", "USD", sum_months("fixed_sum"))
    return made


def drawn() -> dict[str, Floats]:
    random = np.random.default_rng(5)
    return {"price": random.uniform(50, 150, MEMBERS), "monthly": random.uniform(0.001, 0.02, MEMBERS)}


@pytest.mark.parametrize("rows", [1, 7, MEMBERS, 1000])
def test_rows_at_a_time_give_the_same_bits(rows: int) -> None:
    whole, parts = ledger_of(drawn()), ledger_of(drawn())
    solve_in_rows(parts, WANTED, rows=rows)
    for key in WANTED:
        np.testing.assert_array_equal(parts.values[key], whole.value(key), err_msg=key)


def test_nothing_but_what_was_asked_for_is_kept() -> None:
    ledger = ledger_of(drawn())
    before = set(ledger.values)
    solve_in_rows(ledger, ["value"])
    assert set(ledger.values) == before | {"value"}


def test_each_member_is_what_it_is_alone() -> None:
    """What no draw touches is worked out once; that must not show."""
    draws, batch = drawn(), ledger_of(drawn())
    for at in (0, MEMBERS - 1):
        alone = ledger_of({key: array[[at]] for key, array in draws.items()})
        for key in WANTED:
            # a rate is the middle of a bracket one floating-point number wide
            np.testing.assert_allclose(batch.value(key)[at], alone.value(key)[0], rtol=1e-12, err_msg=key)


def test_a_line_that_no_draw_touches_is_one_row_repeated() -> None:
    ledger = ledger_of(drawn())
    for key in ("last", "fixed_sum"):
        assert ledger.value(key).shape == (MEMBERS, MONTHS)
        assert ledger.value(key).strides[0] == 0
    assert ledger.value("flow").strides[0] != 0


def test_a_missing_line_and_a_circle_are_errors_as_ever() -> None:
    ledger = ledger_of(drawn())
    ledger.derive("x", "X", "1", ref("y") + 1, axis=Axis.SCALAR)
    ledger.derive("y", "Y", "1", ref("x") + 1, axis=Axis.SCALAR)
    with pytest.raises(ValueError, match="circle: x, y"):
        solve_in_rows(ledger, ["y"])
    with pytest.raises(KeyError, match="nowhere"):
        solve_in_rows(ledger, ["nowhere"])
