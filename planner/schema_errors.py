"""Turns pydantic's findings into problems with place, nearest name and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from planner.documents import Document, Path_
from planner.errors import Problem, nearest

MOST_NAMED = 6
"""Fields of a mapping that a remedy names; of a larger one it would name too many."""


class DisagreementError(ValueError):
    """Fields below one mapping that contradict each other, each finding at the field that should change.

    Args:
        found: Path from the mapping to the field, and what is wrong.

    >>> str(DisagreementError([(("payment", "shipped_fraction"), "too much"), ((), "too little")]))
    'too much; too little'
    """

    def __init__(self, found: Iterable[tuple[Path_, str]]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(text for _, text in self.found))


def problems_of(
    error: ValidationError,
    document: Document,
    model: type[BaseModel],
    *,
    at: Path_ = (),
) -> list[Problem]:
    """One problem for each finding, at its line in the file.

    Args:
        error: What pydantic found.
        document: The file, for places.
        model: Class that was validated, for the names it knows.
        at: Path of the validated data inside the document.
    """
    found = []
    details = error.errors(include_url=False)
    locations = [detail["loc"] for detail in details]
    for detail in details:
        if detail["type"] == "too_short" and any(
            one[: len(detail["loc"])] == detail["loc"] and one != detail["loc"] for one in locations
        ):
            continue  # items were there and failed on their own
        if isinstance(detail.get("input"), dict | list) and _of_another_member(detail["loc"], locations):
            continue  # a mapping was meant for the other member of a union, which says what is wrong with it
        path = _stand(document, at, tuple(detail["loc"]))
        reason = (detail.get("ctx") or {}).get("error")
        if isinstance(reason, DisagreementError):
            found += [_at_field(document, at, (*path, *below), text) for below, text in reason.found]
            continue
        kind, given = detail["type"], detail.get("input")
        message, remedy = _said(kind, detail, given)
        if kind == "extra_forbidden" and path:
            message = f"no field '{path[-1]}' here"
            remedy = nearest(str(path[-1]), _fields(model, detail["loc"][:-1])) or "remove it"
        if kind == "model_type" and len(fields := _fields(model, detail["loc"])) <= MOST_NAMED:
            remedy += f" with {', '.join(fields)}"
        found.append(Problem(message, document.place((*at, *path)), ".".join(str(p) for p in path), remedy))
    return found


def _at_field(document: Document, at: Path_, path: Path_, message: str) -> Problem:
    """A finding at a field, or at the nearest mapping around it that stands in the file."""
    return Problem(message, document.place((*at, *path)), ".".join(str(part) for part in path))


def _is_member(part: Any) -> bool:
    """Whether a part of a location is pydantic's name of a union's member, such as ``literal['auto']``."""
    return isinstance(part, str) and "[" in part


def _of_another_member(location: tuple[Any, ...], locations: list[tuple[Any, ...]]) -> bool:
    """Whether this is a literal's complaint, and another member of the same union complains too."""
    for index, part in enumerate(location):
        if isinstance(part, str) and part.startswith("literal["):
            return any(
                one[:index] == location[:index] and one[index:] != location[index:] for one in locations
            )
    return False


def _stand(document: Document, at: Path_, location: tuple[Any, ...]) -> Path_:
    """The part of a location that names keys of the file; pydantic adds names of union members."""
    path: Path_ = ()
    for index, part in enumerate(location):
        last = index == len(location) - 1
        if (*at, *path, part) in document.places or (last and not _is_member(part)):
            path = (*path, part)
    return path


def _said(kind: str, detail: Any, given: Any) -> tuple[str, str]:
    context = detail.get("ctx") or {}
    shown = "an empty value" if given is None else f"{given!r}" if isinstance(given, str) else f"{given}"
    if isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) > 1e15:
        shown = f"{float(given):g}" if abs(given) < 1e300 else "a number beyond all bounds"
    if len(shown) > 60:
        shown = shown[:57] + "..."
    match kind:
        case "missing":
            return "is missing", "add it"
        case "greater_than_equal":
            return f"is {shown}, and must be {context['ge']:g} or more", ""
        case "greater_than":
            return f"is {shown}, and must be more than {context['gt']:g}", ""
        case "less_than_equal":
            return f"is {shown}, and must be {context['le']:g} or less", ""
        case "less_than":
            return f"is {shown}, and must be less than {context['lt']:g}", ""
        case "finite_number":
            return f"is {shown}, and must be a finite number", ""
        case "int_type" if isinstance(given, float):
            return f"is {shown}, and must be a whole number", "write its digits alone"
        case "float_type" | "float_parsing" | "int_type" | "int_parsing":
            return f"is {shown}, and must be a number", "write it without quotes, unit or %"
        case "int_from_float":
            return f"is {shown}, and must be a whole number", ""
        case "enum" | "literal_error":
            expected = str(context.get("expected", ""))
            choices = re.findall(r"'([^']+)'", expected)
            return f"is {shown}, and must be one of {', '.join(choices)}", (
                nearest(given, choices, count=1) if isinstance(given, str) else ""
            )
        case "model_type" | "dict_type":
            return f"is {shown}, and must be a mapping of keys to values", "write key: value lines"
        case "tuple_type" | "list_type":
            return f"is {shown}, and must be a list", "write [a, b]"
        case "too_short" if isinstance(given, (list, tuple, dict)):
            least = int(context["min_length"])
            return f"has {len(given)} items, and needs at least {least}", "add one" if least == 1 else ""
        case "too_long" if isinstance(given, (list, tuple, dict)):
            return f"has {len(given)} items, and takes at most {context['max_length']:g}", ""
        case "string_too_short" if not given:
            return "is empty", "write a word"
        case "string_too_long":
            return f"has {len(given)} letters, and takes at most {context['max_length']:g}", ""
        case "string_type":
            return f"is {shown}, and must be text", "put it in quotes" if given is not None else ""
        case "bool_type" | "bool_parsing":
            return f"is {shown}, and must be true or false", ""
        case "string_pattern_mismatch" if str(context.get("pattern", "")).startswith(r"^\d{4}"):
            return f"is {shown}, and must be a date", "for instance 2025, 2025-03 or 2025-03-01"
        case "string_pattern_mismatch" if str(context.get("pattern", "")).startswith("^[a-z0-9]"):
            return f"is {shown}, and must be an id", "use lower-case letters, digits, '.' and '-'"
        case "value_error":
            return str(context.get("error", detail["msg"])), ""
        case _:
            return f"is {shown}: {str(detail['msg']).lower()}", ""


def _fields(model: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    """Names a nested model knows, found by walking the annotations."""
    current: Any = model
    for part in location:
        if isinstance(part, str) and _is_model(current) and part in current.model_fields:
            current = _inner(current.model_fields[part].annotation)
    return list(current.model_fields) if _is_model(current) else list(model.model_fields)


def _is_model(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, BaseModel)


def _inner(annotation: Any) -> Any:
    if _is_model(annotation):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _inner(argument)
        if _is_model(found):
            return found
    return annotation
