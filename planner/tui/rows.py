"""A scenario as rows of a property grid: groups, items and fields, with where each value stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as with_default
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel

from planner.catalog.index import CatalogIndex
from planner.documents import Document, Path_
from planner.errors import Problem
from planner.present import format as fmt
from planner.scenario.schema import Scenario
from planner.tui.fields import Field, Holds, fields_of
from planner.tui.sentences import sentence
from planner.tui.used import Used


class Is(StrEnum):
    """What a row is."""

    GROUP = "group"
    ITEM = "item"
    FIELD = "field"


GROUPS: Final = ("workloads", "cluster", "network", "site", "money", "limits", "phases", "overrides")
"""Groups in the order in which a plan is thought about; what is left stands under ``scenario``."""
PLAN: Final = "scenario"
HIDDEN: Final = {"schema_version", "currency"}
ONLY_FOR: Final = {
    "tokens_trillion": "training", "sequence_tokens": "training", "batch_sequences": "training", "plan": "training",
    "optimiser_states": "training", "gradients": "training",
    "input_tokens": "serving", "output_tokens": "serving", "prefix_hit_fraction": "serving", "slo": "serving", "load": "serving",
    "engine": "serving", "weights": "serving", "kv_cache": "serving", "draft_tokens": "serving", "acceptance_fraction": "serving",
}  # fmt: skip
HEADLESS: Final = {("cluster", "groups")}
"""Lists whose items stand under their group's own row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the grid.

    Attributes:
        depth: Indentation; groups stand at 0.
        sentence: What a group or item holds, in words.
        standing: ``file``, ``base``, ``default`` or ``set``; for a group, empty.
        letter: How the value is known, and the date of the part's price.
        problem: What is wrong with the value; empty where nothing is.
        open: Whether a group or item shows what it holds.
        used: What the planner took, where the value leaves it open.
    """

    kind: Is
    path: Path_
    depth: int
    name: str
    field: Field | None = None
    value: Any = None
    sentence: str = ""
    standing: str = ""
    letter: str = ""
    problem: str = ""
    open: bool = True
    used: Used | None = None

    @property
    def text(self) -> str:
        """The value as shown."""
        if self.kind is not Is.FIELD:
            return self.sentence
        if isinstance(self.value, list | tuple):
            if not self.value:
                return "none"
            return f"[{', '.join(str(one) for one in self.value)}]"
        if self.field is not None and self.field.holds is Holds.CHOICE and isinstance(self.value, dict):
            return "by hand"
        return fmt.written(self.value) if not isinstance(self.value, dict) else "{...}"

    @property
    def empty(self) -> bool:
        """Whether there is no value, or a list without items."""
        return self.value is None or (isinstance(self.value, list | tuple) and not self.value)

    def shown(self, width: int) -> str:
        """The value in a column of so many cells; what the planner took stands in parentheses."""
        if self.used is None:
            return self.text
        if self.value is None:
            return self.used.within(width)
        return f"{self.text} {self.used.within(width - len(self.text) - 1)}"

    @property
    def search(self) -> str:
        """What the find box looks in, in lower case."""
        told = self.field.help if self.field is not None else ""
        used = self.used.text if self.used is not None else ""
        return f"{dotted(self.path)} {self.text} {used} {told}".lower()


def dotted(path: Path_) -> str:
    """A path as a user writes it: ``cluster.groups.0.gpus``."""
    return ".".join(str(step) for step in path)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the rows are made from."""

    document: Document
    problems: tuple[Problem, ...] = ()
    closed: frozenset[Path_] = frozenset()
    index: CatalogIndex | None = None
    as_of: str = ""
    changed: frozenset[Path_] = frozenset()
    used: Mapping[Path_, Used] = with_default(default_factory=dict)

    def standing(self, path: Path_) -> str:
        """Where a value stands; ``u`` marks one that was typed since the plan was opened."""
        place = self.document.places.get(path)
        if place is None:
            return "default"
        if path in self.changed and place.path == self.document.path:
            return "u"
        if place.path.startswith("--set"):
            return "set"
        return "file" if place.path == self.document.path else "base"

    def problem(self, path: Path_, *, below: bool = False) -> str:
        """What is wrong at a path, or with ``below`` also underneath it."""
        key = dotted(path)
        for one in self.problems:
            if one.key == key or (below and one.key.startswith(f"{key}.")):
                return f"{one.key}: {one.message}" + (f" ({one.remedy})" if one.remedy else "")
        return ""


