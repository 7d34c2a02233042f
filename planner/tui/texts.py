"""History, help and remedies as lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner.documents import Path_
from planner.errors import Problem
from planner.present import format as fmt
from planner.tui.draft import Draft
from planner.tui.lines import Line, cut, left, plain
from planner.tui.state import Stand, State
from planner.tui.timeline import Timeline

LEGEND: Final = "▲ better ▼ worse"
HELP: Final = (
    ("screens", (("1 2 3 6 8", "Plan, Where it goes, Network, Catalog, Export"),
                 ("4 5 7", "Compare, Study, Calibration: in a later version"),
                 ("ctrl+p", "every action by name"),
                 ("? F1", "this help"), ("ctrl+q", "quit; asks when something isn't saved"))),
    ("moving", (("arrows j k", "up and down"), ("left right", "close and open a group"),
                ("page home end", "by pages, to the ends"), ("tab", "next pane"), ("esc", "one back, or cancel"))),
    ("editing", (("enter", "edit, open, choose"), ("d", "field to its default"), ("a A del", "add, copy, remove an item"),
                 ("u ctrl+z", "undo"), ("ctrl+r ctrl+y", "redo"), ("n N", "next, previous problem"),
                 ("x and a digit", "apply that remedy"), ("/", "find a field"))),
    ("judging", (("b", "pin: count changes from here"), ("B", "back to the pin, undoable"),
                 ("r", "third row of the bar: changes, or P10 to P90"),
                 ("w", "why this number, down to its source"), ("h", "history of edits; choosing one goes back"),
                 ("y", "copy the value or table"))),
    ("files", (("ctrl+s", "save; a shipped scenario is saved under another name"), ("ctrl+o", "save under another name"),
               ("e", "export a report"))),
    ("marks", (("▲ ▼ =", "better, worse, the same at the digits shown; the sign is the direction"), ("!", "past its limit, or a value that is wrong"),
               ("?", "met in under 90 of 100 draws"), ("~", "not current"), ("✗", "can't be built"),
               ("M D P Q E u", "measured, datasheet, published, quote, estimate, typed by you"),
               ("†", "price older than half a year at the plan's date"))),
)  # fmt: skip


def help_screen() -> list[Line]:
    """All keys and marks, by what they are for."""
    lines = [plain(f" {LEGEND}: the sign is the direction, so fewer days read -2.1 ▲", "accent")]
    for title, rows in HELP:
        lines.append(plain(f" {title}", "head"))
        lines += [Line(((f"   {left(keys, 15)}", "accent"), (told, "plain"))) for keys, told in rows]
    return lines


def history_lines(timeline: Timeline, width: int) -> list[Line]:
    """The list of edits, newest last; key is the number of edits that would be in force."""
    lines = [_mark(timeline.at == 0, "opened", "", "0", width)]
    for number, step in enumerate(timeline.steps, start=1):
        moved = [f"{one.bar} {one.text}{one.glyph}" for one in step.changes if one.glyph]
        told = ", ".join(moved) or ("nothing in the bar moved" if step.changes else "")
        head = f"{step.time}  {step.said}"
        undone = number > timeline.at
        lines.append(_mark(number == timeline.at, head, told, str(number), width, undone=undone))
    return lines


def _mark(here: bool, head: str, told: str, key: str, width: int, *, undone: bool = False) -> Line:
    mark = "●" if here else "○" if undone else " "
    first = cut(f" {mark} {head}", max(20, width * 2 // 3) if told else width)
    return Line(
        ((first, "dim" if undone else "plain"), (cut(f"  {told}", width - len(first)), "dim")), key, True
    )


@dataclass(frozen=True, slots=True)
class Fix:
    """A remedy that can be applied as an edit, or else only shown with the field it speaks of.

    Attributes:
        removes: Takes the field away instead of writing a value.
        renamed: Path that a field with a mistyped name moves to.
    """

    said: str
    path: Path_
    value: Any = None
    applies: bool = False
    removes: bool = False
    renamed: Path_ = ()


def fixes(state: State) -> tuple[Fix, ...]:
    """Remedies in the order of their numbers on the screen."""
    draft = state.shown
    if draft is None:
        return ()
    found: list[Fix] = []
    if state.refusal:
        keys = {one.message: one.key for one in _refused(state)}
        for remedy in state.refusal:
            path = _path(keys.get(remedy.message, remedy.place))
            found += [_fix(said, path, draft.document.data) for said in remedy.remedies]
        return tuple(found)
    for problem in state.problems:
        found += _offered(problem, draft)
    return tuple(found)


def no_fix(state: State) -> str:
    """What to say where nothing can be applied; it never says that all is well where it isn't."""
    match state.stand:
        case Stand.INVALID | Stand.REFUSED:
            return "edit the marked field (n jumps to it)"
        case Stand.FAULT:
            return "an internal error has no remedy here; u undoes the last edit"
        case Stand.LOADING | Stand.STALE:
            return "still evaluating; press x again"
    if state.awaiting:
        return "still evaluating; press x again"
    if state.last is not None and not state.last.meets:
        return f"the plan can be built, and no edit is known that mends this: {state.last.verdict}"
    return "nothing needs a remedy"


