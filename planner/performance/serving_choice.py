"""Which replica serves: the layout and batch within an objective, by the servers that a load needs or by tokens alone.

A plan and a sizing choose here, so that a fleet which is sized for a load is the one that the plan serves with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats
from planner.performance.fleet import replicas_needed, whole_servers
from planner.performance.inference import Layout, cache_bytes_per_rank, weight_bytes_per_rank
from planner.performance.serving import OperatingPoint, Requests, Server, ServingChoice
from planner.performance.serving_points import (
    Objective,
    Points,
    meets,
    most_requests,
    row_at,
    serving_points,
    slower,
)


@dataclass(frozen=True, slots=True)
class Need:
    """A load as whole servers carry it.

    Attributes:
        peaks_per_s: Requests a second in the busiest hour, one for each region.
        spare_replicas: Standing by in each region.
        server_gpus: Accelerators bought together.
    """

    peaks_per_s: tuple[float, ...]
    spare_replicas: int
    server_gpus: int

    def servers(self, rates_per_s: Floats, replica_gpus: Floats) -> Floats:
        """Servers of all regions for replicas of some rates and sizes, infinite where a rate is zero.

        >>> need = Need((10.0, 5.0), 1, 8)
        >>> need.servers(np.array([4.0, 0.0]), np.array([2.0, 2.0]))
        array([ 2., inf])
        """
        able = (rates_per_s > 0.0) & (replica_gpus <= self.server_gpus)
        total = np.zeros(np.shape(rates_per_s))
        for peak in self.peaks_per_s:
            needed = replicas_needed(
                requests_per_s=np.full(np.shape(rates_per_s), peak),
                replica_requests_per_s=np.where(able, rates_per_s, 1.0),
            )
            total = total + whole_servers(
                replicas=needed + self.spare_replicas, replica_gpus=np.where(able, replica_gpus, 1.0),
                server_gpus=np.array([float(self.server_gpus)]),
            )  # fmt: skip
        return np.where(able, total, np.inf)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Layouts in the order in which they serve, best first.

    Attributes:
        rows: Of the points, those that keep the objective alone.
        columns: The batch of each layout with its highest rate, shape (layouts,).
        rates_per_s: That rate, zero where a layout doesn't keep the objective, shape (layouts,).
        servers: Of the load, zero without one and infinite where a layout doesn't keep the objective.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    rates_per_s: Floats
    servers: Floats


def ranked_layouts(points: Points, objective: Objective, need: Need | None) -> Ranked:
    """Layouts by the fewest servers for a load, then by the most requests of an accelerator.

    Without a load by the latter alone; equal ones stand in the order of the layouts.
    """
    columns, rates = most_requests(points, objective)
    gpus = points.layouts.gpus[:, 0]
    servers = np.where(rates > 0.0, 0.0, np.inf) if need is None else need.servers(rates, gpus)
    order = np.lexsort((-rates / gpus, servers))
    able = tuple(int(row) for row in order if np.isfinite(servers[row]))
    return Ranked(able, tuple(columns.tolist()), rates, servers)


def best_replicas(
    server: Server,
    *,
    requests: Requests,
    layouts: Layout,
    objective: Objective,
    need: Need | None = None,
    per_token_ratio: float = 1.0,
    first_token_ratio: float = 1.0,
) -> ServingChoice:
    """Layout and batch that carry a load with the fewest servers within both limits, or serve most per accelerator.

    Args:
        server, requests: What serves and what is asked, of shape (1,).
        layouts: Replicas to try, shape (layouts,), all within one domain.
        objective: Limits of the tails.
        need: The load, None for the most tokens of an accelerator.
        per_token_ratio, first_token_ratio: True over predicted times, which the limits are held against.

    Returns:
        See `ServingChoice`; its points are as predicted, before the ratios.
    """
    points = serving_points(server, requests=requests, layouts=layouts)
    rows = points.layouts
    weights = weight_bytes_per_rank(server.shape, form=server.form, layout=layouts)
    free = cache_bytes_per_rank(
        server.shape, form=server.form, layout=layouts, memory_bytes=server.chip.memory_bytes,
        constants=server.constants,
    )  # fmt: skip
    widest = int(np.argmax(free))
    needed, available = float(weights[widest]), float((weights + free)[widest])
    if not points.fits.any():
        return ServingChoice(
            False, _too_large(layouts, widest, needed, available), 0, None, None, needed, available
        )
    true = replace(
        points, point=slower(points.point, np.array([per_token_ratio]), np.array([first_token_ratio]))
    )
    found = ranked_layouts(true, objective, need)
    if not found.rows:
        row, column, why = nearest_miss(true, objective)
        return ServingChoice(
            False,
            why,
            points.tried,
            row_at(rows, (row, 0)),
            row_at(points.point, (row, column)),
            needed,
            available,
        )
    chosen = [
        (row_at(rows, (row, 0)), row_at(points.point, (row, found.columns[row]))) for row in found.rows[:2]
    ]
    following: tuple[Layout | None, OperatingPoint | None] = chosen[1] if len(chosen) > 1 else (None, None)
    return ServingChoice(True, "", points.tried, *chosen[0], needed, available, *following)


def _too_large(layouts: Layout, widest: int, needed: float, available: float) -> str:
    return (
        f"memory: weights take {needed / 1e9:.1f} GB on each of {layouts.replica_ranks[widest]:.0f} GPUs, and"
        f" {max(available, 0.0) / 1e9:.1f} GB are there for them and one sequence's cache"
    )


def nearest_miss(points: Points, objective: Objective) -> tuple[int, int, str]:
    """Row and column of the point that is least over its limits, and what is over, where no point keeps both."""
    latency = points.point.latency
    first = latency.first_token_p99_s / objective.first_token_p99_s
    token = latency.per_token_p99_s / objective.per_token_p99_s
    over = np.where(points.fits, np.maximum(first, token), np.inf)
    row, column = (int(place) for place in np.unravel_index(int(over.argmin()), over.shape))
    return row, column, why_not(points, objective)


def why_not(points: Points, objective: Objective) -> str:
    """The limit that no point meets, with the nearest miss; empty where one does."""
    if not points.fits.any():
        return "memory: no replica that was tried holds the weights and one sequence's cache"
    if meets(points, objective).any():
        return ""
    latency = points.point.latency
    fits = np.broadcast_to(points.fits, latency.per_token_p99_s.shape)
    for said, values, limit in (
        ("TTFT", latency.first_token_p99_s, objective.first_token_p99_s),
        ("TPOT", latency.per_token_p99_s, objective.per_token_p99_s),
    ):
        least = float(np.where(fits, values, np.inf).min())
        if least > limit:
            return f"{said} p99 is {time_words(least)} at least, on a replica that is all but idle, and its limit {time_words(limit)}"
    return "TTFT and TPOT: no point keeps both limits, though some keep either"


def time_words(seconds: float) -> str:
    """A time in the unit of its size.

    >>> time_words(54.32), time_words(0.0125), time_words(0.00004)
    ('54.3 s', '12.5 ms', '0.04 ms')
    """
    return f"{seconds:.3g} s" if seconds >= 1.0 else f"{seconds * 1e3:.3g} ms"
