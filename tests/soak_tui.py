"""Random keys for half an hour: no exception, no lost edit, and memory that stays flat after a warm-up.

Run with ``make soak``; ``python tests/soak_tui.py MINUTES [SEED] [CURVE]`` for another length, and to write the
memory curve (seconds, MB) to a file. Keys are posted without waiting for what they cause, in bursts, as a paste or
a held key would send them. In between the terminal changes its size, text is pasted, the mouse clicks, actions are
called by name, and another program writes, breaks and removes the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import OutOfBounds
from textual.worker import WorkerCancelled

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

KEYS = (
    *"jjjjkkkk", *"12345678", "down", "down", "down", "up", "left", "right", "pagedown", "pageup", "home", "end",
    "enter", "enter", "enter", "escape", "escape", "escape", "tab", "u", "u", "ctrl+r", "b", "B", "r", "w", "h", "d",
    "n", "N", "x", "a", "A", "K", "J", "delete", "slash", "space", "question_mark", "y", "f2", "f3", *"tpmsvgozfice",
    "O", "ctrl+s", "ctrl+o", "ctrl+p", "backspace", "f1",
)  # fmt: skip
TEXTS = (
    "512",
    "0.9",
    "4096",
    "qm9790",
    "2026-12",
    "-1",
    "x" * 40,
    "15%",
    "ü†",
    "1e9",
    "us-",
    "",
    "mine",
    "~",
)
PASTES = ("512", "9" * 5_000, "word \x1b[31m \0" * 400, "中文🚀\n" * 300, "price<9000 " * 200)
ACTIONS = ("theme", "where: money", "screen", "copy", "catalog", "study", "network", "pin", "why", "history")
"""What is typed into the palette; words that can't find the one action which ends the program."""
SIZES = ((80, 24), (80, 24), (140, 45), (60, 15), (100, 30), (20, 5), (300, 100))
WARM_SHARE = 0.25
"""Share of the time after which memory must be flat: caches of drawn text fill up first."""
GROWTH = 1.10
EVERY_S = 10.0
"""Between two points of the memory curve."""
TOUR = (*"2345gvg", "escape", *"678", "end", "enter", "1")
"""Once everywhere first: the draws of a sensitivity take 60 MB and the renderer of charts 125 MB, once."""


