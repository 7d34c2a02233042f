"""What the program does, key by key."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from textual import events

from planner.evaluate import evaluate
from planner.tui.files import Shelf
from planner.tui.helping import help_screen
from planner.tui.state import Stand, State
from planner.tui.texts import fixes
from tests.unit.tui.conftest import bar, go, headline_short, press, settle, shown, type_in

GPUS = ("cluster", "groups", 0, "gpus")


async def test_a_plan_is_drawn_and_evaluated(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        rows = bar(app)
        assert app.stand is Stand.CURRENT
        assert headline_short() in rows[1] and headline_short(6) in rows[1]
        assert "mine.yaml" in rows[3] and "*" not in rows[3]
        assert len(rows) == 4 and all(len(row) <= 80 for row in rows)


async def test_an_edit_is_previewed_and_escape_restores(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = bar(app)
        go(app, *GPUS)
        await type_in(pilot, "2,048", keep=False)
        assert app.state.previewed is not None
        assert bar(app)[1] != before[1]
        assert app.state.draft.text == plan_file.read_text()
        await press(pilot, "escape")
        assert bar(app) == before
        assert not app.state.timeline.steps


async def test_an_edit_is_kept_shown_with_its_change_and_undone(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = bar(app)
        go(app, *GPUS)
        await type_in(pilot, "2048")
        assert "gpus: 2048" in app.state.draft.text
        rows = bar(app)
        assert "▲" in rows[2] and "▼" in rows[2]
        assert "cluster.groups.main.gpus 1,024 > 2,048" in rows[3] and rows[3].rstrip().endswith("*")
        assert app.plan.row.standing == "u"
        step = app.state.timeline.last
        assert step.time == "12:00:00"
        assert {one.bar for one in step.changes if one.glyph} >= {"DAYS", "CAPEX", "MW"}
        await press(pilot, "u")
        assert bar(app)[1] == before[1] and "*" not in bar(app)[3]
        await press(pilot, "ctrl+r")
        assert bar(app)[:3] == rows[:3]
        await press(pilot, "ctrl+z", "ctrl+y")
        assert bar(app)[:3] == rows[:3]


async def test_what_is_typed_right_behind_enter_goes_into_the_field(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        for key in ("enter", "2", "0", "4", "8"):
            app.post_message(events.Key(key, key if len(key) == 1 else "\r"))
        await settle(pilot)
        assert app.pane == "plan" and app.query_one("#edit").value == "2048"
        await press(pilot, "enter")
        assert app.state.draft.value(GPUS) == 2048


async def test_invalid_input_keeps_the_last_values_and_says_what_the_cli_says(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "site", "pue")
        await type_in(pilot, "0.9", keep=False)
        assert app.stand is Stand.INVALID
        rows = bar(app)
        assert "! site.pue: is 0.9, and must be 1 or more" in rows[3]
        assert f"~{headline_short()}" in rows[1]
        assert app.plan.row.problem == "site.pue: is 0.9, and must be 1 or more"
        await press(pilot, "enter", "home", "n")
        assert app.plan.row.path == ("site", "pue")
        await press(pilot, "d")
        assert app.stand is Stand.CURRENT and "pue" not in app.state.draft.text


async def test_a_catalog_problem_is_marked_at_its_field(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "1028")
        assert app.stand is Stand.INVALID
        assert "and 'hgx-h200' has 8 GPUs" in app.plan.row.problem
        await press(pilot, "x", "1")
        assert app.state.draft.value(GPUS) == 1032
        assert app.stand is Stand.CURRENT


async def test_a_plan_that_cant_be_built_shows_remedies_that_can_be_applied(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "network", "topology")
        await press(pilot, "enter")
        await pilot.press(*"single")
        await press(pilot, "enter")
        assert app.stand is Stand.REFUSED
        rows = bar(app)
        assert "✗ one switch needs 1,024 ports, has 64" in rows[3] and f"~{headline_short()}" in rows[1]
        assert "1 topology rail-optimised" in shown(app)
        await press(pilot, "x", "1")
        assert app.stand is Stand.CURRENT and "topology: rail-optimised" in app.state.draft.text
        await press(pilot, "u")
        assert app.stand is Stand.REFUSED
        await press(pilot, "x", str(len(fixes(app.state))))  # fewer GPUs stand last
        assert app.state.draft.value(GPUS) == 64


async def test_saving_keeps_comments_and_layout(app_of: Any, plan_file: Path) -> None:
    text = plan_file.read_text()
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        go(app, "site", "pue")
        await type_in(pilot, "1.2")
        await press(pilot, "ctrl+s")
        assert "saved mine.yaml" in bar(app)[3]
        assert not app.state.draft.dirty
    saved = plan_file.read_text()
    assert saved == text.replace("gpus: 1024", "gpus: 512").replace(
        "limit_mw: 2.5\n", "limit_mw: 2.5\n  pue: 1.2\n"
    )
    assert not list((app.shelf.folder / "recovery").glob("*.json"))


async def test_a_shipped_scenario_is_saved_under_another_name(
    app_of: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_of("h200-1024-spectrum-x")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        original = app.state.draft.path.read_bytes()
        go(app, *GPUS)
        await type_in(pilot, "512")
        await press(pilot, "ctrl+s")
        assert "save as" in shown(app)
        await press(pilot, "enter")
        assert "title of the plan" in shown(app)
        await press(pilot, "escape")
        assert "not saved" in bar(app)[3] and not Path("h200-1024-spectrum-x.yaml").exists()
        await press(pilot, "ctrl+s", "enter", "end", "space", *"mine", "enter")
        saved = Path("h200-1024-spectrum-x.yaml").read_text()
        first, *rest = original.decode().splitlines()
        rest[1] += " mine"
        assert first.startswith("#") and not saved.startswith("#")
        assert saved.startswith(
            "\n".join(rest)
            .replace("Ethernet mine", '"1,024 H200 on Spectrum-X Ethernet mine"')
            .replace('name: 1,024 H200 on Spectrum-X "', 'name: "')
        )
        assert app.state.draft.path == Path("h200-1024-spectrum-x.yaml") and not app.state.draft.dirty
        assert app.stand is Stand.CURRENT
        await press(pilot, "u")
        assert app.state.draft.value(("name",)) == "1,024 H200 on Spectrum-X Ethernet"
        assert app.state.draft.value(GPUS) == 512


@pytest.mark.parametrize(("answer", "gpus"), [(0, 256), (1, 512)])
async def test_a_file_changed_by_another_program_is_noticed(
    app_of: Any, plan_file: Path, answer: int, gpus: int
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        plan_file.write_text(plan_file.read_text().replace("gpus: 1024", "gpus: 256"))
        await press(pilot, "ctrl+s")
        assert "changed by another program" in shown(app)
        await press(pilot, *["down"] * answer, "enter")
        assert app.state.draft.value(GPUS) == gpus
        assert f"gpus: {gpus}" in plan_file.read_text()
        assert not app.state.draft.dirty
        if answer == 0:
            await press(pilot, "u")
            assert app.state.draft.value(GPUS) == 512 and app.state.draft.dirty


async def test_quitting_with_edits_asks_and_can_be_stayed(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        await press(pilot, "ctrl+q")
        assert "aren't saved" in shown(app) and app.is_running
        await press(pilot, "escape")
        assert app.state.draft.dirty and len(app.screen_stack) == 1
        await press(pilot, "ctrl+q", "enter")
    assert app.return_value == 0
    assert "gpus: 512" in plan_file.read_text()


async def test_quitting_while_typing_doesnt_lose_what_was_typed(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512", keep=False)
        await press(pilot, "ctrl+q")
        assert "aren't saved" in shown(app)
        await press(pilot, "down", "enter")
    assert "gpus: 1024" in plan_file.read_text()


async def test_edits_survive_a_crash(app_of: Any, plan_file: Path, tmp_path: Path) -> None:
    dead = Shelf(tmp_path / "state", process=2**22 + 12345)
    app = app_of(plan_file, shelf=dead)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "left unsaved edits" in shown(app)
        await press(pilot, "enter")
        assert app.state.draft.value(GPUS) == 512 and app.state.draft.dirty
        await press(pilot, "u")
        assert app.state.draft.value(GPUS) == 1024
    assert "gpus: 1024" in plan_file.read_text()


async def test_changes_count_from_the_pin(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "2048")
        await press(pilot, "b")
        assert not bar(app)[2].strip()
        go(app, *GPUS)
        await type_in(pilot, "512")
        assert "▼" in bar(app)[2]
        await press(pilot, "B")
        assert app.state.draft.value(GPUS) == 2048
        await press(pilot, "u")
        assert app.state.draft.value(GPUS) == 512


async def test_history_goes_back_to_an_edit(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for gpus in ("2048", "512"):
            go(app, *GPUS)
            await type_in(pilot, gpus)
        await press(pilot, "h")
        assert "1,024 > 2,048" in shown(app) and "DAYS" in shown(app)
        await press(pilot, "home", "enter")
        assert app.state.draft.value(GPUS) == 1024 and not app.state.draft.dirty
        await press(pilot, "h", "end", "enter")
        assert app.state.draft.value(GPUS) == 512


class Slow:
    """An evaluation that waits until it is let go, and counts."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.seen: list[int] = []

    def __call__(self, loaded: Any, catalog: Any) -> Any:
        self.seen.append(loaded.scenario.cluster.groups[0].gpus)
        self.gate.wait(10)
        return evaluate(loaded, catalog)


