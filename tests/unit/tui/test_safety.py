"""Nothing is lost: files changed elsewhere, kills and hang-ups, reading only, the user's own keys, every action by name."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.tui.actions import known_actions
from planner.tui.files import Shelf
from planner.tui.footers import MOST, footer
from planner.tui.keymap import BINDINGS, SCREENS, THEMES
from planner.tui.keys import read_keymap
from planner.tui.serving import allowed
from planner.tui.state import Stand
from planner.tui.watching import difference_lines
from tests.unit.tui.conftest import go, press, settle, shown, type_in

GPUS = ("cluster", "groups", 0, "gpus")


def rewrite(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(1, 1))  # another time than before, however coarse the clock


async def test_a_change_on_disk_is_asked_about_and_shown(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(90, 26)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        app.look_at_disk()
        rewrite(plan_file, "tokens_trillion: 8.0", "tokens_trillion: 9.0")
        app.look_at_disk()
        await settle(pilot)
        assert "changed on disk" in shown(app)
        assert (
            "changed by another program" in app.screen.note and "edits that aren't saved" in app.screen.note
        )
        await press(pilot, "down", "enter")
        text = shown(app)
        assert "-    tokens_trillion: 9.0" in text and "+      gpus: 512" in text
        await press(pilot, "escape", "enter")
        assert app.state.draft.value(("workloads", 0, "tokens_trillion")) == 9
        assert app.state.draft.value(GPUS) == 1024 and not app.state.draft.dirty
        await press(pilot, "u")
        assert app.state.draft.value(GPUS) == 512 and app.state.draft.dirty


async def test_a_base_changed_on_disk_is_taken_at_once(app_of: Any, plan_file: Path) -> None:
    child = plan_file.with_name("child.yaml")
    child.write_text("extends: mine.yaml\nname: Child\n")
    app = app_of(child)
    async with app.run_test(size=(90, 26)) as pilot:
        await settle(pilot)
        app.look_at_disk()
        rewrite(plan_file, "gpus: 1024", "gpus: 512")
        app.look_at_disk()
        await settle(pilot)
        assert app.state.draft.value(GPUS) == 512 and app.stand is Stand.CURRENT
        assert "extends was changed on disk" in shown(app)


async def test_a_removed_file_can_be_written_again(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(90, 26)) as pilot:
        await settle(pilot)
        app.look_at_disk()
        text = plan_file.read_bytes()
        plan_file.unlink()
        app.look_at_disk()
        await settle(pilot)
        assert app.state.draft.dirty and "was removed" in shown(app)
        await press(pilot, "ctrl+s")
        assert plan_file.read_bytes() == text


def test_differences_name_the_side_by_a_sign() -> None:
    lines = [line.text for line in difference_lines("a: 1\nb: 2\n", "a: 1\nb: 3\n")]
    assert " -b: 2" in lines and " +b: 3" in lines
    assert difference_lines("a", "a")[-1].text == " no difference"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["kill", "hang-up"])
def test_what_is_being_typed_survives_a_signal(
    plan_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A real process on a real terminal: it is told to stop in the middle of a word."""
    state = tmp_path / "home"
    env = {
        **os.environ,
        "XDG_STATE_HOME": str(state),
        "TERM": "xterm-256color",
        "COLUMNS": "80",
        "LINES": "24",
    }
    above, below = pty.openpty()
    command = [sys.executable, "-m", "planner", "tui", str(plan_file)]
    child = subprocess.Popen(
        command, stdin=below, stdout=below, stderr=below, env=env, start_new_session=True
    )
    os.close(below)
    try:
        _read_until(above, b"share_fraction", child)
        for key in (b"/", b"gpus", b"\r", b"\r", b"51", b"2"):
            os.write(above, key)
            _read_for(above, 0.7)
        child.send_signal(number)
        deadline = time.monotonic() + 20
        while child.poll() is None and time.monotonic() < deadline:
            _read_for(above, 0.1)
        assert child.returncode == 128 + number
    finally:
        child.kill()
        child.wait()
        os.close(above)
    kept = Shelf(state / "cluster-planner").kept(plan_file)
    assert len(kept) == 1 and "gpus: 512" in kept[0].text
    assert "gpus: 1024" in plan_file.read_text()


def _read_for(terminal: int, seconds: float) -> bytes:
    import select

    found, until = b"", time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                found += os.read(terminal, 65536)
            except OSError:
                return found
    return found


def _read_until(terminal: int, wanted: bytes, child: subprocess.Popen[bytes]) -> None:
    found, until = b"", time.monotonic() + 60
    while wanted not in found and time.monotonic() < until and child.poll() is None:
        found += _read_for(terminal, 0.2)
    assert wanted in found, found[-400:]
    _read_for(terminal, 1.0)


