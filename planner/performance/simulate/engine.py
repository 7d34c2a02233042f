"""What a simulated replica is told: step times, scheduler, memory for caches."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from planner.performance.simulate.steps import StepTable


class Schedule(StrEnum):
    """What goes into a step."""

    MIXED = "mixed"
    """Every decode, and prompt tokens up to the budget beside them."""
    PREFILL_FIRST = "prefill-first"
    """Prompts alone while some wait and fit; decodes stall meanwhile."""


class Eviction(StrEnum):
    """What happens when caches outgrow the memory."""

    RESERVE = "reserve"
    """It can't happen: a request is let in when its whole answer fits."""
    RECOMPUTE = "recompute"
    """The youngest request of the lowest class leaves, and computes its tokens anew later."""
    SWAP = "swap"
    """The same, but its cache goes to the host and comes back."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A replica's settings; counts are of the whole replica, all its attention groups together.

    Attributes:
        table: Iteration times.
        batch_sequences: Requests in prefill or decode at most.
        step_tokens: Tokens of a step at most, decodes included.
        cache_tokens: Tokens whose caches fit.
        block_tokens: Tokens of a cache block; a request's last block counts as full.
        schedule: What goes into a step.
        chunked: Whether a prompt may be split over steps.
        eviction: What happens when caches outgrow the memory.
        swap_s_per_token: Time of moving a token's cache to the host or back.
        prefix_caching: Whether shared prefixes stay in the cache.
        request_host_s: Host time of a request, in the step that takes it in.
        first_token_s: Front end's constant before the first token is seen.
        first_token_steps: Decode steps before the first token is seen.
        tokens_per_step: Tokens that a decode step yields for a request, above 1 with speculation.
    """

    table: StepTable
    batch_sequences: int
    step_tokens: float
    cache_tokens: float
    block_tokens: int = 16
    schedule: Schedule = Schedule.MIXED
    chunked: bool = True
    eviction: Eviction = Eviction.RECOMPUTE
    swap_s_per_token: float = 0.0
    prefix_caching: bool = False
    request_host_s: float = 0.0
    first_token_s: float = 0.0
    first_token_steps: float = 0.0
    tokens_per_step: float = 1.0


def slower_engine(engine: Engine, ratio: float) -> Engine:
    """An engine whose every step and fixed time takes so many times as long, as measured runs correct a model.

    Args:
        engine: As the model has it.
        ratio: Measured over predicted time.
    """
    return replace(
        engine, table=engine.table.slower(ratio), swap_s_per_token=engine.swap_s_per_token * ratio,
        request_host_s=engine.request_host_s * ratio, first_token_s=engine.first_token_s * ratio,
    )  # fmt: skip


def decode_steps(engine: Engine, output_tokens: float) -> int:
    """Steps after the one that ends the prompt and yields the first token.

    Args:
        engine: For the tokens of a step.
        output_tokens: Of the answer.
    """
    return max(0, math.ceil((output_tokens - 1.0) / engine.tokens_per_step - 1e-9))


def request_tokens(engine: Engine, prompt_tokens: float, output_tokens: float) -> float:
    """Tokens of cache that a request holds at its end, its last block full."""
    return prompt_tokens + output_tokens + engine.block_tokens - 1.0
