"""What to try next after the guided start, words for empty lists, keys in footers and help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.tui.actions import known_actions
from planner.tui.footers import ALL_KEYS, MOST, footer
from planner.tui.helping import HELP, keys_told
from planner.tui.nexts import TASKS, next_lines, open_tasks, task_lines
from planner.tui.screens import DEFERRED
from planner.tui.state import State
from tests.unit.tui.conftest import go, press, settle, shown

OPTIC = ("network", "leaf", "optic")


async def test_the_list_ticks_itself_off_and_goes_away(app_of: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_of(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "g", "enter")
        for _ in range(5):
            await press(pilot, "enter")
        assert "Next · size it" in shown(app) and app.pane == "plan"
        app.keep(("cluster", "groups", 0, "gpus"), 512)
        await settle(pilot)
        assert "✓" not in shown(app) and "export report" in shown(app)  # open ones come first
        app.keep(OPTIC, "osfp-800g-2xdr4")
        await settle(pilot)
        assert (
            "✓ size it" in shown(app)
            and "swap an optic" not in shown(app)
            and len(open_tasks(app.state)) == 2
        )
        await press(pilot, "u")
        assert "· swap an optic" in shown(app) and len(open_tasks(app.state)) == 3
        await press(pilot, "ctrl+r", "b", "e", "enter")
        await settle(pilot)
        assert (tmp_path / "reports").is_dir()
        await press(pilot, "1")
        assert "Next" not in shown(app)
        await press(pilot, "question_mark")
        assert "next, to try" in shown(app) and shown(app).count("✓") == len(TASKS)


async def test_escape_puts_the_list_away(app_of: Any, plan_file: Path) -> None:
    from dataclasses import replace

    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert next_lines(app.state, 80) == []
        app.put(replace(app.state, guided=True))
        await settle(pilot)
        assert "Next" in shown(app)
        await press(pilot, "escape")
        assert "Next" not in shown(app)


async def test_the_value_before_is_what_the_planner_had_chosen(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        taken = app.state.last.used[OPTIC].value
        app.keep(OPTIC, "osfp-800g-lpo-2xdr4")
        await settle(pilot)
        assert app.state.timeline.last.old == f"({taken})"
        go(app, *OPTIC)
        await settle(pilot)
        assert f"before ({taken})" in shown(app).replace("\n ", " ")


async def test_an_empty_list_is_a_word_and_an_empty_box(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 40)) as pilot:
        await settle(pilot)
        empty = [row for row in app.plan.all_rows() if row.value in ([], ())]
        assert empty and all(row.text == "none" for row in empty)
        row = next(one for one in empty if one.field.holds.value == "words")
        go(app, *row.path)
        await press(pilot, "enter")
        assert app.query_one("#edit").value == ""
        before = app.state.draft.text
        await press(pilot, "enter")
        assert app.state.draft.text == before and not app.state.timeline.steps


@pytest.mark.parametrize(
    "pane",
    [
        "start",
        "plan",
        "typing",
        "where",
        "network",
        "compare",
        "study",
        "sensitivity",
        "catalog",
        "calibration",
        "export",
        "remedy",
    ],
)
def test_footers_name_eight_keys_at_most_and_fit(pane: str) -> None:
    text = footer(pane, {}, 80)
    assert len(text) < 80 and len([one for one in text.replace("   ", "  ").split("  ") if one]) <= MOST, text


def test_keys_named_by_footers_and_help_are_those_of_the_screens() -> None:
    known = known_actions()
    assert {
        name: keys for name, keys in ALL_KEYS.items() if known[name].split(",")[0] != keys.split(",")[0]
    } == {}
    for _, rows in HELP:
        for keys, _ in rows:
            assert keys_told(keys, {})
    assert keys_told("{edit.undo}", {"edit.undo": "f9"}) == "f9"


@pytest.mark.parametrize(
    ("digit", "own", "told"),
    [("4", {"compare.take": "f9"}, "f9 take"), ("5", {"search.go": "f8"}, "f8 go"), ("7", {"calibration.read": "f7"}, "f7 import")],
)  # fmt: skip
async def test_screens_that_come_later_have_the_users_keys(
    app_of: Any, plan_file: Path, digit: str, own: dict[str, str], told: str
) -> None:
    app = app_of(plan_file, keymap=own)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, digit)
        assert app.pane in DEFERRED and told in shown(app).splitlines()[-1]
        if digit == "5":
            await press(pilot, "v")
            assert "all draws" in shown(app).splitlines()[-1]


def test_nothing_is_listed_before_a_plan() -> None:
    assert next_lines(State(), 80) == [] and open_tasks(State()) == TASKS


async def test_the_right_pane_says_what_the_purchase_rests_on(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(140, 45)) as pilot:
        await settle(pilot)
        shares = app.state.last.evidence
        assert shares and abs(sum(share for _, share in shares) - 1.0) < 1e-9
        text = shown(app)
        assert "Evidence" in text and f"{round(shares[0][1] * 100)} % published" in text
        bar_row = next(line for line in text.splitlines() if "capex    █" in line)
        assert bar_row.count("█") > bar_row.count("▓") > 0


def test_the_help_tells_all_of_each_task_in_its_width() -> None:
    told = [line.text for line in task_lines(State(), 50)]
    words = " ".join(" ".join(told).split())
    assert all(f"{one.told}: {one.keys}" in words for one in TASKS)
    assert len(told) > len(TASKS) and all(len(one) <= 50 for one in told)
