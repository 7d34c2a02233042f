"""Time of one serving step: what a replica's steps cost is worked out once, then many steps are evaluated.

Every term that depends on the batch is linear in tokens, sequences or bytes, a root of two squares, or a look-up, so a
step takes some eighty array operations whatever the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.collectives import Link
from planner.performance.engine_reduce import EngineReduce, SpanningReduce
from planner.performance.inference import Layout, ServingConstants, ServingFormat
from planner.performance.models import ModelShape
from planner.performance.roofline import ChipRates
from planner.performance.serving_costs import Experts, StepCosts, costs_over_tables
from planner.performance.serving_reduce import reduce_tables
from planner.performance.serving_speculation import NO_SPECULATION, Speculation

__all__ = ["IterationParts", "StepCosts", "iteration_parts", "iteration_s", "step_costs"]


@dataclass(frozen=True, slots=True)
class IterationParts:
    """Where one step's seconds go, shape (n,); their sum is the step."""

    linear_s: Floats
    experts_s: Floats
    kv_s: Floats
    prefill_attention_s: Floats
    collectives_s: Floats
    elementwise_s: Floats
    fixed_s: Floats
    head_s: Floats
    draft_s: Floats

    @property
    def total_s(self) -> Floats:
        """The step."""
        return (
            self.linear_s + self.experts_s + self.kv_s + self.prefill_attention_s + self.collectives_s
            + self.elementwise_s + self.fixed_s + self.head_s + self.draft_s
        )  # fmt: skip


def step_costs(
    *,
    shape: ModelShape,
    chip: ChipRates,
    link: Link | EngineReduce | SpanningReduce,
    constants: ServingConstants,
    form: ServingFormat,
    layout: Layout,
    speculation: Speculation = NO_SPECULATION,
) -> StepCosts:
    """Costs of a replica's steps.

    Feed-forwards are tensor-parallel over the replica, routed experts dealt out or split over it, attention
    tensor-parallel over an attention group.

    Args:
        shape, constants, form: Model, corrections, and formats.
        chip: Accelerator; its rates are in the corrections already.
        link: Between the ranks of a replica: measured curves, or a link's figures.
        layout: Accelerators of the replica and of an attention group.
        speculation: Draft tokens and their acceptance; none by default.

    Returns:
        Arrays of the shapes that the arguments broadcast to.

    Source:
        planner-inference-notes, section 2; popularity of experts, norms on queries and keys, products of latent
        attention and the busiest rank of expert parallelism come on top, see `catalog/assumptions/serving.yaml`.
    """
    del chip
    ranks, own = np.atleast_1d(layout.replica_ranks), np.atleast_1d(layout.attention_ranks)
    members, place = np.unique(np.concatenate([own, ranks]), return_inverse=True)
    tables, draws = reduce_tables(link, ranks=members, gain_ratio=constants.all_reduce_gain_ratio)
    draw: NDArray[np.intp] = np.arange(draws)
    return costs_over_tables(
        shape=shape, constants=constants, form=form, layout=layout, reduces=tables,
        sets=(place[: own.size] * draws + draw, place[own.size :] * draws + draw),
        link_ratio=np.ones(1) if isinstance(link, Link) else link.ratio, speculation=speculation,
    )  # fmt: skip


def iteration_s(
    costs: StepCosts,
    *,
    decode_sequences: Floats,
    context_tokens: Floats,
    prefill_tokens: Floats,
    seen_tokens: Floats,
    prompts: Floats,
) -> Floats:
    """Time of one step, of the shape that the arguments broadcast to; see `iteration_parts`."""
    return iteration_parts(
        costs, decode_sequences=decode_sequences, context_tokens=context_tokens, prefill_tokens=prefill_tokens,
        seen_tokens=seen_tokens, prompts=prompts,
    ).total_s  # fmt: skip


