"""Time of one serving iteration, and what a replica's memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import AllReduce, Link, all_reduce_time_s
from planner.performance.engine_reduce import EngineReduce
from planner.performance.models import (
    ModelShape,
    active_parameters,
    attention_flop_per_token,
    attention_weights,
    embedding_parameters,
    expert_parameters_per_layer,
    ffn_matrices,
    kv_cache_bytes,
    parameters,
    sparse_layers,
)
from planner.performance.roofline import ChipRates, smooth_maximum

ACTIVATION_BYTES: Final = 2.0
HEAD_BYTES: Final = 2.0
"""The output head stays in 16 bits."""
ATTENTION_GEMMS: Final = 2.0
FEED_FORWARD_GEMMS: Final = 2.0
EXPERT_VALUE_PASSES: Final = 8.0
"""Bytes moved for each permuted value of an expert's input and inner width."""


@dataclass(frozen=True, slots=True)
class ServingConstants:
    """Corrections of the serving model, all from the catalog; fields broadcast to shape (n,).

    The names are those of the figures in `catalog/assumptions/performance.yaml`, less their `serving_` and the chip,
    precision or engine that a figure there is for.
    """

    memory_share_fraction: Floats
    gemm_share_of_peak_fraction: Floats
    head_gemm_share_of_peak_fraction: Floats
    gemm_fixed_s: Floats
    expert_gemm_share_ratio: Floats
    expert_tile_tokens: Floats
    kv_share_ratio: Floats
    kv_fill_sequences: Floats
    prefill_attention_share_of_peak_fraction: Floats
    all_reduce_gain_ratio: Floats
    layer_fixed_s: Floats
    sparse_layer_fixed_s: Floats
    element_bytes_per_value: Floats
    expert_traffic_factor: Floats
    step_fixed_s: Floats
    sequence_fixed_s: Floats
    request_host_s: Floats
    first_token_fixed_s: Floats
    first_token_decode_steps: Floats
    reserved_bytes: Floats
    memory_use_fraction: Floats


@dataclass(frozen=True, slots=True)
class ServingFormat:
    """Bytes of one value in memory; fields broadcast to shape (n,)."""

    weight_bytes: Floats
    kv_bytes: Floats


@dataclass(frozen=True, slots=True)
class Layout:
    """How a replica is cut; fields broadcast to shape (n,).

    Attributes:
        replica_ranks: Accelerators of a replica; experts and dense feed-forwards spread over all of them.
        attention_ranks: Of these, the ones that share the attention of a sequence; fewer than the replica's means
            several attention groups with different sequences, each with a copy of the attention's weights.
    """

    replica_ranks: Floats
    attention_ranks: Floats


def attention_groups(layout: Layout) -> Floats:
    """Attention groups of a replica, shape (n,)."""
    return np.asarray(layout.replica_ranks / layout.attention_ranks)


@dataclass(frozen=True, slots=True)
class IterationParts:
    """Where one iteration's seconds go, shape (n,); their sum is the iteration."""

    linear_s: Floats
    experts_s: Floats
    kv_s: Floats
    prefill_attention_s: Floats
    collectives_s: Floats
    elementwise_s: Floats
    fixed_s: Floats
    head_s: Floats


def iteration_s(parts: IterationParts) -> Floats:
    """Sum of the parts, shape (n,).

    >>> iteration_s(IterationParts(*[np.array([1.0])] * 8))
    array([8.])
    """
    return (
        parts.linear_s
        + parts.experts_s
        + parts.kv_s
        + parts.prefill_attention_s
        + parts.collectives_s
        + parts.elementwise_s
        + parts.fixed_s
        + parts.head_s
    )


def touched_experts_fraction(*, experts: Floats, experts_per_token: Floats, tokens: Floats) -> Floats:
    """Share of the experts that a batch of tokens visits, routing even and independent.

    Args:
        experts, experts_per_token: Of a sparse layer; experts 1 or more.
        tokens: Tokens of the batch.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 item 2.

    >>> touched_experts_fraction(experts=np.array([4.0]), experts_per_token=np.array([1.0]), tokens=np.array([2.0]))
    array([0.4375])
    """
    return np.asarray(1.0 - (1.0 - experts_per_token / experts) ** tokens)


def _bound_s(weight_bytes: Floats, flop: Floats, memory_bytes_per_s: Floats, flop_per_s: Floats) -> Floats:
    return smooth_maximum(weight_bytes / memory_bytes_per_s, flop / flop_per_s)


