"""A folder of scenarios: listed, copied, removed, and a guided first one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.errors import ScenarioError
from planner.scenario.load import find_scenario, load_text
from planner.tui.guide import GOALS, data_of, files_of
from planner.tui.state import Stand
from planner.tui.workspace import copied, free_name, removed, scenarios_in, used_by
from tests.unit.tui.conftest import press, settle, shown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two scenarios, one of which extends the other, beside files that are none."""
    monkeypatch.chdir(tmp_path)
    where = tmp_path / "plans"
    where.mkdir()
    (where / "a.yaml").write_bytes(find_scenario("h200-1024-ndr").read_bytes())
    (where / "b.yml").write_text('extends: a.yaml\nname: "A child"  # of a\n')
    (where / "notes.yaml").write_text("todo: [buy racks]\n")
    (where / ".hidden.yaml").write_text("workloads: []\n")
    (where / "broken.yaml").write_bytes(b"workloads: [\xff\n")
    return where


def test_scenarios_are_told_from_other_files(folder: Path) -> None:
    found = scenarios_in(folder)
    assert [one.path.name for one in found] == ["a.yaml", "b.yml", "broken.yaml"]
    assert found[1].told == "A child, changes a.yaml"
    assert used_by(folder / "a.yaml", found) == ("b.yml",)


def test_a_copy_never_replaces_a_file(folder: Path) -> None:
    made = copied(folder / "a.yaml", "c")
    assert made.read_bytes() == (folder / "a.yaml").read_bytes()
    with pytest.raises(ScenarioError, match="there already"):
        copied(folder / "b.yml", "c.yaml")
    assert free_name(folder, "c") == "c-2.yaml"


def test_what_cant_be_removed_or_listed_is_said(folder: Path) -> None:
    with pytest.raises(ScenarioError, match="can't be removed"):
        removed(folder / "none.yaml")
    with pytest.raises(ScenarioError, match="can't be read"):
        scenarios_in(folder / "none")


async def test_a_folder_opens_as_a_list_and_a_plan_from_it(app_of: Any, folder: Path) -> None:
    app = app_of(folder)
    async with app.run_test(size=(90, 26)) as pilot:
        await settle(pilot)
        assert "Scenarios in" in shown(app) and "A child" in shown(app) and "notes" not in shown(app)
        await press(pilot, "down", "enter")
        assert app.state.draft.path.name == "b.yml" and app.stand is Stand.CURRENT
        assert "base" in {row.standing for row in app.plan.rows}


async def test_copy_and_delete_ask_first(app_of: Any, folder: Path) -> None:
    app = app_of(folder)
    async with app.run_test(size=(90, 26)) as pilot:
        await settle(pilot)
        await press(pilot, "c", "enter")
        assert (folder / "a-copy.yaml").is_file() and "copied to a-copy.yaml" in shown(app)
        await press(pilot, "home", "down", "delete", "enter")
        assert (folder / "a.yaml").is_file()  # the first answer keeps it
        await press(pilot, "home", "down", "delete")
        assert "b.yml extends it" in app.screen.note
        await press(pilot, "down", "enter")
        assert not (folder / "a.yaml").exists() and "deleted a.yaml" in shown(app)


@pytest.mark.parametrize("goal", GOALS, ids=[one.id for one in GOALS])
def test_each_goal_has_five_questions_and_makes_a_valid_plan(goal: Any) -> None:
    assert len(goal.questions) == 5
    name, text = next(iter(files_of(goal, data_of(goal, {}, "Mine"), {}, "mine").items()))
    scenario = load_text(text, Path(name)).scenario
    assert scenario.name == "Mine" and scenario.cluster.groups[0].server == "hgx-h200"


def test_answers_stand_in_the_plan() -> None:
    answers = {"days": "45", "gpus": "1,024", "location": "norway"}
    found = load_text(
        files_of(GOALS[0], data_of(GOALS[0], answers, "x"), answers, "x")["x.yaml"], Path("x.yaml")
    )
    assert found.scenario.limits.days == 45 and found.scenario.cluster.groups[0].gpus == 1024
    assert found.scenario.site.location == "norway"


@pytest.mark.parametrize("answer", ["", "many", "-3", "0", "true"])
def test_an_answer_that_is_no_number_is_refused(answer: str) -> None:
    question = next(one for one in GOALS[0].questions if one.number)
    assert question.wrong(answer)
    assert not question.wrong("12.5")


async def test_the_guide_ends_in_a_plan_that_can_be_built(app_of: Any, folder: Path) -> None:
    app = app_of(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "g")
        assert "Fill a power budget" in shown(app)
        await press(pilot, "enter", "enter")
        assert "2 of 5" in shown(app)
        box = app.screen.query_one("#overlay-filter")
        box.value = "soon"
        await press(pilot, "enter")
        assert "'soon' is no number" in shown(app) and "2 of 5" in shown(app)
        await press(pilot, "escape")
        assert "1 of 5" in shown(app)
        for _ in range(5):
            await press(pilot, "enter")
        assert app.stand is Stand.CURRENT and app.state.draft.new and app.state.draft.dirty
        assert app.state.last.evaluation.feasible and app.state.draft.path.parent == folder


async def test_typing_replaces_what_a_question_proposes(app_of: Any, folder: Path) -> None:
    app = app_of(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "g", "enter")
        for _ in range(3):
            await press(pilot, "enter")
        assert "4 of 5" in shown(app)
        await press(pilot, "6", "4", "enter", "enter")
        assert app.state.draft.document.data["cluster"]["groups"][0]["gpus"] == 64


async def test_a_power_budget_is_filled_and_not_passed(app_of: Any, folder: Path) -> None:
    app = app_of(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "g", "down", "down", "enter")
        app.screen.query_one("#overlay-filter").value = "0.1"
        await press(pilot, "enter", "enter", "enter", "enter", "enter")
        ledger = app.state.last.evaluation.ledger
        assert app.stand is Stand.CURRENT and app.state.last.meets
        gpus = app.state.draft.value(("cluster", "groups", 0, "gpus"))
        peak = ledger.scalar("power.facility_peak_w")
        assert (
            peak <= 0.1e6 < peak / gpus * (gpus + 16)
        )  # two servers more, switches included, would be too many


async def test_two_quotes_give_a_pair_of_plans(app_of: Any, folder: Path) -> None:
    for name, price in (("quote-a.csv", 1), ("quote-b.csv", 2)):
        (folder / name).write_text(
            f"item,unit price,currency,date\nhgx-h200,{290000 + price},USD,2026-10-01\n"
        )
    app = app_of(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "g", "down", "down", "down", "enter", "enter", "enter", "enter", "enter", "enter")
        assert {"quotes.yaml", "quotes-b.yaml"} <= {one.name for one in folder.iterdir()}
        assert app.state.draft.path.name == "quotes.yaml" and not app.state.draft.dirty
        assert app.state.draft.value(("quotes",)) == ["quote-a.csv"]


async def test_escape_leaves_the_guide_with_nothing_open(app_of: Any, folder: Path) -> None:
    app = app_of(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "g", "enter", "enter", "escape", "escape", "escape")
        assert app.stand is Stand.EMPTY and len(app.screen_stack) == 1 and app.pane == "start"
