"""The program: one screen with the bar on top; it holds the state, and every change goes through it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import ContentSwitcher
from textual.worker import get_current_worker

from planner.catalog.index import CatalogIndex, catalog_index
from planner.documents import Path_
from planner.errors import PlannerError
from planner.tui.bar import OutcomesBar
from planner.tui.browse import CatalogPane
from planner.tui.draft import Draft, retexted
from planner.tui.editing import Editing
from planner.tui.evaluating import Answer, Evaluate, Question, answer, refined
from planner.tui.exporting import export
from planner.tui.files import Shelf, state_folder
from planner.tui.keymap import BINDINGS, FOOTERS, HIGH_CONTRAST, LATER, SCREENS, THEMES
from planner.tui.lines import Line, Lines, plain
from planner.tui.looking import Looking
from planner.tui.opening import Opening
from planner.tui.overlay import Overlay
from planner.tui.panes import ExportPane, SectionPane, StartPane, WherePane
from planner.tui.plan import PlanPane
from planner.tui.state import Stand, State, taken
from planner.tui.timeline import Step, Timeline

if TYPE_CHECKING:
    from planner.catalog.store import Catalog

LATE_S = 0.15
"""From here on a person notices waiting, and the bar says that it isn't current."""
PAUSE_S = 0.12
"""Pause before a preview where evaluating takes longer than `QUICK_S`, so that 4, 40, 409 aren't all tried."""
QUICK_S = 0.02