def _experts_s(
    *,
    shape: ModelShape,
    chip: ChipRates,
    constants: ServingConstants,
    form: ServingFormat,
    tokens: Floats,
    ranks: Floats,
) -> Floats:
    """Routed experts of all sparse layers, spread evenly over the ranks."""
    experts = np.maximum(shape.experts, 1.0)
    touched = experts * touched_experts_fraction(
        experts=experts, experts_per_token=shape.experts_per_token, tokens=tokens
    )
    one = expert_parameters_per_layer(shape) / experts
    rows = tokens * shape.experts_per_token + touched * constants.expert_tile_tokens
    rate = chip.peak_flop_per_s * constants.gemm_share_of_peak_fraction * constants.expert_gemm_share_ratio
    layer = _bound_s(
        touched * one * form.weight_bytes / ranks,
        2.0 * rows * one / ranks,
        chip.memory_bytes_per_s * constants.memory_share_fraction,
        rate,
    )
    return sparse_layers(shape) * (layer + FEED_FORWARD_GEMMS * constants.gemm_fixed_s)


def _linear_s(
    *,
    shape: ModelShape,
    chip: ChipRates,
    constants: ServingConstants,
    form: ServingFormat,
    tokens: Floats,
    layout: Layout,
) -> Floats:
    """Attention projections, dense feed-forwards and shared experts of all layers."""
    memory = chip.memory_bytes_per_s * constants.memory_share_fraction
    rate = chip.peak_flop_per_s * constants.gemm_share_of_peak_fraction

    def bound(weights: Floats, rows: Floats, ranks: Floats) -> Floats:
        return _bound_s(weights * form.weight_bytes / ranks, 2.0 * rows * weights / ranks, memory, rate)

    per_ffn = ffn_matrices(shape) * shape.hidden
    shared = np.where(shape.shared_expert_ffn > 0.0, 1.0, 0.0)
    gemms = ATTENTION_GEMMS * shape.layers
    gemms = gemms + FEED_FORWARD_GEMMS * (shape.dense_layers + shared * sparse_layers(shape))
    attention = bound(attention_weights(shape), tokens / attention_groups(layout), layout.attention_ranks)
    return (
        shape.layers * attention
        + shape.dense_layers * bound(per_ffn * shape.ffn, tokens, layout.replica_ranks)
        + sparse_layers(shape) * bound(per_ffn * shape.shared_expert_ffn, tokens, layout.replica_ranks)
        + gemms * constants.gemm_fixed_s
    )


def _elementwise_s(
    shape: ModelShape, chip: ChipRates, constants: ServingConstants, tokens: Floats, ranks: Floats
) -> Floats:
    """Norms and residuals of every token, and the permuted activations of its experts."""
    plain = shape.layers * shape.hidden * constants.element_bytes_per_value
    permuted = (
        constants.expert_traffic_factor * EXPERT_VALUE_PASSES * (shape.hidden + shape.expert_ffn) / ranks
    )
    permuted = sparse_layers(shape) * shape.experts_per_token * permuted
    return tokens * (plain + permuted) / (chip.memory_bytes_per_s * constants.memory_share_fraction)


def iteration_parts(
    *,
    shape: ModelShape,
    chip: ChipRates,
    link: Link | EngineReduce,
    constants: ServingConstants,
    form: ServingFormat,
    layout: Layout,
    decode_sequences: Floats,
    context_tokens: Floats,
    prefill_tokens: Floats,
    prompt_tokens: Floats,
) -> IterationParts:
    """Time of one step in which some sequences decode and some prompt tokens are filled in, by part.

    Feed-forwards are tensor-parallel and routed experts expert-parallel over the replica, attention tensor-parallel
    over an attention group.

    Args:
        shape, chip, constants, form: Model, accelerator, corrections, and formats.
        link: Between the ranks of a replica: measured curves, or a link's figures.
        layout: Accelerators of the replica and of an attention group.
        decode_sequences: Sequences that decode one token each.
        context_tokens: Mean tokens in their caches.
        prefill_tokens: Prompt tokens of this step.
        prompt_tokens: Length of a whole prompt (attention sees half of it in the mean), 1 or more.

    Returns:
        Parts, of the shape that the arguments broadcast to.

    Source:
        planner-inference-notes, section 2.
    """
    ranks, groups = layout.replica_ranks, attention_groups(layout)
    tokens = decode_sequences + prefill_tokens
    memory = chip.memory_bytes_per_s * constants.memory_share_fraction
    cached = (
        decode_sequences
        / groups
        * kv_cache_bytes(
            shape,
            context_tokens=context_tokens,
            value_bytes=form.kv_bytes,
            tensor_ranks=layout.attention_ranks,
        )
    )
    # A few sequences don't fill the machine, so reading their caches takes longer than bytes over rate.
    unfilled = 1.0 + constants.kv_fill_sequences / np.maximum(decode_sequences, 1.0)
    unfilled = np.where(decode_sequences > 0.0, unfilled, 0.0)
    core = attention_flop_per_token(shape, sequence_tokens=prompt_tokens) * prefill_tokens / ranks

    def sync(rows: Floats, members: Floats) -> Floats:
        size = rows * shape.hidden * ACTIVATION_BYTES
        if isinstance(link, EngineReduce):
            return link.time_s(message_bytes=size, ranks=members)
        return all_reduce_time_s(
            message_bytes=size,
            ranks=members,
            link=link,
            algorithm=AllReduce.IN_NETWORK,
            gain_ratio=constants.all_reduce_gain_ratio,
        )

    experts: Floats = np.zeros(1)
    if np.any(shape.experts > 0.0):
        experts = _experts_s(
            shape=shape, chip=chip, constants=constants, form=form, tokens=tokens, ranks=ranks
        )
    # Only the last token of a prompt meets the head.
    sampled = decode_sequences + prefill_tokens / prompt_tokens
    head_weights = shape.vocab * shape.hidden / ranks
    fixed = shape.layers * constants.layer_fixed_s + sparse_layers(shape) * constants.sparse_layer_fixed_s
    return IterationParts(
        linear_s=_linear_s(
            shape=shape, chip=chip, constants=constants, form=form, tokens=tokens, layout=layout
        ),
        experts_s=experts,
        kv_s=cached * unfilled / (memory * constants.kv_share_ratio),
        prefill_attention_s=core
        / (chip.peak_16bit_flop_per_s * constants.prefill_attention_share_of_peak_fraction),
        collectives_s=shape.layers * (sync(tokens / groups, layout.attention_ranks) + sync(tokens, ranks)),
        elementwise_s=_elementwise_s(shape, chip, constants, tokens / groups, layout.attention_ranks),
        fixed_s=fixed + constants.step_fixed_s + constants.sequence_fixed_s * decode_sequences / groups,
        head_s=_bound_s(
            head_weights * HEAD_BYTES,
            2.0 * sampled * head_weights,
            memory,
            chip.peak_16bit_flop_per_s * constants.head_gemm_share_of_peak_fraction,
        )
        + constants.gemm_fixed_s,
    )


