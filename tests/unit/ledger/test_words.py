"""What a line says about itself."""

from __future__ import annotations

import pytest

from planner.ledger import Axis, Ledger
from planner.ledger.nodes import (
    Const,
    Operand,
    cumsum,
    flag,
    irr,
    lookup,
    maximum,
    minimum,
    mirr,
    npv,
    pmt,
    prev,
    ref,
    rolling_max,
    round_up,
    sum_months,
    sum_year,
    xirr,
    xnpv,
)
from planner.ledger.words import words
from planner.sourced import Basis, Source

a, b, c = ref("a"), ref("b"), ref("c")


def lease_rate() -> float:
    return 1.0


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger(months=24)
    source = Source("catalog/gpus/h200.yaml:9", basis=Basis.ESTIMATE)
    for key, label in (("a", "GPUs"), ("b", "Price of a GPU"), ("c", "Spares")):
        made.given(key, label, "1", 1.0, source)
    made.given("s", "Cash", "USD", 1.0, source, axis=Axis.MONTH)
    made.given("d", "Dates", "1", 1.0, source, axis=Axis.MONTH)
    made.given("t", "Rates", "1", [1.0], source, axis=Axis.TABLE)
    return made


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        (a * b, "GPUs x price of a GPU"),
        (a * (1 + c), "GPUs x (1 + spares)"),
        (a - (b - c), "GPUs - (price of a GPU - spares)"),
        (a / (b * c), "GPUs / (price of a GPU x spares)"),
        ((a**b) ** c, "(GPUs ^ price of a GPU) ^ spares"),
        (-(a + b), "minus (GPUs + price of a GPU)"),
        (-(a * c), "minus GPUs x spares"),
        (a - -c, "GPUs - (minus spares)"),
        (a * Const(-2), "GPUs x (-2)"),
        (a * 1234567.5, "GPUs x 1,234,567.5"),
        (round_up(a * c), "(GPUs x spares) rounded up"),
        (b * round_up(a), "price of a GPU x (GPUs rounded up)"),
        (maximum(0, a - c), "the largest of 0, GPUs - spares"),
        (maximum(minimum(a, b), c), "the largest of (the smallest of GPUs, price of a GPU), spares"),
        (flag(a, ">=", c) * b, "(1 where GPUs is at least spares, else 0) x price of a GPU"),
        (flag(a, "=", 0), "1 where GPUs equals 0, else 0"),
        (prev("s", a + c), "last month's cash (at first GPUs + spares)"),
        (cumsum("s"), "cash so far"),
        (rolling_max("s", 12), "the highest cash of 12 months"),
        (lookup("t", a + 1), "entry (GPUs + 1) of rates"),
        (sum_months("s"), "cash over all months"),
        (sum_year("s", first=12), "cash in months 12 to 23"),
        (npv(a / 12, "s"), "present value of cash at (GPUs / 12)"),
        (xnpv(c, "s", "d"), "present value of cash by dates at spares"),
        (irr("s"), "rate of return of cash"),
        (xirr("s", "d"), "rate of return of cash by dates"),
        (mirr("s", 0.01, c), "rate of return of cash financed at 0.01 and reinvested at spares"),
        (pmt(c, 36, a * b), "level payment for (GPUs x price of a GPU) over 36 periods at spares"),
    ],
)
def test_a_formula_says(ledger: Ledger, expression: Operand, sentence: str) -> None:
    assert words(ledger.derive("x", "X", "1", expression), ledger.lines) == sentence


def test_a_line_that_is_not_there_yet_goes_by_its_key(ledger: Ledger) -> None:
    line = ledger.derive("x", "X", "1", prev("closing"))
    assert words(line, ledger.lines) == "last month's closing (at first 0)"


def test_a_computed_line_says_its_note_or_its_function(ledger: Ledger) -> None:
    plain = ledger.compute("x", "X", "1", 1.0, function=lease_rate)
    noted = ledger.compute("y", "Y", "1", 1.0, function=lease_rate, note="annuity over the term")
    assert words(plain, ledger.lines) == "computed by lease rate"
    assert words(noted, ledger.lines) == "annuity over the term"


def test_a_given_line_says_its_note_or_its_place(ledger: Ledger) -> None:
    noted = ledger.given("x", "X", "1", 1.0, Source("default", note="typical of new halls"))
    assert words(ledger["a"], ledger.lines) == "from catalog/gpus/h200.yaml:9"
    assert words(noted, ledger.lines) == "typical of new halls"
