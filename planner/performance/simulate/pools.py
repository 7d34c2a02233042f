"""Prefill and decode in separate pools, caches moving from one to the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from planner.performance.simulate.engine import Engine
from planner.performance.simulate.record import Outcome, Record
from planner.performance.simulate.replica import INFINITE, Replica
from planner.performance.simulate.routing import Router, Routing
from planner.performance.simulate.run import advance_until, finished, requests_of, simulate
from planner.performance.simulate.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Path:
    """The way of a cache from a prefill replica to a decode replica.

    Attributes:
        token_bytes: Of a token's cache, each value once however many ranks hold a copy.
        replica_bytes_per_s: That one prefill replica sends, all its ranks together.
        shared_bytes_per_s: That both pools and the network between them carry at once.
        overlap_fraction: Share of a prompt's prefill beside which its finished layers move already.
        layers: Of the model; the last one moves after the prefill in any case.
        handover_s: Fixed time of a hand-over.
    """

    token_bytes: float
    replica_bytes_per_s: float
    shared_bytes_per_s: float
    overlap_fraction: float
    layers: float
    handover_s: float


def slower_path(path: Path, ratio: float) -> Path:
    """A way on which everything takes so many times as long, beside engines that measured runs correct so."""
    return replace(
        path, replica_bytes_per_s=path.replica_bytes_per_s / ratio,
        shared_bytes_per_s=path.shared_bytes_per_s / ratio, handover_s=path.handover_s * ratio,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pools:
    """Replicas of either kind.

    Attributes:
        prefill, decode: Their engines.
        prefill_replicas, decode_replicas: How many.
    """

    prefill: Engine
    decode: Engine
    prefill_replicas: int
    decode_replicas: int


def simulate_pools(
    pools: Pools, traffic: Traffic, path: Path, *, routing: Routing = Routing.LEAST_QUEUE
) -> Outcome:
    """Serve requests by two pools.

    A prompt waits for a prefill replica and is computed there; its cache waits for its replica's way out and for the
    network between the pools, first come, first served; then the request waits for room at a decode replica. The first
    token is seen when decoding begins.

    Args:
        pools: Replicas.
        traffic: Requests; none may be larger than a decode cache, no prompt larger than a prefill cache.
        path: The way of caches.
        routing: Of either pool.

    Returns:
        See `Outcome`; `replica` is the decode replica.

    Source:
        planner-inference-notes, section 6 (prefill queue, bytes over the path, a constant hand-over).
    """
    once = replace(traffic, output_tokens=np.ones(len(traffic)))
    bare = replace(pools.prefill, first_token_s=0.0, first_token_steps=0.0)
    filled = simulate(bare, once, replicas=pools.prefill_replicas, routing=routing)
    arrived = transfer_ends_s(filled, path)
    return _decoded(pools, traffic, filled, arrived, path, routing)


def transfer_ends_s(filled: Outcome, path: Path) -> list[float]:
    """When each cache has arrived, by request.

    Args:
        filled: Prompts computed.
        path: The way of caches.
    """
    started, first = filled.started_s, filled.first_s
    ready = first - path.overlap_fraction * (first - started)
    sent_bytes = filled.prompt_tokens * path.token_bytes
    last = first + sent_bytes / path.layers / path.replica_bytes_per_s
    free: dict[int, float] = {}
    shared = 0.0
    ends = [0.0] * ready.size
    for index in np.argsort(ready, kind="stable").tolist():
        sender = int(filled.replica[index])
        begin = max(float(ready[index]), free.get(sender, 0.0), shared)
        size = float(sent_bytes[index])
        free[sender] = begin + size / path.replica_bytes_per_s
        # The network between the pools is a second queue, wider than one sender's way out.
        shared = max(shared, float(ready[index])) + size / path.shared_bytes_per_s
        ends[index] = max(free[sender], shared, float(last[index]))
    return ends


def _decoded(
    pools: Pools, traffic: Traffic, filled: Outcome, arrived: list[float], path: Path, routing: Routing
) -> Outcome:
    record = Record(len(traffic))
    fleet = [Replica(number, pools.decode, record) for number in range(pools.decode_replicas)]
    router = Router(fleet, routing)
    coming = requests_of(pools.decode, traffic)
    line: list[tuple[float, int]] = []
    for index, time in enumerate(arrived):
        heappush(line, (time, index))
    while line:
        now, index = heappop(line)
        request = coming[index]
        request.todo, request.prefix = 0.0, -1
        request.order = (request.priority, now, index)
        advance_until(fleet, now)
        router.choose(request).push(request, now)
    advance_until(fleet, INFINITE)
    record.first_s = [time + path.handover_s for time in record.started_s]
    record.finish_s = [
        max(first, time + path.handover_s)
        for first, time in zip(record.first_s, record.finish_s, strict=True)
    ]
    record.arrival_s = filled.arrival_s.tolist()
    record.prefilled_tokens = (np.array(record.prefilled_tokens) + filled.prefilled_tokens).tolist()
    record.hit_tokens = filled.hit_tokens.tolist()
    record.transfer_s = (np.array(arrived) - filled.first_s).tolist()
    return replace(finished(pools.decode, traffic, record), started_s=filled.started_s)
