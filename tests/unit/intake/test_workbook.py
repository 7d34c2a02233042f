"""Edited workbooks: what is read, what is refused, and how each refusal is said."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.cli.imports import import_workbook, read_import, written_from
from planner.errors import InputError
from planner.evaluate import Evaluation, evaluate
from planner.intake import workbook as intake
from planner.present.workbook import layout, notes, workbook_bytes
from planner.present.workbook.cells import letters
from planner.present.workbook.selector import followed_keys
from planner.scenario.load import load_scenario

PRICE = "site.electricity_usd_per_kwh"
SCENARIO = """\
# Ours.
schema_version: 1
name: A lab  # in the cellar
extends: h100-8-lab
site:
  electricity_usd_per_kwh: 0.2  # by contract
"""


@pytest.fixture(scope="module")
def plan() -> Evaluation:
    return evaluate(load_scenario("h100-8-lab"), open_catalog())


@pytest.fixture(scope="module")
def content(plan: Evaluation) -> bytes:
    return workbook_bytes(plan)


def opened(content: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content))


def cell_of(book: Any, key: str) -> Any:
    return next(row[2] for row in book["Inputs"].iter_rows(min_row=4) if row[11].value == key)


def imported(book: Any, tmp_path: Path) -> Any:
    origin = intake.carried(book, "lab.xlsx")
    return read_import(book, origin, "lab.xlsx", open_catalog(), beside=tmp_path)


def refused(content: bytes, tmp_path: Path, change: Callable[[Any], Any]) -> list[str]:
    book = opened(content)
    change(book)
    with pytest.raises(InputError) as found:
        imported(book, tmp_path)
    return [str(problem) for problem in found.value.problems]


def test_the_places_read_are_those_the_workbook_has() -> None:
    assert (intake.INPUTS, intake.SCENARIOS, intake.CHANGES) == (
        layout.INPUTS,
        layout.SCENARIOS,
        layout.CHANGES,
    )
    assert (intake.SUMMARY, intake.CHECKS) == (layout.SUMMARY, layout.CHECKS)
    assert letters(layout.INPUT_VALUE) == intake.VALUE
    assert letters(layout.INPUT_PLANNED) == intake.PLANNED
    assert letters(layout.INPUT_KEY) == intake.KEY
    assert (layout.SCENARIOS, f"{letters(layout.CASE_LIVE)}{layout.CASE_SELECTOR + 1}") == intake.SELECTOR
    assert notes.CARRIED.startswith(intake.CARRIED)


def test_a_workbook_without_edits_gives_its_scenario_back(
    plan: Evaluation, content: bytes, tmp_path: Path
) -> None:
    found = imported(opened(content), tmp_path)
    assert found.written == ()
    assert found.text == plan.loaded.document.texts[0][1]


def test_a_workbook_of_planner_run_with_ranges_and_swings_comes_back(tmp_path: Path) -> None:
    source, folder = tmp_path / "ours.yaml", tmp_path / "out"
    source.write_text(SCENARIO, encoding="utf-8")
    assert run_app(["run", str(source), "-o", str(folder), "--format", "xlsx"]) == 0
    back = tmp_path / "back.yaml"
    assert import_workbook(folder / "ours.xlsx", output=back, catalog=(), force=False) == 0
    assert back.read_text(encoding="utf-8") == SCENARIO


def test_the_carried_scenario_is_the_one_that_was_read(plan: Evaluation, content: bytes) -> None:
    book = opened(content)
    origin = intake.carried(book, "lab.xlsx")
    assert [text.splitlines() for _, text in origin.texts] == [
        text.splitlines() for _, text in plan.loaded.document.texts
    ]
    assert written_from(book, origin, "lab.xlsx", open_catalog()).loaded.digest() == plan.loaded.digest()


def test_comments_stay_and_the_field_is_changed_where_it_stands(tmp_path: Path) -> None:
    source = tmp_path / "ours.yaml"
    source.write_text(SCENARIO, encoding="utf-8")
    plan = evaluate(load_scenario(source, changes=["site.pue=1.3"]), open_catalog())
    book = opened(workbook_bytes(plan))
    cell_of(book, PRICE).value = 0.3
    path, target = tmp_path / "ours.xlsx", tmp_path / "edited.yaml"
    book.save(path)
    source.unlink()  # the workbook is enough
    assert import_workbook(path, output=target, catalog=(), force=False) == 0
    assert target.read_text(encoding="utf-8") == SCENARIO.replace("0.2  #", "0.3  #") + "  pue: 1.3\n"


def test_a_base_that_is_not_at_hand_is_written_into_the_scenario(tmp_path: Path) -> None:
    folder, other = tmp_path / "plans", tmp_path / "elsewhere"
    folder.mkdir()
    other.mkdir()
    base = SCENARIO.replace("# Ours.\n", "")
    (folder / "base.yaml").write_text(base, encoding="utf-8")
    top = folder / "top.yaml"
    top.write_text("schema_version: 1\nname: Above\nextends: base.yaml\n", encoding="utf-8")
    plan = evaluate(load_scenario(top), open_catalog())
    book = opened(workbook_bytes(plan))
    cell_of(book, PRICE).value = 0.3
    near, far = (imported(book, place) for place in (folder, other))
    assert "extends: base.yaml" in near.text
    assert "extends" not in far.text.replace("with all it extends", "")
    assert far.evaluation.ledger.scalar("tco.npv_usd") == near.evaluation.ledger.scalar("tco.npv_usd")


def test_values_that_are_no_numbers_are_refused_with_cell_and_remedy(content: bytes, tmp_path: Path) -> None:
    typed = {
        PRICE: ("0.08 USD", "holds the text '0.08 USD', and a number is needed"),
        "money.deposit_fraction": ("15%", "(type 0.15)"),
        "rent.usd_per_gpu_hour": (datetime.date(2027, 1, 4), "holds the date 2027-01-04"),
        "assumption.installation_fraction": (None, "is empty, and a number is needed"),
        "assumption.support_fraction_per_year": ("=1/20", "holds the formula =1/20"),
        "assumption.insurance_fraction_per_year": (True, "holds True"),
    }
    cells = {}

    def change(book: Any) -> None:
        for key, (value, _) in typed.items():
            cell = cell_of(book, key)
            cells[key], cell.value = cell.coordinate, value

    said = refused(content, tmp_path, change)
    assert len(said) == len(typed)
    for key, (_, words) in typed.items():
        assert any(f"lab.xlsx, Inputs!{cells[key]}: {key}: " in one and words in one for one in said), (
            key,
            said,
        )


def test_values_out_of_range_are_refused_all_at_once_in_the_schemas_words(
    content: bytes, tmp_path: Path
) -> None:
    def change(book: Any) -> None:
        cell_of(book, PRICE).value = -1.0
        cell_of(book, "money.deposit_fraction").value = 15
        cell_of(book, "assumption.installation_fraction").value = "3 %"

    said = refused(content, tmp_path, change)
    assert any(
        PRICE in one and "is -1.0, and must be more than 0" in one and "Inputs!C" in one for one in said
    ), said
    assert any("money.deposit_fraction" in one and "must be 1 or less" in one for one in said), said
    assert any("assumption.installation_fraction" in one and "(type 0.03)" in one for one in said), said


def test_an_override_out_of_bounds_is_refused_at_its_cell(content: bytes, tmp_path: Path) -> None:
    def change(book: Any) -> None:
        cell_of(book, "assumption.installation_fraction").value = 1.5

    said = refused(content, tmp_path, change)
    assert any(
        "assumption.installation_fraction" in one and "must be between 0 and 1" in one and "Inputs!C" in one
        for one in said
    ), said


def test_changed_formulas_labels_and_locked_values_are_refused_with_their_cells(
    content: bytes, tmp_path: Path
) -> None:
    book = opened(content)
    formula = next(
        cell
        for row in book["Opex"].iter_rows(min_row=6, min_col=9, max_col=9)
        for cell in row
        if cell.data_type == "f"
    )
    count = next(row[2] for row in book["BOM"].iter_rows(min_row=6) if isinstance(row[2].value, int | float))
    locked = cell_of(book, "cluster.gpus")
    key = next(row[11] for row in book["Inputs"].iter_rows(min_row=4) if row[11].value == PRICE)

    def change(edited: Any) -> None:
        edited["Opex"][formula.coordinate].value = 12.0
        edited["BOM"][count.coordinate].value = 99
        edited["Inputs"][locked.coordinate].value = 16
        edited["Inputs"][key.coordinate].value = "site.price"
        edited["Metrics"]["H40"].value = "=1+1"

    said = "\n".join(refused(content, tmp_path, change))
    assert f"Opex!{formula.coordinate}: formula {formula.value[:30]}" in said
    assert "was replaced by 12.0 (put the formula back)" in said
    assert f"BOM!{count.coordinate}: was {count.value} and is 99, in a cell that is locked" in said
    assert f"Inputs!{locked.coordinate}: was 8 and is 16" in said
    assert f"Inputs!{key.coordinate}: was '{PRICE}' and is 'site.price'" in said
    assert "Metrics!H40: holds =1+1, and the planner leaves it empty" in said


def test_sheets_and_rows_that_were_added_taken_or_hidden_are_refused(content: bytes, tmp_path: Path) -> None:
    def sheets(book: Any) -> None:
        book["Tax"].sheet_state = "hidden"
        book.create_sheet("Mine")
        del book["Risk"]

    said = refused(content, tmp_path, sheets)
    assert [
        part in "\n".join(said) for part in ("'Tax' is hidden", "'Mine' was added", "'Risk' is missing")
    ] == [True] * 3
    assert any(
        "1 rows are missing from row 20 on" in one
        for one in refused(content, tmp_path, lambda book: book["Inputs"].delete_rows(20))
    )
    assert any(
        "1 rows were added from row 9 on" in one
        for one in refused(content, tmp_path, lambda book: book["Capex"].insert_rows(9))
    )
    moved = refused(content, tmp_path, lambda book: book.move_sheet("Tax", -3))
    assert any("in another order" in one for one in moved)


def test_a_limit_typed_on_summary_stays_there_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = evaluate(load_scenario("h100-8-lab", changes=["limits.capex_usd=1000000"]), open_catalog())
    book = opened(workbook_bytes(plan))
    cell = next(row[5] for row in book["Summary"].iter_rows(min_row=7) if row[10].value == "capex.total_usd")
    cell.value = 0.5
    assert imported(book, tmp_path).written == ()
    assert f"not read: limits in {cell.coordinate} of Summary" in capsys.readouterr().err


def test_a_case_that_is_not_there_is_refused(content: bytes, tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book["Scenarios"]["C3"].value = "hopeful"

    assert any(
        "no case 'hopeful'" in one and "optimistic" in one for one in refused(content, tmp_path, change)
    )


def test_a_changed_scenario_text_is_refused(content: bytes, tmp_path: Path) -> None:
    def change(book: Any) -> None:
        row = next(
            row for row in book["Changes"].iter_rows() if str(row[1].value).strip().startswith("gpus:")
        )
        row[1].value = str(row[1].value).replace("8", "16")

    assert any("the scenario's text was changed" in one for one in refused(content, tmp_path, change))


def test_what_is_no_workbook_of_the_planner_is_refused(tmp_path: Path) -> None:
    plain, other, text = tmp_path / "plain.xlsx", tmp_path / "none.xlsx", tmp_path / "text.xlsx"
    openpyxl.Workbook().save(plain)
    text.write_text("a,b", encoding="utf-8")
    for path, words in (
        (plain, "carries no scenario"),
        (other, "can't be read"),
        (text, "no workbook that can be read"),
    ):
        with pytest.raises(InputError, match=words):
            import_workbook(path, output=tmp_path / "plan.yaml", catalog=(), force=False)


def test_a_file_that_holds_something_else_is_kept_unless_forced(content: bytes, tmp_path: Path) -> None:
    path, target = tmp_path / "lab.xlsx", tmp_path / "plan.yaml"
    path.write_bytes(content)
    target.write_text("name: mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="--force"):
        import_workbook(path, output=target, catalog=(), force=False)
    assert target.read_text(encoding="utf-8") == "name: mine\n"
    assert import_workbook(path, output=target, catalog=(), force=True) == 0
    assert import_workbook(path, output=target, catalog=(), force=False) == 0


def test_a_plan_that_can_not_be_built_has_nothing_to_import(tmp_path: Path) -> None:
    plan = evaluate(load_scenario("h100-8-lab", changes=["workloads.0.model=llama-3.1-405b"]), open_catalog())
    assert not plan.feasible
    path = tmp_path / "plan.xlsx"
    path.write_bytes(workbook_bytes(plan))
    with pytest.raises(InputError, match="can't be built"):
        import_workbook(path, output=tmp_path / "plan.yaml", catalog=(), force=False)


def test_a_field_that_would_change_more_than_its_input_becomes_an_override(tmp_path: Path) -> None:
    plan = evaluate(load_scenario("h200-1024-ndr"), open_catalog())
    book = opened(workbook_bytes(plan))
    cell_of(book, "cluster.spare_fraction").value = 0.06
    found = imported(book, tmp_path)
    (one,) = found.written
    assert one.path == ("overrides", "cluster.spare_fraction")
    assert "performance.spare_fraction" in one.besides
    assert found.evaluation.ledger.scalar("cluster.spare_fraction") == 0.06
    assert found.evaluation.ledger.scalar("performance.goodput_fraction") == plan.ledger.scalar(
        "performance.goodput_fraction"
    )


def test_a_phases_order_comes_back_as_its_date(tmp_path: Path) -> None:
    plan = evaluate(load_scenario("h200-phased"), open_catalog())
    assert "phase.first.order_month" not in followed_keys(plan)
    book = opened(workbook_bytes(plan))
    cell_of(book, "phase.second.order_month").value = 5
    found = imported(book, tmp_path)
    assert "order: 2027-05" in found.text
    assert found.evaluation.ledger.scalar("phase.second.order_month") == 5
    cell_of(book, "phase.second.order_month").value = 30
    with pytest.raises(InputError, match="in service before it is ordered"):
        imported(book, tmp_path)