async def test_a_stale_result_is_dropped_and_waiting_is_shown(app_of: Any, plan_file: Path) -> None:
    slow = Slow()
    app = app_of(plan_file, evaluate=slow)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await pilot.press("enter")
        app.query_one("#edit").value = ""
        await settle(pilot)
        slow.gate.clear()
        for letter in "2048":
            app.post_message(events.Key(letter, letter))
        await pilot.pause(0.5)
        assert app.stand is Stand.STALE and "~" in bar(app)[1]
        asked = app.state.asked
        slow.gate.set()
        await settle(pilot)
        assert app.state.answer.question.number == asked
        assert app.state.last.question.loaded.scenario.cluster.groups[0].gpus == 2048
        assert app.stand is Stand.CURRENT
        assert 204 not in slow.seen or slow.seen[-1] == 2048


async def test_our_own_fault_is_recorded_and_editing_goes_on(app_of: Any, plan_file: Path) -> None:
    def broken(loaded: Any, catalog: Any) -> Any:
        if loaded.scenario.cluster.groups[0].gpus == 512:
            raise ZeroDivisionError("a mistake of ours")
        return evaluate(loaded, catalog)

    app = app_of(plan_file, evaluate=broken)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        assert app.stand is Stand.FAULT and "✗ internal error, saved to" in bar(app)[3]
        assert "a mistake of ours" in Path(app.state.fault_file).read_text()
        await press(pilot, "ctrl+s")
        assert "gpus: 512" in plan_file.read_text()
        go(app, *GPUS)
        await type_in(pilot, "256")
        assert app.stand is Stand.CURRENT


