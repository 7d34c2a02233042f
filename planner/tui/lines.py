"""Lines of styled text, and one widget that shows many of them quickly: every list is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

Part = tuple[str, str]
"""Text and the name of its style, one of `STYLES`."""

STYLES = ("plain", "dim", "head", "good", "bad", "warn", "accent", "cursor", "chosen")


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        key: What choosing it means to its owner.
        stop: Whether the cursor may stand on it.
    """

    parts: tuple[Part, ...] = ()
    key: str = ""
    stop: bool = False

    @property
    def text(self) -> str:
        """The line without styles."""
        return "".join(text for text, _ in self.parts)


def plain(text: str, style: str = "plain", *, key: str = "", stop: bool = False) -> Line:
    """A line in one style."""
    return Line(((text, style),), key, stop)


MOST_TYPED: Final = 4_000
"""Characters that a line to type in takes; a longer paste was meant for another window, and is refused with the bell."""


def cut(text: str, width: int) -> str:
    """Text in at most so many cells, with ``…`` where something was left out.

    >>> cut("osfp-800g-2xdr4", 8), cut("short", 8)
    ('osfp-80…', 'short')
    """
    if text.isascii():  # a letter a cell: most text is, and lists of thousands of lines are made on a key
        return text if len(text) <= width else text[: width - 1].rstrip() + "…" if width > 0 else ""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


def left(text: str, width: int) -> str:
    """Text in exactly so many cells, filled on the right."""
    short = cut(text, width)
    return short.ljust(width) if text.isascii() else set_cell_size(short, width)


def right(text: str, width: int) -> str:
    """Text in exactly so many cells, filled on the left."""
    short = cut(text, width)
    return " " * (width - cell_len(short)) + short


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Text over several lines of at most so many cells; a word that is longer goes on in the next line.

    >>> wrapped("a plan of /home/someone/plans", 12, "  ")
    ['a plan of', '  /home/some', '  one/plans']
    """
    width = max(width, len(indent) + 4)
    lines: list[str] = []
    here = ""
    for word in text.split():
        following = f"{here} {word}" if here.strip() else f"{here}{word}"
        if cell_len(following) <= width:
            here = following
            continue
        if here.strip():
            lines.append(here)
        *whole, here = _chopped(f"{indent}{word}" if lines else word, width, indent)
        lines += whole
    return [*lines, here] if here.strip() or not lines else lines


def _chopped(word: str, width: int, indent: str) -> list[str]:
    """A word in pieces of at most so many cells; in time that grows with its length, as words are pasted of any."""
    pieces: list[str] = []
    start = 0
    while start < len(word) or not pieces:
        head = indent if pieces else ""
        room = width - len(head)
        end = min(len(word), start + room)
        while end > start + 1 and cell_len(word[start:end]) > room:
            end -= 1
        pieces.append(head + word[start:end])
        start = end
    return pieces


def clipped(line: Line, width: int) -> Line:
    """A line in at most so many cells."""
    if cell_len(line.text) <= width:
        return line
    parts: list[Part] = []
    for text, style in line.parts:
        room = width - sum(cell_len(one) for one, _ in parts)
        parts.append((cut(text, room), style))
    return replace(line, parts=tuple(parts))


def clean(text: str) -> str:
    """Text that can't move the terminal's cursor: what isn't printable is shown as a dot."""
    return "".join(letter if letter.isprintable() else "·" for letter in text)


def strip_of(widget: Widget, line: Line, width: int, over: str = "") -> Strip:
    """A line as the terminal takes it, in the widget's colours.

    Args:
        over: Style laid over all of it, for the cursor.
    """
    base = widget.rich_style
    above = _style(widget, over) if over else None
    segments = []
    for text, name in line.parts:
        style = base + _style(widget, name) if name != "plain" else base
        segments.append(Segment(clean(text), style + above if above else style))
    return Strip(segments).adjust_cell_length(width, base + above if above else base)


def _style(widget: Widget, name: str) -> Style:
    return widget.get_component_rich_style(f"lines--{name}", partial=True)


LINE_CLASSES: frozenset[str] = frozenset(f"lines--{name}" for name in STYLES)

LINE_CSS = """
    & > .lines--dim { color: $foreground-darken-3; }
    & > .lines--head { color: $text-primary; text-style: bold; }
    & > .lines--good { color: $text-success; }
    & > .lines--bad { color: $text-error; text-style: bold; }
    & > .lines--warn { color: $text-warning; }
    & > .lines--accent { color: $text-accent; }
    & > .lines--cursor { background: $primary-muted; text-style: bold; }
    & > .lines--chosen { text-style: bold reverse; }
"""


class Lines(Widget):
    """A few lines that don't scroll."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(LINE_CLASSES)
    DEFAULT_CSS = "Lines { height: auto; " + LINE_CSS + "}"

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = tuple(lines)

    def show(self, lines: Sequence[Line]) -> None:
        """Draw other lines; the size stays."""
        found = tuple(lines)
        if found != self.lines:
            self.lines = found
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as lines."""
        return max(1, len(self.lines))

    def render_line(self, y: int) -> Strip:
        """One row."""
        line = self.lines[y] if y < len(self.lines) else Line()
        return strip_of(self, line, self.size.width)


