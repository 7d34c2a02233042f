"""Waiting of requests at a replica that prefills and decodes in one queue, arrivals Poisson."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class Tails:
    """Ratios of the 99th percentile to the mean at a low and a high load; fields broadcast to shape (n,).

    Between the two loads the ratios run straight, beyond them they stay.
    """

    low_load_fraction: Floats
    high_load_fraction: Floats
    first_token_low_ratio: Floats
    first_token_high_ratio: Floats
    per_token_low_ratio: Floats
    per_token_high_ratio: Floats


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to the first token and between later ones, shape (n,)."""

    first_token_mean_s: Floats
    first_token_p99_s: Floats
    per_token_mean_s: Floats
    per_token_p99_s: Floats


def arrival_rate_per_s(
    *, batch_sequences: Floats, decode_s: Floats, prefill_s: Floats, output_tokens: Floats
) -> Floats:
    """Requests a second at which a replica runs with the given batch in the mean.

    From B = rate x output x TPOT and TPOT = decode / (1 - rate x prefill), solved for the rate.

    Args:
        batch_sequences: Mean sequences that decode.
        decode_s: Iteration with that batch and no prefill.
        prefill_s: Marginal time of one prompt in a mixed iteration.
        output_tokens: Tokens of an answer.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 (open loop).

    >>> arrival_rate_per_s(batch_sequences=np.array([10.0]), decode_s=np.array([0.01]),
    ...     prefill_s=np.array([0.1]), output_tokens=np.array([100.0]))
    array([5.])
    """
    return np.asarray(batch_sequences / (output_tokens * decode_s + batch_sequences * prefill_s))


def tail_ratio(*, load_fraction: Floats, low: Floats, high: Floats, tails: Tails) -> Floats:
    """The ratio at a load, between its values at the low and the high one."""
    span = tails.high_load_fraction - tails.low_load_fraction
    place = np.clip((load_fraction - tails.low_load_fraction) / span, 0.0, 1.0)
    return np.asarray(low + (high - low) * place)


def open_loop_latency(
    *,
    rate_per_s: Floats,
    decode_s: Floats,
    prefill_s: Floats,
    prefill_chunks: Floats,
    first_token_fixed_s: Floats,
    load_fraction: Floats,
    tails: Tails,
) -> Latency:
    """Mean and tail latencies at a replica.

    Args:
        rate_per_s: Requests a second.
        decode_s: Iteration with the batch that this rate brings and no prefill.
        prefill_s: Marginal time of one prompt.
        prefill_chunks: Steps over which a prompt is spread, 1 or more.
        first_token_fixed_s: Constant of engine and front end before the first token.
        load_fraction: Rate over the largest rate that the replica sustains.
        tails: Ratios of percentiles to means.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; infinite where prefill alone fills the time.

    Source:
        planner-inference-notes, section 2 (open loop; mean TTFT within 4 % of a simulator, tails from it).

    >>> one = np.array([1.0])
    >>> open_loop_latency(rate_per_s=np.array([5.0]), decode_s=np.array([0.01]), prefill_s=np.array([0.1]),
    ...     prefill_chunks=one, first_token_fixed_s=np.array([0.0]), load_fraction=one,
    ...     tails=Tails(0.2 * one, 0.9 * one, 2.1 * one, 3.2 * one, one, 1.8 * one)).first_token_mean_s.round(3)
    array([0.175])
    """
    busy = rate_per_s * prefill_s
    idle = 1.0 - np.minimum(busy, 1.0)
    open_ = idle > 0.0
    room = np.where(open_, idle, 1.0)
    per_token = np.where(open_, decode_s / room, np.inf)
    together = decode_s + prefill_s
    wait = np.where(open_, busy * together / (2.0 * room), np.inf)
    first = per_token / 2.0 + wait + together + (prefill_chunks - 1.0) * decode_s + first_token_fixed_s
    first_ratio = tail_ratio(
        load_fraction=load_fraction,
        low=tails.first_token_low_ratio,
        high=tails.first_token_high_ratio,
        tails=tails,
    )
    token_ratio = tail_ratio(
        load_fraction=load_fraction,
        low=tails.per_token_low_ratio,
        high=tails.per_token_high_ratio,
        tails=tails,
    )
    return Latency(first, first * first_ratio, per_token, per_token * token_ratio)
