"""Edits of a scenario's text that leave every other byte alone: comments, layout and line breaks stay.

Each function is pure: a text and a path in, a text out. What comes out was read again and holds
exactly the data that was asked for, so a layout that can't be edited is refused and never damaged.
"""

from __future__ import annotations

import copy
from typing import Any

from planner.documents import Path_, parse_document
from planner.errors import InputError, Problem, ScenarioError
from planner.scenario.spans import Node, Shape, descend, line_end, line_start, span_tree
from planner.scenario.yamltext import block, inline, is_block, scalar


def set_value(text: str, path: Path_, value: Any) -> str:
    """The text with one value set; keys that are missing on the way are added behind their siblings.

    Args:
        text: A scenario file's text.
        path: Keys and item numbers; the number behind the last item adds one.
        value: Scalar, list or mapping.

    Raises:
        ScenarioError: The path goes through a value that holds no fields, or the layout can't be edited.
    """
    data = parse_document(text, name="scenario").data
    expected = _with(data, path, value)
    if _alike(expected, data):
        return text
    nodes = list(descend(span_tree(text), path))
    if len(nodes) == len(path) + 1:
        return _checked(_replaced(text, nodes, path, value), expected, path)
    rest = path[len(nodes) - 1 :]
    nested = _nested(rest[1:], value)
    here = nodes[-1]
    if here.shape is Shape.SCALAR:
        wrapped = {rest[0]: nested} if isinstance(rest[0], str) else [nested]
        return _checked(_replaced(text, nodes, path[: len(nodes) - 1], wrapped), expected, path)
    return _checked(_inserted(text, here, rest[0], nested), expected, path)


def remove_key(text: str, path: Path_) -> str:
    """The text without a key or item; mappings that this leaves empty go too.

    The comment on its line goes with it, and so do comment lines directly above, unless the key is
    its mapping's first, where they usually speak of the whole mapping.

    Raises:
        ScenarioError: Nothing stands at the path, or the layout can't be edited.
    """
    data = parse_document(text, name="scenario").data
    nodes = list(descend(span_tree(text), path))
    if len(nodes) != len(path) + 1 or not path:
        raise ScenarioError(Problem("is not in this file", key=_dotted(path)))
    while len(path) > 1 and len(nodes[-2].values) == 1 and nodes[-2].shape is Shape.MAP:
        if nodes[-3].shape is not Shape.MAP:
            break
        path, nodes = path[:-1], nodes[:-1]
    expected = _without(data, path)
    parent = nodes[-2]
    if len(parent.values) == 1:
        nothing: Any = {} if parent.shape is Shape.MAP else []
        return _checked(_replaced(text, nodes[:-1], path[:-1], nothing), expected, path)
    position = parent.index(path[-1])
    assert position is not None
    return _checked(_cut(text, parent, position), expected, path)


def add_item(text: str, path: Path_, item: Any) -> str:
    """The text with one more item at the end of a list, which is made where it is missing."""
    nodes = list(descend(span_tree(text), path))
    if len(nodes) == len(path) + 1 and nodes[-1].shape is Shape.LIST:
        return set_value(text, (*path, len(nodes[-1].values)), item)
    return set_value(text, path, [item])


def remove_item(text: str, path: Path_) -> str:
    """The text without one item of a list; the last one leaves ``[]``."""
    return remove_key(text, path)


def without_head_comment(text: str) -> str:
    """The text without the comment lines before its first key; a line for editors (``yaml-language-server``) stays.

    >>> without_head_comment("# About this plan.\\n# More.\\n\\n# yaml-language-server: $schema=a\\nname: x  # y\\n# z\\n")
    '# yaml-language-server: $schema=a\\nname: x  # y\\n# z\\n'
    """
    lines = text.splitlines(keepends=True)
    size = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    kept = [line for line in lines[:size] if line.startswith("#") and "yaml-language-server:" in line]
    return "".join([*kept, *lines[size:]])


def override(text: str, merged: Any, path: Path_, value: Any) -> str:
    """Set a value of a plan that may extend another: items are found by id, and written where missing.

    Args:
        merged: The plan's data with its bases, which the path speaks of.
    """
    return set_value(*own_path(text, merged, path), value)


def own_path(text: str, merged: Any, path: Path_) -> tuple[str, Path_]:
    """A text in which a merged plan's path can be set, and the path there.

    An item that only the base has is first added to this file, with its id alone.
    """
    own: Any = parse_document(text, name="scenario").data
    found: Path_ = ()
    for step in path:
        at = step
        if isinstance(step, int) and isinstance(merged, list):
            items = own if isinstance(own, list) else []
            name = _id(_child(merged, step))
            place = min(step, len(items)) if name is None else _position(items, name)
            if place is None:
                text, place = add_item(text, found, {"id": name}), len(items)
                own = [*items, {"id": name}]
            at = place
        found, merged, own = (*found, at), _child(merged, step), _child(own, at)
    return text, found


