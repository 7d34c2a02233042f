"""The folder of scenarios on the screen: what can be opened, new plans, copies, and removal once it is confirmed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from textual import on
from textual.app import App

from planner.errors import ScenarioError
from planner.tui.draft import draft_of, read_text
from planner.tui.failing import brief
from planner.tui.files import Unsaved, real
from planner.tui.overlay import Ask, Prompt
from planner.tui.start import StartPane
from planner.tui.workspace import copied, free_name, removed, scenarios_in, unlisted, used_by

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

NEW: Final = "plan"
"""Name of a new plan, as long as nothing is called so."""


class Foldering(App[int]):
    """Part of `PlannerApp`: the start screen."""

    @property
    def _foldered(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def show_start(self, message: list[str] | None = None) -> None:
        """List what can be opened; with a message where something couldn't be."""
        from planner.scenario.load import shipped_scenarios

        app = self._foldered
        app.put(app.state)
        app.show_pane("start")
        told = list(message or ())
        try:
            entries = scenarios_in(app.folder)
            told += unlisted(app.folder)
        except ScenarioError as error:
            entries = ()
            told += [str(problem) for problem in error.problems]
        here = {real(one.path) for one in entries}
        app.query_one("#start", StartPane).fill(
            folder=str(app.folder),
            entries=[(f"mine:{one.path}", one.path.name, one.told) for one in entries],
            unsaved=[
                (f"recover:{one.file}", one.path.name, f"of {one.time}  in {one.path.parent}{_held(one)}")
                for one in app.shelf.kept()
            ],
            recent=[
                (f"open:{path}", path.name, f"in {path.parent}")
                for path in app.shelf.recent() if real(path) not in here
            ],
            shipped=[(f"shipped:{name}", name, _first_comment(name)) for name in shipped_scenarios()],
            message=told,
        )  # fmt: skip

    @on(StartPane.Opens)
    def _chosen_to_open(self, event: StartPane.Opens) -> None:
        kind, _, name = event.key.partition(":")
        if kind == "recover":
            found = next((one for one in self._foldered.shelf.kept() if str(one.file) == name), None)
            if found is not None:
                self._foldered.recover(found)
        elif kind == "new":
            self._new()
        elif kind == "guide":
            self._foldered.guide()
        elif kind == "copy":
            self._copy_of(Path(name))
        elif kind == "delete":
            self._delete(Path(name))
        elif kind == "file":
            self._foldered.push_screen(
                Prompt("open a file", ""), lambda path: self._foldered.open(path) if path else None
            )
        else:
            self._foldered.open(name)

    def _new(self) -> None:
        from planner.scenario.template import scenario_template

        if self._foldered.refuses_edits():
            return
        text = scenario_template(schema_name="scenario.schema.json")
        path = self._foldered.folder / free_name(self._foldered.folder, NEW)
        self._foldered.begin(draft_of(text, path, saved="", new=True))

    def _copy_of(self, path: Path) -> None:
        """Ask for a name, and make a copy of a scenario of the folder."""
        app = self._foldered
        if not app.refuses_edits():
            name = free_name(path.parent, f"{path.stem}-copy")
            app.push_screen(Prompt(f"copy {path.name} as", name), partial(self._copied, path))

    def _copied(self, path: Path, name: str | None) -> None:
        if name is not None:
            self._in_folder(lambda: f"copied to {copied(path, name).name}")

    def _delete(self, path: Path) -> None:
        """Ask, and take a scenario out of the folder."""
        app = self._foldered
        if app.refuses_edits():
            return
        try:
            others = used_by(path, scenarios_in(path.parent))
        except ScenarioError:
            others = ()
        note = (f"{', '.join(others)} extends it. " if others else "") + f"It can't be brought back: {path}"
        answers = [("no", "keep it"), ("yes", f"delete {path.name}")]
        ask = Ask("delete the scenario", answers, note=note)
        app.push_screen(ask, lambda chosen: self._in_folder(lambda: _gone(path)) if chosen == "yes" else None)

    def _in_folder(self, do: Callable[[], str]) -> None:
        """Change the folder and list it again; says what was done, or why it wasn't."""
        try:
            said = do()
        except ScenarioError as error:
            said = f"! {brief(error)}"
        self.show_start()
        self._foldered.say(said)


def _held(one: Unsaved) -> str:
    return "  (another planner may have it open)" if one.held else ""


def _gone(path: Path) -> str:
    removed(path)
    return f"deleted {path.name}"


def _first_comment(name: str) -> str:
    """What a shipped scenario says of itself."""
    from planner.scenario.load import find_scenario

    for line in read_text(find_scenario(name)).splitlines():
        if line.startswith("#"):
            return line.lstrip("# ")
    return ""
