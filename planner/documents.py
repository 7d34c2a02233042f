"""YAML with places: plain data from an untrusted file, and the line of every key.

Reads the YAML 1.2 core scalars (``1e9`` is a number, ``NO`` is a word, dates stay text) from the
parser's events, so that tags, anchors, duplicate keys and deep nesting are refused before any
value is built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from planner.errors import InputError, Place, Problem

Path_ = tuple[str | int, ...]

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 24
_INT: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = {".inf", "-.inf", "+.inf", ".nan"}
_WORDS: Final[dict[str, Any]] = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "Null": None, "~": None, "": None,
}  # fmt: skip


@dataclass(slots=True)
class Document:
    """Plain data of one file, with the place of every key and item.

    Attributes:
        data: Mappings, lists, strings, floats, ints, booleans and None.
        path: Name of the file as the user gave it.
        places: Place of each path of keys and indices, for instance ``("site", "pue")``.
        texts: Name and text of the file, then of those it extends.
    """

    data: Any
    path: str
    places: dict[Path_, Place] = field(default_factory=dict)
    texts: tuple[tuple[str, str], ...] = ()

    def place(self, path: Path_) -> Place:
        """Place of a path, or of its nearest parent that stands in the file."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(self.path))


def is_file(path: Path) -> bool:
    """Whether a file is there; a name that no file can have is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def load_document(path: Path, *, name: str | None = None, max_bytes: int = MAX_BYTES) -> Document:
    """Read a YAML file.

    Args:
        path: The file.
        name: How problems call it; the path by default.
        max_bytes: A larger file is refused unread.

    Raises:
        InputError: Missing, unreadable, too large, not UTF-8, or not the YAML that is taken here;
            all problems that can be told apart are in it.
    """
    label = name if name is not None else str(path)
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise InputError(Problem("is a folder, and a YAML file is needed", Place(label)))
        raw = b""
        if size <= max_bytes:
            with path.open("rb") as file:
                raw = file.read(max_bytes + 1)
        size = max(size, len(raw))
        if size > max_bytes:
            raise InputError(
                Problem(
                    f"has {size:,} bytes, and at most {max_bytes:,} are read",
                    Place(label),
                    remedy="keep only planning input in it",
                )
            )
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise InputError(Problem(f"can't be read: {error.strerror or error}", Place(label))) from error
    except UnicodeDecodeError as error:
        raise InputError(
            Problem(f"is not UTF-8 (byte {error.start})", Place(label), remedy="save it as UTF-8")
        ) from error
    return parse_document(text, name=label)


def parse_document(text: str, *, name: str) -> Document:
    """Plain data of a YAML text; see `load_document`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    builder, whole = _Builder(name), False
    try:
        for event in YAML(typ="safe").parse(text):
            builder.take(event)
        whole = True
    except _RefusedError as refused:
        builder.problems.append(refused.problem)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(name, mark.line + 1, mark.column + 1) if mark else Place(name)
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        builder.problems.append(Problem(f"not valid YAML: {said}", place))
    except (YAMLError, ValueError) as error:
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        builder.problems.append(Problem(f"not valid YAML: {said}", Place(name)))
    document = Document(builder.root, name, builder.places, ((name, text),))
    if builder.problems:
        wrong = InputError(builder.problems)
        wrong.read = document if whole else None
        raise wrong
    return document


class _RefusedError(Exception):
    """Something after which the rest of a file can't be read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
class _Frame:
    container: dict[str, Any] | list[Any]
    path: Path_
    key: str | None = None


class _Builder:
    """Builds plain data from parser events, one at a time and without recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Any = None
        self.places: dict[Path_, Place] = {}
        self.problems: list[Problem] = []
        self.stack: list[_Frame] = []
        self.documents = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self._scalar(event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._open(event, {} if kind == "MappingStartEvent" else [])
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self.stack.pop()
        elif kind == "DocumentStartEvent":
            self.documents += 1
            if self.documents > 1:
                raise _RefusedError(
                    Problem("a second document begins here", self._place(event), "", "keep one a file")
                )
        elif kind == "AliasEvent":
            raise _RefusedError(
                Problem("YAML aliases (*name) are not taken", self._place(event), "", "write the value out")
            )

    def _place(self, event: Any) -> Place:
        return Place(self.name, event.start_mark.line + 1, event.start_mark.column + 1)

    def _refuse(self, event: Any) -> None:
        if event.tag is None and event.anchor is None:
            return
        if event.tag is not None and str(event.tag) not in ("", "!"):
            self.problems.append(
                Problem("YAML tags are not taken", self._place(event), remedy="write the plain value")
            )
        if event.anchor is not None:
            self.problems.append(
                Problem("YAML anchors are not taken", self._place(event), remedy="write the value out")
            )

    def _open(self, event: Any, container: dict[str, Any] | list[Any]) -> None:
        self._refuse(event)
        if len(self.stack) >= MAX_DEPTH:
            raise _RefusedError(Problem(f"is nested deeper than {MAX_DEPTH} levels", self._place(event)))
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.container, dict) and top.key is None:
            raise _RefusedError(Problem("a key must be a word", self._place(event)))
        self.stack.append(_Frame(container, self._attach(container, event)))

    def _scalar(self, event: Any) -> None:
        self._refuse(event)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.container, dict) and top.key is None:
            key = str(event.value)
            path = (*top.path, key)
            if key in top.container:
                first = self.places[path].line
                self.problems.append(
                    Problem(
                        f"'{key}' is given twice (first on line {first})",
                        self._place(event),
                        remedy="keep one",
                    )
                )
            self.places[path] = self._place(event)
            top.key = key
            return
        plain = event.style is None or str(event.style) == ""
        value = _value(event.value) if plain else event.value
        path = self._attach(value, event)
        if isinstance(value, float) and not math.isfinite(value):
            key = ".".join(str(part) for part in path)
            shown = event.value if len(event.value) <= 20 else f"{event.value[:17]}..."
            self.problems.append(Problem(f"is {shown}, and must be a finite number", self._place(event), key))

    def _attach(self, value: Any, event: Any) -> Path_:
        """Put a value where it belongs; only what has no key of its own takes its place from its event."""
        if not self.stack:
            self.root = value
            self.places[()] = self._place(event)
            return ()
        top = self.stack[-1]
        if isinstance(top.container, dict):
            assert top.key is not None
            path: Path_ = (*top.path, top.key)
            top.container[top.key] = value
            top.key = None
        else:
            path = (*top.path, len(top.container))
            self.places[path] = self._place(event)
            top.container.append(value)
        return path


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text) if len(text) < 400 else math.copysign(math.inf, -1 if text[0] == "-" else 1)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text.lower() in _SPECIAL:
        return float(text.replace(".", "", 1))
    return text


def walk(data: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every scalar of plain data with its path."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from walk(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from walk(value, (*path, index))
    else:
        yield path, data
