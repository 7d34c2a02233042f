"""What measured points make doubtful though a curve can be fitted: wrong units, runs that disagree, scatter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from planner.catalog.profiles import CollectiveFit
from planner.measure.parse.points import CollectivePoint
from planner.measure.run.rules import bus_factor
from planner.units import GIGA

LARGE_BYTES = 2**20
"""Below, a time is the start's, and says nothing of a rate."""
MOST_OF_LINK = 2.0
"""Sums in the switch pass the link's rate, since every byte crosses it once: by less than 2(n-1)/n."""
MOST_SPREAD, MOST_LARGE_SPREAD = 3.0, 1.25
"""Repeated runs of one size differ by less, large ones by far less: published tables by a few per cent."""
STEADY_BYTES = 16 * 2**20
"""From here on the link decides and no longer the host."""
SCATTER_FRACTION = 0.25
"""Median error of a curve from which it describes nothing; those that ship have 1 to 4 %."""


def doubts(
    points: Sequence[CollectivePoint], fits: Iterable[CollectiveFit], *, link_bytes_per_s: float
) -> tuple[str, ...]:
    """Reasons to look at the files again, in words; a profile is made all the same.

    Args:
        points: Points that were fitted.
        fits: Their curves.
        link_bytes_per_s: Datasheet rate of the scale-up link, one direction; 0 where there is none.
    """
    return (*_too_fast(points, link_bytes_per_s), *_disagreeing(points), *_scattered(fits))


def _too_fast(points: Sequence[CollectivePoint], link_bytes_per_s: float) -> list[str]:
    rates = [
        (point.bytes / point.time_s * factor, point)
        for point in points
        if point.bytes >= LARGE_BYTES and point.nodes == 1 and point.link in ("", "scale_up")
        and (factor := _factor(point)) is not None
    ]  # fmt: skip
    if not rates or not link_bytes_per_s:
        return []
    rate, point = max(rates, key=lambda pair: pair[0])
    if rate <= MOST_OF_LINK * link_bytes_per_s:
        return []
    return [
        f"{point.path}:{point.source_line}: {point.op} at {rate / GIGA:,.0f} GB/s bus bandwidth, and the link "
        f"carries {link_bytes_per_s / GIGA:,.0f} GB/s one way: are the times in microseconds?"
    ]


def _factor(point: CollectivePoint) -> float | None:
    try:
        return bus_factor(point.op, point.ranks)
    except ValueError:
        return None


def _disagreeing(points: Sequence[CollectivePoint]) -> list[str]:
    """The size whose runs differ most, where they differ too much to be one machine's."""
    alike: dict[tuple[object, ...], list[CollectivePoint]] = defaultdict(list)
    for one in points:
        alike[one.op, one.nodes, one.ranks, one.link, one.mode, one.dtype, one.impl, one.library,
              one.in_place, one.bytes].append(one)  # fmt: skip
    spans = [(min(group, key=_time_s), max(group, key=_time_s)) for group in alike.values()]
    least, most = max(spans, key=_excess, default=(None, None))
    if least is None or most is None or _excess((least, most)) <= 1.0:
        return []
    return [
        f"{most.op} of {most.bytes} bytes, {most.ranks} ranks takes {most.time_s * 1e6:,.1f} us at {most.path}:{most.source_line} "
        f"and {least.time_s * 1e6:,.1f} us at {least.path}:{least.source_line}: runs of different machines or settings?"
    ]


def _excess(span: tuple[CollectivePoint, CollectivePoint]) -> float:
    """Slowest over fastest of one size, in units of what repeated runs may differ by."""
    least, most = span
    allowed = MOST_LARGE_SPREAD if least.bytes >= STEADY_BYTES else MOST_SPREAD
    return most.time_s / least.time_s / allowed


def _time_s(point: CollectivePoint) -> float:
    return point.time_s


def _scattered(fits: Iterable[CollectiveFit]) -> list[str]:
    return [
        f"{one.op}, {one.ranks} ranks, {one.dtype}: the curve misses its own points by "
        f"{one.errors.median_fraction:.0%} in the median, so it describes them badly"
        for one in fits
        if one.errors.median_fraction > SCATTER_FRACTION
    ]
