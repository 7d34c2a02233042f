"""Sizing of a serving fleet: the fewest GPUs that carry a load within its objective.

Every server, precision, replica layout and batch asked for is a point of the closed form. For each layout the
largest rate within the objective says how many replicas each region needs; regions are rounded up to whole servers
by themselves, spare replicas included. The layout with the fewest GPUs is kept for each server and precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.choices import Precision, WeightFormat
from planner.performance.fleet import (
    DAY_STEPS,
    day_requests_per_s,
    replicas_needed,
    running_replicas,
    whole_servers,
)
from planner.performance.inference import Layout
from planner.performance.serving import OperatingPoint, Requests, Server
from planner.performance.serving_choice import Need, ranked_layouts, why_not
from planner.performance.serving_points import (
    Objective,
    Points,
    at_rate,
    front,
    meets,
    row_at,
    serving_points,
    slower,
)

WEIGHT_BITS: Final = {
    WeightFormat.BF16: 16, WeightFormat.FP8: 8, WeightFormat.FP8_BLOCK: 8, WeightFormat.INT8: 8, WeightFormat.INT4: 4,
    WeightFormat.NVFP4: 4, WeightFormat.MXFP4: 4,
}  # fmt: skip
"""Bits of a weight without its scales."""
FRONT_POINTS: Final = 12
"""Points of a front that are kept, spread over it."""


@dataclass(frozen=True, slots=True)
class RegionLoad:
    """A region with its own peak and its own day.

    Attributes:
        peak_requests_per_s: Of its busiest hour.
        requests_per_s: Over a day in UTC, in steps of five minutes, shape (288,).
    """

    id: str
    peak_requests_per_s: float
    requests_per_s: Floats


@dataclass(frozen=True, slots=True)
class Load:
    """What a fleet has to carry.

    Attributes:
        regions: One or more.
        spare_replicas: Standing by in each region.
        startup_s: From asking for a replica until it serves.
        curve: Whether the load changes over the day.
    """

    regions: tuple[RegionLoad, ...]
    spare_replicas: int
    startup_s: float
    curve: bool

    @property
    def mean_requests_per_s(self) -> float:
        """Over the day, all regions together."""
        return float(sum(one.requests_per_s.mean() for one in self.regions))

    @property
    def peak_requests_per_s(self) -> float:
        """Sum of the regions' peaks."""
        return sum(one.peak_requests_per_s for one in self.regions)

    def need(self, server_gpus: int) -> Need:
        """The peaks as whole servers carry them."""
        return Need(tuple(one.peak_requests_per_s for one in self.regions), self.spare_replicas, server_gpus)

    @property
    def joint_peak_requests_per_s(self) -> float:
        """Highest load of all regions at one time, which one fleet for all would have to carry."""
        return float(sum(one.requests_per_s for one in self.regions).max())  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A server and a precision that may serve the model.

    Attributes:
        server_id: Item of the catalog.
        server: The model on it.
        layouts: Replicas to try.
        server_gpus: GPUs bought together.
        first_token_ratio, per_token_ratio: Measured over predicted times, 1 without runs of one's own.
        odd_points: Runs of one's own that are far from the model, each with what is odd.
        weights: Format of the weights; the usual one of the precision where None.
    """

    server_id: str
    name: str
    precision: Precision
    server: Server
    requests: Requests
    layouts: Layout
    server_gpus: int
    first_token_ratio: float = 1.0
    per_token_ratio: float = 1.0
    weights: WeightFormat | None = None
    odd_points: tuple[str, ...] = ()

    @property
    def corrected_by_runs(self) -> bool:
        """Whether runs of one's own correct its times."""
        return self.first_token_ratio != 1.0 or self.per_token_ratio != 1.0

    @property
    def format_name(self) -> str:
        """The precision, or the format of weights that aren't in its usual one: w4a16 is 4 bits beside 16-bit products."""
        if self.weights is None:
            return self.precision.value
        bits = WEIGHT_BITS[self.weights]
        return f"w{bits}a16" if self.precision is Precision.BF16 and bits < 16 else self.weights.value

    def points(self) -> Points:
        """All layouts and batches, as measured runs correct them."""
        found = serving_points(self.server, requests=self.requests, layouts=self.layouts)
        return replace(found, point=self.corrected(found.point))

    def corrected(self, point: OperatingPoint) -> OperatingPoint:
        """A point whose times are as measured ones are to predicted ones."""
        return slower(point, np.array([self.per_token_ratio]), np.array([self.first_token_ratio]))


