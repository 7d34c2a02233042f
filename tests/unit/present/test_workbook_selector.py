"""The cells that formulas read: the selected case, and numbers that stand in one place."""

from __future__ import annotations

import io
import re
from typing import Any

import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.present.workbook import workbook_bytes
from planner.present.workbook.constants import constant_label, constants_of
from planner.present.workbook.layout import INPUTS, MONTHLY, SCENARIOS, lay_out, sheet_of
from planner.present.workbook.selector import cases, followed_keys
from planner.scenario.load import load_scenario
from planner.study.bands import with_ranges
from planner.study.risk import with_swings

CHANGES = (
    "money.tax={rate_fraction: 0.25}", "money.debt={share_fraction: 0.5}", "money.lease={payment_fraction_per_month: 0.025}",
    "money.tariff={demand_usd_per_kw_month: 12.0, ratchet_fraction: 0.8}", "money.working_capital={receivable_days: 45.0}",
    "money.sell_usd_per_gpu_hour=3.0",
)  # fmt: skip


@pytest.fixture(scope="module")
def plan() -> Evaluation:
    found = evaluate(load_scenario("h200-phased", changes=CHANGES), open_catalog())
    return with_swings(with_ranges(found))


@pytest.fixture(scope="module")
def book(plan: Evaluation) -> Any:
    return openpyxl.load_workbook(io.BytesIO(workbook_bytes(plan)))


def test_formulas_read_followed_inputs_from_the_selected_case_alone(plan: Evaluation, book: Any) -> None:
    layout = lay_out(plan, [])
    rows = {layout.spots[key].row + 1 for key in followed_keys(plan)}
    assert set(layout.live) == set(followed_keys(plan))
    for sheet in book.worksheets:
        if sheet.title in (INPUTS, SCENARIOS):
            continue
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    read = {int(one) for one in re.findall(r"Inputs!\$C\$(\d+)", str(cell.value))}
                    assert not read & rows, (sheet.title, cell.coordinate, cell.value)


def test_the_selector_lists_the_cases_and_each_row_takes_one(plan: Evaluation, book: Any) -> None:
    sheet, names = book[SCENARIOS], [case.name for case in cases(plan)]
    heads = [cell.value for cell in sheet[8]][3 : 3 + len(names)]
    assert heads == names
    (rule,) = sheet.data_validations.dataValidation
    assert (rule.type, str(rule.sqref)) == ("list", "C3")
    assert not sheet["C3"].protection.locked
    for key, spot in lay_out(plan, []).live.items():
        text = sheet.cell(spot.row + 1, spot.column + 1).value
        assert re.fullmatch(
            r'=IF\(Inputs!\$H\$(\d+)="changed",Inputs!\$C\$\1,INDEX\(\$D\d+:\$[A-Z]+\d+,1,\$C\$4\)\)', text
        ), key


def test_every_number_of_a_formula_has_a_cell_with_a_name_and_a_unit(plan: Evaluation) -> None:
    found = constants_of(plan.ledger)
    assert {12.0, 1000.0, 1e6} <= set(found)
    assert not {0.0, 1.0, -1.0} & set(found)
    labels = [constant_label(value, plan.ledger) for value in found]
    assert all(label and unit for label, unit in labels)


@pytest.mark.parametrize(
    ("start", "sheet"),
    [("tax.", "Tax"), ("debt.", "Finance"), ("lease.", "Finance"), ("wc.", "Finance"), ("tariff.", "Opex")],
)
def test_lines_of_finance_lie_on_their_sheets(plan: Evaluation, book: Any, start: str, sheet: str) -> None:
    lines = [line for line in plan.ledger if line.key.startswith(start) and line.source is None]
    assert lines
    assert {sheet_of(line) for line in lines} == {sheet}
    assert sheet in MONTHLY
    keys = {cell.value for row in book[sheet].iter_rows(min_col=5, max_col=5) for cell in row}
    assert {line.key for line in lines} <= keys


def test_sheets_without_rows_say_why() -> None:
    plain = evaluate(load_scenario("h100-8-lab"), open_catalog())
    book = openpyxl.load_workbook(io.BytesIO(workbook_bytes(plain)))
    assert "no loan" in book["Finance"]["A6"].value
    assert "before tax" in book["Tax"]["A6"].value
    assert "No ranges" in book["Risk"]["A6"].value


def test_risk_holds_the_planners_ranges_and_what_moves_the_result(plan: Evaluation, book: Any) -> None:
    sheet = book["Risk"]
    keys = [cell.value for cell in sheet["G"]]
    assert plan.risk is not None
    for key, found in plan.ranges.items():
        row = keys.index(key) + 1
        shown = sheet.cell(row, 6).value / sheet.cell(row, 4).value
        assert shown == pytest.approx(found.p90 / found.p10), key
    names = [cell.value for cell in sheet["A"]]
    assert plan.risk.swings[0].factor.name in names
    assert sheet.cell(names.index("Seed") + 1, 2).value == plan.risk.seed
    assert [cell for row in sheet.iter_rows(min_row=4) for cell in row if cell.data_type == "f"] == []
