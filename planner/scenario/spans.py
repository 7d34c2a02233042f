"""Where every key, value and item of a YAML text begins and ends, for edits that leave the rest alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from planner.documents import Path_


class Shape(StrEnum):
    """What a node is."""

    SCALAR = "scalar"
    MAP = "map"
    LIST = "list"


@dataclass(slots=True)
class Node:
    """One value of the text.

    Attributes:
        start: Offset of its first character.
        end: Offset behind its last one; of a block collection, behind its last item.
        column: Column of the first character; the indentation of a block collection.
        flow: Whether a collection is written in brackets.
        style: Quote or block mark of a scalar, empty for a plain one.
        keys: Keys of a mapping, in order.
        values: Values of a mapping, or items of a list, in order.
    """

    shape: Shape
    start: int
    end: int
    column: int
    flow: bool = False
    style: str = ""
    text: str = ""
    keys: list[Node] = field(default_factory=list)
    values: list[Node] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing is written: the value of ``key:``."""
        return self.start == self.end and self.shape is Shape.SCALAR

    def index(self, step: str | int) -> int | None:
        """Position of a key or an item; None where there is none."""
        if self.shape is Shape.MAP and isinstance(step, str):
            return next((i for i, key in enumerate(self.keys) if key.text == step), None)
        if self.shape is Shape.LIST and isinstance(step, int):
            return step if 0 <= step < len(self.values) else None
        return None


def span_tree(text: str) -> Node:
    """The root value of a text that `planner.documents.parse_document` takes."""
    from ruamel.yaml import YAML

    stack: list[Node] = []
    root = Node(Shape.SCALAR, len(text), len(text), 0)
    for event in YAML(typ="safe").parse(text):
        kind = type(event).__name__
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            done = stack.pop()
            parts = [*done.keys, *done.values]
            done.end = event.end_mark.index if done.flow else max(part.end for part in parts)
            continue
        node = _node(event, kind)
        if node is None:
            continue
        if not stack:
            root = node
        else:
            top = stack[-1]
            is_key = top.shape is Shape.MAP and len(top.keys) == len(top.values)
            (top.keys if is_key else top.values).append(node)
        if node.shape is not Shape.SCALAR:
            stack.append(node)
    return root


def _node(event: Any, kind: str) -> Node | None:
    if kind == "ScalarEvent":
        start, end = event.start_mark, event.end_mark
        return Node(
            Shape.SCALAR, start.index, end.index, start.column,
            style=str(event.style or ""), text=str(event.value),
        )  # fmt: skip
    shape = {"MappingStartEvent": Shape.MAP, "SequenceStartEvent": Shape.LIST}.get(kind)
    if shape is None:
        return None
    start = event.start_mark
    return Node(shape, start.index, start.index, start.column, flow=bool(event.flow_style))


def descend(root: Node, path: Path_) -> Iterator[Node]:
    """The nodes along a path, the root first, as far as they exist."""
    node = root
    yield node
    for step in path:
        found = node.index(step)
        if found is None:
            return
        node = node.values[found]
        yield node


def line_start(text: str, offset: int) -> int:
    """Offset of the first character of a line."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Offset behind the line break that ends a line, or of the end of the text."""
    if 0 < offset <= len(text) and text[offset - 1] == "\n":
        return offset  # a block scalar ends behind its line break
    found = text.find("\n", offset)
    return len(text) if found < 0 else found + 1
