"""How steps of a replica follow each other under Poisson arrivals: their moments, and how the batch swings.

Whoever comes during a step is taken in by the next one, so long steps breed long ones: arrivals that a prompt's own time
brings with it make a cluster, and clusters join the batch together. Counted in steps this is a linear process, whose
moments are known; read over time, long steps count by their length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats

MOST_RESPONSE: Final = 0.97
"""Largest response of a step to the one before for which clusters are worked out."""
MOST_GROWTH: Final = 0.95
"""Largest share of a step that grows with the batch, likewise."""
LEAST_SHARE: Final = 0.3
"""A mean step is at least this share of the one that a request finds, where the batch bends the line."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What comes to a replica, and what a request costs there; fields broadcast to shape (n,).

    Attributes:
        rate_per_s: Requests a second.
        batch_sequences: Mean sequences in decode where steps were all alike, above zero.
        decode_s: A step without prompts, with the batch that a request finds and itself.
        decode_more_s: What one sequence more adds to it.
        prefill_s: Time of a prompt in a step, mean over the prompts that share one.
        prefill_more_s: Of a further prompt in such a step: more where little hides beside the decodes, less where a step
            has a fixed price.
        linear_fraction: Share of a prompt's time that grows with its length; the rest, attention, grows with its square.
        output_tokens: Mean tokens of an answer after the first, over the tokens that a step yields.
        step_share: Prompt's tokens over those that fit a step beside its decodes.
        prompt_variation, output_variation: Standard deviation of the lengths over their means.
    """

    rate_per_s: Floats
    batch_sequences: Floats
    decode_s: Floats
    decode_more_s: Floats
    prefill_s: Floats
    prefill_more_s: Floats
    linear_fraction: Floats
    output_tokens: Floats
    step_share: Floats
    prompt_variation: Floats
    output_variation: Floats

    @property
    def square(self) -> Floats:
        """Mean square of a prompt's time over its squared mean, lengths lognormal."""
        length, linear = 1.0 + self.prompt_variation**2, self.linear_fraction
        rest = 1.0 - linear
        return np.asarray(linear**2 * length + 2.0 * linear * rest * length**2 + rest**2 * length**4)


@dataclass(frozen=True, slots=True)
class StepMoments:
    """Steps of a replica, shape (n,); not a number where prefill fills the time.

    Attributes:
        busy_fraction: Share of time in prefill.
        response_fraction: What a second of one step adds to the next, by the prompts that come meanwhile.
        mean_s: Of a step.
        prompts: Of a step, mean.
        prompts_variance_s2: Variance of a step by its prompts, the batch held.
        swing_fraction: Squared variation of a step by the batch.
        found_s: Mean length of the step that an arrival finds: long ones are found more often.
        token_s: Mean time between a request's tokens: long steps are met by more requests.
        token_variance_fraction: Squared variation of that over requests.
    """

    busy_fraction: Floats
    response_fraction: Floats
    mean_s: Floats
    prompts: Floats
    prompts_variance_s2: Floats
    swing_fraction: Floats
    found_s: Floats
    token_s: Floats
    token_variance_fraction: Floats


def shared_life_fraction(output_variation: Floats) -> Floats:
    """Share of a life in the batch that two requests of one cluster spend there together: less where answers vary.

    Mean of the shorter of two answers over the mean, lengths lognormal; the error function as a hyperbolic tangent, within
    0.0004.

    >>> shared_life_fraction(np.array([0.0, 1.0])).round(3)
    array([1.   , 0.556])
    """
    place = np.sqrt(np.log1p(output_variation**2)) / 2.0
    return np.asarray(1.0 - np.tanh(1.128379 * place + 0.1009 * place**3))


def step_moments(arrivals: Arrivals) -> StepMoments:
    """Moments of step lengths, of the shape that the fields broadcast to.

    Source:
        With r what a second of a step adds to the next, prompts of a step are an autoregression with variance mean x
        v/(1-r^2), v = 1 + (r x variation)^2, and a cluster has 1/(1-r) requests in the mean. The batch is a sum of
        arrivals over a life, so its variance is its mean times [1 + k (v/(1-r)^2 - 1)]/(1-q), q the share of a step that
        grows with the batch and k `shared_life_fraction`; for r = 0 that is the state-dependent processor sharing of queueing
        theory, exact for any lengths. Time for each token by Little's law from the batch over time, which exceeds the one
        over steps by its covariance with a step's length over the mean step.

    >>> one = np.ones(1)
    >>> alike = Arrivals(5.0 * one, one, 0.01 * one, 0.0 * one, 0.1 * one, 0.1 * one, one, 100.0 * one, 0.1 * one, 0.0 * one,
    ...     0.0 * one)
    >>> step_moments(alike).mean_s
    array([0.02])
    """
    a = arrivals
    busy = a.rate_per_s * a.prefill_s
    idle = np.where(busy < 1.0, 1.0 - busy, np.nan)
    response = np.minimum(a.rate_per_s * a.prefill_more_s, MOST_RESPONSE)
    growth = np.minimum(a.batch_sequences * a.decode_more_s / a.decode_s, MOST_GROWTH)
    calm, still = 1.0 - growth, 1.0 - response
    noise = 1.0 + (response * a.prompt_variation) ** 2
    # lives of few steps see only a part of a cluster
    seen = 1.0 - 2.0 * response * (1.0 - response**a.output_tokens) / (
        a.output_tokens * still * (1.0 + response)
    )
    cluster = np.maximum(noise / still**2 * seen, 1.0) - 1.0
    beyond = shared_life_fraction(a.output_variation) * cluster / calm
    mean = np.maximum(a.decode_s - a.decode_more_s / calm, LEAST_SHARE * a.decode_s) / idle
    prompts = a.rate_per_s * mean
    spread = noise / (1.0 - response**2)
    by_prompts = prompts * (a.prefill_s**2 * a.square + a.prefill_more_s**2 * (spread - 1.0))
    swing = growth**2 / a.batch_sequences * (1.0 / calm + beyond) * (idle / still) ** 2
    together = a.prefill_more_s * response * prompts * spread / still
    per_life = a.output_tokens * prompts
    stalls = ((response + still * growth) / still) ** 2 / calm
    return StepMoments(
        busy_fraction=busy,
        response_fraction=response,
        mean_s=mean,
        prompts=prompts,
        prompts_variance_s2=by_prompts,
        swing_fraction=swing,
        found_s=mean + (by_prompts + swing * mean**2) / mean,
        token_s=(a.decode_s + a.decode_more_s * beyond) / idle + together / a.batch_sequences,
        token_variance_fraction=(1.0 + a.prompt_variation**2) * (1.0 + a.output_variation**2) * stalls
        / np.maximum(per_life, 1e-6),
    )  # fmt: skip
