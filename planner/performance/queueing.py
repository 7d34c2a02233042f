"""Waiting of requests at a replica that prefills and decodes in one queue, arrivals Poisson: closed form.

Steps follow each other as `queueing_steps` says. A request waits for the rest of the step it finds, then for its own with
all who came meanwhile; where a prompt fills much of a step's token budget, prompts wait for each other in line.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.queueing_steps import Arrivals, StepMoments, step_moments

P50, P95, P99 = 0.0, 1.6449, 2.3263
"""Places of percentiles in a normal distribution, standard deviations from its mean."""
MOST_CHUNKS: Final = 8
"""Steps of a prompt that are counted one by one; beyond, half a step more than its tokens fill."""
LEFT_SHARE: Final = 0.2
"""Of a step that a prompt's end fills, what later prompts find free: chosen, as is `TOKEN_RATIO`, by 1,059 simulated runs,
where half of a step would be left by chance alone."""
TOKEN_RATIO: Final = 0.75
"""Of the squared variation of a request's mean time for each token: lives are finite, and swings longer than one."""
MOST_SKEW, LEAST_SKEW = 6.0, 0.05


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


def further_steps(arrivals: Arrivals) -> Floats:
    """Steps after the first over which a prompt is spread in the mean, shape (n,).

    Chances that a lognormal length exceeds one, two and more budgets, summed; the normal distribution as a logistic one,
    within 0.01.

    >>> one = np.ones(1)
    >>> further_steps(Arrivals(*[one] * 8, 1.5 * one, 0.0 * one, 0.0 * one)).round(3)
    array([1.])
    """
    share = arrivals.step_share
    deviation = np.maximum(np.sqrt(np.log1p(arrivals.prompt_variation**2)), 0.02)
    median = np.log(share) - deviation**2 / 2.0
    steep = 1.702 / deviation
    found = np.zeros(1)
    for steps in range(1, MOST_CHUNKS + 1):
        found = found + 1.0 / (1.0 + np.exp(np.clip(steep * (np.log(steps) - median), -500.0, 500.0)))
    return np.where(share > MOST_CHUNKS, share - 0.5, np.where(share < 0.05, 0.0, found))


@dataclass(frozen=True, slots=True)
class Wait:
    """A request's way to its first token, shape (n,): the mean, and what its spread is made of.

    Attributes:
        mean_s: All of it.
        least_s: Nobody else there, the prompt a short one.
        variance_s2: Of all of it.
        skew: Its third cumulant over the variance's power of three halves.
    """

    mean_s: Floats
    least_s: Floats
    variance_s2: Floats
    skew: Floats


def first_token_wait(arrivals: Arrivals, steps: StepMoments) -> Wait:
    """From arrival to the end of the step that ends the prompt.

    Args:
        arrivals, steps: What comes, and how steps follow each other.

    Source:
        Mean: half of the step found, and in the own step who came before in it, oneself, and who came after as far as the
        budget has room. In line: as in an M/G/1 queue (Pollaczek and Khinchine) whose prompts pay for the steps that they
        fill. Between both by how much of a step a prompt fills, and how full steps are. Spread: variances and third
        cumulants of the parts added, the wait's as of a gamma distribution, the prompt's as of a lognormal length.
    """
    a, s = arrivals, steps
    room = 1.0 / a.step_share
    filled = np.minimum(s.prompts / room, 1.0)
    in_line = 1.0 - (1.0 - np.minimum(a.step_share, 1.0) ** 2) * (1.0 - filled**2)
    paid = a.prefill_s + in_line * a.step_share * a.decode_s
    idle, left = 1.0 - s.busy_fraction, 1.0 - a.rate_per_s * paid
    left = np.where((left > 0.0) & (filled < 1.0), left, np.nan)
    longer = (paid / a.prefill_s) ** 2 * idle / left
    found = s.mean_s + (s.found_s - s.mean_s) * longer
    before = found / 2.0 * (1.0 + s.busy_fraction)
    more = further_steps(a)
    free = np.maximum(room - 1.0, LEFT_SHARE * room)
    passing = found / 2.0 + more * (np.minimum(1.0, room) * a.prefill_s + a.decode_s)
    behind = a.prefill_s * free * -np.expm1(-a.rate_per_s * passing / free)
    mean = before + behind + a.prefill_s + a.decode_s * (1.0 + more)
    together = _joined_variance_s2(a, s, found=found, longer=longer, behind=behind)
    alone = (
        before**2 + a.rate_per_s * paid**3 * a.square**3 / (3.0 * left) + 3.0 * s.swing_fraction * before**2
        + behind * np.maximum(a.prefill_s * free - behind, 0.0)
    )  # fmt: skip
    waiting = (1.0 - in_line) * together + in_line * alone
    own = a.prefill_s**2 * (a.square - 1.0)
    third = 2.0 * waiting**2 / (before + behind) + a.prefill_s**3 * (a.square**3 - 3.0 * a.square + 2.0)
    variance = waiting + own
    skew = np.clip(third / variance**1.5, LEAST_SKEW, MOST_SKEW)
    return Wait(mean, a.decode_s + LEAST_PROMPT * a.prefill_s, variance, skew)


