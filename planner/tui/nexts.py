"""The Next list: what to try with a first plan. It ticks itself off as edits are made, and goes away once all is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planner.tui.lines import Line, cut, plain, wrapped
from planner.tui.state import State

ROWS: Final = 3
"""Lines it takes on screen 1."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to try: what, by which keys, and how it is seen to be done."""

    told: str
    keys: str
    done: Callable[[State], bool]


def _touched(name: str) -> Callable[[State], bool]:
    """Whether an edit in force is of a field whose name ends so."""

    def done(state: State) -> bool:
        steps = state.timeline.steps[: state.timeline.at]
        return any(str(step.path[-1]).endswith(name) for step in steps if step.path)

    return done


TASKS: Final = (
    Task("size it, or try another server", "/ gpus or server, enter, a value, enter",
         lambda state: _touched("server")(state) or _touched("gpus")(state)),
    Task("swap an optic", "/ leaf.optic, enter twice: see what each does", _touched("optic")),
    Task("see what an edit moves", "b pins, edit, 2 has it",
         lambda state: state.pin is not None and state.pin.chosen),
    Task("export report and workbook", "e, then enter", lambda state: state.exported),
)  # fmt: skip


def open_tasks(state: State) -> tuple[Task, ...]:
    """What isn't done yet."""
    return tuple(one for one in TASKS if not one.done(state))


def task_lines(state: State, width: int) -> list[Line]:
    """Every task with its tick, for the help."""
    return [
        plain(f"   {' ' if number else '✓' if one.done(state) else '·'} {text}")
        for one in TASKS
        for number, text in enumerate(wrapped(f"{one.told}: {one.keys}", width - 5))
    ]


def next_lines(state: State, width: int) -> list[Line]:
    """What stands on screen 1: three lines, the open ones first; none once all is done, or nobody was guided."""
    left = open_tasks(state)
    if not state.guided or not left:
        return []
    shown = [*left, *(one for one in TASKS if one not in left)][:ROWS]
    lines = []
    for number, one in enumerate(sorted(shown, key=TASKS.index)):
        head = " Next " if not number else "      "
        tick, style = ("·", "accent") if one in left else ("✓", "dim")
        end = "   (esc puts this away)" if number == ROWS - 1 else ""
        lines.append(
            plain(f"{head}{tick} {cut(f'{one.told}: {one.keys}', width - 8 - len(end))}{end}", style)
        )
    return lines
