"""The line of keys at the foot of each screen: at most eight, with the user's own keys where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.tui.keymap import BINDINGS
from planner.tui.keys import default_keys, key_text
from planner.tui.plan import PlanPane
from planner.tui.screens import EXTRA
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
}


def footer(pane: str, keymap: Mapping[str, str], width: int = 80) -> str:
    """The keys of a screen.

    >>> footer("remedy", {}), "U undo" in footer("plan", {"edit.undo": "U"})
    ('press the number of a remedy   esc leaves', True)
    """
    told = next((one.footer for one in EXTRA if one.pane == pane), None)
    if told is not None:
        return told
    keys = {**_SCREEN_KEYS, **DEFAULTS, **keymap}
    parts = [f"{key_text(keys[name])} {label}" if name else label for name, label in _KEYS[pane]]
    wide = "   ".join(parts)
    return wide if len(wide) < width else "  ".join(parts)
