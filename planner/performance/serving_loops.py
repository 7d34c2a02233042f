"""Replicas under a fixed number of requests in flight, and under a queue that never empties: closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.inference import ServingConstants
from planner.performance.serving_costs import StepCosts
from planner.performance.serving_step import iteration_s

ROUNDS: Final = 3
"""Fixed-point rounds; a fourth changes times by less than 1 %."""
LEAST_SHARE: Final = 0.5
"""At least this share of the other requests is taken to decode, which keeps the first round from overshooting."""


WIDER: Final = 1.5
"""Batch up to which the growth of a decode step is taken, over the present one: batches swing about as far."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests of one kind; fields broadcast to shape (n,).

    Attributes:
        prompt_tokens, output_tokens: Mean lengths.
        step_tokens: Prompt tokens that an attention group takes into one step at most.
        prompt_variation: Standard deviation of prompts over their mean; attention grows with the mean of squares.
        hit_fraction: Share of every prompt's tokens whose keys and values are in a cache when it comes, below 1.
    """

    prompt_tokens: Floats
    output_tokens: Floats
    step_tokens: Floats
    prompt_variation: Floats = field(default_factory=lambda: np.zeros(1))
    hit_fraction: Floats = field(default_factory=lambda: np.zeros(1))

    @property
    def computed_tokens(self) -> Floats:
        """Prompt tokens that have to be computed, see `computed_tokens`."""
        return computed_tokens(self.prompt_tokens, self.hit_fraction)

    @property
    def seen_tokens(self) -> Floats:
        """Tokens that a computed one attends to in the mean, see `seen_tokens`; long prompts count by their length."""
        return seen_tokens(self.prompt_tokens, self.hit_fraction, self.prompt_variation)


def computed_tokens(prompt_tokens: Floats, hit_fraction: Floats) -> Floats:
    """Tokens of a prompt that aren't found in a cache: one at least, since the last one's output is the first answer's token.

    Args:
        prompt_tokens: Of the whole prompt.
        hit_fraction: Share of it that is found, below 1.

    >>> computed_tokens(np.array([1000.0, 1000.0, 3.0]), np.array([0.0, 0.6, 0.9]))
    array([1000.,  400.,    1.])
    """
    return np.minimum(prompt_tokens, np.maximum(prompt_tokens * (1.0 - hit_fraction), 1.0))


def seen_tokens(prompt_tokens: Floats, hit_fraction: Floats, variation: Floats | float = 0.0) -> Floats:
    """Tokens that a computed prompt token attends to in the mean: those found, and half of those computed.

    Args:
        prompt_tokens: Of the whole prompt, mean.
        hit_fraction: Share of it that is found, below 1.
        variation: Standard deviation of prompts over their mean.

    >>> seen_tokens(np.array([1000.0, 1000.0]), np.array([0.0, 0.6]))
    array([500., 800.])
    """
    return np.asarray(prompt_tokens / 2.0 * (1.0 + variation**2) * (1.0 + hit_fraction))


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A replica with a fixed number of requests in flight, shape (n,).

    Attributes:
        first_token_s: Mean over a run that starts with all requests at once and is ten times as long as they are
            many; where requests wait for memory it's the queue's length and no latency, see `saturated`.
        per_token_s: From the first token on, stalls by others' prompts included.
        end_to_end_s: Of a whole request.
        decode_s, prefill_s: Step without prompts, and marginal time of a prompt.
        decode_sequences: That decode at once in the mean.
        output_tokens_per_s: Of the replica.
        saturated: More requests are in flight than memory holds.
    """

    first_token_s: Floats
    per_token_s: Floats
    end_to_end_s: Floats
    decode_s: Floats
    prefill_s: Floats
    decode_sequences: Floats
    output_tokens_per_s: Floats
    saturated: NDArray[np.bool_]


