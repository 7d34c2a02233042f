"""Keys of the whole program, the footer of each screen, and the themes. Every key's id can be remapped."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding
from textual.theme import Theme

SCREENS: Final = (
    ("1", "plan", "Plan"),
    ("2", "where", "Where it goes"),
    ("3", "network", "Network"),
    ("6", "catalog", "Catalog"),
    ("8", "export", "Export"),
)
"""Digit, pane and name; digits that are missing belong to the screens of `LATER`."""
LATER: Final = {4: "Compare", 5: "Study", 7: "Calibration"}

BINDINGS: Final = [
    *(Binding(str(digit), f"digit({digit})", show=False, id=f"screen.{digit}") for digit in range(1, 10)),
    Binding("u,ctrl+z", "undo", "undo", id="edit.undo"),
    Binding("ctrl+r,ctrl+y", "redo", "redo", id="edit.redo"),
    Binding("b", "pin", "pin", id="bar.pin"),
    Binding("B", "back_to_pin", "back to the pin", id="bar.back"),
    Binding("r", "ranges", "changes or ranges", id="bar.ranges"),
    Binding("w", "why", "why", id="why"),
    Binding("h", "history", "history", id="history"),
    Binding("x", "remedy", "apply a remedy", id="remedy"),
    Binding("e", "export", "export", id="export"),
    Binding("y", "copy", "copy", id="copy"),
    Binding("ctrl+s", "save", "save", id="file.save"),
    Binding("ctrl+o", "save_as", "save as", id="file.save_as"),
    Binding("question_mark,f1", "help", "help", id="help"),
    Binding("ctrl+q", "quit", "quit", id="quit", priority=True),
    Binding("escape", "one_back", "back", show=False, id="back"),
]

FOOTERS: Final[dict[str, str]] = {
    "start": "enter opens   ↑ ↓ moves   ctrl+p all actions   ? help   ctrl+q quit",
    "plan": "enter edit  / find  u undo  d default  b pin  w why  h history  ^s save  ? help",
    "typing": "enter keeps   esc restores   tab keeps   F1 help",
    "where": "t time  p power  m money  enter why  b pin  h history  y copy  1 plan  ? help",
    "network": "enter why  b pin  h history  y copy  e export  1 plan  ? help",
    "catalog": "/ filter  ← → family  ↑ ↓ item  tab detail  y copy  1 plan  ? help",
    "export": "enter does it  space marks  ↑ ↓ moves  1 plan  ? help",
    "remedy": "x: press the number of a remedy, esc leaves",
}

HIGH_CONTRAST: Final = Theme(
    "high-contrast", primary="#ffffff", secondary="#ffff00", accent="#00ffff", foreground="#ffffff",
    background="#000000", surface="#000000", panel="#000000", boost="#222222", success="#00ff00",
    warning="#ffff00", error="#ff6060", dark=True,
    variables={"primary-muted": "#0033aa", "foreground-darken-3": "#ffffff", "input-selection-background": "#0033aa"},
)  # fmt: skip

THEMES: Final = ("textual-dark", "textual-light", "high-contrast")
