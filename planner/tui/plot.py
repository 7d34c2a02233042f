"""Plots of characters: points in a frame with the ends of both axes; every kind of point has a letter of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.tui.lines import Line, cut, left, plain

LEFT = 10
"""Cells of the labels of the y axis."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One point; of several in one cell the one with the largest rank is seen."""

    x: float
    y: float
    glyph: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Ticks:
    """Words at the ends of an axis, and its name."""

    low: str
    high: str
    name: str


def scatter(dots: Sequence[Dot], x: Ticks, y: Ticks, width: int, height: int) -> list[Line]:
    """Points in a frame; y grows upwards.

    Args:
        dots: In the units of the plot; a logarithmic axis is the caller's business.
        x, y: What the ends are called.
        width, height: Cells and rows there are, labels included.

    >>> found = scatter([Dot(0, 0, "a"), Dot(1, 1, "b")], Ticks("0", "1", "x"), Ticks("0", "1", "y"), 16, 5)
    >>> for line in found:
    ...     print(line.text.rstrip())
     y against x
            1 │   b
            0 │a
              └────
               0  1
    """
    if not dots:
        return []
    wide, high = max(2, width - LEFT - 2), max(2, height - 3)
    at = {}
    x_low, x_high = min(one.x for one in dots), max(one.x for one in dots)
    y_low, y_high = min(one.y for one in dots), max(one.y for one in dots)
    for one in sorted(dots, key=lambda one: one.rank):
        column = _place(one.x, x_low, x_high, wide)
        row = high - 1 - _place(one.y, y_low, y_high, high)
        at[row, column] = one.glyph
    lines = [plain(cut(f" {y.name} against {x.name}", width), "dim")]
    for row in range(high):
        label = y.high if row == 0 else y.low if row == high - 1 else ""
        cells = "".join(at.get((row, column), " ") for column in range(wide))
        lines.append(Line(((f"{label:>{LEFT - 1}} │", "dim"), (cells, "plain"))))
    lines.append(plain(f"{'':{LEFT}}└{'─' * wide}", "dim"))
    ends = left(x.low, max(0, wide - len(x.high))) + x.high
    lines.append(plain(f"{'':{LEFT + 1}}{ends}", "dim"))
    return lines


def _place(value: float, low: float, high: float, cells: int) -> int:
    """Cell of a value between two ends; in the middle where they are one."""
    if high <= low:
        return cells // 2
    return min(cells - 1, max(0, round((value - low) / (high - low) * (cells - 1))))
