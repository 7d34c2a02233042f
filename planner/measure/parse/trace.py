"""Reads a profiler's traces, one file a rank, or a step split as a table."""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from planner.measure.parse.points import LogError, ParseProblem
from planner.measure.parse.trace_csv import NEEDED, header_of, read_csv
from planner.measure.parse.trace_kineto import read_kineto
from planner.measure.parse.trace_spans import RankTrace


def read_traces(paths: Sequence[Path]) -> list[RankTrace]:
    """All ranks of all files, in the order of their rank; every problem of every file at once.

    Raises:
        LogError: A file can't be read or is damaged, or two tell the same rank.
    """
    traces: list[RankTrace] = []
    problems: list[ParseProblem] = []
    for path in paths:
        try:
            traces += _read(path)
        except LogError as error:
            problems += error.problems
    if not problems and len(traces) == 1 and traces[0].rank < 0:
        traces = [replace(traces[0], rank=0)]
    problems += _wrong_ranks(traces)
    if problems:
        raise LogError(problems)
    return sorted(traces, key=lambda trace: trace.rank)


def _wrong_ranks(traces: Sequence[RankTrace]) -> list[ParseProblem]:
    problems = []
    by_rank: dict[int, list[Path]] = defaultdict(list)
    for trace in traces:
        if trace.rank < 0:
            problems.append(
                ParseProblem(trace.path, 0, "doesn't tell its rank; put it in the name, as in rank3.json")
            )
        else:
            by_rank[trace.rank].append(trace.path)
    for rank, paths in by_rank.items():
        if len(paths) > 1:
            problems.append(
                ParseProblem(paths[1], 0, f"is of rank {rank}, and so is {paths[0]}; give each rank once")
            )
    return problems


def _read(path: Path) -> list[RankTrace]:
    text = _text(path)
    if text.lstrip()[:1] in ("{", "["):
        return [read_kineto(text, path)]
    head = next(
        (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), ""
    )
    if len(NEEDED & set(header_of(head))) >= 2:
        return read_csv(text, path)
    said = f"is neither a profiler's JSON trace nor a table with the columns {', '.join(sorted(NEEDED))}"
    raise LogError([ParseProblem(path, 1, said)])


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise LogError([ParseProblem(path, 0, f"can't be read: {said}")]) from error
    except UnicodeDecodeError as error:
        raise LogError(
            [ParseProblem(path, 0, f"is no text: byte at offset {error.start} isn't UTF-8")]
        ) from error
