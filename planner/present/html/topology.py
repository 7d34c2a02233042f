"""C14, the network as drawn: tiers folded, rings of groups, meshes and grids; links and rates in a column."""

from __future__ import annotations

from typing import Any

from planner.present import format as fmt
from planner.present.html.graphs import grid, ring
from planner.present.html.svg import box, element, framed, text
from planner.present.view.model import Figure

LEFT = 560.0
WIDTH = 800.0
TIER = 112.0
ITEM, GAP = 13.0, 4.0
SHOWN = 8
"""Items of a group that are all drawn; of more, the first and the last."""
BEHIND = 3
"""Planes drawn as outlines behind the first, at most."""
SECOND = "var(--c6)"
"""Switches of the second plane, where both planes are seen."""
NOTE = 150
"""Letters of the line above a drawing, at most."""
COLUMN = 40
"""Characters a line of the right column holds."""


def topology(figure: Figure, name: str) -> str:
    """The network by its form: tiers, a ring of groups, a mesh of domains, or a grid."""
    form = figure.data["form"]
    if form == "tiers":
        body, height = _tiers(figure.data)
    elif form == "grid":
        body, height = grid(figure.data["sizes"], figure.data["unit"], LEFT)
    else:
        body, height = ring(figure.data["groups"], figure.data["inside"], LEFT)
    if form != "tiers":
        body += column(figure.data["lines"], 30)
        height = max(height, 44 + 15 * len(figure.data["lines"]))
    first = figure.table.rows[0]
    desc = ", ".join(
        f"{head.name} {cell.text}"
        for head, cell in zip(figure.table.columns, first, strict=True)
        if cell.text
    )
    return framed(
        body, name=name, width=WIDTH, height=height, title=figure.title, desc=f"{figure.help} {desc}."
    )


def column(lines: list[str], y: float) -> str:
    """Lines of the right column; the first is the most important one."""
    return "".join(
        text(_cut(said), LEFT + 22, y + 15 * at, weight="bold" if at == 0 else "")
        for at, said in enumerate(lines)
    )


def _cut(said: str) -> str:
    return said if len(said) <= COLUMN else said[: COLUMN - 1] + "…"


def _tiers(data: dict[str, Any]) -> tuple[str, float]:
    tiers = data["tiers"]
    top = 34.0 if data["note"] else 8.0
    shapes, places = [], []
    for row, tier in enumerate(tiers):
        y = top + row * TIER
        drawn, boxes = _tier(tier, y, behind=min(BEHIND, data["planes"] - 1) if tier["planes"] else 0)
        shapes += [drawn, column([tier["count"], *([tier["free"]] if tier["free"] else [])], y + 12)]
        if row and tier["links"]:
            shapes.append(_edge_words(tier, y - 44))
        places.append(boxes)
    links = [
        _links(above, below, lower, top + row * TIER + 30, top + (row + 1) * TIER)
        for row, (above, below, lower) in enumerate(zip(places, places[1:], tiers[1:], strict=False))
    ]
    note = text(data["note"][:NOTE], 0, 12) if data["note"] else ""
    return "".join(links) + "".join(shapes) + note, top + TIER * (len(tiers) - 1) + 50


def _edge_words(tier: dict[str, Any], y: float) -> str:
    """Links and rate beside the lines they belong to, with what they are made of."""
    said = [tier["links"], *([tier["media"]] if tier["media"] else [])]
    tick = element(
        "path", d=f"M{LEFT + 6:.0f} {y - 18:.0f}v{14 + 15 * len(said)}", stroke="currentColor",
        stroke_width=1.4, fill="none", opacity=".55",
        **({"stroke_dasharray": "5 3"} if tier["copper"] else {}),
    )  # fmt: skip
    return tick + "".join(text(_cut(one), LEFT + 22, y - 4 + 15 * at) for at, one in enumerate(said))