async def test_the_picker_filters_and_dims_what_doesnt_fit(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "network", "leaf", "switch")
        await press(pilot, "enter")
        text = shown(app)
        assert "network.leaf.switch" in text and "* qm9700" in text
        reasons = {one.key: one.why_not for one in app.screen.choices}
        assert "ethernet" in reasons["sn5600"] and not reasons["qm9700"]
        await pilot.press(*"zzz")
        assert "no line has 'zzz'" in shown(app)
        await pilot.press("backspace", "backspace", "backspace", *"sn5600")
        await press(pilot, "down", "enter")
        assert app.state.draft.value(("network", "leaf", "switch")) == "sn5600"
        assert app.stand is Stand.INVALID
        await press(pilot, "u")
        assert app.stand is Stand.CURRENT


async def test_items_are_added_copied_and_removed(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "cluster", "groups", 0)
        await press(pilot, "A")
        assert [one["id"] for one in app.state.draft.value(("cluster", "groups"))] == ["main", "main-2"]
        assert app.stand is Stand.CURRENT and app.plan.row.path == ("cluster", "groups", 1)
        await press(pilot, "delete")
        assert app.state.draft.text == plan_file.read_text()
        go(app, "cluster", "groups", 0)
        await press(pilot, "delete")
        assert "is the only one" in bar(app)[3]
        go(app, "phases")
        await press(pilot, "a")
        assert app.state.draft.value(("phases", 0, "order")) == "2026-11"
        await press(pilot, "delete")
        assert app.state.draft.text == plan_file.read_text()