def step_and_prompt_s(
    costs: StepCosts,
    constants: ServingConstants,
    *,
    asked: Asked,
    decode_sequences: Floats,
    prompts: Floats | None = None,
) -> tuple[Floats, Floats]:
    """A step without prompts, and the marginal time of one prompt in a mixed one.

    Every attention group takes a prompt in the mixed step, since they wait for each other in any case. A prompt above
    a step's limit takes several steps, each with its share of it.

    Args:
        costs, constants: Of the replica.
        asked: Requests.
        decode_sequences: That decode.
        prompts: In the mixed step, at most one for each attention group; as many as there are groups by default.

    Returns:
        Two arrays of the shape that the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 (closed form).
    """
    filled = costs.groups if prompts is None else np.clip(prompts, 1.0, costs.groups)
    chunks = np.ceil(asked.computed_tokens / asked.step_tokens)
    context = asked.prompt_tokens + asked.output_tokens / 2.0
    seen = asked.seen_tokens
    none = np.zeros(1)
    decode = iteration_s(
        costs, decode_sequences=decode_sequences, context_tokens=context, prefill_tokens=none, seen_tokens=none,
        prompts=none,
    )  # fmt: skip
    mixed = iteration_s(
        costs, decode_sequences=decode_sequences, context_tokens=context,
        prefill_tokens=filled * asked.computed_tokens / chunks, seen_tokens=seen, prompts=filled,
    )  # fmt: skip
    prefill = np.maximum(mixed - decode, 0.0) * chunks / filled
    return decode, prefill + constants.request_host_s


@dataclass(frozen=True, slots=True)
class StepCurve:
    """Steps of a replica around a batch and around what prompts share a step, shape (n,).

    Attributes:
        decode_s: Without prompts.
        decode_more_s: What one sequence more adds to it.
        prefill_s: Time of a prompt, mean over those that share a step, host time included.
        prefill_more_s: Of a further prompt in such a step.
        linear_fraction: Share of a prompt's time that isn't attention.
    """

    decode_s: Floats
    decode_more_s: Floats
    prefill_s: Floats
    prefill_more_s: Floats
    linear_fraction: Floats


class Mixed:
    """A replica's steps with a decode batch, evaluated at any number of prompts beside it.

    Args:
        costs, constants: Of the replica.
        asked: Requests.
        decode_sequences: That decode.
        most_prompts: That fit the budget of a step, in the mean; below one where a prompt takes several steps.
    """

    def __init__(
        self, costs: StepCosts, constants: ServingConstants, *, asked: Asked, decode_sequences: Floats, most_prompts: Floats
    ) -> None:  # fmt: skip
        """Decode steps are evaluated here, since they don't depend on the prompts."""
        self._costs, self._constants, self._asked = costs, constants, asked
        self._batch, self._most = decode_sequences, most_prompts
        self._context = asked.prompt_tokens + asked.output_tokens / 2.0
        self._computed, self._seen = asked.computed_tokens, asked.seen_tokens
        none = np.zeros(1)
        higher = WIDER * decode_sequences + 1.0
        self.decode_s, more = (
            iteration_s(
                costs, decode_sequences=batch, context_tokens=self._context, prefill_tokens=none, seen_tokens=none,
                prompts=none,
            )
            for batch in (decode_sequences, higher)
        )  # fmt: skip
        self.decode_more_s = np.maximum(more - self.decode_s, 0.0) / (higher - decode_sequences)

    def _added_s(self, prompts: Floats, seen: Floats) -> Floats:
        step = iteration_s(
            self._costs, decode_sequences=self._batch, context_tokens=self._context,
            prefill_tokens=prompts * self._computed, seen_tokens=seen, prompts=np.maximum(prompts, 1.0),
        )  # fmt: skip
        return np.maximum(step - self.decode_s, 0.0)

    def at(self, prompts: Floats, *, attention: bool = False) -> StepCurve:
        """Costs where a prompt shares its step with so many, itself among them.

        Args:
            prompts: Above zero; at most those that fit a step count.
            attention: Whether the share of attention is worked out; it is left at none otherwise.
        """
        prompts = np.minimum(prompts, self._most)
        upper = np.minimum(2.0 * prompts, self._most)
        lower = upper / 2.0
        low, high = (self._added_s(count, self._seen) for count in (lower, upper))
        further = (high - low) / lower
        here = (low + further * (prompts - lower)) / prompts
        host = self._constants.request_host_s
        linear = np.ones(1)
        if attention:
            linear = 1.0 - (here - self._added_s(prompts, np.zeros(1)) / prompts) / (here + host)
        return StepCurve(
            self.decode_s, self.decode_more_s, here + host, further + host, np.clip(linear, 0.0, 1.0)
        )


