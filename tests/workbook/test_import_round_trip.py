"""Edited workbooks read back: the scenario gives what an office program works out in the workbook."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Axis
from planner.present.workbook import workbook_bytes
from planner.present.workbook.cells import letters
from planner.present.workbook.inputs import allowed_range, scenario_choices
from planner.present.workbook.layout import CHANGED, INPUTS, Layout, lay_out
from planner.present.workbook.selector import cases_of, followed_lines
from planner.scenario.load import load_scenario
from tests import office
from tests.workbook.random_scenarios import random_plans

pytestmark = pytest.mark.office
EDITS, BOOKS, SEED = 200, 10, 6
RELATIVE = 1e-9
"""Office programs add up in another order than numpy."""
CENT = 0.005


@dataclass(frozen=True)
class Round:
    """A workbook with edits: what was typed, what the office program made of it, what was imported."""

    before: Evaluation
    typed: dict[str, float]
    worked: dict[tuple[str, str], Any]
    after: Evaluation
    text: str


def layout_of(evaluation: Evaluation) -> Layout:
    return lay_out(evaluation, scenario_choices(evaluation))


def random_value(dice: random.Random, evaluation: Evaluation, key: str) -> float:
    """Another value in the range that the workbook allows, with as few digits as a person types."""
    line, value = evaluation.ledger[key], evaluation.ledger.scalar(key)
    low, high, _ = allowed_range(line, evaluation.ledger.months)
    if line.unit == "month":
        return float(
            dice.randint(0, int(value))
        )  # no later than planned, so that nothing works before it is ordered
    top = min(high if high is not None else 3.0 * value or 1.0, 3.0 * value or high or 1.0)
    return float(f"{dice.uniform(max(low, value / 4), top):.4g}")


def edit(source: Path, target: Path, layout: Layout, typed: Mapping[str, float], case: str = "base") -> None:
    book = openpyxl.load_workbook(source)
    for key, value in typed.items():
        spot = layout.spots[key]
        cell = book[spot.sheet].cell(spot.row + 1, spot.column + 1)
        assert not cell.protection.locked, key
        cell.value = value
    book["Scenarios"]["C3"].value = case
    book.save(target)
    book.close()


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> list[Round]:
    """Ten workbooks with twenty edits each, recalculated in one start of the office program, and imported."""
    folder, catalog, dice = tmp_path_factory.mktemp("rounds"), open_catalog(), random.Random(SEED)
    shipped = [
        evaluate(load_scenario(name), open_catalog())
        for name in ("h200-phased", "h200-serving-fleet", "h100-16384-roce")
    ]
    drawn = [evaluation for _, evaluation in random_plans(SEED, 2, catalog)]
    plans = [*shipped, *drawn] * 2
    typed: list[dict[str, float]] = []
    paths: list[Path] = []
    for number, plan in enumerate(plans):
        written, path = folder / "written.xlsx", folder / f"{number}.xlsx"
        written.write_bytes(workbook_bytes(plan))
        keys = dice.sample([line.key for line in followed_lines(plan)], EDITS // BOOKS)
        typed.append({key: random_value(dice, plan, key) for key in keys})
        edit(written, path, layout_of(plan), typed[-1])
        paths.append(path)
    worked = office.recalculate_all(paths)
    found = []
    for plan, values, path, again in zip(plans, typed, paths, worked, strict=True):
        target = folder / f"{path.stem}.yaml"
        assert run_app(["import", str(path), "-o", str(target)]) == 0
        after = evaluate(load_scenario(target), catalog)
        found.append(Round(plan, values, office.values(again), after, target.read_text(encoding="utf-8")))
    return found


def differences(layout: Layout, worked: Mapping[tuple[str, str], Any], after: Evaluation) -> list[str]:
    """Lines of the imported plan whose cells hold something else; money is compared to the cent too."""
    wrong = []
    for line in after.ledger:
        spot = layout.live.get(line.key) or layout.spots[line.key]
        values = np.atleast_1d(after.ledger.value(line)[0])
        scale = float(np.nanmax(np.abs(values))) if values.size else 0.0
        for offset, value in enumerate(values[: 1 if line.axis is Axis.SCALAR else None]):
            cell = worked.get((spot.sheet, f"{letters(spot.column + offset)}{spot.row + 1}"))
            if not np.isfinite(value):
                same = cell == "n/a"
            else:
                same = isinstance(cell, int | float) and abs(cell - value) <= max(
                    1e-9, RELATIVE * abs(value), 1e-13 * scale
                )
                same = same and (line.unit != "USD" or abs(cell - value) <= max(CENT, 1e-12 * abs(value)))
            if not same:
                wrong.append(f"{line.key}[{offset}]: workbook {cell!r}, imported {value!r}")
    return wrong


def test_two_hundred_edits_come_back_and_give_the_workbooks_totals(rounds: list[Round]) -> None:
    assert sum(len(one.typed) for one in rounds) == EDITS
    moved = 0
    for one in rounds:
        layout = layout_of(one.before)
        assert one.worked[(INPUTS, "H2")] == sum(
            one.before.ledger.scalar(key) != value for key, value in one.typed.items()
        )
        assert differences(layout, one.worked, one.after) == []
        moved += one.before.ledger.scalar("tco.npv_usd") != one.after.ledger.scalar("tco.npv_usd")
    assert moved == len(rounds)


def test_an_edit_becomes_a_field_or_an_override_that_names_its_cell(rounds: list[Round]) -> None:
    fields = overrides = 0
    for one in rounds:
        for key, value in one.typed.items():
            wish = one.after.loaded.scenario.overrides.get(key)
            if one.before.ledger.scalar(key) == value:
                continue
            if wish is None:
                fields += 1
            else:
                overrides += wish.reason.startswith("edited in ") and wish.reason.split("!C")[-1].isdigit()
            assert one.after.ledger.scalar(key) == pytest.approx(value, rel=1e-12)
    assert fields > 5
    assert overrides > 100


def test_every_case_gives_what_python_gives_and_an_edit_holds_in_it(tmp_path: Path) -> None:
    catalog = open_catalog()
    plan = evaluate(load_scenario("h200-serving-fleet"), catalog)
    layout, known = layout_of(plan), cases_of(plan)
    assert {"base", "all low", "all high", "optimistic", "pessimistic", "cheap energy"} <= set(known)
    written, typed = tmp_path / "written.xlsx", {"site.electricity_usd_per_kwh": 0.31}
    written.write_bytes(workbook_bytes(plan))
    wanted = {name: (name, {}) for name in known} | {"edited": ("all low", typed)}
    paths = [tmp_path / f"{name}.xlsx" for name in wanted]
    for path, (case, edits) in zip(paths, wanted.values(), strict=True):
        edit(written, path, layout, edits, case)
    worth: dict[str, float] = {}
    for (name, (case, edits)), again in zip(wanted.items(), office.recalculate_all(paths), strict=True):
        draws = {key: np.array([value]) for key, value in (known[case] | edits).items()}
        after, worked = (
            evaluate(load_scenario("h200-serving-fleet"), catalog, draws=draws),
            office.values(again),
        )
        assert differences(layout, worked, after) == [], name
        worth[name] = after.ledger.scalar("tco.npv_usd")
        checks = [value for (sheet, place), value in worked.items() if sheet == "Checks" and place[0] == "F"]
        assert ("FAIL" in checks, CHANGED in checks) == (False, name != "base"), name
        assert str(worked[("Summary", "A1")]).startswith("As planned: ") == (name != "base")
    assert worth["optimistic"] < worth["base"] < worth["pessimistic"]
    assert worth["edited"] > worth["all low"]


def test_a_selected_case_comes_back(tmp_path: Path) -> None:
    catalog = open_catalog()
    plan = evaluate(load_scenario("h200-phased"), catalog)
    written, path, target = (tmp_path / name for name in ("written.xlsx", "edited.xlsx", "plan.yaml"))
    written.write_bytes(workbook_bytes(plan))
    edit(written, path, layout_of(plan), {}, "pessimistic")
    assert run_app(["import", str(path), "-o", str(target)]) == 0
    after = evaluate(load_scenario(target), catalog)
    for key, value in cases_of(plan)["pessimistic"].items():
        assert after.ledger.scalar(key) == pytest.approx(value, rel=1e-12), key
    assert after.ledger.scalar("tco.npv_usd") > plan.ledger.scalar("tco.npv_usd")
    assert target.read_text(encoding="utf-8").startswith("# The same 1,024 H200 bought in two steps")


def test_a_workbook_saved_by_an_office_program_is_read_the_same(tmp_path: Path) -> None:
    catalog = open_catalog()
    plan = evaluate(load_scenario("h100-8-lab"), catalog)
    written, path, target = (tmp_path / name for name in ("written.xlsx", "edited.xlsx", "plan.yaml"))
    written.write_bytes(workbook_bytes(plan))
    edit(written, path, layout_of(plan), {"site.electricity_usd_per_kwh": 0.25})
    assert run_app(["import", str(office.recalculate(path)), "-o", str(target)]) == 0
    after = evaluate(load_scenario(target), catalog)
    assert after.ledger.scalar("site.electricity_usd_per_kwh") == 0.25
    assert after.loaded.scenario.site.electricity_usd_per_kwh == 0.25