async def test_read_only_edits_and_writes_nothing(app_of: Any, plan_file: Path, tmp_path: Path) -> None:
    before = plan_file.read_bytes()
    app = app_of(plan_file, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        for key in ("enter", "d", "a", "A", "delete", "K"):
            await press(pilot, key)
            assert not app.plan.typing and "read-only" in shown(app), key
            assert app.state.draft.text.encode() == before
        app.keep(GPUS, 512)
        assert app.state.draft.text.encode() == before
        await press(pilot, "ctrl+s")
        assert len(app.screen_stack) == 1 and "read-only" in shown(app)
        await press(pilot, "2")
        assert "computing" in shown(app)
        await press(pilot, "O", "c")
        assert app.pane == "start"
    assert plan_file.read_bytes() == before and not (tmp_path / "state").exists()


async def test_own_keys_act_and_stand_in_the_footer(app_of: Any, plan_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "keys.yaml"
    file.write_text("edit.undo: U\nplan.default: [f6]\n")
    app = app_of(plan_file, keymap=read_keymap(file, known_actions()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "U undo" in shown(app)
        go(app, *GPUS)
        await type_in(pilot, "512")
        await press(pilot, "u")
        assert app.state.draft.value(GPUS) == 512
        await press(pilot, "U")
        assert app.state.draft.value(GPUS) == 1024


def test_a_file_of_keys_names_every_mistake_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "keys.yaml"
    file.write_text("edit.undoo: u\nwhy: hyperspace\nhistory: b\n")
    with pytest.raises(InputError) as caught:
        read_keymap(file, known_actions())
    told = str(caught.value)
    assert "keys.yaml:1" in told and "edit.undo" in told
    assert "keys.yaml:2" in told and "'hyperspace' is no key" in told
    assert "'b' is the key of bar.pin too" in told


def test_a_footer_has_eight_keys_at_most_and_fits() -> None:
    panes = ["start", "plan", "typing", "where", "network", "catalog", "export", "remedy"]
    for pane in panes:
        text = footer(pane, {}, 80)
        assert len(text) < 80, pane
        assert len([part for part in text.replace("   ", "  ").split("  ") if part]) <= MOST, text


async def test_every_action_is_in_the_palette(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        titles = [one.title for one in app.get_system_commands(app.screen)]
        assert sorted(titles) == sorted(set(titles))
        lower = [one.lower() for one in titles]
        for binding in BINDINGS:
            assert binding.action.startswith("digit") or binding.description in lower
        assert all(any(one.startswith(f"Screen {digit}:") for one in titles) for digit, _, _ in SCREENS)
        assert all(f"Theme: {name}" in titles for name in THEMES)
        run = {one.title: one.callback for one in app.get_system_commands(app.screen)}
        run["Where: money"]()
        await settle(pilot)
        assert app.pane == "where" and app.query_one("#where").at == 2


@pytest.mark.parametrize("theme", THEMES)
async def test_themes_change_no_letter(app_of: Any, plan_file: Path, theme: str) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *GPUS)
        await type_in(pilot, "512")
        before = shown(app)
        app.theme = theme
        await settle(pilot)
        assert shown(app) == before
        assert any(glyph in before for glyph in "▲▼")


@pytest.mark.parametrize(
    ("host", "origin", "fine"),
    [
        ("127.0.0.1:8000", None, True), ("localhost:8000", "http://localhost:8000", True),
        ("127.0.0.1:8000", "http://evil.example", False), ("evil.example:8000", None, False),
        ("127.0.0.1:9000", None, False), ("127.0.0.1:8000", "https://127.0.0.1:8000", False), ("", None, False),
    ],
)  # fmt: skip
def test_only_pages_of_this_server_may_talk_to_it(host: str, origin: str | None, fine: bool) -> None:
    assert allowed(host, origin, 8000) is fine


async def test_the_picker_sorts_and_puts_two_parts_side_by_side(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        go(app, "network", "leaf", "switch")
        await press(pilot, "enter")
        names = [one.key for one in app.screen.choices if one.key]
        await press(pilot, "f2")
        by_price = [one.key for one in app.screen.choices if one.key]
        prices = [app.index.by_id[("switches", one)].figure("price_usd") for one in by_price]
        known = [one.value for one in prices if one is not None]
        assert sorted(names) == sorted(by_price) != by_price and known == sorted(known)
        assert "sorted by price" in shown(app)
        await press(pilot, "f3", "down", "f3")
        text = "\n".join(line.text for line in app.screen.view.lines)
        assert "differ" in text and "≠ name" in text and "price_usd" in text, text
        await press(pilot, "escape", "escape")
        assert len(app.screen_stack) == 1
