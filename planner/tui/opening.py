"""Opening, saving, recovering and leaving: nothing that isn't saved is lost silently."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import App

from planner.documents import is_file
from planner.errors import PlannerError, ScenarioError
from planner.tui.draft import Draft, draft_of, is_shipped, open_draft, read_text, titled
from planner.tui.failing import brief
from planner.tui.files import Unsaved, real, save_text
from planner.tui.overlay import Ask, Prompt
from planner.tui.panes import ExportPane
from planner.tui.state import State
from planner.tui.timeline import Step, Timeline

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp


class Opening(App[int]):
    """Part of `PlannerApp`: files."""

    @property
    def _host(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def start(self) -> None:
        """Open what the command named, or show what can be opened."""
        if self._host.scenario is None:
            self._host.show_start()
        else:
            self.open(self._host.scenario)

    def open(self, name: str) -> None:
        """Open a file or a shipped scenario; says what is wrong where that fails."""
        try:
            draft = open_draft(name)
        except PlannerError as error:
            self._host.show_start([str(problem) for problem in error.problems])
            return
        self.begin(draft)

    def begin(self, draft: Draft, *, recovered: Unsaved | None = None) -> None:
        """Put a plan on the screen, as opened or with edits that were recovered."""
        app = self._host
        timeline = Timeline(draft.saved if recovered is not None and not draft.new else draft.text)
        if recovered is not None:
            timeline = timeline.with_step(
                Step(app.clock(), (), f"restored unsaved edits of {recovered.time}", "", "", draft.text)
            )
        asked = app.state.asked
        app.state = State(asked=asked)
        app.show_pane("start")
        app.put(State(draft=draft, timeline=timeline, asked=asked))
        app.show_pane("plan")
        app.ask(app.state)
        if not draft.new and not draft.shipped and not app.read_only:
            app.shelf.opened(draft.path)
        if app.read_only:
            return
        app.shelf.tidy(draft.path)
        if recovered is None:
            kept = [one for one in app.shelf.kept(draft.path) if one.text != draft.text]
            found = sorted(kept, key=lambda one: bool(one.held))
            if found:
                app.call_after_refresh(self._offer, found[0])
        else:
            app.guard()

    def _offer(self, unsaved: Unsaved) -> None:
        app = self._host
        note = f"An earlier session left unsaved edits of {unsaved.path.name}, made at {unsaved.time}."
        answers = [("restore", "restore them"), ("later", "not now, keep them")]
        if unsaved.held:
            note += f" Another planner may have it open (process {unsaved.held} still runs)."
            answers.reverse()
        else:
            answers.append(("drop", "throw them away"))
        app.push_screen(Ask("unsaved edits", answers, note=note), partial(self._offered, unsaved))

    def _offered(self, unsaved: Unsaved, chosen: str | None) -> None:
        if chosen == "restore":
            self.recover(unsaved)
        elif chosen == "drop":
            self._host.shelf.drop(unsaved)

    def recover(self, unsaved: Unsaved) -> None:
        """Open a plan with edits that were never saved."""
        app = self._host
        if app.refuses_edits():  # they stay where they are: nothing would be written in their place
            return
        new = not is_file(unsaved.path) and not is_shipped(unsaved.path)
        try:
            saved = unsaved.base if new else read_text(unsaved.path)
            draft = draft_of(unsaved.text, unsaved.path, saved=saved, new=new)
        except PlannerError as error:
            self._host.show_start([str(problem) for problem in error.problems])
            return
        self.begin(draft, recovered=unsaved)
        if not unsaved.held:
            app.shelf.drop(unsaved)
        app.guard()

    def action_open_other(self) -> None:
        """Back to the start screen, once what isn't saved is settled."""
        self._end_typing()
        self._settled(self._leave_plan)

    def _leave_plan(self) -> None:
        app = self._host
        app.state = State(asked=app.state.asked + 1)
        self._host.show_start()

    # Saving

    def action_save(self) -> None:
        """Save; a shipped scenario and a new plan ask for a name, a file changed meanwhile asks what to do."""
        self._end_typing()
        self._save(None)

    def _end_typing(self) -> None:
        """What is being typed is kept, so that it is neither lost nor left out of the file."""
        app = self._host
        if app.typing:
            found = app.plan.take()
            if found is not None:
                app.keep(*found)
            else:
                app.ask(replace(app.state, previewed=None))

    def _save(self, then: Callable[[], None] | None) -> None:
        app, draft = self._host, self._host.state.draft
        if draft is None or len(app.screen_stack) > 1 or app.refuses_edits():
            return
        if draft.shipped or draft.new:
            self._ask_name(then)
            return
        if not draft.dirty and is_file(draft.path):
            app.say("nothing to save")
            if then is not None:
                then()
            return
        try:
            on_disk: str | None = read_text(draft.path) if is_file(draft.path) else None
        except ScenarioError:
            on_disk = ""
        if on_disk is not None and on_disk not in (draft.saved, draft.text):
            answers = [
                ("reload", "take what is on disk (u brings your edits back)"),
                ("overwrite", "write over it with what is here"),
                ("as", "save this under another name"),
                ("diff", "show the differences"),
            ]
            app.ask_about_disk(draft, on_disk, answers, partial(self._clash, then))
            return
        self._write(draft, draft.path, then)

    def _clash(self, then: Callable[[], None] | None, chosen: str | None) -> None:
        app, draft = self._host, self._host.state.draft
        if draft is None:
            return
        if chosen == "overwrite":
            self._write(draft, draft.path, then)
        elif chosen == "as":
            self._ask_name(then)
        elif chosen == "reload":
            app.reload()

    def action_save_as(self) -> None:
        """Save under another name."""
        self._end_typing()
        app = self._host
        if app.state.draft is not None and len(app.screen_stack) == 1 and not app.refuses_edits():
            self._ask_name(None)

    def _ask_name(self, then: Callable[[], None] | None) -> None:
        app, draft = self._host, self._host.state.draft
        assert draft is not None
        proposed = f"{draft.path.stem}.yaml" if draft.shipped else str(draft.path)
        note = "A scenario that ships stays as it is: save under a name of your own." if draft.shipped else ""
        app.push_screen(Prompt("save as", proposed, note=note), partial(self._named, then))

    def _named(self, then: Callable[[], None] | None, name: str | None) -> None:
        app, draft = self._host, self._host.state.draft
        if name is None or draft is None:
            return
        path = Path(name).expanduser()
        if path.suffix not in (".yaml", ".yml"):
            path = path.with_name(f"{path.name}.yaml")
        if is_shipped(path):
            app.say("! a scenario that ships stays as it is; choose another folder")
        elif os.path.lexists(path) and real(path) != real(draft.path):
            ask = Ask(
                "the file exists", [("yes", f"write over {path.name}"), ("no", "don't")], note=str(path)
            )
            app.push_screen(
                ask, lambda chosen: self._ask_title(draft, path, then) if chosen == "yes" else None
            )
        else:
            self._ask_title(draft, path, then)

    def _ask_title(self, draft: Draft, path: Path, then: Callable[[], None] | None) -> None:
        """A copy that still has the title of what it was copied from is asked for its own."""
        name = draft.value(("name",))
        copied = not draft.new and real(path) != real(draft.path)
        if not copied or not isinstance(name, str):
            self._write(draft, path, then)
        elif name != _name_of(draft):
            self._titled(draft, path, then, name)
        else:
            note = f"The plan is still called as the one in {draft.path.name}; reports show this title."
            self._host.push_screen(
                Prompt("title of the plan", name, note=note), partial(self._titled, draft, path, then)
            )

    def _titled(self, draft: Draft, path: Path, then: Callable[[], None] | None, title: str | None) -> None:
        app = self._host
        if title is None:
            app.say("not saved")
            return
        try:
            found = titled(draft, title)
        except (ScenarioError, ValueError) as error:
            app.say(f"! not saved: {error}")
            return
        self._write(found, path, then)

    def _write(self, draft: Draft, path: Path, then: Callable[[], None] | None) -> None:
        app = self._host
        moved = real(path) != real(draft.path)
        try:
            saved = _as_saved(draft, path, moved)
            save_text(path, draft.text)
        except ScenarioError as error:
            app.say(f"! not saved: {brief(error)}")
            return
        app.shelf.forget(draft.path)
        app.shelf.opened(path)
        wrong = f", with {len(saved.problems)} problem(s) still in it" if saved.problems else ""
        timeline = app.state.timeline
        if app.state.draft is not None and draft.text != app.state.draft.text:
            step = Step(app.clock(), (), f"saved as {path.name}, with its own title", "", "", draft.text)
            timeline = timeline.with_step(step)
        app.put(replace(app.state, draft=saved, timeline=timeline, said=f"saved {path.name}{wrong}"))
        if moved:
            app.ask(app.state)
        if then is not None:
            then()

    # Leaving

    def action_leave(self) -> None:
        """Quit; asks when something isn't saved."""
        self._end_typing()
        self._settled(self._go)

    async def action_quit(self) -> None:
        """Quit; asks when something isn't saved."""
        self.action_leave()

    def _go(self) -> None:
        self._host.exit(0)

    def _settled(self, then: Callable[[], None]) -> None:
        app, draft = self._host, self._host.state.draft
        if draft is None or not draft.dirty or app.read_only:
            then()
            return
        if len(app.screen_stack) > 1:
            if isinstance(app.screen, Ask):
                return
            app.bell()
            return
        answers = [
            ("save", "save and leave"),
            ("discard", "leave, and throw the edits away"),
            ("stay", "stay"),
        ]
        note = f"{draft.path.name} has edits that aren't saved."
        app.push_screen(Ask("not saved", answers, note=note), partial(self._settle, then))

    def _settle(self, then: Callable[[], None], chosen: str | None) -> None:
        app, draft = self._host, self._host.state.draft
        if chosen == "save":
            self._save(then)
        elif chosen == "discard" and draft is not None:
            app.shelf.forget(draft.path)
            then()

    @on(ExportPane.AsksFolder)
    def _folder_wanted(self) -> None:
        pane = self._host.query_one("#export", ExportPane)
        self._host.push_screen(Prompt("folder for the reports", pane.folder), self._folder_given)

    def _folder_given(self, folder: str | None) -> None:
        if folder:
            pane = self._host.screen_stack[0].query_one("#export", ExportPane)
            pane.folder = folder
            pane.fill()


def _as_saved(draft: Draft, path: Path, moved: bool) -> Draft:
    """The draft once it is written; a base that was broken meanwhile keeps nobody from saving where the plan lies.

    Raises:
        ScenarioError: Its bases can't be read from another folder.
    """
    try:
        return draft_of(draft.text, path)
    except ScenarioError:
        if moved:
            raise
        return replace(draft, saved=draft.text, new=False)


def _name_of(draft: Draft) -> object:
    """Title of the plan as it was opened."""
    try:
        return draft_of(draft.saved, draft.path).value(("name",))
    except ScenarioError:
        return None
