"""The line of keys at the foot of each screen: at most eight, with the user's own keys where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.tui.keymap import BINDINGS
from planner.tui.keys import default_keys, key_text
from planner.tui.plan import PlanPane
from planner.tui.start import StartPane

MOST: Final = 8
"""Keys in a footer: more aren't read."""

_PLAN: Final = (
    ("", "enter edit"), ("plan.find", "find"), ("edit.undo", "undo"), ("plan.add", "add"), ("bar.pin", "pin"),
    ("why", "why"), ("file.save", "save"), ("help", "help"),
)  # fmt: skip
_KEYS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "start": (("", "enter opens"), ("start.guide", "guided start"), ("start.new", "new"), ("start.copy", "copy"),
              ("start.delete", "delete"), ("", "^p all"), ("help", "help"), ("quit", "quit")),
    "plan": _PLAN,
    "typing": (("", "enter keeps"), ("", "esc restores"), ("", "tab keeps"), ("", "F1 help")),
    "where": (("where.time", "time"), ("where.power", "power"), ("where.money", "money"), ("", "enter why"),
              ("bar.pin", "pin"), ("history", "history"), ("copy", "copy"), ("help", "help")),
    "network": (("network.design", "design"), ("network.optics", "optics"), ("network.fixes", "fixes"),
                ("", "enter why, apply"), ("bar.pin", "pin"), ("copy", "copy"), ("screen.1", "plan"), ("help", "help")),
    "catalog": (("catalog.filter", "filter"), ("", "← → family"), ("catalog.mark", "compare"), ("", "tab detail"),
                ("copy", "copy"), ("screen.1", "plan"), ("help", "help")),
    "compare": (("compare.add", "add"), ("compare.drop", "drop"), ("compare.previous compare.next", "column"),
                ("", "enter why"), ("compare.take", "take"), ("compare.all", "all"), ("compare.write", "export"),
                ("help", "help")),
    "study": (("study.search", "search"), ("study.sensitivity", "moves"), ("search.go", "go"), ("search.order", "order"),
              ("search.zero_bubble", "zero bubble"), ("search.previous search.next", "which"), ("", "enter takes"),
              ("help", "help")),
    "sensitivity": (("study.search", "search"), ("study.sensitivity", "moves"),
                    ("sensitivity.previous sensitivity.next", "result"), ("sensitivity.full", "all draws"),
                    ("", "enter why"), ("copy", "copy"), ("screen.1", "plan"), ("help", "help")),
    "calibration": (("calibration.previous calibration.next", "curve"), ("calibration.read", "import a log"),
                    ("calibration.fits", "fit errors"), ("", "enter does it"), ("copy", "copy"), ("screen.1", "plan"),
                    ("help", "help")),
    "export": (("", "enter does it"), ("export.mark", "mark"), ("", "↑ ↓ moves"), ("screen.1", "plan"), ("help", "help")),
    "remedy": (("", "press the number of a remedy"), ("", "esc leaves")),
}  # fmt: skip

DEFAULTS: Final = {
    **default_keys(BINDINGS),
    **default_keys(PlanPane.BINDINGS),
    **default_keys(StartPane.BINDINGS),
}
_SCREEN_KEYS: Final = {
    "where.time": "t",
    "where.power": "p",
    "where.money": "m",
    "catalog.filter": "slash",
    "export.mark": "space",
    "catalog.mark": "space",
    "network.design": "d",
    "network.optics": "o",
    "network.fixes": "f",
    "compare.add": "space",
    "compare.drop": "delete",
    "compare.previous": "left",
    "compare.next": "right",
    "compare.take": "o",
    "compare.all": "a",
    "compare.write": "f",
    "study.search": "s",
    "study.sensitivity": "v",
    "search.go": "g",
    "search.order": "o",
    "search.zero_bubble": "z",
    "search.previous": "left",
    "search.next": "right",
    "sensitivity.previous": "left",
    "sensitivity.next": "right",
    "sensitivity.full": "g",
    "calibration.previous": "left",
    "calibration.next": "right",
    "calibration.read": "i",
    "calibration.fits": "f",
}
"""Keys of screens that aren't loaded with the program; a test holds them against the screens' own."""

ALL_KEYS: Final = {**_SCREEN_KEYS, "picker.sort": "f2", "picker.beside": "f3", **DEFAULTS}
"""Default keys of everything that a footer or the help names."""


def footer(pane: str, keymap: Mapping[str, str], width: int = 80) -> str:
    """The keys of a screen.

    >>> footer("remedy", {}), "U undo" in footer("plan", {"edit.undo": "U"})
    ('press the number of a remedy   esc leaves', True)
    """
    keys = {**ALL_KEYS, **keymap}
    parts = [
        " ".join((*(key_text(keys[name]) for name in names.split()), label)) for names, label in _KEYS[pane]
    ]
    wide = "   ".join(parts)
    return wide if len(wide) < width else "  ".join(parts)
