"""A step split as a small CSV table, for profilers that aren't PyTorch's.

Columns: `rank`, `kind` (compute, collective, idle or memory), `op`, `start_us`, `duration_us`, and where known `bytes`
(the size as nccl-tests counts it), `ranks` (size of the group), `group` (a name that tells groups apart) and `peer`
(the other rank of a send or receive).
`name` may stand for `op`, and `group_size` for `ranks`.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from planner.measure.parse.points import LogError, ParseProblem
from planner.measure.parse.trace_kineto import op_of
from planner.measure.parse.trace_spans import COLLECTIVE, IDLE, KINDS, NAMELESS, RankTrace, Span

if TYPE_CHECKING:
    from _csv import Reader as _Reader

MOST_US = 1e18
"""Times since 1970 in microseconds have 16 digits; sums of what is much larger overflow."""
NEEDED = frozenset({"rank", "kind", "op", "start_us", "duration_us"})
_OTHER_NAMES = {"name": "op", "group_size": "ranks", "group size": "ranks"}


def header_of(line: str) -> list[str]:
    """Column names of a header line, by the names used here.

    >>> header_of("rank, kind,name,start_us,duration_us,group_size")
    ['rank', 'kind', 'op', 'start_us', 'duration_us', 'ranks']
    """
    words = [word.strip() for word in line.split(",")]
    return [_OTHER_NAMES.get(word, word) for word in words]


def read_csv(text: str, path: Path) -> list[RankTrace]:
    """Read all ranks of a table.

    Raises:
        LogError: Columns are missing or rows are wrong; every one is named.
    """
    rows = csv.reader(text.splitlines())
    try:
        return _read_rows(rows, path)
    except csv.Error as error:
        raise LogError([ParseProblem(path, rows.line_num, f"can't be read as CSV: {error}")]) from error


def _read_rows(rows: _Reader, path: Path) -> list[RankTrace]:
    header: list[str] = []
    spans: dict[int, list[Span]] = defaultdict(list)
    problems: list[ParseProblem] = []
    for cells in rows:
        if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
            continue
        if not header:
            header = header_of(",".join(cells))
            if missing := sorted(NEEDED - set(header)):
                raise LogError([ParseProblem(path, rows.line_num, f"column missing: {', '.join(missing)}")])
            continue
        try:
            rank, span = _row(header, cells)
            spans[rank].append(span)
        except ValueError as error:
            problems.append(ParseProblem(path, rows.line_num, str(error)))
    if not problems and not spans:
        problems.append(ParseProblem(path, 0, "holds no row"))
    if problems:
        raise LogError(problems)
    return [RankTrace(rank, path, tuple(found)) for rank, found in sorted(spans.items())]


def _row(header: list[str], cells: list[str]) -> tuple[int, Span]:
    if len(cells) != len(header):
        raise ValueError(f"{len(cells)} columns where the header names {len(header)}")
    row = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    kind = row["kind"].lower()
    if kind not in KINDS:
        raise ValueError(f"kind is '{row['kind']}'; it must be one of {', '.join(KINDS)}")
    op = row["op"]
    if kind == COLLECTIVE:
        known = op_of(op.replace("-", "_"))
        op = op if known == NAMELESS else known
    duration = _number(row, "duration_us")
    if duration < 0:
        raise ValueError(f"duration_us is {row['duration_us']}; it must be 0 or more")
    ranks = _whole(row, "ranks")
    if kind == COLLECTIVE and ranks is not None and ranks < 1:
        raise ValueError("ranks is 0; a group has 1 or more")
    if kind == IDLE:
        ranks = None
    rank = _whole(row, "rank")
    if rank is None:
        raise ValueError("rank is empty")
    return rank, Span(
        kind,
        op,
        _number(row, "start_us"),
        duration,
        _whole(row, "bytes"),
        ranks,
        row.get("group", ""),
        peer=_whole(row, "peer"),
    )


def _number(row: dict[str, str], name: str) -> float:
    try:
        found = float(row[name])
    except ValueError:
        raise ValueError(f"{name} is '{row[name]}', not a number") from None
    if not abs(found) <= MOST_US:
        raise ValueError(f"{name} is '{row[name]:.40}'; it must be finite, and at most {MOST_US:.0e}")
    return found


def _whole(row: dict[str, str], name: str) -> int | None:
    text = row.get(name, "")
    if not text:
        return None
    try:
        found = int(text)
    except ValueError:
        raise ValueError(f"{name} is '{text}', not a whole number") from None
    if found < 0:
        raise ValueError(f"{name} is {found}; it must be 0 or more")
    return found
