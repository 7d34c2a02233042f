"""The scenario's schema as fields that can be shown and edited: kind, choices, range, default, help."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from planner.catalog.summaries import unit_of
from planner.field_docs import field_docs
from planner.present import format as fmt
from planner.scenario import schema


class Holds(StrEnum):
    """What a field holds."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    CATALOG = "catalog"
    WORDS = "words"
    FIELDS = "fields"
    ITEMS = "items"
    NAMED = "named"


FAMILY: Final[dict[str, str]] = {
    "model": "models",
    "server": "servers",
    "switch": "switches",
    "optic": "transceivers",
    "system": "storage",
    "behaviour": "fabrics",
    "nic": "nics",
    "endpoint_optic": "transceivers",
    "inband": "switches",
    "oob": "switches",
    "location": "sites",
    "cooling": "cooling",
    "rental": "rentals",
    "ups": "power_conversion",
    "calibration": "profiles",
}
"""Fields that name a catalog item, and the family they name it from."""

_UNITS: Final = {
    "tokens_trillion": "T tokens", "gpus": "GPUs", "days": "days", "site_mw": "MW", "limit_mw": "MW",
    "sequence_tokens": "tokens", "input_tokens": "tokens", "output_tokens": "tokens", "row_racks": "racks",
    "batch_sequences": "seqs", "oversubscription": ": 1", "reserved_ports": "ports", "horizon_months": "months",
    "staff_fte": "FTE", "usd_per_mtoken_output": "USD/Mtok", "usd_per_gpu_hour": "USD/GPUh",
    "sell_usd_per_gpu_hour": "USD/GPUh", "software_usd_per_gpu_year": "USD/GPU/y",
    "colocation_usd_per_kw_month": "USD/kW/mo", "mean_temperature_c": "°C", "committed_by_year": "",
    "grow_to_gpus": "GPUs", "racks": "racks", "spare_replicas": "replicas", "rails": "rails", "planes": "planes",
    "payment_fraction_per_month": "/month", "price_fall_fraction_per_year": "/year",
    "server_fraction_per_year": "/year", "network_fraction_per_year": "/year",
    "shipped_months_before_service": "months", "accepted_months_after_service": "months",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the schema.

    Attributes:
        model: Class the field or item is made of, for nested fields and lists.
        bounds: Allowed range in words; empty where any value goes.
        default: Default as plain data; None where the field is required.
        scalar: Whether a bare number does in place of the fields of `model`.
        numbers: Whether a list of plain values holds numbers.
    """

    name: str
    holds: Holds
    help: str
    nullable: bool
    required: bool
    default: Any
    bounds: str = ""
    unit: str = ""
    choices: tuple[str, ...] = ()
    family: str = ""
    model: type[BaseModel] | None = None
    scalar: bool = False
    numbers: bool = False

    @property
    def listed(self) -> bool:
        """Whether it holds several of something, which can be added, removed and, but for names, moved."""
        return self.holds in (Holds.ITEMS, Holds.NAMED, Holds.WORDS)

    @property
    def default_text(self) -> str:
        """The default in words."""
        if self.required:
            return "none, it must be given"
        if self.default is None:
            return "left open"
        return fmt.written(self.default) if not isinstance(self.default, dict | list | tuple) else "as below"


@cache
def fields_of(model: type[BaseModel]) -> tuple[Field, ...]:
    """Fields of a schema class, in its order."""
    docs = field_docs(model)
    return tuple(_field(name, info, docs.get(name, "")) for name, info in model.model_fields.items())


def field_at(path: tuple[str | int, ...]) -> Field | None:
    """Field of a path in the scenario; None for an item of a list, or where there is none."""
    model: type[BaseModel] | None = schema.Scenario
    found: Field | None = None
    for step in path:
        if isinstance(step, int):
            found = None
        elif found is not None and found.holds is Holds.NAMED:
            model, found = found.model, None
        else:
            found = next((one for one in fields_of(model) if one.name == step), None) if model else None
            if found is None:
                return None
            model = found.model if found.holds is not Holds.NAMED else model
    return found


def _field(name: str, info: FieldInfo, text: str) -> Field:
    members = [one for one in _members(info.annotation) if one is not type(None)]
    nullable = type(None) in _members(info.annotation)
    default = None if info.default is PydanticUndefined else info.default
    required = info.is_required()
    if info.default_factory is not None or isinstance(default, BaseModel):
        default = {}
    elif isinstance(default, StrEnum):
        default = str(default)
    holds, inner, choices = _kind(members)
    family = FAMILY.get(name, "") if holds in (Holds.TEXT, Holds.WORDS) else ""
    bare = [_bare(one) for one in members]
    return Field(
        name,
        Holds.CATALOG if family and holds is Holds.TEXT else holds,
        text.replace("\n", " "),
        nullable,
        required,
        default,
        _bounds([*info.metadata, *_metadata(members)]),
        _UNITS[name] if name in _UNITS else unit_of(name),
        choices,
        family,
        inner,
        inner is not None and any(one in (int, float) for one in bare),
        holds is Holds.WORDS and _item_of(bare[0]) in (int, float),
    )


def _members(annotation: Any) -> list[Any]:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return [one for part in typing.get_args(annotation) for one in _members(part)]
    return [annotation]


def _bare(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is typing.Annotated else annotation


def _metadata(members: list[Any]) -> list[Any]:
    found: list[Any] = []
    for member in members:
        if typing.get_origin(member) is typing.Annotated:
            for one in typing.get_args(member)[1:]:
                found += one.metadata if isinstance(one, FieldInfo) else [one]
    return found


def _item_of(thing: Any) -> Any:
    """Kind of a list's items; the thing itself where it is no list."""
    return _bare(typing.get_args(thing)[0]) if typing.get_origin(thing) is tuple else thing


def _words(item: Any) -> tuple[str, ...]:
    """Words that a list may hold; none where any do."""
    if isinstance(item, type) and issubclass(item, StrEnum):
        return tuple(str(one) for one in item)
    return (
        tuple(str(one) for one in typing.get_args(item)) if typing.get_origin(item) is typing.Literal else ()
    )


def _is_model(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, BaseModel)


def _kind(members: list[Any]) -> tuple[Holds, type[BaseModel] | None, tuple[str, ...]]:
    bare = [_bare(one) for one in members]
    words = [
        word for one in bare if typing.get_origin(one) is typing.Literal for word in typing.get_args(one)
    ]
    models = [one for one in bare if _is_model(one)]
    if words:
        if isinstance(words[0], int):
            return Holds.NUMBER, None, ()
        return Holds.CHOICE, models[0] if models else None, tuple(str(one) for one in words)
    if models:
        return Holds.FIELDS, models[0], ()
    first = bare[0]
    if typing.get_origin(first) is tuple:
        item = _bare(typing.get_args(first)[0])
        return (Holds.ITEMS, item, ()) if _is_model(item) else (Holds.WORDS, None, _words(item))
    if typing.get_origin(first) is dict:
        return Holds.NAMED, _bare(typing.get_args(first)[1]), ()
    if isinstance(first, type) and issubclass(first, StrEnum):
        return Holds.CHOICE, None, tuple(str(one) for one in first)
    if first is bool:
        return Holds.FLAG, None, ("true", "false")
    return (Holds.NUMBER if first in (int, float) else Holds.TEXT), None, ()


def _bounds(metadata: list[Any]) -> str:
    low = high = ""
    for one in metadata:
        if isinstance(one, annotated_types.Ge):
            low = f"{fmt.written(typing.cast(float, one.ge))} or more"
        elif isinstance(one, annotated_types.Gt):
            low = f"over {fmt.written(typing.cast(float, one.gt))}"
        elif isinstance(one, annotated_types.Le):
            high = f"{fmt.written(typing.cast(float, one.le))} at most"
        elif isinstance(one, annotated_types.Lt):
            high = f"under {fmt.written(typing.cast(float, one.lt))}"
    return ", ".join(part for part in (low, high) if part)
