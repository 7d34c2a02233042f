"""Edits of the plan: preview, keep, pick, default, items, remedies, undo, redo, pin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import App

from planner.catalog.index import CatalogIndex
from planner.choices import Recompute, Sharding
from planner.documents import Path_
from planner.errors import PlannerError
from planner.present import format as fmt
from planner.tui.draft import (
    Draft,
    all_kept,
    draft_of,
    kept,
    preview,
    renamed,
    restored,
    without_item,
)
from planner.tui.failing import brief
from planner.tui.fields import Field, Holds, field_at, fields_of
from planner.tui.listing import moved, with_word, without_part, without_word
from planner.tui.overlay import Choice, Picker
from planner.tui.parts import DEFAULT, PartPicker
from planner.tui.plan import PlanPane
from planner.tui.rows import Is, dotted
from planner.tui.state import Pin
from planner.tui.texts import fixes, no_fix

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

BY_HAND = "by hand"


class Editing(App[int]):
    """Part of `PlannerApp`: what changes the plan."""

    @property
    def _app(self) -> PlannerApp:
        return cast("PlannerApp", self)

    @on(PlanPane.Wants)
    def _wanted(self, event: PlanPane.Wants) -> None:
        app, draft = self._app, self._app.state.draft
        if draft is None or (event.what != "find" and app.refuses_edits()):
            return
        if _is_gone(draft, event.path):  # keys that came faster than rows were drawn
            return
        match event.what:
            case "preview":
                app.state = replace(app.state, focus=event.path)
                app.change(preview(draft, event.path, event.value), preview=True)
            case "drop":
                if app.state.previewed is not None:
                    app.ask(replace(app.state, previewed=None))
                else:
                    app.draw_pane()
            case "keep":
                self.keep(event.path, event.value)
            case "pick":
                self._pick(event.path, event.value, event.field)
            case "restore":
                self.tried(event.path, "default", lambda: restored(draft, event.path))
            case "add" | "copy":
                app.add_at(event.path, whole=event.what == "copy")
            case "remove":
                self._remove(draft, event.path)
            case "move":
                self._move(draft, event.path, event.value)
            case "find":
                self._find()

    def keep(self, path: Path_, value: Any) -> None:
        """Write a value into the plan."""
        draft = self._app.state.draft
        if draft is None:
            return
        field = field_at(path)
        if isinstance(path[-1], int) and _of_words(path):
            make = (
                partial(without_word, draft, path)
                if value is None
                else partial(with_word, draft, path, value)
            )
            self.tried(path, "removed" if value is None else _shown(value), make)
        elif value is None and field is not None and not field.nullable:
            self.tried(path, "default", lambda: restored(draft, path))
        else:
            self.tried(path, _shown(value), lambda: kept(draft, path, value))

    def _remove(self, draft: Draft, path: Path_) -> None:
        """Take away an item, one value of a list, or a part that may be left out."""
        if not isinstance(path[-1], int):
            self.tried(path, "removed", lambda: without_part(draft, path))
        elif _of_words(path):
            self.tried(path, "removed", lambda: without_word(draft, path))
        else:
            self.tried(path, "removed", lambda: without_item(draft, path))

    def _move(self, draft: Draft, path: Path_, step: int) -> None:
        """An item one place up or down; the cursor goes with it."""
        where, at = path[:-1], path[-1]
        assert isinstance(at, int)
        if self.tried(path, f"moved {'up' if step < 0 else 'down'}", lambda: moved(draft, path, step)):
            self._app.plan.go((*where, at + step))

    def tried(self, path: Path_, new: str, make: Callable[[], Draft]) -> bool:
        """One edit; where it can't be made, the reason is said and the plan is as before."""
        app, draft = self._app, self._app.state.draft
        assert draft is not None
        if app.refuses_edits():
            return False
        try:
            found = make()
        except (PlannerError, ValueError) as error:
            told = brief(error) if isinstance(error, PlannerError) else str(error)
            app.ask(replace(app.state, previewed=None, said=f"! {told}"))
            return False
        app.state = replace(app.state, focus=path)
        field, old = field_at(path), draft.value(path)
        if old is None and field is not None and path not in draft.document.places:
            old = field.default or None
        before = _shown(old)
        used = app.state.last.used.get(path) if app.state.last is not None else None
        if old is None and used is not None:  # what the planner had chosen
            before = f"({used.value})"
        if new == "default":
            new = _shown(found.value(path)) if found.value(path) is not None else "default"
        app.step(found, path, _label(path, draft), before, new)
        return True

    # Picking

    def _pick(self, path: Path_, value: Any, field: Field | None) -> None:
        app = self._app
        if field is None or len(app.screen_stack) > 1:
            return
        family, target = field.family, path
        if field.holds is Holds.FIELDS and field.model is not None:
            required = [one for one in fields_of(field.model) if one.required]
            if len(required) != 1 or not required[0].family:
                app.ask_required(dotted(path), field.model, partial(app.put_part, path))
                return
            family, target = required[0].family, (*path, required[0].name)
        if family:
            self._pick_part(family, target, value if isinstance(value, str) else "", field)
            return
        choices = [Choice(one, one, "", one) for one in field.choices]
        now = str(value) if isinstance(value, str) else BY_HAND
        if field.model is not None:
            choices.append(Choice(BY_HAND, BY_HAND, "starts from the plan that was found", BY_HAND))
        app.push_screen(
            Picker(dotted(path), choices, now=now, note=field.help), partial(self._picked, path, field)
        )

    def _pick_part(self, family: str, path: Path_, now: str, field: Field) -> None:
        app = self._app
        ids = app.part_ids(family)
        if not ids:
            return
        picker = PartPicker(f"{dotted(path)}: {len(ids)} in the catalog", ids, family, now, field.nullable)
        app.push_screen(picker, partial(self._picked, path, field))
        if app.index is not None:
            picker.told(app.index, self.as_of)
        app.weigh(picker, path, [DEFAULT, *ids] if field.nullable else list(ids))

    def told_index(self, index: CatalogIndex) -> None:
        """A picker that was opened before the catalog's list was read gets its words."""
        if isinstance(self._app.screen, PartPicker):
            self._app.screen.told(index, self.as_of)

    @property
    def as_of(self) -> str:
        """Date against which prices are stale and parts orderable."""
        draft = self._app.state.draft
        loaded = draft.loaded if draft is not None else None
        from planner.catalog.store import RELEASE

        return (loaded.scenario.as_of if loaded is not None else None) or RELEASE

    def _picked(self, path: Path_, field: Field, chosen: str | None) -> None:
        if chosen is None:
            return
        if chosen == DEFAULT:
            draft = self._app.state.draft
            if draft is not None:
                default = field.default is None
                self.tried(
                    path, "default", lambda: restored(draft, path) if default else kept(draft, path, None)
                )
        elif chosen == BY_HAND:
            self.keep(path, self._found_plan())
        else:
            self.keep(path, chosen)

    def _found_plan(self) -> dict[str, Any]:
        """Axes of the plan that the search found, to start from."""
        last = self._app.state.last
        found: dict[str, Any] = {"tensor": 1}
        if last is None or last.evaluation is None:
            return found
        ledger = last.evaluation.ledger
        values = {
            key.rpartition(".")[2]: ledger.scalar(key)
            for key in reversed(list(ledger.lines))
            if ".plan." in key
        }
        for axis in ("tensor", "pipeline", "expert", "microbatch", "virtual_stages"):
            if axis in values:
                found[axis] = int(values[axis])
        found["recompute"] = str(Recompute.FULL if values.get("recompute", 0) > 0 else Recompute.NONE)
        found["sharding"] = str(Sharding.FSDP if values.get("zero_stage", 1) >= 3 else Sharding.ZERO1)
        return found

    def _find(self) -> None:
        app = self._app
        if len(app.screen_stack) > 1:
            return
        choices = [
            Choice(dotted(row.path), dotted(row.path), f"{row.shown(24)}  {row.field.help if row.field else ''}", row.search)
            for row in app.plan.all_rows() if row.kind is Is.FIELD
        ]  # fmt: skip
        app.push_screen(Picker("find a field", choices), self._found)

    def _found(self, chosen: str | None) -> None:
        if chosen is None:
            return
        for row in self._app.plan.all_rows():
            if dotted(row.path) == chosen:
                self._app.plan.go(row.path)
                return

    # Undo, pin, remedies

    def action_undo(self) -> None:
        """One edit back; while a value is typed, what was typed."""
        app = self._app
        if app.plan.typing:
            app.plan.drop()
        else:
            app.go_to(app.state.timeline.undone())

    def action_redo(self) -> None:
        """One edit forward."""
        if not self._app.plan.typing:
            self._app.go_to(self._app.state.timeline.redone())

    def action_pin(self) -> None:
        """Count changes from this state on."""
        app, last = self._app, self._app.state.last
        if last is None or app.state.draft is None or app.state.awaiting:
            app.bell()
            return
        name = f"pinned {app.clock()}"
        pin = Pin(app.state.draft.text, last.headlines, name, True, last.evaluation, last.view)
        app.put(replace(app.state, pin=pin, said="pinned: changes count from here"))

    def action_ranges(self) -> None:
        """Changes against the pin, or P10 to P90, in the bar's third row."""
        self._app.put(replace(self._app.state, ranges=not self._app.state.ranges))

    def action_back_to_pin(self) -> None:
        """Back to the pinned state, as one edit that can be undone."""
        app, draft, pin = self._app, self._app.state.draft, self._app.state.pin
        if draft is None or pin is None or pin.text == draft.text:
            app.bell()
            return
        try:
            found = draft_of(pin.text, draft.path, saved=draft.saved, new=draft.new)
        except PlannerError as error:  # a base was broken meanwhile
            app.say(f"! {brief(error)}")
            return
        app.step(found, (), f"back to the pin ({pin.name})", "", "")

    def action_remedy(self) -> None:
        """The next digit applies a remedy."""
        app = self._app
        if not fixes(app.state):
            app.say(no_fix(app.state))
            return
        if not (app.state.refusal or app.state.problems):
            said = (f"{number} {fix.said}" for number, fix in enumerate(fixes(app.state), start=1))
            app.say(f"may meet the limit: {', '.join(said)}")
        if app.pane != "plan" and not app.state.refusal:
            app.show_pane("plan")  # remedies of problems are listed there
        app.put(replace(app.state, applying=True))

    def apply_remedy(self, number: int) -> None:
        """Apply a remedy, or go to the field it speaks of where it names no value."""
        app, found = self._app, fixes(self._app.state)
        if not 1 <= number <= len(found):
            app.say(f"there is no remedy {number}")
            return
        fix = found[number - 1]
        if app.pane != "plan":
            app.show_pane("plan")
        app.plan.go(fix.path)
        draft = app.state.draft
        if fix.removes and draft is not None:
            self.tried(fix.path, "default", lambda: restored(draft, fix.path))
        elif fix.renamed and draft is not None:
            self.tried(fix.path, str(fix.renamed[-1]), lambda: renamed(draft, fix.path, fix.renamed))
        elif fix.more and draft is not None:
            edits = ((fix.path, fix.value), *fix.more)
            self.tried(fix.path, fix.said, lambda: all_kept(draft, edits))
        elif fix.applies:
            self.keep(fix.path, fix.value)
        else:
            app.say(f"{fix.said}: to be chosen by hand")


def _is_gone(draft: Draft, path: Path_) -> bool:
    """Whether a path goes through an item that its list hasn't got any more."""
    for length, step in enumerate(path):
        items = draft.value(path[:length]) if isinstance(step, int) else None
        if isinstance(step, int) and (not isinstance(items, list) or step >= len(items)):
            return True
    return False


def _of_words(path: Path_) -> bool:
    """Whether a path is one value of a list of plain values."""
    above = field_at(path[:-1])
    return above is not None and above.holds is Holds.WORDS


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "by hand" if "tensor" in value else str(value.get("id", value.get("system", "{...}")))
    if isinstance(value, list | tuple):
        if not value:
            return "none"
        return f"[{', '.join(_shown(one) for one in value)}]"
    return fmt.written(value)


def _label(path: Path_, draft: Draft) -> str:
    """A field as the history names it: items by their ids, the rest by its last words."""
    parts = []
    for length, step in enumerate(path, start=1):
        if isinstance(step, int):
            item = draft.value(path[:length])
            parts.append(str(item.get("id", step)) if isinstance(item, dict) else str(step))
        else:
            parts.append(step)
    return ".".join(parts)
