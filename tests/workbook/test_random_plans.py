"""Random plans as workbooks: every formula worked out anew by an office program, and the list of finance.

Twenty plans by default, in one start of the office program; ``SOAK=300`` (``make soak``) takes more.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.workbook import workbook_bytes
from planner.present.workbook.layout import MONTHLY
from planner.scenario.load import load_scenario, load_texts, shipped_scenarios
from tests import office
from tests.workbook.audit import findings
from tests.workbook.random_scenarios import random_plans

pytestmark = pytest.mark.office
PLANS = int(os.environ.get("SOAK", "20"))
SEED = 20261130
CALL = 20
"""Workbooks in one start of the office program."""
RELATIVE = 1e-9
"""Office programs add up in another order than numpy; a wrong formula is off by far more."""
ROUNDING = 1e-13
"""A balance that ends at zero is a difference of its row's amounts, and its rounding is of their size."""
SHARES = dict.fromkeys(MONTHLY, ROUNDING) | {"Summary": RELATIVE}
"""On Summary a change is the difference of a value that was worked out anew and one that is written."""
RELATIVE_DATED = 1e-6
"""Office programs stop their search for a dated rate at about 1e-8."""


def wrong_cells(written: Path, again: Path) -> list[str]:
    """Formula cells whose stored value isn't what the office program works out."""
    formulas, values = openpyxl.load_workbook(written), office.values(written)
    found, told = office.values(again), []
    for sheet in formulas.worksheets:
        for row in sheet.iter_rows():
            amounts = (values.get((sheet.title, cell.coordinate)) for cell in row)
            largest = max((abs(one) for one in amounts if isinstance(one, int | float)), default=0.0)
            for cell in row:
                if cell.data_type != "f":
                    continue
                place = (sheet.title, cell.coordinate)
                rest = max(1e-9, SHARES.get(sheet.title, 0.0) * largest)
                if not _same(values.get(place), found.get(place), str(cell.value), rest, place, found):
                    told.append(
                        f"{sheet.title}!{cell.coordinate} {cell.value}: {values.get(place)!r}, office {found.get(place)!r}"
                    )
    formulas.close()
    return told


def _same(
    stored: Any,
    worked: Any,
    text: str,
    rest: float,
    place: tuple[str, str],
    found: Mapping[tuple[str, str], Any],
) -> bool:
    if isinstance(stored, int | float) and isinstance(worked, int | float):
        relative = RELATIVE_DATED if "XIRR" in text else RELATIVE
        if math.isclose(stored, worked, rel_tol=relative, abs_tol=rest):
            return True
        sheet, cell = place
        # What rounding leaves of a difference is judged against what the check allows.
        return sheet == "Checks" and cell[0] == "D" and abs(worked) <= found[(sheet, f"E{cell[1:]}")]
    return stored == worked or (stored in (None, "") and worked in (None, ""))


def _batches(folder: Path) -> Iterator[list[Path]]:
    batch: list[Path] = []
    for number, (text, evaluation) in enumerate(random_plans(SEED, PLANS, open_catalog())):
        path = folder / f"{number}.xlsx"
        path.write_bytes(workbook_bytes(evaluation))
        path.with_suffix(".yaml").write_text(text, encoding="utf-8")
        batch.append(path)
        if len(batch) == CALL:
            yield batch
            batch = []
    if batch:
        yield batch


def test_every_formula_of_random_plans_equals_python_and_nothing_is_on_the_list_of_finance(
    tmp_path: Path,
) -> None:
    wrong: dict[str, list[str]] = {}
    count = 0
    for batch in _batches(tmp_path):
        for path, again in zip(batch, office.recalculate_all(batch), strict=True):
            told = [*wrong_cells(path, again), *findings(path)]
            if told:
                wrong[path.with_suffix(".yaml").read_text(encoding="utf-8")] = told[:5]
            count += 1
            for file in (path, again):
                file.unlink()
    assert count == PLANS
    assert wrong == {}


