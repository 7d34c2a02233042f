"""A scenario's serving workload under simulated traffic, beside the closed form at the same load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats
from planner.errors import InputError, Problem
from planner.performance.inference import Layout
from planner.performance.queueing import Binding, Latency, binding
from planner.performance.serve import Served
from planner.performance.serving import Requests, Server, full_batch, largest_batch, operating_point
from planner.performance.serving_machines import one_draw
from planner.performance.serving_points import at_rate, slower
from planner.performance.simulate.clients import DAY_S
from planner.performance.simulate.engine import Engine, slower_engine
from planner.performance.simulate.of_server import SCHEDULES, Policy, simulated_engine
from planner.performance.simulate.record import Outcome, later_first_tokens
from planner.performance.simulate.run import ClosedLoop, oversized, simulate
from planner.performance.simulate.traffic import Traffic, first_half
from planner.study.traffic_drawn import Arrivals, TrafficAsked, day_length_s, drawn_traffic
from planner.study.traffic_steady import (
    SETTLED,
    WARM_UP_FRACTION,
    Rise,
    busiest_rows,
    output_tokens_per_s,
    part_of,
    rise,
    steady,
)

MOST_REPLICAS = 8
"""Replicas simulated by default: a larger fleet behaves like several of these, each with its share of the load."""
LIVES_AN_HOUR = 10.0
"""Times that a request takes which an hour of a day has to last in a run, so that load within it is what the hour brings."""
HOURS = 24
UNEVEN_FRACTION = 0.02
"""By which clients of the simulated part may differ from their share of the fleet's."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Measured over predicted times, by which a plan's latencies are corrected: of anchors, or typed by hand.

    Attributes:
        per_token, first_token: Of the time for each token, and to the first one.
        of_others: Whether a scenario names anchors, and none is of this workload's endpoint.
    """

    per_token: float = 1.0
    first_token: float = 1.0
    of_others: bool = False

    @property
    def corrects(self) -> bool:
        """Whether it changes anything."""
        return self.per_token != 1.0 or self.first_token != 1.0

    def seen(self, outcome: Outcome) -> Outcome:
        """What engines of slower steps do, as it is seen where the first token has a ratio of its own."""
        return later_first_tokens(outcome, self.first_token / self.per_token)


AS_PREDICTED = Correction()


@dataclass(frozen=True, slots=True)
class TrafficRun:
    """What came of it.

    Attributes:
        asked: What was asked.
        workload: Its id.
        layout: Of a replica.
        fleet_replicas, replicas: Of the fleet, and those simulated with their share of the load.
        requests: Simulated.
        rate_per_s: Requests a second offered to the fleet, None with closed-loop clients.
        capacity_per_s: That it sustains by the closed form, with the prefix hits found.
        binds: What ends the capacity.
        saturated: Whether more is offered than sustained; latencies then grow with the run and mean nothing.
        outcome: Requests of the steady state.
        output_tokens_per_s: Of the fleet.
        closed_form: Latencies by the closed form at this load, None where it has no word: saturated, closed loop.
        short: Whether the run is too short for a steady state, see `steady`.
        rise: Whether latencies go on rising with the run.
        hit_fraction: Prompt tokens found in caches from the run's beginning on, when they are empty.
        day_s: Seconds in which arrivals go through a day, None where they don't.
        busiest: Of a day, requests of its busiest hours; None where no day is gone through.
        day_requests: Requests of a run that goes through a day, where only its busiest hour is simulated for want of them.
        clients: Closed-loop clients simulated.
        correction: Of the latencies.
    """

    asked: TrafficAsked
    workload: str
    layout: Layout
    fleet_replicas: int
    replicas: int
    requests: int
    rate_per_s: float | None
    capacity_per_s: float
    binds: Binding
    saturated: bool
    outcome: Outcome
    output_tokens_per_s: float
    closed_form: Latency | None
    engine: Engine
    short: bool = False
    rise: Rise = SETTLED
    hit_fraction: float = 0.0
    day_s: float | None = None
    busiest: Outcome | None = None
    day_requests: int | None = None
    clients: int = 0
    correction: Correction = AS_PREDICTED

    @property
    def settled(self) -> bool:
        """Whether its latencies would stay with a longer run."""
        return not self.saturated and self.rise.settled


def run_traffic(
    served: Served, *, gpus: float, asked: TrafficAsked, correction: Correction = AS_PREDICTED
) -> TrafficRun:
    """Simulate a served workload.

    A day is gone through where every hour of it lasts `LIVES_AN_HOUR` times what a request takes; a shorter run would show
    hours that are over before their load is felt, so its requests all come in the busiest hour instead.

    Args:
        served: The workload as the plan serves it.
        gpus: Accelerators that serve it.
        asked: What is to be simulated.
        correction: As the plan's own latencies are corrected.

    Raises:
        InputError: What is asked can't be simulated.
    """
    asked = with_plan_hits(asked, served)
    found = _run(served, gpus, asked, correction)
    if found.day_s is None:
        return found
    needed = hour_requests(found.outcome, found.day_s, asked.requests)
    if needed <= asked.requests:
        return found
    peak = _run(served, gpus, replace(asked, arrivals=Arrivals.POISSON), correction)
    return replace(peak, asked=asked, day_requests=needed)


def with_plan_hits(asked: TrafficAsked, served: Served) -> TrafficAsked:
    """What is asked, with the plan's share of prompt tokens found in caches where neither prefixes nor a share is asked."""
    if asked.prefixes or asked.hit_fraction is not None:
        return asked
    return replace(asked, hit_fraction=served.workload.prefix_hit_fraction)


