"""Prefill and decode in separate pools against the same GPUs together: closed form, and when it pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.queueing import P99

RATES: Final = 400
"""Rates tried for each split, in equal steps up to what it sustains."""
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
        tried: Splits and rates evaluated.
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


def best_split(
    rates: PoolRates,
    *,
    prefill_gpus: Floats,
    decode_gpus: Floats,
    gpus: int,
    first_token_limit_s: float,
    per_token_limit_s: float,
    limits: PoolLimits | None = None,
) -> Split:
    """The pools that serve most within the objective.

    Args:
        rates: Of replicas, for each pair of layouts.
        prefill_gpus, decode_gpus: GPUs of a replica of either kind, shape (n,).
        gpus: Of both pools.
        first_token_limit_s, per_token_limit_s: Limits of the 99th percentiles.
        limits: What is set for each pool.

    Returns:
        See `Split`; of equal rates the earlier pair, then fewer prefill replicas.
    """
    best, tried = Split(0, 0, 0, 0.0, np.inf, np.inf, 0), 0
    for row in range(prefill_gpus.size):
        prefill, decode = _replicas(
            limits or PoolLimits(), gpus, float(prefill_gpus[row]), float(decode_gpus[row])
        )
        if not prefill.size or rates.most_sequences[row] < 1.0:
            continue
        rate, first, token = _curves(rates, row, prefill, decode)
        tried += rate.size
        fits = (first <= first_token_limit_s) & (token <= per_token_limit_s)
        place = np.unravel_index(int(np.argmax(np.where(fits, rate, 0.0))), rate.shape)
        if fits[place] and rate[place] > best.rate_per_s:
            best = Split(
                row, int(prefill[place[0], 0]), int(decode[place[0], 0]), float(rate[place]), float(first[place]),
                float(token[place]), 0,
            )  # fmt: skip
    return Split(
        best.row, best.prefill_replicas, best.decode_replicas, best.rate_per_s, best.first_token_p99_s,
        best.per_token_p99_s, tried,
    )  # fmt: skip


def _replicas(
    limits: PoolLimits, gpus: int, prefill_gpus: float, decode_gpus: float
) -> tuple[Floats, Floats]:
    """Numbers of replicas of either pool that go together, two columns."""
    most = gpus - decode_gpus if limits.prefill_gpus is None else limits.prefill_gpus
    prefill = np.arange(1.0, most // prefill_gpus + 1.0)[:, None]
    if limits.prefill_replicas is not None:
        prefill = prefill[prefill[:, 0] == limits.prefill_replicas]
    left = gpus - prefill * prefill_gpus if limits.decode_gpus is None else limits.decode_gpus + 0.0 * prefill
    decode = np.floor(left / decode_gpus)
    wanted = 1 if limits.decode_replicas is None else limits.decode_replicas
    able = decode[:, 0] >= wanted
    prefill, decode = prefill[able], decode[able]
    return prefill, decode if limits.decode_replicas is None else np.full_like(decode, wanted)


def _curves(rates: PoolRates, row: int, prefill: Floats, decode: Floats) -> tuple[Floats, Floats, Floats]:
    """Rates of the two pools together with their tails, shape (splits, rates)."""
    holds = rates.batches <= rates.most_sequences[row]
    batches, token = rates.batches[holds], rates.token_s[row][holds]
    output = float(np.ravel(rates.output_tokens)[0])
    of_replica = batches / (output * token)
    service = np.maximum(rates.prefill_s[row], rates.transfer_busy_s[row])
    most = np.minimum(decode * of_replica[-1], prefill / service)
    if rates.receive_s is not None:
        most = np.minimum(most, decode / rates.receive_s[row])
    rate = most * np.arange(1.0, RATES + 1.0) / RATES
    batch = np.interp(rate / decode, of_replica, batches)
    # The batch is a Poisson number; who comes while it is large decodes slowly for long.
    tail = np.interp(batch + 1.0 + P99 * np.sqrt(batch), batches, token)
    first = first_token_p99_s(rate_per_s=rate / prefill, service_s=service, variation=rates.prompt_variation)
    return rate, first + rates.transfer_s[row] + token[0], tail
