"""Prefill and decode in separate pools against the same GPUs together: closed form, and when it pays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.queueing import P99

HALVINGS: Final = 60
"""Of the rate of a prefill replica: the last interval is below one part in 10^18."""
MOST_HELD: Final = 0.95
"""Mean batch over what a decode replica holds at most: with all of it in use requests would wait without end, and up to here
requests that go to the emptiest of several replicas hardly do (simulated)."""
LONGER: Final = {0.5: 0.0, 0.95: 1.5, 0.99: 2.0}
"""Standard deviations above the mean at which a prompt is taken, by the share of requests that are within it."""


@dataclass(frozen=True, slots=True)
class PoolRates:
    """What one replica of each pool does; fields of shape (n,) for n pairs of layouts, but the batch.

    Attributes:
        prefill_s: Time of a prompt at a prefill replica.
        transfer_s: Exposed time of moving its cache, nobody else on the way, hand-over included.
        transfer_busy_s: Time for which a prompt's cache fills its prefill replica's way out.
        batches: Sequences of a decode replica, shape (batches,), rising from 1.
        token_s: Time for each token by batch, shape (n, batches).
        most_sequences: Sequences that a decode replica holds.
        output_tokens: Of an answer.
        prompt_variation: Standard deviation of prompts over their mean.
        receive_s: Time for which a prompt's cache fills a decode replica's way in; left out where None.
    """

    prefill_s: Floats
    transfer_s: Floats
    transfer_busy_s: Floats
    batches: Floats
    token_s: Floats
    most_sequences: Floats
    output_tokens: Floats
    prompt_variation: Floats
    receive_s: Floats | None = None


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """What is set for each pool; None where the best is wanted.

    Attributes:
        prefill_gpus, decode_gpus: GPUs that only this pool can use; without, both share all of them.
        prefill_replicas, decode_replicas: How many, no more and no fewer.
    """

    prefill_gpus: int | None = None
    decode_gpus: int | None = None
    prefill_replicas: int | None = None
    decode_replicas: int | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """The best division of the GPUs into pools.

    Attributes:
        row: Which pair of layouts.
        prefill_replicas, decode_replicas: Of either pool.
        rate_per_s: Requests a second within the objective, zero where no split keeps it.
        first_token_p99_s, per_token_p99_s: At that rate.
        tried: Splits evaluated.
    """

    row: int
    prefill_replicas: int
    decode_replicas: int
    rate_per_s: float
    first_token_p99_s: float
    per_token_p99_s: float
    tried: int


def first_token_percentile_s(
    *, rate_per_s: Floats, service_s: Floats, variation: Floats, share: float
) -> Floats:
    """Waiting and service that so many of all requests stay below, at a replica that only fills in prompts.

    Args:
        rate_per_s, service_s, variation: See `first_token_p99_s`.
        share: Of the requests, such as 0.99.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; infinite at or above full load.

    Source:
        Mean wait of an M/G/1 queue (Pollaczek and Khinchine), its tail taken as exponential above the share of requests
        that wait at all; added to a prompt as long above the mean as the share asks, two standard deviations at 99 %.

    >>> first_token_percentile_s(rate_per_s=np.array([5.0]), service_s=np.array([0.1]), variation=np.array([0.0]),
    ...     share=0.5)
    array([0.1])
    """
    busy = rate_per_s * service_s
    idle = np.where(busy < 1.0, 1.0 - busy, np.nan)
    while_waiting = service_s * (1.0 + variation**2) / (2.0 * idle)
    wait = while_waiting * np.log(np.maximum(busy / (1.0 - share), 1.0))
    found = wait + service_s * (1.0 + LONGER[share] * variation)
    return np.where(np.isnan(found), np.inf, found)


def first_token_p99_s(*, rate_per_s: Floats, service_s: Floats, variation: Floats) -> Floats:
    """99th percentile of waiting and service at a replica that only fills in prompts, arrivals Poisson.

    Args:
        rate_per_s: Requests a second of the replica.
        service_s: Mean time of a prompt.
        variation: Standard deviation of that time over its mean.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; infinite at or above full load.

    Source:
        `first_token_percentile_s`.

    >>> first_token_p99_s(rate_per_s=np.array([0.0, 9.0]), service_s=np.array([0.1]), variation=np.array([0.0])).round(2)
    array([0.1 , 2.35])
    """
    return first_token_percentile_s(
        rate_per_s=rate_per_s, service_s=service_s, variation=variation, share=0.99
    )


@dataclass(frozen=True, slots=True)
class ReplicaRates:
    """Requests a second that one replica of either pool carries within the limits, shape (n,); zero where none are kept.

    Attributes:
        prefill_per_s: Of a prefill replica.
        decode_per_s: Of a decode replica.
    """

    prefill_per_s: Floats
    decode_per_s: Floats


def replica_rates(
    rates: PoolRates, *, first_token_limit_s: Floats | float, per_token_limit_s: float
) -> ReplicaRates:
    """What one replica of either pool carries, for each pair of layouts.

    The first token waits for its prefill replica, the move and a decode step; later ones depend on the decode replica's
    batch alone. So each pool has its own limit, and numbers of replicas follow from either.

    Args:
        rates: Of replicas.
        first_token_limit_s, per_token_limit_s: Limits of the 99th percentiles; the first of shape (n,) where pairs differ.
    """
    decode = np.array([_decode_per_s(rates, row, per_token_limit_s) for row in range(rates.prefill_s.size)])
    service = np.maximum(rates.prefill_s, rates.transfer_busy_s)
    later = rates.transfer_s + rates.token_s[:, 0]
    low, high = np.zeros_like(service), 1.0 / service
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        first = first_token_p99_s(rate_per_s=middle, service_s=service, variation=rates.prompt_variation)
        keeps = first + later <= first_token_limit_s
        low, high = np.where(keeps, middle, low), np.where(keeps, high, middle)
    # nothing is kept where even a prompt that finds nobody is late
    alone = first_token_p99_s(rate_per_s=np.zeros(1), service_s=service, variation=rates.prompt_variation)
    prefill = np.where(alone + later <= first_token_limit_s, low, 0.0)
    if rates.receive_s is not None:
        decode = np.minimum(decode, 1.0 / rates.receive_s)
    return ReplicaRates(prefill, np.where(rates.most_sequences >= 1.0, decode, 0.0))


def _held(rates: PoolRates, row: int) -> tuple[Floats, Floats]:
    """Batches that a decode replica holds, and their time for each token."""
    holds = rates.batches <= max(float(rates.most_sequences[row]), 1.0)
    return rates.batches[holds], np.maximum.accumulate(rates.token_s[row][holds])


def _decode_per_s(rates: PoolRates, row: int, limit_s: float) -> float:
    """Rate of the largest batch whose tail keeps the limit: the batch is a Poisson number, and who comes while it is large
    decodes slowly for long."""
    batches, token = _held(rates, row)
    if token[0] > limit_s:
        return 0.0
    batch = MOST_HELD * float(batches[-1])
    if token[-1] > limit_s:
        met = float(np.interp(limit_s, token, batches))
        root = (np.sqrt(P99**2 + 4.0 * max(met - 1.0, 0.0)) - P99) / 2.0
        batch = min(batch, float(root**2))
    # between the batches of the table the rate runs straight, here as where a split's batch is read from its rate
    of_replica = batches / (float(np.ravel(rates.output_tokens)[0]) * token)
    return float(np.interp(batch, np.concatenate([[0.0], batches]), np.concatenate([[0.0], of_replica])))


def best_split(
    rates: PoolRates,
    *,
    prefill_gpus: Floats,
    decode_gpus: Floats,
    gpus: int,
    first_token_limit_s: Floats | float,
    per_token_limit_s: float,
    limits: PoolLimits | None = None,
) -> Split:
    """The pools that serve most within the objective.

    Args:
        rates: Of replicas, for each pair of layouts.
        prefill_gpus, decode_gpus: GPUs of a replica of either kind, shape (n,).
        gpus: Of both pools.
        first_token_limit_s, per_token_limit_s: Limits of the 99th percentiles; the first of shape (n,) where pairs differ.
        limits: What is set for each pool.

    Returns:
        See `Split`; of equal rates the earlier pair, then fewer prefill replicas.
    """
    best, tried = Split(0, 0, 0, 0.0, np.inf, np.inf, 0), 0
    able = replica_rates(rates, first_token_limit_s=first_token_limit_s, per_token_limit_s=per_token_limit_s)
    for row in range(prefill_gpus.size):
        prefill, decode = _replicas(
            limits or PoolLimits(), gpus, float(prefill_gpus[row]), float(decode_gpus[row])
        )
        tried += prefill.size
        if not prefill.size:
            continue
        rate = np.minimum(prefill * able.prefill_per_s[row], decode * able.decode_per_s[row])
        place = int(np.argmax(rate))
        if rate[place] > best.rate_per_s:
            best = _split(rates, row, int(prefill[place]), int(decode[place]), float(rate[place]))
    return replace(best, tried=tried)


def _replicas(
    limits: PoolLimits, gpus: int, prefill_gpus: float, decode_gpus: float
) -> tuple[Floats, Floats]:
    """Numbers of replicas of either pool that go together."""
    most = gpus - decode_gpus if limits.prefill_gpus is None else limits.prefill_gpus
    prefill = np.arange(1.0, most // prefill_gpus + 1.0)
    if limits.prefill_replicas is not None:
        prefill = prefill[prefill == limits.prefill_replicas]
    left = gpus - prefill * prefill_gpus if limits.decode_gpus is None else limits.decode_gpus + 0.0 * prefill
    decode = np.floor(left / decode_gpus)
    wanted = 1 if limits.decode_replicas is None else limits.decode_replicas
    able = decode >= wanted
    prefill, decode = prefill[able], decode[able]
    return prefill, decode if limits.decode_replicas is None else np.full_like(decode, wanted)


def _split(rates: PoolRates, row: int, prefill: int, decode: int, rate: float) -> Split:
    """Pools at a rate, with their tails."""
    batches, token = _held(rates, row)
    of_replica = batches / (float(np.ravel(rates.output_tokens)[0]) * token)
    batch = float(
        np.interp(rate / decode, np.concatenate([[0.0], of_replica]), np.concatenate([[0.0], batches]))
    )
    service = np.maximum(rates.prefill_s[[row]], rates.transfer_busy_s[[row]])
    variation = np.broadcast_to(rates.prompt_variation, rates.prefill_s.shape)[[row]]
    first = first_token_p99_s(rate_per_s=np.array([rate / prefill]), service_s=service, variation=variation)
    tail = np.interp(batch + 1.0 + P99 * np.sqrt(batch), batches, token)
    later = float(rates.transfer_s[row] + rates.token_s[row][0])
    return Split(row, prefill, decode, rate, float(first[0]) + later, float(tail), 0)
