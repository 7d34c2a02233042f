"""Reads measured-result files: JSON lists of rows and CSV tables, every problem at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from planner.documents import Document
from planner.errors import InputError, Place, Problem
from planner.resources import shipped
from planner.schema_errors import problems_of
from planner.study.fidelity.schema import (
    LETTERS,
    ROWS,
    CollectiveRow,
    GemmRow,
    GoodputRow,
    Group,
    InferenceRow,
    Measured,
    PowerRow,
    TrainingRow,
)  # fmt: skip

MAX_BYTES = 50_000_000
T = TypeVar("T", bound=Measured)


@dataclass(slots=True)
class Rows:
    """Rows of all files that were read, by group, in the order of the files."""

    training: list[TrainingRow] = field(default_factory=list)
    collectives: list[CollectiveRow] = field(default_factory=list)
    inference: list[InferenceRow] = field(default_factory=list)
    goodput: list[GoodputRow] = field(default_factory=list)
    power: list[PowerRow] = field(default_factory=list)
    gemm: list[GemmRow] = field(default_factory=list)

    def add(self, row: Measured | GemmRow) -> None:
        """Put a row into its group."""
        group = Group.GEMM if isinstance(row, GemmRow) else LETTERS[row.group]
        self.of(group).append(row)

    def of(self, group: Group) -> list[Any]:
        """Rows of a group."""
        found: list[Any] = getattr(self, group.value)
        return found


def shipped_files() -> tuple[Path, ...]:
    """Files of measured results that ship, in a fixed order."""
    folder = shipped("catalog") / "measured"
    return tuple(sorted((*folder.glob("*.json"), *folder.glob("*.csv"))))


def read_rows(paths: Sequence[Path]) -> Rows:
    """Read files of rows; a file is told by its content.

    Args:
        paths: JSON as `planner schema measured` describes, or a CSV table of collectives, matrix products,
            serving runs or expert exchanges.

    Raises:
        InputError: Files that can't be read and rows that are wrong, all of them, each with file and line.
    """
    from planner.study.fidelity.tables import read_csv

    found = Rows()
    problems: list[Problem] = []
    rows: Sequence[tuple[Measured | GemmRow, Place]]
    seen: dict[str, Place] = {}
    for path in paths:
        try:
            text = _text(path)
            if text.lstrip()[:1] in ("[", "{"):
                rows, wrong = read_json(text, name=str(path))
            else:
                rows, wrong = read_csv(text, path)
        except InputError as error:
            problems += error.problems
            continue
        problems += wrong
        for row, place in rows:
            if row.id in seen:
                problems.append(
                    Problem(f"id '{row.id}' is used twice (first at {seen[row.id]})", place, "id")
                )
            seen[row.id] = place
            found.add(row)
    if problems:
        raise InputError(problems)
    return found


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            raise InputError(Problem("is a folder, and a file is needed", Place(str(path))))
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise InputError(Problem(f"can't be read: {said}", Place(str(path)))) from error
    if len(raw) > MAX_BYTES:
        raise InputError(
            Problem(f"has {len(raw):,} bytes, and at most {MAX_BYTES:,} are read", Place(str(path)))
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            Problem(f"is not UTF-8 (byte {error.start})", Place(str(path)), remedy="save it as UTF-8")
        ) from error
    if not text.strip():
        raise InputError(Problem("is empty", Place(str(path)), remedy="give a list of measured rows"))
    return text


class _Lines:
    """Line numbers of offsets in a text, asked for in rising order."""

    def __init__(self, text: str) -> None:
        self.text, self.offset, self.line = text, 0, 1

    def at(self, offset: int) -> int:
        self.line += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.line


def read_json(text: str, *, name: str) -> tuple[list[tuple[Measured, Place]], list[Problem]]:
    """Rows of a JSON text with their places, and what is wrong with the others.

    Args:
        text: A list of rows, or ``{"sources": {src: publication}, "rows": [...]}``.
        name: How problems call the file.

    Raises:
        InputError: It is no JSON, or holds no list of rows.
    """
    spans, sources, problems = _spans(text, name)
    if not spans and not problems:
        return [], [Problem("holds no row", Place(name))]
    lines = _Lines(text)
    rows: list[tuple[Measured, Place]] = []
    for start, end, data in spans:
        place = Place(name, lines.at(start))
        row, wrong = _row(data, sources, text[start:end], place)
        problems += wrong
        if row is not None:
            rows.append((row, place))
    return rows, problems


Spans = list[tuple[int, int, Any]]


def _spans(text: str, name: str) -> tuple[Spans, dict[str, Any], list[Problem]]:
    """Begin, end and data of each row, publications by their short name, and rows that don't hold plain numbers."""
    try:
        begin, count, sources = _listed(text, name)
        spans, problems = _each(text, begin, count, name)
        return spans, sources, problems
    except json.JSONDecodeError as error:
        raise InputError(
            Problem(f"not valid JSON: {error.msg}", Place(name, error.lineno, error.colno))
        ) from error
    except ValueError as error:
        raise InputError(
            Problem("not valid JSON: a whole number of thousands of digits", Place(name))
        ) from error
    except RecursionError as error:
        raise InputError(Problem("is nested too deep", Place(name), remedy="write flat rows")) from error


