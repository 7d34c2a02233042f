"""Rows about the whole catalog for lists, pickers and the TUI's browser, without parsing it each time.

The rows are kept in the user's cache, one entry a file. A file whose size and time are unchanged is
not opened; one whose time changed is hashed, and parsed when its content differs. Deleting the cache,
or a cache that can't be read or written, changes nothing but time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Any, Final

from planner.catalog.figure import Figure
from planner.catalog.schema import FAMILIES
from planner.catalog.store import Catalog, Entry
from planner.catalog.summaries import summary_of, unit_of
from planner.documents import MAX_BYTES
from planner.errors import CatalogError, InputError, Place, Problem, nearest
from planner.whole_file import PRIVATE, replace_file

_FILE: Final = "catalog-index.json"
_RACY_NS: Final = 2_000_000_000
"""A file written this shortly before the cache may change again within one tick of its clock."""
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": le, ">=": ge, "!=": ne, "<": lt, ">": gt, "=": eq,
}  # fmt: skip
_ORDER: Final = {family: number for number, family in enumerate(FAMILIES)}
_FLAGS: Final = {"orderable": True, "roadmap": False}


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure of an item, with what its badge needs."""

    name: str
    value: float
    unit: str
    letter: str
    as_of: str
    source: str
    verified: bool
    line: int


@dataclass(frozen=True, slots=True)
class IndexRow:
    """An item in a list.

    Attributes:
        path: Its file as problems name it, for instance ``catalog/switches/qm9790.yaml``.
        lines: Line of each key of the file.
    """

    family: str
    id: str
    name: str
    vendor: str
    orderable: bool
    available: str
    why_not_orderable: str
    summary: str
    path: str
    part_numbers: tuple[str, ...]
    figures: tuple[KeyFigure, ...]
    lines: Mapping[str, int] = field(hash=False)

    def figure(self, name: str) -> KeyFigure | None:
        """The figure of that name, when the item has it."""
        return next((figure for figure in self.figures if figure.name == name), None)

    @property
    def text(self) -> str:
        """What the words of a filter are looked for in, in lower case."""
        return f"{self.family} {self.id} {self.name} {self.vendor} {self.summary}".lower()


@dataclass(frozen=True)
class CatalogIndex:
    """All items of a catalog in a list, and what is wrong with the files that are none."""

    items: tuple[IndexRow, ...]
    problems: tuple[Problem, ...]
    digest: str
    """Hash over the contents of all items' files."""
    parsed: int
    """Files that had to be parsed for this index; the others came from the cache."""

    def rows(self, family: str | None = None, filter: str = "") -> list[IndexRow]:
        """Items of a family, or of all, that a filter lets through.

        The filter holds words and comparisons, and all of them must hold: ``800g price<900 orderable``.
        A word is looked for in family, id, name, vendor and summary; ``orderable`` and ``roadmap`` ask
        whether an order can be placed. A comparison names a figure by the beginning of its name.

        Raises:
            CatalogError: No such family.
            InputError: A comparison names no figure, or several, or compares with no number.
        """
        if family is not None and family not in FAMILIES:
            raise CatalogError(Problem(f"no family '{family}'", remedy=nearest(family, FAMILIES)))
        words, comparisons = _tokens(filter)
        rows = [
            row for row, text in zip(self.items, self._texts, strict=True)
            if family in (None, row.family) and _holds(row, text, words)
        ]  # fmt: skip
        for comparison in comparisons:
            rows = comparison.keep(rows, self._names(family))
        return rows

    def _names(self, family: str | None) -> frozenset[str]:
        return frozenset(
            figure.name for row in self.items if family in (None, row.family) for figure in row.figures
        )

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """What words are looked for in, of each item: made once, since a filter is asked on every key."""
        return tuple(row.text for row in self.items)

    @cached_property
    def by_id(self) -> Mapping[tuple[str, str], IndexRow]:
        """Rows by family and id."""
        return {(row.family, row.id): row for row in self.items}