class LinesView(ScrollView, can_focus=True):
    """Any number of lines with a cursor; where no line can be stopped at, keys scroll."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(LINE_CLASSES)
    DEFAULT_CSS = "LinesView { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; " + LINE_CSS + "}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False, id="list.up"),
        Binding("down,j", "move(1)", "down", show=False, id="list.down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="list.page_up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="list.page_down"),
        Binding("home", "ends(-1)", "first", show=False, id="list.first"),
        Binding("end", "ends(1)", "last", show=False, id="list.last"),
        Binding("enter", "choose", "choose", show=False, id="list.choose"),
    ]

    class AtLine(Message):
        """Something happened at a line of a list."""

        def __init__(self, view: LinesView, index: int) -> None:
            super().__init__()
            self.view, self.index = view, index

        @property
        def control(self) -> LinesView:
            """The list it happened in."""
            return self.view

    class Moved(AtLine):
        """The cursor stands on another line."""

    class Chosen(AtLine):
        """Enter was pressed on a line, or it was clicked twice."""

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = tuple(lines)
        self.cursor = self._first()

    def show(self, lines: Sequence[Line], *, cursor: int | None = None) -> None:
        """Draw other lines; only those that differ are drawn again."""
        found = tuple(lines)
        if len(found) == len(self.lines):
            for index, (old, new) in enumerate(zip(self.lines, found, strict=True)):
                if old != new:
                    self.refresh_line(index)
            self.lines = found
        else:
            self.lines = found
            self.virtual_size = Size(self.size.width, len(found))
            self.refresh()
        wanted = self.cursor if cursor is None else cursor
        self._put(min(wanted, len(found) - 1), tell=False)

    @property
    def key(self) -> str:
        """Key of the line under the cursor."""
        return self.lines[self.cursor].key if 0 <= self.cursor < len(self.lines) else ""

    def on_mount(self) -> None:
        """The number of lines is known from here on."""
        self.virtual_size = Size(self.size.width, len(self.lines))

    def on_resize(self, event: events.Resize) -> None:
        """Lines are as wide as the view."""
        self.virtual_size = Size(event.size.width, len(self.lines))
        self.call_after_refresh(self._into_view)

    def render_line(self, y: int) -> Strip:
        """One row."""
        index = y + int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        if index >= len(self.lines):
            return strip_of(self, Line(), width)
        line = self.lines[index]
        over = "cursor" if index == self.cursor and line.stop else ""
        return strip_of(self, line, width, over)

    def _first(self) -> int:
        return next((index for index, line in enumerate(self.lines) if line.stop), 0)

    def put(self, index: int) -> None:
        """Set the cursor."""
        self._put(index)

    def _put(self, index: int, *, tell: bool = True) -> None:
        if not self.lines:
            self.cursor = 0
            return
        index = max(0, min(index, len(self.lines) - 1))
        if not self.lines[index].stop:
            stops = [i for i, line in enumerate(self.lines) if line.stop]
            index = min(stops, key=lambda i: abs(i - index)) if stops else index
        old, self.cursor = self.cursor, index
        if old != index:
            self.refresh_line(old)
            self.refresh_line(index)
        self._into_view()
        if tell and old != index:
            self.post_message(self.Moved(self, index))

    def _into_view(self) -> None:
        height = self.scrollable_content_region.height
        top = int(self.scroll_offset.y)
        if height <= 0 or not self.lines or not any(line.stop for line in self.lines):
            return
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def action_move(self, step: int) -> None:
        """Up or down to the next line that can be stopped at; without one, scroll."""
        index = self.cursor + step
        while 0 <= index < len(self.lines) and not self.lines[index].stop:
            index += step
        if 0 <= index < len(self.lines) and any(line.stop for line in self.lines):
            self._put(index)
        else:
            self.scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        """A page up or down."""
        height = max(1, self.scrollable_content_region.height - 1)
        if any(line.stop for line in self.lines):
            self._put(self.cursor + step * height)
        else:
            self.scroll_relative(y=step * height, animate=False)

    def action_ends(self, step: int) -> None:
        """To the first or the last line."""
        if any(line.stop for line in self.lines):
            self._put(0 if step < 0 else len(self.lines) - 1)
        else:
            self.scroll_to(y=0 if step < 0 else len(self.lines), animate=False)

    def action_choose(self) -> None:
        """Choose the line under the cursor."""
        if 0 <= self.cursor < len(self.lines) and self.lines[self.cursor].stop:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A click sets the cursor, a second one chooses."""
        index = int(event.y + self.scroll_offset.y)
        if 0 <= index < len(self.lines) and self.lines[index].stop:
            if index == self.cursor or event.chain > 1:
                self.action_choose()
            self._put(index)


def joined(*parts: Any) -> Line:
    """A line of several parts; text alone is plain."""
    return Line(tuple((part, "plain") if isinstance(part, str) else part for part in parts))