def _offered(problem: Problem, draft: Draft) -> list[Fix]:
    """Edits that a problem's remedy names."""
    path, key = _path(problem.key), problem.key
    found: list[Fix] = []
    if problem.message.startswith("no field"):
        for name in _proposed(problem.remedy):
            other = (*path[:-1], str(name))
            if draft.value(other) is None:
                found.append(Fix(f"{key}: rename it to {name}", path, None, True, renamed=other))
        return [*found, Fix(f"{key}: remove it", path, None, True, removes=True)]
    found = [Fix(f"{key}: {fmt.written(value)}", path, value, True) for value in _proposed(problem.remedy)]
    there = draft.value(path) is not None or path in draft.document.places
    wanted = there and problem.remedy.startswith("choose a switch for ")
    leaf = draft.value(("network", "leaf", "switch"))
    if wanted and path in (("network", "spine", "switch"), ("network", "core", "switch")) and leaf:
        found.append(Fix(f"{key}: {leaf}, as the leaf", path, leaf, True))
    if there and re.search(r"\b(?:remove it|leave it out)\b", problem.remedy):
        found.append(Fix(f"{key}: remove it", path, None, True, removes=True))
    return found


def _refused(state: State) -> Sequence[Any]:
    evaluation = state.answer.evaluation if state.answer is not None else None
    return evaluation.refusal.problems if evaluation is not None and evaluation.refusal is not None else ()


def _path(key: str) -> Path_:
    return tuple(int(part) if part.isdigit() else part for part in key.split(".") if part)


def _proposed(remedy: str) -> list[Any]:
    """Values that a remedy names: ``write 1,032 or 1,024``, ``nearest: qm9790, qm9700``."""
    write = re.fullmatch(r"write ([\d,]+)(?: or ([\d,]+))?", remedy)
    if write:
        return [int(part.replace(",", "")) for part in write.groups() if part]
    near = re.fullmatch(r"nearest: (.+)", remedy)
    return near[1].split(", ") if near else []


def _fix(said: str, path: Path_, data: Any) -> Fix:
    """An edit where the remedy names one: another topology, another number of GPUs in the only group."""
    topology = re.match(r"topology (rail-optimised|rail-only|single-switch|none)\b", said)
    if topology:
        return Fix(said, ("network", "topology"), topology[1], True)
    gpus = re.match(r"(?:about )?([\d,]+) GPUs or (?:more|fewer)\b", said)
    groups = (data.get("cluster") or {}).get("groups") if isinstance(data, dict) else None
    if gpus and isinstance(groups, list) and len(groups) == 1:
        return Fix(said, ("cluster", "groups", 0, "gpus"), int(gpus[1].replace(",", "")), True)
    reserved = re.match(r"(\d+) reserved ports", said)
    if reserved:
        return Fix(said, ("network", "reserved_ports"), int(reserved[1]), True)
    return Fix(said, path)
