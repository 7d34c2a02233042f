"""Pictures of the terminal for the README, drawn by the program itself from shipped plans: ``make pictures``.

The clock stands still and nothing of the machine is in them, so the same code draws the same bytes.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from planner.scenario.load import find_scenario
from planner.tui.app import PlannerApp
from planner.tui.files import Shelf

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
GPUS, OPTIC = ("cluster", "groups", 0, "gpus"), ("network", "leaf", "optic")
Scene = Callable[[Pilot[Any]], Awaitable[None]]


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until evaluations, lists and effects are done and drawn."""
    for _ in range(4):
        waits = [one.wait() for one in pilot.app.workers]
        for ended in await asyncio.gather(*waits, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, WorkerCancelled):
                raise ended  # one that a later key withdrew is no fault
        await pilot.pause()
    for box in pilot.app.screen.query(Input):
        box.cursor_blink = False


async def edited(pilot: Pilot[Any]) -> None:
    """A plan of twice the size with linear optics: every outcome says what moved."""
    app: Any = pilot.app
    for path, value in ((GPUS, 2048), (OPTIC, "osfp-800g-lpo-2xdr4")):
        app.keep(path, value)
        await settle(pilot)
    app.plan.go(OPTIC)


async def optics(pilot: Pilot[Any]) -> None:
    """The list of optics with what each does to the plan."""
    app: Any = pilot.app
    app.plan.go(OPTIC)
    await pilot.press("enter")
    await settle(pilot)
    await pilot.press("down", "down", "down", "down")


async def where(pilot: Pilot[Any]) -> None:
    """Time, power and money side by side, against the plan as it was opened."""
    app: Any = pilot.app
    app.keep(GPUS, 2048)
    await settle(pilot)
    await pilot.press("2")


SCENES: dict[str, tuple[tuple[int, int], Scene]] = {
    "plan": ((140, 40), edited), "optics": ((100, 28), optics), "where": ((140, 42), where),
}  # fmt: skip


def bare(svg: str) -> str:
    """A picture without fonts from elsewhere: the reader's own monospaced one is used."""
    svg = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family:[^;]+;", f"font-family: {FONTS};", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def text_of(svg: str) -> list[str]:
    """What a picture shows, piece by piece."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


async def drawn(name: str) -> str:
    """One picture."""
    size, scene = SCENES[name]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            plan = Path("my-cluster.yaml")
            plan.write_bytes(find_scenario("h200-1024-ndr").read_bytes())
            app = PlannerApp(str(plan), shelf=Shelf(Path("state")), clock=lambda: "14:05:00")
            app.theme = "textual-dark"
            async with app.run_test(size=size) as pilot:
                await settle(pilot)
                await scene(pilot)
                await settle(pilot)
                return bare(app.export_screenshot(title="planner tui my-cluster.yaml"))
        finally:
            os.chdir(before)


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in SCENES:
        path = FOLDER / f"{name}.svg"
        path.write_text(asyncio.run(drawn(name)), encoding="utf-8")
        print(f"written: {path} ({path.stat().st_size / 1e3:.0f} kB)", file=sys.stderr)


if __name__ == "__main__":
    main()
