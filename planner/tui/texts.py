"""History, help and remedies as lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from planner.documents import Path_
from planner.errors import Problem, Remedy
from planner.present import format as fmt
from planner.tui.draft import Draft
from planner.tui.lines import Line, cut
from planner.tui.state import Stand, State
from planner.tui.timeline import Timeline

LEGEND: Final = "▲ better ▼ worse"


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
        more: Further fields, with their values, that change with it.
    """

    said: str
    path: Path_
    value: Any = None
    applies: bool = False
    removes: bool = False
    renamed: Path_ = ()
    more: tuple[tuple[Path_, Any], ...] = ()


def fixes(state: State) -> tuple[Fix, ...]:
    """Remedies in the order of their numbers on the screen."""
    draft = state.shown
    if draft is None:
        return ()
    if state.refusal:
        return tuple(_fix(one, problem) for problem in _refused(state) for one in problem.offered)
    if state.problems:
        return tuple(fix for problem in state.problems for fix in _offered(problem, draft))
    return tuple(_fix(one, problem) for problem in missed(state) for one in problem.offered)


def missed(state: State) -> tuple[Problem, ...]:
    """Limits that the plan on the screen misses, with edits that may meet them; none while an answer is awaited."""
    answer = state.answer
    if state.awaiting or answer is None or not answer.good or answer.meets or answer.evaluation is None:
        return ()
    from planner.study.limits import missed_limits

    return missed_limits(answer.evaluation)


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
    if problem.remedies:
        return [
            replace(fix, said=f"{key}: {fix.said}")
            for fix in (_fix(one, problem) for one in problem.remedies)
        ]
    found = [Fix(f"{key}: {fmt.written(value)}", path, value, True) for value in _proposed(problem.remedy)]
    there = draft.value(path) is not None or path in draft.document.places
    if there and re.search(r"\b(?:remove it|leave it out)\b", problem.remedy):
        found.append(Fix(f"{key}: remove it", path, None, True, removes=True))
    return found


def _refused(state: State) -> Sequence[Problem]:
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


def _fix(remedy: Remedy, problem: Problem) -> Fix:
    """A remedy's own edit; where it has none, the field that its problem speaks of."""
    if not remedy.edits:
        return Fix(remedy.words, _path(problem.key))
    removes = remedy.value is None and not remedy.more
    return Fix(remedy.words, remedy.path, remedy.value, True, removes=removes, more=remedy.more)
