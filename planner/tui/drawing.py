"""Sections of the view as lines of text: bars of blocks, ladders and waterfalls, tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import log2
from typing import Any, Final

from rich.cells import cell_len

from planner.present import format as fmt
from planner.present.view.changes import BETTER, WORSE
from planner.present.view.model import Cell, Column, Figure, Section, Table
from planner.tui.lines import Line, Part, clipped, left, plain, right, wrapped
from planner.tui.plot import Dot, Ticks, scatter

SHADES: Final = "█▓▒░╱╲·"
"""Told apart without colour; parts past the seventh take the last one."""
_TONES: Final = {BETTER: "good", WORSE: "bad"}
"""Colour of a judged change, which its glyph says already."""
NARROW: Final = 64
"""Under so many cells names and numbers give way to bars."""


def section_lines(section: Section, width: int, *, tables: bool = True) -> list[Line]:
    """A section: its lead, each figure over its table, then tables and notes."""
    if section.missing:
        return [Line(), *(plain(f" {one}", "dim") for one in wrapped(section.missing, width - 2))]
    lines = [plain(f" {one}") for one in wrapped(section.lead, width - 2)] if section.lead else []
    for figure in section.figures:
        lines += [Line(), *figure_lines(figure, width)]
    for table in section.tables if tables else ():
        lines += [Line(), *table_lines(table, width)]
    for note in section.notes:
        lines += [plain(f" {one}", "dim") for one in wrapped(note, width - 2)]
    return [clipped(line, width) for line in lines]


def figure_lines(figure: Figure, width: int) -> list[Line]:
    """A figure's message, its bars where it has any, and its table."""
    lines = [plain(f" {one}", "head") for one in wrapped(figure.title, width - 2)]
    draw = _DRAW.get(figure.kind)
    if draw is not None:
        lines += draw(figure.data, width)
    shades = _shades(figure)
    lines += table_lines(figure.table, width, shades=shades, caption=False)
    if figure.evidence:
        lines += [plain(f" {one}", "dim") for one in wrapped(figure.evidence, width - 2)]
    return lines


def _shades(figure: Figure) -> dict[str, str]:
    if figure.kind != "stack":
        return {}
    return {str(part["label"]): _shade(index) for index, part in enumerate(figure.data.get("parts", ()))}


def _shade(index: int) -> str:
    return SHADES[min(index, len(SHADES) - 1)]


def _stack(data: dict[str, Any], width: int) -> list[Line]:
    parts = [(_shade(index), float(part["value"])) for index, part in enumerate(data.get("parts", ()))]
    total = sum(max(0.0, value) for _, value in parts)
    if total <= 0:
        return []
    room, bar, at, drawn = width - 2, "", 0.0, 0
    for shade, value in parts:
        at += max(0.0, value)
        until = round(at / total * room)
        bar += shade * (until - drawn)
        drawn = until
    return [plain(f" {bar}")]


def _ladder(data: dict[str, Any], width: int) -> list[Line]:
    steps = data.get("steps", ())
    name = min(30, max(14, width - 32))
    room = max(8, width - name - 16)
    lines = []
    for step in steps:
        filled = round(max(0.0, min(1.0, float(step["after"]))) * room)
        bar = "█" * filled + "·" * (room - filled)
        lines.append(plain(f" {left(str(step['step']), name)} {bar} {right(str(step['text']), 11)}"))
    return lines


def _waterfall(data: dict[str, Any], width: int) -> list[Line]:
    steps = data.get("steps", ())
    ends = [float(step[key]) for step in steps for key in ("start", "end")]
    low, high = min(0.0, *ends, 0.0), max(1e-12, *ends, 1e-12)
    name, value = min(28, max(14, width - 34)), 16 if width >= NARROW else 11
    room = max(8, width - name - value - 4)
    lines = []
    for step in steps:
        first, last = sorted(
            round((float(step[key]) - low) / (high - low) * room) for key in ("start", "end")
        )
        first = min(first, room - 1)
        block = "█" if step.get("kind") == "total" else "▓"
        bar = "·" * first + block * max(1, last - first)
        lines.append(
            plain(f" {left(str(step['label']), name)} {left(bar, room)} {right(str(step['text']), value)}")
        )
    return lines


