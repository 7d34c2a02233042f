"""Exchanging two neighbours of a list in a scenario's text; every other byte stays."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from planner.documents import Path_, parse_document
from planner.errors import InputError, Problem, ScenarioError
from planner.scenario.spans import Node, Shape, descend, line_end, line_start, span_tree


def swap_items(text: str, path: Path_, first: int) -> str:
    """The text with an item of a list and the one behind it exchanged, each with the comments above it.

    Args:
        text: A scenario file's text.
        path: Where the list stands.
        first: Number of the item that goes one back.

    Raises:
        ScenarioError: No list of that many items stands there, or its layout can't be edited.

    >>> print(swap_items("halls:\\n  - id: a  # near\\n  # far\\n  - id: b\\n", ("halls",), 0), end="")
    halls:
      # far
      - id: b
      - id: a  # near
    """
    nodes = list(descend(span_tree(text), path))
    parent = nodes[-1]
    if (
        len(nodes) != len(path) + 1
        or parent.shape is not Shape.LIST
        or not 0 <= first < len(parent.values) - 1
    ):
        raise ScenarioError(Problem("has no two items there in this file", key=_dotted((*path, first))))
    one, two = _stretch(text, parent, first), _stretch(text, parent, first + 1)
    made = (
        text[: one.start]
        + _ended(text, two)
        + text[one.end : two.start]
        + _ended(text, one)
        + text[two.end :]
    )
    return _checked(made, _expected(text, path, first), path)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Offsets of an item with what belongs to it."""

    start: int
    end: int
    whole_lines: bool


def _stretch(text: str, parent: Node, at: int) -> _Stretch:
    value = parent.values[at]
    if parent.flow:
        return _Stretch(value.start, value.end, False)
    begin = line_start(text, value.start)
    while begin and text[begin : begin + parent.column + 1].strip() != "-":
        begin = line_start(text, begin - 1)  # the dash stands on a line of its own above its item
    while at and begin:  # comments above the first item usually speak of the list
        above = line_start(text, begin - 1)
        if not text[above:begin].startswith(" " * parent.column + "#"):
            break
        begin = above
    return _Stretch(begin, line_end(text, value.end), True)


def _ended(text: str, one: _Stretch) -> str:
    """An item's text; the last line of a file may lack its break."""
    part = text[one.start : one.end]
    if not one.whole_lines or part.endswith("\n"):
        return part
    return part + ("\r\n" if "\r\n" in text else "\n")


def _expected(text: str, path: Path_, first: int) -> Any:
    data = copy.deepcopy(parse_document(text, name="scenario").data)
    here: Any = data
    for step in path:
        here = here[step]
    here[first], here[first + 1] = here[first + 1], here[first]
    return data


def _checked(text: str, expected: Any, path: Path_) -> str:
    """The text, after looking that it reads as what was meant."""
    try:
        found = parse_document(text, name="scenario").data
    except InputError:
        found = None
    if found != expected:
        raise ScenarioError(
            Problem(
                "can't be reordered here as it is laid out", key=_dotted(path), remedy="do it in an editor"
            )
        )
    return text


def _dotted(path: Path_) -> str:
    return ".".join(str(step) for step in path)