async def test_choices_can_become_mappings_and_back(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "workloads", 0, "plan")
        await press(pilot, "enter")
        await pilot.press(*"hand")
        await press(pilot, "enter")
        assert app.state.draft.value(("workloads", 0, "plan", "tensor")) == 1
        assert app.stand is Stand.CURRENT, bar(app)
        go(app, "workloads", 0, "plan", "tensor")
        await type_in(pilot, "2")
        assert "plan: {tensor: 2" in app.state.draft.text
        go(app, "workloads", 0, "plan")
        await press(pilot, "d")
        assert app.state.draft.value(("workloads", 0, "plan")) is None
        go(app, "network", "copper")
        await press(pilot, "enter")
        assert app.state.draft.value(("network", "copper")) is False
        go(app, "network", "storage", "system")
        await press(pilot, "d")
        assert app.state.draft.value(("network", "storage")) is None
        go(app, "network", "storage")
        await press(pilot, "enter", "down", "enter")
        assert app.state.draft.value(("network", "storage", "system"))


async def test_why_goes_down_to_the_source_and_edits_the_input(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "w")
        await pilot.press(*"capex")
        await press(pilot, "enter")
        assert "why" in shown(app) and "capex.total_usd" in shown(app)
        await press(pilot, "down", "enter")
        assert len(app.screen.view.lines) > 8
        await press(pilot, "escape")
        assert len(app.screen_stack) == 1
        go(app, *GPUS)
        await press(pilot, "w", "enter")
        # a long path to the file breaks over lines
        assert "mine.yaml:" in "".join(shown(app).replace("│", "").split())
        await press(pilot, "e")
        assert len(app.screen_stack) == 1 and app.plan.row.path == GPUS


async def test_the_other_screens_show_sections_of_the_view(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert "█" in shown(app) and f"UTIL {headline_short()} %" in shown(app)
        await press(pilot, "down", "enter")
        assert "why" in shown(app)
        await press(pilot, "escape", "p")
        assert "at the meter" in shown(app)
        await press(pilot, "m")
        assert "to buy" in shown(app)
        await press(pilot, "3")
        assert "rail-optimised" in shown(app) and "spine" in shown(app)
        await press(pilot, "escape")
        assert app.pane == "plan"
        await press(pilot, "4")
        assert app.pane == "compare"


async def test_the_catalog_is_browsed_with_words_and_comparisons(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "6")
        pane = app.query_one("#catalog")
        everything = len(pane.found)
        await press(pilot, "slash")
        box = app.query_one("#catalog-filter")
        box.value = "infiniband orderable price<60000"
        await settle(pilot)
        assert 0 < len(pane.found) < everything
        assert all(row.figure("price_usd").value < 60000 for row in pane.found)
        box.value = "price<abc"
        await settle(pilot)
        assert "is no number" in shown(app)
        box.value = ""
        await press(pilot, "escape", "right")
        assert pane.family == "transceivers" and pane.found[0].family == "transceivers"
        detail = "\n".join(line.text for line in app.query_one("#catalog-detail").lines)
        assert "power" in detail and "20" in detail and pane.found[0].path in detail


async def test_reports_are_written_with_progress(app_of: Any, plan_file: Path, monkeypatch: Any) -> None:
    from planner.present import outputs
    from planner.present.view.build import view

    def page(evaluation: Any) -> bytes:
        return view(evaluation).finding.encode()

    monkeypatch.setattr(outputs, "WRITERS", {**outputs.WRITERS, "html": page, "json": lambda _: b"{}"})
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        await press(pilot, "e")
        await press(pilot, "home", "down", "space")
        await press(pilot, "end", "enter")
        assert "written: reports/mine.html" in shown(app) and "done" in shown(app)
    assert "30.4" not in Path("reports/mine.html").read_text()
    assert sorted(path.name for path in Path("reports").iterdir()) == ["mine.html", "mine.json"]


async def test_a_folder_that_cant_be_made_is_said(app_of: Any, plan_file: Path) -> None:
    Path("taken").write_text("")
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "8")
        app.query_one("#export").folder = "taken"
        await press(pilot, "end", "enter")
        assert "can't be made" in shown(app)