def stands_in_text(text: str, merged: Any, path: Path_) -> Path_ | None:
    """Path of a merged plan's value in this file's own text; None where only a base or a default has it."""
    own: Any = parse_document(text, name="scenario").data
    found: Path_ = ()
    for step in path:
        at: str | int | None = step
        if isinstance(step, int) and isinstance(own, list):
            name = _id(_child(merged, step))
            at = step if name is None else _position(own, name)
        if at is None or _child(own, at, _MISSING) is _MISSING:
            return None
        found, merged, own = (*found, at), _child(merged, step), _child(own, at)
    return found


def _id(item: Any) -> str | None:
    name = item.get("id") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _position(items: list[Any], name: str) -> int | None:
    return next((i for i, one in enumerate(items) if _id(one) == name), None)


_MISSING: Any = object()


def _child(data: Any, step: str | int, default: Any = None) -> Any:
    if isinstance(data, dict):
        return data.get(step, default)
    if isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
        return data[step]
    return default


def _checked(text: str, expected: Any, path: Path_) -> str:
    """The text, after looking that it reads as what was meant."""
    try:
        found = parse_document(text, name="scenario").data
    except InputError:
        found = _MISSING
    if found is _MISSING or not _alike(found, expected):
        raise ScenarioError(
            Problem(
                "can't be changed here as it is laid out", key=_dotted(path), remedy="change it in an editor"
            )
        )
    return text


def _alike(left: Any, right: Any) -> bool:
    return repr(left) == repr(right) or (left == right and _types(left) == _types(right))


def _types(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _types(value) for key, value in data.items()}
    return [_types(value) for value in data] if isinstance(data, list) else type(data)


def _dotted(path: Path_) -> str:
    return ".".join(str(step) for step in path)


def _nested(rest: Path_, value: Any) -> Any:
    for step in reversed(rest):
        value = {step: value} if isinstance(step, str) else [value]
    return value


def with_value(data: Any, path: Path_, value: Any) -> Any:
    """Plain data with one value set; mappings that are missing on the way are made.

    >>> with_value({"site": {"pue": 1.3}}, ("site", "cooling"), "air")
    {'site': {'pue': 1.3, 'cooling': 'air'}}
    """
    return _with(data, path, value)


def _with(data: Any, path: Path_, value: Any) -> Any:
    if not path:
        return _plain(value)
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(data) if isinstance(data, list) else []
        if step > len(items):
            raise ScenarioError(Problem(f"has {len(items)} items", key=_dotted(path)))
        items[step : step + 1] = [_with(items[step] if step < len(items) else None, rest, value)]
        return items
    if isinstance(data, list):
        raise ScenarioError(Problem("is a list, and items have numbers", key=_dotted(path)))
    fields = dict(data) if isinstance(data, dict) else {}
    fields[step] = _with(fields.get(step), rest, value)
    return fields


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _without(data: Any, path: Path_) -> Any:
    found = copy.deepcopy(data)
    here = found
    for step in path[:-1]:
        here = here[step]
    del here[path[-1]]
    return found


def _break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _step(root: Node) -> int:
    """Indentation of the text's first nested mapping; 2 where there is none."""
    for value in root.values if root.shape is Shape.MAP and not root.flow else ():
        if value.shape is Shape.MAP and not value.flow:
            return max(1, value.column - root.column)
    return 2


def _lines(text: str, value: Any, column: int, step: int = 2) -> str:
    return (_break(text) + " " * column).join(block(value, step))


def _replaced(text: str, nodes: list[Node], path: Path_, value: Any) -> str:
    """The text with the last node's value replaced."""
    node, parent = nodes[-1], nodes[-2] if len(nodes) > 1 else None
    within_flow = any(one.flow for one in nodes[:-1])
    if node.empty:
        return _filled(text, node, parent, value, within_flow, _step(nodes[0]))
    if node.style in ("|", ">"):
        tail = text[node.start : node.end]
        ended = tail.endswith("\n")
        return text[: node.start] + inline(value) + (_break(text) if ended else "") + text[node.end :]
    if node.shape is Shape.SCALAR or node.flow:
        return text[: node.start] + inline(value) + text[node.end :]
    if is_block(value):
        return text[: node.start] + _lines(text, value, node.column) + text[node.end :]
    if parent is None or parent.shape is Shape.LIST:
        return text[: node.start] + inline(value) + text[node.end :]
    position = parent.index(path[-1])
    assert position is not None
    colon = text.index(":", parent.keys[position].end) + 1
    first_line, _, _ = text[colon : node.start].partition("\n")
    stop = line_end(text, node.end)
    ending = _break(text) if text[:stop].endswith("\n") else ""
    return f"{text[:colon]} {inline(value)}{first_line.rstrip()}{ending}{text[stop:]}"


