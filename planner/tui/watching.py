"""A file that another program changes while it is open here is noticed, and never written over silently."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from planner.documents import is_file
from planner.errors import ScenarioError
from planner.tui.draft import Draft, draft_of, read_text
from planner.tui.failing import brief
from planner.tui.lines import Line, plain
from planner.tui.overlay import Ask, Overlay

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

Stamp = tuple[tuple[str, int, int], ...]
CHANGED: list[tuple[str, str]] = [
    ("reload", "take what is on disk (u brings your edits back)"),
    ("diff", "show the differences"),
    ("keep", "go on with what is here; saving asks again"),
]


def stamp(draft: Draft) -> Stamp:
    """When a plan's file and those it extends were written last, and their sizes; -1 where one is missing."""
    found = []
    for name in (str(draft.path), *draft.bases):
        try:
            told = Path(name).stat()
            found.append((name, told.st_mtime_ns, told.st_size))
        except OSError:
            found.append((name, -1, -1))
    return tuple(found)


def difference_lines(disk: str, here: str) -> list[Line]:
    """What stands on disk against what stands here, line by line; the sign says which, the colour repeats it."""
    lines = [plain(" - on disk   + here", "dim")]
    styles = {"-": "bad", "+": "good", "@": "accent"}
    found = difflib.unified_diff(disk.splitlines(), here.splitlines(), lineterm="", n=2)
    for one in list(found)[2:]:
        lines.append(plain(f" {one}", styles.get(one[:1], "plain")))
    return lines if len(lines) > 1 else [plain(" no difference", "dim")]


class Watching(App[int]):
    """Part of `PlannerApp`: looks at the files once a second."""

    _seen: tuple[Path, Stamp] | None = None

    @property
    def _watcher(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def look_at_disk(self) -> None:
        """Ask what to do where the open plan's file, or one it extends, was changed elsewhere."""
        app, draft = self._watcher, self._watcher.state.draft
        if draft is None or draft.new or app.typing or len(app.screen_stack) > 1:
            return
        now = stamp(draft)
        if self._seen is None or self._seen[0] != draft.path or len(self._seen[1]) != len(now):
            self._seen = (draft.path, now)
            return
        before, self._seen = self._seen[1], (draft.path, now)
        if before == now:
            return
        if before[1:] != now[1:]:
            self._base_changed(draft)
        if before[0] != now[0]:
            self._file_changed(draft)

    def _base_changed(self, draft: Draft) -> None:
        """The plan is read again over its changed base; its own text stays."""
        app = self._watcher
        try:
            found = draft_of(draft.text, draft.path, saved=draft.saved, new=draft.new)
        except ScenarioError as error:
            app.say(f"! a plan that this one extends was changed: {brief(error)}")
            return
        app.change(found)
        app.say("a plan that this one extends was changed on disk, and is taken as it is now")

    def _file_changed(self, draft: Draft) -> None:
        app = self._watcher
        if not is_file(draft.path):
            told = _NO_FILE if os.path.lexists(draft.path) else _GONE
            app.put(replace(app.state, draft=replace(draft, saved=""), said=told.format(draft.path.name)))
            app.guard()
            return
        try:
            text = read_text(draft.path)
        except ScenarioError as error:
            app.say(f"! {brief(error)}")
            return
        if text == draft.text:
            app.put(replace(app.state, draft=replace(draft, saved=text)))
        elif text != draft.saved:
            self.ask_about_disk(draft, text, CHANGED, self._decided)

    def ask_about_disk(self, draft: Draft, text: str, answers: list[tuple[str, str]], then: Any) -> None:
        """Ask what to do with a file that isn't what it was; differences are shown and the question comes again."""
        app = self._watcher
        mine = "You have edits that aren't saved." if draft.dirty else "You have no unsaved edits."
        note = f"{draft.path.name} was changed by another program. {mine}"

        def chosen(answer: str | None) -> None:
            if answer != "diff":
                then(answer)
                return
            shown = Overlay(
                f"{draft.path.name}: on disk and here",
                difference_lines(text, draft.text),
                foot="↑ ↓ moves   esc back",
            )
            app.push_screen(shown, lambda _: self.ask_about_disk(draft, text, answers, then))

        app.push_screen(Ask("changed on disk", answers, note=note), chosen)

    def _decided(self, answer: str | None) -> None:
        if answer == "reload":
            self.reload()

    def reload(self) -> None:
        """Take what stands on disk, as one edit that can be undone."""
        app, draft = self._watcher, self._watcher.state.draft
        if draft is None:
            return
        try:
            found = draft_of(read_text(draft.path), draft.path)
        except ScenarioError as error:
            app.say(f"! {brief(error)}")
            return
        app.step(found, (), "reloaded from disk", "", "")


_GONE = "{} was removed by another program; ctrl+s writes it again"
_NO_FILE = "! {} is no file any more; ctrl+o saves under another name"
