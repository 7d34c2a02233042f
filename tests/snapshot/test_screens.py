"""Screens at fixed sizes, as pictures that a person has looked at.

Made again with ``pytest tests/snapshot --snapshot-update``; look at every picture that changed.
The evaluation's figures are replaced by fixed ones where a picture would else change with the models.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from planner.scenario.load import find_scenario
from planner.tui.app import PlannerApp
from planner.tui.effects import Effect, effect_of
from planner.tui.files import Shelf

Run = Callable[[Pilot[Any]], Awaitable[None]]
SMALL, WIDE = (80, 24), (140, 45)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("planner.tui.weighing.effect_of", fixed_effect)


def fixed_effect(draft: Any, path: Any, part: str | None, *rest: Any) -> Effect:
    """What a part does, with figures made from its name alone."""
    found = effect_of(draft, path, part, *rest)
    size = float(len(part or ""))
    cells = tuple(
        cell if cell.value is None else replace(cell, value=size, short=f"{size:.0f}.23")
        for cell in found.headlines
    )
    moved = tuple(
        one if not one.text else replace(one, text=f"-{size:.0f}.2", glyph="▲", new=f"{size:.0f}.23")
        for one in found.changes
    )
    return replace(found, headlines=cells, changes=moved)


async def settle(pilot: Pilot[Any]) -> None:
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    for box in pilot.app.screen.query(Input):
        box.cursor_blink = False


def still(name: str | None = "h200-1024-ndr") -> PlannerApp:
    """The program with nothing that differs from machine to machine: names, clock, theme, figures."""
    if name is not None:
        Path("plan.yaml").write_bytes(find_scenario(name).read_bytes())
    app = PlannerApp(
        None if name is None else "plan.yaml", shelf=Shelf(Path("state")), clock=lambda: "12:00:00"
    )
    app.theme = "textual-dark"
    app.folder = Path("plans")  # the whole path differs from run to run
    drawn = app.put

    def put(state: Any) -> None:
        if state.last is not None:
            cells = tuple(
                cell if cell.value is None else replace(cell, short=f"{number + 1}.23", text=f"{number + 1}.23 units",
                                                        note="", low=None, high=None, odds=None, limit_text="limit")
                for number, cell in enumerate(state.last.headlines)
            )  # fmt: skip
            said = "Of the purchase: 80 % published, 20 % estimated."
            shares = (("P", 0.8), ("E", 0.2))
            state = replace(
                state,
                last=replace(
                    state.last,
                    headlines=cells,
                    verdict="Meets all limits (3).",
                    evidence=shares,
                    evidence_said=said,
                ),
            )
        drawn(state)

    app.put = put  # type: ignore[method-assign]
    return app


def at(*path: str | int, keys: tuple[str, ...] = ()) -> Run:
    async def run(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        app: Any = pilot.app
        if path:
            app.plan.go(path)
        for key in keys:
            await pilot.press(key)
        await settle(pilot)

    return run


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["80x24", "140x45"])
def test_plan(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(still(), terminal_size=size, run_before=at("cluster", "groups", 0, "gpus"))


def test_value_being_typed(snap_compare: Any) -> None:
    typing = at("site", "pue", keys=("enter", "0", "full_stop", "9"))
    assert snap_compare(still(), terminal_size=SMALL, run_before=typing)


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["80x24", "140x45"])
def test_cant_be_built(snap_compare: Any, size: tuple[int, int]) -> None:
    keys = ("enter", *"single", "enter")
    assert snap_compare(still(), terminal_size=size, run_before=at("network", "topology", keys=keys))


def test_start(snap_compare: Any) -> None:
    assert snap_compare(still(None), terminal_size=SMALL, run_before=at())


def test_help(snap_compare: Any) -> None:
    assert snap_compare(still(), terminal_size=SMALL, run_before=at(keys=("question_mark",)))


def test_history(snap_compare: Any) -> None:
    keys = ("enter", *"512", "enter", "h")
    assert snap_compare(
        still(), terminal_size=SMALL, run_before=at("cluster", "groups", 0, "gpus", keys=keys)
    )


def test_quit_question(snap_compare: Any) -> None:
    keys = ("enter", *"512", "enter", "ctrl+q")
    assert snap_compare(
        still(), terminal_size=SMALL, run_before=at("cluster", "groups", 0, "gpus", keys=keys)
    )


def test_export(snap_compare: Any) -> None:
    assert snap_compare(still(), terminal_size=SMALL, run_before=at(keys=("8",)))


def test_too_small(snap_compare: Any) -> None:
    assert snap_compare(still(), terminal_size=(60, 15), run_before=at("cluster", "groups", 0, "gpus"))


def test_high_contrast(snap_compare: Any) -> None:
    app = still()
    app.theme = "high-contrast"
    assert snap_compare(app, terminal_size=SMALL, run_before=at("cluster", "groups", 0, "gpus"))


def test_guided_start(snap_compare: Any) -> None:
    assert snap_compare(still(None), terminal_size=SMALL, run_before=at(keys=("g",)))


def test_guide_asks(snap_compare: Any) -> None:
    assert snap_compare(still(None), terminal_size=SMALL, run_before=at(keys=("g", "enter")))


def test_workspace(snap_compare: Any) -> None:
    Path("a.yaml").write_bytes(find_scenario("h200-phased").read_bytes())
    Path("b.yaml").write_text("extends: a.yaml\nname: The same with less\n")
    app = still(None)
    app.folder = Path("plans")
    app.folder.mkdir()
    for name in ("a.yaml", "b.yaml"):
        Path(name).rename(app.folder / name)
    assert snap_compare(app, terminal_size=(100, 30), run_before=at())


def test_list_of_phases(snap_compare: Any) -> None:
    assert snap_compare(still("h200-phased"), terminal_size=SMALL, run_before=at("phases", 1, "order"))


def test_optional_part_asks(snap_compare: Any) -> None:
    assert snap_compare(still(), terminal_size=SMALL, run_before=at("money", "capital", keys=("enter",)))


def test_part_picker(snap_compare: Any) -> None:
    keys = ("enter", *"800g", "f2")
    assert snap_compare(
        still(), terminal_size=(100, 30), run_before=at("network", "leaf", "optic", keys=keys)
    )


def test_two_parts_side_by_side(snap_compare: Any) -> None:
    keys = ("enter", "f3", "down", "f3")
    assert snap_compare(
        still(), terminal_size=(100, 30), run_before=at("network", "leaf", "switch", keys=keys)
    )


def test_read_only(snap_compare: Any) -> None:
    app = still()
    app.read_only = True
    assert snap_compare(
        app, terminal_size=SMALL, run_before=at("cluster", "groups", 0, "gpus", keys=("enter",))
    )


def test_colour_blind(snap_compare: Any) -> None:
    app = still()
    app.theme = "colour-blind"
    keys = ("enter", *"512", "enter")
    assert snap_compare(app, terminal_size=SMALL, run_before=at("cluster", "groups", 0, "gpus", keys=keys))
