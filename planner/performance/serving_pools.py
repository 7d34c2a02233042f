"""Serving by separate pools for prefill and decode: which split serves most, and how it does there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.performance.disaggregation import (
    PoolLimits,
    PoolRates,
    Split,
    best_split,
    first_token_percentile_s,
)
from planner.performance.inference import Layout
from planner.performance.queueing import P95, P99, Latency
from planner.performance.serving import OperatingPoint, Requests, Server, asked_of, largest_batch
from planner.performance.serving_loops import decode_pool_token_s, seen_tokens
from planner.performance.serving_points import Objective
from planner.performance.serving_step import iteration_s
from planner.performance.simulate.of_server import moved_token_bytes

BATCHES = 64
PASSES = 2
"""Times that batches are added where the time for each token passes its limit; the error is squared each time."""
TO_SPARE = 1e-6
"""Share of the limit for each token that plans leave, so that what is straight between batches misses it nowhere."""


@dataclass(frozen=True, slots=True)
class Way:
    """How caches get from one pool to the other; arrays broadcast to shape (n,).

    Attributes:
        rank_bytes_per_s: Between one accelerator of either pool and the other, out of its domain, as the designed network
            sustains it at the slower end.
        handover_s: Fixed time of a hand-over.
        overlap_fraction: Share of a prompt's prefill beside which its finished layers move already.
    """

    rank_bytes_per_s: Floats
    handover_s: Floats
    overlap_fraction: Floats


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """The best pools of some GPUs.

    Attributes:
        split: Replicas and their rate, zero where nothing keeps the objective.
        prefill, decode: Layouts of a replica, of shape (1,).
        gpus: Of both pools, those that the layouts leave over among them.
        transfer_s: Exposed time of moving a mean prompt's cache, hand-over included.
        decode_batch: Mean sequences of a decode replica at that rate.
        prefill_busy_fraction: Share of time that a prefill replica, or its way out, is at work.
    """

    split: Split
    prefill: Layout
    decode: Layout
    gpus: int
    transfer_s: float
    decode_batch: float
    prefill_busy_fraction: float

    @property
    def prefill_gpus(self) -> int:
        """GPUs of the prefill pool."""
        return self.split.prefill_replicas * int(self.prefill.gpus[0])

    @property
    def decode_gpus(self) -> int:
        """GPUs of the decode pool."""
        return self.split.decode_replicas * int(self.decode.gpus[0])


@dataclass(frozen=True, slots=True)
class Moved:
    """One mean prompt at a prefill replica, shape (n,).

    Attributes:
        service_s: Time to compute it.
        bytes: Of its cache, each value once however many ranks hold a copy.
        busy_s: Time for which it fills the replica's way out.
        receive_s: Time for which it fills the way into a decode replica.
        left_s: What of the move the prefill of later layers doesn't hide: the last layer at least.
        exposed_s: What the first token waits for the move: `left_s` and the fixed time of a hand-over.
    """

    service_s: Floats
    bytes: Floats
    busy_s: Floats
    receive_s: Floats
    left_s: Floats
    exposed_s: Floats


def moved_cache(server: Server, requests: Requests, layout: Layout, decode: Layout, way: Way) -> Moved:
    """A mean prompt's prefill and the move of its cache.

    Args:
        server, requests, layout: Of the prefill pool.
        decode: Layout of the replica that it moves to, of the same shape.
        way: Of the caches.

    Source:
        planner-inference-notes, section 6. What a prompt finds in the prefill pool's cache needn't be computed, and moves all
        the same: nobody says that the decode pool has it. The GPUs of a replica move their shares beside each other, and the smaller of
        two replicas sets the rate; a prompt's cache leaves before the next one is computed wherever it moves in less time
        than a prefill takes.
    """
    none = np.zeros(1)
    service = iteration_s(
        server.costs(layout), decode_sequences=none, context_tokens=none, prefill_tokens=requests.computed_tokens,
        seen_tokens=seen_tokens(requests.prompt_tokens, requests.hit_fraction), prompts=np.ones(1),
    ) + server.constants.request_host_s  # fmt: skip
    tokens = float(np.ravel(requests.prompt_tokens)[0])
    size = moved_token_bytes(server, context_tokens=tokens) * requests.prompt_tokens
    size = size * np.ones_like(layout.replica_ranks)
    busy, receive = (size / (way.rank_bytes_per_s * one.replica_ranks) for one in (layout, decode))
    slower = np.maximum(busy, receive)
    layers = float(np.ravel(server.shape.layers)[0])
    # the last layer moves after the prefill in any case
    left = np.maximum(slower - way.overlap_fraction * service, slower / layers)
    return Moved(service, size, busy, receive, left, left + way.handover_s)


def pool_rates(
    prefill_server: Server,
    decode_server: Server,
    requests: Requests,
    prefill: Layout,
    decode: Layout,
    way: Way,
    *,
    per_token_limit_s: float | None = None,
) -> PoolRates:
    """What replicas of either pool do, for each pair of layouts.

    Args:
        prefill_server, decode_server, requests: Machines and mean lengths, of shape (1,).
        prefill, decode: Layouts, both of shape (n,).
        way: Of the caches.
        per_token_limit_s: Time for each token near which batches lie close together; evenly spread where None.
    """
    moved = moved_cache(prefill_server, requests, prefill, decode, way)
    most = largest_batch(decode_server, requests=requests, layout=decode)
    # a prefill replica has to hold the weights and the cache of a prompt as well
    most = np.where(largest_batch(prefill_server, requests=requests, layout=prefill) >= 1.0, most, 0.0)
    even = np.rint(np.geomspace(1.0, max(float(most.max()), 2.0), BATCHES))
    # each layout's own largest batch is among them: tails end there
    batches = np.unique(np.concatenate([even, np.maximum(np.floor(most), 1.0)]))
    column = Layout(decode.replica_ranks[:, None], decode.attention_ranks[:, None])

    def token_s(at: Floats) -> Floats:
        found = decode_pool_token_s(decode_server.costs(column), asked=asked_of(requests), in_flight=at)
        return np.broadcast_to(found, (decode.replica_ranks.size, at.size))

    token = token_s(batches)
    for _ in range(0 if per_token_limit_s is None else PASSES):
        batches = np.union1d(batches, _passing(batches, token, per_token_limit_s or 0.0))
        token = token_s(batches)
    return PoolRates(
        prefill_s=moved.service_s, transfer_s=moved.exposed_s, transfer_busy_s=moved.busy_s, batches=batches,
        token_s=token, most_sequences=most,
        output_tokens=requests.output_tokens, prompt_variation=requests.prompt_variation,
        receive_s=moved.receive_s,
    )  # fmt: skip


def _passing(batches: Floats, token_s: Floats, limit_s: float) -> Floats:
    """Batches at which the time for each token passes a limit, straight between neighbours: one for each layout that does.

    >>> _passing(np.array([1.0, 3.0]), np.array([[0.1, 0.2], [0.3, 0.4]]), 0.15)
    array([2.])
    """
    rising = np.maximum.accumulate(token_s, axis=1)
    return np.array([np.interp(limit_s, row, batches) for row in rising if row[0] < limit_s < row[-1]])


def token_limit_s(decode_server: Server, objective: Objective) -> float:
    """What an objective leaves to the pools of the time for each token: real tails come off."""
    return objective.per_token_p99_s / _one(decode_server.tails.per_token_ratio) * (1.0 - TO_SPARE)


def engine_s(decode_server: Server, objective: Objective, rates: PoolRates) -> Floats:
    """What engine and front end take of the first token at most, for each pair of layouts.

    Some of it are decode steps: they last as long as the objective lets them, but never longer than with the largest
    batch.
    """
    held = rates.batches <= np.maximum(rates.most_sequences, 1.0)[:, None]
    longest = np.where(held, rates.token_s, 0.0).max(axis=1)
    step = np.minimum(objective.per_token_p99_s, longest)
    constants = decode_server.constants
    return np.asarray(constants.first_token_fixed_s + constants.first_token_decode_steps * step)


def first_limit_s(decode_server: Server, objective: Objective, rates: PoolRates) -> Floats:
    """What an objective leaves to the pools of the first token, for each pair of layouts: real tails and the engine's share
    come off."""
    whole = objective.first_token_p99_s / _one(decode_server.tails.first_token_ratio)
    return np.asarray(whole - engine_s(decode_server, objective, rates))


def best_pools(
    prefill_server: Server,
    decode_server: Server,
    *,
    requests: Requests,
    gpus: int,
    objective: Objective,
    way: Way,
    sizes: tuple[int, ...],
    decode_sizes: tuple[int, ...] | None = None,
    limits: PoolLimits | None = None,
) -> PoolPlan:
    """The layouts and numbers of replicas that serve most within an objective.

    Args:
        prefill_server, decode_server, requests: Machines of the pools and mean lengths, of shape (1,).
        gpus: Of both pools.
        objective: Limits of the tails; what engine and front end take of the first token comes off first.
        way: Of the caches.
        sizes: GPUs of a replica to try for either pool.
        decode_sizes: For the decode pool, where others are tried there.
        limits: What is set for each pool.
    """
    pairs = np.array([(p, d) for p in sizes for d in decode_sizes or sizes], dtype=np.float64)
    prefill, decode = Layout(pairs[:, 0], pairs[:, 0]), Layout(pairs[:, 1], pairs[:, 1])
    token = token_limit_s(decode_server, objective)
    rates = pool_rates(prefill_server, decode_server, requests, prefill, decode, way, per_token_limit_s=token)
    split = best_split(
        rates, prefill_gpus=pairs[:, 0], decode_gpus=pairs[:, 1], gpus=gpus,
        first_token_limit_s=first_limit_s(decode_server, objective, rates),
        per_token_limit_s=token, limits=limits,
    )  # fmt: skip
    row = slice(split.row, split.row + 1)
    batch, busy = 0.0, 0.0
    if split.rate_per_s > 0.0:
        of_replica = rates.batches / (_one(rates.output_tokens) * rates.token_s[split.row])
        batch = float(np.interp(split.rate_per_s / split.decode_replicas, of_replica, rates.batches))
        slowest = max(float(rates.prefill_s[split.row]), float(rates.transfer_busy_s[split.row]))
        busy = split.rate_per_s * slowest / split.prefill_replicas
    return PoolPlan(
        split, Layout(pairs[row, 0], pairs[row, 0]), Layout(pairs[row, 1], pairs[row, 1]), gpus,
        float(rates.transfer_s[split.row]), batch, busy,
    )  # fmt: skip


def pools_point(
    plan: PoolPlan, prefill_server: Server, decode_server: Server, *, requests: Requests, way: Way
) -> OperatingPoint:
    """How pools do at their planned batch, for every draw; a decode replica with its share of all GPUs is the unit.

    Where a draw's prefill is slower than planned the pools serve less, so that its queue stays as full as planned.

    Args:
        plan: Pools that keep the objective.
        prefill_server, decode_server, requests: As planned or with draws, shape (n,).
        way: Of the caches.

    Returns:
        Rates for `plan.decode`'s GPUs out of `plan.gpus`, shape (n,); the share of time in prompts is the share of the
        GPUs that compute them.

    Source:
        `first_token_percentile_s` for the prefill queue; planner-inference-notes, section 6, for the rest.
    """
    split, asked = plan.split, asked_of(requests)
    moved = moved_cache(prefill_server, requests, plan.prefill, plan.decode, way)
    costs = decode_server.costs(plan.decode)
    batch = np.array([plan.decode_batch])

    most = np.floor(largest_batch(decode_server, requests=requests, layout=plan.decode))

    def token_s(in_flight: Floats) -> Floats:
        # who comes beyond what memory and engine take waits in a queue and slows nobody down
        held = np.minimum(in_flight, np.maximum(most, batch))
        return decode_pool_token_s(costs, asked=asked, in_flight=held)

    slowest = np.maximum(moved.service_s, moved.busy_s)
    decoded = split.decode_replicas * batch / (requests.output_tokens * token_s(batch))
    decoded = np.minimum(decoded, split.decode_replicas / moved.receive_s)
    rate = np.minimum(decoded, split.prefill_replicas * plan.prefill_busy_fraction / slowest)
    latency = _latency(plan, rate, batch, slowest, moved, requests, decode_server, token_s)
    of_unit = rate * float(plan.decode.gpus[0]) / plan.gpus
    tokens = of_unit * requests.output_tokens
    share = plan.prefill_gpus / (plan.prefill_gpus + plan.decode_gpus)
    return OperatingPoint(
        batch, of_unit, tokens, tokens / float(plan.decode.gpus[0]), rate / split.rate_per_s, share + 0.0 * rate,
        latency, token_s(batch), share / of_unit,
    )  # fmt: skip


def _latency(
    plan: PoolPlan, rate: Floats, batch: Floats, slowest: Floats, moved: Moved, requests: Requests, server: Server,
    token_s: Callable[[Floats], Floats],
) -> Latency:  # fmt: skip
    mean, tails = token_s(batch), server.tails
    engine = server.constants.first_token_fixed_s + server.constants.first_token_decode_steps * mean
    later = moved.exposed_s + token_s(np.ones(1)) + engine
    each = rate / plan.split.prefill_replicas
    variation = requests.prompt_variation
    busy = np.minimum(each * slowest, 1.0 - 1e-9)
    waited = busy * slowest * (1.0 + variation**2) / (2.0 * (1.0 - busy))

    def first(share: float) -> Floats:
        return later + first_token_percentile_s(
            rate_per_s=each, service_s=slowest, variation=variation, share=share
        )

    return Latency(
        later + slowest + waited, first(0.5), first(0.95), first(0.99) * tails.first_token_ratio, mean, mean,
        token_s(batch + 1.0 + P95 * np.sqrt(batch)),
        token_s(batch + 1.0 + P99 * np.sqrt(batch)) * tails.per_token_ratio,
    )  # fmt: skip


def _one(values: Floats) -> float:
    return float(np.ravel(values)[0])
