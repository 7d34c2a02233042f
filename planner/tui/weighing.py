"""Whether each part of a list fits, and what the plan would come to with it: worked out behind the open list."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.app import App
from textual.worker import Worker, get_current_worker

from planner.documents import Path_
from planner.errors import InputError
from planner.present.view.model import Headline
from planner.tui.draft import Draft, preview
from planner.tui.effects import Known, effect_of
from planner.tui.evaluating import ONE_AT_A_TIME, Evaluate
from planner.tui.parts import DEFAULT, PartPicker
from planner.tui.rows import dotted

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

IDLE_S = 0.15
"""Nothing is evaluated until so long after a key, so that typing a filter waits for nothing."""
LOOK_S = 0.03
RENTAL: Path_ = ("money", "rental")
UNRENTED = "without the offer to rent, which is of another GPU: x leaves it out once this is picked"
"""Said of a server that fits the plan but for the offer that owning it is compared with."""


class Weighing(App[int]):
    """Part of `PlannerApp`: the work behind a list of parts."""

    known: Known

    @property
    def _weigher(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def weigh(self, picker: PartPicker, path: Path_, ids: list[str]) -> None:
        """Begin; a list opened later, or this one closed, ends it."""
        app = self._weigher
        draft = app.state.draft
        if draft is None:
            return
        base = app.state.headlines if app.state.last is not None and not app.state.awaiting else ()
        if app.state.refusal or app.state.problems:
            base = ()
        picker.weighs(draft.text, base, app.known.at(path))
        job = partial(self._weigh, picker, draft, path, ids, base)
        app.run_worker(job, thread=True, exclusive=True, group="fits", exit_on_error=False)

    def _weigh(
        self, picker: PartPicker, draft: Draft, path: Path_, ids: list[str], base: tuple[Headline, ...]
    ) -> None:
        worker = get_current_worker()
        judged = self._reasons(picker, worker, draft, path, ids)
        if judged is None:
            return
        reasons, unrented = judged
        picker.post_message(picker.Judged(reasons))
        done = {one for one in ids if one in reasons}
        while not worker.is_cancelled and picker.is_attached:
            if time.monotonic() - picker.touched < IDLE_S:
                time.sleep(LOOK_S)
                continue
            part = picker.next_of(done)
            if part is None:
                picker.post_message(picker.Weighed("", None))
                return
            done.add(part)
            self._one(picker, draft, path, part, base, rented=part not in unrented)

    def _one(
        self,
        picker: PartPicker,
        draft: Draft,
        path: Path_,
        part: str,
        base: tuple[Headline, ...],
        *,
        rented: bool,
    ) -> None:
        app = self._weigher
        held = app.known.at(path).get(part)
        if held is not None and held.text == draft.text:
            held = held.against(base)  # it may have been worked out while the plan's own values were awaited
        else:
            from planner.evaluate import evaluate as real

            how: Evaluate = app.evaluate or real
            plan = draft if rented else preview(draft, RENTAL, None)
            with ONE_AT_A_TIME:
                held = effect_of(plan, path, None if part == DEFAULT else part, base, app.catalog, how)
            held = held if rented else replace(held, note=UNRENTED)
            app.known.enter(path, part, held)
        picker.post_message(picker.Weighed(part, held))

    def _reasons(
        self, picker: PartPicker, worker: Worker[object], draft: Draft, path: Path_, ids: list[str]
    ) -> tuple[dict[str, str], set[str]] | None:
        """Why some parts don't fit, and which do without the offer to rent: the plan is resolved with each, which costs little."""
        from planner.scenario.parts import resolve

        reasons: dict[str, str] = {}
        unrented: set[str] = set()
        where = dotted(path)
        for one in ids:
            if worker.is_cancelled or not picker.is_attached:
                return None
            changed = preview(draft, path, None if one == DEFAULT else one)
            own = [problem for problem in changed.problems if problem.key.startswith(where)]
            try:
                if changed.loaded is not None:
                    resolve(changed.loaded, self._weigher.catalog())
                elif own:  # what is wrong elsewhere is wrong with every part
                    reasons[one] = own[0].message
            except InputError as error:
                found = [
                    problem for problem in error.problems if path == RENTAL or problem.key != dotted(RENTAL)
                ]
                if found:
                    reasons[one] = found[0].message
                else:
                    unrented.add(one)
        return None if worker.is_cancelled else (reasons, unrented)
