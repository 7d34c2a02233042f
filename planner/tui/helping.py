"""The help: keys by what they are for, with the user's own where there are any, and what the marks mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from planner.tui.footers import ALL_KEYS
from planner.tui.keys import key_text
from planner.tui.lines import Line, left, plain, wrapped
from planner.tui.nexts import task_lines
from planner.tui.state import State
from planner.tui.texts import LEGEND

CELLS: Final = 57
"""What an explanation has beside its keys on a screen of 80 columns."""
KEYS: Final = 15
HELP: Final = (
    ("screens", (("1 to 8", "Plan, Where it goes, Network, Compare, Study, Catalog, Calibration, Export"),
                 ("ctrl+p", "every action by name"),
                 ("{help}", "this help"), ("{quit}", "quit; asks when something isn't saved"))),
    ("moving", (("arrows j k", "up and down"), ("{plan.close} {plan.open}", "close and open a group"),
                ("page home end", "by pages, to the ends"), ("tab", "next pane"), ("esc", "one back, or cancel"))),
    ("editing", (("enter", "edit, open, choose"), ("{plan.default}", "field to its default, or to what the base says"),
                 ("{plan.add} {plan.copy} {plan.remove}",
                  "add, copy, remove an item; del also takes away an optional part"),
                 ("{plan.move_up} {plan.move_down}", "move an item up, down"),
                 ("{edit.undo}", "undo"), ("{edit.redo}", "redo"),
                 ("{plan.next_problem} {plan.previous_problem}", "next, previous problem"),
                 ("{remedy}, a digit", "apply that remedy"), ("{plan.find}", "find a field"))),
    ("picking", (("type", "words and comparisons: 800g price<900 orderable; of what a part does to the plan: capex<0 gpuh<0 days<=0 mw<0"),
                 ("{picker.sort}", "sort by name, price, power, newest figure, effect on cost or work"),
                 ("{picker.beside} twice", "two parts side by side, with what the plan comes to"))),
    ("judging", (("{bar.pin}", "pin: count changes from here, in the bar and on screen 2"),
                 ("{bar.back}", "back to the pin, undoable"),
                 ("{bar.ranges}", "third row of the bar: changes, or P10 to P90"),
                 ("{why}", "why this number, down to its source"),
                 ("{history}", "history of edits; choosing one goes back"),
                 ("{compare.this}", "this plan as it stands into Compare"),
                 ("{copy}", "copy the value or table"))),
    ("folder", (("{start.guide}", "guided start"), ("{start.new}", "new plan"),
                ("{start.copy} {start.delete}", "copy, delete a scenario"), ("{file.folder}", "back to the folder"))),
    ("files", (("{file.save}", "save; a shipped scenario is saved under another name"),
               ("{file.save_as}", "save under another name"), ("{export}", "export a report"))),
    ("marks", (("▲ ▼ =", "better, worse, the same at the digits shown; the sign is the direction"),
               ("!", "past its limit, or a value that is wrong"),
               ("?", "met in under 90 of 100 draws"), ("~", "not current"), ("✗", "can't be built"),
               ("M D P Q E u", "measured, datasheet, published, quote, estimate, typed by you"),
               ("†", "price older than half a year at the plan's date"))),
)  # fmt: skip


def keys_told(told: str, keymap: Mapping[str, str]) -> str:
    """Keys in place of the actions in braces: all of an action's where it stands alone, else the first.

    >>> keys_told("{edit.undo}", {}), keys_told("{remedy}, a digit", {"remedy": "f9"})
    ('u ctrl+z', 'f9, a digit')
    """
    keys = {**ALL_KEYS, **keymap}
    alone = re.fullmatch(r"\{([a-z_.]+)\}", told)
    if alone:
        return " ".join(_name(one) for one in keys[alone[1]].split(","))
    return re.sub(r"\{([a-z_.]+)\}", lambda found: _name(keys[found[1]].split(",", maxsplit=1)[0]), told)


def _name(key: str) -> str:
    return key if key.startswith("ctrl+") else {"f1": "F1", "f2": "F2", "f3": "F3"}.get(key, key_text(key))


def help_screen(keymap: Mapping[str, str], state: State) -> list[Line]:
    """All keys and marks, by what they are for; what to try next first, where a plan is open."""
    lines = [plain(f" {LEGEND}: the sign is the direction, so fewer days read -2.1 ▲", "accent")]
    if state.draft is not None:
        lines += [plain(" next, to try", "head"), *task_lines(state, CELLS + KEYS + 3)]
    for title, rows in HELP:
        lines.append(plain(f" {title}", "head"))
        for keys, told in rows:
            names = keys_told(keys, keymap)
            for number, part in enumerate(wrapped(told, CELLS)):
                shown = "" if number else names
                lines.append(Line(((f"   {left(shown, KEYS)}", "accent"), (part, "plain"))))
    return lines