def _lanes(data: dict[str, Any], width: int) -> list[Line]:
    whole = float(data.get("step", 0.0))
    room = max(8, width - 22)
    lines = []
    for lane in data.get("lanes", ()) if whole > 0 else ():
        row = [" "] * room
        for bar in data.get("bars", ()):
            if bar["lane"] == lane:
                first, last = (round(float(bar[key]) / whole * room) for key in ("start", "end"))
                for at in range(first, min(room, max(last, first + 1))):
                    row[at] = "█" if bar["part"] == "computing" else "▒"
        lines.append(plain(f" {left(str(lane), 18)} │{''.join(row)}"))
    return lines


def _sankey(data: dict[str, Any], width: int) -> list[Line]:
    flows = data.get("flows", ())
    most = max((float(flow["value"]) for flow in flows), default=0.0)
    name = min(37, max(12, width - 36))
    room = max(8, width - name - 25)
    lines = []
    for flow in flows:
        bar = "█" * max(1, round(float(flow["value"]) / most * room)) if most > 0 else ""
        lines.append(
            plain(
                f" {left(str(flow['from']), 5)} > {left(str(flow['to']), name)} {left(bar, room)} {right(str(flow['text']), 10)}"
            )
        )
    return lines


def _topology(data: dict[str, Any], width: int) -> list[Line]:
    """Tiers as rows, the first and last switches of each, the count between; links between the rows.

    A grid, a mesh or a ring of groups has no rows; what is said beside its drawing stands for it.
    """
    lines = [plain(f" {said}") for said in data.get("lines", ())]
    room = max(10, width - 12 - 30)
    for position, tier in enumerate(data.get("tiers", ())):
        if position:
            links = str(tier.get("links", ""))
            wires = ("┆" if tier.get("copper") else "│") + "    "
            lines.append(plain(f" {'':10}{left(wires * 3, room)} {right(links, 29)}", "dim"))
        boxes = "  ".join(_boxes(group) for group in tier.get("groups", ()))
        lines.append(
            plain(f" {left(str(tier['tier']), 9)} {left(boxes, room)} {right(str(tier['count']), 29)}")
        )
    return lines


def _boxes(group: dict[str, Any]) -> str:
    """One kind of group: its switches, or the first and last of them; how many groups are alike."""
    each, groups = int(group["each"]), int(group["groups"])
    if each <= 4:
        one = "".join(f"[{index + 1}]" for index in range(each))
    else:
        one = f"[1] … {each - 2:,} … [{each:,}]"
    return one if groups == 1 else f"{groups:,} x {one}"


def _bars(data: dict[str, Any], width: int) -> list[Line]:
    """Stacked bars below each other from one zero, and which shade is which part."""
    bars, order = data.get("bars", ()), list(data.get("parts", ()))
    most = max((sum(float(part["value"]) for part in bar["parts"]) for bar in bars), default=0.0)
    if most <= 0:
        return []
    room = max(8, width - 34)
    lines = []
    for bar in bars:
        drawn, at = "", 0.0
        for part in bar["parts"]:
            at += float(part["value"])
            drawn += _shade(order.index(part["part"])) * (round(at / most * room) - len(drawn))
        lines.append(
            plain(f" {left(str(bar['label']), 14)} {left(drawn, room)} {right(str(bar['text']), 16)}")
        )
    legend = "   ".join(f"{_shade(place) * 2} {part}" for place, part in enumerate(order))
    return [*lines, *(plain(f" {one}", "dim") for one in wrapped(legend, width - 2))]


