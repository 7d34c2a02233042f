"""What looks at the plan without changing it: why, history, help, copy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import App
from textual.containers import Container

from planner.tui.browse import CatalogPane
from planner.tui.clipboard import to_tmux
from planner.tui.helping import help_screen
from planner.tui.lines import LinesView
from planner.tui.overlay import Choice, Overlay, Picker
from planner.tui.panes import ExportPane, SectionPane
from planner.tui.plan import PlanPane
from planner.tui.rows import Is
from planner.tui.screens import Deferred
from planner.tui.texts import LEGEND, history_lines

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp


class Looking(App[int]):
    """Part of `PlannerApp`: modal screens that show something."""

    @property
    def _shell(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def action_help(self) -> None:
        """Keys and marks."""
        app = self._shell
        if len(app.screen_stack) == 1:
            note = ""
            row = app.plan.row if app.pane == "plan" else None
            if row is not None and row.field is not None:
                note = f"{'.'.join(map(str, row.path))}: {row.field.help}"
            app.push_screen(
                Overlay("help", help_screen(app.keymap, app.state), foot="↑ ↓ moves   esc back", note=note)
            )

    def action_history(self) -> None:
        """The list of edits; choosing one goes back to it."""
        app = self._shell
        if len(app.screen_stack) > 1 or app.state.draft is None:
            return
        lines = history_lines(app.state.timeline, min(app.size.width, 110) - 3)
        shown = Overlay(
            "history: what each edit did",
            lines,
            foot=f"enter goes back to it   esc back   {LEGEND}",
            cursor=app.state.timeline.at,
        )
        app.push_screen(shown, self._back_to)

    def _back_to(self, chosen: str | None) -> None:
        app = self._shell
        if chosen is not None and int(chosen) != app.state.timeline.at:
            app.go_to(app.state.timeline.moved(int(chosen)))

    def action_why(self) -> None:
        """Why the number under the cursor is what it is; where there is none, which outcome."""
        app = self._shell
        last = app.state.last
        if len(app.screen_stack) > 1 or last is None or last.evaluation is None:
            app.bell()
            return
        if app.pane in ("where", "network"):
            self.show_why(app.query_one(f"#{app.pane}", SectionPane).view.key)
            return
        from planner.tui.why import line_of_path, value_text

        evaluation = last.evaluation
        choices = []
        row = app.plan.row if app.pane == "plan" else None
        if row is not None and row.kind is Is.FIELD:
            key = line_of_path(evaluation, row.path)
            if key is not None:
                line = evaluation.ledger[key]
                told = f"this field: {value_text(evaluation, line)}"
                choices.append(Choice(key, row.name, told, f"{row.name} {key}"))
        choices += [
            Choice(cell.key, f"{cell.bar}", f"{cell.name}: {cell.text}", f"{cell.bar} {cell.name} {cell.key}".lower())
            for cell in last.headlines if cell.value is not None
        ]  # fmt: skip
        others = [line for line in evaluation.ledger if line.key not in {one.key for one in choices}]
        choices += [
            Choice(line.key, line.label, line.key, f"{line.label} {line.key}".lower()) for line in others
        ]
        app.push_screen(Picker("why which number", choices), partial(self._why_picked))

    def _why_picked(self, chosen: str | None) -> None:
        if chosen:
            self.show_why(chosen)

    def show_why(self, key: str) -> None:
        """The tree of one key."""
        from planner.tui.why import Why

        app = self._shell
        last = app.state.last
        if last is None or last.evaluation is None or key not in last.evaluation.ledger:
            app.bell()
            return
        app.push_screen(Why(last.evaluation, key, self.is_field), self.edit_found)

    def _field_at(self, where: str) -> tuple[str | int, ...] | None:
        """Path of the field that stands at a place such as ``plan.yaml:9``."""
        draft = self._shell.state.draft
        if draft is None or where == "default":
            return None
        found = [
            path
            for path, place in draft.document.places.items()
            if f"{place.path}:{place.line}" == where and not isinstance(draft.value(path), dict | list)
        ]
        return found[0] if found else None

    def is_field(self, where: str) -> bool:
        """Whether a place is a field of the open plan, which can be edited."""
        return self._field_at(where) is not None

    def edit_found(self, where: str | None) -> None:
        """Go to the field that stands at a place."""
        path = self._field_at(where) if where is not None else None
        if path is not None:
            self._shell.show_pane("plan")
            self._shell.plan.go(path)

    @on(LinesView.Chosen, "#where-lines")
    @on(LinesView.Chosen, "#where-power")
    @on(LinesView.Chosen, "#where-money")
    @on(LinesView.Chosen, "#network-lines")
    def _row_chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        if len(self._shell.screen_stack) == 1:
            self.show_why(event.view.key)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by the terminal (OSC 52), and by tmux where it stands in between; names needn't be UTF-8."""
        told = text.encode("utf-8", "replace").decode()
        super().copy_to_clipboard(told)
        if not self.is_headless:
            to_tmux(told)

    def action_copy(self) -> None:
        """Copy the value under the cursor, or what the screen shows (OSC 52)."""
        app = self._shell
        pane = app.query_one(f"#{app.pane}", Container)
        text = ""
        if isinstance(pane, PlanPane) and pane.row is not None:
            text = pane.row.text
        elif isinstance(pane, SectionPane | Deferred):
            text = pane.text()
        elif isinstance(pane, CatalogPane | ExportPane):
            view = pane.query("LinesView").last(LinesView)
            text = "\n".join(line.text.rstrip() for line in view.lines)
        if text:
            app.copy_to_clipboard(text)
            count = text.count("\n") + 1
            app.say("copied" if count == 1 else f"copied {count} lines")
