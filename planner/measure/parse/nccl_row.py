"""One result row of nccl-tests: its columns and whether its figures agree with each other.

Columns: size, count, type, then redop and root where the version prints them, then time, algbw, busbw and
#wrong (an error in older versions) out-of-place and again in-place; a per-iteration report adds four to each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from planner.measure.parse.points import DTYPES
from planner.measure.run.rules import bus_factor

NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$|N/A$")
ROW_START = re.compile(r"\s*(\d+)\s+(\d+)\s+(" + "|".join(DTYPES) + r")(?=\s|$)(.*)")
_REDOPS = ("sum", "prod", "max", "min", "avg", "mulsum", "none")
_TIMESTAMP = re.compile(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
_FACTOR_LIKE = {
    "reduce": "broadcast",
    "gather": "all_gather",
    "scatter": "all_gather",
    "hypercube": "broadcast",
}


class RowError(ValueError):
    """A row that can't be read, with the reason."""


@dataclass(frozen=True)
class Side:
    """Out-of-place or in-place figures as printed."""

    time_us: str
    algbw: str
    busbw: str
    wrong: str


@dataclass(frozen=True)
class Row:
    """A row; a side is None where the line ends before it does."""

    size_bytes: int
    dtype: str
    redop: str
    out_of_place: Side | None
    in_place: Side | None


def half_unit(text: str) -> float:
    """Half a unit of the last digit printed.

    >>> half_unit("12.30"), half_unit("1.2e+08")
    (0.005, 5000000.0)
    """
    exponent = Decimal(text).as_tuple().exponent
    return 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)


def rates_agree(size_bytes: float, side: Side, slack: float = 1e-6) -> bool:
    """Whether time and algorithm bandwidth can be the same measurement, given how they were rounded.

    >>> rates_agree(1_000_000, Side("100.0", "10.00", "10.00", "0"))
    True
    >>> rates_agree(1_000_000, Side("100.0", "11.00", "11.00", "0"))
    False
    """
    try:
        time_us, rate, _ = float(side.time_us), float(side.algbw), float(side.busbw)
        time_half, rate_half = half_unit(side.time_us), half_unit(side.algbw)
    except (ValueError, InvalidOperation):
        return False
    if time_us <= 0 or rate < 0:
        return False
    fastest = size_bytes / max(time_us - time_half, 1e-12) / 1e3
    slowest = size_bytes / (time_us + time_half) / 1e3
    return (rate - rate_half) * (1 - slack) <= fastest and (rate + rate_half) * (1 + slack) >= slowest


def bus_agrees(op: str, ranks: int, side: Side) -> bool:
    """Whether the bus bandwidth is the algorithm bandwidth times the op's factor at this many ranks.

    Source:
        nccl-tests-performance (bus bandwidth factors).
    """
    rate, bus = float(side.algbw), float(side.busbw)
    factor = bus_factor(_FACTOR_LIKE.get(op, op), ranks)
    return abs(bus - rate * factor) <= (half_unit(side.busbw) + factor * half_unit(side.algbw)) * (1 + 1e-6)


def payload_share(op: str, ranks: int | None) -> float:
    """Part of the printed size that the algorithm bandwidth counts: all but a rank's own share for hypercube."""
    return (ranks - 1) / ranks if op == "hypercube" and ranks else 1.0


def read_row(text: str, *, share: float = 1.0, per_side: int = 4) -> tuple[Row, bool]:
    """Read a row, and say whether it is whole.

    Args:
        text: The line, without prefix.
        share: See `payload_share`.
        per_side: Columns to a side, 8 with the per-iteration report.

    Raises:
        RowError: A column isn't a number, or time and bandwidth contradict each other.
    """
    match = ROW_START.match(_TIMESTAMP.sub("", text))
    if match is None:
        raise RowError("no result row")
    size, words = int(match[1]), match[4].split()
    redop = words.pop(0) if words and words[0] in _REDOPS else ""
    for word in words:
        if not NUMBER.match(word):
            raise RowError(f"'{word}' is no number")
    whole = len(words) in (2 * per_side, 2 * per_side + 1)
    for roots in _root_columns(len(words), per_side):
        sides = [_side(words[roots + start :][:per_side], per_side) for start in (0, per_side)]
        there = [side for side in sides if side is not None]
        if size == 0 or (there and all(rates_agree(size * share, side) for side in there)):
            return Row(size, DTYPES[match[3]], redop, sides[0], sides[1]), whole and len(there) == 2
    if len(words) > 2 * per_side + 1:
        raise RowError(f"{len(words)} figures where at most {2 * per_side + 1} belong")
    if len(words) > per_side:
        raise RowError("time and algbw contradict each other, or columns are missing")
    return Row(size, DTYPES[match[3]], redop, None, None), False


def _root_columns(figures: int, per_side: int) -> tuple[int, ...]:
    if figures == 2 * per_side + 1:
        return (1,)
    # A full set without root, or a cut line with it: the figures tell, since only one reading agrees.
    return (0, 1)


def _side(words: list[str], per_side: int) -> Side | None:
    if len(words) < per_side:
        return None
    return Side(*words[:4])
