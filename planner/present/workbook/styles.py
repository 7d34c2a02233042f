"""Formats: one for each role and number format, made once; and how a unit is shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

BLUE, BLACK, GREEN, RED, GREY = "#0000FF", "#000000", "#00703C", "#C00000", "#6B6B6B"
PALE_YELLOW, PALE_GREY, PALE_BLUE, DARK = "#FFFFCC", "#F2F2F2", "#DCE6F1", "#1F3864"
FONT: Final = {"font_name": "Arial", "font_size": 10}

_ROLES: Final[dict[str, dict[str, Any]]] = {
    "text": {},
    "wrap": {"text_wrap": True, "valign": "top"},
    "quiet": {"font_color": GREY},
    "unit": {"font_color": GREY, "indent": 1},
    "middle": {"font_color": GREY, "align": "center"},
    "said": {"indent": 1},
    "left": {"font_color": GREY, "align": "left"},
    "key": {"font_color": GREY, "font_size": 8, "valign": "vcenter", "indent": 1},
    "code": {"font_name": "Courier New", "font_size": 9},
    "title": {"bold": True, "font_size": 14, "font_color": DARK},
    "verdict": {"bold": True, "font_size": 11},
    "banner": {"bold": True, "font_color": RED},
    "status": {"bold": True, "font_color": GREEN},
    "head": {"bold": True, "font_color": "#FFFFFF", "bg_color": DARK, "valign": "vcenter", "text_wrap": True},
    "head in": {"bold": True, "font_color": "#FFFFFF", "bg_color": DARK, "valign": "vcenter", "text_wrap": True, "indent": 1},
    "head right": {"bold": True, "font_color": "#FFFFFF", "bg_color": DARK, "valign": "vcenter", "align": "right", "text_wrap": True},
    "heading": {"bold": True, "bg_color": PALE_BLUE},
    "zone": {"bold": True, "bg_color": PALE_YELLOW, "font_color": BLUE, "top": 1, "bottom": 1},
    "locked zone": {"bold": True, "bg_color": "#D9D9D9", "top": 1, "bottom": 1},
    "input": {"font_color": BLUE, "bg_color": PALE_YELLOW, "border": 1, "border_color": "#BFBFBF", "locked": False},
    "given": {"font_color": BLUE, "bg_color": PALE_GREY},
    "formula": {"font_color": BLACK},
    "link": {"font_color": GREEN},
    "computed": {"font_color": "#404040", "bg_color": PALE_GREY, "italic": True},
    "static": {"font_color": GREY},
    "total": {"bold": True, "top": 1},
    "link total": {"bold": True, "top": 1, "font_color": GREEN},
    "planner": {"font_color": "#7F7F7F", "bg_color": PALE_GREY, "italic": True},
}  # fmt: skip
"""Blue is typed in, black is a formula, green comes from another sheet; fill and border say the same."""


class Styles:
    """Formats of one workbook, made when first asked for."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._made: dict[tuple[str, str], Any] = {}

    def get(self, role: str, number_format: str = "") -> Any:
        """Format of a role, with a number format where it holds numbers."""
        key = (role, number_format)
        if key not in self._made:
            properties = {**FONT, **_ROLES[role]}
            if number_format:
                properties["num_format"] = number_format
            self._made[key] = self._book.add_format(properties)
        return self._made[key]


def unit_text(unit: str) -> str:
    """Unit as the unit column shows it; shares are shown as percentages.

    >>> unit_text("fraction/year"), unit_text("1"), unit_text("USD")
    ('%/year', 'number', 'USD')
    """
    if unit.startswith("fraction"):
        return "%" + unit.removeprefix("fraction")
    return "number" if unit == "1" else unit


def number_format(unit: str, values: float | Sequence[float]) -> str:
    """Number format that shows values of a size in a unit.

    >>> number_format("fraction", 0.85), number_format("USD", 46e6), number_format("s", 5e-6)
    ('0.0%', '#,##0', '0.00E+00')
    """
    many = [values] if isinstance(values, float | int) else [one for one in values if math.isfinite(one)]
    size = max((abs(one) for one in many), default=0.0)
    if unit.startswith("fraction"):
        return "0.0%" if size >= 0.1 or size == 0 else "0.00%" if size >= 0.001 else "0.0000%"
    if unit in ("flag", "month"):
        return "0"
    if size >= 1e12 or 0 < size < 1e-3:
        return "0.00E+00"
    if unit == "USD" and not isinstance(values, float | int):
        return '#,##0;-#,##0;"–"'
    if size >= 1000 or all(one == int(one) for one in many if math.isfinite(one)):
        return "#,##0"
    return "#,##0.00" if size >= 10 else "0.00##" if size >= 0.01 else "0.0000##"


@dataclass(frozen=True, slots=True)
class Shown:
    """How a headline is shown: its cells hold the ledger's value divided, in the unit written beside."""

    divisor: int
    pattern: str
    unit: str

    def of(self, value: float) -> float:
        """A value of the ledger in the unit shown."""
        return value / self.divisor

    def formula(self, cell: str, constant: Callable[[float], str]) -> str:
        """Formula of a cell that shows another in this unit; ``constant`` says where the divisor stands."""
        return f"={cell}" if self.divisor == 1 else f"={cell}/{constant(float(self.divisor))}"


_SCALED: Final = {
    "USD": ((0.9995e6, Shown(10**6, "#,##0.00", "M USD")), (0.0, Shown(1, "#,##0", "USD"))),
    "USD/year": ((0.9995e6, Shown(10**6, "#,##0.00", "M USD/year")), (0.0, Shown(1, "#,##0", "USD/year"))),
    "W": ((0.9995e6, Shown(10**6, "#,##0.000", "MW")), (0.0, Shown(10**3, "#,##0.0", "kW"))),
    "kWh/year": (
        (0.9995e6, Shown(10**6, "#,##0.0", "GWh/year")), (0.0, Shown(1, "#,##0", "kWh/year"))
    ),
}  # fmt: skip


def headline_shown(unit: str, value: float) -> Shown:
    """Unit of a headline, and the number format that fits it.

    A number format that scales would do as well for reading, but a reader who types a limit types it
    in the unit written beside the cell.

    >>> headline_shown("USD", 46e6)
    Shown(divisor=1000000, pattern='#,##0.00', unit='M USD')
    >>> headline_shown("fraction", 0.38)
    Shown(divisor=1, pattern='0.0%', unit='%')
    """
    for least, shown in _SCALED.get(unit, ()):
        if abs(value) >= least:
            return shown
    return Shown(1, number_format(unit, value), unit_text(unit))