def _filled(text: str, node: Node, parent: Node | None, value: Any, within_flow: bool, step: int) -> str:
    """The text with a value written where nothing was."""
    if parent is None:
        gap = "" if not text or text.endswith("\n") else _break(text)
        body = _lines(text, value, 0) if is_block(value) else inline(value)
        return f"{text}{gap}{body}{_break(text)}"
    if is_block(value) and not within_flow and parent.shape is Shape.MAP:
        stop = line_end(text, node.end)
        column = parent.column + step
        gap = "" if text[:stop].endswith("\n") else _break(text)
        body = " " * column + _lines(text, value, column, step)
        return f"{text[:stop]}{gap}{body}{_break(text)}{text[stop:]}"
    before = text[: node.start]
    mark = " " if before[-1:] in (":", "-") else ""
    if parent.shape is Shape.MAP and within_flow and not before.rstrip().endswith(":"):
        mark = ": "
    return f"{before}{mark}{inline(value)}{text[node.start :]}"


def _inserted(text: str, parent: Node, step: str | int, value: Any) -> str:
    """The text with one more key or item behind the last one."""
    entry = {step: value} if parent.shape is Shape.MAP else [value]
    if parent.flow:
        body = inline(entry)[1:-1]
        if not parent.values:
            return text[: parent.start + 1] + body + text[parent.end - 1 :]
        stop = parent.values[-1].end
        return f"{text[:stop]}, {body}{text[stop:]}"
    stop = line_end(text, parent.end)
    gap = "" if text[:stop].endswith("\n") else _break(text)
    indent = " " * parent.column
    if isinstance(step, str) and not is_block(value):
        body = f"{scalar(step)}: {inline(value)}"
    else:
        body = _lines(text, entry, parent.column)
    return f"{text[:stop]}{gap}{indent}{body}{_break(text)}{text[stop:]}"


def _cut(text: str, parent: Node, position: int) -> str:
    """The text without one of several keys or items."""
    firsts = parent.keys if parent.shape is Shape.MAP else parent.values
    first, value = firsts[position], parent.values[position]
    last = position == len(parent.values) - 1
    if parent.flow:
        return _cut_flow(text, parent, position, first, value)
    start = first.start if parent.shape is Shape.MAP else _dash(text, parent, position)
    begin = line_start(text, start)
    if text[begin:start].strip():  # behind the dash of an item: the next one moves up
        assert not last
        following = (
            parent.keys[position + 1].start
            if parent.shape is Shape.MAP
            else _dash(text, parent, position + 1)
        )
        return text[:start] + text[following:]
    if position:
        begin = _comments_above(text, begin, start - begin)
    return text[:begin] + text[line_end(text, value.end) :]


def _cut_flow(text: str, parent: Node, position: int, first: Node, value: Node) -> str:
    firsts = parent.keys if parent.shape is Shape.MAP else parent.values
    if position:
        before = text[parent.values[position - 1].end : first.start]
        if "\n" not in before:
            return text[: parent.values[position - 1].end] + text[value.end :]
        if position == len(firsts) - 1:
            return text[: first.start] + text[value.end :]  # a comma at the end is allowed
    following = firsts[position + 1].start
    between = text[value.end : following]
    if "#" not in between:
        return text[: first.start] + text[following:]
    comma = value.end + between.index(",")
    return text[: first.start] + text[value.end : comma] + text[comma + 1 :]


def _dash(text: str, parent: Node, position: int) -> int:
    """Offset of the dash before an item."""
    if position == 0:
        return parent.start
    at = line_end(text, parent.values[position - 1].end)
    while at < parent.values[position].start:
        if (
            text[at : at + parent.column].strip() == ""
            and text[at + parent.column : at + parent.column + 1] == "-"
        ):
            return at + parent.column
        at = line_end(text, at + 1) if text[at] != "\n" else at + 1
    return parent.values[position].start


def _comments_above(text: str, begin: int, column: int) -> int:
    """Offset of the first of the comment lines directly above a line, at its indentation."""
    while begin:
        above = line_start(text, begin - 1)
        line = text[above:begin]
        if not (line.startswith(" " * column + "#")):
            return begin
        begin = above
    return begin