@dataclass(frozen=True, slots=True)
class RegionFleet:
    """One region of a fleet.

    Attributes:
        replicas: Needed at its peak.
        standing: Replicas that its whole servers hold, spare ones among them.
        servers: Bought.
        mean_replicas: That run or start over the day, where they follow the load.
    """

    id: str
    peak_requests_per_s: float
    replicas: int
    standing: int
    servers: int
    mean_replicas: float


@dataclass(frozen=True, slots=True)
class Choice:
    """One operating point of one candidate; arrays of shape (1,)."""

    layout: Layout
    point: OperatingPoint


@dataclass(frozen=True, slots=True)
class Fleet:
    """The fewest GPUs of one candidate.

    Attributes:
        capacity: The replica at the most it carries within the objective.
        busiest: The replica in the region that loads it most, at its peak without the spare ones.
        saturated: The replica of any layout with the highest throughput per GPU, whatever the latency.
        front: Best trades of throughput per GPU against interactivity, most interactive first.
        tried: Points evaluated; meeting: of these within the objective.
    """

    candidate: Candidate
    capacity: Choice
    busiest: OperatingPoint
    saturated: Choice
    regions: tuple[RegionFleet, ...]
    front: tuple[Choice, ...]
    tried: int
    meeting: int

    @property
    def replica_gpus(self) -> int:
        """GPUs of a replica."""
        return int(self.capacity.layout.gpus[0])

    @property
    def replicas(self) -> int:
        """Needed at the peaks."""
        return sum(one.replicas for one in self.regions)

    @property
    def standing(self) -> int:
        """Replicas there, spare ones among them."""
        return sum(one.standing for one in self.regions)

    @property
    def able_requests_per_s(self) -> float:
        """That all replicas there carry within the objective, spare ones included."""
        return self.standing * float(self.capacity.point.rate_per_s[0])

    @property
    def servers(self) -> int:
        """Bought, all regions together."""
        return sum(one.servers for one in self.regions)

    @property
    def gpus(self) -> int:
        """Bought, all regions together."""
        return self.servers * self.candidate.server_gpus

    @property
    def serving_gpus(self) -> int:
        """Of the replicas needed at the peaks, without spare ones and the rest of whole servers."""
        return self.replicas * self.replica_gpus

    @property
    def mean_gpus(self) -> float:
        """That run or start over the day, where replicas follow the load."""
        return sum(one.mean_replicas for one in self.regions) * self.replica_gpus

    @property
    def replicas_per_server(self) -> int:
        """Replicas that a failing server takes with it."""
        return self.candidate.server_gpus // self.replica_gpus


@dataclass(frozen=True, slots=True)
class Sizing:
    """What a sizing found: fleets with the fewest GPUs first, and why others are none.

    Attributes:
        refused: Server, precision and the reason.
        tried: Points evaluated, all candidates together.
    """

    load: Load
    objective: Objective
    fleets: tuple[Fleet, ...]
    refused: tuple[tuple[str, Precision, str], ...]
    tried: int


def load_of(
    *,
    peak_requests_per_s: float,
    hourly_fraction: Sequence[float] | None,
    regions: Sequence[tuple[str, float, float]],
    spare_replicas: int,
    startup_s: float,
) -> Load:
    """A load by region and time of day.

    Args:
        peak_requests_per_s: Sum of the regions' peaks.
        hourly_fraction: The 24 hours of a local day over the busiest one; the same all day where None.
        regions: Id, share and local time less UTC; one region where empty.
        spare_replicas, startup_s: See `Load`.

    >>> load = load_of(peak_requests_per_s=100.0, hourly_fraction=[0.0] * 12 + [1.0] * 12,
    ...     regions=[("east", 0.5, 0.0), ("west", 0.5, -12.0)], spare_replicas=0, startup_s=300.0)
    >>> load.peak_requests_per_s, round(load.joint_peak_requests_per_s, 6)
    (100.0, 50.0)
    """
    wanted = list(regions) or [("all", 1.0, 0.0)]
    peaks = np.array([peak_requests_per_s * share for _, share, _ in wanted])
    shape = np.ones(24) if hourly_fraction is None else np.asarray(hourly_fraction, dtype=np.float64)
    days = day_requests_per_s(
        peak_requests_per_s=peaks,
        hourly_fraction=shape,
        utc_offset_hours=np.array([offset for _, _, offset in wanted]),
    )
    return Load(
        tuple(
            RegionLoad(name, float(peak), day)
            for (name, _, _), peak, day in zip(wanted, peaks, days, strict=True)
        ),
        spare_replicas,
        startup_s,
        hourly_fraction is not None,
    )


