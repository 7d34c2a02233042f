"""Reads catalog items, each when it is asked for, from the shipped folder and overlays."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from planner.catalog.depreciation import PercentColumn
from planner.catalog.figure import Date, Figure, Frozen
from planner.catalog.item import Item
from planner.catalog.schema import (
    FAMILIES,
    Assumptions,
)
from planner.documents import Document, is_file, load_document
from planner.errors import CatalogError, InputError, Place, Problem, nearest
from planner.resources import shipped
from planner.schema_errors import problems_of
from planner.sourced import Basis, Source

RELEASE: Final = "2026-11-30"
"""Date of the shipped catalog: the day against which prices are stale when a scenario names none."""

PROFILES: Final = "profiles"
"""The family of which a single file may stand for a folder."""

MOST_WORKED_OUT: Final = 64
"""Results kept at a time, so that a sweep over what they hang on doesn't fill the memory."""

T = TypeVar("T", bound=Item)
U = TypeVar("U")


class SourceEntry(Frozen):
    """A publication that figures rest on."""

    title: str
    publisher: str = ""
    locator: str = ""
    """Address, page or commit."""
    date: Date | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """An item and the file it was read from."""

    item: T
    document: Document
    digest: str

    def source(self, field: str, *more: str) -> Source:
        """Where one figure of the item stands and what it rests on.

        Raises:
            AttributeError: The item has no such figure.
        """
        found: Any = getattr(self.item, field)
        for key in more:
            found = found[key]
        place = self.document.place((field, *more))
        if isinstance(found, Figure | PercentColumn):
            return Source(
                where=f"{place.path}:{place.line}",
                source=found.source,
                basis=found.basis,
                as_of=found.as_of,
                verified=found.verified,
                note=found.note,
            )
        return Source(where=f"{place.path}:{place.line}", basis=Basis.PUBLISHED, note=self.item.note)


_ITEMS: Final[dict[tuple[type[Item], Path, str], Entry[Any]]] = {}
"""Items by file as they were last read, for catalogs opened after: taken where the content's hash is still the same."""
_SOURCES: Final[dict[Path, tuple[str, dict[str, SourceEntry]]]] = {}
"""Publications likewise."""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _digest_read(document: Document) -> str:
    """Hash of what was read, whatever the file says by now."""
    return _digest(document.texts[0][1].encode())