def _oneline(data: dict[str, Any], width: int) -> list[Line]:
    """The stages of the power chain below each other, with what hangs on them."""
    lines = []
    for stage in (*data.get("stages", ()), data.get("branch")):
        if stage:
            said = f"{stage['name']}: {', '.join(stage['lines'])}"
            lines += [plain(f" {one}") for one in wrapped(said, width - 2)]
    return lines


def _tornado(data: dict[str, Any], width: int) -> list[Line]:
    """Bars around one rule, which is the plan as it stands: ``▒`` towards the input's P10, ``█`` towards its P90."""
    bars, base = data.get("bars", ()), float(data.get("base", 0.0))
    ends = [float(bar[key]) for bar in bars for key in ("low", "high")]
    if not ends:
        return []
    low, high = min(base, *ends), max(base, *ends)
    name = max(16, min(38, width // 3))
    room = max(8, width - name - 26)
    scale = (room - 1) / (high - low) if high > low else 0.0
    rule = round((base - low) * scale)
    lines = [
        plain(
            f" {left(str(data.get('unit', '')), name)} {right('P10', 10)}  {left('', room)} {right('P90', 10)}",
            "dim",
        )
    ]
    for bar in bars:
        row = [" "] * room
        for key, block in (("low", "▒"), ("high", "█")):
            at = round((float(bar[key]) - low) * scale)
            for cell in range(min(at, rule), max(at, rule) + (at != rule)):
                row[cell] = block
        row[rule] = "│"
        shown = [fmt.significant(float(bar[key])) for key in ("low", "high")]
        lines.append(
            plain(
                f" {left(str(bar['name']), name)} {right(shown[0], 10)}  {''.join(row)} {right(shown[1], 10)}"
            )
        )
    return lines


def _odds(data: dict[str, Any], width: int) -> list[Line]:
    """How many of a hundred draws stay at or below a value, with the limit's row marked."""
    points, limit = data.get("points", ()), float(data.get("limit", 0.0))
    room, told, lines = max(8, width - 34), False, []
    for point in points[1::2]:
        value, odds = float(point["value"]), float(point["odds"])
        mark = " "
        if not told and value > limit:
            mark, told = "<", True
        bar = "█" * round(odds / 100 * room)
        said = f" {data.get('limit_text', 'limit')!s}" if mark == "<" else ""
        lines.append(
            plain(
                f" {right(fmt.significant(value), 12)} {left(bar, room)} {right(f'{odds:.0f} %', 6)} {mark}{said}"
            )
        )
    return lines


def _bandwidth(data: dict[str, Any], width: int) -> list[Line]:
    """Curves over message size in doublings, measured points over them; both axes logarithmic."""
    model, points = data.get("model", ()), data.get("points", ())
    curve = [(log2(row["bytes"]), log2(row["rate"])) for row in model if row["rate"] > 0]
    parts = [step / 8 for step in range(8)]
    dots = [
        Dot(one[0] + (other[0] - one[0]) * part, one[1] + (other[1] - one[1]) * part, "─")
        for one, other in pairwise(curve)
        for part in parts
    ]
    dots += [Dot(log2(row["bytes"]), log2(row["rate"]), "●", 1) for row in points if row["rate"] > 0]
    if not dots:
        return []
    sizes, rates = [2.0**one.x for one in dots], [2.0**one.y for one in dots]
    x = Ticks(fmt.quantity(min(sizes), "byte"), fmt.quantity(max(sizes), "byte"), "message size")
    y = Ticks(
        fmt.significant(min(rates)), fmt.significant(max(rates)), "GB/s: ─ the plan's curve, ● measured;"
    )
    return scatter(dots, x, y, min(width - 2, 100), 14)


_DRAW: Final[dict[str, Callable[[dict[str, Any], int], list[Line]]]] = {
    "stack": _stack,
    "ladder": _ladder,
    "waterfall": _waterfall,
    "lanes": _lanes,
    "sankey": _sankey,
    "topology": _topology,
    "bars": _bars,
    "oneline": _oneline,
    "tornado": _tornado,
    "odds": _odds,
    "bandwidth": _bandwidth,
}


def table_lines(
    table: Table, width: int, *, shades: dict[str, str] | None = None, caption: bool = True
) -> list[Line]:
    """A table in the width there is: numbers whole, words cut, the last columns left out where none fits."""
    lines = [plain(f" {one}", "head") for one in wrapped(table.caption, width - 2)] if caption else []
    if not table.rows:
        return [*lines, plain("   none", "dim")]
    texts = _texts(table)
    columns, widths = _fit(table, texts, width - 2 - (3 if shades else 0))
    lead = "   " if shades else ""
    heads = [_head(table.columns[index]) for index in columns]
    cells = [
        (right if table.columns[index].numeric else left)(text, wide)
        for index, text, wide in zip(columns, heads, widths, strict=True)
    ]
    lines.append(plain(f" {lead}{'  '.join(cells)}", "dim"))
    for number, row in enumerate(table.rows):
        last = table.total and number == len(table.rows) - 1
        lines.append(_row(table, row, texts[number], columns, widths, shades, last))
    return lines


def _head(column: Column) -> str:
    return f"{column.name}, {column.unit}" if column.unit else column.name


def _texts(table: Table) -> list[list[str]]:
    """What every cell shows: letters in a fixed column behind figures, unless a column of their own has them."""
    own_column = any(column.name == "Basis" for column in table.columns)
    found: list[list[str]] = []
    lettered = [
        not own_column and column.numeric and any(row[index].letter for row in table.rows)
        for index, column in enumerate(table.columns)
    ]
    for row in table.rows:
        texts = []
        for index, cell in enumerate(row):
            mark = "†" if cell.stale else ""
            if lettered[index]:
                texts.append(f"{cell.text} {cell.letter or ' '}{mark}")
            else:
                texts.append(f"{cell.text}{mark}")
        found.append(texts)
    return found


def _row(
    table: Table,
    row: tuple[Cell, ...],
    texts: list[str],
    columns: list[int],
    widths: list[int],
    shades: dict[str, str] | None,
    last: bool,
) -> Line:
    parts: list[Part] = [(" ", "plain")]
    if shades is not None and shades:
        parts.append((left(2 * shades.get(row[0].text, " "), 3), "plain"))
    for position, (index, wide) in enumerate(zip(columns, widths, strict=True)):
        fill = right if table.columns[index].numeric else left
        style = _TONES.get(texts[index][-1:], "head" if last else "plain")
        parts.append((("  " if position else "") + fill(texts[index], wide), style))
    key = next((row[index].key for index in columns if row[index].key), "") or next(
        (cell.key for cell in row if cell.key), ""
    )
    return Line(tuple(parts), key, bool(key))


def _fit(table: Table, texts: list[list[str]], width: int) -> tuple[list[int], list[int]]:
    """Columns that fit and their widths: words shrink to 12 cells, then columns go from the right."""
    wanted = [
        max(4, cell_len(_head(column)), *(cell_len(row[index]) for row in texts))
        for index, column in enumerate(table.columns)
    ]
    columns = list(range(len(wanted)))
    while True:
        widths = [wanted[index] for index in columns]
        over = sum(widths) + 2 * (len(columns) - 1) - width
        words = sorted(
            (i for i, c in enumerate(columns) if not table.columns[c].numeric), key=lambda i: -widths[i]
        )
        for i in words:
            floor = (20 if width >= NARROW else 16) if columns[i] == 0 else 12
            less = max(0, min(over, widths[i] - min(widths[i], floor)))
            widths[i] -= less
            over -= less
        if over <= 0 or len(columns) <= 2:
            return columns, widths
        columns = columns[:-1]
