"""What screens of studies ask of the program: a plan taken from a search, a derivation in another plan, a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from planner.errors import PlannerError
from planner.tui.draft import all_kept, draft_of, kept
from planner.tui.failing import brief
from planner.tui.screens import HERE

if TYPE_CHECKING:
    from planner.evaluate import Evaluation
    from planner.tui.app import PlannerApp
    from planner.tui.screen_compare import ComparePane
    from planner.tui.screen_network import NetworkPane
    from planner.tui.screen_search import SearchPane
    from planner.tui.screen_sensitivity import SensitivityPane


class Studying(App[int]):
    """Part of `PlannerApp`: what comes from the screens of `planner.tui.screens`."""

    @property
    def _plan_shell(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def on_search_pane_takes(self, event: SearchPane.Takes) -> None:
        """Write a plan that a search found into the scenario, as one edit that can be undone."""
        app = self._plan_shell
        draft = app.state.draft
        if draft is None or app.refuses_edits():
            return
        app.keep(event.path, dict(event.plan))
        app.say("the plan stands in the scenario now (1); u undoes")

    def on_sensitivity_pane_explains(self, event: SensitivityPane.Explains) -> None:
        """Open the derivation of an input."""
        self.explain_in(event.evaluation, event.key)

    def on_compare_pane_explains(self, event: ComparePane.Explains) -> None:
        """Open the derivation of a number in the column it stands in."""
        self.explain_in(event.evaluation, event.key)

    def on_compare_pane_takes(self, event: ComparePane.Takes) -> None:
        """Make a column's text the plan's, as one edit that can be undone."""
        app = self._plan_shell
        draft = app.state.draft
        if draft is None or event.text == draft.text:
            app.bell()
            return
        if app.refuses_edits():
            return
        try:
            found = draft_of(event.text, draft.path, saved=draft.saved, new=draft.new)
        except PlannerError as error:  # its base may lie in another folder
            app.say(f"! {brief(error)}")
            return
        app.step(found, (), f"took {event.name}", "", "")
        app.say(f"the plan is {event.name} now; u undoes")

    def on_network_pane_takes(self, event: NetworkPane.Takes) -> None:
        """Make the edits of an offer, as one step that can be undone."""
        app = self._plan_shell
        draft = app.state.draft
        if draft is None:
            return
        try:
            found = all_kept(draft, event.edits)
        except PlannerError as error:
            app.say(f"! {brief(error)}")
            return
        app.step(found, event.edits[0][0], event.name, "", "")

    def explain_in(self, evaluation: Evaluation, key: str) -> None:
        """The tree of one key in any evaluation; fields of the open plan alone can be edited from it."""
        from planner.tui.why import Why

        app = self._plan_shell
        last = app.state.last
        if len(app.screen_stack) > 1 or key not in evaluation.ledger:
            app.bell()
            return
        mine = last is not None and last.evaluation is evaluation
        app.push_screen(Why(evaluation, key, app.is_field if mine else _nothing), app.edit_found)

    def action_compare_this(self) -> None:
        """Put the plan as it stands into Compare, beside the one that goes on being edited."""
        app = self._plan_shell
        if app.state.draft is None or len(app.screen_stack) > 1:
            app.bell()
            return
        self._beside = (*self.beside, HERE)
        app.show_pane("compare")

    @property
    def beside(self) -> tuple[str, ...]:
        """What waits to be set beside the plan, by the names of `ComparePane.put_in`."""
        return getattr(self, "_beside", ())

    def taken_beside(self) -> tuple[str, ...]:
        """The same, once."""
        found, self._beside = self.beside, ()
        return found

    def on_calibration_pane_uses(self, event: Any) -> None:
        """Put a profile that was fitted here before those that ship, for this plan."""
        app = self._plan_shell
        draft = app.state.draft
        if draft is None or app.refuses_edits():
            return
        app.add_folder(event.path)
        now = draft.value(("calibration",))
        listed = [one for one in (now if isinstance(now, list) else []) if one != event.path.stem]
        app.step(
            kept(draft, ("calibration",), [event.path.stem, *listed]),
            ("calibration",),
            "calibration",
            "",
            event.path.stem,
        )


def _nothing(where: str) -> bool:
    return False
