"""Modal screens: a list with a title, a filter where it helps, and one way back: escape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from planner.tui.lines import MOST_TYPED, Line, Lines, LinesView, Part, cut, left, plain, wrapped

WITHOUT = "\0without:"
"""Before the rest of a filter, in the key of the line that offers it."""


class Overlay(ModalScreen[str | None]):
    """A list over the screen. Its result is the chosen line's key, or None.

    Escape and enter may come faster than screens change, so it closes once, and only when it is in front.
    """

    DEFAULT_CSS = """
    Overlay { align: center bottom; background: $background 30%; }
    Overlay > Vertical {
        width: 100%; max-width: 110; height: 1fr; max-height: 36; margin: 4 0 0 0; background: $surface;
        border: round $primary; padding: 0;
    }
    Overlay Input { height: 1; border: none; padding: 0 1; background: $boost; }
    Overlay #overlay-foot { height: auto; }
    Overlay #overlay-note { height: auto; }
    Overlay #overlay-heads { height: 1; display: none; }
    Overlay #overlay-detail { height: 3; border-top: none; background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", id="overlay.back")]
    WIDEST: ClassVar[int] = 110
    HINT: ClassVar[str] = "filter: words and comparisons"
    HEADED: ClassVar[bool] = False
    """Whether a row over the list names its columns."""
    DETAIL_ROWS: ClassVar[int] = 0
    """Rows under the list that tell all of the line under the cursor."""

    def __init__(
        self,
        title: str,
        lines: Sequence[Line] = (),
        *,
        foot: str = "enter chooses   esc back",
        note: str = "",
        filtered: bool = False,
        cursor: int | None = None,
    ) -> None:
        super().__init__()
        self.heading = title
        self.lines = tuple(lines)
        self.foot = foot
        self.note = note
        self.filtered = filtered
        self.cursor = cursor
        self._left = False

    def compose(self) -> ComposeResult:
        """Note, filter, list, keys."""
        with Vertical() as box:
            box.border_title = cut(self.heading.replace("[", "\\["), 90)
            if self.note:
                yield Lines(id="overlay-note")
            if self.filtered:
                yield Input(id="overlay-filter", compact=True, placeholder=self.HINT, max_length=MOST_TYPED)
            if self.HEADED:
                yield Lines(id="overlay-heads")
            yield LinesView(self.lines, id="overlay-list")
            if self.DETAIL_ROWS:
                yield Lines(id="overlay-detail")
            yield Lines([plain(f" {self.foot}", "dim")], id="overlay-foot")

    def on_mount(self) -> None:
        """The filter has the focus where there is one."""
        if self.note:
            width = self.room - 1
            self.query_one("#overlay-note", Lines).show(
                [plain(f" {one}") for text in self.note.splitlines() for one in wrapped(text, width)]
            )
            self.query_one("#overlay-note", Lines).refresh(layout=True)
        self.fill()
        (self.query_one("#overlay-filter") if self.filtered else self.view).focus()

    def fit_rows(self, rows: int) -> None:
        """Take no more height than so many rows need."""
        rows += (
            3
            + self.DETAIL_ROWS
            + self.filtered
            + self.HEADED
            + len(wrapped(self.note, self.room)) * bool(self.note)
        )
        self.query_one(Vertical).styles.max_height = max(6, min(36, rows))

    @property
    def view(self) -> LinesView:
        """The list."""
        return self.query_one("#overlay-list", LinesView)

    @property
    def room(self) -> int:
        """Cells a line has."""
        return max(20, min(self.app.size.width, self.WIDEST) - 3)

    def fill(self) -> None:
        """Draw the list; others override it."""
        self.view.show(self.lines, cursor=self.cursor)

    def leave(self, result: str | None) -> None:
        """Close with a result, once."""
        if self._left or not self.is_current:
            return
        if (
            not self.is_mounted
        ):  # escape right behind the key that opened it: what is half made can't be taken away
            self.call_later(self.leave, result)
            return
        self._left = True
        self.dismiss(result)

    def action_leave(self) -> None:
        """Close without a result."""
        self.leave(None)

    @on(LinesView.Chosen)
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        self.choose(self.view.key)

    def choose(self, key: str) -> None:
        """What choosing a line does."""
        self.leave(key)

    @on(Input.Changed, "#overlay-filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self.fill()

    @on(Input.Submitted, "#overlay-filter")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.action_choose()

    def on_key(self, event: events.Key) -> None:
        """From the filter, arrows move the list's cursor."""
        if self.filtered and isinstance(self.focused, Input):
            moves: dict[str, Callable[[], None]] = {
                "up": lambda: self.view.action_move(-1),
                "down": lambda: self.view.action_move(1),
                "pageup": lambda: self.view.action_page(-1),
                "pagedown": lambda: self.view.action_page(1),
            }
            if event.key in moves:
                event.stop()
                moves[event.key]()

    def late_key(self, event: events.Key) -> bool:
        """Type a key that was on its way when this opened; whether it was one for the filter."""
        if not self.filtered or not self.is_mounted or event.character is None or not event.is_printable:
            return False
        box = self.query_one("#overlay-filter", Input)
        box.replace(event.character, *sorted(box.selection))
        return True

    @property
    def wanted(self) -> str:
        """What stands in the filter."""
        return self.query_one("#overlay-filter", Input).value if self.filtered else ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be picked.

    Attributes:
        search: What the filter looks in, in lower case.
        why_not: Why it doesn't fit; empty where it does.
    """

    key: str
    name: str
    told: str = ""
    search: str = ""
    why_not: str = ""


Narrow = Callable[[str], tuple[frozenset[str] | None, str]]
"""Takes a filter; gives keys that pass (None: all) and what is wrong with the filter."""


class Picker(Overlay):
    """Picks one of many; what doesn't fit stands at the end, dimmed, with the reason."""

    DETAIL_ROWS: ClassVar[int] = 3

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        now: str = "",
        narrow: Narrow | None = None,
        note: str = "",
    ) -> None:
        super().__init__(title, filtered=True, note=note, foot="type to filter   ↑ ↓ enter picks   esc back")
        self.choices = tuple(choices)
        self.now = now
        self.narrow = narrow
        self.started = False

    def on_mount(self) -> None:
        """A short list takes no more room than it needs."""
        super().on_mount()
        self.fit_rows(len(self.choices) + 1)

    def fill(self) -> None:
        """Those that pass the filter, fitting ones first."""
        keys, wrong = self.narrow(self.wanted) if self.narrow is not None else (None, "")
        words = () if self.narrow is not None else tuple(self.wanted.lower().split())
        passed = [
            one for one in self.choices
            if (keys is None or one.key in keys or not (one.key or self.wanted)) and all(word in one.search for word in words)
        ]  # fmt: skip
        passed.sort(key=lambda one: bool(one.why_not))
        keep = self.view.key if self.started else self.now
        lines = [self._line(one) for one in passed]
        if wrong:
            lines = [plain(f" {one}", "bad") for one in wrapped(wrong, self.room)] + lines
        if not passed:
            lines += self._without()
        at = next((i for i, line in enumerate(lines) if line.stop and line.key == keep), 0)
        self.view.show(lines, cursor=at)
        self.started = True
        self._detail()

    @on(LinesView.Moved, "#overlay-list")
    def _moved(self, event: LinesView.Moved) -> None:
        event.stop()
        self._detail()

    def _detail(self) -> None:
        """All of the chosen line: why it doesn't fit, and what it is."""
        here = self.view.key if any(line.stop for line in self.view.lines) else None
        one = next((choice for choice in self.choices if choice.key == here), None)
        rows: list[Line] = []
        if one is not None:
            rows += [plain(f" {said}", "accent") for said in wrapped(self.about(one), self.room - 1) if said]
            name = "" if one.why_not and len(one.why_not) > self.room else f"{one.name}: "
            if one.why_not:
                rows += [plain(f" {said}", "warn") for said in wrapped(f"✗ {one.why_not}", self.room - 1)]
                name = ""
            rows += (
                [plain(f" {said}") for said in wrapped(f"{name}{one.told}", self.room - 1)]
                if one.told
                else []
            )
        if len(rows) > self.DETAIL_ROWS:
            last = rows[self.DETAIL_ROWS - 1]
            rows = [
                *rows[: self.DETAIL_ROWS - 1],
                plain(f"{cut(last.text, self.room - 2)} …", last.parts[0][1]),
            ]
        self.query_one("#overlay-detail", Lines).show(rows)

    def about(self, one: Choice) -> str:
        """What is said of the chosen line before what it is."""
        return ""

    def _without(self) -> list[Line]:
        """Which word keeps all lines out, and the filter without it, to be chosen; the last word where all have a part in it."""
        words = self.wanted.lower().split()
        lacking = [
            word for word in words
            if not self.knows(word) and not any(word in one.search for one in self.choices)
        ]  # fmt: skip
        told = f"no line has '{lacking[0]}'" if lacking else f"no line has all of '{self.wanted}'"
        left_over = [word for word in words if word not in lacking] if lacking else words[:-1]
        rest = " ".join(left_over)
        offer = f"   enter: filter by '{rest}'" if rest else "   enter: all lines"
        return [
            plain(f" nothing passes: {told}", "warn"),
            plain(offer, "accent", key=f"{WITHOUT}{rest}", stop=True),
        ]

    def choose(self, key: str) -> None:
        """Give the line's key, or filter by what is left once a word is taken away."""
        if key.startswith(WITHOUT):
            box = self.query_one("#overlay-filter", Input)
            box.value = key.removeprefix(WITHOUT)
            box.cursor_position = len(box.value)
        else:
            super().choose(key)

    def knows(self, word: str) -> bool:
        """Whether a word of the filter is no word to look for, but a comparison that this list can judge."""
        return False

    def _line(self, one: Choice) -> Line:
        mark = "*" if one.key == self.now else " "
        told = one.why_not or one.told
        columns = () if one.why_not else self.columns(one)
        taken = sum(cell_len(text) for text, _ in columns)
        name = left(one.name, 30 if not taken or self.room > 90 else 24)
        style = "dim" if one.why_not else "plain"
        cross = "✗ " if one.why_not else ""
        rest = cut(f"{cross}{told}", max(0, self.room - 3 - cell_len(name) - taken))
        told_style = "warn" if one.why_not else "dim"
        return Line(((f"{mark} {name} ", style), *columns, (rest, told_style)), one.key, True)

    def columns(self, one: Choice) -> tuple[Part, ...]:
        """What stands between a line's name and what it is."""
        return ()


