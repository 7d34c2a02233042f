"""Every kind of node, as numpy, as an Excel formula in an office program, and as words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter

from planner.ledger import Axis, Ledger, Line, nodes
from planner.ledger.excel import formula
from planner.ledger.nodes import (
    COMPARISONS,
    Binary,
    Const,
    Expr,
    Flag,
    children,
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
    rolling_max,
    round_up,
    sum_months,
    sum_year,
    xirr,
    xnpv,
)
from planner.ledger.words import words
from planner.sourced import Source
from tests import ledger_book, office
from tests.ledger_cases import BUILDERS, PROOFS, built

pytestmark = pytest.mark.office
MONTHS = 14
_RELATIVE = 1e-9
"""Office programs and numpy order the same sums differently; a wrong formula is off by far more."""
_RELATIVE_XIRR = 1e-6
"""Office programs stop their search for a dated rate at about 1e-8."""


def every_kind() -> Ledger:
    """A ledger with each kind of node, alone and nested, over scalars, series and tables."""
    ledger = Ledger(months=MONTHS)
    source = Source("test")
    random = np.random.default_rng(7)

    def number(key: str, value: float) -> Line:
        return ledger.given(key, f"Number {key}", "1", value, source)

    def series(key: str, value: Any) -> Line:
        return ledger.given(key, f"Series {key}", "1", value, source, axis=Axis.MONTH)

    a, b, c, low = number("a", 7.25), number("b", 3.0), number("c", 1.5), number("low", -4.5)
    rate, rate2, none = number("rate", 0.012), number("rate2", 0.02), number("none", 0.0)
    s = series("s", random.uniform(-50.0, 90.0, MONTHS))
    u = series("u", random.uniform(1.0, 9.0, MONTHS))
    at = series("at", [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 1.9, 2.0, 4.99, 5])
    flow = series("flow", [-1000.0, -250.0, *random.uniform(50.0, 200.0, MONTHS - 2)])
    costs = series("costs", random.uniform(-200.0, -50.0, MONTHS))
    dates = series("dates", [46023 + 31 * month for month in range(MONTHS)])
    far = series("far", [-5000.0, *[0.0] * (MONTHS - 2), 9000.0])
    table = ledger.given(
        "table", "Table of rates", "1", [0.2, 0.32, 0.192, 0.1152, 0.1728], source, axis=Axis.TABLE
    )

    minus_a = -a
    found: dict[str, nodes.Operand] = {
        "constant": 42.0,
        "small constant": 1.25e-7,
        "large constant": 1.5e18,
        "reference": a,
        "reference to a series": s,
        "sum": a + b,
        "difference": a - b,
        "product": a * b,
        "quotient": a / b,
        "power": a**b,
        "root": a**0.5,
        "power of a number": 1.03**b,
        "mixed sum": a + s,
        "mixed difference": s - a,
        "mixed product": s * a,
        "mixed quotient": s / u,
        "mixed power": u**c,
        "growth": (1 + rate) ** u,
        "a-(b-c)": a - (b - c),
        "a-(b+c)": a - (b + c),
        "a-b-c": a - b - c,
        "(a+b)*c": (a + b) * c,
        "a*(b-c)": a * (b - c),
        "a/(b*c)": a / (b * c),
        "a/(b/c)": a / (b / c),
        "a/b/c": a / b / c,
        "a/b*c": a / b * c,
        "(a/b)^c": (a / b) ** c,
        "a^(b^c)": a ** (b**c),
        "(a^b)^c": (a**b) ** c,
        "a^(-b)": a ** (-b),
        "minus a": -a,
        "minus sum": -(a + b),
        "minus product": -(a * b),
        "minus power": -(a**2),
        "minus product with a power": -(a**2 * b),
        "power of minus": (-a) ** 2,
        "minus minus": -minus_a,
        "a*-b": a * -b,
        "a--b": a - (-b),
        "a+-b": a + (-b),
        "-a+b": -a + b,
        "-a/-b": -a / -b,
        "(-a)^b*c": (-a) ** b * c,
        "negative constant squared": Const(-3.0) ** 2,
        "minus a negative constant": a - Const(-3.0),
        "times a negative constant": a * -3.0,
        "smallest": minimum(a, b, c, low),
        "largest": maximum(a, b, low * 2),
        "smallest of series": minimum(s, u, a),
        "largest of series": maximum(0, s, u * 3 - a),
        "nested extremes": maximum(minimum(s, a), low + 1) * 2,
        "one item": maximum(a),
        "rounded up": round_up(a),
        "rounded whole": round_up(b),
        "rounded product": round_up(a * c) / b,
        "rounded nearly whole": round_up(Const(0.1) * 3 * 10),
        "rounded just over": round_up(b + 1e-5),
        "rounded large": round_up(Const(1e7) * 1.1),
        "rounded negative": round_up(low * 1.1),
        "rounded series": round_up(s * u),
        "last month": prev(s),
        "last month with a start": prev(s, a * 2) - b,
        "last month below a minus": -prev(s, -a),
        "last month of a power": prev(u, 1 + c) ** 2,
        "running total": cumsum(s),
        "running total in a formula": cumsum(s) / a - u,
        "rolling 1": rolling_max(s, 1),
        "rolling 3": rolling_max(s, 3),
        "rolling 12": maximum(s, 0.8 * rolling_max(s, 12)),
        "rolling 99": rolling_max(s, 99),
        "entry": lookup(table, b),
        "entry of a constant": lookup(table, 5) * a,
        "entry of a formula": lookup(table, b + 1),
        "entry by month": lookup(table, at) * s,
        "total": sum_months(s),
        "total in a formula": sum_months(s) / sum_months(u) - a,
        "share of the total": u / sum_months(u),
        "first year": sum_year(s, first=0),
        "cut year": sum_year(s, first=12),
        "last month alone": sum_year(s, first=13, months=1),
        "year past the end": sum_year(s, first=24) + a,
        "present value": npv(rate, s),
        "present value at zero": npv(none, s),
        "present value in a formula": a - npv(rate, s) * 2,
        "present value at a formula": npv((1 + rate) ** 12 - 1, s),
        "dated value": xnpv(rate, flow, dates),
        "dated value at a formula": -xnpv(rate * 2 + rate2, flow, dates) / a,
        "internal rate": irr(flow),
        "negative rate": irr(far) - 0.5,
        "yearly rate": (1 + irr(flow)) ** 12 - 1,
        "no rate": irr(costs),
        "dated rate": xirr(flow, dates),
        "no dated rate": xirr(costs, dates),
        "modified rate": mirr(flow, rate, rate2),
        "modified rate at formulas": mirr(flow, rate * 2, rate2 + rate),
        "no modified rate": mirr(costs, rate, rate2),
        "payment": pmt(rate, 36, a),
        "payment in a formula": b - pmt(rate, 36, a * 100),
        "payment squared": pmt(rate, 36, a * 100) ** 2,
        "payment without interest": pmt(none, 36, a),
        "payment by month": pmt(rate, u * 10, s) + s,
    }  # fmt: skip
    for comparison in COMPARISONS:
        found[f"flag {comparison}"] = flag(a, comparison, b)
        found[f"flag {comparison} of equals"] = flag(b * 2, comparison, 6)
        found[f"flag {comparison} up to rounding"] = flag(Const(0.1) + 0.2, comparison, 0.3)
        found[f"flag {comparison} by month"] = flag(s, comparison, u + a) * s
        found[f"flag {comparison} of formulas"] = a - flag(a - b, comparison, c * low)
    for key, expression in found.items():
        ledger.derive(key, key.capitalize(), "1", expression)
    opening = ledger.derive("opening", "Opening", "1", prev("closing", a))
    ledger.derive("closing", "Closing", "1", opening * (1 + rate) + s)
    return ledger


def _walk(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from _walk(child)


LEDGERS: dict[str, Any] = {
    "kinds": every_kind,
    **{f"proof: {name}": lambda make=make: make().ledger for name, make in PROOFS.items()},
    **{f"case: {case_id}": lambda case_id=case_id: built(case_id).ledger for case_id in BUILDERS},
}
KINDS = [line.key for line in every_kind() if line.expression is not None]


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Ledger, dict[str, list[Any]]]]:
    """All ledgers, written as workbooks and recalculated in one start of the office program."""
    folder = tmp_path_factory.mktemp("books")
    ledgers = {name: make() for name, make in LEDGERS.items()}
    paths = [folder / f"{at}.xlsx" for at in range(len(ledgers))]
    for ledger, path in zip(ledgers.values(), paths, strict=True):
        ledger.solve()
        ledger_book.write(ledger, path)
    made = office.recalculate_all(paths)
    return {
        name: (ledger, ledger_book.read(ledger, path))
        for (name, ledger), path in zip(ledgers.items(), made, strict=True)
    }


def _tolerance(ledger: Ledger, key: str) -> float:
    expression = ledger[key].expression
    assert expression is not None
    dated = any(isinstance(part, nodes.Xirr) for part in _walk(expression))
    reads_dated = any("xirr" in name for name in ledger.inputs_of(key))
    return _RELATIVE_XIRR if dated or reads_dated else _RELATIVE


def test_the_list_holds_every_kind_of_node() -> None:
    expressions = [line.expression for line in every_kind() if line.expression is not None]
    parts = [part for expression in expressions for part in _walk(expression)]
    classes = [kind for kind in vars(nodes).values() if isinstance(kind, type)]
    kinds = {kind for kind in classes if issubclass(kind, Expr) and kind is not Expr}
    assert {type(part) for part in parts} == kinds
    assert {part.operator for part in parts if isinstance(part, Binary)} == set("+-*/^")
    assert {part.comparison for part in parts if isinstance(part, Flag)} == set(COMPARISONS)


@pytest.mark.parametrize("key", KINDS)
def test_numpy_office_and_words_agree_on_every_kind(books: Any, key: str) -> None:
    ledger, found = books["kinds"]
    expected = ledger.value(key)[0]
    wrong = ledger_book.differences(found[key], expected, relative=_tolerance(ledger, key))
    assert not wrong, formula(ledger[key].expression, ledger_book.BookCells(ledger), 0)

    sentence = words(ledger[key], ledger.lines)
    assert sentence
    for read in ledger.inputs_of(key):
        assert ledger[read].label.lower() in sentence.lower()


@pytest.mark.parametrize("name", [name for name in LEDGERS if name != "kinds"])
def test_the_office_program_agrees_on_whole_models(books: Any, name: str) -> None:
    ledger, found = books[name]
    wrong = {
        key: differences
        for key in found
        if (
            differences := ledger_book.differences(
                found[key], ledger.value(key)[0], relative=_tolerance(ledger, key)
            )
        )
    }
    assert not wrong


def test_a_wrong_stored_value_is_corrected(tmp_path: Path) -> None:
    path = tmp_path / "stale.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("One").write_formula("A1", "=2+3", None, 999)
    assert office.values(path)["One", "A1"] == 999
    assert office.values(office.recalculate(path))["One", "A1"] == 5


def test_a_wrong_formula_is_noticed(tmp_path: Path) -> None:
    ledger = Ledger(months=1)
    a = ledger.given("a", "A", "1", 3.0, Source("test"))
    ledger.derive("b", "B", "1", a * 2)
    path = tmp_path / "wrong.xlsx"
    ledger_book.write(ledger, path)
    found = ledger_book.read(ledger, office.recalculate(path))["b"]
    assert not ledger_book.differences(found, ledger.value("b"), relative=_RELATIVE)
    assert ledger_book.differences(found, ledger.value("b") * (1 + 1e-8), relative=_RELATIVE)
    assert ledger_book.differences([ledger_book.STALE], ledger.value("b"), relative=_RELATIVE)
    assert ledger_book.differences(["n/a"], ledger.value("b"), relative=_RELATIVE)


def test_a_workbook_the_program_cannot_read_is_noticed(tmp_path: Path) -> None:
    """It says so on stderr alone and exits with 0."""
    with pytest.raises(AssertionError, match="made nothing of"):
        office.recalculate(tmp_path / "missing.xlsx")


def test_a_missing_program_skips_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no office program"):
        office.office_or_skip()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no office program"):
        office.office_or_skip()
