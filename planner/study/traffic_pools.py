"""The planned prefill and decode pools of a scenario under simulated traffic, beside their closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from planner.errors import InputError, Problem
from planner.performance.queueing import Latency
from planner.performance.serve import Served
from planner.performance.serving import Requests, Server
from planner.performance.serving_assignment import Assigned
from planner.performance.serving_machines import one_draw
from planner.performance.serving_points import slower
from planner.performance.serving_pools import Moved, PoolPlan, Way, moved_cache, pool_rates, pools_point
from planner.performance.simulate.engine import Engine, slower_engine
from planner.performance.simulate.of_server import Policy, simulated_engine
from planner.performance.simulate.pools import Path, Pools, simulate_pools, slower_path
from planner.performance.simulate.record import Outcome
from planner.performance.simulate.run import oversized
from planner.performance.simulate.traffic import Traffic, first_half
from planner.study.pool_split import SIMULATED_REPLICAS, cache_path, scaled_down
from planner.study.traffic_drawn import Arrivals, TrafficAsked, drawn_traffic
from planner.study.traffic_run import (
    AS_PREDICTED,
    Correction,
    day_of,
    hour_requests,
    requests_of,
    trace_rate_per_s,
    with_plan_hits,
)
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


class PoolBinding(StrEnum):
    """What ends the capacity of separate pools."""

    PREFILL = "the prefill pool"
    SENDING = "the way out of the prefill replicas"
    RECEIVING = "the way into the decode replicas"
    DECODE = "the decode pool's largest batch"


@dataclass(frozen=True, slots=True)
class PoolsRun:
    """What came of it.

    Attributes:
        workload: Its id.
        plan: The planned pools.
        prefill_name, decode_name: Their accelerators.
        path: The way of caches in the simulated part, as the model has it.
        prefill_replicas, decode_replicas: Simulated, with their share of the load.
        rate_per_s: Requests a second offered to all pools.
        capacity_per_s: That they sustain by the closed form, with the prefix hits found.
        binds: What ends the capacity.
        saturated: Whether more is offered than sustained; latencies then grow with the run and mean nothing.
        outcome: Requests of the steady state.
        output_tokens_per_s: Of all pools.
        closed_form: Latencies by the closed form at this load; None where it has no word: saturated, shared prefixes.
        moved: A mean prompt's cache on its way, by the closed form.
        requests, short, rise, hit_fraction, day_s, busiest, day_requests, correction: See `TrafficRun`.
    """

    asked: TrafficAsked
    workload: str
    plan: PoolPlan
    prefill_name: str
    decode_name: str
    path: Path
    prefill_replicas: int
    decode_replicas: int
    rate_per_s: float
    capacity_per_s: float
    binds: PoolBinding
    saturated: bool
    outcome: Outcome
    output_tokens_per_s: float
    closed_form: Latency | None
    moved: Moved
    decode_engine: Engine
    requests: int
    short: bool
    rise: Rise = SETTLED
    hit_fraction: float = 0.0
    day_s: float | None = None
    busiest: Outcome | None = None
    day_requests: int | None = None
    correction: Correction = AS_PREDICTED

    @property
    def settled(self) -> bool:
        """Whether its latencies would stay with a longer run."""
        return not self.saturated and self.rise.settled


def run_pools(served: Served, *, asked: TrafficAsked, correction: Correction = AS_PREDICTED) -> PoolsRun:
    """Simulate the pools that a plan has; of a day only the busiest hour where `run_traffic` takes that.

    Args:
        served: The workload as the plan serves it, with pools.
        asked: What is to be simulated.
        correction: As the plan's own latencies are corrected; the way of caches takes longer with the rest.

    Raises:
        InputError: What is asked can't be simulated.
    """
    apart = served.apart
    assert apart is not None
    if asked.clients:
        raise InputError(
            Problem(
                "--clients: clients that wait for answers are simulated at replicas that do prompts and answers",
                remedy="arrivals instead (--rate, --arrivals), or --set workloads.N.disaggregated=null",
            )
        )
    asked = with_plan_hits(asked, served)
    found = _run(served, apart, asked, correction)
    if found.day_s is None:
        return found
    needed = hour_requests(found.outcome, found.day_s, asked.requests)
    if needed <= asked.requests:
        return found
    peak = _run(served, apart, replace(asked, arrivals=Arrivals.POISSON), correction)
    return replace(peak, asked=asked, day_requests=needed)


def _run(served: Served, apart: Assigned, asked: TrafficAsked, correction: Correction) -> PoolsRun:
    plan, load = apart.plan, served.workload.load
    offered = asked.rate_per_s or (load.requests_per_s if load else plan_rate_per_s(served))
    prefill, decode = scaled_down(plan.split, asked.replicas or SIMULATED_REPLICAS)
    part = min(prefill / plan.split.prefill_replicas, decode / plan.split.decode_replicas)
    hours = load.hourly_fraction if load else None
    traffic = drawn_traffic(
        asked, served.requests, rate_per_s=offered * part, hourly_fraction=hours, part=part
    )
    requests = requests_of(served.requests, traffic)
    first, later = _engines(apart, requests, asked, traffic)
    ratio = correction.per_token
    pools = Pools(slower_engine(first, ratio), slower_engine(later, ratio), prefill, decode)
    path = _path(apart, requests, prefill, decode)

    def served_by(sent: Traffic) -> Outcome:
        found = simulate_pools(pools, sent, slower_path(path, ratio), routing=asked.routing)
        return correction.seen(found)

    outcome = served_by(traffic)
    if asked.arrivals is Arrivals.TRACE:
        offered = trace_rate_per_s(asked, traffic)
    day_s = day_of(asked, offered * part, hours)
    found = _summed(served, apart, asked, requests, pools, path, outcome, offered, part, day_s, correction)
    if day_s is None or hours is None:
        changing = asked.arrivals is Arrivals.TRACE or found.saturated
        return found if changing else replace(found, rise=rise(served_by(first_half(traffic)), found.outcome))
    rows = busiest_rows(found.outcome, day_s=day_s, hourly_fraction=np.array(hours))
    return replace(found, busiest=part_of(found.outcome, rows))


def plan_rate_per_s(served: Served) -> float:
    """Requests a second that the plan's pools serve together, as measured runs correct it."""
    plan = served.pools
    assert plan is not None
    return float(served.point.rate_per_s[0]) * plan.gpus / float(plan.decode.gpus[0])