def catalog_index(catalog: Catalog, *, cache: Path | None = None, keep: bool = True) -> CatalogIndex:
    """Index of a catalog, from the cache as far as its files are unchanged.

    It leaves no trace in ``catalog``: a result depends on the items it uses, and not on a list.

    Args:
        catalog: What to list.
        cache: Folder of the cache; the user's by default.
        keep: Whether what was parsed may be written to the cache.
    """
    store = (cache if cache is not None else _user_cache()) / _FILE
    held, written_ns = _load(store)
    reader = Catalog(catalog.folders)
    known: dict[str, _Known] = {}
    parsed = 0
    files, problems = _files(catalog.folders)
    for (family, item_id), (path, size, mtime_ns) in files.items():
        was = held.get(path)
        if was and (was.size, was.mtime_ns) == (size, mtime_ns) and mtime_ns < written_ns - _RACY_NS:
            known[path] = was
            continue
        digest = _digest(path, size)
        if was and was.digest == digest:
            known[path] = _Known(size, mtime_ns, digest, was.row, was.problems)
        else:
            known[path] = _Known(size, mtime_ns, digest, *_read(reader, family, item_id))
            parsed += 1
    if keep and any(held.get(path) != entry for path, entry in known.items()):
        others = {path: entry for path, entry in held.items() if path not in known and Path(path).exists()}
        _save(store, {**others, **known})
    rows = sorted(
        (entry.row for entry in known.values() if entry.row), key=lambda row: (_ORDER[row.family], row.id)
    )
    problems += [problem for entry in known.values() for problem in entry.problems]
    contents = sorted((*key, known[path].digest) for key, (path, *_) in files.items())
    digest = hashlib.sha256(repr(contents).encode()).hexdigest()[:16]
    return CatalogIndex(tuple(rows), tuple(problems), digest, parsed)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the cache holds of one file: its row, or what is wrong with it."""

    size: int
    mtime_ns: int
    digest: str
    row: IndexRow | None
    problems: tuple[Problem, ...]


def _files(folders: Sequence[Path]) -> tuple[dict[tuple[str, str], tuple[str, int, int]], list[Problem]]:
    """Path, size and time of every item's file, the last folder winning, and files nobody reads."""
    files: dict[tuple[str, str], tuple[str, int, int]] = {}
    problems: list[Problem] = []
    for root in folders:
        for folder in _scan(root):
            place = f"{root.name}/{folder.name}"
            if folder.name not in FAMILIES:
                if folder.is_dir() and any(_is_yaml(file.name) for file in _scan(Path(folder.path))):
                    remedy = nearest(folder.name, FAMILIES) or f"families: {', '.join(FAMILIES)}"
                    problems.append(
                        Problem("is no family, and nothing in it is read", Place(place), "", remedy)
                    )
                continue
            for file in _scan(Path(folder.path)):
                if not _is_yaml(file.name):
                    continue
                stem = Path(file.name).stem
                try:
                    stat = file.stat()
                except OSError as error:
                    problems.append(
                        Problem(f"can't be read: {error.strerror}", Place(f"{place}/{file.name}"))
                    )
                    continue
                if not file.name.endswith(".yaml") or not file.is_file():
                    remedy = f"make it a file named {stem}.yaml"
                    problems.append(Problem("is not read", Place(f"{place}/{file.name}"), "", remedy))
                    continue
                files[folder.name, stem] = (file.path, stat.st_size, stat.st_mtime_ns)
    return files, problems


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted((each for each in found if each.name[0] not in "._"), key=lambda each: each.name)
    except OSError:
        return []


def _is_yaml(name: str) -> bool:
    return name.lower().endswith((".yaml", ".yml"))


def _digest(path: str, size: int) -> str:
    """Hash of a file's content; of its size alone when it is too large to be read."""
    if size > MAX_BYTES:
        return f"{size} bytes"
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _read(reader: Catalog, family: str, item_id: str) -> tuple[IndexRow | None, tuple[Problem, ...]]:
    try:
        return _row(reader.entry(FAMILIES[family], item_id)), ()
    except InputError as error:
        return None, error.problems


def _row(entry: Entry[Any]) -> IndexRow:
    item, document = entry.item, entry.document
    lines = {str(path[-1]): place.line for path, place in document.places.items() if len(path) == 1}
    figures: list[tuple[str, Any, tuple[str, ...]]] = [
        (name, getattr(item, name), (name,)) for name in type(item).model_fields
    ]
    figures += [(name, figure, ("figures", name)) for name, figure in getattr(item, "figures", {}).items()]
    return IndexRow(
        family=item.family,
        id=item.id,
        name=item.name,
        vendor=item.vendor,
        orderable=item.orderable,
        available=item.available or "",
        why_not_orderable=item.why_not_orderable,
        summary=summary_of(item),
        path=document.path,
        part_numbers=item.part_numbers,
        figures=tuple(
            KeyFigure(
                name, figure.value, unit_of(name), figure.basis.letter, figure.as_of, figure.source,
                figure.verified, document.place(path).line,
            )
            for name, figure, path in figures
            if isinstance(figure, Figure)
        ),
        lines=lines,
    )  # fmt: skip


