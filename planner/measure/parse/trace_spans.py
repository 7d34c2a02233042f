"""What a GPU did over time, as spans, and the arithmetic of intervals on them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

COMPUTE, COLLECTIVE, MEMORY, IDLE = "compute", "collective", "memory", "idle"
KINDS = (COMPUTE, COLLECTIVE, MEMORY, IDLE)

# The op of an exchange that nothing names: no two of them are surely one collective.
NAMELESS = "collective"

Interval = tuple[float, float]


@dataclass(frozen=True)
class Span:
    """One kernel, copy or collective on one rank, in microseconds of that rank's own clock.

    `bytes` is the size as nccl-tests counts it (the larger of what a rank gives and takes) and `ranks` the size of
    the group, where the trace tells them; `group` tells groups apart, `members` are their ranks where told;
    `sequence` numbers the collectives of a group alike on every rank (newer profilers); `peer` is the other rank of
    a send or a receive.
    """

    kind: str
    op: str
    start_us: float
    duration_us: float
    bytes: int | None = None
    ranks: int | None = None
    group: str = ""
    members: tuple[int, ...] = ()
    sequence: int | None = None
    peer: int | None = None

    @property
    def end_us(self) -> float:
        """When it ended."""
        return self.start_us + self.duration_us


@dataclass(frozen=True)
class RankTrace:
    """Everything one rank did; `steps` is how many profiler steps it covers, 0 where that isn't told."""

    rank: int
    path: Path
    spans: tuple[Span, ...]
    steps: int = 0

    @property
    def window(self) -> Interval:
        """From the first span to the end of the last."""
        return min(span.start_us for span in self.spans), max(span.end_us for span in self.spans)

    @cached_property
    def by_kind(self) -> dict[str, list[Span]]:
        """The spans of each kind, in the order of their start."""
        found: dict[str, list[Span]] = {kind: [] for kind in KINDS}
        for span in sorted(self.spans, key=lambda span: span.start_us):
            found[span.kind].append(span)
        return found

    @cached_property
    def computing(self) -> list[Interval]:
        """When compute ran."""
        return of_spans(self.by_kind[COMPUTE])

    def of(self, kind: str) -> list[Span]:
        """The spans of a kind, in the order of their start."""
        return self.by_kind[kind]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time without overlaps, in order.

    >>> union([(0, 2), (5, 6), (1, 3)])
    [(0, 3), (5, 6)]
    """
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif end > start:
            found.append((start, end))
    return found


def without(intervals: Sequence[Interval], covered: Sequence[Interval]) -> list[Interval]:
    """What of the first lies outside the second; both as `union` gives them.

    >>> without([(0, 10)], [(2, 3), (5, 12)])
    [(0, 2), (3, 5)]
    """
    found = []
    for whole_start, end in intervals:
        start = whole_start
        # The first covered interval that may reach into this one: few of these stand beside many of those.
        place = max(0, bisect_left(covered, (start, start)) - 1)
        while place < len(covered) and covered[place][0] < end:
            if covered[place][0] > start:
                found.append((start, covered[place][0]))
            start = max(start, covered[place][1])
            place += 1
        if start < end:
            found.append((start, end))
    return found


def length(intervals: Iterable[Interval]) -> float:
    """Time covered by intervals that don't overlap.

    >>> length([(0, 2), (5, 6)])
    3
    """
    return sum(end - start for start, end in intervals)


def of_spans(spans: Iterable[Span]) -> list[Interval]:
    """The time that spans cover."""
    return union((span.start_us, span.end_us) for span in spans)