def weight_bytes_per_rank(shape: ModelShape, *, form: ServingFormat, layout: Layout) -> Floats:
    """Bytes of weights on one accelerator of a replica; embedding and head in 16 bits.

    >>> from planner.performance.models import model_shape
    >>> llama = model_shape(layers=80, hidden=8192, heads=64, kv_heads=8, vocab=128256, ffn=28672)
    >>> one = np.array([1.0])
    >>> weight_bytes_per_rank(llama, form=ServingFormat(one, one), layout=Layout(2.0 * one, 2.0 * one)).round(-7)
    array([3.633e+10])
    """
    vocabulary_parameters = embedding_parameters(shape) * (1.0 if shape.tied_embeddings else 2.0)
    attention = shape.layers * attention_weights(shape)
    spread = parameters(shape) - vocabulary_parameters - attention
    return (
        spread * form.weight_bytes + vocabulary_parameters * HEAD_BYTES
    ) / layout.replica_ranks + attention * form.weight_bytes / layout.attention_ranks


def cache_bytes_per_rank(
    shape: ModelShape,
    *,
    form: ServingFormat,
    layout: Layout,
    memory_bytes: Floats,
    constants: ServingConstants,
) -> Floats:
    """Memory left for caches on one accelerator, negative where not even the weights fit.

    Args:
        shape, form: Model and formats.
        layout: Accelerators of a replica and of an attention group.
        memory_bytes: Memory of one accelerator.
        constants: For the share that the engine uses and its reserve.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-inference-notes, section 5 item 9.
    """
    weights = weight_bytes_per_rank(shape, form=form, layout=layout)
    return memory_bytes * constants.memory_use_fraction - weights - constants.reserved_bytes


def batch_limit(
    shape: ModelShape,
    *,
    form: ServingFormat,
    layout: Layout,
    memory_bytes: Floats,
    sequence_tokens: Floats,
    constants: ServingConstants,
) -> Floats:
    """Sequences whose caches fit a replica at the given length, 0 where the weights don't fit.

    Args:
        sequence_tokens: Tokens that a sequence holds (prompt and output so far; its mean in a steady state).
        shape, form, layout, memory_bytes, constants: As for `cache_bytes_per_rank`.

    Returns:
        Whole numbers of shape (n,), or whatever the arguments broadcast to.
    """
    free = cache_bytes_per_rank(
        shape, form=form, layout=layout, memory_bytes=memory_bytes, constants=constants
    )
    each = kv_cache_bytes(
        shape, context_tokens=sequence_tokens, value_bytes=form.kv_bytes, tensor_ranks=layout.attention_ranks
    )
    return np.floor(np.maximum(free, 0.0) / each) * attention_groups(layout)


def serving_flop_per_output_token(
    shape: ModelShape, *, prompt_tokens: Floats, output_tokens: Floats
) -> Floats:
    """Model FLOP for each output token, its share of the prompt included.

    Args:
        shape: The model.
        prompt_tokens, output_tokens: Lengths of a request.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.
    """
    total = prompt_tokens + output_tokens
    linear = 2.0 * (active_parameters(shape) - embedding_parameters(shape))
    return (linear + attention_flop_per_token(shape, sequence_tokens=total)) * total / output_tokens