def closed_loop(
    costs: StepCosts, constants: ServingConstants, *, asked: Asked, in_flight: Floats, batch_limit: Floats
) -> ClosedLoop:
    """Mean latencies of a replica that always has so many requests.

    Others' prompts stall a request's decoding, or it waits for them before its first token; the split between both is
    the engine's and the client's, and their sum, so the end-to-end time, doesn't depend on it.

    Args:
        costs, constants: Of the replica.
        asked: Requests.
        in_flight: Requests that the clients keep in flight at this replica.
        batch_limit: Sequences that memory and engine hold, 1 or more.

    Returns:
        Arrays of the shape that the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 (closed form).
    """
    held = np.minimum(in_flight, batch_limit)
    others = np.maximum(held - 1.0, 0.0)
    decodes = held
    more = np.maximum(asked.output_tokens - 1.0, 1.0)
    yields = costs.tokens_per_step
    # no step takes more prompts than its budget, so what they would stall beyond that is waited for in the queue
    room = costs.groups * asked.step_tokens / asked.computed_tokens
    for turn in range(ROUNDS):
        decode, prefill = step_and_prompt_s(costs, constants, asked=asked, decode_sequences=decodes)
        shared = others * prefill
        stall = np.minimum((1.0 - constants.lockstep_fraction) * shared / more, room * prefill / yields)
        waiting = shared - stall * more
        first = (
            constants.first_token_fixed_s + constants.first_token_decode_steps * decode + prefill + waiting
        )
        token = decode / yields + stall
        whole = first + (asked.output_tokens - 1.0) * token
        if turn + 1 < ROUNDS:
            share = 1.0 - (prefill + waiting) / whole
            # a step that decodes has at least one sequence, however long the others take over their prompts
            decodes = np.minimum(held, 1.0) + others * np.maximum(share, LEAST_SHARE)
    saturated = np.asarray(in_flight > batch_limit)
    queued = np.where(saturated, (in_flight - held) / np.maximum(held, 1.0) * whole, 0.0)
    return ClosedLoop(
        first_token_s=first + queued,
        per_token_s=token,
        end_to_end_s=whole + queued,
        decode_s=decode,
        prefill_s=prefill,
        decode_sequences=decodes,
        output_tokens_per_s=held * asked.output_tokens / whole,
        saturated=saturated,
    )


def offline_tokens_per_s(
    costs: StepCosts, constants: ServingConstants, *, asked: Asked, batch_sequences: Floats
) -> Floats:
    """Output tokens a second of a replica before which a queue never empties.

    Every step decodes a full batch and fills in as many prompt tokens as keep it full. Nobody is streamed to, which
    saves part of the time for each sequence, and all of the host's for each request.

    Args:
        costs, constants: Of the replica.
        asked: Requests.
        batch_sequences: Sequences in decode.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 (offline throughput).
    """
    share = batch_sequences / asked.output_tokens
    step = iteration_s(
        costs, decode_sequences=batch_sequences, context_tokens=asked.prompt_tokens + asked.output_tokens / 2.0,
        prefill_tokens=share * asked.computed_tokens, seen_tokens=seen_tokens(asked.prompt_tokens, asked.hit_fraction),
        prompts=np.maximum(share, costs.groups),
    )  # fmt: skip
    streamed = costs.sequence_s / costs.groups + costs.replica_sequence_s
    saved = (1.0 - constants.offline_sequence_ratio) * streamed * batch_sequences / costs.stages
    return batch_sequences * costs.tokens_per_step / (step - saved)


def decode_pool_token_s(costs: StepCosts, *, asked: Asked, in_flight: Floats) -> Floats:
    """Time for each token at a decode worker of a disaggregated pool, where no prompt stalls it.

    Args:
        costs: Of one worker.
        asked: Requests.
        in_flight: Requests at this worker.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-inference-notes, section 6.
    """
    none = np.zeros(1)
    step = iteration_s(
        costs, decode_sequences=in_flight, context_tokens=asked.prompt_tokens + asked.output_tokens / 2.0,
        prefill_tokens=none, seen_tokens=none, prompts=none,
    )  # fmt: skip
    return step / costs.tokens_per_step
