"""Runs traffic through replicas and returns what became of every request."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from planner.performance.simulate.engine import Engine, decode_steps, request_tokens
from planner.performance.simulate.record import Outcome, Record
from planner.performance.simulate.replica import INFINITE, Replica
from planner.performance.simulate.request import Request
from planner.performance.simulate.routing import Router, Routing
from planner.performance.simulate.traffic import Traffic


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """Clients that each wait for an answer before they ask again.

    Attributes:
        clients: How many, all asking at time zero.
        think_s: Pause between an answer and the next request.
    """

    clients: int
    think_s: float = 0.0


def oversized(engine: Engine, traffic: Traffic) -> int:
    """Requests that would not fit an empty cache.

    Args:
        engine: For the cache.
        traffic: Requests.

    Returns:
        How many; a run with any would never end, so callers refuse them.
    """
    needed = request_tokens(engine, traffic.prompt_tokens.max(), traffic.output_tokens.max())
    if needed + engine.tokens_per_step <= engine.cache_tokens:
        return 0
    each = traffic.prompt_tokens + traffic.output_tokens + engine.block_tokens + engine.tokens_per_step
    return int((each > engine.cache_tokens).sum())


def requests_of(engine: Engine, traffic: Traffic) -> list[Request]:
    """Requests as replicas take them, in the order of the traffic.

    Args:
        engine: For the tokens of a decode step.
        traffic: Requests.
    """
    columns = (
        traffic.arrival_s, traffic.prompt_tokens, traffic.output_tokens, traffic.priority, traffic.prefix,
        traffic.prefix_tokens,
    )  # fmt: skip
    rows = zip(*(column.tolist() for column in columns), strict=True)
    coming = [
        Request(
            index, arrival_s=arrival, prompt=prompt, output=output, priority=priority, prefix=int(prefix),
            prefix_tokens=shared, steps=decode_steps(engine, output),
        )
        for index, (arrival, prompt, output, priority, prefix, shared) in enumerate(rows)
    ]  # fmt: skip
    if traffic.found_tokens is not None:
        for request, found in zip(coming, traffic.found_tokens.tolist(), strict=True):
            request.seen, request.todo = found, request.todo - found
    return coming


def simulate(
    engine: Engine,
    traffic: Traffic,
    *,
    replicas: int = 1,
    routing: Routing = Routing.LEAST_QUEUE,
    slack_requests: int = 8,
    closed_loop: ClosedLoop | None = None,
) -> Outcome:
    """Serve requests by replicas that prefill and decode.

    Args:
        engine: Settings of every replica.
        traffic: Requests; none may be larger than a cache (see `oversized`).
        replicas: How many.
        routing, slack_requests: See `Router`.
        closed_loop: Clients that release the requests in their order, instead of their arrival times.

    Returns:
        See `Outcome`; the same for the same arguments.

    Source:
        Discrete events; policies as in planner-inference-notes, section 2.
    """
    record = Record(len(traffic))
    fleet = [Replica(number, engine, record) for number in range(replicas)]
    router = Router(fleet, routing, slack_requests=slack_requests)
    coming = requests_of(engine, traffic)
    if traffic.found_tokens is not None:
        record.hit_tokens = traffic.found_tokens.tolist()
    if closed_loop is None:
        _open(coming, fleet, router, record)
    else:
        _closed(coming, fleet, router, record, closed_loop)
    return finished(engine, traffic, record)


def _open(coming: list[Request], fleet: list[Replica], router: Router, record: Record) -> None:
    for request in coming:
        now = record.arrival_s[request.index] = request.arrival_s
        advance_until(fleet, now)
        router.choose(request).push(request, now)
    advance_until(fleet, INFINITE)


def advance_until(fleet: list[Replica], now_s: float) -> None:
    """Let every replica end the stretches that end by then; replicas don't see each other.

    Args:
        fleet: Replicas.
        now_s: A time, or infinity for all work there is.
    """
    for replica in fleet:
        while replica.until_s <= now_s and replica.until_s != INFINITE:
            replica.advance()


def _closed(
    coming: list[Request], fleet: list[Replica], router: Router, record: Record, loop: ClosedLoop
) -> None:
    ready = [(0.0, number) for number in range(min(loop.clients, len(coming)))]
    sent = 0
    while ready or any(replica.until_s != INFINITE for replica in fleet):
        first = min(fleet, key=lambda replica: replica.until_s)
        if ready and sent < len(coming) and ready[0][0] <= first.until_s:
            now, _ = heappop(ready)
            request = coming[sent]
            sent += 1
            request.arrival_s = record.arrival_s[request.index] = now
            request.order = (request.priority, now, request.index)
            router.choose(request).push(request, now)
            continue
        if first.until_s == INFINITE:
            return
        now = first.until_s
        for request in first.advance():
            if sent + len(ready) < len(coming):
                heappush(ready, (now + loop.think_s, request.index))


def finished(engine: Engine, traffic: Traffic, record: Record) -> Outcome:
    """A record as arrays, with the constants that stand between the engine and the client.

    Args:
        engine: For the constants before the first token.
        traffic: Requests.
        record: Filled in.
    """
    first, finish = np.array(record.first_s), np.array(record.finish_s)
    later = np.maximum(traffic.output_tokens - 1.0, 1.0)
    step = (finish - first) / later * engine.tokens_per_step
    delay = engine.first_token_s + engine.first_token_steps * step
    return Outcome(
        arrival_s=np.array(record.arrival_s),
        started_s=np.array(record.started_s),
        first_s=first + delay,
        finish_s=finish + delay,
        replica=np.array(record.replica, dtype=np.float64),
        prompt_tokens=traffic.prompt_tokens,
        output_tokens=traffic.output_tokens,
        priority=traffic.priority,
        prefilled_tokens=np.array(record.prefilled_tokens),
        hit_tokens=np.array(record.hit_tokens),
        evictions=np.array(record.evictions, dtype=np.float64),
        transfer_s=np.array(record.transfer_s),
        most_held_tokens=record.most_held_tokens,
    )
