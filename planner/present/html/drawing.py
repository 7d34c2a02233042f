"""Drawings of our own: the folded topology, the racks on the floor, where watts go."""

from __future__ import annotations

from typing import Any

from planner.present import format as fmt
from planner.present.html.svg import box, element, framed, paint, text
from planner.present.view.model import Figure

LEFT = 560.0
WIDTH = 800.0
TIER = 104.0
ITEM, GAP = 13.0, 4.0
SHOWN = 8
"""Items of a group that are all drawn; of more, the first and the last."""


def topology(figure: Figure, name: str) -> str:
    """C14: tiers as rows, like groups folded, counts in a column at the right."""
    tiers = figure.data["tiers"]
    height = TIER * (len(tiers) - 1) + 82
    shapes, places = [], []
    for row, tier in enumerate(tiers):
        drawn, boxes = _tier(tier, 26 + row * TIER)
        shapes.append(drawn)
        places.append(boxes)
        shapes.append(_right(tier, 26 + row * TIER))
    links = [
        _links(above, below, lower, 26 + row * TIER + 30, 26 + (row + 1) * TIER)
        for row, (above, below, lower) in enumerate(zip(places, places[1:], tiers[1:], strict=False))
    ]
    planes = figure.data["planes"]
    note = text(f"one of {planes} planes, all alike", 0, 12, size=11) if planes > 1 else ""
    first = figure.table.rows[0]
    desc = ", ".join(
        f"{column.name} {cell.text}"
        for column, cell in zip(figure.table.columns, first, strict=True)
        if cell.text
    )
    return framed(
        "".join(links) + "".join(shapes) + note, name=name, width=WIDTH, height=height, title=figure.title,
        desc=f"{figure.help} {desc}.",
    )  # fmt: skip


def _right(tier: dict[str, Any], y: float) -> str:
    lines = [tier["count"], *(said for said in (tier["links"], tier["free"]) if said)]
    return "".join(
        text(
            said if len(said) < 44 else said[:42] + "…",
            LEFT + 22,
            y + 2 + 15 * at,
            weight="bold" if at == 0 else "",
        )
        for at, said in enumerate(lines)
    )


