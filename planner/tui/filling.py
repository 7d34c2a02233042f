"""Adding to the plan: items of lists, named items and optional parts; what each must have is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from textual.app import App

from planner.documents import Path_
from planner.scenario.money_costs import FURTHER
from planner.scenario.yamltext import typed
from planner.tui.draft import Draft, kept, new_item, with_item, with_workload
from planner.tui.fields import Field, Holds, fields_of
from planner.tui.listing import list_at, with_word
from planner.tui.overlay import Choice, Picker, Prompt
from planner.tui.parts import PartPicker
from planner.tui.rows import dotted

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

OTHER = "\0other"
Then = Callable[[dict[str, Any]], None]


class Filling(App[int]):
    """Part of `PlannerApp`: what is new in a plan."""

    @property
    def _plan_app(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def add_at(self, path: Path_, *, whole: bool) -> None:
        """Add to the list around a path; with ``whole`` a copy of the item there."""
        app, draft = self._plan_app, self._plan_app.state.draft
        found = list_at(path)
        if draft is None or len(app.screen_stack) > 1:
            return
        if found is None:
            app.say("nothing can be added here: put the cursor on a list, or on one of its items")
            return
        where, field = found
        if field.holds is Holds.WORDS:
            self._ask_word(where, field)
        elif field.holds is Holds.NAMED:
            self._ask_item_name(where, field)
        else:
            self._add_item(draft, where, field, path, whole)

    def _add_item(self, draft: Draft, where: Path_, field: Field, path: Path_, whole: bool) -> None:
        assert field.model is not None
        items = draft.value(where)
        items = items if isinstance(items, list) else []
        at = path[len(where)] if len(path) > len(where) else max(0, len(items) - 1)
        if items and isinstance(at, int):
            required = {one.name for one in fields_of(field.model) if one.required}
            self._added(where, new_item(items, at, whole=whole, fields=required))
        elif where == ("phases",):
            as_of = draft.loaded.scenario.as_of if draft.loaded is not None else None
            day = (as_of or "2026-11-30")[:7]
            self._added(where, {"id": "first", "order": day, "in_service": day})
        else:
            self.ask_required(f"new in {dotted(where)}", field.model, partial(self._added, where))

    def _added(self, where: Path_, item: dict[str, Any]) -> None:
        app, draft = self._plan_app, self._plan_app.state.draft
        if draft is None:
            return
        items = draft.value(where)
        path = (*where, len(items) if isinstance(items, list) else 0)
        make = with_workload if where == ("workloads",) else with_item
        if app.tried(path, str(item.get("id", "one")), lambda: make(draft, where, item)):
            app.plan.go(path)

    # A list of plain values

    def _ask_word(self, where: Path_, field: Field) -> None:
        app, draft = self._plan_app, self._plan_app.state.draft
        assert draft is not None
        there = draft.value(where)
        there = list(there) if isinstance(there, list | tuple) else []
        title, then = f"add to {dotted(where)}", partial(self._word_given, (*where, len(there)), field)
        known = field.choices
        if field.name == "groups":
            groups = draft.value(("cluster", "groups"))
            known = tuple(str(one.get("id")) for one in groups or () if isinstance(one, dict))
        if field.family:
            ids = [one for one in app.part_ids(field.family) if one not in there]
            picker = PartPicker(title, ids, field.family, "", False)
            app.push_screen(picker, then)
            if app.index is not None:
                picker.told(app.index, app.as_of)
        elif known:
            left = [one for one in known if one not in there]
            app.push_screen(Picker(title, [Choice(one, one, "", one) for one in left], note=field.help), then)
        else:
            app.push_screen(Prompt(title, "", note=field.help), then)

    def _word_given(self, path: Path_, field: Field, text: str | None) -> None:
        draft = self._plan_app.state.draft
        if not text or draft is None:
            return
        value = typed(text) if field.numbers else text
        if self._plan_app.tried(path, str(value), lambda: with_word(draft, path, value)):
            self._plan_app.plan.go(path)

    # Named items

    def _ask_item_name(self, where: Path_, field: Field) -> None:
        app, draft = self._plan_app, self._plan_app.state.draft
        assert draft is not None
        there = draft.value(where) or {}
        choices = [one for one in self._known_names(where) if one.key not in there]
        then = partial(self._item_named, where, field)
        if not choices:
            app.push_screen(Prompt(f"name of what is added to {dotted(where)}", "", note=field.help), then)
            return
        if where == ("money", "costs"):
            choices.append(Choice(OTHER, "another name …", "a cost of your own", "another name"))
        app.push_screen(Picker(f"add to {dotted(where)}", choices, note=field.help), then)

    def _known_names(self, where: Path_) -> list[Choice]:
        """Names that mean something to the planner: the complete list of costs, lines of the ledger."""
        if where == ("money", "costs"):
            return [Choice(key, key, one.label, f"{key} {one.label}".lower()) for key, one in FURTHER.items()]
        last = self._plan_app.state.last
        if where != ("overrides",) or last is None or last.evaluation is None:
            return []
        return [
            Choice(line.key, line.label, line.key, f"{line.label} {line.key}".lower())
            for line in last.evaluation.ledger if line.kind in ("given", "computed")
        ]  # fmt: skip

    def _item_named(self, where: Path_, field: Field, name: str | None) -> None:
        app = self._plan_app
        if not name or field.model is None:
            return
        if name == OTHER:
            prompt = Prompt(f"name of the new one in {dotted(where)}", "")
            app.push_screen(prompt, partial(self._item_named, where, field))
            return
        known = {"unit": self._unit(name)} if where == ("overrides",) else {}
        title = f"{dotted(where)}.{name}"
        self.ask_required(title, field.model, partial(self.put_part, (*where, name)), known)

    def _unit(self, key: str) -> str | None:
        last = self._plan_app.state.last
        ledger = last.evaluation.ledger if last is not None and last.evaluation is not None else None
        return ledger[key].unit if ledger is not None and key in ledger else None

    # Parts

    def put_part(self, path: Path_, item: dict[str, Any]) -> None:
        """Write a named item or an optional part, and go to it."""
        app, draft = self._plan_app, self._plan_app.state.draft
        if draft is not None and app.tried(path, "added", lambda: kept(draft, path, item)):
            app.plan.go(path)

    def ask_required(
        self, title: str, model: type[BaseModel], then: Then, known: dict[str, Any] | None = None
    ) -> None:
        """Ask for each value that a part must have, one after another; escape gives it up."""
        values = {key: value for key, value in (known or {}).items() if value is not None}
        left = [one for one in fields_of(model) if one.required and one.name not in values]
        self._ask_next(title, left, values, then)

    def _ask_next(self, title: str, left: list[Field], values: dict[str, Any], then: Then) -> None:
        app = self._plan_app
        if not left:
            then(values)
            return
        field = left[0]
        given = partial(self._given, title, left, values, then)
        head = f"{title}: {field.name}"
        if field.family:
            ids = app.part_ids(field.family)
            picker = PartPicker(head, ids, field.family, "", False)
            app.push_screen(picker, given)
            if app.index is not None:
                picker.told(app.index, app.as_of)
        elif field.choices:
            choices = [Choice(one, one, "", one) for one in field.choices]
            app.push_screen(Picker(head, choices, note=field.help), given)
        else:
            told = " · ".join(part for part in (field.help, field.unit, field.bounds) if part)
            app.push_screen(Prompt(head, "", note=told), given)

    def _given(
        self, title: str, left: list[Field], values: dict[str, Any], then: Then, text: str | None
    ) -> None:
        if text is None:
            self._plan_app.say("nothing added")
            return
        field = left[0]
        number = field.holds is Holds.NUMBER or field.scalar
        value = typed(text) if number else text
        self._ask_next(title, left[1:], {**values, field.name: value}, then)
