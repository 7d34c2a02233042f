"""Formulas go into the file as they are written."""

from __future__ import annotations

import io

import openpyxl
import pytest
import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.workbook import workbook_bytes
from planner.present.workbook.sheet import PlainWorksheet
from planner.scenario.load import load_scenario

MONEY = (
    "money.tax={rate_fraction: 0.25}",
    "money.debt={share_fraction: 0.6, term_months: 48}",
    "money.lease={payment_fraction_per_month: 0.025}",
    "money.sell_usd_per_gpu_hour=3.0",
)
"""Terms that bring loan, lease, tax and revenue, and with them every kind of formula."""


@pytest.mark.parametrize(("name", "changes"), [("h200-1024-ndr", MONEY), ("h200-phased", ())])
def test_no_formula_needs_the_marks_that_the_library_would_look_for(
    name: str, changes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = evaluate(load_scenario(name, changes=changes), open_catalog())
    own = workbook_bytes(evaluation)
    monkeypatch.setattr(PlainWorksheet, "_prepare_formula", Worksheet._prepare_formula)
    assert workbook_bytes(evaluation) == own


def test_a_formula_in_braces_is_left_to_the_library() -> None:
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    sheet = book.add_worksheet("One", PlainWorksheet)
    sheet.write_formula(0, 0, "=1+1", None, 2)
    sheet.write_array_formula(1, 0, 1, 0, "{=SUM(A1:A1*2)}", None, 4)
    book.close()
    read = openpyxl.load_workbook(io.BytesIO(buffer.getvalue()))["One"]
    assert read["A1"].value == "=1+1"
    assert read["A2"].value.text == "=SUM(A1:A1*2)"
