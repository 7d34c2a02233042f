"""Waiting of requests at a replica that prefills and decodes in one queue, arrivals Poisson: closed form.

Whoever comes during a step is taken in by the next one, so step lengths follow each other as a branching process with
immigration: S' = decode + prefill x Poisson(rate x S). Its moments are known in closed form, and with them those of the
wait. What the process leaves out (a step's token budget, fluctuation of the batch) is a ratio fitted to the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final

import numpy as np

from planner.arrays import Floats

P50, P95, P99 = 0.0, 1.6449, 2.3263
"""Places of percentiles in a normal distribution, standard deviations from its mean."""


@dataclass(frozen=True, slots=True)
class Tails:
    """Percentiles of real fleets over simulated ones, where arrivals are worse than Poisson; fields broadcast to (n,).

    Attributes:
        first_token_ratio: Of the 99th percentile of the time to first token.
        per_token_ratio: Of the time for each token.
    """

    first_token_ratio: Floats
    per_token_ratio: Floats


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What comes to a replica, and what a request costs there; fields broadcast to shape (n,).

    Attributes:
        rate_per_s: Requests a second.
        decode_s: A step without prompts, with the batch that a request finds and itself.
        prefill_s: Marginal time of a prompt in a step.
        output_tokens: Mean tokens of an answer after the first, over the tokens that a step yields.
        step_share: Prompt's tokens over those that fit a step beside its decodes.
        prompt_variation, output_variation: Standard deviation of the lengths over their means.
    """

    rate_per_s: Floats
    decode_s: Floats
    prefill_s: Floats
    output_tokens: Floats
    step_share: Floats
    prompt_variation: Floats
    output_variation: Floats


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to the first token and between later ones, shape (n,): means and percentiles over requests."""

    first_token_mean_s: Floats
    first_token_p50_s: Floats
    first_token_p95_s: Floats
    first_token_p99_s: Floats
    per_token_mean_s: Floats
    per_token_p50_s: Floats
    per_token_p95_s: Floats
    per_token_p99_s: Floats


SIMULATED: Final = {
    "first_token_mean_s": (-0.014, 0.220, 0.030, 0.111, -0.164),
    "first_token_p50_s": (-0.008, 0.196, 0.016, -0.068, -0.265),
    "first_token_p95_s": (0.001, 0.467, 0.041, 0.234, -0.266),
    "first_token_p99_s": (0.007, 0.672, -0.035, 0.566, -0.149),
    "per_token_mean_s": (-0.014, 0.114, 0.030, -0.093, 0.502),
    "per_token_p50_s": (-0.012, 0.082, 0.006, -0.064, 0.195),
    "per_token_p95_s": (0.026, 0.140, 0.097, -0.128, 0.682),
    "per_token_p99_s": (0.050, -0.023, 0.165, -0.142, 1.620),
}
"""Logarithm of the simulated over the branching process's value, by `ratio_features`: least squares over 294 runs (six
models and machines, five lengths, even and lognormal, 20 to 85 % load). Under another seed the closed form is off by
1 % (median; 90th percentile 5 %) on the mean time to first token and for each token, by 5 % (17 %) on the 99th
percentiles."""


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


class Binding(StrEnum):
    """What ends a replica's capacity."""

    MEMORY = "memory for caches"
    BATCH = "the engine's largest batch"
    PREFILL = "prefill"


def binding(*, memory_sequences: float, batch_sequences: float, prefill_share_fraction: float) -> Binding:
    """What binds a replica at its capacity.

    Args:
        memory_sequences: Requests whose caches fit.
        batch_sequences: Requests that the engine takes at once.
        prefill_share_fraction: Share of time in prefill at the full batch.

    Returns:
        Prefill where it takes most of the time, since more room would hardly help; else the smaller limit.

    >>> binding(memory_sequences=100.0, batch_sequences=512.0, prefill_share_fraction=0.4).value
    'memory for caches'
    """
    if prefill_share_fraction > 0.8:
        return Binding.PREFILL
    return Binding.MEMORY if memory_sequences < batch_sequences else Binding.BATCH


