"""A screen that is a few lines of head over one list, and works in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult

from planner.tui.lines import Line, Lines, LinesView
from planner.tui.state import State
from planner.tui.working import WorkPane


class ListPane(WorkPane):
    """Head and list are called after the screen: ``compare-head`` and ``compare-list``."""

    NAME: ClassVar[str]
    DEFAULT_CSS = (
        "ListPane { height: 1fr; } ListPane > Lines { height: auto; } ListPane > LinesView { height: 1fr; }"
    )

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = State()

    def compose(self) -> ComposeResult:
        """What is in front over the list."""
        yield Lines([Line()], id=f"{self.NAME}-head")
        yield LinesView(id=f"{self.NAME}-list")

    @property
    def view(self) -> LinesView:
        """The list."""
        return self.query_one(f"#{self.NAME}-list", LinesView)

    def head(self, lines: Sequence[Line]) -> None:
        """Draw the head, which takes the rows it needs."""
        head = self.query_one(f"#{self.NAME}-head", Lines)
        head.show(lines)
        head.refresh(layout=True)

    def front(self) -> None:
        """The list takes the focus."""
        self.view.focus()

    def text(self) -> str:
        """What is shown."""
        return "\n".join(line.text.rstrip() for line in self.view.lines)

    def on_resize(self, event: events.Resize) -> None:
        """What is drawn is made for a width."""
        self.call_after_refresh(self.fill)