class Catalog:
    """Typed items by family and id.

    Later folders win: an overlay adds items and replaces shipped ones of the same id.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._entries: dict[tuple[str, str], Entry[Any]] = {}
        self._worked_out: dict[Hashable, Any] = {}

    def ids(self, kind: type[Item]) -> tuple[str, ...]:
        """Ids of a family, sorted; reads names of files, not their contents."""
        found = {
            name.removesuffix(".yaml")
            for folder in self.folders
            if (folder / kind.family).is_dir()
            for name in os.listdir(folder / kind.family)  # noqa: PTH208 (names are all it takes, and much quicker)
            if name.endswith(".yaml") and name != ".yaml"
        }
        if kind.family == PROFILES:
            found |= {path.stem for path in self.folders if path.suffix == ".yaml"}
        return tuple(sorted(found))

    def entry(self, kind: type[T], item_id: str) -> Entry[T]:
        """One item with its file.

        Raises:
            CatalogError: No such item (with the nearest ids), or its file is wrong.
        """
        key = (kind.family, item_id)
        if key not in self._entries:
            self._entries[key] = self._read(kind, item_id)
        return self._entries[key]

    def path_of(self, kind: type[Item], item_id: str) -> Path:
        """File of an item, in the last folder that has it; what lies beside it is found from there.

        Raises:
            CatalogError: No such item.
        """
        found = self._found(kind, item_id)
        if found is not None:
            return found[1]
        raise CatalogError(
            Problem(
                f"no item '{item_id}' in catalog/{kind.family}",
                remedy=nearest(item_id, self.ids(kind)) or f"see planner catalog list {kind.family}",
            )
        )

    def layer_of(self, kind: type[Item], item_id: str) -> int:
        """Which folder an item stands in: 0 is the shipped one, later ones win; -1 where there is none."""
        found = self._found(kind, item_id)
        return -1 if found is None else found[0]

    def _found(self, kind: type[Item], item_id: str) -> tuple[int, Path] | None:
        for layer in range(len(self.folders) - 1, -1, -1):
            folder = self.folders[layer]
            if kind.family == PROFILES and folder.suffix == ".yaml" and folder.stem == item_id:
                return layer, folder
            path = folder / kind.family / f"{item_id}.yaml"
            if "/" not in item_id and is_file(path):
                return layer, path
        return None

    def get(self, kind: type[T], item_id: str) -> T:
        """One item; see `entry`."""
        return self.entry(kind, item_id).item

    def figure(self, assumptions: str, key: str) -> tuple[Figure, Source]:
        """A named factor of an assumptions file.

        Raises:
            CatalogError: The file lacks the key.
        """
        entry = self.entry(Assumptions, assumptions)
        if key not in entry.item.figures:
            raise CatalogError(
                Problem(
                    f"no figure '{key}'",
                    Place(entry.document.path),
                    remedy=nearest(key, entry.item.figures),
                )
            )
        return entry.item.figures[key], entry.source("figures", key)

    @cached_property
    def sources(self) -> dict[str, SourceEntry]:
        """All publications by id, from ``sources.yaml`` of every folder."""
        found: dict[str, SourceEntry] = {}
        problems: list[Problem] = []
        for folder in self.folders:
            path = folder / "sources.yaml"
            if not path.is_file():
                continue
            try:
                found |= _sources_in(path)
            except InputError as error:
                problems += error.problems
        if problems:
            raise CatalogError(problems)
        return found

    def used(self) -> tuple[tuple[str, str, str], ...]:
        """Family, id and content hash of every item read so far, sorted."""
        return tuple(sorted((f, i, e.digest) for (f, i), e in self._entries.items()))

    def worked_out(self, about: Hashable, make: Callable[[], U]) -> U:
        """What hangs on items of this catalog and on nothing but that, made once: an item that was read stays as it is.

        Args:
            about: What is made, and all that it hangs on besides the items.
            make: Makes it.
        """
        if about not in self._worked_out:
            if len(self._worked_out) >= MOST_WORKED_OUT:
                self._worked_out.clear()
            self._worked_out[about] = make()
        found: U = self._worked_out[about]
        return found

    def digest(self, kind: type[Item] | None = None) -> str:
        """Hash over the items read so far: the catalog, or one family, as far as a result depends on it."""
        used = [one for one in self.used() if kind is None or one[0] == kind.family]
        return hashlib.sha256(repr(tuple(used)).encode()).hexdigest()[:16]

    def everything(self) -> Iterator[Entry[Any]]:
        """Every item of every family; parses the whole catalog."""
        for kind in FAMILIES.values():
            for item_id in self.ids(kind):
                yield self.entry(kind, item_id)

    def _read(self, kind: type[T], item_id: str) -> Entry[T]:
        path = self.path_of(kind, item_id)
        alone = path in self.folders
        name = str(path) if alone else f"{path.parent.parent.name}/{kind.family}/{item_id}.yaml"
        known = _ITEMS.get((kind, path, name))
        if known is not None and known.digest == _digest(path.read_bytes()):
            return known
        try:
            document = load_document(path, name=name)
        except InputError as error:
            raise CatalogError(error.problems) from error
        try:
            item = kind.model_validate(document.data)
        except ValidationError as error:
            raise CatalogError(problems_of(error, document, kind)) from error
        if item.id != item_id:
            raise CatalogError(
                Problem(
                    f"id '{item.id}' differs from the file's name",
                    document.place(("id",)),
                    remedy=f"write id: {item_id}",
                )
            )
        _ITEMS[kind, path, name] = entry = Entry(item, document, _digest_read(document))
        return entry


def _sources_in(path: Path) -> dict[str, SourceEntry]:
    """Publications of one file.

    Raises:
        InputError: Every problem of the file.
    """
    known = _SOURCES.get(path)
    if known is not None and known[0] == _digest(path.read_bytes()):
        return known[1]
    document = load_document(path, name=f"{path.parent.name}/sources.yaml")
    if not isinstance(document.data, dict | None):
        raise CatalogError(Problem("must map ids to publications", document.place(())))
    found: dict[str, SourceEntry] = {}
    problems: list[Problem] = []
    for source_id, fields in (document.data or {}).items():
        try:
            found[source_id] = SourceEntry.model_validate(fields)
        except ValidationError as error:
            problems += problems_of(error, document, SourceEntry, at=(source_id,))
    if problems:
        raise CatalogError(problems)
    _SOURCES[path] = _digest_read(document), found
    return found


def open_catalog(overlays: Sequence[Path] = ()) -> Catalog:
    """The shipped catalog, the user's own folder, and overlays, the last winning.

    An overlay is a folder laid out like the catalog, or one calibration profile.

    Raises:
        CatalogError: An overlay is not a folder.
    """
    from platformdirs import user_config_path

    missing = [path for path in overlays if not _is_overlay(path)]
    if missing:
        raise CatalogError(_no_overlay(path) for path in missing)
    own = user_config_path("cluster-planner") / "catalog"
    return Catalog([shipped("catalog"), *([own] if own.is_dir() else []), *overlays])


def _no_overlay(path: Path) -> Problem:
    if path.suffix == ".yaml":
        return Problem("no such profile file", Place(str(path)), remedy="write one with planner calibrate")
    return Problem("no such catalog folder", Place(str(path)), remedy="give a folder laid out like catalog/")


def _is_overlay(path: Path) -> bool:
    """A folder, or the file of one profile; a name too long is neither."""
    return os.path.isdir(path) or (path.suffix == ".yaml" and is_file(path))  # noqa: PTH112


__all__ = ["RELEASE", "Catalog", "Entry", "SourceEntry", "open_catalog"]
