"""The bill as CSV, and the request for quotes that reads back as a quote."""

from __future__ import annotations

import csv
import io
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.intake.quotes import read_quotes
from planner.present.bom_csv import bom_csv
from planner.present.rfq import FIRST, rfq_bytes
from planner.scenario.load import load_scenario


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(load_scenario("h200-phased"), open_catalog())


def test_the_bill_adds_up_by_part_and_in_all(evaluation: Evaluation) -> None:
    rows = list(csv.DictReader(io.StringIO(bom_csv(evaluation).decode())))
    built = evaluation.built
    assert built is not None
    assert len(rows) == len(built.bom)
    cost = sum(evaluation.ledger.scalar(row.cost) for row in built.bom)
    assert sum(float(row["cost"]) for row in rows) == pytest.approx(cost, abs=0.005 * len(rows))
    for row in rows:
        assert float(row["in_service"]) + float(row["spares"]) == pytest.approx(float(row["to_order"]))
        assert float(row["order_first"]) + float(row["order_second"]) == pytest.approx(float(row["to_order"]))
        assert row["basis"]
        assert row["price_date"]
    spine = next(row for row in rows if row["where"] == "spine")
    assert (spine["order_second"], spine["first_order"], spine["needed_by"]) == (
        "0",
        "2026-12-01",
        "2027-03-31",
    )


def test_the_bill_names_the_quote_of_a_price(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        "Part,Unit price,Currency,FX,Vendor,Quote id,Quote date,Valid until,Min qty\n"
        "qm9700,40000,EUR,1.1,=Acme,Q-1,2026-11-20,2027-12-31,10\n"
    )
    quoted = evaluate(load_scenario("h200-1024-ndr", changes=[f"quotes=[{path}]"]), open_catalog())
    row = next(row for row in csv.DictReader(io.StringIO(bom_csv(quoted).decode())) if row["where"] == "leaf")
    assert (row["unit_price"], row["currency"], row["quoted_price"], row["quoted_currency"]) == (
        "44000", "USD", "40000", "EUR",
    )  # fmt: skip
    assert (row["vendor"], row["quote_id"], row["valid_until"], row["break_from"]) == (
        "'=Acme", "Q-1", "2027-12-31", "10",
    )  # fmt: skip
    assert row["basis"] == "quote"
    assert row["source"] == f"{path}:2"


def filled(evaluation: Evaluation, path: Path) -> Path:
    """The request as a vendor returns it: two parts priced, one of them with a break, the others left out."""
    book = openpyxl.load_workbook(io.BytesIO(rfq_bytes(evaluation)))
    sheet = book["RFQ"]
    for at, value in enumerate(("Acme", "Q-5", date(2026, 11, 20), date(2027, 12, 31), "USD"), start=3):
        sheet.cell(at, 2).value = value
    columns = {cell.value: cell.column for cell in sheet[FIRST + 1]}
    rows = {row[0].value: row[0].row for row in sheet.iter_rows(min_row=FIRST + 2)}
    for part, price in (("hgx-h200", 250000), ("qm9700", 39999.5)):
        sheet.cell(rows[part], columns["Unit price"]).value = price
        sheet.cell(rows[part], columns["Deposit %"]).value = 20
        sheet.cell(rows[part], columns["On acceptance %"]).value = 80
    sheet.cell(rows["qm9700"], columns["Lead time (weeks)"]).value = 3
    below = sheet.max_row + 1
    for name, value in (("Catalog id", "qm9700"), ("Min quantity", 17), ("Unit price", 38000)):
        sheet.cell(below, columns[name]).value = value
    book.save(path)
    return path


def test_a_filled_request_reads_back_as_a_quote_and_prices_the_plan(
    evaluation: Evaluation, tmp_path: Path
) -> None:
    path = filled(evaluation, tmp_path / "acme.xlsx")
    quotes = read_quotes([path])
    assert [(one.catalog_id, one.min_quantity, one.price) for one in quotes.lines] == [
        ("hgx-h200", 1, 250000), ("qm9700", 1, 39999.5), ("qm9700", 17, 38000),
    ]  # fmt: skip
    first = quotes.lines[0]
    assert (first.vendor, first.quote_id, first.date, first.valid_until) == (
        "Acme",
        "Q-5",
        "2026-11-20",
        "2027-12-31",
    )
    assert first.terms is not None
    assert (first.terms.deposit_fraction, first.terms.on_acceptance_fraction) == (0.2, 0.8)
    assert quotes.lines[1].lead_time_weeks == 3
    assert not quotes.ignored
    assert len(quotes.declined) > 10
    priced = evaluate(load_scenario("h200-phased", changes=[f"quotes=[{path}]"]), open_catalog()).ledger
    # the second phase buys 16 switches, and the break is from 17
    assert priced.scalar("price.qm9700.price_usd") == 39999.5
    assert priced.scalar("price.hgx-h200.price_usd") == 250000


def test_an_unfilled_request_offers_nothing(evaluation: Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "rfq.xlsx"
    path.write_bytes(rfq_bytes(evaluation))
    quotes = read_quotes([path])
    assert not quotes.lines
    assert {part for _, part in quotes.declined} >= {"hgx-h200", "qm9700"}


def test_the_request_has_a_quantity_for_each_order_and_rules_for_each_blank(evaluation: Evaluation) -> None:
    assert rfq_bytes(evaluation) == rfq_bytes(evaluation)
    sheet = openpyxl.load_workbook(io.BytesIO(rfq_bytes(evaluation)))["RFQ"]
    heads = [cell.value for cell in sheet[FIRST + 1]]
    assert heads[4:8] == [
        "Needed for order first (2026-12-01)", "Needed for order second (2027-09-01)", "Total quantity", "Needed by",
    ]  # fmt: skip
    switch = next(row for row in sheet.iter_rows(min_row=FIRST + 2, values_only=True) if row[0] == "qm9700")
    # leaves and spines are asked for together
    assert switch[4:7] == (34, 16, 50)
    ruled = {
        str(one.sqref).split(":")[0].rstrip("0123456789") for one in sheet.data_validations.dataValidation
    }
    assert {
        chr(65 + heads.index(name)) for name in ("Unit price", "Valid until", "MOQ", "Deposit %")
    } <= ruled
