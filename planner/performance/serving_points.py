"""Operating points of a replica over layouts and batches: which meet an objective, and the best trade between them.

Layouts stand in rows and batches in columns, so that whatever depends on the layout alone is worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.inference import Layout
from planner.performance.serving import (
    OperatingPoint,
    Requests,
    Server,
    full_batch,
    largest_batch,
    operating_point,
)

T = TypeVar("T")

BATCHES: Final = 96
"""Batches of a layout, in equal ratios up to the most that memory, engine and the budget of steps allow."""
SMALLEST: Final = 16.0
"""Least batch of a layout is one sequence, or its largest over this: replicas of few sequences run well below one."""
LEAST_BATCH: Final = 1e-4
"""Mean sequences of a replica that is all but idle."""
IDLE_BATCH: Final = 1e-3
"""Mean sequences of a replica whose latencies are an idle one's."""
IDLE_POINTS: Final = 36
"""Batches below the least one, in equal ratios down to `IDLE_BATCH`: long prompts keep a limit only on replicas that are
idle most of the time, and latencies can't be lower than an idle replica's."""
HALVINGS: Final = 40
"""Of the logarithm of the batch: the last interval is below one part in 10^10."""


@dataclass(frozen=True, slots=True)
class Objective:
    """Limits of the 99th percentiles; infinite for none.

    Attributes:
        first_token_p99_s: Time to the first token.
        per_token_p99_s: Time for each later token.
    """

    first_token_p99_s: float
    per_token_p99_s: float


@dataclass(frozen=True, slots=True)
class Points:
    """Operating points, arrays of shape (layouts, batches).

    Attributes:
        layouts: Of shape (layouts, 1).
        point: Rates and latencies.
        fits: Whether memory holds the weights and one sequence's cache.
    """

    layouts: Layout
    point: OperatingPoint
    fits: NDArray[np.bool_]

    @property
    def tried(self) -> int:
        """Points evaluated."""
        return int(np.broadcast_to(self.fits, self.point.rate_per_s.shape).sum())


def serving_points(server: Server, *, requests: Requests, layouts: Layout, batches: int = BATCHES) -> Points:
    """Every layout at batches up to its largest.

    Args:
        server, requests: What serves and what is asked, of shape (1,).
        layouts: Replicas to try, shape (layouts,).
        batches: How many batches of each, beside those of replicas that are idle most of the time.

    Returns:
        See `Points`. Small replicas hold few whole batches, so batches are not whole numbers: they are means.
    """
    rows = rows_of(layouts)
    most = largest_batch(server, requests=requests, layout=rows)
    full = full_batch(server, requests=requests, layout=rows)
    least = np.minimum(1.0, full / SMALLEST)
    steps = np.arange(batches) / max(batches - 1, 1)
    idle = IDLE_BATCH * (least / IDLE_BATCH) ** (np.arange(IDLE_POINTS) / IDLE_POINTS)
    batch = np.concatenate([idle, least * (full / least) ** steps], axis=-1)
    point = operating_point(server, requests=requests, layout=rows, batch_sequences=batch)
    return Points(rows, spread(point, batch.shape), most >= 1.0)


def rows_of(layouts: Layout) -> Layout:
    """Layouts as a column: their fields of shape (layouts, 1)."""
    return replace(
        layouts,
        **{
            one.name: np.reshape(value, (-1, 1))
            for one in fields(layouts)
            if isinstance(value := getattr(layouts, one.name), np.ndarray)
        },
    )


def spread(values: T, shape: tuple[int, ...]) -> T:
    """A dataclass of arrays, all of them broadcast to one shape."""
    return _each(values, lambda one: np.broadcast_to(one, shape))


def row_at(values: T, index: tuple[int, ...]) -> T:
    """One element of a dataclass of arrays, as arrays of shape (1,)."""
    return _each(values, lambda one: np.reshape(one[index], (1,)))