def hour_requests(outcome: Outcome, day_s: float, requests: int) -> int:
    """Requests with which every hour of a simulated day lasts `LIVES_AN_HOUR` times what a request takes.

    Args:
        outcome: Of a run through a day.
        day_s: Length of its day; requests: of the run.
    """
    needed_s = LIVES_AN_HOUR * HOURS * float(outcome.latency_s.mean())
    return int(np.ceil(requests * min(needed_s, DAY_S) / day_s - 1e-9))


def _run(served: Served, gpus: float, asked: TrafficAsked, correction: Correction) -> TrafficRun:
    layout, fleet = served.layout, max(1, int(gpus // float(served.layout.gpus[0])))
    replicas, clients = simulated_part(asked, fleet)
    server, part = one_draw(served.server), replicas / fleet
    load = served.workload.load
    offered = asked.rate_per_s or (load.requests_per_s if load else float(served.point.rate_per_s[0]) * fleet)
    hours = load.hourly_fraction if load else None
    traffic = drawn_traffic(
        asked, served.requests, rate_per_s=offered * part, hourly_fraction=hours, part=part
    )
    requests = requests_of(served.requests, traffic)
    engine = slower_engine(_engine(server, requests, layout, asked, traffic, served), correction.per_token)
    closed = ClosedLoop(clients, asked.think_s) if clients else None

    def served_by(sent: Traffic) -> Outcome:
        found = simulate(engine, sent, replicas=replicas, routing=asked.routing, closed_loop=closed)
        return correction.seen(found)

    outcome = served_by(traffic)
    if asked.arrivals is Arrivals.TRACE:
        offered = trace_rate_per_s(asked, traffic)
    day_s = day_of(asked, offered * part, hours)
    found = _at_load(
        served, server, requests, engine, outcome, fleet, None if closed else offered, correction
    )
    kept, short = steady(outcome, warm_up_fraction=WARM_UP_FRACTION if day_s is None else 0.0)
    # a saturated fleet makes what it sustains, in the long run
    made = found.capacity_per_s * part * float(requests.output_tokens[0])
    if not found.saturated:
        made = output_tokens_per_s(outcome, kept)
    busiest = None
    if day_s is not None and hours is not None:
        busiest = part_of(kept, busiest_rows(kept, day_s=day_s, hourly_fraction=np.array(hours)))
    scale = asked.clients / clients if clients else 1.0 / part
    changing = day_s is not None or asked.arrivals is Arrivals.TRACE or found.saturated
    rises = SETTLED if changing else rise(served_by(first_half(traffic)), kept)
    return TrafficRun(
        asked, served.workload.id, layout, fleet, replicas, len(traffic), None if closed else offered,
        found.capacity_per_s, found.binds, found.saturated, kept, made * scale, found.closed_form, engine, short,
        rises, found.hit_fraction, day_s, busiest, None, clients, correction,
    )  # fmt: skip


def simulated_part(asked: TrafficAsked, fleet: int) -> tuple[int, int]:
    """Replicas that are simulated and the clients of the fleet that ask them: as many as come out whole.

    Args:
        asked: Clients of the whole fleet, and replicas where they are wished.
        fleet: Replicas of the fleet.

    Raises:
        InputError: The wished replicas' share of the clients is less than one.

    >>> simulated_part(TrafficAsked(clients=3), 12), simulated_part(TrafficAsked(clients=7), 12)
    ((8, 2), (12, 7))
    """
    most = min(asked.replicas or MOST_REPLICAS, fleet)
    if not asked.clients:
        return most, 0
    shares = {one: asked.clients * one / fleet for one in ([most] if asked.replicas else range(most, 0, -1))}
    for replicas, share in shares.items():
        if round(share) >= 1 and abs(round(share) / share - 1.0) <= UNEVEN_FRACTION:
            return replicas, round(share)
    if not asked.replicas:
        return fleet, asked.clients
    if shares[most] < 1.0:
        raise InputError(
            Problem(
                f"--clients {asked.clients} are of the whole fleet of {fleet:,} replicas, and {most:,} of them have "
                f"{shares[most]:.2g} clients",
                remedy=f"--replicas {fleet}, or no --replicas",
            )
        )
    return most, round(shares[most])


def trace_rate_per_s(asked: TrafficAsked, traffic: Traffic) -> float:
    """Requests a second of a trace, all of them, as long as the simulated ones among them come."""
    assert asked.trace is not None and asked.trace.arrival_s is not None
    until = float(traffic.arrival_s.max())
    return float((asked.trace.arrival_s <= until).sum() / max(until, 1e-9))


def day_of(asked: TrafficAsked, rate_per_s: float, hours: Sequence[float] | None) -> float | None:
    """Seconds in which a run goes through a day, None where arrivals aren't daily."""
    if asked.clients or asked.arrivals is not Arrivals.DAILY or hours is None:
        return None
    return day_length_s(asked.requests, rate_per_s=rate_per_s, hourly_fraction=hours)


def requests_of(own: Requests, traffic: Traffic) -> Requests:
    """Means and variations of what is simulated.

    Args:
        own: What the plan is asked, for the limits of a step and a batch.
        traffic: Requests of a run.
    """

    def mean(values: Floats) -> Floats:
        return np.array([float(values.mean())])

    def variation(values: Floats) -> Floats:
        return np.array([float(values.std() / values.mean())])

    return Requests(
        mean(traffic.prompt_tokens), mean(traffic.output_tokens), own.step_tokens, own.batch_sequences,
        variation(traffic.prompt_tokens), variation(traffic.output_tokens),
    )  # fmt: skip


def _engine(
    server: Server, requests: Requests, layout: Layout, asked: TrafficAsked, traffic: Traffic, served: Served
) -> Engine:
    policy = Policy(
        schedule=asked.schedule or SCHEDULES[served.workload.engine], chunked=asked.chunked,
        eviction=asked.eviction, host_bytes_per_s=asked.host_bytes_per_s, prefix_caching=asked.prefixes > 0,
    )  # fmt: skip
    longest = float((traffic.prompt_tokens + traffic.output_tokens).max())
    engine = simulated_engine(
        server, requests=requests, layout=layout, policy=policy, most_context_tokens=longest
    )
    too_large = oversized(engine, traffic)
    if too_large:
        raise InputError(
            Problem(
                f"{too_large:,} requests are longer than the {engine.cache_tokens:,.0f} tokens that a replica's caches"
                " hold",
                remedy="shorter requests, or more GPUs a replica",
            )
        )
    return engine


@dataclass(frozen=True, slots=True)
class _AtLoad:
    """What the closed form says of a run's requests."""

    capacity_per_s: float
    binds: Binding
    saturated: bool
    closed_form: Latency | None
    hit_fraction: float


def _at_load(
    served: Served, server: Server, requests: Requests, engine: Engine, outcome: Outcome, fleet: int,
    offered: float | None, correction: Correction,
) -> _AtLoad:  # fmt: skip
    layout = served.layout
    hit = float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum())
    computed = replace(requests, hit_fraction=np.array([hit]))
    most = largest_batch(server, requests=computed, layout=layout)
    able = full_batch(server, requests=computed, layout=layout)
    full = operating_point(
        server, requests=computed, layout=layout, batch_sequences=np.minimum(np.maximum(most, 1.0), able)
    )
    ratio = correction.per_token
    capacity = float(full.rate_per_s[0]) * fleet / ratio
    binds = binding(
        memory_sequences=float(most[0]), batch_sequences=float(engine.batch_sequences),
        prefill_share_fraction=1.0 if able[0] < most[0] else float(full.prefill_share_fraction[0]),
    )  # fmt: skip
    saturated = offered is not None and offered >= capacity
    point = None
    if offered is not None and not saturated:
        # times and rates scale together: the model at a rate higher by the ratio, then every time longer by it
        point = at_rate(server, requests=computed, layout=layout, rate_per_s=offered * ratio / fleet)
        point = slower(point, np.array([ratio]), np.array([correction.first_token]))
    return _AtLoad(capacity, binds, saturated, None if point is None else point.latency, hit)
