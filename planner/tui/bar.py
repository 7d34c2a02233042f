"""The outcomes bar: nine cells, their change against the pin, and one sentence."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from planner.present import format as fmt
from planner.present.view.changes import BETTER, moved_most, range_short
from planner.tui.lines import LINE_CLASSES, LINE_CSS, Line, Part, cut, left, strip_of
from planner.tui.state import Stand, State
from planner.tui.timeline import Step

NAMES: Final = ("UTIL %", "WAIT %", "DAYS", "p99 ms", "tok/s", "MW", "CAPEX", "$/GPUh", "$/Mtok")
WANTED: Final = (80, 24)
WIDE: Final = 140


def bar_rows(width: int, height: int) -> int:
    """Rows the bar takes on a screen of this size."""
    if width < WANTED[0] or height < WANTED[1]:
        return 3
    return 5 if width >= WIDE else 4


def bar_lines(state: State, width: int, height: int) -> list[Line]:
    """The bar's rows, for a screen of this size; cells never move, and what doesn't fit is dropped."""
    size = max(8, min(13, (width - 1) // len(NAMES)))
    shown = min(len(NAMES), max(1, (width - 1) // size))
    names = Line(((" " + "".join(left(name, size) for name in NAMES[:shown]), "head"),))
    values = Line(((" ", "plain"), *_values(state, size)[:shown]))
    if width < WANTED[0] or height < WANTED[1]:
        wish = f" wants {WANTED[0]}x{WANTED[1]}, has {width}x{height}. {_message(state, width)[0]}"
        return [names, values, Line(((cut(wish, width), "warn"),))]
    swapped = state.ranges and width < WIDE
    rows = [names, values, Line(((" ", "plain"), *(_ranges if swapped else _changes)(state, size)))]
    if width >= WIDE:
        rows.append(Line(((" ", "plain"), *_ranges(state, size))))
    return [*rows, _sentence(state, width)]


def _values(state: State, size: int) -> list[Part]:
    stand = state.stand
    if stand is Stand.LOADING or (stand is Stand.EMPTY):
        sign = "…" if stand is Stand.LOADING else fmt.NOTHING
        return [(left(sign, size), "dim") for _ in NAMES]
    cells = state.headlines
    if not cells:
        return [(left(fmt.NOTHING, size), "dim") for _ in NAMES]
    found: list[Part] = []
    for cell in cells:
        mark = style = ""
        if cell.value is not None:
            if cell.met is False:
                mark, style = "!", "bad"
            elif cell.odds is not None and cell.odds < 0.9:
                mark, style = "?", "warn"
            if stand is not Stand.CURRENT:
                mark, style = f"~{mark}", style or "dim"
        found.append((left(f"{mark}{cell.short}", size), style or "plain"))
    return found


def _changes(state: State, size: int) -> list[Part]:
    if not any(change.glyph or change.text == "new" for change in state.changes):
        return [(" " * size, "plain") for _ in NAMES]
    found: list[Part] = []
    for cell, change in zip(state.headlines, state.changes, strict=True):
        if cell.value is None and change.text == "=":
            found.append((" " * size, "plain"))
            continue
        told = _fitting(change.text, size - 1 - len(change.glyph))
        gap = " " if len(told) + 2 < size else ""
        text = f"{told}{gap}{change.glyph}"
        style = "dim" if not change.glyph else "good" if change.glyph == BETTER else "bad"
        found.append((left(text.strip(), size - 1) + " ", style))
    return found


def _fitting(text: str, room: int) -> str:
    """A change in so many cells, so that its glyph isn't cut away: decimals of a small one go first.

    >>> _fitting("-0.0059", 6), _fitting("+0.00032", 6), _fitting("-210k", 6)
    ('-.0059', '+.0003', '-210k')
    """
    if len(text) <= room or text[1:3] != "0.":
        return text
    return f"{text[0]}{text[2:]}"[:room]


def _ranges(state: State, size: int) -> list[Part]:
    return [(left(range_short(cell), size - 1) + " ", "dim") for cell in state.headlines]


def _message(state: State, room: int) -> tuple[str, str]:
    """What the sentence row says first, and its style."""
    if state.said:
        return state.said, "accent"
    match state.stand:
        case Stand.EMPTY:
            return "no plan is open", "dim"
        case Stand.LOADING:
            return "evaluating …; the plan can be edited already", "dim"
        case Stand.STALE:
            told = f" {state.waited:.0f} s" if state.waited >= 1 else ""
            return f"~ evaluating{told}", "warn"
        case Stand.INVALID:
            problem = state.problems[0] if state.problems else None
            more = f" (and {len(state.problems) - 1} more, n)" if len(state.problems) > 1 else ""
            if problem is None:
                return "! invalid", "bad"
            where = f"{problem.key}: " if problem.key else ""
            return f"! {where}{problem.message}{more}", "bad"
        case Stand.REFUSED:
            return f"✗ {state.refusal[0].message}", "bad"
        case Stand.FAULT:
            where = f", saved to {state.fault_file}" if state.fault_file else ""
            return f"✗ internal error{where}", "bad"
        case Stand.CURRENT:
            step = state.timeline.last
            missed = state.last is not None and not state.last.meets
            return ("", "plain") if step is None else (edit_told(step, room, missed=missed), "plain")
    raise AssertionError(state.stand)


def edit_told(step: Step, room: int, *, missed: bool = False) -> str:
    """An edit and what it moved most; where room is short the edit is told in fewer words, never its effect.

    Args:
        missed: Whether the plan misses a limit, which an edit of the limit itself can do without moving an outcome.
    """
    effect = moved_most(step.changes)
    if not effect and step.changes:
        first = all(change.text in ("", "new") for change in step.changes)
        same = "no outcome moved, a limit is missed (x)" if missed else "nothing in the bar moved"
        effect = "the first values of this plan" if first else same
    if not effect:
        return step.said
    short = step.label.rsplit(".", 2)[-2:]
    names = (step.label, ".".join(short), short[-1]) if step.old or step.new else ()
    told = (step.said, *(f"{name} > {step.new}" for name in names))
    rest = room - len(effect) - 2
    said = next((one for one in told if len(one) <= rest), cut(told[-1], max(rest, 0)))
    return f"{said}: {effect}"


def _sentence(state: State, width: int) -> Line:
    draft = state.draft
    name = "" if draft is None else f"{draft.path.name}{' *' if draft.dirty else ''}"
    name = cut(name, max(12, width // 3))
    room = width - len(name) - 3
    said, style = _message(state, room)
    verdict = ""
    if state.stand is Stand.CURRENT and state.last is not None:
        verdict = state.last.verdict
    if not said:
        said, style, verdict = verdict, "plain" if state.last and state.last.meets else "bad", ""
    first = cut(said, room)
    rest = room - len(first) - 2
    second = cut(verdict, rest) if verdict and rest > 18 else ""
    tone = "dim" if state.last is not None and state.last.meets else "bad"
    middle = left(f"{first}  {second}" if second else first, room)
    head, tail = middle[: len(first)], middle[len(first) :]
    return Line(((" ", "plain"), (head, style), (tail, tone), (f" {name}", "accent")))


class OutcomesBar(Widget):
    """Draws the bar of a state."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(LINE_CLASSES)
    DEFAULT_CSS = "OutcomesBar { height: 4; background: $panel; " + LINE_CSS + "}"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = State()
        self.rows: list[Line] = []

    def show(self, state: State) -> None:
        """Draw another state; rows that are the same stay."""
        self.state = state
        self._fill()

    def on_resize(self) -> None:
        """The number of cells and rows follows the screen."""
        self._fill()

    def _fill(self) -> None:
        size = self.app.size
        wanted = bar_rows(size.width, size.height)
        if self.styles.height is None or self.styles.height.value != wanted:
            self.styles.height = wanted
        rows = bar_lines(self.state, size.width, size.height)
        if rows != self.rows:
            self.rows = rows
            self.refresh()

    def render(self) -> RenderResult:
        """Rows are drawn by `render_line`."""
        return ""

    def render_line(self, y: int) -> Strip:
        """One row."""
        line = self.rows[y] if y < len(self.rows) else Line()
        return strip_of(self, line, self.size.width)
