"""A simulated engine from a server's model, machine and layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.choices import Engine as EngineName
from planner.performance.inference import Layout, attention_groups, cache_bytes_per_rank
from planner.performance.models import kv_cache_bytes
from planner.performance.serving import Requests, Server
from planner.performance.serving_step import StepCosts, iteration_s
from planner.performance.simulate.engine import Engine, Eviction, Schedule
from planner.performance.simulate.steps import StepTime, step_table

SCHEDULES = {
    EngineName.VLLM: Schedule.MIXED,
    EngineName.TENSORRT_LLM: Schedule.MIXED,
    EngineName.SGLANG: Schedule.PREFILL_FIRST,
}
"""planner-inference-notes, section 2: what explains the split between first tokens and later ones."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How an engine schedules and evicts, and what else a run is told.

    Attributes:
        schedule, chunked, eviction, prefix_caching: See `Engine`.
        host_bytes_per_s: Rate of swapping a cache between one accelerator and the host; needed where caches are swapped.

    Raises:
        ValueError: Caches are swapped, and no rate says how fast.
    """

    schedule: Schedule = Schedule.MIXED
    chunked: bool = True
    eviction: Eviction = Eviction.RECOMPUTE
    prefix_caching: bool = False
    host_bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        if self.eviction is Eviction.SWAP and not self.host_bytes_per_s:
            raise ValueError("caches that are swapped need a rate to the host")


def step_time(costs: StepCosts) -> StepTime:
    """The iteration model of a replica as the table takes it."""

    def seconds(
        sequences: Floats,
        context_tokens: Floats,
        prefill_tokens: Floats,
        seen_tokens: Floats,
        prompts: Floats,
    ) -> Floats:
        return iteration_s(
            costs, decode_sequences=sequences, context_tokens=context_tokens, prefill_tokens=prefill_tokens,
            seen_tokens=seen_tokens, prompts=prompts,
        )  # fmt: skip

    return seconds


def cache_token_bytes(server: Server, layout: Layout, *, context_tokens: float) -> float:
    """Bytes of one token's cache on one rank, mean over a context; windows hold less of a long one.

    Args:
        server: For model and format.
        layout: Of shape (1,).
        context_tokens: Length at which the mean is taken.
    """
    context = np.array([context_tokens])
    held = kv_cache_bytes(
        server.shape,
        context_tokens=context,
        value_bytes=server.form.kv_bytes,
        tensor_ranks=layout.attention_ranks,
    )
    return float((held / context / layout.stages)[0])


def moved_token_bytes(server: Server, *, context_tokens: float) -> float:
    """Bytes of one token's cache that leave a prefill replica: every value once, mean over a context.

    Ranks that hold equal copies (of a latent cache, or of fewer heads than ranks) each send another part of it, and the
    ranks that receive copy them on inside their domain, which takes little beside the network between servers.

    Args:
        server: For model and format.
        context_tokens: Length at which the mean is taken.
    """
    one = np.ones(1)
    return cache_token_bytes(server, Layout(one, one), context_tokens=context_tokens)


def cache_tokens(server: Server, layout: Layout, *, context_tokens: float) -> float:
    """Tokens whose caches a replica holds, all its attention groups together; zero where the weights don't fit.

    Args:
        server, layout, context_tokens: As for `cache_token_bytes`.
    """
    free = cache_bytes_per_rank(
        server.shape, form=server.form, layout=layout, memory_bytes=server.chip.memory_bytes,
        constants=server.constants,
    )  # fmt: skip
    each = cache_token_bytes(server, layout, context_tokens=context_tokens)
    return float(max(0.0, free[0]) // each * attention_groups(layout)[0])


def simulated_engine(
    server: Server,
    *,
    requests: Requests,
    layout: Layout,
    policy: Policy | None = None,
    most_context_tokens: float | None = None,
) -> Engine:
    """Settings of a simulated replica.

    A replica of several attention groups is one batch with their memory and limits together.

    Args:
        server: Model, machine and corrections, of shape (1,).
        requests: Mean lengths, and the limits of a step and a batch.
        layout: Of shape (1,).
        policy: How it schedules; mixed steps by default.
        most_context_tokens: Longest context of the run; twice the mean by default.

    Returns:
        See `Engine`.
    """
    policy = policy or Policy()
    groups = float(attention_groups(layout)[0])
    prompt, output = float(requests.prompt_tokens[0]), float(requests.output_tokens[0])
    context = prompt + output / 2.0
    held = cache_tokens(server, layout, context_tokens=context)
    # Nobody can have more requests at once than tokens fit, so the table needs no more rows.
    sequences = int(max(1.0, min(float(requests.batch_sequences[0]) * groups, held)))
    costs, constants = server.costs(layout), server.constants
    step = float(requests.step_tokens[0]) * groups
    table = step_table(
        step_time(costs), most_sequences=sequences, most_prompt_tokens=step, mean_prompt_tokens=prompt,
        most_context_tokens=most_context_tokens or 2.0 * (prompt + output), groups=groups,
    )  # fmt: skip
    rate = policy.host_bytes_per_s
    swap = cache_token_bytes(server, layout, context_tokens=context) / rate if rate else 0.0
    return Engine(
        table=table, batch_sequences=sequences, step_tokens=step, cache_tokens=held, schedule=policy.schedule,
        chunked=policy.chunked, eviction=policy.eviction, swap_s_per_token=swap,
        prefix_caching=policy.prefix_caching, request_host_s=_one(constants.request_host_s),
        first_token_s=_one(constants.first_token_fixed_s),
        first_token_steps=_one(constants.first_token_decode_steps), tokens_per_step=_one(costs.tokens_per_step),
    )  # fmt: skip


def _one(values: Floats) -> float:
    return float(np.ravel(values)[0])