def resident_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Soak:
    """One run: the program, a plan in a folder of its own, and what is done to them."""

    def __init__(self, seed: int) -> None:
        from planner.scenario.load import find_scenario
        from planner.tui.app import PlannerApp
        from planner.tui.files import Shelf

        self.rng = random.Random(seed)
        self.folder = Path(tempfile.mkdtemp())
        os.chdir(self.folder)
        self.plan = self.folder / "plan.yaml"
        self.text = find_scenario("h200-1024-ndr").read_bytes()
        self.plan.write_bytes(self.text)
        self.app: PlannerApp = PlannerApp(str(self.plan), shelf=Shelf(self.folder / "state"))
        self.keys = 0
        self.curve: list[tuple[float, float]] = []

    async def run(self, minutes: float) -> bool:
        """Whether the program lived as long; the curve is filled meanwhile."""
        app, rng = self.app, self.rng
        async with app.run_test(size=SIZES[0]) as pilot:
            for key in TOUR:
                await pilot.press(key)
                with contextlib.suppress(WorkerCancelled):  # a later question withdraws an earlier one
                    await app.workers.wait_for_complete()
            start = time.monotonic()
            while (spent := time.monotonic() - start) < minutes * 60:
                for _ in range(rng.randint(1, 8)):
                    self.burst()
                await asyncio.sleep(rng.choice((0.0, 0.01, 0.1, 0.3)))
                await self.from_outside(pilot)
                if app._exception is not None or not app.is_running:
                    return False
                await self.back_to_work()
                if spent >= len(self.curve) * EVERY_S:
                    self.curve.append((spent, resident_mb()))
            await pilot.pause(1.0)  # keys still on their way
            app.exit()
        return True

    def post(self, name: str) -> None:
        """Send a key."""
        named = {"space": " ", "slash": "/", "question_mark": "?"}
        self.keys += 1
        self.app.post_message(events.Key(name, name if len(name) == 1 else named.get(name)))

    def burst(self) -> None:
        """A key, a word and enter, or an action by its name; posted at once."""
        rng, names = self.rng, [self.rng.choice(KEYS)]
        if rng.random() < 0.15:
            names = [*map(_character_to_key, rng.choice(TEXTS)), rng.choice(("enter", "escape"))]
        elif rng.random() < 0.01:
            names = ["ctrl+p", *map(_character_to_key, rng.choice(ACTIONS)), "down", "enter"]
        for name in names:
            self.post(name)

    async def from_outside(self, pilot: Any) -> None:
        """Now and then what isn't a key: another size, a paste, a click, another program at the file."""
        rng = self.rng
        if rng.random() < 0.01:
            await pilot.resize_terminal(*rng.choice(SIZES))
        if rng.random() < 0.005:
            self.app.post_message(events.Paste(rng.choice(PASTES)))
        if rng.random() < 0.005:
            with contextlib.suppress(OutOfBounds):
                await pilot.click(offset=(rng.randrange(80), rng.randrange(24)), times=rng.choice((1, 2)))
        if rng.random() < 0.003:
            what = rng.choice((self.text, self.text, b"a: [", b"\xff\xfe", b"", None))
            if what is None:
                self.plan.unlink(missing_ok=True)
            else:
                self.plan.write_bytes(what)

    async def back_to_work(self) -> None:
        """Now and then out of whatever is open, and back to the plan as it was, so that the soak goes everywhere."""
        app, rng = self.app, self.rng
        if rng.random() < 0.02:
            for _ in range(4):
                self.post("escape")
                await asyncio.sleep(0.05)
        if len(app.screen_stack) == 1 and rng.random() < (0.004 if app.state.draft is not None else 0.2):
            self.plan.write_bytes(self.text)
            app.open(str(self.plan))

    def faults(self) -> list[str]:
        """Faults that the program caught itself and went on after."""
        return [one.read_text() for one in (self.folder / "state").rglob("faults/*")]


def growth(curve: list[tuple[float, float]]) -> tuple[float, float]:
    """Memory after the warm-up and in the last quarter, each the median of a quarter: one point may hold a search.

    >>> growth([(0, 100), (1, 200), (2, 210), (3, 205)])
    (200, 205)
    """
    whole = [memory for _, memory in curve] or [0.0]
    first = int(len(whole) * WARM_SHARE)
    quarter = max(1, len(whole) // 4)
    return statistics.median(whole[first : first + quarter]), statistics.median(whole[-quarter:])


def main(minutes: float, seed: int, curve: str = "") -> int:
    """Run; gives the exit code."""
    from planner.tui.remembered import allocate_flat

    allocate_flat()  # as the program itself does when it starts
    soak = Soak(seed)
    try:
        lived = asyncio.run(soak.run(minutes))
    except Exception:  # raised again by the test driver; the curve is worth having all the same
        traceback.print_exc()
        lived = False
    warm, end = growth(soak.curve)
    told = " ".join(f"{memory:.0f}" for _, memory in soak.curve[:: max(1, len(soak.curve) // 20)])
    print(
        f"{soak.keys:,} keys in {minutes:g} min, seed {seed}; {warm:.0f} MB warm, {end:.0f} MB at the end; {told}"
    )
    if curve:
        Path(curve).write_text("".join(f"{at:.0f} {memory:.1f}\n" for at, memory in soak.curve))
    if not lived:
        print(f"stopped: {soak.app._exception!r}", file=sys.stderr)
    for one in soak.faults():
        print(one, file=sys.stderr)
    return 1 if not lived or soak.faults() or end > warm * GROWTH else 0


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    raise SystemExit(main(length, int(sys.argv[2]) if len(sys.argv) > 2 else 1, *sys.argv[3:4]))