@pytest.mark.parametrize("name", shipped_scenarios())
def test_nothing_of_a_shipped_plan_is_on_the_list_of_finance(name: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.xlsx"
    path.write_bytes(workbook_bytes(evaluate(load_scenario(name), open_catalog())))
    assert findings(path) == []


def test_the_same_plan_gives_the_same_bytes() -> None:
    catalog = open_catalog()
    for text, evaluation in random_plans(7, 2, catalog):
        other = evaluate(load_texts(evaluation.loaded.document.texts), catalog)
        assert workbook_bytes(evaluation) == workbook_bytes(other), text


def _planted(path: Path, place: tuple[str, str], value: Any) -> None:
    book = openpyxl.load_workbook(path)
    book[place[0]][place[1]].value = value
    book.save(path)
    book.close()


def test_a_planted_error_is_noticed(tmp_path: Path) -> None:
    """A wrong stored value, by the comparison; each item of the list, by the list."""
    evaluation = evaluate(load_scenario("h100-8-lab"), open_catalog())
    right, path = tmp_path / "right.xlsx", tmp_path / "planted.xlsx"
    right.write_bytes(workbook_bytes(evaluation))
    assert findings(right) == []
    book = openpyxl.load_workbook(right)
    opex = next(
        cell
        for row in book["Opex"].iter_rows(min_row=6, min_col=9, max_col=9)
        for cell in row
        if cell.data_type == "f"
    )
    total = next(
        cell
        for row in book["Metrics"].iter_rows(min_row=6, min_col=3, max_col=3)
        for cell in row
        if cell.data_type == "f"
    )
    book.close()
    plants: tuple[tuple[tuple[str, str], Any, str], ...] = (
        (("Opex", opex.coordinate), f"{opex.value}+1", "is not the formula of its row"),
        (("Opex", opex.coordinate), 12.5, "is not the formula of its row"),
        (("Metrics", total.coordinate), f"{total.value}*1.5", "1.5 is typed into"),
        (("Metrics", total.coordinate), "=NOW()", "recalculates at every look"),
        (("Metrics", total.coordinate), "=OFFSET(A1,1,1)", "recalculates at every look"),
        (("Metrics", total.coordinate), "=_xlfn.XLOOKUP(1,A1:A2,B1:B2)", "missing in older programs"),
        (("Metrics", total.coordinate), "=[1]Other!A1", "links to another file"),
        (("Metrics", "H5"), "1,234", "is text"),
    )
    for place, value, said in plants:
        path.write_bytes(right.read_bytes())
        _planted(path, place, value)
        assert any(said in one for one in findings(path)), (value, findings(path)[:3])


def test_hidden_merged_and_unsourced_cells_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "plan.xlsx"
    path.write_bytes(workbook_bytes(evaluate(load_scenario("h100-8-lab"), open_catalog())))
    book = openpyxl.load_workbook(path)
    book["Tax"].sheet_state = "hidden"
    book["Capex"].row_dimensions[9].hidden = True
    book["Opex"].column_dimensions["D"].hidden = True
    book["Metrics"].merge_cells("H10:I11")
    sheet = book["Inputs"]
    row = next(row for row in sheet.iter_rows(min_row=5) if row[11].value)
    row[3].value = row[9].value = None
    book.save(path)
    book.close()
    said = " / ".join(findings(path))
    for part in (
        "Tax is hidden",
        "row 9 is hidden",
        "column D is hidden",
        "H10:I11 is merged",
        "has no unit, no source",
    ):
        assert part in said, part


def test_a_wrong_stored_value_is_noticed(tmp_path: Path) -> None:
    evaluation = evaluate(load_scenario("h100-8-lab"), open_catalog())
    capex = evaluation.ledger.values["capex.total_usd"]
    evaluation.ledger.values["capex.total_usd"] = capex * (1 + 1e-8)
    path = tmp_path / "plan.xlsx"
    path.write_bytes(workbook_bytes(evaluation))
    assert any(one.startswith("Capex!") for one in wrong_cells(path, office.recalculate(path)))
