"""Screen 4: two to four plans side by side, differences first, and what would turn the choice over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from planner.catalog.store import Catalog
from planner.errors import PlannerError
from planner.evaluate import Evaluation, evaluate
from planner.present.view.compare import SPLIT
from planner.scenario.load import load_text, shipped_scenarios
from planner.study.compare import FEWEST, MOST, Comparison, compare
from planner.tui.comparing import compared_lines
from planner.tui.draft import open_draft
from planner.tui.lines import Line, LinesView, cut, plain, wrapped
from planner.tui.listed import ListPane
from planner.tui.overlay import Choice, Picker
from planner.tui.screens import HERE, shell
from planner.tui.state import State
from planner.tui.working import Desk

PINNED = "pin"


@dataclass(frozen=True, slots=True)
class Column:
    """A plan beside the open one: its text as it was taken, and where it came from."""

    name: str
    text: str
    path: Path


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison, and what it was made of."""

    found: Comparison
    texts: tuple[str, ...]


class ComparePane(ListPane):
    """Sets the open plan, always column A, beside others."""

    NAME: ClassVar[str] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "add", "add", id="compare.add"),
        Binding("delete,backspace", "drop", "drop", id="compare.drop"),
        Binding("left", "column(-1)", "column", show=False, id="compare.previous"),
        Binding("right", "column(1)", "column", show=False, id="compare.next"),
        Binding("o", "take", "take it", id="compare.take"),
        Binding("a", "all", "all rows", id="compare.all"),
        Binding("f", "write", "export", id="compare.write"),
    ]

    class Explains(Message):
        """The derivation of a number of one column is wanted."""

        def __init__(self, evaluation: Evaluation, key: str) -> None:
            super().__init__()
            self.evaluation, self.key = evaluation, key

    class Takes(Message):
        """A column's text is to become the plan's."""

        def __init__(self, name: str, text: str) -> None:
            super().__init__()
            self.name, self.text = name, text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns: list[Column] = []
        self.at = 0
        self.whole = False
        self.note = ""
        self.compared: Compared | None = None
        self.wanted: tuple[str, ...] = ()
        self.known: dict[str, Evaluation] = {}

    def show(self, state: State) -> None:
        """Draw a state; a comparison of another text is made again once the plan's own evaluation is done."""
        self.state = state
        if self.display and self.is_mounted:
            for one in shell(self.app).taken_beside():
                self.put_in(one)
            self._ask()
            self.fill()

    def _everyone(self) -> list[Column]:
        draft = self.state.draft
        return [] if draft is None else [Column(draft.path.stem, draft.text, draft.path), *self.columns]

    def _ask(self) -> None:
        everyone = self._everyone()
        texts = tuple(one.text for one in everyone)
        draft = self.state.draft
        ready = draft is not None and draft.loaded is not None and not self.state.awaiting
        if len(everyone) < FEWEST or not ready or self.wanted == texts:
            return
        self.wanted = texts
        shelf = shell(self.app).catalog
        self.work(lambda desk: self._compared(desk, everyone, shelf()), f"comparing {len(everyone)} plans …")

    def _compared(self, desk: Desk, everyone: Sequence[Column], shelf: Catalog) -> Compared:
        found = []
        for one in everyone:
            desk.go_on(f"evaluating {one.name} …")
            if one.text not in self.known:
                self.known = {**self.known, one.text: evaluate(load_text(one.text, one.path), shelf)}
            found.append(self.known[one.text])
        desk.go_on("drawing all of them with the same inputs …")
        texts = tuple(one.text for one in everyone)
        self.known = {text: one for text, one in self.known.items() if text in texts}
        return Compared(compare(found), texts)

    def took(self, found: Any) -> None:
        """Keep a comparison."""
        self.compared = found

    # What it does

    def action_add(self) -> None:
        """Choose a plan to set beside the open one."""
        draft = self.state.draft
        if draft is None or len(self.app.screen_stack) > 1:
            return
        choices = [
            Choice(HERE, "this plan as it stands", "stays as it is now while you edit on", "this plan now")
        ]
        if self.state.pin is not None:
            choices.append(
                Choice(PINNED, f"the pin ({self.state.pin.name})", "what changes count from", "pin")
            )
        files = sorted(one for one in draft.path.parent.glob("*.yaml") if one != draft.path)
        choices += [Choice(str(one), one.stem, str(one), str(one).lower()) for one in files]
        choices += [Choice(name, name, "a scenario that ships", name) for name in shipped_scenarios()]
        self.app.push_screen(Picker("compare with", choices), self._added)

    def _added(self, chosen: str | None) -> None:
        if chosen is not None:
            self.put_in(chosen)

    def put_in(self, chosen: str) -> None:
        """Set a plan beside the open one: as it stands, the pin, or a file."""
        draft, pin = self.state.draft, self.state.pin
        if draft is None:
            return
        if len(self.columns) + 1 >= MOST:
            self.note = f"{MOST} plans stand side by side at most; del drops the column in front"
            self.fill()
            return
        self.wrong, self.note = (), ""
        if chosen == HERE:
            clock = getattr(self.app, "clock", None)
            told = f" {clock()}" if clock is not None else ""
            self.columns.append(Column(f"{draft.path.stem}{told}", draft.text, draft.path))
        elif chosen == PINNED and pin is not None:
            self.columns.append(Column(pin.name, pin.text, draft.path))
        else:
            try:
                other = open_draft(chosen)
            except PlannerError as error:
                self.wrong = tuple(str(problem) for problem in error.problems)
                self.fill()
                return
            self.columns.append(Column(other.path.stem, other.text, other.path))
        self.at = len(self.columns)
        self._ask()
        self.fill()

    def action_drop(self) -> None:
        """Take the column in front away; the open plan stays."""
        if 1 <= self.at <= len(self.columns):
            del self.columns[self.at - 1]
            self.at = min(self.at, len(self.columns))
            self.wanted, self.wrong, self.note = (), (), ""
            if not self.columns:
                self.compared = None
            self._ask()
            self.fill()
        else:
            self.app.bell()

    def action_column(self, step: int) -> None:
        """Another column: whose numbers enter explains, and what ``o`` takes."""
        self.at = (self.at + step) % (len(self.columns) + 1)
        self.fill()

    def action_take(self) -> None:
        """Make the column in front the plan."""
        if 1 <= self.at <= len(self.columns):
            one = self.columns[self.at - 1]
            self.post_message(self.Takes(one.name, one.text))
        else:
            self.app.bell()

    def action_all(self) -> None:
        """All rows, or the first of each table."""
        self.whole = not self.whole
        self.fill()

    def action_write(self) -> None:
        """Write the comparison's page and its JSON into the export folder."""
        if self.compared is None or self.busy or shell(self.app).refuses_edits():
            self.app.bell()
            return
        self.run_worker(
            partial(self._written, self.compared.found), thread=True, exclusive=True, group="compare-write"
        )

    def _written(self, found: Comparison) -> None:
        import json

        from planner.present.compare_json import as_object
        from planner.present.files import write_atomically
        from planner.present.html.compare import compare_html
        from planner.present.outputs import make_folder

        folder = Path("reports")
        try:
            make_folder(folder)
            write_atomically(folder / "compare.html", compare_html(found).encode())
            write_atomically(
                folder / "compare.json",
                f"{json.dumps(as_object(found), indent=1, allow_nan=False)}\n".encode(),
            )
            said = f"written: {folder / 'compare.html'}, {folder / 'compare.json'}"
        except PlannerError as error:
            said = str(error.problems[0])
        self.app.call_from_thread(self._told, said)

    def _told(self, said: str) -> None:
        self.note = said
        self.fill()

    @on(LinesView.Chosen, "#compare-list")
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        key = self.view.key
        if key == "add":
            self.action_add()
        elif self.compared is not None and SPLIT in key:
            entrants = self.compared.found.entrants
            one = entrants[min(self.at, len(entrants) - 1)]
            self.post_message(self.Explains(one.evaluation, key.partition(SPLIT)[2]))

    # What it shows

    def fill(self) -> None:
        """Draw the head and the tables."""
        if not self.is_mounted:
            return
        width = (self.size.width or self.app.size.width) - 1
        everyone = self._everyone()
        parts: list[tuple[str, str]] = [(" ", "plain")]
        for place, (letter, one) in enumerate(zip("ABCD", everyone, strict=False)):
            told = cut(f"{letter} {one.name}", max(12, width // 4 - 3))
            parts.append(
                (f"[{told}] " if place == self.at else f" {told}  ", "head" if place == self.at else "dim")
            )
        head = [Line(tuple(parts))]
        if self.busy:
            head.append(plain(f" {self.said}  esc cancels", "warn"))
        elif self.compared is not None and self.compared.texts != tuple(one.text for one in everyone):
            head.append(plain(" ~ of the plans as they were before the last change", "warn"))
        head += [
            plain(f" {one}", "warn")
            for text in (*self.wrong, self.note)
            if text
            for one in wrapped(text, width - 2)
        ]
        self.head(head)
        lines: list[Line] = []
        if self.compared is None or not self.columns:
            lines.append(plain("  space: set another plan beside this one", key="add", stop=True))
        else:
            lines += compared_lines(self.compared.found, width, whole=self.whole, at=self.at)
        self.view.show(lines)