class Ask(Overlay):
    """A question with a few answers."""

    WIDEST: ClassVar[int] = 76

    DEFAULT_CSS = "Ask > Vertical { max-height: 14; max-width: 76; }"

    def __init__(self, title: str, answers: Sequence[tuple[str, str]], *, note: str = "") -> None:
        lines = [plain(f"  {told}", key=key, stop=True) for key, told in answers]
        super().__init__(title, lines, note=note, foot="↑ ↓ enter chooses   esc back")

    def on_mount(self) -> None:
        """As high as its answers."""
        super().on_mount()
        self.fit_rows(len(self.lines))


class Prompt(Overlay):
    """A question with a line of text for an answer."""

    WIDEST: ClassVar[int] = 76

    DEFAULT_CSS = "Prompt > Vertical { max-height: 9; max-width: 76; } Prompt LinesView { display: none; }"

    def __init__(self, title: str, value: str, *, note: str = "") -> None:
        super().__init__(title, note=note, filtered=True, foot="enter takes it   esc back")
        self.value = value

    def on_mount(self) -> None:
        """The box holds the proposal, selected, so that typing replaces it and an arrow key keeps it."""
        super().on_mount()
        box = self.query_one("#overlay-filter", Input)
        box.placeholder = ""
        box.value = self.value
        box.select_all()

    @on(Input.Submitted, "#overlay-filter")
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        event.prevent_default()
        self.leave(event.value.strip() or None)
