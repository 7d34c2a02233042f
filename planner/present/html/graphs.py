"""Networks without tiers: groups on a ring with a line between every two, and grids that wrap around."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from math import cos, pi, sin
from typing import Any

from planner.present import format as fmt
from planner.present.html.svg import box, element, text

RING = 8
"""Groups that are all drawn; of more, seven and one that stands for the rest."""
RADIUS, MIDDLE_X, MIDDLE_Y = 118.0, 150.0, 152.0
BOX_W, BOX_H = 56.0, 24.0


def ring(groups: int, inside: list[dict[str, Any]], width: float) -> tuple[str, float]:
    """Groups around a circle, each joined to each; beside it one group unfolded by its tiers.

    Args:
        groups: Groups there are.
        inside: Tiers of one group from the top: name, items and fill; empty where a group is a box.
        width: Room to the right column.
    """
    shown = min(groups, RING)
    places = [
        (MIDDLE_X + RADIUS * sin(2 * pi * at / shown), MIDDLE_Y - RADIUS * cos(2 * pi * at / shown))
        for at in range(shown)
    ]
    chords = "".join(f"M{a:.0f} {b:.0f}L{c:.0f} {d:.0f}" for (a, b), (c, d) in combinations(places, 2))
    body = _path(chords, opacity=".5")
    for at, (x, y) in enumerate(places):
        rest = groups > RING and at == shown - 1
        said = f"… {fmt.count(groups - RING + 1)} more" if rest else str(at + 1)
        body += box(
            x - BOX_W / 2, y - BOX_H / 2, BOX_W, BOX_H, fill="var(--panel)", dash="3 2" if rest else ""
        )
        body += text(said, x, y + 4, anchor="middle", size=10)
    if inside:
        body += _unfolded(inside, 2 * MIDDLE_X + 20, width - 12)
    return body, 2 * MIDDLE_Y + 4


def _unfolded(tiers: list[dict[str, Any]], left: float, right: float) -> str:
    """One group: its tiers below each other, every item joined to every one above."""
    step = 92.0
    body = text("one of them, unfolded", left, 18, size=10)
    rows = [_places(tier["items"], left, right) for tier in tiers]
    for at, (above, below) in enumerate(pairwise(rows)):
        every = "".join(
            f"M{low:.0f} {34 + step * (at + 1):.0f}L{high:.0f} {34 + step * at + 16:.0f}"
            for low in below for high in above
        )  # fmt: skip
        body += _path(every, opacity=".5")
    for at, (tier, places) in enumerate(zip(tiers, rows, strict=True)):
        y = 34 + step * at
        body += "".join(box(x - 10, y, 20, 16, fill=tier["fill"]) for x in places)
        if tier["items"] > len(places):
            middle = (places[1] + places[2]) / 2
            body += text(
                f"… {fmt.count(tier['items'] - len(places))} …", middle, y + 12, anchor="middle", size=10
            )
        body += text(tier["name"], (left + right) / 2, y + 30, anchor="middle", size=10)
    return body


def _places(items: int, left: float, right: float) -> list[float]:
    """Middles of the items drawn: all of up to four, else two at each end."""
    if items <= 4:
        step = (right - left) / max(1, items)
        return [left + step * (at + 0.5) for at in range(items)]
    return [left + 24, left + 52, right - 52, right - 24]


STEP_X, STEP_Y, STEEP_X, STEEP_Y = 62.0, 46.0, 34.0, 16.0
"""Steps across and up, and the slant of a step into the depth: chosen so that no two nodes fall together."""


def _axis(size: int) -> list[int]:
    """Positions drawn along an axis: all of up to four, else two and the last."""
    return list(range(size)) if size <= 4 else [0, 1, size - 1]


def grid(sizes: list[int], unit: str, width: float) -> tuple[str, float]:
    """A grid in up to three dimensions, folded along each; dashed lines stand for what is left out.

    Args:
        sizes: Items along each axis.
        unit: What stands at a crossing, such as ``server``.
        width: Room to the right column.
    """
    sizes = [*sizes, 1, 1][:3]
    axes = [_axis(size) for size in sizes]
    high = STEP_Y * (len(axes[1]) - 1) + STEEP_Y * (len(axes[2]) - 1)
    left, bottom = 60.0, high + 50.0

    def at(x: int, y: int, z: int) -> tuple[float, float]:
        return left + STEP_X * x + STEEP_X * z, bottom - STEP_Y * y - STEEP_Y * z

    solid, dashed = "", ""
    spots = list(product(*(range(len(axis)) for axis in axes)))
    for spot in spots:
        for axis in range(3):
            if spot[axis] + 1 == len(axes[axis]):
                continue
            after = tuple(one + (place == axis) for place, one in enumerate(spot))
            (a, b), (c, d) = at(*spot), at(*after)
            line = f"M{a:.0f} {b:.0f}L{c:.0f} {d:.0f}"
            if axes[axis][after[axis]] - axes[axis][spot[axis]] == 1:
                solid += line
            else:
                dashed += line
    body = _path(solid, opacity=".7") + _path(dashed, opacity=".7", dash="3 3")
    for spot in sorted(spots, key=lambda one: (-one[2], one[1], one[0])):
        x, y = at(*spot)
        body += box(x - 6, y - 6, 12, 12, fill="var(--c5)")
    return body + _wraps(sizes, axes, at) + _axis_words(sizes, axes, at, unit), bottom + 62


def _wraps(sizes: list[int], axes: list[list[int]], at: Any) -> str:
    """The link that closes each axis with three or more items, from its last to its first."""
    body = ""
    for axis, size in enumerate(sizes):
        if size < 3:
            continue
        end = [0, 0, 0]
        end[axis] = len(axes[axis]) - 1
        (a, b), (c, d) = at(0, 0, 0), at(*end)
        bend = {0: (0.0, 34.0), 1: (-34.0, 0.0), 2: (30.0, 26.0)}[axis]
        curve = f"M{a:.0f} {b:.0f}C{a + bend[0]:.0f} {b + bend[1]:.0f} {c + bend[0]:.0f} {d + bend[1]:.0f} {c:.0f} {d:.0f}"
        body += _path(curve, opacity=".9", stroke="var(--c6)")
    return body


def _axis_words(sizes: list[int], axes: list[list[int]], at: Any, unit: str) -> str:
    x_end = at(len(axes[0]) - 1, 0, 0)
    body = text(
        f"{fmt.count(sizes[0])} {unit}s across",
        (at(0, 0, 0)[0] + x_end[0]) / 2,
        x_end[1] + 44,
        anchor="middle",
    )
    if sizes[1] > 1:
        top = at(0, len(axes[1]) - 1, 0)
        body += text(f"{fmt.count(sizes[1])} up", top[0] - 8, top[1] - 14, anchor="end")
    if sizes[2] > 1:
        deep = at(len(axes[0]) - 1, 0, len(axes[2]) - 1)
        body += text(f"{fmt.count(sizes[2])} deep", deep[0] + 14, deep[1] + 16)
    return body


def _path(d: str, *, opacity: str, dash: str = "", stroke: str = "currentColor") -> str:
    more: dict[str, str | float] = {"stroke_dasharray": dash} if dash else {}
    return (
        element("path", d=d, stroke=stroke, stroke_width=1.2, fill="none", opacity=opacity, **more)
        if d
        else ""
    )
