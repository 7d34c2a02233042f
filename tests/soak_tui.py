"""Random keys for half an hour: no exception, no lost edit, and memory that stays flat after a warm-up.

Run with ``make soak``; ``python tests/soak_tui.py MINUTES [SEED]`` for another length. Keys are posted without
waiting for what they cause, in bursts, as a paste or a held key would send them.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from textual import events
from textual.keys import _character_to_key

KEYS = (
    *"jjjjkkkk", *"12345678", "down", "down", "down", "up", "left", "right", "pagedown", "pageup", "home", "end",
    "enter", "enter", "enter", "escape", "escape", "escape", "tab", "u", "u", "ctrl+r", "b", "B", "r", "w", "h", "d",
    "n", "x", "a", "A", "K", "J", "delete", "slash", "space", "question_mark", "y", "f2", "f3", "t", "p", "m",
)  # fmt: skip
TEXTS = ("512", "0.9", "4096", "qm9700", "2026-12", "-1", "x" * 40, "15%", "ü†", "1e9", "us-", "")
SIZES = ((80, 24), (80, 24), (140, 45), (60, 15), (100, 30))
WARM_SHARE = 0.25
"""Share of the time after which memory must be flat: caches of drawn text fill up first."""
GROWTH = 1.10
TOUR = (*"2345gvg", "escape", *"678", "end", "enter", "1")
"""Once everywhere first: the draws of a sensitivity take 60 MB and the renderer of charts 125 MB, once."""


def resident_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def soak(minutes: float, seed: int) -> int:
    """Run; gives the exit code."""
    from planner.scenario.load import find_scenario
    from planner.tui.app import PlannerApp
    from planner.tui.files import Shelf

    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp())
    os.chdir(folder)
    plan = folder / "plan.yaml"
    plan.write_bytes(find_scenario("h200-1024-ndr").read_bytes())
    app = PlannerApp(str(plan), shelf=Shelf(folder / "state"))
    start, keys, warm, marks = time.monotonic(), 0, 0.0, []
    async with app.run_test(size=SIZES[0]) as pilot:
        for key in TOUR:
            await pilot.press(key)
            await app.workers.wait_for_complete()
        while (spent := time.monotonic() - start) < minutes * 60:
            for _ in range(rng.randint(1, 8)):
                keys += await burst(app, rng)
            await asyncio.sleep(rng.choice((0.0, 0.01, 0.1, 0.3)))
            if rng.random() < 0.01:
                await pilot.resize_terminal(*rng.choice(SIZES))
            if app._exception is not None or not app.is_running:
                print(f"stopped after {keys} keys, seed {seed}: {app._exception!r}", file=sys.stderr)
                return 1
            await back_to_work(app, str(plan), rng)
            if not warm and spent > minutes * 60 * WARM_SHARE:
                warm = resident_mb()
            if spent // 30 > len(marks):
                marks.append(round(resident_mb()))
        faults = list((folder / "state").rglob("faults/*"))
        end = resident_mb()
        await pilot.pause(1.0)  # keys still on their way
        app.exit()
    print(
        f"{keys:,} keys in {minutes:g} min, seed {seed}; {warm:.0f} MB warm, {end:.0f} MB at the end; {marks}"
    )
    for one in faults:
        print(one.read_text(), file=sys.stderr)
    return 1 if faults or end > warm * GROWTH else 0


async def burst(app: object, rng: random.Random) -> int:
    """A key, or a word and enter; posted at once."""
    names = [rng.choice(KEYS)]
    if rng.random() < 0.15:
        names = [_character_to_key(one) for one in rng.choice(TEXTS)] + [rng.choice(("enter", "escape"))]
    for name in names:
        character = name if len(name) == 1 else {"space": " ", "slash": "/", "question_mark": "?"}.get(name)
        app.post_message(events.Key(name, character))  # type: ignore[attr-defined]
    return len(names)


async def back_to_work(app: object, plan: str, rng: random.Random) -> None:
    """Now and then out of whatever is open, and back to the plan as it was opened, so that the soak goes everywhere."""
    if rng.random() < 0.02:
        for _ in range(4):
            app.post_message(events.Key("escape", None))  # type: ignore[attr-defined]
            await asyncio.sleep(0.05)
    if rng.random() < 0.004 and len(app.screen_stack) == 1:  # type: ignore[attr-defined]
        app.open(plan)  # type: ignore[attr-defined]


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    raise SystemExit(asyncio.run(soak(length, int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
