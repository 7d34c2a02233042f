"""What the accelerators of separate pools do with their time: collectives, and useful arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.performance.inference import Layout, serving_flop_per_output_token
from planner.performance.models import ModelShape
from planner.performance.serving import Requests, Server
from planner.performance.serving_loops import seen_tokens
from planner.performance.serving_pools import PoolPlan
from planner.performance.serving_step import iteration_parts


@dataclass(frozen=True, slots=True)
class PoolWork:
    """Shares of the pools' time, shape (n,).

    Attributes:
        prefill_collective_fraction: Of the time of a prompt, what goes into all-reduces.
        decode_collective_fraction: Of a decode step.
        prefill_mfu_fraction, decode_mfu_fraction: Useful model FLOP over the dense peak of the pool's accelerators, the
            time in which they wait for prompts included.
    """

    prefill_collective_fraction: Floats
    decode_collective_fraction: Floats
    prefill_mfu_fraction: Floats
    decode_mfu_fraction: Floats


def decode_collective_share(
    server: Server, layout: Layout, requests: Requests, batch_sequences: Floats
) -> Floats:
    """Share of a decode iteration that waits for collectives."""
    none = np.zeros(1)
    parts = iteration_parts(
        server.costs(layout), decode_sequences=batch_sequences,
        context_tokens=requests.prompt_tokens + requests.output_tokens / 2.0, prefill_tokens=none,
        seen_tokens=none, prompts=none,
    )  # fmt: skip
    return np.asarray(parts.collectives_s / parts.total_s)


def prefill_collective_share(server: Server, layout: Layout, requests: Requests) -> Floats:
    """Share of the time of a mean prompt, the engine's host time included, that waits for collectives."""
    none = np.zeros(1)
    parts = iteration_parts(
        server.costs(layout), decode_sequences=none, context_tokens=none, prefill_tokens=requests.computed_tokens,
        seen_tokens=seen_tokens(requests.prompt_tokens, requests.hit_fraction), prompts=np.ones(1),
    )  # fmt: skip
    return np.asarray(parts.collectives_s / (parts.total_s + server.constants.request_host_s))


def sequence_flop(shape: ModelShape, tokens: Floats, found_tokens: Floats | None = None) -> Floats:
    """Model FLOP of a sequence from its first token to its last, whichever of them are prompt and which are answer.

    Args:
        shape: The model.
        tokens: Of the sequence.
        found_tokens: Of them, those at the beginning that a cache has already; none by default.
    """
    return tokens * serving_flop_per_output_token(
        shape, prompt_tokens=np.zeros_like(tokens), output_tokens=tokens, found_tokens=found_tokens
    )


def pool_work(
    plan: PoolPlan,
    prefill: Server,
    decode: Server,
    requests: Requests,
    *,
    rate_per_s: Floats,
    batch_sequences: Floats,
) -> PoolWork:
    """Collectives and arithmetic of both pools.

    Args:
        plan: Replicas of the pools.
        prefill, decode, requests: Machines and mean lengths, shape (n,).
        rate_per_s: Requests a second of all pools together.
        batch_sequences: Of a decode replica.
    """
    found = requests.prompt_tokens - requests.computed_tokens
    prompt = sequence_flop(prefill.shape, requests.prompt_tokens, found)
    answer = sequence_flop(decode.shape, requests.prompt_tokens + requests.output_tokens)
    answer = answer - sequence_flop(decode.shape, requests.prompt_tokens)
    return PoolWork(
        prefill_collective_share(prefill, plan.prefill, requests),
        decode_collective_share(decode, plan.decode, requests, batch_sequences),
        rate_per_s * prompt / (plan.prefill_gpus * prefill.chip.peak_flop_per_s),
        rate_per_s * answer / (plan.decode_gpus * decode.chip.peak_flop_per_s),
    )