def _user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("cluster-planner")


def _stamp() -> str:
    """Changes with the code that makes rows, so that rows of another version are not taken."""
    here = Path(__file__).parent
    stats = [one.stat() for one in sorted(here.glob("*.py"))]
    return repr([(stat.st_size, stat.st_mtime_ns) for stat in stats])


def _load(store: Path) -> tuple[dict[str, _Known], int]:
    """Entries of the cache by path and the time it was written; none when anything is odd about it."""
    try:
        written_ns = store.stat().st_mtime_ns
        checksum, _, text = store.read_text(encoding="utf-8").partition("\n")
        if checksum != _checksum(text):
            return {}, 0
        return {path: _known(*fields) for path, fields in json.loads(text).items()}, written_ns
    except (OSError, ValueError, TypeError, KeyError):
        return {}, 0


def _known(size: int, mtime_ns: int, digest: str, row: list[Any] | None, problems: list[Any]) -> _Known:
    made = None
    if row is not None:
        *fields, part_numbers, figures, lines = row
        made = IndexRow(*[*fields, tuple(part_numbers), tuple(KeyFigure(*each) for each in figures), lines])
    found = tuple(Problem(text, Place(*place) if place else None, *more) for text, place, *more in problems)
    return _Known(size, mtime_ns, digest, made, found)


def _save(store: Path, entries: Mapping[str, _Known]) -> None:
    """Write the cache, whole or not at all; silence when it can't be written."""
    text = json.dumps({path: list(astuple(entry)) for path, entry in entries.items()}, separators=(",", ":"))
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        replace_file(store, f"{_checksum(text)}\n{text}".encode(), mode=PRIVATE)


def _checksum(text: str) -> str:
    return hashlib.sha256(f"{_stamp()}{text}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Comparison:
    """``price<900``: the beginning of a figure's name, an operator, a number."""

    written: str
    prefix: str
    operator: str
    number: float

    def keep(self, rows: Iterable[IndexRow], names: Iterable[str]) -> list[IndexRow]:
        """Rows whose figure compares so; a row without the figure is left out."""
        if not any(name.startswith(self.prefix) for name in names):
            raise InputError(
                Problem(
                    f"'{self.written}': no figure begins with '{self.prefix}'",
                    remedy=nearest(self.prefix, names),
                )
            )
        compare = _OPERATORS[self.operator]
        found = [(row, self._figure(row)) for row in rows]
        return [row for row, figure in found if figure and compare(figure.value, self.number)]

    def _figure(self, row: IndexRow) -> KeyFigure | None:
        """The figure meant: of that name, or the one that begins so (``price_usd`` before ``price_usd_per_m``)."""
        fitting = sorted(
            (figure for figure in row.figures if figure.name.startswith(self.prefix)),
            key=lambda figure: len(figure.name),
        )
        if fitting and any(not figure.name.startswith(fitting[0].name) for figure in fitting):
            several = ", ".join(sorted(figure.name for figure in fitting))
            raise InputError(
                Problem(
                    f"'{self.written}' fits several figures of {row.id}", remedy=f"write one of {several}"
                )
            )
        return fitting[0] if fitting else None


def _tokens(text: str) -> tuple[list[str], list[_Comparison]]:
    """Words and comparisons of a filter; a comparison that is still being typed says nothing."""
    words: list[str] = []
    comparisons: list[_Comparison] = []
    for token in text.lower().split():
        match = re.fullmatch(r"([a-z][a-z0-9_]*)(<=|>=|!=|<|>|=)(.*)", token)
        if match is None:
            words.append(token)
        elif match[3]:
            try:
                number = float(match[3].replace(",", ""))
            except ValueError:
                raise InputError(
                    Problem(f"'{token}': '{match[3]}' is no number", remedy="for instance price<900")
                ) from None
            comparisons.append(_Comparison(token, match[1], match[2], number))
    return words, comparisons


def _holds(row: IndexRow, text: str, words: Iterable[str]) -> bool:
    return all(row.orderable is _FLAGS[word] if word in _FLAGS else word in text for word in words)
