"""Screens 2, 3 and 8: sections of the view as lines, and the export of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.message import Message

from planner.present.view.model import Section
from planner.tui.against import against
from planner.tui.drawing import section_lines
from planner.tui.lines import Line, Lines, LinesView, plain, wrapped
from planner.tui.state import Stand, State

FORMATS = ("html", "xlsx", "json", "bom.csv", "cables.csv")
REPORTS = frozenset(FORMATS[:3])
"""What is written unless something else is chosen."""
WIDEST = 118
"""Tables and bars grow no wider than this: longer lines are harder to read across."""
THREE_FROM = 140
"""Cells from which time, power and money stand side by side."""


class SectionPane(Container):
    """Draws one of several sections of the view."""

    DEFAULT_CSS = "SectionPane { height: 1fr; } SectionPane Lines { height: 1; }"

    class Asks(Message):
        """The whole view is needed, which the bar alone doesn't make."""

    def __init__(self, sections: Sequence[tuple[str, str]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sections = tuple(sections)
        self.at = 0
        self.state = State()

    def compose(self) -> ComposeResult:
        """Names of the sections over the chosen one."""
        yield Lines([Line()], id=f"{self.id}-names")
        yield LinesView(id=f"{self.id}-lines")

    @property
    def view(self) -> LinesView:
        """The list of lines."""
        return self.query_one(LinesView)

    def show(self, state: State) -> None:
        """Draw a state; asks for the whole view where the state hasn't got it."""
        self.state = state
        if self.display:
            self._fill()

    def choose(self, number: int) -> None:
        """Show another section."""
        self.at = max(0, min(number, len(self.sections) - 1))
        self.view.cursor = 0
        self._fill()
        self.view.scroll_to(y=0, animate=False)

    def on_resize(self) -> None:
        """Lines are made for a width."""
        if self.state.draft is not None:
            self._fill()

    def _fill(self) -> None:
        self._head()
        self.view.show(self._lines(min(WIDEST, (self.size.width or self.app.size.width) - 1), self.at))

    def _head(self) -> None:
        late = "~ " if self.state.stand not in (Stand.CURRENT, Stand.LOADING) else ""
        if len(self.sections) > 1:
            keys = [
                (f"[{key} {name}] " if index == self.at else f" {key} {name}  ")
                for index, (key, name) in enumerate((name[0], name) for name, _ in self.sections)
            ]
            parts = tuple((text, "head" if index == self.at else "dim") for index, text in enumerate(keys))
            self.query_one(Lines).show([Line(((f" {late}", "warn"), *parts))])
        else:
            self.query_one(Lines).show([plain(f" {late}{self.sections[self.at][0]}", "head")])

    def _lines(self, width: int, at: int) -> list[Line]:
        """Lines of one section in the width there is."""
        answer = self.state.last
        refusal = self.state.refusal
        if refusal:
            said = [one for remedy in refusal for one in wrapped(f"✗ {remedy.message}", width - 2)]
            lines = [plain(f" {one}", "bad") for one in said]
            number = 0
            for remedy in refusal:
                for told in remedy.remedies:
                    number += 1
                    lines += [plain(f" {one}") for one in wrapped(f"{number} {told}", width - 2, "   ")]
            return lines
        if answer is None:
            told = (
                "evaluating …"
                if self.state.stand is Stand.LOADING
                else "nothing to show: the plan has a problem (1, n)"
            )
            return [plain(f" {told}", "dim")]
        if answer.view is None:
            self.post_message(self.Asks())
            return (self.view.lines and list(self.view.lines)) or [plain(" drawing …", "dim")]
        wanted = self.sections[at][1]
        section = next((one for one in answer.view.sections if one.id == wanted), None)
        if section is None:
            return [plain(f" the view has no section '{wanted}'", "dim")]
        return section_lines(self.compared(section), width)

    def compared(self, section: Section) -> Section:
        """The section as it is drawn; a screen may set it against the pin."""
        return section

    def text(self) -> str:
        """What is shown, as plain text."""
        return "\n".join(line.text.rstrip() for line in self.view.lines)


class WherePane(SectionPane):
    """Screen 2: time, power and money; side by side on a wide screen, one at a time on a narrow one."""

    DEFAULT_CSS = """
    WherePane #where-columns { height: 1fr; }
    WherePane #where-power, WherePane #where-money { display: none; border-left: solid $foreground 20%; }
    WherePane.wide #where-power, WherePane.wide #where-money { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "section(0)", "time", id="where.time"),
        Binding("p", "section(1)", "power", id="where.power"),
        Binding("m", "section(2)", "money", id="where.money"),
    ]
    BESIDE: ClassVar[tuple[str, ...]] = ("where-lines", "where-power", "where-money")
    """Lists of a wide screen, in the order of the sections; a narrow one has the first alone."""

    def compose(self) -> ComposeResult:
        """Names of the sections over the lists."""
        yield Lines([Line()], id="where-names")
        with Horizontal(id="where-columns"):
            yield LinesView(id=self.BESIDE[0])
            for name in self.BESIDE[1:]:
                yield LinesView(id=name)

    @property
    def wide(self) -> bool:
        """Whether all three stand side by side."""
        return self.has_class("wide")

    @property
    def columns(self) -> list[LinesView]:
        """The lists, in the order of the sections."""
        return [self.query_one(f"#{name}", LinesView) for name in self.BESIDE]

    @property
    def view(self) -> LinesView:
        """The list in front: the one with the focus where several stand side by side."""
        return next((one for one in self.columns if one.has_focus), self.columns[0])

    def on_resize(self) -> None:
        """Three columns where each has room for its tables."""
        self.set_class((self.size.width or self.app.size.width) >= THREE_FROM, "wide")
        super().on_resize()

    def _fill(self) -> None:
        if not self.wide:
            super()._fill()
            return
        width = (self.size.width or self.app.size.width) // len(self.sections) - 2
        self._head()
        for place, one in enumerate(self.columns):
            one.show(self._lines(width, place))

    def compared(self, section: Section) -> Section:
        """With a column against the pin, once somebody pinned or edited something."""
        pin, draft = self.state.pin, self.state.shown
        if (
            pin is None
            or pin.view is None
            or (not pin.chosen and draft is not None and draft.text == pin.text)
        ):
            return section
        old = next((one for one in pin.view.sections if one.id == section.id), None)
        return section if old is None else against(section, old)

    def action_section(self, number: int) -> None:
        """Show another section, or go to its column."""
        if self.wide:
            self.at = number
            self.columns[number].focus()
            self._head()
        else:
            self.choose(number)


class ExportPane(Container):
    """Screen 8: what to write, where to, and what was written."""

    DEFAULT_CSS = "ExportPane { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", "mark", id="export.mark")]

    class Starts(Message):
        """Write the report."""

        def __init__(self, formats: tuple[str, ...], folder: str) -> None:
            super().__init__()
            self.formats, self.folder = formats, folder

    class AsksFolder(Message):
        """Another folder is wanted."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.formats: frozenset[str] = REPORTS
        self.folder = "reports"
        self.stem = ""
        self.state = State()
        self.log_lines: list[Line] = []
        self.busy = False

    def compose(self) -> ComposeResult:
        """One list holds it all."""
        yield LinesView(id="export-lines")

    @property
    def view(self) -> LinesView:
        """The list."""
        return self.query_one("#export-lines", LinesView)

    def show(self, state: State) -> None:
        """Draw a state."""
        self.state = state
        self.stem = state.draft.path.stem if state.draft is not None else ""
        if self.display:
            self.fill()

    def arrive(self, state: State) -> None:
        """Draw a state with the cursor on what is most likely wanted: writing."""
        self.show(state)
        self.fill()
        self.view.put(next(i for i, line in enumerate(self.view.lines) if line.key == "write"))

    def fill(self) -> None:
        """Draw the form and what was written."""
        told = {
            "html": "report, one file, opens anywhere",
            "xlsx": "workbook with live formulas",
            "json": "every figure, for programs",
            "bom.csv": "bill of materials, a row a part",
            "cables.csv": "cut sheet, a row a cable",
        }
        lines = [plain(" Write the plan as it stands here, saved or not", "head"), Line()]
        for one in FORMATS:
            mark = "x" if one in self.formats else " "
            lines.append(plain(f"  [{mark}] {one:10} {told[one]}", key=one, stop=True))
        lines.append(plain("  copy    the outcomes to the clipboard (OSC 52)", key="copy", stop=True))
        lines.append(plain(f"  folder  {self.folder}", key="folder", stop=True))
        names = ", ".join(f"{self.stem}.{one}" for one in FORMATS if one in self.formats) or "nothing chosen"
        lines.append(plain(f"  write   {names}", "accent", key="write", stop=True))
        lines += [Line(), *self.log_lines]
        self.view.show(lines)

    @on(LinesView.Chosen)
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        self._do(self.view.key)

    def action_mark(self) -> None:
        """Mark or unmark a format."""
        if self.view.key in FORMATS:
            self._do(self.view.key)

    def _do(self, key: str) -> None:
        if key in FORMATS:
            self.formats = self.formats ^ {key}
            self.fill()
        elif key == "folder":
            self.post_message(self.AsksFolder())
        elif key == "copy":
            self._copy()
        elif key == "write" and self.formats and not self.busy:
            self.post_message(self.Starts(tuple(one for one in FORMATS if one in self.formats), self.folder))

    def _copy(self) -> None:
        """The outcomes as a table of text, through the terminal into the clipboard."""
        from planner.present.text import outcomes_table

        if not self.state.headlines:
            self.app.bell()
            return
        self.app.copy_to_clipboard(outcomes_table(self.state.headlines))
        self.log_lines = [plain(f"  copied {len(self.state.headlines)} outcomes", "good")]
        self.fill()

    def began(self) -> None:
        """Writing has begun."""
        self.busy = True
        self.log_lines = [plain("  writing …", "dim")]
        self.fill()

    def wrote(self, said: str, *, bad: bool = False, last: bool = False) -> None:
        """One file was written, or could not be."""
        width = (self.size.width or 80) - 4
        lines = [plain(f"  {one}", "bad" if bad else "good") for one in wrapped(said, width)]
        kept = [line for line in self.log_lines if "writing …" not in line.text]
        self.log_lines = [*kept, *lines] + ([] if last else [plain("  writing …", "dim")])
        self.busy = not last
        self.fill()
