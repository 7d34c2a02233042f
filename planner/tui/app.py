"""The program: one screen with the bar on top; it holds the state, and every change goes through it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import ContentSwitcher

from planner.catalog.index import CatalogIndex
from planner.documents import Path_
from planner.errors import ScenarioError
from planner.tui.asking import Asking
from planner.tui.bar import OutcomesBar
from planner.tui.browse import CatalogPane
from planner.tui.commands import Commands
from planner.tui.draft import Draft, retexted
from planner.tui.editing import Editing
from planner.tui.effects import Known
from planner.tui.evaluating import Evaluate
from planner.tui.failing import Failing, brief
from planner.tui.files import Shelf, is_folder, real, state_folder
from planner.tui.filling import Filling
from planner.tui.foldering import Foldering
from planner.tui.footers import footer
from planner.tui.guiding import Guiding
from planner.tui.keeping import Keeping
from planner.tui.keymap import BINDINGS, OWN_THEMES, SCREENS
from planner.tui.lines import Line, Lines, plain
from planner.tui.looking import Looking
from planner.tui.opening import Opening
from planner.tui.overlay import Overlay
from planner.tui.panes import ExportPane, SectionPane, WherePane
from planner.tui.plan import PlanPane
from planner.tui.remembered import EVERY_S, forget_drawn
from planner.tui.screen_network import NetworkPane
from planner.tui.screens import DEFERRED, EXTRA, Deferred, tab_names
from planner.tui.start import StartPane
from planner.tui.state import Stand, State
from planner.tui.studying import Studying
from planner.tui.timeline import Step, Timeline
from planner.tui.watching import Watching
from planner.tui.weighing import Weighing
from planner.tui.writing import Writing

if TYPE_CHECKING:
    from planner.catalog.store import Catalog


class PlannerApp(
    Asking,
    Commands,
    Editing,
    Failing,
    Filling,
    Foldering,
    Guiding,
    Keeping,
    Looking,
    Opening,
    Studying,
    Watching,
    Weighing,
    Writing,
):
    """Edits one plan and shows what it comes to.

    Args:
        scenario: File or shipped name to open; a folder, or None for the current one, shows what can be opened.
        catalog_folders: Overlays of the catalog.
        evaluate: Stands in for the evaluation, in tests.
        shelf: Where recovery files go; the user's state folder by default.
        clock: Time of day as shown in the history.
        read_only: Whether nothing can be edited or written.
        keymap: Keys by action, in place of the default ones.
    """

    TITLE = "cluster-planner"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = list(BINDINGS)
    CSS = """
    #tabs { height: 1; background: $panel; }
    #panes { height: 1fr; }
    #foot { height: 1; background: $panel; }
    """

    def __init__(
        self,
        scenario: str | None = None,
        catalog_folders: Sequence[Path] = (),
        *,
        evaluate: Evaluate | None = None,
        shelf: Shelf | None = None,
        clock: Callable[[], str] | None = None,
        read_only: bool = False,
        keymap: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        folder = Path(scenario) if scenario is not None and is_folder(Path(scenario)) else None
        self.folder = real(folder or Path())
        self.scenario = None if folder is not None else scenario
        self.read_only = read_only
        self.keymap = dict(keymap or {})
        self.folders = tuple(catalog_folders)
        self.evaluate = evaluate
        self.shelf = shelf or Shelf(state_folder())
        self.clock = clock or (lambda: datetime.now().strftime("%H:%M:%S"))
        self.state = State()
        self.index: CatalogIndex | None = None
        self.known = Known()
        self._catalog: Catalog | None = None
        self._catalog_lock = threading.Lock()
        for theme in OWN_THEMES:
            self.register_theme(theme)
        self.set_keymap(self.keymap)

    def compose(self) -> ComposeResult:
        """Bar, tabs, one pane at a time, keys."""
        yield OutcomesBar(id="bar")
        yield Lines([Line()], id="tabs")
        with ContentSwitcher(initial="start", id="panes"):
            yield StartPane(id="start")
            yield PlanPane(id="plan")
            yield WherePane([("time", "time"), ("power", "power"), ("money", "money")], id="where")
            yield NetworkPane(id="network")
            yield CatalogPane(id="catalog")
            yield ExportPane(id="export")
            for one in EXTRA:
                yield Deferred(one)
        yield Lines([Line()], id="foot")

    def on_mount(self) -> None:
        """Open what was asked for; the catalog's list is read behind the first frame."""
        self.listen_for_signals()
        self.set_interval(1.0, self.each_second)
        self.set_interval(EVERY_S, forget_drawn)
        self.start()
        self.call_after_refresh(self.read_index)

    # What is on the screen

    @property
    def pane(self) -> str:
        """Id of the pane in front; the first one as the program begins or ends."""
        base = self.screen_stack[0] if self.screen_stack else None
        panes = base.query("#panes").results(ContentSwitcher) if base is not None else ()
        return next((one.current for one in panes if one.current), "start")

    @property
    def plan(self) -> PlanPane:
        """Screen 1."""
        return self.query_one("#plan", PlanPane)

    @property
    def typing(self) -> bool:
        """Whether a field is being typed into; not as the program begins or ends, when screen 1 isn't there."""
        panes = self.screen_stack[0].query("#plan").results(PlanPane) if self.screen_stack else ()
        return any(pane.typing for pane in panes)

    def put(self, state: State) -> None:
        """Take a state and draw it."""
        self.state = state
        if not self.screen_stack or not self.screen_stack[0].query("#panes"):  # as the program begins or ends
            return
        base = self.screen_stack[0]
        base.query_one("#bar", OutcomesBar).show(state)
        self.draw_pane()

    def draw_pane(self) -> None:
        """Draw the pane in front, its tab and its keys."""
        base = self.screen_stack[0]
        pane = base.query_one("#panes", ContentSwitcher).current or "start"
        if pane == "plan":
            base.query_one("#plan", PlanPane).show(self.state, self.index)
        elif pane in ("where", "network"):
            base.query_one(f"#{pane}", SectionPane).show(self.state)
        elif pane == "export":
            base.query_one("#export", ExportPane).show(self.state)
        elif pane == "catalog":
            base.query_one("#catalog", CatalogPane).show(self.state)
        elif pane in DEFERRED:
            base.query_one(f"#{pane}", Deferred).show(self.state)
        typing = pane == "plan" and base.query_one("#plan", PlanPane).typing
        front = base.query_one(f"#{pane}", Deferred).foot if pane in DEFERRED else pane
        shown = "remedy" if self.state.applying else "typing" if typing else front
        base.query_one("#foot", Lines).show([plain(f" {footer(shown, self.keymap, self.size.width)}", "dim")])
        parts = [
            (told, "head" if front else "dim") for told, front in tab_names(SCREENS, pane, self.size.width)
        ]
        base.query_one("#tabs", Lines).show([Line(tuple(parts))])

    def on_key(self, event: events.Key) -> None:
        """Keys that were on their way when a box opened are typed into it, and do nothing else."""
        if not self.screen_stack or not self.screen_stack[0].query("#plan"):  # as the program begins or ends
            return
        if len(self.screen_stack) == 1:
            if self.typing and (event.is_printable or event.key in ("enter", "escape")):
                event.prevent_default()
                self.plan.late_key(event)
        elif isinstance(self.screen, Overlay) and self.screen.late_key(event):
            event.prevent_default()

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front."""
        if self.state.draft is None and name in ("plan", "where", "network", "export", *DEFERRED):
            self.say("open a plan first")
            return
        base = self.screen_stack[0]
        base.query_one("#panes", ContentSwitcher).current = name
        if name == "export":
            base.query_one("#export", ExportPane).arrive(self.state)
        self.draw_pane()
        focus = {
            "start": "#start-lines", "plan": "#grid", "where": "#where-lines", "network": "#network-lines",
            "catalog": "#catalog-list", "export": "#export-lines",
        }  # fmt: skip
        if name in DEFERRED:
            base.query_one(f"#{name}", Deferred).front()
        else:
            base.query_one(focus[name]).focus()
        self.call_after_refresh(self.draw_pane)

    def say(self, text: str) -> None:
        """Say something in the sentence row until the next change."""
        self.put(replace(self.state, said=text))

    # The catalog

    def catalog(self) -> Catalog:
        """The catalog, opened once; safe from any thread."""
        from planner.catalog.store import open_catalog

        with self._catalog_lock:
            if self._catalog is None:
                self._catalog = open_catalog(self.folders)
            return self._catalog

    def add_folder(self, path: Path) -> None:
        """Look parts up in one more folder or file, before all others; the catalog is opened anew."""
        with self._catalog_lock:
            self.folders = (*self.folders, path)
            self._catalog = None
        self.known.clear()

    # Steps

    def step(self, draft: Draft, path: Path_, label: str, old: str, new: str) -> None:
        """Take an edit into the history, keep it safe on disk, and evaluate it."""
        if self.refuses_edits():
            return
        if self.state.draft is not None and draft.text == self.state.draft.text:
            self.change(draft)
            return
        one = Step(self.clock(), path, label, old, new, draft.text)
        self.change(draft, timeline=self.state.timeline.with_step(one))
        self.guard()

    def guard(self) -> None:
        """Write unsaved edits to the recovery file, or take it away once nothing is unsaved."""
        draft = self.state.draft
        if draft is None or self.read_only:
            return
        if not draft.dirty:
            self.shelf.forget(draft.path)
        elif not self.shelf.keep(draft.path, draft.text, draft.saved, self.clock()):
            self.say("unsaved edits can't be kept safe: the state folder can't be written; save soon")

    def go_to(self, timeline: Timeline | None) -> None:
        """Undo, redo or jump: the text that was in force then."""
        draft = self.state.draft
        if timeline is None or draft is None:
            self.bell()
            return
        try:
            found = retexted(draft, timeline.text)
        except ScenarioError as error:  # a base was broken meanwhile
            self.say(f"! {brief(error)}")
            return
        self.change(found, timeline=timeline)
        self.guard()

    # Actions that only choose what is in front

    def action_digit(self, digit: int) -> None:
        """A screen, or after x a remedy."""
        if self.state.applying:
            self.put(replace(self.state, applying=False))
            self.apply_remedy(digit)
            return
        name = next((pane for key, pane, _ in SCREENS if key == str(digit)), None)
        if name is not None:
            self.show_pane(name)

    def action_export(self) -> None:
        """To the export screen."""
        self.show_pane("export")

    def action_one_back(self) -> None:
        """Escape: leave what was begun, or go back to the plan."""
        if self.state.applying:
            self.put(replace(self.state, applying=False))
        elif self.typing:
            self.plan.drop()
        elif self.state.draft is not None and self.pane != "plan":
            self.show_pane("plan")
        elif self.state.said:
            self.say("")
        elif self.state.guided:
            self.put(replace(self.state, guided=False))

    @property
    def stand(self) -> Stand:
        """How the values on the screen stand to the plan."""
        return self.state.stand