class PlannerApp(Editing, Looking, Opening):
    """Edits one plan and shows what it comes to.

    Args:
        scenario: File or shipped name to open; None shows what can be opened.
        catalog_folders: Overlays of the catalog.
        evaluate: Stands in for the evaluation, in tests.
        shelf: Where recovery files go; the user's state folder by default.
        clock: Time of day as shown in the history.
    """

    TITLE = "cluster-planner"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = list(BINDINGS)
    CSS = """
    #tabs { height: 1; background: $panel; }
    #panes { height: 1fr; }
    #foot { height: 1; background: $panel; }
    """

    class Answered(Message):
        """An evaluation is done."""

        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    class Indexed(Message):
        """The catalog's list is read."""

        def __init__(self, index: CatalogIndex) -> None:
            super().__init__()
            self.index = index

    class Wrote(Message):
        """A report file was written, or couldn't be; the last one says so."""

        def __init__(self, said: str, bad: bool, last: bool) -> None:
            super().__init__()
            self.said, self.bad, self.last = said, bad, last

    def __init__(
        self,
        scenario: str | None = None,
        catalog_folders: Sequence[Path] = (),
        *,
        evaluate: Evaluate | None = None,
        shelf: Shelf | None = None,
        clock: Callable[[], str] | None = None,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.scenario = scenario
        self.folders = tuple(catalog_folders)
        self.evaluate = evaluate
        self.shelf = shelf or Shelf(state_folder())
        self.clock = clock or (lambda: datetime.now().strftime("%H:%M:%S"))
        self.state = State()
        self.index: CatalogIndex | None = None
        self.applying = False
        self._catalog: Catalog | None = None
        self._catalog_lock = threading.Lock()
        self._pause: Timer | None = None
        self._late: Timer | None = None
        self.register_theme(HIGH_CONTRAST)

    def compose(self) -> ComposeResult:
        """Bar, tabs, one pane at a time, keys."""
        yield OutcomesBar(id="bar")
        yield Lines([Line()], id="tabs")
        with ContentSwitcher(initial="start", id="panes"):
            yield StartPane(id="start")
            yield PlanPane(id="plan")
            yield WherePane([("time", "time"), ("power", "power"), ("money", "money")], id="where")
            yield SectionPane([("network", "network")], id="network")
            yield CatalogPane(id="catalog")
            yield ExportPane(id="export")
        yield Lines([Line()], id="foot")

    def on_mount(self) -> None:
        """Open what was asked for; the catalog's list is read behind the first frame."""
        self.set_interval(1.0, self._count)
        self.start()
        self.call_after_refresh(self._read_index)

    # What is on the screen

    @property
    def pane(self) -> str:
        """Id of the pane in front."""
        return self.query_one("#panes", ContentSwitcher).current or "start"

    @property
    def plan(self) -> PlanPane:
        """Screen 1."""
        return self.query_one("#plan", PlanPane)

    def put(self, state: State) -> None:
        """Take a state and draw it."""
        self.state = state
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
        typing = pane == "plan" and base.query_one("#plan", PlanPane).typing
        base.query_one("#foot", Lines).show(
            [plain(f" {FOOTERS['remedy' if self.applying else 'typing' if typing else pane]}", "dim")]
        )
        parts: list[tuple[str, str]] = []
        for digit, name, title in SCREENS:
            front, gap = name == pane, "  " if parts else ""
            told = f"[{digit} {title}]" if front else f"{digit} {title}"
            parts.append((f"{gap}{told}", "head" if front else "dim"))
        base.query_one("#tabs", Lines).show([Line(tuple(parts))])

    def on_key(self, event: events.Key) -> None:
        """Keys that were on their way when a box opened are typed into it, and do nothing else."""
        if len(self.screen_stack) == 1:
            if self.plan.typing and (event.is_printable or event.key in ("enter", "escape")):
                event.prevent_default()
                self.plan.late_key(event)
        elif isinstance(self.screen, Overlay) and self.screen.late_key(event):
            event.prevent_default()

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front."""
        if self.state.draft is None and name in ("plan", "where", "network", "export"):
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
        base.query_one(focus[name]).focus()
        self.call_after_refresh(self.draw_pane)

    def say(self, text: str) -> None:
        """Say something in the sentence row until the next change."""
        self.put(replace(self.state, said=text))

    # Evaluating

    def catalog(self) -> Catalog:
        """The catalog, opened once; safe from any thread."""
        from planner.catalog.store import open_catalog

        with self._catalog_lock:
            if self._catalog is None:
                self._catalog = open_catalog(self.folders)
            return self._catalog

    def change(self, draft: Draft, *, timeline: Timeline | None = None, preview: bool = False) -> None:
        """Take a changed plan and evaluate it."""
        state = replace(self.state, said="", timeline=timeline or self.state.timeline)
        state = replace(state, previewed=draft) if preview else replace(state, draft=draft, previewed=None)
        self.ask(state, preview=preview)

    def ask(self, state: State, *, preview: bool = False) -> None:
        """Put a question for the plan that is shown; answers to earlier ones are dropped from here on."""
        state = replace(state, asked=state.asked + 1, late=False, waited=0.0)
        draft = state.shown
        self.put(state)
        if self._pause is not None:
            self._pause.stop()
        if draft is None or draft.loaded is None:
            return
        whole = self.pane in ("where", "network")
        question = Question(state.asked, draft.loaded, whole, draft.text, preview)
        slow = state.answer is not None and state.answer.seconds > QUICK_S
        if preview and slow:
            self._pause = self.set_timer(PAUSE_S, partial(self._start, question))
        else:
            self._start(question)

    def _start(self, question: Question) -> None:
        if question.number != self.state.asked:
            return
        self.run_worker(partial(self._evaluate, question), thread=True, exclusive=True, group="evaluate")
        if self._late is not None:
            self._late.stop()
        self._late = self.set_timer(LATE_S, self._is_late)

    def _evaluate(self, question: Question) -> None:
        worker = get_current_worker()
        found = answer(question, self.catalog, evaluate=self.evaluate, cancelled=lambda: worker.is_cancelled)
        if found is None or worker.is_cancelled:
            return
        self.post_message(self.Answered(found))
        ranged = None if question.preview else refined(found, cancelled=lambda: worker.is_cancelled)
        if ranged is not None and not worker.is_cancelled:
            self.post_message(self.Answered(ranged))

    def _is_late(self) -> None:
        if self.state.awaiting and self.state.draft is not None:
            self.put(replace(self.state, late=True, waited=self.state.waited or LATE_S))

    def _count(self) -> None:
        if self.state.late and self.state.awaiting:
            self.put(replace(self.state, waited=self.state.waited + 1.0))

    def on_planner_app_answered(self, event: Answered) -> None:
        """Draw an answer, unless a later question is out."""
        if event.answer.question.number != self.state.asked:
            return
        state = taken(self.state, event.answer)
        if event.answer.fault:
            state = replace(state, fault_file=self.shelf.fault(event.answer.fault, self.clock()))
        self.put(state)

    @on(SectionPane.Asks)
    def _whole_wanted(self) -> None:
        last = self.state.answer
        if not self.state.awaiting and last is not None and last.good and last.view is None:
            self.ask(self.state)

    def _read_index(self) -> None:
        self.run_worker(self._indexed, thread=True, group="index")

    def _indexed(self) -> None:
        try:
            self.post_message(self.Indexed(catalog_index(self.catalog())))
        except PlannerError as error:
            self.call_from_thread(self.say, str(error.problems[0]))

    def on_planner_app_indexed(self, event: Indexed) -> None:
        """Letters, pickers and the catalog's screen have their list."""
        self.index = event.index
        self.told_index(event.index)
        self.screen_stack[0].query_one("#catalog", CatalogPane).show_catalog(event.index, self.catalog())
        self.draw_pane()

    # Export

    @on(ExportPane.Starts)
    def _export(self, event: ExportPane.Starts) -> None:
        draft = self.state.draft
        if draft is None:
            return
        self.query_one("#export", ExportPane).began()
        job = partial(self._exported, draft.text, draft.path, event.formats, Path(event.folder).expanduser())
        self.run_worker(job, thread=True, exclusive=True, group="export")

    def _exported(self, text: str, path: Path, formats: tuple[str, ...], folder: Path) -> None:
        import traceback

        try:
            for said, bad in export(text, path, formats, folder, catalog=self.folders):
                self.post_message(self.Wrote(said, bad, False))
            self.post_message(self.Wrote("done", False, True))
        except Exception:  # a fault in a presenter must not take the edits with it
            file = self.shelf.fault(traceback.format_exc(), self.clock())
            self.post_message(self.Wrote(f"internal error, saved to {file}", True, True))

    def on_planner_app_wrote(self, event: Wrote) -> None:
        """Tell the export screen."""
        self.screen_stack[0].query_one("#export", ExportPane).wrote(
            event.said, bad=event.bad, last=event.last
        )

    # Steps

    def step(self, draft: Draft, path: Path_, label: str, old: str, new: str) -> None:
        """Take an edit into the history, keep it safe on disk, and evaluate it."""
        if self.state.draft is not None and draft.text == self.state.draft.text:
            self.change(draft)
            return
        one = Step(self.clock(), path, label, old, new, draft.text)
        self.change(draft, timeline=self.state.timeline.with_step(one))
        self.guard()

    def guard(self) -> None:
        """Write unsaved edits to the recovery file, or take it away once nothing is unsaved."""
        draft = self.state.draft
        if draft is None:
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
        self.change(retexted(draft, timeline.text), timeline=timeline)
        self.guard()

    # Actions that only choose what is in front

    def action_digit(self, digit: int) -> None:
        """A screen, or after x a remedy."""
        if self.applying:
            self.applying = False
            self.apply_remedy(digit)
            return
        name = next((pane for key, pane, _ in SCREENS if key == str(digit)), None)
        if name is not None:
            self.show_pane(name)
        elif digit in LATER:
            self.say(f"screen {digit}, {LATER[digit]}, comes in a later version")

    def action_export(self) -> None:
        """To the export screen."""
        self.show_pane("export")

    def action_one_back(self) -> None:
        """Escape: leave what was begun, or go back to the plan."""
        if self.applying:
            self.applying = False
            self.draw_pane()
        elif self.plan.typing:
            self.plan.drop()
        elif self.state.draft is not None and self.pane != "plan":
            self.show_pane("plan")
        elif self.state.said:
            self.say("")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action by name."""
        for digit, name, title in SCREENS:
            yield SystemCommand(f"Screen {digit}: {title}", "", partial(self.show_pane, name))
        for title, action in (
            ("Undo", self.action_undo), ("Redo", self.action_redo), ("Pin this state", self.action_pin),
            ("Back to the pin", self.action_back_to_pin), ("Why this number", self.action_why),
            ("History of edits", self.action_history), ("Save", self.action_save), ("Save as", self.action_save_as),
            ("Open another plan", self.action_open_other), ("Copy", self.action_copy), ("Help", self.action_help),
            ("Quit", self.action_leave),
        ):  # fmt: skip
            yield SystemCommand(title, "", action)
        for theme in THEMES:
            yield SystemCommand(f"Theme: {theme}", "", partial(setattr, self, "theme", theme))

    @property
    def stand(self) -> Stand:
        """How the values on the screen stand to the plan."""
        return self.state.stand
