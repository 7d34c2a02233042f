"""A scenario's serving workload under simulated traffic, beside the closed form at the same load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from planner.arrays import Floats
from planner.errors import InputError, Problem
from planner.performance.inference import Layout
from planner.performance.queueing import Binding, Latency, binding
from planner.performance.serve import Served
from planner.performance.serving import Requests, Server, largest_batch, operating_point
from planner.performance.serving_points import at_rate
from planner.performance.simulate.clients import (
    daily_arrivals_s,
    gamma_arrivals_s,
    poisson_arrivals_s,
    two_state_arrivals_s,
)
from planner.performance.simulate.engine import Engine, Eviction, Schedule
from planner.performance.simulate.lengths import drawn_from, fixed_tokens, lognormal_tokens, uniform_tokens
from planner.performance.simulate.of_server import SCHEDULES, Policy, simulated_engine
from planner.performance.simulate.record import Outcome
from planner.performance.simulate.routing import Routing
from planner.performance.simulate.run import ClosedLoop, oversized, simulate
from planner.performance.simulate.traffic import Traffic, plain_traffic, with_prefixes, with_priorities
from planner.scenario.request_trace import RequestTrace

MOST_REPLICAS = 8
"""Replicas simulated by default: a larger fleet behaves like several of these, each with its share of the load."""
WARM_UP_FRACTION = 0.1
"""A run starts empty, so its first requests are left out of the statistics."""


class Arrivals(StrEnum):
    """When requests come."""

    POISSON = "poisson"
    BURSTY = "bursty"
    SWITCHING = "switching"
    DAILY = "daily"
    TRACE = "trace"


class Lengths(StrEnum):
    """How long they are."""

    FIXED = "fixed"
    UNIFORM = "uniform"
    LOGNORMAL = "lognormal"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class TrafficAsked:
    """What is to be simulated.

    Attributes:
        requests, seed: Length of the run and its random state.
        rate_per_s: Requests a second of the whole fleet; the load of the workload, or what the plan serves, by default.
        arrivals: When requests come; variation: of their gaps where bursty.
        lengths: How long they are; length_variation: of lognormal ones.
        trace: A file of lengths and times.
        routing, schedule, chunked, eviction: Of the fleet and its engines; the engine's own schedule by default.
        host_bytes_per_s: Rate of one accelerator to its host, by which caches are swapped; needed where they are.
        prefixes, prefix_tokens, prefix_fraction: Shared prefixes; none where 0.
        classes: Shares of priority classes, the first one first in line; none where empty.
        clients, think_s: Closed-loop clients of the whole fleet instead of arrivals; none where 0.
        replicas: To simulate; at most 8 of the fleet's by default.
    """

    requests: int = 10_000
    seed: int = 20261130
    rate_per_s: float | None = None
    arrivals: Arrivals = Arrivals.POISSON
    variation: float = 2.0
    lengths: Lengths = Lengths.UNIFORM
    length_variation: float = 1.0
    trace: RequestTrace | None = None
    routing: Routing = Routing.LEAST_QUEUE
    schedule: Schedule | None = None
    chunked: bool = True
    eviction: Eviction = Eviction.RECOMPUTE
    host_bytes_per_s: float | None = None
    prefixes: int = 0
    prefix_tokens: float = 0.0
    prefix_fraction: float = 0.0
    classes: tuple[float, ...] = ()
    clients: int = 0
    think_s: float = 0.0
    replicas: int | None = None


@dataclass(frozen=True, slots=True)
class TrafficRun:
    """What came of it.

    Attributes:
        workload: Its id.
        layout: Of a replica.
        fleet_replicas, replicas: Of the fleet, and those simulated with their share of the load.
        rate_per_s: Requests a second offered to the fleet, None with closed-loop clients.
        capacity_per_s: That it sustains by the closed form, with the prefix hits found.
        binds: What ends the capacity.
        saturated: Whether more is offered than sustained; latencies then grow with the run and mean nothing.
        outcome: Requests after the warm-up.
        output_tokens_per_s: Of the fleet, over the time from the first arrival to the last answer.
        closed_form: Latencies by the closed form at this load, None where it has no word: saturated, closed loop.
    """

    asked: TrafficAsked
    workload: str
    layout: Layout
    fleet_replicas: int
    replicas: int
    rate_per_s: float | None
    capacity_per_s: float
    binds: Binding
    saturated: bool
    outcome: Outcome
    output_tokens_per_s: float
    closed_form: Latency | None
    engine: Engine


def run_traffic(served: Served, *, gpus: float, asked: TrafficAsked) -> TrafficRun:
    """Simulate a served workload.

    Args:
        served: The workload as the plan serves it.
        gpus: Accelerators that serve it.
        asked: What is to be simulated.

    Raises:
        InputError: What is asked can't be simulated.
    """
    layout, fleet = served.layout, max(1, int(gpus // float(served.layout.gpus[0])))
    replicas = min(asked.replicas or MOST_REPLICAS, fleet)
    server, part = one_row(served.server), replicas / fleet
    load = served.workload.load
    offered = asked.rate_per_s or (load.requests_per_s if load else float(served.point.rate_per_s[0]) * fleet)
    random = np.random.default_rng(asked.seed)
    prompt, output = _lengths(random, served, asked)
    hours = load.hourly_fraction if load else None
    arrival = _arrivals(random, asked, offered * part, hours)
    traffic = plain_traffic(arrival_s=arrival, prompt_tokens=prompt, output_tokens=output)
    if asked.prefixes:
        traffic = with_prefixes(
            traffic, random, prefixes=asked.prefixes, prefix_tokens=asked.prefix_tokens,
            share_fraction=asked.prefix_fraction,
        )  # fmt: skip
    if asked.classes:
        traffic = with_priorities(traffic, random, shares=np.array(asked.classes))
    requests = _requests(served, traffic)
    engine = _engine(server, requests, layout, asked, traffic, served)
    closed = ClosedLoop(max(1, round(asked.clients * part)), asked.think_s) if asked.clients else None
    outcome = simulate(engine, traffic, replicas=replicas, routing=asked.routing, closed_loop=closed)
    if asked.arrivals is Arrivals.TRACE and asked.trace is not None:
        offered = float(len(traffic) / max(float(np.ptp(arrival)), 1e-9)) / part
    return _summed(
        served, server, requests, asked, engine, outcome, fleet, replicas, None if closed else offered
    )


def one_row(server: Server) -> Server:
    """A server with the first row of everything, for a run is one plan and never a draw."""
    from planner.performance.assumed import rows

    return Server(
        server.shape, rows(server.chip, 1), rows(server.link, 1), rows(server.constants, 1), server.form,
        rows(server.tails, 1), server.speculation,
    )  # fmt: skip


def _lengths(random: np.random.Generator, served: Served, asked: TrafficAsked) -> tuple[Floats, Floats]:
    count = asked.requests
    prompt, output = (
        float(np.ravel(one)[0]) for one in (served.requests.prompt_tokens, served.requests.output_tokens)
    )
    trace = asked.trace
    if trace is not None and asked.arrivals is Arrivals.TRACE:
        return trace.prompt_tokens[:count], trace.output_tokens[:count]
    if trace is not None:
        return drawn_from(
            random, prompt_tokens=trace.prompt_tokens, output_tokens=trace.output_tokens, requests=count
        )
    if asked.lengths is Lengths.LOGNORMAL:
        both = [
            lognormal_tokens(random, mean_tokens=mean, variation=asked.length_variation, requests=count)
            for mean in (prompt, output)
        ]
        return both[0], both[1]
    if asked.lengths is Lengths.UNIFORM:
        # lengths of the scenario are means, and uniform ones run from 0.8 to 1.0 of the longest
        longest = [
            uniform_tokens(random, most_tokens=mean / 0.9, requests=count) for mean in (prompt, output)
        ]
        return longest[0], longest[1]
    return fixed_tokens(mean_tokens=prompt, requests=count), fixed_tokens(mean_tokens=output, requests=count)


def _arrivals(
    random: np.random.Generator, asked: TrafficAsked, rate: float, hours: Sequence[float] | None
) -> Floats:
    count = asked.requests
    if asked.arrivals is Arrivals.TRACE:
        trace = asked.trace
        if trace is None or trace.arrival_s is None:
            raise InputError(
                Problem("no trace has arrival times", remedy="--trace FILE with a column arrival_s")
            )
        return trace.arrival_s[:count]
    if asked.arrivals is Arrivals.BURSTY:
        return gamma_arrivals_s(random, rate_per_s=rate, requests=count, variation=asked.variation)
    if asked.arrivals is Arrivals.SWITCHING:
        return two_state_arrivals_s(
            random, rate_per_s=rate, requests=count, peak_ratio=asked.variation, peak_fraction=0.5 / asked.variation,
            peak_s=30.0,
        )  # fmt: skip
    if asked.arrivals is Arrivals.DAILY:
        if hours is None:
            raise InputError(
                Problem("the workload has no daily curve", remedy="load.hourly_fraction, 24 values")
            )
        curve = np.array(hours)
        return daily_arrivals_s(
            random, rate_per_s=rate * float(curve.mean()), requests=count, hourly_ratios=curve
        )
    return poisson_arrivals_s(random, rate_per_s=rate, requests=count)


def _requests(served: Served, traffic: Traffic) -> Requests:
    """Means and variations of what is simulated."""
    own = served.requests

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


def _summed(
    served: Served, server: Server, requests: Requests, asked: TrafficAsked, engine: Engine, outcome: Outcome,
    fleet: int, replicas: int, offered: float | None,
) -> TrafficRun:  # fmt: skip
    layout = served.layout
    hit = float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum())
    computed = replace(requests, prompt_tokens=np.maximum(requests.prompt_tokens * (1.0 - hit), 1.0))
    most = largest_batch(server, requests=requests, layout=layout)
    full = operating_point(server, requests=computed, layout=layout, batch_sequences=np.maximum(most, 1.0))
    capacity = float(full.rate_per_s[0]) * fleet
    limit = float(engine.batch_sequences)
    binds = binding(
        memory_sequences=float(most[0]), batch_sequences=limit,
        prefill_share_fraction=float(full.prefill_share_fraction[0]),
    )  # fmt: skip
    saturated = offered is not None and offered >= capacity
    point = None
    if offered is not None and not saturated:
        point = at_rate(server, requests=computed, layout=layout, rate_per_s=offered / fleet)
    busy = float(outcome.finish_s.max() - outcome.arrival_s.min())
    return TrafficRun(
        asked, served.workload.id, layout, fleet, replicas, offered, capacity, binds, saturated,
        _after_warm_up(outcome), float(outcome.output_tokens.sum()) / busy * fleet / replicas,
        None if point is None else point.latency, engine,
    )  # fmt: skip


def _after_warm_up(outcome: Outcome) -> Outcome:
    first = int(outcome.arrival_s.size * WARM_UP_FRACTION)
    rows = np.argsort(outcome.arrival_s, kind="stable")[first:]
    columns = (
        "arrival_s", "started_s", "first_s", "finish_s", "replica", "prompt_tokens", "output_tokens", "priority",
        "prefilled_tokens", "hit_tokens", "evictions", "transfer_s",
    )  # fmt: skip
    return replace(outcome, **{name: getattr(outcome, name)[rows] for name in columns})