def size_fleets(candidates: Sequence[Candidate], load: Load, objective: Objective) -> Sizing:
    """The fewest GPUs of every candidate, the smallest fleet first.

    Equal fleets stand in the order of the candidates.

    Args:
        candidates: Servers, precisions and weights.
        load: What they carry.
        objective: Limits of the tails at every time, spare replicas being out.
    """
    fleets, refused, tried = [], [], 0
    for one in candidates:
        points = one.points()
        tried += points.tried
        why = why_not(points, objective)
        if why:
            said = f"with {one.weights.value} weights: {why}" if one.weights is not None else why
            refused.append((one.server_id, one.precision, said))
        else:
            fleets.append(_fleet(one, points, load, objective))
    return Sizing(load, objective, tuple(sorted(fleets, key=lambda one: one.gpus)), tuple(refused), tried)


def _fleet(one: Candidate, points: Points, load: Load, objective: Objective) -> Fleet:
    found = ranked_layouts(points, objective, load.need(one.server_gpus))
    # of equal fleets the one whose replicas have most to spare
    row = found.rows[0]
    column, rates, ranks = found.columns[row], found.rates_per_s, points.layouts.gpus[:, 0]
    layout = row_at(points.layouts, (row, 0))
    capacity = Choice(layout, row_at(points.point, (row, column)))
    rate = float(rates[row])
    regions = tuple(_region(one, rate, float(ranks[row]), region, load) for region in load.regions)
    worst = max(region.peak_requests_per_s / region.replicas for region in regions)
    fits = np.broadcast_to(points.fits, points.point.rate_per_s.shape)
    every = np.where(fits, points.point.output_tokens_per_s_per_gpu, 0.0)
    most = np.unravel_index(int(every.argmax()), every.shape)
    best = front(points, first_token_p99_s=objective.first_token_p99_s)
    shown = [best[place] for place in _spread(len(best), FRONT_POINTS)]
    return Fleet(
        candidate=one,
        capacity=capacity,
        busiest=one.corrected(
            at_rate(one.server, requests=one.requests, layout=layout, rate_per_s=worst * one.per_token_ratio)
        ),
        saturated=Choice(
            row_at(points.layouts, (int(most[0]), 0)), row_at(points.point, (int(most[0]), int(most[1])))
        ),
        regions=regions,
        front=tuple(Choice(row_at(points.layouts, (r, 0)), row_at(points.point, (r, c))) for r, c in shown),
        tried=points.tried,
        meeting=int(meets(points, objective).sum()),
    )


def _region(one: Candidate, rate: float, ranks: float, region: RegionLoad, load: Load) -> RegionFleet:
    each = np.array([rate])
    needed = replicas_needed(
        requests_per_s=np.array([region.peak_requests_per_s]), replica_requests_per_s=each
    )
    size = np.array([float(one.server_gpus)])
    servers = whole_servers(
        replicas=needed + load.spare_replicas, replica_gpus=np.array([ranks]), server_gpus=size
    )
    day = replicas_needed(requests_per_s=region.requests_per_s, replica_requests_per_s=each)
    running = running_replicas(needed=day, startup_s=load.startup_s)
    assert running.shape == (DAY_STEPS,)
    return RegionFleet(
        id=region.id,
        peak_requests_per_s=region.peak_requests_per_s,
        replicas=int(needed[0]),
        standing=int(servers[0] * np.floor(one.server_gpus / ranks)),
        servers=int(servers[0]),
        mean_replicas=float(running.mean()) + load.spare_replicas,
    )


def _spread(count: int, most: int) -> list[int]:
    """Places spread evenly over a list, its ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})