@pytest.mark.parametrize("size", [(60, 15), (20, 5), (200, 60), (80, 24)])
async def test_no_size_breaks_it(app_of: Any, plan_file: Path, size: tuple[int, int]) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in ("2", "3", "6", "8", "1", "h"):
            await press(pilot, key)
            assert shown(app)
        await press(pilot, "escape")
        rows = bar(app)
        if size[0] < 80:
            assert "wants 80x24" in rows[2] or size[0] == 20
            assert len(rows) == 3
        assert all(len(row) <= size[0] for row in rows[1:])
        await pilot.resize_terminal(90, 30)
        await settle(pilot)
        assert len(bar(app)) == 4


async def test_keys_in_quick_succession_break_nothing(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "network", "leaf", "switch")
        for _ in range(5):
            for key in (
                "enter",
                "escape",
                "escape",
                "h",
                "escape",
                "w",
                "escape",
                "escape",
                "question_mark",
                "escape",
            ):
                character = "?" if key == "question_mark" else key if len(key) == 1 else None
                app.post_message(events.Key(key, character))
            await pilot.pause(0.05)
        await settle(pilot)
        await press(pilot, "escape", "escape", "escape")
        assert len(app.screen_stack) == 1
        assert app.state.draft.text == plan_file.read_text()


async def test_a_new_plan_and_a_recent_one_are_opened_from_the_start_screen(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
    app = app_of()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.stand is Stand.EMPTY and "mine.yaml" in shown(app)
        await press(pilot, "enter")
        assert app.pane == "plan" and app.state.draft.path == plan_file
    app = app_of()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "n")
        assert app.pane == "plan" and app.state.draft.new and app.stand is Stand.CURRENT
        await press(pilot, "ctrl+q", "down", "enter")
    assert not Path("plan.yaml").exists()


async def test_a_broken_file_is_said_and_nothing_else_opens(app_of: Any, plan_file: Path) -> None:
    plan_file.write_text("a: [1\n")
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.pane == "start" and "not valid YAML" in shown(app)


async def test_a_file_with_wrong_values_opens_and_can_be_put_right(app_of: Any, plan_file: Path) -> None:
    plan_file.write_text(plan_file.read_text().replace("gpus: 1024", "gpus: many"))
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.stand is Stand.INVALID and "must be a number" in bar(app)[3]
        await press(pilot, "n")
        assert app.plan.row.path == GPUS
        await type_in(pilot, "64")
        assert app.stand is Stand.CURRENT


async def test_hostile_names_move_nothing(app_of: Any, plan_file: Path) -> None:
    name = '=SUM(1) <script> [bold]x[/] "q" \'é' + "長" * 40
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "name")
        await pilot.press("enter")
        app.query_one("#edit").value = name
        await press(pilot, "enter")
        assert app.state.draft.loaded.scenario.name == name
        assert app.stand is Stand.CURRENT
        for key in ("2", "3", "1", "h"):
            await press(pilot, key)
        assert "=SUM(1) <script> [bold]x[/]" in shown(app)


async def test_find_copies_and_the_palette_work(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "slash")
        await pilot.press(*"electricity")
        await press(pilot, "enter")
        assert app.plan.row.path == ("site", "electricity_usd_per_kwh")
        go(app, "site", "location")
        await press(pilot, "y")
        assert app.clipboard == "us-virginia"
        await press(pilot, "2", "y")
        assert "UTIL" in app.clipboard
        await press(pilot, "ctrl+p")
        await pilot.press(*"high-contrast")
        await pilot.pause(0.4)
        await press(pilot, "enter")
        assert app.theme == "high-contrast"