def _folded(tier: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    """Boxes of a tier: kind, items, caption, hue; ``fold`` stands for groups that aren't drawn.

    Up to three groups are all drawn. Of more, the first and the last; groups that differ come last
    and are never folded away.
    """
    groups = tier["groups"]
    total = sum(group["groups"] for group in groups)
    boxes: list[tuple[str, int, str, str]] = []
    for place, group in enumerate(groups):
        number, each = group["groups"], group["each"]
        one = (
            "group",
            each,
            f"{group['label']}: {fmt.count(each)}" if each else group["label"],
            group["hue"],
        )
        ends = 1 if place < len(groups) - 1 else 2
        if total <= 3 or number <= ends:
            boxes += [one] * number
        else:
            boxes += [one, ("fold", number - ends, "alike", ""), *([one] if ends == 2 else [])]
    return boxes


def _tier(tier: dict[str, Any], y: float, *, behind: int) -> tuple[str, list[float]]:
    """Shapes of one tier, and the middle of each box."""
    boxes = _folded(tier)
    weights = [0.45 if kind == "fold" else 1.0 for kind, *_ in boxes]
    unit = (LEFT - 12.0 - 10.0 * (len(boxes) - 1)) / sum(weights)
    x, shapes, middles = 0.0, [], []
    for (kind, items, caption, hue), weight in zip(boxes, weights, strict=True):
        width = unit * weight
        middle = x + width / 2
        if kind == "fold":
            shapes.append(text(f"… {fmt.count(items)} …", middle, y + 20, anchor="middle"))
            shapes.append(text(caption, middle, y + 44, anchor="middle", size=10))
        else:
            for step in range(behind, 0, -1):
                shapes.append(box(x + 0.5 + 3 * step, y - 3 * step, width - 1, 30, fill="var(--paper)"))
            shapes.append(box(x + 0.5, y, width - 1, 30, fill="var(--panel)"))
            shapes.append(
                _items(
                    items,
                    middle,
                    y + 8,
                    hue,
                    wide=ITEM + (5 if tier["tier"] == "node" else 0),
                    pairs=tier["pairs"],
                )
            )
            short = caption if len(caption) * 5.2 < width else caption[: max(4, int(width / 5.2))]
            shapes.append(text(short, middle, y + 44, anchor="middle", size=10))
        middles.append(middle)
        x += width + 10
    return "".join(shapes), middles


def _items(number: int, middle: float, y: float, hue: str, *, wide: float, pairs: bool) -> str:
    """Boxes of a group; in pairs, the two leaves that share their servers touch."""
    fill, other = hue, SECOND if pairs else hue
    if number == 0:
        return ""
    gaps = [0.0 if pairs and at % 2 == 0 else GAP for at in range(number - 1)] if number <= SHOWN else []
    if number <= SHOWN:
        x = middle - (number * wide + sum(gaps)) / 2
        made = ""
        for at, gap in enumerate([*gaps, 0.0]):
            made += box(x, y, wide, 14, fill=other if at % 2 else fill)
            x += wide + gap
        return made
    ends = 2 if pairs else 1
    said = f"… {fmt.count(number - 2 * ends)} …"
    half = len(said) * 3.1 + 8
    left = "".join(
        box(middle - half - wide * (ends - at), y, wide, 14, fill=other if at else fill) for at in range(ends)
    )
    right = "".join(
        box(middle + half + wide * at, y, wide, 14, fill=other if at else fill) for at in range(ends)
    )
    return left + text(said, middle, y + 11, anchor="middle") + right


def _links(above: list[float], below: list[float], lower: dict[str, Any], top: float, bottom: float) -> str:
    """Lines from each box to those above it: to its own where both tiers fold alike, else to all.

    Every pod meets every core group, so lines from spines up go everywhere.
    """
    same = (
        len(above) == len(below) and len(above) > 1 and lower["tier"] != "spine" and not lower["everywhere"]
    )
    pairs = (
        [(low, above[at]) for at, low in enumerate(below)]
        if same
        else [(low, high) for low in below for high in above]
    )
    dash = {"stroke_dasharray": "5 3"} if lower["copper"] else {}
    path = "".join(f"M{low:.0f} {bottom:.0f}L{high:.0f} {top + 22:.0f}" for low, high in pairs)
    return element(
        "path",
        d=path,
        stroke="currentColor",
        stroke_width=1.6 if len(pairs) < 4 else 1,
        fill="none",
        opacity=".55",
        **dash,
    )
