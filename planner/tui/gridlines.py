"""Rows of the property grid as lines of text, and the words of the help pane."""

from __future__ import annotations

from pathlib import PurePath

from rich.cells import cell_len

from planner.present import format as fmt
from planner.tui.drawing import SHADES
from planner.tui.fields import Holds
from planner.tui.lines import Line, Part, cut, left, plain, right, wrapped
from planner.tui.rows import Is, Row, dotted
from planner.tui.state import Stand, State
from planner.tui.texts import LEGEND, fixes

NAME, VALUE, UNIT, STANDING, LETTER = 26, 22, 11, 8, 8
"""Cells of the columns at 80; a wider screen gives the rest to the value."""


def value_column(width: int) -> tuple[int, int]:
    """Offset and width of the value's column in a grid of this width."""
    return NAME, max(12, VALUE + width - (NAME + VALUE + UNIT + STANDING + LETTER + 3))


def row_line(row: Row, width: int, *, cursor: bool) -> Line:
    """One row: mark, name, value to the right, unit, where it stands, letter."""
    mark = "!" if row.problem else ">" if cursor else " "
    style = "bad" if row.problem else "plain"
    if row.kind is not Is.FIELD:
        arrow = "▾" if row.open else "▸"
        name = f"{mark}{'  ' * row.depth}{arrow} {row.name}"
        told = row.sentence if not row.open or row.kind is Is.ITEM or row.depth == 0 else ""
        gap = max(1, 14 - cell_len(name))
        head: Part = (cut(name, width), "bad" if row.problem else "head")
        return Line(
            (head, (" " * gap + cut(told, max(0, width - cell_len(name) - gap - 1)), "dim")),
            dotted(row.path),
            True,
        )
    offset, size = value_column(width)
    name = left(f"{mark}{'  ' * row.depth} {row.name}", offset - 1)
    unit = row.field.unit if row.field is not None else ""
    quiet = "dim" if row.standing in ("default", "base") else "plain"
    parts: tuple[Part, ...] = (
        (f"{name} ", style),
        (right(row.shown(size), size), style if row.problem else quiet),
        (f"  {left(unit, UNIT - 2)} ", "dim"),
        (left(row.standing, STANDING), "accent" if row.standing in ("u", "set") else "dim"),
        (f" {left(row.letter, LETTER)}", "warn" if "†" in row.letter else "dim"),
    )
    return Line(parts, dotted(row.path), True)


def help_lines(row: Row | None, state: State, width: int, height: int) -> list[Line]:
    """The help pane: what stands in the way first, else what the field under the cursor is."""
    lines = [_rule(width)]
    if state.stand is Stand.REFUSED:
        return lines + _refusal(state, width, height - 1)
    if row is None:
        return lines
    if row.problem:
        lines += [plain(f" {one}", "bad") for one in wrapped(f"! {row.problem}", width - 2)]
    if (state.stand is Stand.INVALID or state.applying) and state.previewed is None:
        offered = [f"{number} {fix.said}" for number, fix in enumerate(fixes(state), start=1)]
        lines += [plain(f" {one}") for said in offered for one in wrapped(said, width - 2, "   ")]
        if offered:
            lines.append(plain(" x and its number applies a remedy; u undoes", "dim"))
    if row.kind is not Is.FIELD or row.field is None:
        told = row.field.help if row.field is not None else ""
        lines += [plain(f" {one}") for one in wrapped(f"{dotted(row.path)}  {told}", width - 2)]
        lines.append(plain(f" {_group_keys(row)}", "dim"))
        return lines[:height]
    field = row.field
    lines += [plain(f" {one}") for one in wrapped(f"{dotted(row.path)}  {field.help}", width - 2)]
    unit = f" {field.unit}" if field.unit and field.unit != ": 1" else ""
    now = f"now {'none' if row.value is None else row.text}{unit if row.value is not None else ''}"
    default = f" · default {field.default_text}"
    if row.used is not None:
        taken = f"{row.used.value}{unit} {row.used.origin}".rstrip()
        default = "" if row.value is None else default
        now = f"now {'' if row.value is None else f'{row.text} '}({taken}), the planner's choice"
    bounds = f" · {field.bounds}" if field.bounds else ""
    choices = f" · one of {', '.join(field.choices)}" if field.choices and field.holds is Holds.CHOICE else ""
    pick = f" · enter: pick from {field.family}" if field.family and field.holds is Holds.CATALOG else ""
    before = state.timeline.before(row.path)
    was = f" · before {before}" if before else ""
    lines += [
        plain(f" {one}", "dim") for one in wrapped(f"{now}{default}{bounds}{choices}{pick}{was}", width - 2)
    ]
    lines.append(plain(f" {_source(row, state)}", "dim"))
    return lines[:height]


