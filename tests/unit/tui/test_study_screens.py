"""Compare, Study, Calibration, Network's offers and the catalog's comparison, key by key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.tui.plot import Dot, Ticks, scatter
from planner.tui.screen_calibration import CalibrationPane
from planner.tui.screen_compare import ComparePane
from planner.tui.screen_network import NetworkPane
from planner.tui.screen_search import SearchPane
from planner.tui.screen_sensitivity import SensitivityPane
from planner.tui.screens import HERE
from planner.tui.state import Stand
from tests.unit.tui.conftest import bar, press, settle, shown

PLAN = ("workloads", 0, "plan")


async def test_a_search_is_shown_with_its_plot_and_a_point_taken_into_the_plan(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "5")
        await press(pilot, "g")
        text = shown(app)
        assert "plans tried" in text and "M USD of the run against days" in text and "◆" in text
        pane = app.query_one(SearchPane)
        second = pane.shown[1].run
        await press(pilot, "down", "enter")
        written = app.state.draft.value(PLAN)
        assert written["tensor"] * written["pipeline"] * written["context"] * written["data"] == second.gpus
        assert app.stand is Stand.CURRENT
        days = next(cell.value for cell in app.state.headlines if cell.key.endswith("days_to_train"))
        assert abs(days / second.days - 1) < 1e-3
        assert "as it was before the last edits" in shown(app)
        await press(pilot, "u")
        assert app.state.draft.text == plan_file.read_text()


async def test_a_search_that_was_called_off_leaves_nothing(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "5")
        pane = app.query_one(SearchPane)
        pane.action_go()
        assert pane.busy
        pane.action_cancel()
        await pilot.pause(0.5)
        assert pane.searched is None and not pane.busy and "cancelled" in shown(app)
        await pilot.press("escape")  # nothing runs any more, so it goes back
        assert app.pane == "plan"


async def test_what_moves_a_result_and_would_change_the_decision(app_of: Any, plan_file: Path) -> None:
    plan_file.write_text(plan_file.read_text().replace("capex_usd: 60_000_000", "capex_usd: 49_000_000"))
    app = app_of(plan_file)
    async with app.run_test(size=(140, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "5")
        await press(pilot, "v")
        text = shown(app)
        assert "What would change the decision" in text and "│" in text and "P90" in text
        pane = app.query_one(SensitivityPane)
        assert pane.swung is not None and pane.swung.evaluation.risk is not None
        widths = [one.width for one in pane.swung.evaluation.risk.swings]
        assert widths == sorted(widths, reverse=True)
        await press(pilot, "right")
        assert pane.result != "tco.npv_usd" and pane.swung.key == pane.result
        await press(pilot, "enter")
        assert len(app.screen_stack) == 2 and "why" in shown(app)


async def test_plans_stand_side_by_side_and_one_is_taken(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        assert "set another plan beside this one" in shown(app)
        pane = app.query_one(ComparePane)
        pane.put_in("h200-1024-spectrum-x")
        await settle(pilot)
        text = shown(app)
        assert "too close to call" in text and "[B h200-1024-spe" in text
        assert "4 differ" in text and pane.compared is not None
        await press(pilot, "f")
        found = json.loads(Path("reports/compare.json").read_text())
        assert [one["letter"] for one in found["scenarios"]] == ["A", "B"]
        assert "<script" not in Path("reports/compare.html").read_text()
        await press(pilot, "o")
        assert "sn5600" in app.state.draft.text and app.state.timeline.last.said.startswith("took")
        await press(pilot, "u")
        assert app.state.draft.text == plan_file.read_text()
        await press(pilot, "delete")
        assert not pane.columns


async def test_c_puts_the_plan_as_it_stands_into_compare(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        before = app.state.draft.text
        await press(pilot, "c")
        await settle(pilot)
        pane = app.query_one(ComparePane)
        assert app.pane == "compare" and [one.text for one in pane.columns] == [before]
        for _ in range(3):
            pane.put_in(HERE)
        await pilot.pause(1.0)  # each one withdraws the comparison before
        assert len(pane.columns) == 3 and "4 plans stand side by side at most" in shown(app)


async def test_measured_points_stand_beside_the_curve_and_a_log_is_imported(
    app_of: Any, plan_file: Path
) -> None:
    log = plan_file.parent / "all_reduce.csv"
    rows = [
        f"h200,all_reduce,half,8,{2**power},{10 + 2**power / 4e5:.3f},nccl,2.27.3"
        for power in range(10, 31, 2)
    ]
    log.write_text("\n".join(["gpu,op,dtype,num_gpus,message_bytes,latency_us,library,row_version", *rows]))
    app = app_of(plan_file)
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "7")
        await settle(pilot)
        text = shown(app)
        assert (
            "●" in text
            and "─" in text
            and "months old" in "\n".join(line.text for line in app.query_one(CalibrationPane).view.lines)
        )
        first = app.query_one(CalibrationPane).curves[0]
        await press(pilot, "right")
        assert f"← {first} →" not in shown(app)
        pane = app.query_one(CalibrationPane)
        pane._files_given(str(plan_file))
        await settle(pilot)
        assert "✗" in shown(app) and pane.imported is None  # a scenario holds no measurement
        pane._files_given(str(log))
        await settle(pilot)
        assert "day of the measurement" in shown(app)  # a table carries no date
        await press(pilot, "enter")
        assert pane.imported is not None, pane.wrong
        assert "errors of the fit" in "\n".join(line.text for line in pane.view.lines)
        pane._path_given("mine.yaml")
        assert Path("mine.yaml").is_file() and pane.imported.path is not None


async def test_offers_of_the_network_are_worked_out_and_applied(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        await press(pilot, "f")
        assert "every limit the scenario states is met" in shown(app)
        await press(pilot, "o")
        await settle(pilot)
        pane = app.query_one(NetworkPane)
        offers = pane.found[1].offers
        place = next(at for at, one in enumerate(offers) if one.edits and not one.why_not)
        pane.view.put(next(at for at, line in enumerate(pane.view.lines) if line.key == f"apply:{place}"))
        await press(pilot, "enter")
        assert app.state.timeline.last.said == offers[place].name and app.stand is Stand.CURRENT, bar(app)
        await press(pilot, "u")
        assert app.state.draft.text == plan_file.read_text()


async def test_two_parts_of_the_catalog_stand_side_by_side(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "6")
        assert "○" in shown(app) or "price over time" in "\n".join(
            line.text for line in app.query_one("#catalog-detail").lines
        )
        await press(pilot, "space", "down")
        assert "differ" in shown(app) and "≠" in shown(app)
        await press(pilot, "up", "space")
        assert "≠" not in shown(app)


def test_a_plot_of_one_point_is_in_the_middle() -> None:
    lines = scatter([Dot(3.0, 4.0, "x")], Ticks("3", "3", "a"), Ticks("4", "4", "b"), 20, 8)
    assert sum("x" in line.text for line in lines) == 1 and len(lines) == 8
