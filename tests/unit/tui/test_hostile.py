"""Files that turn into something else, disks that are full, names nobody expects, keys faster than screens."""

from __future__ import annotations

import errno
import json
import os
import weakref
from pathlib import Path
from typing import Any

import pytest
from textual import events

from planner.errors import CatalogError, ScenarioError
from planner.scenario.load import find_scenario
from planner.tui import files
from planner.tui.draft import MAX_BYTES, draft_of, open_draft, read_text
from planner.tui.files import Shelf, is_alive, is_folder, real, save_text
from planner.tui.lines import MOST_TYPED, wrapped
from planner.tui.remembered import forget_drawn
from planner.tui.run import run
from planner.tui.workspace import MOST, scenarios_in, unlisted
from tests.unit.tui.conftest import go, press, settle, shown, type_in

GPUS = ("cluster", "groups", 0, "gpus")


def turned_into(path: Path, what: str) -> None:
    """Replace a file by something that is none."""
    path.unlink()
    if what == "a folder":
        path.mkdir()
    elif what == "a circle of links":
        path.symlink_to(path)
    else:
        os.mkfifo(path)


@pytest.mark.parametrize("what", ["a folder", "a circle of links", "a pipe"])
async def test_a_file_that_turned_into_something_else_is_told_and_edits_stay(
    app_of: Any, plan_file: Path, tmp_path: Path, what: str
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(100, 26)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        app.look_at_disk()
        turned_into(plan_file, what)
        app.look_at_disk()
        await settle(pilot)
        assert "is no file any more" in shown(app)
        await press(pilot, "ctrl+s")
        assert "not saved" in shown(app) and len(app.screen_stack) == 1
        go(app, *GPUS)
        await type_in(pilot, "256")
        assert app.state.draft.dirty
    kept = Shelf(tmp_path / "state").kept()
    assert len(kept) == 1 and "gpus: 256" in kept[0].text


@pytest.mark.parametrize("what", ["a folder", "a circle of links", "a pipe"])
def test_what_is_no_file_is_neither_read_nor_written(tmp_path: Path, what: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("")
    turned_into(path, what)
    with pytest.raises(ScenarioError, match="can't be read"):
        read_text(path)
    with pytest.raises(ScenarioError, match="can't be written"):
        save_text(path, "name: x\n")


@pytest.mark.parametrize("text", ["", "# a comment\n", "42\n", "- 1\n", "null\n"])
def test_a_file_that_is_no_mapping_has_no_fields_to_edit(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match="a scenario is a mapping of keys"):
        open_draft(str(path))


def test_a_text_larger_than_what_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ScenarioError, match="at most 1,000,000 are read"):
        open_draft(str(path))
    with pytest.raises(ScenarioError, match="at most 1,000,000 are read"):
        draft_of(f"name: {'é' * (MAX_BYTES // 2)}\n", path)


async def test_a_full_disk_is_said_and_the_file_is_as_before(
    app_of: Any, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plan_file.read_bytes()

    def full(path: Path, data: bytes, **more: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    app = app_of(plan_file)
    async with app.run_test(size=(110, 26)) as pilot:
        await settle(pilot)
        monkeypatch.setattr(files, "replace_file", full)
        go(app, *GPUS)
        await type_in(pilot, "512")
        assert "can't be kept safe" in shown(app)
        await press(pilot, "ctrl+s")
        assert "No space left on device" in shown(app) and app.state.draft.dirty
        monkeypatch.undo()
    assert plan_file.read_bytes() == before


async def test_a_name_that_is_not_utf_8_is_edited_saved_and_recovered(
    app_of: Any, plan_file: Path, tmp_path: Path
) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9.yaml")
    odd.write_bytes(plan_file.read_bytes())
    app = app_of(odd)
    async with app.run_test(size=(90, 26)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        kept = Shelf(tmp_path / "state").kept(odd)
        assert len(kept) == 1 and kept[0].path == odd
        await press(pilot, "ctrl+s")
        assert "saved caf" in shown(app)
        app.copy_to_clipboard(str(odd))
        assert app.clipboard.endswith("/caf?.yaml")
        await press(pilot, "O")
        assert "caf·.yaml" in shown(app)
    assert b"gpus: 512" in odd.read_bytes()


async def test_a_name_that_no_file_can_have_is_no_scenario(app_of: Any, plan_file: Path) -> None:
    for name in ("n" * 300 + ".yaml", "a\0b"):
        app = app_of(name)
        async with app.run_test(size=(90, 26)) as pilot:
            await settle(pilot)
            assert "no scenario file" in shown(app)
    assert not is_folder(Path("n" * 300)) and real(Path("a\0b")) == Path("a\0b")


def test_recovery_files_of_any_content_stop_nothing(tmp_path: Path) -> None:
    plan, folder = tmp_path / "plan.yaml", tmp_path / "state"
    good = {"path": str(plan), "text": "name: x\n", "base": "", "time": "12:00:00"}
    texts = {
        "a-1": "[]", "b-2": '{"path": 3, "text": 4, "base": 5, "time": 6}', "c-3": "[" * 100_000,
        "d-4": json.dumps({**good, "path": "a\0b"}), "e-5": json.dumps({**good, "base": 5}),
        f"f-{'9' * 21}": json.dumps(good),
    }  # fmt: skip
    (folder / "recovery").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "recovery" / f"{name}.json").write_text(text)
    (folder / "recent.json").write_text("[" * 100_000)
    shelf = Shelf(folder)
    assert [one.file.stem for one in shelf.kept(plan)] == [f"f-{'9' * 21}"] and shelf.recent() == ()
    assert not is_alive(10**21)


async def test_a_base_that_breaks_keeps_nobody_from_saving(app_of: Any, plan_file: Path) -> None:
    child = plan_file.with_name("child.yaml")
    child.write_text("extends: mine.yaml\nname: Child\n")
    app = app_of(child)
    async with app.run_test(size=(100, 26)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        plan_file.write_text("a: [\n")
        for key in ("u", "B"):  # neither can be read without the base
            await press(pilot, key)
            assert "not valid YAML" in shown(app) and app.state.draft.value(GPUS) == 512
        await press(pilot, "ctrl+s")
        assert not app.state.draft.dirty
    assert "gpus: 512" in child.read_text()


async def test_a_catalog_that_is_gone_is_said_where_a_part_is_picked(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(100, 26)) as pilot:
        await settle(pilot)
        app.add_folder(plan_file.with_name("none"))
        go(app, "network", "leaf", "switch")
        await press(pilot, "enter")
        assert len(app.screen_stack) == 1 and "no such catalog folder" in shown(app)


def test_a_catalog_folder_that_is_missing_is_told_before_the_terminal_is_taken_over(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no such catalog folder"):
        run(None, [tmp_path / "none"], keymap=tmp_path / "keys.yaml")


async def test_a_worker_that_fails_is_recorded_and_editing_goes_on(
    app_of: Any, plan_file: Path, tmp_path: Path
) -> None:
    def fails() -> None:
        raise RuntimeError("a fault of ours")

    app = app_of(plan_file)
    async with app.run_test(size=(100, 26)) as pilot:
        await settle(pilot)
        app.run_worker(fails, thread=True, exit_on_error=False)
        await pilot.pause(0.3)
        assert "internal error, saved to" in shown(app)
        go(app, *GPUS)
        await type_in(pilot, "512")
        assert app.state.draft.value(GPUS) == 512
    faults = list((tmp_path / "state" / "faults").iterdir())
    assert len(faults) == 1 and "a fault of ours" in faults[0].read_text()


async def test_a_long_paste_is_refused_and_a_long_word_is_wrapped_at_once(
    app_of: Any, plan_file: Path
) -> None:
    assert [len(one) for one in wrapped("x" * 500_000, 80)] == [80] * 6_250
    assert wrapped("中" * 5, 4) == ["中中", "中中", "中"]
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await pilot.press("enter")
        app.post_message(events.Paste("9" * 1_000_000))
        await settle(pilot)
        assert len(app.query_one("#edit").value) <= MOST_TYPED
        await press(pilot, "escape")
        assert app.state.draft.value(GPUS) == 1024 and not app.state.draft.dirty


async def test_the_palette_outlives_keys_that_come_faster_than_it_is_drawn(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for burst in (
            ("ctrl+p", "escape"), ("ctrl+p", "pagedown", "enter", "escape", "enter"),
            ("ctrl+p", "ctrl+p", "x", "escape", "escape"), ("ctrl+p", "enter", "enter", "escape"),
        ):  # fmt: skip
            for key in burst:
                app.post_message(events.Key(key, key if len(key) == 1 else None))
            await settle(pilot)
            for _ in range(3):
                await press(pilot, "escape")
        assert app.is_running and len(app.screen_stack) == 1
        await press(pilot, "ctrl+p")
        await pilot.press(*"money")
        await press(pilot, "enter")
        assert app.pane == "where" and app.query_one("#where").at == 2


async def test_every_size_of_a_terminal_is_drawn_on_every_screen(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for opening in ("1", "2", "3", "4", "5", "6", "7", "8", "h", "ctrl+p"):
            await press(pilot, opening)
            for size in ((20, 5), (1, 1), (80, 24)):
                await pilot.resize_terminal(*size)
                await pilot.press("down")
                await pilot.pause()
            await press(pilot, "escape")
        await pilot.resize_terminal(300, 100)
        await press(pilot, "2", "down", "1")
        assert app.is_running and app.pane == "plan"


async def test_reading_only_leaves_recovery_files_and_new_plans_alone(
    app_of: Any, plan_file: Path, tmp_path: Path
) -> None:
    shelf = Shelf(tmp_path / "state", process=2**22 + 1)
    assert shelf.keep(plan_file, plan_file.read_text().replace("1024", "512"), "", "11:00:00")
    before = {one: one.read_bytes() for one in (tmp_path / "state").rglob("*") if one.is_file()}
    app = app_of(plan_file, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert len(app.screen_stack) == 1
        await press(pilot, "O")
        await press(pilot, "home", "enter")  # the unsaved edits
        assert "read-only" in shown(app)
        await press(pilot, "n")
        assert "read-only" in shown(app) and app.state.draft is None
    assert {one: one.read_bytes() for one in (tmp_path / "state").rglob("*") if one.is_file()} == before


async def test_rows_drawn_for_a_list_that_is_closed_are_forgotten(app_of: Any, plan_file: Path) -> None:
    import gc

    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "h")
        drawn = weakref.ref(app.screen.view._styles_cache)
        await press(pilot, "escape")
        forget_drawn()
        gc.unfreeze()
        gc.collect()
        assert drawn() is None


def test_a_folder_of_too_many_files_says_so(tmp_path: Path) -> None:
    for number in range(MOST + 1):
        (tmp_path / f"p{number:04}.yaml").touch()
    (tmp_path / "p0000.yaml").write_bytes(find_scenario("h200-1024-ndr").read_bytes())
    assert len(scenarios_in(tmp_path)) == 1 and unlisted(tmp_path)[0].startswith(f"{MOST + 1:,} YAML files")
    (tmp_path / "p0001.yaml").unlink()
    assert unlisted(tmp_path) == []
