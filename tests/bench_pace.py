"""CPU time of a key in the terminal interface, and of a filter over 5,000 parts. Part of ``make bench``."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from many_parts import large

SCENARIO = "h200-1024-ndr"
FIELD = ("money", "discount_rate_fraction")
FILTERS = ("8", "80", "800", "800g", "800g p", "800g price<9000", "h", "h1", "h10", "h100")


@cache
def paces() -> dict[str, float]:
    """CPU seconds: a key with all its numbers redrawn, what of it is the interface's, filters of both lists."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"XDG_STATE_HOME": home, "XDG_CACHE_HOME": home}
        return asyncio.run(_paces(Path(home)))


async def _paces(folder: Path) -> dict[str, float]:
    from planner.scenario.load import find_scenario
    from planner.tui.app import PlannerApp

    plan = folder / "plan.yaml"
    plan.write_bytes(find_scenario(SCENARIO).read_bytes())
    app = PlannerApp(str(plan))
    async with app.run_test(size=(140, 40)) as pilot:
        await _settled(pilot)
        app.plan.go(FIELD)
        await pilot.press("enter", "0", ".", "1")
        await _settled(pilot)
        whole = await _keys(pilot)
        last = app.state.last.evaluation
        app.evaluate = lambda *_: last  # type: ignore[method-assign]
        interface = await _keys(pilot)
        await pilot.press("escape")
        await _settled(pilot)
        return {
            "key": whole, "interface": interface, "catalog": _catalog(app), "picker": await _picker(pilot),
        }  # fmt: skip


async def _keys(pilot: Any) -> float:
    times = []
    for _ in range(8):
        for key in ("1", "backspace"):
            start = time.process_time()
            await pilot.press(key)
            await _settled(pilot)
            times.append(time.process_time() - start)
    return statistics.median(times)


async def _settled(pilot: Any) -> None:
    for _ in range(2):
        while pilot.app.state.awaiting:
            await asyncio.sleep(0.01)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def _filtered(box: Any, fill: Any) -> float:
    times = []
    for text in FILTERS:
        with box.prevent(type(box).Changed):
            box.value = text
        start = time.process_time()
        fill()
        times.append(time.process_time() - start)
    return statistics.median(times)


def _catalog(app: Any) -> float:
    pane = app.query_one("#catalog")
    pane.index = large("switches")
    return _filtered(pane.query_one("#catalog-filter"), pane.fill)


async def _picker(pilot: Any) -> float:
    from planner.tui.parts import PartPicker

    index = large("switches")
    picker = PartPicker("5,000", [row.id for row in index.items], "switches", "", False)
    pilot.app.push_screen(picker)
    await _settled(pilot)
    picker.told(index, "2026-11-30")
    await _settled(pilot)
    return _filtered(picker.query_one("#overlay-filter"), picker.fill)


MEASURES = [
    ("a key in a field, interface alone, CPU s", "0.03", lambda: paces()["interface"]),
    ("a key in a field, all numbers redrawn, CPU s", "0.065", lambda: paces()["key"]),
    ("filter of 5,000 parts in a list to pick from, CPU s", "0.02", lambda: paces()["picker"]),
    ("filter of 5,000 parts in the catalog, CPU s", "0.02", lambda: paces()["catalog"]),
]
