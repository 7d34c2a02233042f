"""What is shown before a plan is open: the folder's scenarios, unsaved edits, recent plans, shipped ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message

from planner.tui.lines import Line, LinesView, cut, left, plain, wrapped

Rows = Sequence[tuple[str, str, str]]
"""Key, name and what is told beside it."""


class StartPane(Container):
    """Lists what can be opened; it opens, copies and removes nothing itself."""

    DEFAULT_CSS = "StartPane { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "wants('new')", "new plan", id="start.new"),
        Binding("g", "wants('guide')", "guided start", id="start.guide"),
        Binding("o", "wants('file')", "open a file", id="start.file"),
        Binding("c", "on_entry('copy')", "copy plan", id="start.copy"),
        Binding("delete", "on_entry('delete')", "delete plan", id="start.delete"),
    ]

    class Opens(Message):
        """What is wanted: ``open:…``, ``recover:…``, ``copy:…``, ``delete:…``, ``new:``, ``guide:`` or ``file:``."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def compose(self) -> ComposeResult:
        """One list."""
        yield LinesView(id="start-lines")

    @property
    def view(self) -> LinesView:
        """The list."""
        return self.query_one("#start-lines", LinesView)

    def fill(
        self,
        *,
        folder: str,
        entries: Rows,
        unsaved: Rows,
        recent: Rows,
        shipped: Rows,
        message: Sequence[str] = (),
    ) -> None:
        """Draw what can be opened."""
        width = (self.size.width or self.app.size.width) - 2
        lines = [plain(f" {one}", "bad") for text in message for one in wrapped(text, width)]
        if unsaved:
            lines.append(plain(" Unsaved edits of an earlier session", "warn"))
            lines += [_row(one, width) for one in unsaved]
        lines.append(plain(f" Scenarios in {cut(folder, max(10, width - 14))}", "head"))
        lines += [_row(one, width) for one in entries]
        if not entries:
            lines.append(plain("   none yet", "dim"))
        lines.append(plain("   guided start: a goal and five questions …", "accent", key="guide:", stop=True))
        lines.append(plain("   a new plan from a commented template", key="new:", stop=True))
        lines.append(plain("   open a file …", key="file:", stop=True))
        if recent:
            lines.append(plain(" Recent", "head"))
            lines += [_row(one, width) for one in recent]
        lines.append(plain(" Shipped scenarios (saved under your own name)", "head"))
        lines += [_row(one, width) for one in shipped]
        keep = self.view.key
        at = next((i for i, line in enumerate(lines) if line.stop and line.key == keep), None)
        first = next((i for i, line in enumerate(lines) if line.stop), 0)
        self.view.show(lines, cursor=first if at is None else at)

    @on(LinesView.Chosen)
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        self.post_message(self.Opens(self.view.key))

    def action_wants(self, what: str) -> None:
        """Something that needs no entry."""
        self.post_message(self.Opens(f"{what}:"))

    def action_on_entry(self, what: str) -> None:
        """Copy or delete the scenario under the cursor; only those of the folder can be."""
        kind, _, name = self.view.key.partition(":")
        if kind == "mine":
            self.post_message(self.Opens(f"{what}:{name}"))
        else:
            self.app.bell()


def _row(row: tuple[str, str, str], width: int) -> Line:
    key, name, told = row
    size = min(34, max(16, width // 3))
    return Line(
        ((f"   {left(name, size)} ", "plain"), (cut(told, max(0, width - size - 5)), "dim")), key, True
    )
