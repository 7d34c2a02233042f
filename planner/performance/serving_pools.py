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
from planner.performance.serving_loops import decode_pool_token_s
from planner.performance.serving_points import Objective
from planner.performance.serving_step import iteration_s
from planner.performance.simulate.of_server import cache_token_bytes

BATCHES = 64


@dataclass(frozen=True, slots=True)
class Way:
    """How caches get from one pool to the other; arrays broadcast to shape (n,).

    Attributes:
        rank_bytes_per_s: That one accelerator sends out of its domain, as the designed network sustains it.
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
        bytes: Of its cache, all ranks of the replica together.
        busy_s: Time for which it fills the replica's way out.
        receive_s: Time for which it fills the way into a decode replica.
        exposed_s: What the first token waits for the move, hand-over included.
    """

    service_s: Floats
    bytes: Floats
    busy_s: Floats
    receive_s: Floats
    exposed_s: Floats


def moved_cache(server: Server, requests: Requests, layout: Layout, decode: Layout, way: Way) -> Moved:
    """A mean prompt's prefill and the move of its cache.

    Args:
        server, requests, layout: Of the prefill pool.
        decode: Layout of the replica that it moves to, of the same shape.
        way: Of the caches.

    Source:
        planner-inference-notes, section 6. The GPUs of a replica move their shares beside each other, and the smaller of
        two replicas sets the rate; a prompt's cache leaves before the next one is computed wherever it moves in less time
        than a prefill takes.
    """
    none = np.zeros(1)
    service = iteration_s(
        server.costs(layout), decode_sequences=none, context_tokens=none, prefill_tokens=requests.prompt_tokens,
        seen_tokens=requests.prompt_tokens / 2.0, prompts=np.ones(1),
    ) + server.constants.request_host_s  # fmt: skip
    tokens = float(np.ravel(requests.prompt_tokens)[0])
    each = np.array([
        cache_token_bytes(server, Layout(one, one), context_tokens=tokens)
        for one in layout.replica_ranks[:, None]
    ])  # fmt: skip
    size = each * layout.replica_ranks * requests.prompt_tokens
    busy, receive = (size / (way.rank_bytes_per_s * one.replica_ranks) for one in (layout, decode))
    slower = np.maximum(busy, receive)
    layers = float(np.ravel(server.shape.layers)[0])
    # the last layer moves after the prefill in any case
    exposed = np.maximum(slower - way.overlap_fraction * service, slower / layers) + way.handover_s
    return Moved(service, size, busy, receive, exposed)


def pool_rates(
    prefill_server: Server,
    decode_server: Server,
    requests: Requests,
    prefill: Layout,
    decode: Layout,
    way: Way,
) -> PoolRates:
    """What replicas of either pool do, for each pair of layouts.

    Args:
        prefill_server, decode_server, requests: Machines and mean lengths, of shape (1,).
        prefill, decode: Layouts, both of shape (n,).
        way: Of the caches.
    """
    moved = moved_cache(prefill_server, requests, prefill, decode, way)
    most = largest_batch(decode_server, requests=requests, layout=decode)
    even = np.rint(np.geomspace(1.0, max(float(most.max()), 2.0), BATCHES))
    # each layout's own largest batch is among them: tails end there
    batches = np.unique(np.concatenate([even, np.maximum(np.floor(most), 1.0)]))
    column = Layout(decode.replica_ranks[:, None], decode.attention_ranks[:, None])
    token: Floats = decode_pool_token_s(
        decode_server.costs(column), asked=asked_of(requests), in_flight=batches
    )
    return PoolRates(
        prefill_s=moved.service_s, transfer_s=moved.exposed_s, transfer_busy_s=moved.busy_s, batches=batches,
        token_s=np.broadcast_to(token, (decode.replica_ranks.size, batches.size)), most_sequences=most,
        output_tokens=requests.output_tokens, prompt_variation=requests.prompt_variation,
        receive_s=moved.receive_s,
    )  # fmt: skip


def best_pools(
    prefill_server: Server,
    decode_server: Server,
    *,
    requests: Requests,
    gpus: int,
    objective: Objective,
    way: Way,
    sizes: tuple[int, ...],
    limits: PoolLimits | None = None,
) -> PoolPlan:
    """The layouts and numbers of replicas that serve most within an objective.

    Args:
        prefill_server, decode_server, requests: Machines of the pools and mean lengths, of shape (1,).
        gpus: Of both pools.
        objective: Limits of the tails; what engine and front end take of the first token comes off first.
        way: Of the caches.
        sizes: GPUs of a replica to try for either pool.
        limits: What is set for each pool.
    """
    pairs = np.array([(p, d) for p in sizes for d in sizes], dtype=np.float64)
    prefill, decode = Layout(pairs[:, 0], pairs[:, 0]), Layout(pairs[:, 1], pairs[:, 1])
    rates = pool_rates(prefill_server, decode_server, requests, prefill, decode, way)
    constants, tails = decode_server.constants, decode_server.tails
    engine = constants.first_token_fixed_s + constants.first_token_decode_steps * objective.per_token_p99_s
    split = best_split(
        rates, prefill_gpus=pairs[:, 0], decode_gpus=pairs[:, 1], gpus=gpus,
        first_token_limit_s=objective.first_token_p99_s / _one(tails.first_token_ratio) - _one(engine),
        per_token_limit_s=objective.per_token_p99_s / _one(tails.per_token_ratio), limits=limits,
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