def _listed(text: str, name: str) -> tuple[int, int, dict[str, Any]]:
    """Where the list of rows begins, how many it holds, and the publications beside it."""
    whole = json.loads(text)
    if isinstance(whole, list):
        return len(text) - len(text.lstrip()), len(whole), {}
    listed, sources = whole.get("rows"), whole.get("sources") or {}
    found = re.search(r'"rows"\s*:\s*(?=\[)', text)
    if not isinstance(listed, list) or found is None or not isinstance(sources, dict):
        raise InputError(
            Problem("holds no list of rows", Place(name), "rows", 'write [...] or {"rows": [...]}')
        )
    return found.end(), len(listed), sources


def _each(text: str, begin: int, count: int, name: str) -> tuple[Spans, list[Problem]]:
    """Rows one after another; what isn't plain JSON in one doesn't keep the others from being read."""
    strict, lax = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number), json.JSONDecoder()
    blank, lines = re.compile(r"[\s,]*"), _Lines(text)
    spans: Spans = []
    problems: list[Problem] = []
    offset = begin + 1
    for _ in range(count):
        gap = blank.match(text, offset)
        start = gap.end() if gap is not None else offset
        try:
            data, offset = strict.raw_decode(text, start)
            spans.append((start, offset, data))
        except ValueError as error:
            problems.append(Problem(f"not valid JSON: {error}", Place(name, lines.at(start))))
            _, offset = lax.raw_decode(text, start)
    return spans, problems


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{twice}' is given twice in one row; keep one")
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number; leave the field out or write null")


def _row(
    data: Any, sources: dict[str, Any], text: str, place: Place
) -> tuple[Measured | None, list[Problem]]:
    if not isinstance(data, dict):
        return None, [Problem("is no row: a mapping of fields is needed", place)]
    if str(data.get("group")) not in LETTERS:
        said = "has no group" if data.get("group") is None else f"group is {data['group']!r}"
        known = ", ".join(f"{letter} {group}" for letter, group in LETTERS.items())
        return None, [Problem(said, place, str(data.get("id", "")), f"write one of {known}")]
    cited = sources.get(str(data.get("src")))
    own = data.get("source") or {}
    if isinstance(cited, dict) and isinstance(own, dict):
        data = data | {"source": cited | own}
    kind = ROWS[LETTERS[data["group"]]]
    try:
        return kind.model_validate(_without_nulls(data, kind)), []
    except ValidationError as error:
        document = Document(data, place.path, {(): place} | dict(_places(text, place)))
        return None, problems_of(error, document, kind)


def _without_nulls(data: dict[str, Any], kind: type[Measured]) -> dict[str, Any]:
    """Data without the nulls of fields that may be left out: not stated is not stated."""
    return {
        name: value
        for name, value in data.items()
        if value is not None or (name in kind.model_fields and kind.model_fields[name].is_required())
    }


def _places(text: str, place: Place) -> Iterable[tuple[tuple[str], Place]]:
    """Place of the first time each key stands in a row's text."""
    lines = _Lines(text)
    for found in islice(re.finditer(r'"([^"\\]+)"\s*:', text), 500):
        yield (found.group(1),), Place(place.path, place.line + lines.at(found.start()) - 1)


__all__ = ["Rows", "read_json", "read_rows", "shipped_files"]