@dataclass(frozen=True, slots=True)
class StepMoments:
    """Steps of a replica as a branching process, shape (n,).

    Attributes:
        busy_fraction: Share of time in prefill.
        mean_s: Of a step.
        variance_s2: Of a step.
        found_s: Mean length of the step that an arrival finds: long ones are found more often.
        found_variance_s2: Its variance.
    """

    busy_fraction: Floats
    mean_s: Floats
    variance_s2: Floats
    found_s: Floats
    found_variance_s2: Floats


def step_moments(arrivals: Arrivals) -> StepMoments:
    """Moments of step lengths, of the shape that the fields broadcast to; infinite where prefill fills the time.

    Source:
        Cumulants of a compound Poisson sum, put equal before and after a step: mean d/(1-r), variance
        l m2 mean/(1-r^2), third l m3 mean + 3 r l m2 variance over 1-r^3, for a rate l, decode time d, moments m2 and m3
        of a prompt's time and r = l m1. Lengths are taken as lognormal.

    >>> one = np.ones(1)
    >>> step_moments(Arrivals(5.0 * one, 0.01 * one, 0.1 * one, 100.0 * one, 0.1 * one, 0.0 * one, 0.0 * one)).mean_s
    array([0.02])
    """
    rate, prompt = arrivals.rate_per_s, arrivals.prefill_s
    busy = rate * prompt
    idle = np.where(busy < 1.0, 1.0 - busy, np.nan)
    square = 1.0 + arrivals.prompt_variation**2
    mean = arrivals.decode_s / idle
    each = rate * prompt**2 * square
    variance = each * mean / (idle * (1.0 + busy))
    third = (each * prompt * square**2 * mean + 3.0 * busy * each * variance) / (
        idle * (1.0 + busy + busy**2)
    )
    second_moment = variance + mean**2
    found = second_moment / mean
    found_second = (third + 3.0 * mean * variance + mean**3) / mean
    return StepMoments(busy, mean, variance, found, np.maximum(found_second - found**2, 0.0))


def further_steps(arrivals: Arrivals) -> Floats:
    """Steps after the first over which a prompt is spread in the mean, shape (n,).

    Between equal lengths (whole steps above one) and exponential ones (one over e^(1/share) - 1) by their variation.

    >>> one = np.ones(1)
    >>> further_steps(Arrivals(one, one, one, one, 1.5 * one, 0.0 * one, 0.0 * one))
    array([1.])
    """
    share = np.maximum(arrivals.step_share, 1e-3)
    alike = np.maximum(np.ceil(share - 1e-9) - 1.0, 0.0)
    weight = np.minimum(arrivals.prompt_variation, 1.0)
    return np.asarray(alike + weight * (1.0 / np.expm1(1.0 / share) - alike))


MOST_SHARE, MOST_SPREAD, MOST_BUSY = 1.5, 0.6, 1.0
"""Ends of the range that the ratios were fitted on; beyond them they stay."""


def ratio_features(arrivals: Arrivals) -> tuple[Floats, ...]:
    """What the simulated over the branching process's value depends on: five arrays of shape (n,)."""
    busy = np.minimum(arrivals.rate_per_s * arrivals.prefill_s, MOST_BUSY)
    share = np.minimum(arrivals.step_share, MOST_SHARE)
    square = np.minimum(arrivals.prompt_variation, 1.0) ** 2
    spread = np.minimum(np.sqrt(_token_spread(arrivals)), MOST_SPREAD)
    return np.ones_like(busy), busy**2, share, square * share, square * spread


def _token_spread(arrivals: Arrivals) -> Floats:
    """Squared variation of a request's mean time for each token: stalls by others' prompts are a Poisson count."""
    busy = arrivals.rate_per_s * arrivals.prefill_s
    square = 1.0 + arrivals.prompt_variation**2
    idle = np.maximum(1.0 - busy, 1e-6)
    stalls = arrivals.rate_per_s * arrivals.prefill_s**2 * square / idle
    spread = stalls * (1.0 + arrivals.output_variation**2) / (arrivals.output_tokens * arrivals.decode_s)
    return np.asarray(np.maximum(spread, 1e-9))


def _gamma_percentile(mean: Floats, variance: Floats, place: float) -> Floats:
    """Percentile of a gamma distribution (Wilson and Hilferty's cube), within 1 % where shape is 1 or more."""
    inverse = variance / mean**2
    cube = np.maximum(1.0 - inverse / 9.0 + place * np.sqrt(inverse) / 3.0, 0.0)
    return np.asarray(mean * cube**3)


