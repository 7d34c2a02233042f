"""A plan in a folder of its own, and the program around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from textual.worker import WorkerCancelled

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.view.build import view
from planner.scenario.load import find_scenario, load_scenario
from planner.tui.app import PlannerApp
from planner.tui.files import Shelf

Press = Callable[..., Awaitable[None]]


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The catalog's list is kept away from the user's cache, and made once."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    yield
    patch.undo()


@pytest.fixture
def plan_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a shipped scenario, which may be written to."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_bytes(find_scenario("h200-1024-ndr").read_bytes())
    return path


@pytest.fixture
def app_of(tmp_path: Path) -> Callable[..., PlannerApp]:
    """Makes the program with a recovery folder of its own and a clock that stands still."""

    def make(name: str | Path | None = None, **more: Any) -> PlannerApp:
        shelf = more.pop("shelf", None) or Shelf(tmp_path / "state")
        more.setdefault("clock", lambda: "12:00:00")
        return PlannerApp(None if name is None else str(name), shelf=shelf, **more)

    return make


async def settle(pilot: Any) -> None:
    """Wait until evaluations and lists are done and drawn."""
    for _ in range(3):
        waits = [one.wait() for one in pilot.app.workers]
        for ended in await asyncio.gather(*waits, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, WorkerCancelled):
                raise ended  # one that a later key withdrew is no fault
        await pilot.pause()


async def press(pilot: Any, *keys: str) -> None:
    """Press keys, then wait."""
    await pilot.press(*keys)
    await settle(pilot)


def bar(app: Any) -> list[str]:
    """The bar's rows as text."""
    return [line.text for line in app.screen_stack[0].query_one("#bar").rows]


def shown(app: Any) -> str:
    """The screen in front as text."""
    rows = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in row).rstrip() for row in rows)


def go(app: Any, *path: str | int) -> None:
    """Put the grid's cursor on a field."""
    app.plan.go(path)
    assert app.plan.row is not None and app.plan.row.path == path, app.plan.row


async def type_in(pilot: Any, text: str, *, keep: bool = True) -> None:
    """Replace the value of the field under the cursor."""
    await pilot.press("enter")
    box = pilot.app.query_one("#edit")
    box.value = ""
    for letter in text:
        await pilot.press({" ": "space", ".": "full_stop", ",": "comma", "-": "minus"}.get(letter, letter))
    await settle(pilot)
    if keep:
        await press(pilot, "enter")


@cache
def headline_short(place: int = 0) -> str:
    """What the bar shows of the shipped 1,024-GPU plan: utilisation first, days third."""
    found = evaluate(load_scenario("h200-1024-ndr"), open_catalog())
    return view(found).headlines[place].short
