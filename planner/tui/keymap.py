"""Keys of the whole program and the themes. Every key's id can be remapped."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding
from textual.theme import Theme

from planner.tui.screens import EXTRA

SCREENS: Final = tuple(
    sorted(
        (
            ("1", "plan", "Plan"),
            ("2", "where", "Where it goes"),
            ("3", "network", "Network"),
            ("6", "catalog", "Catalog"),
            ("8", "export", "Export"),
            *((one.digit, one.pane, one.title) for one in EXTRA),
        )
    )
)
"""Digit, pane and name."""

BINDINGS: Final = [
    *(Binding(str(digit), f"digit({digit})", show=False, id=f"screen.{digit}") for digit in range(1, 10)),
    Binding("u,ctrl+z", "undo", "undo", id="edit.undo"),
    Binding("ctrl+r,ctrl+y", "redo", "redo", id="edit.redo"),
    Binding("b", "pin", "pin", id="bar.pin"),
    Binding("B", "back_to_pin", "back to the pin", id="bar.back"),
    Binding("r", "ranges", "changes or ranges", id="bar.ranges"),
    Binding("w", "why", "why", id="why"),
    Binding("h", "history", "history", id="history"),
    Binding("c", "compare_this", "into compare", id="compare.this"),
    Binding("x", "remedy", "apply a remedy", id="remedy"),
    Binding("e", "export", "export", id="export"),
    Binding("y", "copy", "copy", id="copy"),
    Binding("ctrl+s", "save", "save", id="file.save"),
    Binding("ctrl+o", "save_as", "save as", id="file.save_as"),
    Binding("O", "open_other", "folder", id="file.folder"),
    Binding("question_mark,f1", "help", "help", id="help"),
    Binding("ctrl+q", "quit", "quit", id="quit", priority=True),
    Binding("escape", "one_back", "back", show=False, id="back"),
]

HIGH_CONTRAST: Final = Theme(
    "high-contrast", primary="#ffffff", secondary="#ffff00", accent="#00ffff", foreground="#ffffff",
    background="#000000", surface="#000000", panel="#000000", boost="#222222", success="#00ff00",
    warning="#ffff00", error="#ff6060", dark=True,
    variables={"primary-muted": "#0033aa", "foreground-darken-3": "#ffffff", "input-selection-background": "#0033aa"},
)  # fmt: skip

COLOUR_BLIND: Final = Theme(
    "colour-blind", primary="#56b4e9", secondary="#cc79a7", accent="#f0e442", foreground="#e8e8e8",
    background="#101418", surface="#161b20", panel="#1d242b", boost="#26303a", success="#56b4e9",
    warning="#f0e442", error="#e69f00", dark=True,
    variables={"primary-muted": "#1f4e6b", "foreground-darken-3": "#b5b5b5"},
)  # fmt: skip
"""Better is blue and worse is orange: hues of Okabe and Ito's palette, told apart with any colour vision."""

OWN_THEMES: Final = (HIGH_CONTRAST, COLOUR_BLIND)
THEMES: Final = ("textual-dark", "textual-light", *(one.name for one in OWN_THEMES))