def branching_latency(arrivals: Arrivals) -> Latency:
    """Latencies of the branching process alone, from arrival to the end of the step that ends the prompt.

    Args:
        arrivals: To a replica.

    Returns:
        Shape (n,), or whatever the fields broadcast to; infinite where prefill alone fills the time.

    Source:
        Wait: the rest of the step found, uniform over it; then the own step with all who came during the one found.
        Its mean and variance set a gamma distribution above the least time, a decode step and a short prompt.
    """
    a, steps = arrivals, step_moments(arrivals)
    reach = 0.5 + steps.busy_fraction
    mean = reach * steps.found_s + a.decode_s * (1.0 + further_steps(a)) + a.prefill_s
    square = 1.0 + a.prompt_variation**2
    variance = (
        reach**2 * steps.found_variance_s2
        + (steps.found_variance_s2 + steps.found_s**2) / 12.0
        + a.rate_per_s * a.prefill_s**2 * square * steps.found_s
        + (a.prefill_s * a.prompt_variation) ** 2
    )
    # Few prompts are shorter than two standard deviations below their median.
    least = a.decode_s + a.prefill_s * np.exp(-2.0 * np.sqrt(np.log1p(a.prompt_variation**2)))
    first = [least + _gamma_percentile(mean - least, variance, place) for place in (P50, P95, P99)]
    spread = _token_spread(a)
    token = [steps.mean_s * _gamma_percentile(np.ones(1), spread, place) for place in (P50, P95, P99)]
    found = (mean, *first, steps.mean_s + np.zeros_like(mean), *token)
    return Latency(*(np.where(np.isnan(one), np.inf, one) for one in found))


def open_loop_latency(
    arrivals: Arrivals,
    *,
    first_token_fixed_s: Floats,
    first_token_decode_steps: Floats,
    tails: Tails,
    tokens_per_step: Floats | float = 1.0,
) -> Latency:
    """Mean and tail latencies at a replica.

    Args:
        arrivals: To a replica.
        first_token_fixed_s, first_token_decode_steps: Engine and front end before the first token is seen.
        tails: Real percentiles over simulated ones.
        tokens_per_step: That a decode step yields for a request, above 1 with speculation.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; infinite where prefill alone fills the time.

    Source:
        `branching_latency` times ratios fitted to the simulator; see `SIMULATED` for their errors.

    >>> one = np.ones(1)
    >>> slow = open_loop_latency(Arrivals(5.0 * one, 0.01 * one, 0.1 * one, 100.0 * one, 0.1 * one, 0.0 * one, 0.0 * one),
    ...     first_token_fixed_s=0.0 * one, first_token_decode_steps=0.0 * one, tails=Tails(one, one))
    >>> bool(slow.first_token_mean_s < slow.first_token_p99_s)
    True
    """
    bare, features = branching_latency(arrivals), ratio_features(arrivals)
    found = {}
    for one in fields(Latency):
        weights = SIMULATED[one.name]
        exponent = sum(
            (weight * feature for weight, feature in zip(weights, features, strict=True)), np.zeros(1)
        )
        found[one.name] = getattr(bare, one.name) * np.exp(exponent)
    # fitted one by one, so they are put in order where nothing varies
    for what in ("first_token", "per_token"):
        for lower, upper in (("p50", "p95"), ("p95", "p99")):
            found[f"{what}_{upper}_s"] = np.maximum(found[f"{what}_{upper}_s"], found[f"{what}_{lower}_s"])
    extra = first_token_fixed_s + first_token_decode_steps * found["per_token_mean_s"]
    for name in ("first_token_mean_s", "first_token_p50_s", "first_token_p95_s", "first_token_p99_s"):
        found[name] = found[name] + extra
    for name in ("per_token_mean_s", "per_token_p50_s", "per_token_p95_s", "per_token_p99_s"):
        found[name] = found[name] / tokens_per_step
    found["first_token_p99_s"] = found["first_token_p99_s"] * tails.first_token_ratio
    found["per_token_p99_s"] = found["per_token_p99_s"] * tails.per_token_ratio
    return Latency(**found)
