"""Edits of lists in a draft: an item moved, a plain value written, added or taken away, a part switched off.

A list without ids is replaced as a whole by a plan that extends another, so that a change of one of its
values that only the base has writes the whole list into this file.
"""

from __future__ import annotations

from typing import Any

from planner.documents import Path_
from planner.errors import Problem, ScenarioError
from planner.scenario import edit
from planner.scenario.reorder import swap_items
from planner.tui.draft import Draft, kept, restored, retexted, without_item
from planner.tui.fields import Field, Holds, field_at


def moved(draft: Draft, path: Path_, step: int) -> Draft:
    """The draft with an item one place further up (-1) or down (+1) in its list.

    Raises:
        ScenarioError: It is at the end already, its order is the base's, or the layout can't take it.
    """
    at, where = path[-1], path[:-1]
    items = draft.value(where)
    if not isinstance(at, int) or not isinstance(items, list) or not 0 <= at < len(items):
        raise ScenarioError(Problem("stands in no list, and only a list has an order", key=_dotted(path)))
    other = at + step
    if not 0 <= other < len(items):
        raise ScenarioError(Problem(f"is the {'first' if step < 0 else 'last'} already", key=_dotted(path)))
    wanted = list(items)
    wanted[at], wanted[other] = wanted[other], wanted[at]
    found = _swapped(draft, where, at, other)
    if found is None and _plain(items):
        found = kept(draft, where, wanted)
    if found is None or found.value(where) != wanted:
        raise ScenarioError(
            Problem("has its place from the base, which a plan that extends it can't change", key=_dotted(path),
                    remedy="move it in the base")
        )  # fmt: skip
    return found


def _swapped(draft: Draft, where: Path_, at: int, other: int) -> Draft | None:
    """The draft with two neighbours exchanged in its own text; None where they don't both stand there."""
    bare = draft.text.removeprefix("\ufeff")
    mark = draft.text.removesuffix(bare)
    own = [edit.stands_in_text(bare, draft.document.data, (*where, one)) for one in sorted((at, other))]
    first, second = own
    if first is None or second is None or first[:-1] != second[:-1]:
        return None
    low, high = first[-1], second[-1]
    if not isinstance(low, int) or not isinstance(high, int) or high != low + 1:
        return None
    return retexted(draft, mark + swap_items(bare, first[:-1], low))


def with_word(draft: Draft, path: Path_, value: Any) -> Draft:
    """The draft with one plain value of a list written; the number behind the last one adds it.

    Raises:
        ScenarioError: The layout can't take it.
    """
    items, at = draft.value(path[:-1]), path[-1]
    assert isinstance(at, int)
    items = list(items) if isinstance(items, list | tuple) else []
    bare = draft.text.removeprefix("\ufeff")
    if edit.stands_in_text(bare, draft.document.data, path[:-1]) is not None:
        return kept(draft, path, value)
    items[at : at + 1] = [value]
    return kept(draft, path[:-1], items)


def without_word(draft: Draft, path: Path_) -> Draft:
    """The draft without one plain value of a list."""
    where, at = path[:-1], path[-1]
    assert isinstance(at, int)
    bare = draft.text.removeprefix("\ufeff")
    if edit.stands_in_text(bare, draft.document.data, path) is not None:
        return without_item(draft, path)
    items = draft.value(where)
    return kept(draft, where, [one for index, one in enumerate(items) if index != at])


def without_part(draft: Draft, path: Path_) -> Draft:
    """The draft with a named item, or a part that may be left out, taken away.

    Raises:
        ScenarioError: Nothing can be left out there, or only the base has it.
    """
    bare = draft.text.removeprefix("\ufeff")
    own = edit.stands_in_text(bare, draft.document.data, path)
    if own is not None:
        return retexted(draft, draft.text.removesuffix(bare) + edit.remove_key(bare, own))
    field = field_at(path)
    if field is not None and field.nullable:
        return restored(draft, path)
    raise ScenarioError(
        Problem("comes from the base, and a plan that extends it can't take it away", key=_dotted(path),
                remedy="take it away in the base")
    )  # fmt: skip


def part_at(path: Path_) -> Path_ | None:
    """The innermost thing around a path that can be added or removed: an item, a named item, an optional part.

    >>> part_at(("site", "halls", 0, "racks")), part_at(("money", "tax", "rate_fraction")), part_at(("site", "pue"))
    (('site', 'halls', 0), ('money', 'tax'), None)
    """
    for length in range(len(path), 1, -1):
        here = path[:length]
        field, above = field_at(here), field_at(here[:-1])
        if isinstance(here[-1], int) or (above is not None and above.holds is Holds.NAMED):
            return here
        if field is not None and field.holds is Holds.FIELDS and field.nullable:
            return here
    return None


def list_at(path: Path_) -> tuple[Path_, Field] | None:
    """The innermost list around a path, or at it, with its field.

    >>> found = list_at(("site", "halls", 0, "racks"))
    >>> found is not None and found[0], list_at(("site", "pue"))
    (('site', 'halls'), None)
    """
    for length in range(len(path), 0, -1):
        field = field_at(path[:length])
        if field is not None and field.listed:
            return path[:length], field
    return None


def _plain(items: list[Any]) -> bool:
    return not any(isinstance(one, dict | list) for one in items)


def _dotted(path: Path_) -> str:
    return ".".join(str(step) for step in path)