def _engines(
    apart: Assigned, requests: Requests, asked: TrafficAsked, traffic: Traffic
) -> tuple[Engine, Engine]:
    """Engines of both pools; prefixes stay with the prefill replicas, and decode caches overflow as asked.

    Raises:
        InputError: Requests don't fit, all of them counted.
    """
    longest = float((traffic.prompt_tokens + traffic.output_tokens).max())
    first = Policy(chunked=asked.chunked, prefix_caching=asked.prefixes > 0)
    later = Policy(eviction=asked.eviction, host_bytes_per_s=asked.host_bytes_per_s)
    prefill, decode = (
        simulated_engine(
            one_draw(placed.server), requests=requests, layout=layout, policy=policy, most_context_tokens=longest
        )
        for placed, layout, policy in (
            (apart.prefill, apart.plan.prefill, first), (apart.decode, apart.plan.decode, later),
        )
    )  # fmt: skip
    alone = replace(traffic, output_tokens=np.ones(len(traffic)))
    problems = [
        Problem(
            f"{count:,} {said} are longer than the {engine.cache_tokens:,.0f} tokens that a {pool} replica's caches hold",
            remedy=f"shorter requests, or more GPUs a replica (disaggregated.{pool}_replica_gpus)",
        )
        for engine, pool, said, seen in (
            (prefill, "prefill", "prompts", alone), (decode, "decode", "requests", traffic),
        )
        if (count := oversized(engine, seen))
    ]  # fmt: skip
    if problems:
        raise InputError(problems)
    return prefill, decode


def _path(apart: Assigned, requests: Requests, prefill: int, decode: int) -> Path:
    """The way of caches; what both simulated pools carry at once is what their smaller side sends or takes in."""
    plan, way = apart.plan, apart.way
    ranks = min(prefill * float(plan.prefill.gpus[0]), decode * float(plan.decode.gpus[0]))
    rate, handover, overlap = (
        float(np.ravel(one)[0]) for one in (way.rank_bytes_per_s, way.handover_s, way.overlap_fraction)
    )
    return cache_path(
        one_draw(apart.prefill.server), requests, plan.prefill, plan.decode, rate, ranks, handover, overlap
    )


