"""Writing reports from the program: in a worker, one file after another, and a fault takes no edits with it."""

from __future__ import annotations

import traceback
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import App
from textual.message import Message

from planner.tui.exporting import export
from planner.tui.panes import ExportPane

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp


class Writing(App[int]):
    """Part of `PlannerApp`: the export screen's work."""

    class Wrote(Message):
        """A report file was written, or couldn't be; the last one says so."""

        def __init__(self, said: str, bad: bool, last: bool) -> None:
            super().__init__()
            self.said, self.bad, self.last = said, bad, last

    @property
    def _writer(self) -> PlannerApp:
        return cast("PlannerApp", self)

    @on(ExportPane.Starts)
    def _export(self, event: ExportPane.Starts) -> None:
        app, draft = self._writer, self._writer.state.draft
        if draft is None or app.refuses_edits():
            return
        app.query_one("#export", ExportPane).began()
        job = partial(self._exported, draft.text, draft.path, event.formats, Path(event.folder).expanduser())
        app.run_worker(job, thread=True, exclusive=True, group="export", exit_on_error=False)

    def _exported(self, text: str, path: Path, formats: tuple[str, ...], folder: Path) -> None:
        app = self._writer
        try:
            for said, bad in export(text, path, formats, folder, catalog=app.folders):
                app.post_message(self.Wrote(said, bad, False))
            app.post_message(self.Wrote("done", False, True))
        except Exception:  # a fault in a presenter must not take the edits with it
            file = app.shelf.fault(traceback.format_exc(), app.clock())
            app.post_message(self.Wrote(f"internal error, saved to {file}", True, True))

    @on(Wrote)
    def _wrote(self, event: Wrote) -> None:
        """Tell the export screen."""
        pane = self._writer.screen_stack[0].query_one("#export", ExportPane)
        pane.wrote(event.said, bad=event.bad, last=event.last)
        if event.last and not event.bad:
            self._writer.put(replace(self._writer.state, exported=True))