def rows_of(sheet: Sheet) -> tuple[Row, ...]:
    """All rows that are in view: what is inside a closed group is left out."""
    data = sheet.document.data if isinstance(sheet.document.data, dict) else {}
    found: list[Row] = []
    fields = {one.name: one for one in fields_of(Scenario)}
    for name in GROUPS:
        field, value = fields[name], data.get(name)
        if name == "overrides" and not value:
            continue
        found += _group(sheet, field, value, (name,))
    rest = [one for one in fields.values() if one.name not in (*GROUPS, *HIDDEN)]
    is_open = (PLAN,) not in sheet.closed
    wrong = "" if is_open else next((told for one in rest if (told := sheet.problem((one.name,)))), "")
    found.append(Row(Is.GROUP, (PLAN,), 0, PLAN, sentence=sentence(PLAN, data), open=is_open, problem=wrong))
    if is_open:
        for one in rest:
            found.append(_field_row(sheet, one, data, (one.name,), one.name, 1))
            if one.holds is Holds.WORDS:
                found += _plain_items(sheet, one, data.get(one.name), (one.name,), 2)
    return tuple(found)


def _group(sheet: Sheet, field: Field, value: Any, path: Path_) -> list[Row]:
    is_open = path not in sheet.closed
    told = sheet.problem(path, below=not is_open)
    rows = [
        Row(Is.GROUP, path, 0, field.name, field, value, sentence(field.name, value), "", "", told, is_open)
    ]
    if not is_open or field.model is None:
        return rows
    if field.holds is Holds.ITEMS:
        return rows + _items(sheet, field.model, value, path, 1)
    if field.holds is Holds.NAMED:
        return rows + _named(sheet, field.model, value, path, 1)
    return rows + list(_fields(sheet, field.model, value, path, "", 1))


def _items(sheet: Sheet, model: type[BaseModel], value: Any, path: Path_, depth: int) -> list[Row]:
    rows: list[Row] = []
    for index, item in enumerate(value if isinstance(value, list) else ()):
        name = item.get("id") if isinstance(item, dict) else None
        rows += _item(sheet, model, item, (*path, index), str(name or index), depth)
    return rows


def _named(sheet: Sheet, model: type[BaseModel], value: Any, path: Path_, depth: int) -> list[Row]:
    rows: list[Row] = []
    for key in value if isinstance(value, dict) else ():
        rows += _item(sheet, model, value[key], (*path, key), str(key), depth)
    return rows


def _listed(sheet: Sheet, field: Field, value: Any, path: Path_, name: str, depth: int) -> list[Row]:
    """A list or named items inside a group: a row that tells how many there are, and the items."""
    assert field.model is not None
    inside = _named if field.holds is Holds.NAMED else _items
    if path in HEADLESS:
        return inside(sheet, field.model, value, path, depth)
    is_open = bool(value) and path not in sheet.closed
    told = sheet.problem(path, below=not is_open)
    head = Row(Is.GROUP, path, depth, name, field, value, _count_said(value), "", "", told, is_open)
    return [head, *(inside(sheet, field.model, value, path, depth + 1) if is_open else ())]


def _count_said(value: Any) -> str:
    if not isinstance(value, list | dict) or not value:
        return "none; a adds one"
    names = value if isinstance(value, dict) else [_id_of(one, at) for at, one in enumerate(value)]
    return f"{len(value)}: {', '.join(str(one) for one in names)}"


def _id_of(item: Any, at: int) -> str:
    return str(item.get("id", at)) if isinstance(item, dict) else str(at)