def _folded(tier: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Boxes of a tier: kind, items, caption; ``fold`` stands for groups that aren't drawn.

    Up to three groups are all drawn. Of more, the first and the last; groups that differ come last
    and are never folded away.
    """
    groups = tier["groups"]
    total = sum(group["groups"] for group in groups)
    boxes: list[tuple[str, int, str]] = []
    for place, group in enumerate(groups):
        number, each = group["groups"], group["each"]
        one = ("group", each, f"{group['label']}: {fmt.count(each)}" if each else group["label"])
        ends = 1 if place < len(groups) - 1 else 2
        if total <= 3 or number <= ends:
            boxes += [one] * number
        else:
            boxes += [one, ("fold", number - ends, "alike"), *([one] if ends == 2 else [])]
    return boxes


def _tier(tier: dict[str, Any], y: float) -> tuple[str, list[float]]:
    """Shapes of one tier, and the middle of each box."""
    boxes = _folded(tier)
    weights = [0.45 if kind == "fold" else 1.0 for kind, _, _ in boxes]
    unit = (LEFT - 10.0 * (len(boxes) - 1)) / sum(weights)
    x, shapes, middles = 0.0, [], []
    node = tier["tier"] == "node"
    for (kind, items, caption), weight in zip(boxes, weights, strict=True):
        width = unit * weight
        middle = x + width / 2
        if kind == "fold":
            shapes.append(text(f"… {fmt.count(items)} …", middle, y + 20, anchor="middle"))
            shapes.append(text(caption, middle, y + 44, anchor="middle", size=10))
        else:
            shapes.append(box(x + 0.5, y, width - 1, 30, fill="var(--panel)"))
            shapes.append(_items(items, middle, y + 8, "var(--c5)" if node else "var(--c1)", node=node))
            short = caption if len(caption) * 5.2 < width else caption[: max(4, int(width / 5.2))]
            shapes.append(text(short, middle, y + 44, anchor="middle", size=10))
        middles.append(middle)
        x += width + 10
    return "".join(shapes), middles


def _items(number: int, middle: float, y: float, fill: str, *, node: bool) -> str:
    wide = ITEM + (5 if node else 0)
    if number == 0:
        return ""
    if number <= SHOWN:
        start = middle - (number * (wide + GAP) - GAP) / 2
        return "".join(box(start + at * (wide + GAP), y, wide, 14, fill=fill) for at in range(number))
    said = f"… {fmt.count(number - 2)} …"
    half = len(said) * 3.1 + 8
    return (
        box(middle - half - wide, y, wide, 14, fill=fill)
        + text(said, middle, y + 11, anchor="middle")
        + box(middle + half, y, wide, 14, fill=fill)
    )


def _links(above: list[float], below: list[float], lower: dict[str, Any], top: float, bottom: float) -> str:
    """Lines from each box to those above it: to its own where both tiers fold alike, else to all.

    Every pod meets every core group, so lines from spines up go everywhere.
    """
    copper = lower["copper"]
    same = len(above) == len(below) and len(above) > 1 and lower["tier"] != "spine"
    pairs = (
        [(low, above[at]) for at, low in enumerate(below)]
        if same
        else [(low, high) for low in below for high in above]
    )
    dash = {"stroke_dasharray": "5 3"} if copper else {}
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


CELL, ROW, BLOCK = 12, 19, 26
KINDS = {"server": "var(--c1)", "storage": "var(--c4)", "network": paint("exposed_communication")}


def racks(figure: Figure, name: str) -> str:
    """The floor from above: a square for each rack, rows in blocks side by side where there are many."""
    data = figure.data
    columns = [round(x / data["pitch"]) for x in data["x"]]
    rows = [round(y / data["row_pitch"]) for y in data["y"]]
    wide = (max(columns) + 1) * CELL + 44
    blocks = max(rows) // BLOCK + 1
    per_block = min(BLOCK, max(rows) + 1)
    paths: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for column, row, kind in zip(columns, rows, data["kinds"], strict=True):
        x = (row // BLOCK) * wide + 34 + column * CELL
        y = 6 + (row % BLOCK) * ROW
        paths[kind].append(f"M{x} {y}h{CELL - 2}v{CELL}h{2 - CELL}z")
    body = "".join(
        element("path", d="".join(made), fill=KINDS[kind], stroke="currentColor", stroke_width=0.5)
        for kind, made in paths.items()
        if made
    )
    for row in range(max(rows) + 1):
        if row % BLOCK in (0, per_block - 1) or row == max(rows) or per_block <= 10:
            body += text(
                str(row + 1), (row // BLOCK) * wide + 28, 16 + (row % BLOCK) * ROW, anchor="end", size=10
            )
    width = max(blocks * wide, 420)
    bottom = 6 + per_block * ROW + 8
    x = 0.0
    for kind, made in paths.items():
        if made:
            said = f"{fmt.count(len(made))} {kind} rack{'s' if len(made) > 1 else ''}"
            body += box(x, bottom, 12, 12, fill=KINDS[kind]) + text(said, x + 17, bottom + 10)
            x += 34 + len(said) * 6
    return framed(
        body, name=name, width=width, height=bottom + 18, title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip


SANKEY_HEIGHT, BAND, LABEL = 250.0, 14.0, 17.0
WATT_HUES = {
    "IT": "var(--c1)", "Cooling": "var(--c5)", "Losses": "var(--c2)", "Servers with GPUs": "var(--c1)",
    "Switches and adapters": "var(--c6)", "Optics and active cables": "var(--c3)", "Storage": "var(--c4)",
}  # fmt: skip


def sankey(figure: Figure, name: str) -> str:
    """C7: from the meter to IT, cooling and losses, and on to the parts."""
    flows = figure.data["flows"]
    first = [flow for flow in flows if flow["from"] == "Meter"]
    second = [flow for flow in flows if flow["from"] == "IT"]
    total = sum(flow["value"] for flow in first)
    scale = SANKEY_HEIGHT / total
    middle = _column(first, scale)
    right = _column(second, scale)
    body = element("rect", x=92, y=4, width=BAND, height=SANKEY_HEIGHT, fill="var(--dark)")
    body += text("Meter", 86, 4 + SANKEY_HEIGHT / 2 - 4, anchor="end") + text(
        figure.data["total"], 86, 4 + SANKEY_HEIGHT / 2 + 11, anchor="end", weight="bold"
    )
    body += _bands(first, middle, 92 + BAND, 300, scale, 4.0)
    body += _bands(second, right, 300 + BAND, 540, scale, middle[0][0])
    body += _nodes(first, middle, 300, scale, beside=False) + _nodes(second, right, 540, scale, beside=True)
    height = max(at + flow["value"] * scale for column, made in ((first, middle), (second, right))
                 for flow, (at, _) in zip(column, made, strict=True)) + 14  # fmt: skip
    return framed(
        body, name=name, width=WIDTH, height=max(height, right[-1][1] + 10 if right else 0), title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip


def _column(flows: list[dict[str, Any]], scale: float) -> list[tuple[float, float]]:
    """Top of each node and the height of its label, far enough apart to be read."""
    made, at, label = [], 4.0, 0.0
    for flow in flows:
        high = flow["value"] * scale
        label = max(label + LABEL, at + high / 2 + 4)
        made.append((at, label))
        at = max(at + high + 10, label + 2)
    return made


def _bands(
    flows: list[dict[str, Any]],
    places: list[tuple[float, float]],
    x0: float,
    x1: float,
    scale: float,
    start: float,
) -> str:
    body, at = "", start
    half = (x0 + x1) / 2
    for flow, (top, _) in zip(flows, places, strict=True):
        high = max(0.8, flow["value"] * scale)
        path = (
            f"M{x0:.1f} {at:.1f}C{half:.1f} {at:.1f} {half:.1f} {top:.1f} {x1:.1f} {top:.1f}v{high:.1f}"
            f"C{half:.1f} {top + high:.1f} {half:.1f} {at + high:.1f} {x0:.1f} {at + high:.1f}z"
        )
        body += element("path", d=path, fill=WATT_HUES.get(flow["to"], "var(--c1)"), opacity=".45")
        at += flow["value"] * scale
    return body


def _nodes(
    flows: list[dict[str, Any]], places: list[tuple[float, float]], x: float, scale: float, *, beside: bool
) -> str:
    body = ""
    for flow, (top, label) in zip(flows, places, strict=True):
        high = max(1.0, flow["value"] * scale)
        body += element(
            "rect", x=x, y=top, width=BAND, height=high, fill=WATT_HUES.get(flow["to"], "var(--c1)")
        )
        said = f"{flow['to']} {flow['text']}"
        if beside or flow["to"] != "IT":
            body += text(said, x + BAND + 6, label)
        else:
            body += text(said, x + BAND + 6, top + 14, weight="bold")
    return body


DRAWINGS = {"topology": topology, "racks": racks, "sankey": sankey}