def iteration_parts(
    costs: StepCosts,
    *,
    decode_sequences: Floats,
    context_tokens: Floats,
    prefill_tokens: Floats,
    seen_tokens: Floats,
    prompts: Floats,
) -> IterationParts:
    """Time of one step in which some sequences decode and some prompt tokens are filled in, by part.

    Args:
        costs: Of the replica.
        decode_sequences: Sequences of the replica that decode.
        context_tokens: Mean tokens in their caches.
        prefill_tokens: Prompt tokens of this step. A prompt is filled in by one attention group.
        seen_tokens: Mean tokens that one of them attends to: half of a whole prompt; of a later chunk the tokens
            before it and half of its own.
        prompts: Prompts that they belong to.

    Returns:
        Parts, of the shape that the arguments broadcast to. With a pipeline: of a whole round of its stages.

    Source:
        planner-inference-notes, section 2.
    """
    c = costs
    # Each of a pipeline's stages works on another share of the batch, so a round is that share through all layers.
    decodes, filled = decode_sequences / c.stages, prefill_tokens / c.stages
    checked = decodes * c.checked_tokens
    tokens = checked + filled
    here = checked / c.groups + filled / np.clip(prompts, 1.0, c.groups)
    mine = decodes / c.groups
    caches = (mine + c.fill_sequences) * (mine > 0.0)
    held = c.cached_s * context_tokens + c.cached_window_s * np.minimum(context_tokens, c.window_tokens)
    seen = c.seen_s * seen_tokens + c.seen_window_s * np.minimum(seen_tokens, c.window_tokens)
    size = here * c.reduce_bytes
    exchange = c.reduces.time_s(message_bytes=size, group=c.attention_set)
    exchange = exchange + c.reduces.time_s(message_bytes=tokens * c.reduce_bytes, group=c.replica_set)
    if np.any(c.norm_bytes):
        sums = c.reduces.time_s(message_bytes=here * c.norm_bytes, group=c.attention_set)
        exchange = exchange + np.where(c.norm_bytes > 0.0, sums, 0.0)
    parts = IterationParts(
        linear_s=c.attention.time_s(here) + c.feed_forward.time_s(tokens) + c.shared.time_s(tokens),
        experts_s=np.zeros(1) if c.experts is None else experts_s(c.experts, tokens),
        kv_s=caches * held,
        prefill_attention_s=seen * filled / np.clip(prompts, 1.0, c.groups),
        collectives_s=exchange * c.reduce_ratio,
        elementwise_s=c.token_s * here + c.replica_token_s * tokens,
        fixed_s=c.step_s + c.sequence_s * mine + c.replica_sequence_s * decodes,
        # Only the last token of a prompt meets the head.
        head_s=c.head.time_s(checked + prompts / c.stages),
        draft_s=np.zeros(1),
    )
    if np.any(c.draft_ratio > 1.0):
        return replace(parts, draft_s=(c.draft_ratio - 1.0) * parts.total_s * (decodes > 0.0))
    return parts


def experts_s(costs: Experts, tokens: Floats) -> Floats:
    """Routed experts of all sparse layers, shape (n,).

    Tokens choose experts independently; popularity varies between experts as a gamma distribution does, so a batch
    touches fewer than if all were alike. Where whole experts are dealt out, the rank with the most of them waits
    longest.

    Args:
        costs: Of the replica.
        tokens: Tokens of the step.

    Source:
        planner-inference-notes, section 2 item 2 (coverage); negative binomial count of visits for the popularity.

    >>> one = np.ones(1)
    >>> from planner.performance.serving_costs import Product
    >>> alike = Experts(Product(one, 0.0 * one, 0.0 * one), 4.0 * one, one, -np.log(0.75) * one, 1e-6 * one,
    ...     4.0 * one, one, 0.0 * one, 0.0 * one)
    >>> experts_s(alike, 2.0 * one).round(4)
    array([1.75])
    """
    c = costs
    missed = np.exp(-np.log1p(c.skew * c.visit * tokens) / c.skew)
    touched = c.experts * (1.0 - missed)
    mean = np.maximum(touched / c.ranks, 1e-9)
    busiest = np.minimum(c.own, mean + c.spread * np.sqrt(mean * missed))
    read = c.product.weights_s * touched * (busiest / mean)
    rows = c.product.row_s * (tokens * c.per_token + touched * c.tile_rows)
    return np.asarray(np.sqrt(read * read + rows * rows) + c.product.fixed_s)
