"""What goes wrong behind the screen is said there, and takes no edits with it."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import App
from textual.worker import Worker, WorkerState

from planner.catalog.schema import FAMILIES
from planner.errors import PlannerError

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp


def brief(error: PlannerError) -> str:
    """What is wrong first, as the sentence row has room for it: a file by its name, without its folders.

    >>> from planner.errors import Place, PlannerError, Problem
    >>> brief(PlannerError(Problem("can't be written", Place("/home/someone/plans/mine.yaml"))))
    "mine.yaml: can't be written"
    """
    problem = error.problems[0]
    place = problem.place
    return str(
        problem if place is None else replace(problem, place=replace(place, path=Path(place.path).name))
    )


class Failing(App[int]):
    """Part of `PlannerApp`: workers that fail, and a catalog that can't be read."""

    @property
    def _failing(self) -> PlannerApp:
        return cast("PlannerApp", self)

    @on(Worker.StateChanged)
    def _worker_failed(self, event: Worker.StateChanged) -> None:
        """Say what is wrong with the input in words; our own fault is recorded."""
        app, error = self._failing, event.worker.error
        if event.state is not WorkerState.ERROR or error is None:
            return
        if isinstance(error, PlannerError):
            app.say(f"! {brief(error)}")
        else:
            file = app.shelf.fault("".join(traceback.format_exception(error)), app.clock())
            app.say(f"✗ internal error, saved to {file}")

    def part_ids(self, family: str) -> list[str]:
        """Ids of a family's parts; says so and gives none where the catalog can't be read."""
        app = self._failing
        try:
            return list(app.catalog().ids(FAMILIES[family]))
        except PlannerError as error:
            app.say(f"! {brief(error)}")
            return []
