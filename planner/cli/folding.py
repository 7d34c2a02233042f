"""Problems that say the same of many lines of a file, said once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

FEWEST: Final = 3
"""Lines from which the same words are said once."""
_PLACED: Final = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?: (?P<said>.+)", re.DOTALL)


def folded(problems: Iterable[str]) -> list[str]:
    """Problems in their order, where those that differ in their line alone are one.

    >>> folded([f"acme.csv:{line}: no rate of EUR is known" for line in (2, 3, 4, 9)] + ["acme.csv:5: no price"])
    ['acme.csv:2: no rate of EUR is known; the same on lines 3, 4 and 9', 'acme.csv:5: no price']
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for problem in problems:
        found = _PLACED.fullmatch(problem)
        groups.setdefault((found["path"], found["said"]) if found else (problem,), []).append(problem)
    told = []
    for alike in groups.values():
        if len(alike) < FEWEST:
            told += alike
            continue
        lines = sorted({int(found["line"]) for one in alike[1:] if (found := _PLACED.fullmatch(one))})
        told.append(f"{alike[0]}; the same on lines {_spans(lines)}" if lines else alike[0])
    return told


def _spans(lines: list[int]) -> str:
    """Line numbers in words.

    >>> _spans([3, 4, 5, 9])
    '3 to 5 and 9'
    """
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    said = []
    for run in runs:
        said += [f"{run[0]} to {run[-1]}"] if len(run) >= FEWEST else [str(line) for line in run]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
