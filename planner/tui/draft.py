"""A scenario that is being edited: a frozen value, from which each edit makes the next one.

The text of the file is what is edited. While a value is being typed only the plain data changes, so
that a key press parses no YAML; keeping the value changes the text.
"""

from __future__ import annotations

import copy
import errno
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.documents import MAX_BYTES, Document, Path_, parse_document
from planner.errors import Place, PlannerError, Problem, ScenarioError
from planner.resources import shipped
from planner.scenario import edit
from planner.scenario.load import Loaded, find_scenario, merge_text, validated
from planner.tui.fields import field_at
from planner.tui.files import real


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario under edit.

    Attributes:
        path: Where it is saved, and where its bases lie.
        text: Text of the file as edited so far.
        saved: Text as it stands on disk, as far as is known.
        document: Merged plain data, bases included.
        loaded: The validated scenario; None while something is wrong.
        problems: What is wrong.
        new: Whether the file was never written.
    """

    path: Path
    text: str
    saved: str
    document: Document
    bases: tuple[str, ...]
    loaded: Loaded | None
    problems: tuple[Problem, ...] = ()
    new: bool = False

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self.new or self.text != self.saved

    @property
    def shipped(self) -> bool:
        """Whether it is a scenario that ships, which is never written over."""
        return is_shipped(self.path)

    def value(self, path: Path_) -> Any:
        """Plain data at a path of the merged document; None where there is none."""
        here: Any = self.document.data
        for step in path:
            if isinstance(here, dict):
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int) and step < len(here):
                here = here[step]
            else:
                return None
        return here


def is_shipped(path: Path) -> bool:
    """Whether a file is among the scenarios that ship."""
    return real(path).is_relative_to(real(shipped("templates")))


def open_draft(name: str) -> Draft:
    """Read a scenario for editing, valid or not.

    Raises:
        ScenarioError: No such file, it can't be read, or it is no YAML.
    """
    path = find_scenario(name)
    return draft_of(read_text(path), path)


def read_text(path: Path) -> str:
    """Text of a file with its line breaks as they are.

    Raises:
        ScenarioError: It can't be read, is no file, is larger than a scenario may be, or isn't UTF-8.
    """
    try:
        told = path.stat()
        if not stat.S_ISREG(told.st_mode):  # reading a pipe would wait for ever
            raise OSError(errno.EINVAL, "is a folder, a pipe or a device, and no file")
        if told.st_size > MAX_BYTES:
            raise _too_large(told.st_size, path)
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ScenarioError(Problem(f"can't be read: {error.strerror or error}", Place(str(path)))) from error
    except UnicodeDecodeError as error:
        raise ScenarioError(Problem("is not UTF-8", Place(str(path)), remedy="save it as UTF-8")) from error


def _too_large(size: int, path: Path) -> ScenarioError:
    told = f"has {size:,} bytes, and at most {MAX_BYTES:,} are read"
    return ScenarioError(Problem(told, Place(str(path)), remedy="keep only planning input in it"))


def draft_of(text: str, path: Path, *, saved: str | None = None, new: bool = False) -> Draft:
    """A draft of a text.

    Args:
        saved: What stands on disk; the text itself by default.

    Raises:
        ScenarioError: The text is no YAML that is taken, no mapping, larger than what is read, or a base is missing.
    """
    if len(text) > MAX_BYTES // 4 and (size := len(text.encode())) > MAX_BYTES:
        raise _too_large(size, path)
    document, bases = merge_text(text.removeprefix("\ufeff"), path)
    if not isinstance(document.data, dict):  # nothing in it can be edited by fields
        told = "a scenario is a mapping of keys"
        raise ScenarioError(
            Problem(told, Place(str(path)), remedy="start from a new plan, or from planner init")
        )
    draft = Draft(path, text, text if saved is None else saved, document, bases, None, (), new)
    return _checked(draft)


def _checked(draft: Draft) -> Draft:
    try:
        return replace(draft, loaded=validated(draft.document, draft.path, draft.bases), problems=())
    except ScenarioError as error:
        return replace(draft, loaded=None, problems=error.problems)


def preview(draft: Draft, path: Path_, value: Any) -> Draft:
    """The draft with a value as it is being typed: its data changes, its text stays."""
    data = copy.deepcopy(draft.document.data)
    here: Any = data
    for position, step in enumerate(path[:-1]):
        if isinstance(here, dict) and not isinstance(here.get(step), dict | list):
            here[step] = {} if isinstance(path[position + 1], str) else []
        here = here[step]
    here[path[-1]] = value
    places = {**draft.document.places, path: Place(draft.document.path)}
    return _checked(replace(draft, document=Document(data, draft.document.path, places)))


def retexted(draft: Draft, text: str) -> Draft:
    """The draft with another text."""
    if text == draft.text:
        return draft
    return draft_of(text, draft.path, saved=draft.saved, new=draft.new)


def kept(draft: Draft, path: Path_, value: Any) -> Draft:
    """The draft with a value written into its text; a child writes an override of its base.

    Raises:
        ScenarioError: The layout of the text can't take it.
    """
    mark = "\ufeff" if draft.text.startswith("\ufeff") else ""
    text = edit.override(draft.text.removeprefix(mark), draft.document.data, path, value)
    return retexted(draft, mark + text)


def all_kept(draft: Draft, edits: Iterable[tuple[Path_, Any]]) -> Draft:
    """The draft with several values written into its text; None takes a field back to its default.

    Raises:
        ScenarioError: The layout of the text can't take one of them.
    """
    for path, value in edits:
        draft = restored(draft, path) if value is None else kept(draft, path, value)
    return draft


def restored(draft: Draft, path: Path_) -> Draft:
    """The draft with a field back at its base's value, or at the schema's default.

    Where the base sets it, the default is written out, since a child can't take a key away.

    Raises:
        ScenarioError: It has no default, or the layout can't take the edit.
    """
    field, parent = field_at(path), field_at(path[:-1])
    if field is not None and field.required and parent is not None and parent.nullable:
        return restored(draft, path[:-1])  # without its part the whole mapping makes no sense
    own = edit.stands_in_text(draft.text.removeprefix("\ufeff"), draft.document.data, path)
    if own is not None:
        bare = draft.text.removeprefix("\ufeff")
        found = retexted(draft, draft.text.removesuffix(bare) + edit.remove_key(bare, own))
        if field is not None and field.required and found.value(path) is None:
            raise ScenarioError(
                Problem("has no default", key=".".join(map(str, path)), remedy="type a value")
            )
        return found
    if path not in draft.document.places:
        return draft
    if field is None or field.required:
        raise ScenarioError(Problem("has no default", key=".".join(map(str, path)), remedy="type a value"))
    return kept(draft, path, list(field.default) if isinstance(field.default, tuple) else field.default)


def titled(draft: Draft, title: str) -> Draft:
    """A copy to be saved under another name: with its title, and without what a shipped file says of itself.

    Raises:
        ScenarioError: The layout can't take the edit.
    """
    bare = draft.text.removeprefix("\ufeff")
    mark = draft.text.removesuffix(bare)
    text = edit.without_head_comment(bare) if draft.shipped else bare
    if title != draft.value(("name",)):
        text = edit.set_value(text, ("name",), title)
    return retexted(draft, mark + text)


def with_item(draft: Draft, path: Path_, item: dict[str, Any]) -> Draft:
    """The draft with one more item in a list."""
    items = draft.value(path)
    return kept(draft, (*path, len(items) if isinstance(items, list) else 0), item)


def with_workload(draft: Draft, path: Path_, item: dict[str, Any]) -> Draft:
    """The draft with one more workload, which gets the hours that are left; where none are, half of the others'."""
    items = draft.value(path)
    shares = [
        share
        for one in (items if isinstance(items, list) else ())
        if isinstance(share := one.get("share_fraction", 1.0) if isinstance(one, dict) else 1.0, int | float)
    ]
    left = round(1 - sum(shares), 6)
    if left <= 0 and len(shares) == len(items or ()):
        for index, share in enumerate(shares):
            draft = kept(draft, (*path, index, "share_fraction"), share / 2)
        left = round(1 - sum(shares) / 2, 6)
    return with_item(draft, path, {**item, "share_fraction": left} if 0 < left < 1 else item)


