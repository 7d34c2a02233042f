"""Request traces: CSV files of prompt and answer lengths, with arrival times where they were logged."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from planner.arrays import Floats
from planner.errors import InputError, Place, Problem

COLUMNS = ("input_tokens", "output_tokens")
TIME = "arrival_s"
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class RequestTrace:
    """Requests as they were logged, in order of arrival.

    Attributes:
        path: The file.
        prompt_tokens, output_tokens: Lengths, shape (rows,).
        arrival_s: Times from the first request on, shape (rows,); None where the file has none.
    """

    path: str
    prompt_tokens: Floats
    output_tokens: Floats
    arrival_s: Floats | None


def read_request_trace(path: Path) -> RequestTrace:
    """Read a trace.

    Args:
        path: CSV with the columns input_tokens and output_tokens, and arrival_s (seconds, from any zero) if logged.

    Raises:
        InputError: It can't be read; every wrong cell at once.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(Problem(f"the trace can't be read: {why}", Place(str(path)))) from error
    rows = csv.DictReader(text.splitlines())
    heads = [str(one).strip() for one in rows.fieldnames or ()]
    rows.fieldnames = heads
    missing = [one for one in COLUMNS if one not in heads]
    if missing:
        remedy = f"a head line with {', '.join(COLUMNS)} and, if logged, {TIME}"
        raise InputError(
            Problem(f"the trace has no column {' and '.join(missing)}", Place(str(path), 1), remedy=remedy)
        )
    timed = TIME in heads
    problems: list[Problem] = []
    values = list(_values(path, rows, timed, problems))
    if not problems and not values:
        problems.append(
            Problem("the trace has no requests", Place(str(path), 1), remedy="one request a line")
        )
    if len(values) > MOST_ROWS:
        problems.append(
            Problem(
                f"the trace has {len(values):,} requests", Place(str(path)), remedy=f"at most {MOST_ROWS:,}"
            )
        )
    if problems:
        raise InputError(problems)
    table = np.array(values, dtype=np.float64)
    if not timed:
        return RequestTrace(str(path), table[:, 0], table[:, 1], None)
    table = table[np.argsort(table[:, 2], kind="stable")]
    return RequestTrace(str(path), table[:, 0], table[:, 1], table[:, 2] - table[0, 2])


def _values(
    path: Path, rows: csv.DictReader[str], timed: bool, problems: list[Problem]
) -> Iterator[tuple[float, ...]]:
    for row in rows:
        place = Place(str(path), rows.line_num)
        lengths = [_number(row.get(name), name, place, problems, least=1.0) for name in COLUMNS]
        time = [_number(row.get(TIME), TIME, place, problems, least=-math.inf)] if timed else []
        yield (*lengths, *time)


def _number(given: str | None, name: str, place: Place, problems: list[Problem], *, least: float) -> float:
    try:
        value = float(given or "")
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value >= least and (name == TIME or value == int(value)):
        return value
    asked = "seconds" if name == TIME else "a whole number of 1 or more"
    problems.append(Problem(f"{name} is '{given or ''}'", place, remedy=asked))
    return 1.0