LEAST_PROMPT: Final = 0.3
"""Least share of a mean prompt's time that a percentile is worked out for."""


def _joined_variance_s2(
    a: Arrivals, s: StepMoments, *, found: Floats, longer: Floats, behind: Floats
) -> Floats:
    """Variance of the wait where all who come during a step go into the next."""
    busy = np.minimum(s.busy_fraction, 0.97)
    each = a.rate_per_s * a.prefill_s**2 * a.square
    variance, mean = s.prompts_variance_s2, s.mean_s
    third = each * a.prefill_s * a.square**2 * mean + 3.0 * busy * each * variance
    third = third / ((1.0 - busy) * (1.0 + busy + busy**2))
    second = (third + 3.0 * variance * mean + mean**3) / mean
    met = np.maximum(second - (mean + variance / mean) ** 2, 0.0) * longer**2
    met = met * (1.0 + 3.0 * s.swing_fraction) + s.swing_fraction * found**2
    # prompts that fill in beside each other in several attention groups delay a step less than one by one
    beside = np.minimum(a.prefill_more_s / a.prefill_s, 1.0)
    reach = np.minimum(0.5 + beside * (s.busy_fraction / 2.0 + behind / found), 0.5 + s.busy_fraction)
    others = a.rate_per_s * (beside * a.prefill_s) ** 2 * a.square * found
    return np.asarray(reach**2 * met + (met + found**2) / 12.0 + others)


def _percentile(wait: Wait, place: float) -> Floats:
    """Of a gamma distribution with the wait's three moments (Wilson and Hilferty's cube)."""
    cube = np.maximum(1.0 + wait.skew * place / 6.0 - wait.skew**2 / 36.0, 0.0) ** 3
    return np.asarray(
        np.maximum(wait.mean_s + np.sqrt(wait.variance_s2) * 2.0 / wait.skew * (cube - 1.0), wait.least_s)
    )


def _token_percentile(steps: StepMoments, place: float) -> Floats:
    """Of a gamma distribution over requests."""
    inverse = TOKEN_RATIO * steps.token_variance_fraction
    cube = np.maximum(1.0 - inverse / 9.0 + place * np.sqrt(inverse) / 3.0, 0.0)
    return np.asarray(steps.token_s * cube**3)


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
        Shape (n,), or whatever the arguments broadcast to; infinite where prefill alone fills the time, and to the first
        token where prompts fill the budgets of all steps.

    Source:
        `step_moments` and `first_token_wait`; against the simulator see tests/fidelity/test_open_loop.py.

    >>> one = np.ones(1)
    >>> slow = open_loop_latency(Arrivals(5.0 * one, 10.0 * one, 0.01 * one, 1e-4 * one, 0.1 * one, 0.1 * one, one,
    ...     100.0 * one, 0.1 * one, 0.0 * one, 0.0 * one), first_token_fixed_s=0.0 * one,
    ...     first_token_decode_steps=0.0 * one, tails=Tails(one, one))
    >>> bool(slow.first_token_mean_s < slow.first_token_p99_s)
    True
    """
    steps = step_moments(arrivals)
    wait = first_token_wait(arrivals, steps)
    extra = first_token_fixed_s + first_token_decode_steps * steps.token_s
    first = [wait.mean_s + extra, *(_percentile(wait, place) + extra for place in (P50, P95, P99))]
    token = [steps.token_s, *(_token_percentile(steps, place) for place in (P50, P95, P99))]
    values = [*first, *(one / tokens_per_step for one in token)]
    names = [one.name for one in fields(Latency)]
    found = {name: np.where(np.isnan(one), np.inf, one) for name, one in zip(names, values, strict=True)}
    found["first_token_p99_s"] = found["first_token_p99_s"] * tails.first_token_ratio
    found["per_token_p99_s"] = found["per_token_p99_s"] * tails.per_token_ratio
    return Latency(**found)
