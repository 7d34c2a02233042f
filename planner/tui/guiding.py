"""The guided start on the screen: a goal, five questions one after another with the bar above, a plan."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.app import App
from textual.worker import get_current_worker

from planner.errors import ScenarioError
from planner.study.first_plan import filled, with_switch
from planner.tui.draft import draft_of
from planner.tui.failing import brief
from planner.tui.files import save_text
from planner.tui.guide import GOALS, SWITCH, Goal, Question, data_of, files_of
from planner.tui.overlay import Choice, Overlay, Picker, Prompt
from planner.tui.parts import PartPicker
from planner.tui.state import State
from planner.tui.workspace import free_name

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp


class Guiding(App[int]):
    """Part of `PlannerApp`: questions for somebody who has no plan yet."""

    @property
    def _guided(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def guide(self) -> None:
        """Ask for the goal."""
        app = self._guided
        if app.refuses_edits():
            return
        choices = [Choice(one.id, one.title, one.told, f"{one.title} {one.told}".lower()) for one in GOALS]
        note = "What is the plan for? Five questions follow, each with an answer that can be taken as it is."
        app.push_screen(Picker("guided start", choices, note=note), self._goal_chosen)

    def _goal_chosen(self, chosen: str | None) -> None:
        goal = next((one for one in GOALS if one.id == chosen), None)
        if goal is not None:
            self._ask_question(goal, 0, {})
        elif self._guided.state.draft is None:  # what was tried so far goes with the guide
            self._guided.put(State(asked=self._guided.state.asked + 1))

    def _ask_question(self, goal: Goal, number: int, answers: dict[str, str], wrong: str = "") -> None:
        app = self._guided
        if number == len(goal.questions):
            self._finish(goal, answers)
            return
        question = goal.questions[number]
        title = f"{goal.title}: {number + 1} of {len(goal.questions)}"
        note = f"{question.text} {question.note}" + (f"\n! {wrong}" if wrong else "")
        app.push_screen(
            self._screen_of(question, title, note, answers),
            partial(self._answered_one, goal, number, answers),
        )

    def _screen_of(self, question: Question, title: str, note: str, answers: dict[str, str]) -> Overlay:
        """A list of parts to choose from, or a line to type in; it proposes what was answered, or the default."""
        app = self._guided
        now = answers.get(question.key, question.default)
        if not question.family:
            return Prompt(title, now, note=note)
        ids = app.part_ids(question.family)
        picker = PartPicker(title, ids, question.family, now, False, note=note)
        if app.index is not None:
            picker.told(app.index, app.as_of)
        return picker

    def _answered_one(self, goal: Goal, number: int, answers: dict[str, str], answer: str | None) -> None:
        question = goal.questions[number]
        if answer is None:  # escape: one question back
            if number:
                self._ask_question(goal, number - 1, answers)
            else:
                self.guide()
            return
        wrong = question.wrong(answer)
        found = answers if wrong else {**answers, question.key: answer}
        if not wrong:
            self._preview_plan(goal, found)
        self._ask_question(goal, number if wrong else number + 1, found, wrong)

    def _preview_plan(self, goal: Goal, answers: dict[str, str]) -> None:
        """Show in the bar what the answers so far come to, with the defaults of the rest."""
        app = self._guided
        files = files_of(goal, data_of(goal, answers, goal.title), answers, "plan")
        name, text = next(iter(files.items()))
        try:
            draft = draft_of(text, app.folder / name, saved="", new=True)
        except ScenarioError:
            return
        if draft.loaded is not None and goal.id != "quotes":
            app.change(draft, preview=True)

    def _finish(self, goal: Goal, answers: dict[str, str]) -> None:
        app = self._guided
        app.say(
            "finding a switch that fits, and the size …"
            if goal.id == "power"
            else "finding a switch that fits …"
        )
        app.run_worker(
            partial(self._made, goal, answers),
            thread=True,
            exclusive=True,
            group="guide",
            exit_on_error=False,
        )

    def _made(self, goal: Goal, answers: dict[str, str]) -> None:
        app, worker = self._guided, get_current_worker()
        data = with_switch(data_of(goal, answers, goal.title), app.catalog(), SWITCH)
        if goal.id == "power":
            limit = float(data["limits"]["site_mw"])
            data = filled(data, app.catalog(), limit, cancelled=lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            app.call_from_thread(self._open_made, goal, data, answers)

    def _open_made(self, goal: Goal, data: dict[str, Any], answers: dict[str, str]) -> None:
        """Open the plan; a pair for two quotes is written, since the second one extends the first."""
        app = self._guided
        folder = app.folder
        stem = Path(free_name(folder, goal.id)).stem
        files = files_of(goal, data, answers, stem)
        name = next(iter(files))
        try:
            if len(files) > 1:
                for one, text in files.items():
                    save_text(folder / one, text)
                app.begin(draft_of(files[name], folder / name))
            else:
                app.begin(draft_of(files[name], folder / name, saved="", new=True))
        except ScenarioError as error:
            app.say(f"! {brief(error)}")
            return
        app.put(replace(app.state, guided=True))
        more = f", 4 compares; written: {' and '.join(files)}" if len(files) > 1 else ", ctrl+s saves"
        app.say(f"a first plan: enter edits, e reports{more}")
