"""Serving anchors: points measured on one's own endpoint, which correct the predicted latencies.

A table (CSV) that people write by hand or `planner bench anchor` writes: one row a point, in which a replica of so many
tensor-parallel GPUs always has so many requests in flight.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from planner.choices import Precision
from planner.documents import Document
from planner.errors import InputError, Place, Problem, nearest
from planner.scenario.fields import Count, Day, Id, Positive
from planner.scenario.schema import Strict
from planner.schema_errors import problems_of

SUFFIX: Final = ".csv"
COLUMNS: Final = (
    "model", "gpu", "engine", "precision", "concurrency", "isl", "osl", "ttft_ms", "tpot_ms", "tp", "date",
)  # fmt: skip
OPTIONAL: Final = ("ttft_ms", "tp", "date")
NUMBERS: Final = ("concurrency", "isl", "osl", "ttft_ms", "tpot_ms", "tp")
WHOLE: Final = ("isl", "osl", "tp")
EXAMPLE: Final = "llama-3.1-8b,h100-sxm5-80gb,vllm,fp8,16,1024,256,180,9.5,1"
MOST_ROWS: Final = 2000


class ServedBy(StrEnum):
    """What served a measured point: an engine, or the bare steps of planner bench serve."""

    VLLM = "vllm"
    TENSORRT_LLM = "tensorrt-llm"
    SGLANG = "sglang"
    PLAIN_TORCH = "plain-torch"


class ServingPoint(Strict):
    """One measured point."""

    model: Id
    """Model, an item of the catalog."""
    gpu: Id
    """Accelerator, an item of the catalog."""
    engine: ServedBy
    """vllm, tensorrt-llm, sglang, or plain-torch."""
    precision: Precision
    """Arithmetic of the large matrix products: bf16, fp8 or fp4."""
    concurrency: Positive
    """Requests that are always in flight at one replica."""
    isl: Count
    """Mean tokens of a prompt."""
    osl: Count
    """Mean tokens of an answer."""
    ttft_ms: Positive | None = None
    """Mean time to the first token, milliseconds."""
    tpot_ms: Positive
    """Mean time for each token after the first, milliseconds."""
    tp: Count = 1
    """Tensor-parallel GPUs of the replica."""
    date: Day | None = None
    """When it was measured."""


@dataclass(frozen=True, slots=True)
class ServingAnchor:
    """A measured point and the line it stands on."""

    point: ServingPoint
    place: Place


def load_serving_anchors(paths: Sequence[Path]) -> tuple[ServingAnchor, ...]:
    """Points of tables, in their order.

    Raises:
        InputError: Every problem of every file, each with file, line and remedy.
    """
    found: list[ServingAnchor] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or error
            problems.append(Problem(f"can't be read: {said}", Place(str(path))))
            continue
        points, wrong = read_serving_anchors(text, str(path))
        found += points
        problems += wrong
    if problems:
        raise InputError(problems)
    return tuple(found)


def read_serving_anchors(text: str, name: str) -> tuple[list[ServingAnchor], list[Problem]]:
    """Points of a table that are right, and what is wrong with it and the others."""
    lines = text.splitlines()
    skipped = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    reader = csv.DictReader(lines[skipped:])
    problems = _head(list(reader.fieldnames or ()), Place(name, skipped + 1))
    if problems:
        return [], problems
    found: list[ServingAnchor] = []
    for cells in reader:
        place = Place(name, reader.line_num + skipped)
        if None in cells or None in cells.values():
            problems.append(Problem("has another number of columns than the header", place, remedy=EXAMPLE))
            continue
        data = {key: _value(key, cell.strip()) for key, cell in cells.items() if cell.strip()}
        try:
            found.append(ServingAnchor(ServingPoint.model_validate(data), place))
        except ValidationError as error:
            problems += problems_of(error, Document(data, name, {(): place}), ServingPoint)
    count = len(found) + len(problems)
    if not count or count > MOST_ROWS:
        said = "holds no point" if not count else f"holds {count:,} rows, and {MOST_ROWS:,} are read"
        problems.append(Problem(said, Place(name), remedy=f"a row is {EXAMPLE}"))
    return found, problems


def _head(columns: list[str], place: Place) -> list[Problem]:
    found = [
        Problem(f"no column '{one}' in a table of serving anchors", place, remedy=nearest(one, COLUMNS))
        for one in columns
        if one not in COLUMNS
    ]
    missing = [one for one in COLUMNS if one not in columns and one not in OPTIONAL]
    if missing:
        said = f"a table of serving anchors needs the columns {', '.join(missing)}"
        found.append(Problem(said, place, remedy=f"the head is {','.join(COLUMNS)}"))
    return found


def _value(key: str, cell: str) -> Any:
    """A cell as a number where a number belongs; what is none stays a word, which the schema then refuses."""
    if key not in NUMBERS:
        return cell
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if key in WHOLE and number.is_integer() else number


def is_table(path: Path) -> bool:
    """Whether an anchor file is a table of serving points.

    >>> is_table(Path("mine.csv")), is_table(Path("anchor.yaml"))
    (True, False)
    """
    return path.suffix.lower() == SUFFIX


@lru_cache(maxsize=16)
def kept(stamps: tuple[tuple[Path, int, int], ...]) -> tuple[ServingAnchor, ...]:
    """Tables as read, until one changes: a sweep evaluates a scenario thousands of times."""
    return load_serving_anchors([path for path, _, _ in stamps])
