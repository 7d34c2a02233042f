"""The workbooks of all shipped scenarios, worked out anew by an office program, equal the ledger."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Axis, Line
from planner.present.view.outcomes import finding, headlines, verdict
from planner.present.workbook import workbook_bytes
from planner.present.workbook.cells import letters
from planner.present.workbook.inputs import allowed_range, scenario_choices
from planner.present.workbook.layout import INPUT_VALUE, INPUTS, Layout, lay_out
from planner.present.workbook.summary import limits
from planner.scenario.load import load_scenario, shipped_scenarios
from tests import office

pytestmark = pytest.mark.office
SHIPPED = shipped_scenarios()
EDITED = ("h100-16384-roce", "h200-1024-ndr", "h200-phased", "h200-serving-fleet")
"""Own site, one purchase, two purchases, serving: every input that is followed is changed in them."""
PRICE = "site.electricity_usd_per_kwh"
ERROR = re.compile(r"#(N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|Err:\d")
RELATIVE = 1e-9
"""Office programs add up in another order than numpy; a wrong formula is off by far more."""


@dataclass(frozen=True)
class Book:
    """A workbook before and after the office program."""

    evaluation: Evaluation
    path: Path
    written: dict[tuple[str, str], Any]
    formulas: dict[tuple[str, str], str]
    again: dict[tuple[str, str], Any]


def layout_of(evaluation: Evaluation) -> Layout:
    return lay_out(evaluation, scenario_choices(evaluation))


def changed_inputs(evaluation: Evaluation) -> dict[str, float]:
    """Another value for every input that the workbook follows, each by another factor."""
    found = {}
    lines = [line for group in layout_of(evaluation).followed for line in group.lines]
    for number, line in enumerate(lines):
        value = evaluation.ledger.scalar(line)
        if line.unit == "month" or line.key.endswith("share_fraction"):
            continue  # another date or share breaks the plan's own sums
        _, highest, _ = allowed_range(line, evaluation.ledger.months)
        changed = value * (1.01 + number % 7 / 50) + (0.01 if value == 0 else 0.0)
        found[line.key] = value * 0.9 if highest is not None and changed > highest else changed
    return found


def edited(path: Path, target: Path, layout: Layout, changes: Mapping[str, float]) -> Path:
    """The workbook with values typed over its input cells."""
    book = openpyxl.load_workbook(path)
    for key, value in changes.items():
        spot = layout.spots[key]
        cell = book[spot.sheet].cell(spot.row + 1, spot.column + 1)
        assert not cell.protection.locked, f"{key} is locked"
        cell.value = value
    book.save(target)
    book.close()
    return target


def formulas_of(path: Path) -> dict[tuple[str, str], str]:
    book = openpyxl.load_workbook(path)
    found = {
        (sheet.title, cell.coordinate): str(cell.value)
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }
    book.close()
    return found


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Book]:
    """All workbooks, plain and edited, in one start of the office program."""
    folder, catalog = tmp_path_factory.mktemp("workbooks"), open_catalog()
    evaluations = {name: evaluate(load_scenario(name), catalog) for name in SHIPPED}
    paths = {name: folder / f"{name}.xlsx" for name in SHIPPED}
    for name, path in paths.items():
        path.write_bytes(workbook_bytes(evaluations[name]))
    plain = dict(paths)
    for name in EDITED:
        layout = layout_of(evaluations[name])
        target = folder / f"{name}-edited.xlsx"
        paths[f"{name}-edited"] = edited(plain[name], target, layout, changed_inputs(evaluations[name]))
    layout = layout_of(evaluations["h200-1024-ndr"])
    paths["price"] = edited(plain["h200-1024-ndr"], folder / "price.xlsx", layout, {PRICE: 0.2})
    again = dict(zip(paths, office.recalculate_all(list(paths.values())), strict=True))
    return {
        name: Book(
            evaluations[name.removesuffix("-edited") if name != "price" else "h200-1024-ndr"],
            path, office.values(path), formulas_of(path), office.values(again[name]),
        )
        for name, path in paths.items()
    }  # fmt: skip


def same(before: Any, after: Any, *, relative: float = RELATIVE) -> bool:
    if isinstance(before, int | float) and isinstance(after, int | float):
        return abs(before - after) <= max(1e-9, relative * abs(before))
    return before == after or (before in (None, "") and after in (None, ""))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_formula_equals_its_stored_value_after_recalculation(name: str, books: dict[str, Book]) -> None:
    book = books[name]
    assert len(book.formulas) > 2000
    wrong = [
        (place, text, book.written.get(place), book.again.get(place))
        for place, text in book.formulas.items()
        if not same(
            book.written.get(place), book.again.get(place), relative=1e-6 if "XIRR" in text else RELATIVE
        )
        # What rounding leaves of a difference is judged against what the check allows.
        and not (place[0] == "Checks" and place[1][0] == "D" and _rounding(book, place[1][1:]))
    ]
    assert wrong == []


def _rounding(book: Book, row: str) -> bool:
    difference, allowed = book.again[("Checks", f"D{row}")], book.again[("Checks", f"E{row}")]
    return abs(difference) <= allowed


@pytest.mark.parametrize("name", SHIPPED)
def test_all_checks_pass_and_no_cell_is_an_error(name: str, books: dict[str, Book]) -> None:
    again = books[name].again
    results = [value for (sheet, place), value in again.items() if sheet == "Checks" and place[0] == "F"][1:]
    assert len(results) > 30
    assert set(results) == {"pass"}
    assert again[("Checks", "A2")] == f"checks: {len(results)} of {len(results)} pass"
    assert again[("Summary", "A3")] == again[("Checks", "A2")]
    assert [place for place, value in again.items() if isinstance(value, str) and ERROR.match(value)] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_every_ledger_line_lies_at_its_place_with_its_value(name: str, books: dict[str, Book]) -> None:
    book = books[name]
    ledger, layout = book.evaluation.ledger, layout_of(book.evaluation)
    assert set(layout.spots) == set(ledger.lines)
    assert (
        differences(book.again, layout, ledger.lines, {key: ledger.value(key)[0] for key in ledger.lines})
        == []
    )


def differences(
    cells: Mapping[tuple[str, str], Any], layout: Layout, lines: Mapping[str, Line], values: Mapping[str, Any]
) -> list[str]:
    """Lines whose cells hold something else."""
    wrong = []
    for key, line in lines.items():
        spot = layout.spots[key]
        for offset, value in enumerate(np.atleast_1d(values[key])):
            cell = cells.get((spot.sheet, f"{letters(spot.column + offset)}{spot.row + 1}"))
            expected = float(value) if np.isfinite(value) else "n/a"
            if not same(expected, cell):
                wrong.append(f"{key}[{offset}]: workbook {cell!r}, Python {expected!r}")
            if line.axis is Axis.SCALAR:
                break
    return wrong


@pytest.mark.parametrize("name", EDITED)
def test_changing_every_followed_input_gives_what_python_gives(name: str, books: dict[str, Book]) -> None:
    book = books[f"{name}-edited"]
    draws = {key: np.array([value]) for key, value in changed_inputs(book.evaluation).items()}
    assert len(draws) > 40
    other = evaluate(load_scenario(name), open_catalog(), draws=draws).ledger
    layout = layout_of(book.evaluation)
    assert (
        differences(book.again, layout, other.lines, {key: other.value(key)[0] for key in other.lines}) == []
    )
    assert book.again[(INPUTS, "H2")] == len(draws)
    results = Counter(
        value for (sheet, place), value in book.again.items() if sheet == "Checks" and place[0] == "F"
    )
    judged, left_out = results["pass"], results["changed"]
    assert results["FAIL"] == 0
    assert left_out > 10
    said = f"checks: {judged} of {judged} pass, {left_out} not judged: inputs changed"
    assert book.again[("Checks", "A2")] == book.again[("Summary", "A3")] == said
    assert book.again.get(("Summary", "A4")) in (None, "")
    assert Counter(marks(book.again)) == {"changed": len(draws)}


def marks(cells: Mapping[tuple[str, str], Any]) -> list[str]:
    """What stands in the column that says which inputs were changed, below its heading."""
    return [
        value
        for (sheet, place), value in cells.items()
        if sheet == INPUTS and place[0] == "H" and int(place[1:]) > 3 and value
    ]


@pytest.mark.parametrize("name", EDITED)
def test_finding_verdict_and_ranges_say_that_they_are_as_planned_once_an_input_is_changed(
    name: str, books: dict[str, Book]
) -> None:
    plain, changed = books[name].again, books[f"{name}-edited"].again
    evaluation = books[name].evaluation
    said, _ = verdict(evaluation, headlines(evaluation))
    assert plain[("Summary", "A1")] == finding(evaluation)
    assert plain[("Summary", "A2")] == said
    assert (plain[("Summary", "D6")], plain[("Summary", "E6")]) == ("P10", "P90")
    assert marks(plain) == []
    assert changed[("Summary", "A1")] == f"As planned: {finding(evaluation)}"
    limited = bool(limits(evaluation))
    assert changed[("Summary", "A2")] == (
        f"As planned: {said.removesuffix('.')}; limits below are judged again." if limited else said
    )
    assert (changed[("Summary", "D6")], changed[("Summary", "E6")]) == ("P10, as planned", "P90, as planned")


def test_the_verdict_is_as_planned_once_a_limit_is_changed(tmp_path: Path) -> None:
    evaluation = evaluate(load_scenario("h100-8-lab", changes=["limits.capex_usd=1000000"]), open_catalog())
    path = tmp_path / "limit.xlsx"
    path.write_bytes(workbook_bytes(evaluation))
    book = openpyxl.load_workbook(path)
    row = next(row for row in book["Summary"].iter_rows(min_row=7) if row[10].value == "capex.total_usd")
    unit = {"USD": 1, "M USD": 1_000_000}[row[2].value]
    assert row[5].value * unit == 1_000_000
    row[5].value = 1000 / unit
    book.save(path)
    book.close()
    again = office.values(office.recalculate(path))
    assert again[("Summary", f"G{row[0].row}")] == "missed"
    assert again[("Summary", "A1")] == finding(evaluation)
    assert again[("Summary", "A2")].startswith("As planned: Meets ")
    assert again[("Summary", "A2")].endswith("; limits below are judged again.")
    assert again[("Summary", "D6")] == "P10"


def test_a_higher_price_of_electricity_moves_opex_and_worth_as_in_python(books: dict[str, Book]) -> None:
    book = books["price"]
    layout, before = layout_of(book.evaluation), book.evaluation.ledger
    changed = load_scenario("h200-1024-ndr", changes=["site.electricity_usd_per_kwh=0.2"])
    after = evaluate(changed, open_catalog()).ledger
    for key in ("opex.year1_usd", "tco.npv_usd", "metrics.npv_usd", "unit.usd_per_gpu_hour"):
        spot = layout.spots[key]
        cell = book.again[(spot.sheet, f"{letters(spot.column)}{spot.row + 1}")]
        assert same(after.scalar(key), cell), key
        assert not same(before.scalar(key), cell), key
    assert book.again[(INPUTS, "H2")] == 1


def test_the_banner_appears_when_a_value_that_needs_a_new_run_is_changed(tmp_path: Path) -> None:
    evaluation = evaluate(load_scenario("h100-8-lab"), open_catalog())
    layout, path = layout_of(evaluation), tmp_path / "lab.xlsx"
    path.write_bytes(workbook_bytes(evaluation))
    spot = layout.spots["cluster.gpus"]
    book = openpyxl.load_workbook(path)
    cell = book[INPUTS].cell(spot.row + 1, INPUT_VALUE + 1)
    assert cell.protection.locked
    cell.value = 16
    book.save(path)
    book.close()
    again = office.values(office.recalculate(path))
    assert again[("Summary", "A4")].startswith("An input that needs a new run was changed")
    # Half of the GPUs are in no phase now, and the checks say so on every sheet.
    assert again[("Summary", "A3")].startswith("FAIL: only ")
    assert again[("Metrics", "B1")] == again[("Summary", "A3")]
