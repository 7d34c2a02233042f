"""A commented scenario to start from, made from the schema so that its comments stay true."""

from __future__ import annotations

import types
import typing
from enum import StrEnum
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from planner.field_docs import field_docs
from planner.scenario.schema import Scenario

EXAMPLE: dict[str, Any] = {
    "name": "My cluster",
    "as_of": "2026-11-30",
    "workloads": [{"id": "pretrain", "kind": "training", "model": "llama-3.1-70b", "tokens_trillion": 1.0}],
    "cluster": {"groups": [{"id": "main", "server": "hgx-h200", "gpus": 256}]},
    "network": {"leaf": {"switch": "qm9700"}},
    "site": {"location": "us-virginia", "limit_mw": 1.0},
    "limits": {"days": 60},
}
"""Values of the template; every other field stands as a comment with its default."""

SKIPPED = {"extends", "schema_version"}


def scenario_template(*, schema_name: str) -> str:
    """YAML text with every field, its help and its default.

    Args:
        schema_name: File of the JSON Schema beside it, for editors.
    """
    lines = [
        f"# yaml-language-server: $schema={schema_name}",
        "# Fields that start with '#' show their default; take the '#' away to change one.",
        "schema_version: 1",
    ]
    _write_fields(Scenario, EXAMPLE, 0, lines)
    return "\n".join(lines) + "\n"


def _write_fields(model: type[BaseModel], example: dict[str, Any], depth: int, out: list[str]) -> None:
    pad = "  " * depth
    docs = field_docs(model)
    for name, field in model.model_fields.items():
        if depth == 0 and name in SKIPPED:
            continue
        help_text = f"{pad}# {' '.join(docs.get(name, name).split())}"
        choices = _choices(field.annotation)
        if choices:
            help_text += f" [{' | '.join(choices)}]"
        inner = _model(field.annotation)
        if depth == 0:
            out.append("")
        if name in example:
            out.append(help_text)
            _write_value(name, example[name], inner, depth, out)
        elif inner is not None and not _is_list(field.annotation) and name != "plan":
            out += [help_text, f"{pad}# {name}:"]
            commented: list[str] = []
            _write_fields(inner, {}, depth + 1, commented)
            out += [line if line.lstrip().startswith("#") or not line else f"# {line}" for line in commented]
        else:
            out += [help_text, f"{pad}# {name}: {_default(field)}"]
            if inner is not None and _is_list(field.annotation):
                _write_item(name, inner, depth, out)
            if inner is not None and name == "plan":
                _write_choice(name, inner, depth, out)


def _write_choice(name: str, inner: type[BaseModel], depth: int, out: list[str]) -> None:
    """The fields of what may stand in place of a word."""
    pad = "  " * depth
    out += [f"{pad}# Or with fields of its own, in place of the line above:", f"{pad}# {name}:"]
    _write_fields(inner, {}, depth + 1, out)


def _write_item(name: str, inner: type[BaseModel], depth: int, out: list[str]) -> None:
    """What an item of a list says, where the list is empty by default."""
    pad = "  " * depth
    out += [f"{pad}# Or with items of its own, in place of the line above:", f"{pad}# {name}:"]
    body: list[str] = []
    _write_fields(inner, {}, depth + 2, body)
    help_text, first, *rest = body
    out += [help_text[2:], first[2:].replace("# ", "# - ", 1), *rest]


def _write_value(name: str, value: Any, inner: type[BaseModel] | None, depth: int, out: list[str]) -> None:
    pad = "  " * depth
    if inner is not None and isinstance(value, dict):
        out.append(f"{pad}{name}:")
        _write_fields(inner, value, depth + 1, out)
    elif inner is not None and isinstance(value, list):
        out.append(f"{pad}{name}:")
        for item in value:
            body: list[str] = []
            _write_fields(inner, item, depth + 2, body)
            first = next(index for index, line in enumerate(body) if not line.lstrip().startswith("#"))
            body[first] = f"{pad}  - {body[first].lstrip()}"
            out += [*(line[2:] for line in body[:first]), *body[first:]]
    else:
        out.append(f"{pad}{name}: {value}")


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        return "…"
    if default is None:
        return "null"
    if isinstance(default, StrEnum):
        return default.value
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, (tuple, list)):
        return "[]"
    if isinstance(default, dict):
        return "{}"
    return str(default)


def _arguments(annotation: Any) -> list[Any]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType, tuple, list, typing.Annotated):
        return [found for one in typing.get_args(annotation) for found in _arguments(one)]
    return [annotation]


def _model(annotation: Any) -> type[BaseModel] | None:
    return next(
        (one for one in _arguments(annotation) if isinstance(one, type) and issubclass(one, BaseModel)), None
    )


def _is_list(annotation: Any) -> bool:
    origins = {
        typing.get_origin(annotation),
        *(typing.get_origin(one) for one in typing.get_args(annotation)),
    }
    return bool(origins & {tuple, list})


def _choices(annotation: Any) -> list[str]:
    for one in _arguments(annotation):
        if isinstance(one, type) and issubclass(one, StrEnum):
            return [choice.value for choice in one]
    return []