async def test_a_key_costs_little(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "site", "electricity_usd_per_kwh")
        await pilot.press("enter")
        costs = []
        for letter in ("0", "full_stop", "0", "9", "1", "2"):
            before = time.process_time()
            await pilot.press(letter)
            await settle(pilot)
            costs.append(time.process_time() - before)
        # The budget is 60 ms of CPU; a busy machine and the test's own waiting get room up to 150.
        assert sorted(costs)[len(costs) // 2] < 0.15, costs
        print("cpu a key, ms:", [round(one * 1000) for one in costs])


async def test_what_the_planner_takes_stands_in_parentheses(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "site", "pue")
        assert f"({app.state.last.used['site', 'pue'].text})" in shown(app)
        assert f"now ({app.state.last.used['site', 'pue'].text}), the planner's choice" in shown(app)
        go(app, "network", "nic")
        assert "(connectx-7-400g)" in shown(app)
        go(app, "site", "pue")
        await pilot.press("enter")
        assert app.query_one("#edit").value == ""
        await press(pilot, "escape")
        await type_in(pilot, "1.2")
        assert app.plan.row.text == "1.2"
        go(app, "limits", "usd_per_gpu_hour")
        assert "now none · default left open" in shown(app)


async def test_the_picker_tells_all_of_the_chosen_row(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "network", "leaf", "switch")
        await press(pilot, "enter")
        await pilot.press(*"sn5600")
        await settle(pilot)
        one = next(one for one in app.screen.choices if one.key == "sn5600")
        told = " ".join(line.text.strip() for line in app.screen.query_one("#overlay-detail").lines)
        assert one.why_not in told and len(one.why_not) > 45
        assert "detail" not in told and len(told) > len(one.why_not)
        before = told
        for _ in "sn5600":
            await pilot.press("backspace")
        await press(pilot, "up")
        told = " ".join(line.text.strip() for line in app.screen.query_one("#overlay-detail").lines)
        assert told and told != before


async def test_x_on_an_invalid_plan_offers_what_can_be_applied(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.keep(("network", "leaf", "switch"), "sn5600")
        await settle(pilot)
        assert app.stand is Stand.INVALID
        assert "1 network.spine.switch: sn5600, as the leaf" in shown(app)
        await press(pilot, "x", "1")
        assert app.state.draft.value(("network", "spine", "switch")) == "sn5600"
        await press(pilot, "u", "u")
        app.keep(("workloads", 0, "input_tokens"), 100)
        await settle(pilot)
        await press(pilot, "2", "x")
        assert app.pane == "plan" and "1 workloads.0.input_tokens: remove it" in shown(app)
        await press(pilot, "1")
        assert app.stand is Stand.CURRENT and "input_tokens" not in app.state.draft.text
        go(app, "site", "pue")
        await type_in(pilot, "0.9")
        await press(pilot, "x")
        assert "edit the marked field (n jumps to it)" in bar(app)[3] and not app.state.applying
        await press(pilot, "d")
        go(app, "limits", "days")
        await type_in(pilot, "1")
        await press(pilot, "x")
        more = fixes(app.state)[0]
        assert (
            app.state.applying
            and more.path == GPUS
            and f"may meet the limit: 1 {more.value:,} GPUs" in bar(app)[3]
        )
        listed = shown(app)
        for number, fix in enumerate(fixes(app.state), start=1):
            assert f"{number} {fix.said}"[:70] in listed
        await press(pilot, "escape")
        assert not app.state.applying and f"1 {more.said}" not in shown(app).split("better")[-1]
        await press(pilot, "x", "1")
        assert app.state.draft.value(GPUS) == more.value > 20_000


async def test_a_typed_value_is_told_as_saved_once_it_is(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "site", "pue")
        await type_in(pilot, "1.2")
        assert "saved it goes to mine.yaml" in shown(app)
        await press(pilot, "ctrl+s")
        assert "typed by you, saved in mine.yaml" in shown(app)


async def test_a_small_change_keeps_its_glyph(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.keep(("network", "leaf", "optic"), "osfp-800g-lpo-2xdr4")
        await settle(pilot)
        change = next(one for one in app.state.changes if one.bar == "$/GPUh")
        assert len(change.text) > 6 and change.text.startswith("-0.")
        assert f"{change.text[0]}{change.text[2:]}▲" in bar(app)[2] and "…" not in bar(app)[2]


async def test_an_edit_of_a_limit_says_that_it_is_missed_now(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.keep(("site", "limit_mw"), 9.0)
        await settle(pilot)
        assert "nothing in the bar moved" in bar(app)[3]
        app.keep(("site", "limit_mw"), 0.5)
        await settle(pilot)
        assert "a limit is missed (x)" in bar(app)[3]


async def test_sections_beside_a_plan_that_became_wrong_are_those_of_the_values_in_the_bar(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.keep(GPUS, 2048)
        await settle(pilot)
        await press(pilot, "2", "m")
        assert f"{app.state.headlines[6].text} to buy" in shown(app)
        await press(pilot, "1", "u")
        app.keep(("site", "pue"), 0.9)
        await settle(pilot)
        assert app.stand is Stand.INVALID and app.state.last.view is None
        await press(pilot, "2")
        await settle(pilot)
        assert app.state.last.view is not None
        assert f"{app.state.headlines[6].text} to buy" in shown(app) and "~" in shown(app)


async def test_one_key_makes_all_edits_of_a_remedy_and_one_takes_them_back(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = app.state.draft.text
        app.keep(("site", "rack_limit_kw"), 5)
        await settle(pilot)
        assert app.stand is Stand.REFUSED
        number = next(i for i, one in enumerate(fixes(app.state), start=1) if one.value == "rear-door")
        await press(pilot, "x", str(number))
        assert app.stand is Stand.CURRENT and app.state.draft.value(("site", "cooling")) == "rear-door"
        assert "rack_limit_kw" not in app.state.draft.text
        await press(pilot, "u", "u")
        assert app.state.draft.text == before


async def test_a_mistyped_field_is_renamed(app_of: Any, plan_file: Path) -> None:
    plan_file.write_text(plan_file.read_text().replace("spare_fraction:", "spare_fractoin:"))
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "rename it to spare_fraction" in shown(app)
        await press(pilot, "x", "1")
        assert app.stand is Stand.CURRENT and app.state.draft.value(("cluster", "spare_fraction")) == 0.02
        await press(pilot, "u")
        assert app.stand is Stand.INVALID


async def test_enter_on_the_export_screen_writes(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for _ in range(2):
            await press(pilot, "8")
            pane = app.query_one("#export")
            assert pane.view.key == "write" and len(pane.formats) == 3
            await press(pilot, "home", "escape")


async def test_a_filter_looks_in_all_families(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "6", "slash")
        await pilot.press(*"b200")
        await settle(pilot)
        pane = app.query_one("#catalog")
        assert {"servers", "accelerators"} <= {row.family for row in pane.found}
        text = shown(app)
        assert "all families" in text and "servers" in text and "accelerators" in text
        app.query_one("#catalog-filter").value = ""
        await settle(pilot)
        assert {row.family for row in pane.found} == {pane.family}


async def test_a_new_workload_leaves_a_valid_plan(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    shares = [1.0]
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for key, wanted in (("a", [0.5, 0.5]), ("A", [0.25, 0.25, 0.5])):
            go(app, "workloads", 0)
            await press(pilot, key)
            shares = [one["share_fraction"] for one in app.state.draft.value(("workloads",))]
            assert shares == wanted and app.state.draft.loaded is not None
        await press(pilot, "u", "u")
        assert app.state.draft.text == plan_file.read_text()
        app.keep(("workloads", 0, "share_fraction"), 0.7)
        go(app, "workloads", 0)
        await press(pilot, "a")
        shares = [one["share_fraction"] for one in app.state.draft.value(("workloads",))]
        assert shares == [0.7, 0.3]


async def test_glyphs_and_screens_are_explained(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "▲ better ▼ worse" in shown(app)
        assert "[1 Plan]  2 Where it goes  3 Network  4 Compare  5 Study  6 Catalog  7  8" in shown(app)
        for key in ("question_mark", "h"):
            await press(pilot, key)
            box = "\n".join(shown(app).splitlines()[5:])
            assert "▲ better ▼ worse" in box
            await press(pilot, "escape")
    told = " ".join(word for line in help_screen({}, State()) for word in line.text.split())
    assert "Compare, Study, Catalog, Calibration, Export" in told


async def test_edits_of_a_planner_that_seems_to_run_are_offered_with_a_note(
    app_of: Any, plan_file: Path, tmp_path: Path
) -> None:
    other = Shelf(tmp_path / "state", process=os.getppid())
    other.keep(
        plan_file, plan_file.read_text().replace("gpus: 1024", "gpus: 512"), plan_file.read_text(), "11:00"
    )
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "Another planner may have it open" in app.screen.note and "throw" not in shown(app)
        assert str(os.getppid()) in shown(app)
        await press(pilot, "down", "enter")
        assert app.state.draft.value(GPUS) == 512
    assert [one.text for one in other.kept(plan_file)]


async def test_a_copy_with_its_own_name_isnt_asked_for_a_title(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "name")
        await type_in(pilot, "another")
        await press(pilot, "ctrl+o")
        app.screen.query_one("#overlay-filter").value = "other.yaml"
        await press(pilot, "enter")
        text = Path("other.yaml").read_text()
        assert "name: another\n" in text and text.startswith("#")
        assert plan_file.read_text() != text
