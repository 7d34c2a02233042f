"""The palette: every action of the program and of its screens by name, made from their bindings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import ContentSwitcher

from planner.tui.keymap import BINDINGS, SCREENS, THEMES
from planner.tui.keys import key_text
from planner.tui.overlay import Choice, Picker

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp


class Commands(App[int]):
    """Part of `PlannerApp`: every action by name."""

    def action_command_palette(self) -> None:
        """Pick an action by its name.

        The list is a `Picker` like any other: Textual's own palette fails on keys that come faster than it draws.
        """
        app = self._commanded
        if len(app.screen_stack) > 1:
            return
        found = {one.title: one for one in self.get_system_commands(app.screen)}
        choices = [Choice(name, name, one.help, f"{name} {one.help}".lower()) for name, one in found.items()]

        def picked(chosen: str | None) -> None:
            if chosen in found:
                found[chosen].callback()

        app.push_screen(Picker("every action", choices), picked)

    @property
    def _commanded(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Screens, actions of the program, actions of each screen, themes."""
        app = self._commanded
        for digit, name, title in SCREENS:
            yield SystemCommand(f"Screen {digit}: {title}", digit, partial(app.show_pane, name))
        for binding in bindings_of(BINDINGS):
            if not binding.action.startswith("digit"):
                yield SystemCommand(
                    _title(binding), self._keys(binding), partial(self._run, binding.action, self)
                )
        seen: set[str] = set()
        panes = app.screen_stack[0].query_one("#panes", ContentSwitcher)
        for pane in panes.children:
            for node in (pane, *pane.query("*")):
                for binding in bindings_of(type(node).__dict__.get("BINDINGS", ())):
                    title = _of_pane(str(pane.id), binding)
                    if title in seen:
                        continue
                    seen.add(title)
                    run = partial(self._run, binding.action, node, str(pane.id))
                    yield SystemCommand(title, self._keys(binding), run)
        for theme in THEMES:
            yield SystemCommand(f"Theme: {theme}", "", partial(setattr, self, "theme", theme))

    def _keys(self, binding: Binding) -> str:
        keys = self._commanded.keymap.get(binding.id or "", binding.key)
        return " ".join(key_text(one) for one in keys.split(","))

    def _run(self, action: str, node: DOMNode, pane: str = "") -> None:
        """Do an action of the program, or of a screen once that is in front."""
        app = self._commanded
        if pane and app.pane != pane:
            app.show_pane(pane)
        self.call_later(self.run_action, action, node)


def bindings_of(found: Iterable[object]) -> Iterator[Binding]:
    """Bindings that can be remapped and do more than move a cursor."""
    for one in found:
        moves = isinstance(one, Binding) and (one.id or "").startswith("list.")
        if isinstance(one, Binding) and one.id and one.description and not moves:
            yield one


def _title(binding: Binding) -> str:
    return binding.description[:1].upper() + binding.description[1:]


def _of_pane(pane: str, binding: Binding) -> str:
    """Name of a screen's action; the way is named where one key goes back and another on."""
    way = {"(-1)": ", back", "(1)": ", on"}.get(
        binding.action[-4:] if "(-1)" in binding.action else binding.action[-3:], ""
    )
    return f"{pane.capitalize()}: {binding.description}{way}"
