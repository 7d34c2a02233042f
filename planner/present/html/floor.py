"""Racks: the floor seen from above, and one rack of each kind seen from the front."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from planner.present import format as fmt
from planner.present.html.svg import box, element, framed, paint, text
from planner.present.view.model import Figure

CELL, ROW, BLOCK = 12, 19, 26
KINDS = {"server": "var(--c1)", "storage": "var(--c4)", "network": paint("exposed_communication")}


def racks(figure: Figure, name: str) -> str:
    """The floor from above: a square for each rack, rows in blocks side by side where there are many."""
    data = figure.data
    columns = [round(x / data["pitch"]) for x in data["x"]]
    rows = [round(y / data["row_pitch"]) for y in data["y"]]
    named = 6.0 * max((len(hall["id"]) for hall in data["halls"]), default=0)
    wide = (max(columns) + 1) * CELL + 44 + named
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
    for hall in data["halls"]:
        x = (hall["row"] // BLOCK + 1) * wide - named - 6
        body += text(hall["id"], x, 16 + (hall["row"] % BLOCK) * ROW, size=10)
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


WIDTH, ACROSS = 800.0, 4
UNIT, FRAME, PITCH = 8.0, 136.0, 200.0
"""Height of a rack unit, width of a rack's frame, and from a rack to the next."""
SLOTS = {
    "server": "var(--c1)", "equipment": "var(--c4)", "switch": paint("exposed_communication"), "network": paint("exposed_communication"),
    "management": "var(--c3)", "panel": "var(--grid)", "power": "var(--c7)",
}  # fmt: skip
OTHER = "var(--c5)"
LETTER = 5.0
LABEL = 11.0
"""Height of a run from which it has room for its name."""
HEAD, LINE = 46.0, 34
"""Room above a rack for its name, in two lines of so many letters."""


def elevation(figure: Figure, name: str) -> str:
    """Racks from the front, four beside each other: units from the bottom, weight and power below."""
    body, y = "", 0.0
    all_racks = figure.data["racks"]
    for start in range(0, len(all_racks), ACROSS):
        line = all_racks[start : start + ACROSS]
        tall = max(rack["units"] for rack in line) * UNIT
        for at, rack in enumerate(line):
            body += _rack(rack, at * PITCH + 22, y + HEAD, tall)
        y += tall + HEAD + 16 + 22 * 2 + 18
    return framed(
        body, name=name, width=WIDTH, height=y, title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip


def _rack(rack: dict[str, Any], x: float, top: float, tall: float) -> str:
    high = rack["units"] * UNIT
    floor = top + tall
    racks_ = "rack" if rack["count"] == 1 else "racks"
    body = text(f"{fmt.count(rack['count'])} {racks_} of", x, top - 30, weight="bold")
    for at, line in enumerate(_wrapped(rack["name"])):
        body += text(line, x, top - 18 + 12 * at, size=10)
    body += box(x, floor - high, FRAME, high, fill="var(--panel)")
    for unit in sorted({1, *range(6, rack["units"] + 1, 6)}):
        body += text(str(unit), x - 4, floor - (unit - 1) * UNIT - 1, anchor="end", size=8)
    body += _equipment(rack["slots"], x, floor)
    for at, (label, value, limit, unit) in enumerate(rack["bars"]):
        body += _against(label, value, limit, unit, x, floor + 12 + 22 * at)
    return body


def _equipment(slots: list[dict[str, Any]], x: float, floor: float) -> str:
    """Equipment in its units: a path for each kind, and names where a run of like boxes is high enough."""
    paths: dict[str, str] = {}
    papers, names = "", ""
    for slot in slots:
        each, number = slot["units"] * UNIT, slot["number"]
        fill = SLOTS.get(slot["kind"], OTHER)
        top = floor - (slot["unit"] - 1) * UNIT - each * number
        paths[fill] = paths.get(fill, "") + "".join(
            f"M{x + 3:.0f} {top + each * at:.0f}h{FRAME - 6:.0f}v{each:.0f}h{6 - FRAME:.0f}z"
            for at in range(number)
        )
        if each * number >= LABEL:
            said = _cut(f"{number} x {slot['label']}" if number > 1 else slot["label"], FRAME - 16)
            middle, half = top + each * number / 2, len(said) * LETTER / 2 + 3
            papers += f"M{x + FRAME / 2 - half:.0f} {middle - 5.5:.1f}h{2 * half:.0f}v11h{-2 * half:.0f}z"
            names += element("text", escape(said), x=x + FRAME / 2, y=middle + 3.2)
    boxes = "".join(
        element("path", d=path, fill=fill, stroke="currentColor", stroke_width=0.6)
        for fill, path in paths.items()
    )
    if papers:
        boxes += element("path", d=papers, fill="var(--paper)")
    return boxes + element("g", names, font_size=9, text_anchor="middle", fill="currentColor")


def _against(label: str, value: float, limit: float | None, unit: str, x: float, y: float) -> str:
    """A value as a bar against its limit, which the frame's width stands for."""
    if limit is None:
        return text(f"{fmt.significant(value)} {unit}{label}, no limit stated", x, y + 10, size=9)
    whole = max(value, limit) or 1.0
    over = value > limit * (1 + 1e-9)
    body = element("rect", x=x, y=y, width=FRAME, height=6, fill="var(--grid)")
    body += element(
        "rect", x=x, y=y, width=FRAME * value / whole, height=6, fill="var(--bad)" if over else "var(--dark)"
    )
    return body + text(
        f"{fmt.significant(value)} of {fmt.significant(limit)} {unit}{label}", x, y + 15, size=9
    )


def _cut(said: str, room: float) -> str:
    most = int(room / LETTER)
    return said if len(said) <= most else said[: most - 1] + "…"


def _wrapped(said: str) -> list[str]:
    """A name in two lines, broken at a comma or a space where it can be."""
    if len(said) <= LINE:
        return [said]
    cut = max(said.rfind(", ", 0, LINE) + 1, said.rfind(" ", 0, LINE))
    first, rest = (said[:cut], said[cut:].strip()) if cut > 0 else (said[:LINE], said[LINE:])
    return [first.strip(), rest if len(rest) <= LINE else rest[: LINE - 1] + "…"]