def renamed(draft: Draft, path: Path_, other: Path_) -> Draft:
    """The draft with a field's value under another name.

    Raises:
        ScenarioError: The layout can't take the edit.
    """
    value = draft.value(path)
    return kept(restored(draft, path), other, value)


def without_item(draft: Draft, path: Path_) -> Draft:
    """The draft without an item.

    Raises:
        ScenarioError: Only the base has it, or it is the last one of a list that needs one.
    """
    own = edit.stands_in_text(draft.text.removeprefix("\ufeff"), draft.document.data, path)
    if own is None:
        raise ScenarioError(
            Problem("comes from the base, and a plan that extends it can't take it away", key=".".join(map(str, path)),
                    remedy="save the plan under its own name without extends")
        )  # fmt: skip
    bare = draft.text.removeprefix("\ufeff")
    items: Any = parse_document(bare, name="scenario").data
    for step in own[:-1]:
        items = items[step]
    # An empty list would hide the base's; without the key the base or the default stands.
    cut = edit.remove_key(bare, own[:-1]) if len(items) == 1 else edit.remove_item(bare, own)
    found = retexted(draft, draft.text.removesuffix(bare) + cut)
    field = field_at(path[:-1])
    if field is not None and field.required and not found.value(path[:-1]):
        raise ScenarioError(Problem("is the only one, and a plan needs one", key=".".join(map(str, path))))
    return found


def new_item(
    items: list[Any], index: int, *, whole: bool, fields: Collection[str] = ("id",)
) -> dict[str, Any]:
    """An item made from another one, under a free id: all of it, or the fields an item must have."""
    source = items[index] if index < len(items) else {}
    item = {key: copy.deepcopy(value) for key, value in source.items() if whole or key in fields}
    taken = {one.get("id") for one in items if isinstance(one, dict)}
    stem, number = str(source.get("id", "new")), 2
    while f"{stem}-{number}" in taken:
        number += 1
    item["id"] = f"{stem}-{number}"
    return item


__all__ = [
    "Draft", "PlannerError", "all_kept", "draft_of", "is_shipped", "kept", "new_item", "open_draft", "preview", "read_text",
    "renamed", "restored", "retexted", "titled", "with_item", "with_workload", "without_item",
]  # fmt: skip