def capacity_per_s(
    plan: PoolPlan,
    prefill: Server,
    decode: Server,
    requests: Requests,
    way: Way,
    *,
    hit_fraction: float | None = None,
) -> tuple[float, PoolBinding]:
    """Requests a second above which some queue of the pools never ends, and which.

    Args:
        plan, way: Pools and the way between them.
        prefill, decode, requests: Machines and mean lengths, of shape (1,).
        hit_fraction: Share of prompt tokens that needn't be computed, that of `requests` by default; their caches move all
            the same.
    """
    if hit_fraction is not None:
        requests = replace(requests, hit_fraction=np.array([hit_fraction]))
    moved = moved_cache(prefill, requests, plan.prefill, plan.decode, way)
    rates = pool_rates(prefill, decode, requests, plan.prefill, plan.decode, way)
    held = rates.batches[rates.batches <= max(float(rates.most_sequences[0]), 1.0)]
    decoded = held / (float(np.ravel(rates.output_tokens)[0]) * rates.token_s[0, : held.size])
    senders, receivers = plan.split.prefill_replicas, plan.split.decode_replicas
    limits = {
        PoolBinding.PREFILL: senders / float(moved.service_s[0]),
        PoolBinding.SENDING: senders / float(moved.busy_s[0]),
        PoolBinding.RECEIVING: receivers / float(moved.receive_s[0]),
        PoolBinding.DECODE: receivers * float(decoded.max()),
    }
    binds = min(limits, key=lambda one: limits[one])
    return limits[binds], binds


def at_pool_rate(
    plan: PoolPlan, prefill: Server, decode: Server, requests: Requests, way: Way, *, rate_per_s: float
) -> PoolPlan:
    """The planned pools at another rate, which they sustain.

    Args:
        plan, way: Pools and the way between them.
        prefill, decode, requests: Machines and mean lengths, of shape (1,).
        rate_per_s: Requests a second of all of them.
    """
    rates = pool_rates(prefill, decode, requests, plan.prefill, plan.decode, way)
    of_replica = rates.batches / (float(np.ravel(rates.output_tokens)[0]) * rates.token_s[0])
    each = rate_per_s / plan.split.decode_replicas
    # below one sequence a decode replica idles in between: its batch is the share of time that it has one
    batch = (
        float(np.interp(each, of_replica, rates.batches)) if each > of_replica[0] else each / of_replica[0]
    )
    slowest = max(float(rates.prefill_s[0]), float(rates.transfer_busy_s[0]))
    busy = rate_per_s * slowest / plan.split.prefill_replicas
    return replace(
        plan, split=replace(plan.split, rate_per_s=rate_per_s), decode_batch=batch, prefill_busy_fraction=busy
    )


def _summed(
    served: Served, apart: Assigned, asked: TrafficAsked, requests: Requests, pools: Pools, path: Path,
    outcome: Outcome, offered: float, part: float, day_s: float | None, correction: Correction,
) -> PoolsRun:  # fmt: skip
    plan, way = apart.plan, Way(*(np.ravel(getattr(apart.way, name))[:1] for name in Way.__slots__))
    prefill, decode = one_draw(apart.prefill.server), one_draw(apart.decode.server)
    hit = float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum())
    ratio = correction.per_token
    requests = replace(requests, hit_fraction=np.array([hit]))
    most, binds = capacity_per_s(plan, prefill, decode, requests, way)
    most /= ratio
    closed = None
    if offered < most and not asked.prefixes:
        at = at_pool_rate(plan, prefill, decode, requests, way, rate_per_s=offered * ratio)
        point = pools_point(at, prefill, decode, requests=requests, way=way)
        closed = slower(point, np.array([ratio]), np.array([correction.first_token])).latency
    moved = moved_cache(prefill, requests, plan.prefill, plan.decode, way)
    kept, short = steady(outcome, warm_up_fraction=WARM_UP_FRACTION if day_s is None else 0.0)
    made = most * part * float(requests.output_tokens[0])
    if offered < most:
        made = output_tokens_per_s(outcome, kept)
    return PoolsRun(
        asked, served.workload.id, plan, apart.prefill.name, apart.decode.name, path, pools.prefill_replicas,
        pools.decode_replicas, offered, most, binds, offered >= most, kept, made / part, closed,
        moved, pools.decode, outcome.arrival_s.size, short, SETTLED, hit, day_s,
        correction=correction,
    )  # fmt: skip
