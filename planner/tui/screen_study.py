"""Screen 5: the plan search and the sensitivity of a result, one at a time. Sweeps over designs have their place here."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import ContentSwitcher

from planner.tui.lines import Line, Lines
from planner.tui.screen_search import SearchPane
from planner.tui.screen_sensitivity import SensitivityPane
from planner.tui.screens import shell
from planner.tui.state import State

SECTIONS = (("s", "search", "search for plans"), ("v", "sensitivity", "what moves it"))


class StudyPane(Container):
    """Search and sensitivity under one row of names."""

    DEFAULT_CSS = """
    StudyPane { height: 1fr; }
    StudyPane #study-names { height: 1; }
    StudyPane #study-sections { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"section('{name}')", title, id=f"study.{name}") for key, name, title in SECTIONS
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = State()
        self.foot = "study"
        """Name of the keys at the foot."""

    def compose(self) -> ComposeResult:
        """Names over the section in front."""
        yield Lines([Line()], id="study-names")
        with ContentSwitcher(initial="search", id="study-sections"):
            yield SearchPane(id="search")
            yield SensitivityPane(id="sensitivity")

    @property
    def section(self) -> SearchPane | SensitivityPane:
        """The section in front."""
        if self.query_one("#study-sections", ContentSwitcher).current == "sensitivity":
            return self.query_one(SensitivityPane)
        return self.query_one(SearchPane)

    def show(self, state: State) -> None:
        """Draw a state in the section in front."""
        self.state = state
        front = self.section.id
        parts: list[tuple[str, str]] = [(" ", "plain")]
        for key, name, title in SECTIONS:
            told = f"[{key} {title}] " if name == front else f" {key} {title}  "
            parts.append((told, "head" if name == front else "dim"))
        self.query_one("#study-names", Lines).show([Line(tuple(parts))])
        self.section.show(state)

    def action_section(self, name: str) -> None:
        """Bring a section to the front."""
        self.query_one("#study-sections", ContentSwitcher).current = name
        self.foot = "study" if name == "search" else name
        shell(self.app).draw_pane()
        self.front()
        self.call_after_refresh(self.section.show, self.state)

    def front(self) -> None:
        """The list of the section in front takes the focus."""
        self.section.view.focus()

    def text(self) -> str:
        """What the section in front shows."""
        return "\n".join(line.text.rstrip() for line in self.section.view.lines)
