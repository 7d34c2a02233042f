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
"""At least this share of the requests is taken to decode, which keeps the first round from overshooting."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests of one kind; fields broadcast to shape (n,).

    Attributes:
        prompt_tokens, output_tokens: Mean lengths.
        step_tokens: Prompt tokens that an attention group takes into one step at most.
        prompt_variation: Standard deviation of prompts over their mean; attention grows with the mean of squares.
    """

    prompt_tokens: Floats
    output_tokens: Floats
    step_tokens: Floats
    prompt_variation: Floats = field(default_factory=lambda: np.zeros(1))


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
    chunks = np.ceil(asked.prompt_tokens / asked.step_tokens)
    context = asked.prompt_tokens + asked.output_tokens / 2.0
    seen = asked.prompt_tokens / 2.0 * (1.0 + asked.prompt_variation**2)
    none = np.zeros(1)
    decode = iteration_s(
        costs, decode_sequences=decode_sequences, context_tokens=context, prefill_tokens=none, seen_tokens=none,
        prompts=none,
    )  # fmt: skip
    mixed = iteration_s(
        costs, decode_sequences=decode_sequences, context_tokens=context,
        prefill_tokens=filled * asked.prompt_tokens / chunks, seen_tokens=seen, prompts=filled,
    )  # fmt: skip
    prefill = np.maximum(mixed - decode, 0.0) * chunks / filled
    return decode, prefill + constants.request_host_s


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
    for turn in range(ROUNDS):
        decode, prefill = step_and_prompt_s(costs, constants, asked=asked, decode_sequences=decodes)
        waiting = constants.lockstep_fraction * others * prefill
        first = (
            constants.first_token_fixed_s + constants.first_token_decode_steps * decode + prefill + waiting
        )
        token = decode / yields + (1.0 - constants.lockstep_fraction) * others * prefill / more
        whole = first + (asked.output_tokens - 1.0) * token
        if turn + 1 < ROUNDS:
            share = 1.0 - (prefill + waiting) / whole
            decodes = np.maximum(held * share, LEAST_SHARE * np.minimum(held, 1.0))
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
        prefill_tokens=share * asked.prompt_tokens, seen_tokens=asked.prompt_tokens / 2.0,
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