def _rule(width: int) -> Line:
    """The line over the help pane; what the bar's glyphs mean stands at its end."""
    if width < len(LEGEND) + 20:
        return plain("─" * width, "dim")
    return plain(f"{'─' * (width - len(LEGEND) - 4)} {LEGEND} ──", "dim")


def _group_keys(row: Row) -> str:
    if row.kind is Is.ITEM:
        return "enter opens or closes · a adds an item · A copies it · del removes it"
    if row.field is not None and row.field.holds is Holds.ITEMS:
        return "enter opens or closes · a adds an item"
    return "enter opens or closes"


def _source(row: Row, state: State) -> str:
    draft = state.shown
    if draft is None:
        return ""
    place = draft.document.places.get(row.path)
    if place is None:
        return "stands at its default: no file sets it"
    if row.standing == "u" or not place.line:  # a value that is being typed stands in no file yet
        return f"typed by you{'; saved it goes to' if draft.dirty else ', saved in'} {draft.path.name}"
    file = PurePath(place.path)
    folder = f", in {file.parent}" if len(file.parts) > 1 else ""
    inherited = "; inherited, an edit goes into this file" if row.standing == "base" else ""
    return f"stands at {file.name}:{place.line}{inherited}{folder}"


def _refusal(state: State, width: int, height: int) -> list[Line]:
    lines: list[Line] = []
    number = 0
    for remedy in state.refusal:
        lines += [plain(f" {one}", "bad") for one in wrapped(f"✗ {remedy.message}", width - 2)]
        for said in remedy.remedies:
            number += 1
            lines += [plain(f" {one}") for one in wrapped(f" {number} {said}", width - 2, "   ")]
    if number:
        lines.append(plain(" x and its number applies a remedy, or goes to the field; u undoes", "dim"))
    return lines if len(lines) <= height else [*lines[: height - 1], plain(" … 2 shows all of it", "dim")]


def _evidence(state: State, width: int) -> list[Line]:
    """What the purchase rests on: a bar of shades, strongest basis first, and the same in words."""
    answer = state.last
    if answer is None or not answer.evidence:
        return []
    room, bar, at = width - 12, "", 0.0
    for shade, (_, share) in zip(SHADES, answer.evidence, strict=False):
        at += share
        bar += shade * (round(at * room) - len(bar))
    said = [plain(f"  {one}", "dim") for one in wrapped(answer.evidence_said, width - 3)]
    return [Line(), plain(" Evidence", "head"), plain(f"  {left('capex', 8)} {bar}"), *said]


def effect_lines(state: State, width: int) -> list[Line]:
    """The right pane of a wide screen: what the last edit did, and how the limits stand."""
    lines = [plain(" What the last edit did", "head")]
    step = state.timeline.last
    if step is None:
        lines.append(plain("  nothing edited yet", "dim"))
    else:
        lines += [plain(f"  {one}") for one in wrapped(step.said, width - 3)]
        moved = [one for one in step.changes if one.glyph]
        for one in moved:
            style = "good" if one.glyph == "▲" else "bad"
            text = f"  {left(one.bar, 8)} {right(one.old, 7)} > {left(one.new, 7)} "
            lines.append(Line(((text, "plain"), (f"{right(one.text, 7)} {one.glyph}", style))))
        if step.changes and not moved:
            lines.append(plain("  nothing in the bar moved", "dim"))
    lines += [Line(), plain(" Limits", "head")]
    if state.last is not None:
        tone = "plain" if state.last.meets else "bad"
        lines += [plain(f"  {one}", tone) for one in wrapped(state.last.verdict, width - 3)]
        for cell in state.headlines:
            if cell.limit is not None and cell.value is not None:
                mark = "!" if cell.met is False else " "
                lines.append(plain(f" {mark}{left(cell.bar, 8)} {right(cell.text, 14)} of {cell.limit_text}"))
    lines += _evidence(state, width)
    lines += [Line(), plain(" Outcomes", "head")]
    for cell in state.headlines:
        if cell.value is not None:
            lines.append(plain(f"  {left(cell.bar, 8)} {right(cell.text, 18)}  {cell.letter}"))
            if cell.note:
                lines += [plain(f"  {'':8} {one}", "dim") for one in wrapped(cell.note, width - 12)]
    if state.last is None:
        lines.append(plain(f"  {fmt.NOTHING}", "dim"))
    return lines