def _each(values: T, change: Any) -> T:
    assert is_dataclass(values) and not isinstance(values, type)
    changed: dict[str, Any] = {}
    for one in fields(values):
        value = getattr(values, one.name)
        if is_dataclass(value):
            changed[one.name] = _each(value, change)
        elif isinstance(value, np.ndarray):
            changed[one.name] = change(value)
    return replace(values, **changed)


def slower(point: OperatingPoint, token: Floats, first: Floats) -> OperatingPoint:
    """An operating point whose tokens take so many times as long, and its first tokens another multiple."""
    latency = point.latency
    return replace(
        point,
        output_tokens_per_s=point.output_tokens_per_s / token,
        output_tokens_per_s_per_gpu=point.output_tokens_per_s_per_gpu / token,
        rate_per_s=point.rate_per_s / token,
        latency=replace(
            latency,
            **{
                one.name: getattr(latency, one.name) * (first if one.name.startswith("first") else token)
                for one in fields(latency)
            },
        ),
    )


def meets(points: Points, objective: Objective) -> NDArray[np.bool_]:
    """Which points keep both limits, shape (layouts, batches)."""
    latency = points.point.latency
    return np.asarray(
        points.fits
        & (latency.first_token_p99_s <= objective.first_token_p99_s)
        & (latency.per_token_p99_s <= objective.per_token_p99_s)
    )


def most_requests(points: Points, objective: Objective) -> tuple[NDArray[np.intp], Floats]:
    """For each layout the column of the highest rate within the objective, and that rate.

    Returns:
        Two arrays of shape (layouts,); the rate is zero where nothing of the layout keeps the limits.
    """
    rates = np.where(meets(points, objective), points.point.rate_per_s, 0.0)
    best = rates.argmax(axis=1)
    return best, rates[np.arange(best.size), best]


def front(points: Points, *, first_token_p99_s: float) -> list[tuple[int, int]]:
    """Points that no other beats in both throughput per accelerator and interactivity, most interactive first.

    Interactivity is what one reader sees, output tokens a second: one over the mean time for each token.

    Args:
        points: All points.
        first_token_p99_s: Limit of the time to the first token, which every point keeps; infinite for none.

    Returns:
        Rows and columns.
    """
    latency = points.point.latency
    ok = np.broadcast_to(points.fits, latency.per_token_mean_s.shape)
    ok = ok & (latency.first_token_p99_s <= first_token_p99_s) & np.isfinite(latency.per_token_mean_s)
    busy = np.arange(ok.shape[1]) >= IDLE_POINTS
    if ok[:, busy].any():
        # replicas that are all but idle say nothing that the smallest batches don't
        ok = ok & busy
    rows, columns = np.nonzero(ok)
    each = latency.per_token_mean_s[rows, columns]
    throughput = points.point.output_tokens_per_s_per_gpu[rows, columns]
    order = np.lexsort((-throughput, each))
    best = np.maximum.accumulate(np.concatenate([[-np.inf], throughput[order]]))[:-1]
    kept = order[throughput[order] > best]
    return list(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))


def at_rate(
    server: Server, *, requests: Requests, layout: Layout, rate_per_s: Floats | float
) -> OperatingPoint:
    """The point at which a replica of one layout runs under a load it carries, by bisection of the batch.

    Args:
        server, requests: What serves and what is asked, shape (n,).
        layout: Of shape (1,).
        rate_per_s: Requests a second, shape (n,), at most what the replica sustains; more gives the largest batch.

    Returns:
        A point of shape (n,) whose rate is the given one; its mean batch may be below one.
    """
    wanted = np.asarray(rate_per_s, dtype=np.float64)
    high = np.log(full_batch(server, requests=requests, layout=layout)) + 0.0 * wanted
    low = np.full(high.shape, np.log(LEAST_BATCH))
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        point = operating_point(server, requests=requests, layout=layout, batch_sequences=np.exp(middle))
        if point.rate_per_s.shape != high.shape:
            low, high = (np.broadcast_to(one, point.rate_per_s.shape) for one in (low, high))
            middle = (low + high) / 2.0
        less = point.rate_per_s < wanted
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return point
