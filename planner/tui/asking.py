"""Questions to the planner and what comes of them: one evaluation at a time, the last question alone counts."""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import App
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from planner.catalog.index import CatalogIndex, catalog_index
from planner.errors import PlannerError
from planner.tui.browse import CatalogPane
from planner.tui.draft import Draft
from planner.tui.evaluating import ONE_AT_A_TIME, Answer, Question, answer, refined
from planner.tui.failing import brief
from planner.tui.panes import SectionPane
from planner.tui.state import Stand, State, taken
from planner.tui.timeline import Timeline

if TYPE_CHECKING:
    from planner.present.view.model import View
    from planner.tui.app import PlannerApp

LATE_S = 0.15
"""From here on a person notices waiting, and the bar says that it isn't current."""
PAUSE_S = 0.12
"""Pause before a preview where evaluating takes longer than `QUICK_S`, so that 4, 40, 409 aren't all tried."""
QUICK_S = 0.02


class Asking(App[int]):
    """Part of `PlannerApp`: evaluations and the catalog's list, both behind the screen."""

    _pause: Timer | None = None
    _late: Timer | None = None

    class Answered(Message):
        """An evaluation is done."""

        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    class Drawn(Message):
        """All sections of values that had none yet are made."""

        def __init__(self, values: Answer, view: View) -> None:
            super().__init__()
            self.values, self.view = values, view

    class Indexed(Message):
        """The catalog's list is read."""

        def __init__(self, index: CatalogIndex) -> None:
            super().__init__()
            self.index = index

    @property
    def _asker(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def change(self, draft: Draft, *, timeline: Timeline | None = None, preview: bool = False) -> None:
        """Take a changed plan and evaluate it."""
        now = self._asker.state
        state = replace(now, said="", timeline=timeline or now.timeline)
        state = replace(state, previewed=draft) if preview else replace(state, draft=draft, previewed=None)
        self.ask(state, preview=preview)

    def ask(self, state: State, *, preview: bool = False) -> None:
        """Put a question for the plan that is shown; answers to earlier ones are dropped from here on."""
        app = self._asker
        state = replace(state, asked=state.asked + 1, late=False, waited=0.0)
        draft = state.shown
        app.put(state)
        if self._pause is not None:
            self._pause.stop()
        if draft is None or draft.loaded is None:
            return
        whole = app.pane in ("where", "network")
        pinned = state.pin.evaluation if whole and state.pin is not None else None
        question = Question(state.asked, draft.loaded, whole, draft.text, preview, pinned)
        slow = state.answer is not None and state.answer.seconds > QUICK_S
        if preview and slow:
            self._pause = self.set_timer(PAUSE_S, partial(self._start, question))
        else:
            self._start(question)

    def _start(self, question: Question) -> None:
        if question.number != self._asker.state.asked:
            return
        self.run_worker(
            partial(self._evaluate, question),
            thread=True,
            exclusive=True,
            group="evaluate",
            exit_on_error=False,
        )
        if self._late is not None:
            self._late.stop()
        self._late = self.set_timer(LATE_S, self._is_late)

    def _evaluate(self, question: Question) -> None:
        app, worker = self._asker, get_current_worker()
        found = answer(question, app.catalog, evaluate=app.evaluate, cancelled=lambda: worker.is_cancelled)
        if found is None or worker.is_cancelled:
            return
        self.post_message(self.Answered(found))
        ranged = None if question.preview else refined(found, cancelled=lambda: worker.is_cancelled)
        if ranged is not None and not worker.is_cancelled:
            self.post_message(self.Answered(ranged))

    def _is_late(self) -> None:
        app = self._asker
        if app.state.awaiting and app.state.draft is not None:
            app.put(replace(app.state, late=True, waited=app.state.waited or LATE_S))

    def each_second(self) -> None:
        """Look at the disk, and count how long an answer is awaited."""
        app = self._asker
        app.mind_terminal()
        app.look_at_disk()
        if app.state.late and app.state.awaiting:
            app.put(replace(app.state, waited=app.state.waited + 1.0))

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        """Draw an answer, unless a later question is out."""
        app = self._asker
        if event.answer.question.number != app.state.asked:
            return
        state = taken(app.state, event.answer)
        if event.answer.fault:
            state = replace(state, fault_file=app.shelf.fault(event.answer.fault, app.clock()))
        app.put(state)

    @on(SectionPane.Asks)
    def _whole_wanted(self) -> None:
        state = self._asker.state
        last = state.answer  # what has no values is not asked again: it would come to the same for ever
        if not state.awaiting and last is not None and last.good and last.view is None:
            self.ask(state)
        elif last is not None and state.stand in (Stand.INVALID, Stand.FAULT):
            values = state.last  # what the bar shows still; sections of an earlier plan wouldn't fit to it
            if values is not None and values.view is None:
                self.run_worker(
                    partial(self._draw_last, values),
                    thread=True,
                    exclusive=True,
                    group="last",
                    exit_on_error=False,
                )

    def _draw_last(self, values: Answer) -> None:
        from planner.present.view.build import view

        worker = get_current_worker()
        with ONE_AT_A_TIME:
            if worker.is_cancelled or values.evaluation is None:
                return
            found = view(values.evaluation)
        self.post_message(self.Drawn(values, found))

    @on(Drawn)
    def _drawn(self, event: Drawn) -> None:
        """Sections of the last values that the plan had, unless it has others by now."""
        app = self._asker
        if app.state.last is event.values:
            app.put(replace(app.state, last=replace(event.values, view=event.view)))

    # The catalog's list

    def read_index(self) -> None:
        """Read the catalog's list in a thread."""
        self.run_worker(self._indexed, thread=True, group="index", exit_on_error=False)

    def _indexed(self) -> None:
        try:
            app = self._asker
            self.post_message(self.Indexed(catalog_index(app.catalog(), keep=not app.read_only)))
        except PlannerError as error:
            self.call_from_thread(self._asker.say, f"! {brief(error)}")

    @on(Indexed)
    def _index_read(self, event: Indexed) -> None:
        """Letters, pickers and the catalog's screen have their list."""
        app = self._asker
        app.index = event.index
        app.told_index(event.index)
        app.screen_stack[0].query_one("#catalog", CatalogPane).show_catalog(event.index, app.catalog())
        app.draw_pane()
        gc.freeze()  # what is loaded by now stays; without it each full collection costs an evaluation 50 ms