def _plain_items(sheet: Sheet, field: Field, value: Any, path: Path_, depth: int) -> list[Row]:
    """The items of a list of words, each in a row of its own, so that one can be edited, moved or removed."""
    if field.numbers or not isinstance(value, list):
        return []
    kind = Holds.CATALOG if field.family else Holds.CHOICE if field.choices else Holds.TEXT
    one = replace(field, holds=kind, nullable=False)
    return [
        Row(Is.FIELD, (*path, at), depth, str(at + 1), one, item, "", sheet.standing((*path, at)), "",
            sheet.problem((*path, at)))
        for at, item in enumerate(value)
    ]  # fmt: skip


def _item(sheet: Sheet, model: type[BaseModel], item: Any, path: Path_, name: str, depth: int) -> list[Row]:
    is_open = path not in sheet.closed
    told = sheet.problem(path, below=not is_open)
    said = sentence(model.__name__, item)
    row = Row(Is.ITEM, path, depth, name, None, item, said, "", "", told, is_open)
    return [row, *(_fields(sheet, model, item, path, "", depth + 1) if is_open else ())]


def _fields(
    sheet: Sheet, model: type[BaseModel], data: Any, path: Path_, prefix: str, depth: int
) -> Iterable[Row]:
    values = data if isinstance(data, dict) else {}
    kind = values.get("kind")
    for field in fields_of(model):
        here, name = (*path, field.name), f"{prefix}{field.name}"
        if field.name in HIDDEN or (_unrelated(field.name, kind) and field.name not in values):
            continue
        value = values.get(field.name)
        if field.holds in (Holds.ITEMS, Holds.NAMED) and field.model is not None:
            yield from _listed(sheet, field, value, here, name, depth)
        elif field.holds is Holds.WORDS:
            yield _field_row(sheet, field, values, here, name, depth)
            yield from _plain_items(sheet, field, value, here, depth + 1)
        elif field.holds is Holds.FIELDS and field.model is not None:
            if field.scalar and not isinstance(value, dict):
                yield _field_row(sheet, replace(field, holds=Holds.NUMBER), values, here, name, depth)
            elif field.nullable and value is None:
                yield _field_row(sheet, field, values, here, name, depth)
            else:
                yield from _fields(sheet, field.model, value, here, f"{name}.", depth)
        else:
            yield _field_row(sheet, field, values, here, name, depth)
            if isinstance(value, dict) and field.model is not None:
                yield from _fields(sheet, field.model, value, here, f"{name}.", depth)


def _unrelated(name: str, kind: Any) -> bool:
    wanted = ONLY_FOR.get(name)
    return wanted is not None and kind in ("training", "serving") and kind != wanted


def _field_row(sheet: Sheet, field: Field, values: dict[str, Any], path: Path_, name: str, depth: int) -> Row:
    given = field.name in values
    value = values[field.name] if given else (None if field.required else field.default)
    if not given and field.holds is Holds.WORDS:
        value = ()
    standing = sheet.standing(path)
    return Row(
        Is.FIELD, path, depth, name, field, value, "", standing, _letter(sheet, field, value, standing),
        sheet.problem(path), used=sheet.used.get(path) if value in (None, "auto") else None,
    )  # fmt: skip


def _letter(sheet: Sheet, field: Field, value: Any, standing: str) -> str:
    """Letter of a part's price and its month; of a typed value ``u``, of a default ``E``."""
    if field.family and sheet.index is not None and isinstance(value, str):
        row = sheet.index.by_id.get((field.family, value))
        figure = next((one for one in row.figures if one.name.startswith("price")), None) if row else None
        if figure is not None:
            old = "†" if sheet.as_of and _months(sheet.as_of) - _months(figure.as_of) > 6 else ""
            return f"{figure.letter} {figure.as_of[2:7]}{old}"
        return ""
    if field.family or value is None or isinstance(value, dict):
        return ""
    return "E" if standing == "default" and field.holds is Holds.NUMBER else ""


def _months(day: str) -> int:
    return int(day[:4]) * 12 + (int(day[5:7]) if len(day) >= 7 else 6)
