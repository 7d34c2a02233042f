"""What a serving replica is: corrections, formats, layout; and what its memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.models import (
    ModelShape,
    active_parameters,
    attention_flop_per_token,
    attention_weights,
    embedding_parameters,
    expert_parameters_per_layer,
    kv_cache_bytes,
    parameters,
    sparse_layers,
)

HEAD_BYTES: Final = 2.0
"""The output head stays in 16 bits."""
WORKSPACE_HIDDEN_BYTES: Final = 9.0
"""Bytes of each value of a routed row: gathered in 16 bits, brought to 8, put out in 16 and added up in 32."""
WORKSPACE_INNER_BYTES: Final = 7.0
"""Bytes of each inner value of an expert: gate and up in 16 bits each, their product in 16 and in 8."""
STEP_TOKENS: Final = 8192.0
"""Prompt tokens that an attention group takes into one step at most, as engines come."""


@dataclass(frozen=True, slots=True)
class GemmRates:
    """What matrix products of one format sustain; fields broadcast to shape (n,).

    Attributes:
        memory_bytes_per_s: Rate at which weights are read.
        flop_per_s: Rate of large products.
        fixed_s: Time of a product that moves nothing, as much of it as serving doesn't hide.
    """

    memory_bytes_per_s: Floats
    flop_per_s: Floats
    fixed_s: Floats


@dataclass(frozen=True, slots=True)
class ServingConstants:
    """Corrections of the serving model on one machine and engine; fields broadcast to shape (n,).

    They come from `catalog/assumptions/serving.yaml`, see `serving_engines.serving_constants`.

    Attributes:
        attention_gemm, feed_forward_gemm, expert_gemm, head_gemm: Rates of each part's products.
        expert_tile_tokens: Rows by which a touched expert's product is padded, in the mean.
        expert_skew: Squared variation of the experts' popularity; towards 0 all are alike.
        expert_imbalance_ratio: How much of the spread between ranks the busiest rank of expert parallelism has.
        kv_bytes_per_s, kv_flop_per_s: Rates of attention over caches.
        kv_fill_sequences: Sequences at which half of that rate is reached.
        prefill_flop_per_s: Rate of attention over prompts.
        all_reduce_ratio: Time of all-reduces in a step over their own; gain: of reduction in the switch, for links
            without a measured kernel.
        layer_fixed_s, sparse_layer_fixed_s, query_key_norm_s: Once a layer, a sparse one more, and one with norms on
            queries and keys.
        element_bytes_per_value, expert_traffic_factor, traffic_bytes_per_s: Traffic beside matrix products.
        step_fixed_s: Once a step; sequence_fixed_s: for each sequence on its rank; replica_sequence_fixed_s: for each
            of the whole replica.
        request_host_s: Host time of a request in the step that takes it in.
        first_token_fixed_s, first_token_decode_steps: Before the client sees a first token.
        lockstep_fraction: Share of the others' prefills that a closed loop's requests wait for before their first
            token; the rest stalls their decoding.
        offline_sequence_ratio: Of the time for each sequence, what stays where nobody is streamed to.
        memory_use_fraction, reserved_bytes, memory_of_free_fraction: The engine's rule for caches.
    """

    attention_gemm: GemmRates
    feed_forward_gemm: GemmRates
    expert_gemm: GemmRates
    head_gemm: GemmRates
    expert_tile_tokens: Floats
    expert_skew: Floats
    expert_imbalance_ratio: Floats
    kv_bytes_per_s: Floats
    kv_flop_per_s: Floats
    kv_fill_sequences: Floats
    prefill_flop_per_s: Floats
    all_reduce_ratio: Floats
    all_reduce_gain_ratio: Floats
    layer_fixed_s: Floats
    sparse_layer_fixed_s: Floats
    query_key_norm_s: Floats
    element_bytes_per_value: Floats
    expert_traffic_factor: Floats
    traffic_bytes_per_s: Floats
    step_fixed_s: Floats
    sequence_fixed_s: Floats
    replica_sequence_fixed_s: Floats
    request_host_s: Floats
    first_token_fixed_s: Floats
    first_token_decode_steps: Floats
    lockstep_fraction: Floats
    offline_sequence_ratio: Floats
    memory_use_fraction: Floats
    reserved_bytes: Floats
    memory_of_free_fraction: Floats


@dataclass(frozen=True, slots=True)
class ServingFormat:
    """Bytes of one value in memory; fields broadcast to shape (n,).

    Attributes:
        weight_bytes: Of feed-forwards that every token visits, and of all that isn't named below.
        kv_bytes: Of cached keys and values.
        attention_bytes, expert_bytes: Of attention's projections and of routed experts; as `weight_bytes` where None.
    """

    weight_bytes: Floats
    kv_bytes: Floats
    attention_bytes: Floats | None = None
    expert_bytes: Floats | None = None

    @property
    def attention(self) -> Floats:
        """Bytes of a weight of attention's projections."""
        return self.weight_bytes if self.attention_bytes is None else self.attention_bytes

    @property
    def experts(self) -> Floats:
        """Bytes of a weight of a routed expert."""
        return self.weight_bytes if self.expert_bytes is None else self.expert_bytes


@dataclass(frozen=True, slots=True)
class Layout:
    """How a replica is cut; fields broadcast to shape (n,).

    Attributes:
        replica_ranks: Accelerators of a pipeline stage, which are all of the replica without a pipeline; experts and
            dense feed-forwards spread over all of them.
        attention_ranks: Of these, the ones that share the attention of a sequence; fewer than the replica's means
            several attention groups with different sequences, each with a copy of the attention's weights.
        expert_ranks: Of the replica's, the ones over which whole experts are dealt out; the rest splits each expert.
            All of them where None.
        pipeline_ranks: Stages, 1 where None.
    """

    replica_ranks: Floats
    attention_ranks: Floats
    expert_ranks: Floats | None = None
    pipeline_ranks: Floats | None = None

    @property
    def experts(self) -> Floats:
        """Ranks over which experts are dealt out."""
        return self.replica_ranks if self.expert_ranks is None else self.expert_ranks

    @property
    def stages(self) -> Floats:
        """Stages of the pipeline."""
        return np.ones(1) if self.pipeline_ranks is None else self.pipeline_ranks

    @property
    def gpus(self) -> Floats:
        """All accelerators of a replica."""
        return np.asarray(self.replica_ranks * self.stages)


def attention_groups(layout: Layout) -> Floats:
    """Attention groups of a replica, shape (n,)."""
    return np.asarray(layout.replica_ranks / layout.attention_ranks)


def weight_bytes_per_rank(shape: ModelShape, *, form: ServingFormat, layout: Layout) -> Floats:
    """Bytes of weights on one accelerator of a replica; embedding and head in 16 bits.

    >>> from planner.performance.models import model_shape
    >>> llama = model_shape(layers=80, hidden=8192, heads=64, kv_heads=8, vocab=128256, ffn=28672)
    >>> one = np.array([1.0])
    >>> weight_bytes_per_rank(llama, form=ServingFormat(one, one), layout=Layout(2.0 * one, 2.0 * one)).round(-7)
    array([3.633e+10])
    """
    vocabulary = embedding_parameters(shape) * (1.0 if shape.tied_embeddings else 2.0)
    attention = shape.layers * attention_weights(shape)
    experts = sparse_layers(shape) * expert_parameters_per_layer(shape)
    others = parameters(shape) - vocabulary - attention - experts
    spread = others * form.weight_bytes + experts * form.experts + vocabulary * HEAD_BYTES
    held = spread / layout.replica_ranks + attention * form.attention / layout.attention_ranks
    return np.asarray(held / layout.stages)


def workspace_bytes_per_rank(shape: ModelShape, *, layout: Layout) -> Floats:
    """Memory that an engine keeps free for the routed rows of its largest step.

    Every token of every attention group may go to experts of one rank, so the room doesn't shrink with expert ranks:
    some 25 GB with eight attention groups. Offline runs of Qwen3-235B on eight H100 show caches of 9 to 13 GB a GPU
    where 40 GB would be free without it; on H200 and B200 there is room enough either way.

    >>> from planner.performance.models import model_shape
    >>> moe = model_shape(layers=94, hidden=4096, heads=64, vocab=1, experts=128, experts_per_token=8, expert_ffn=1536)
    >>> eight = Layout(np.array([8.0]), np.array([1.0]))
    >>> (workspace_bytes_per_rank(moe, layout=eight) / 1e9).round(2)
    array([24.96])
    """
    rows = attention_groups(layout) * STEP_TOKENS * shape.experts_per_token
    each = WORKSPACE_HIDDEN_BYTES * shape.hidden + WORKSPACE_INNER_BYTES * shape.expert_ffn
    return np.where(shape.experts > 0.0, rows * each, 0.0)


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
    room = memory_bytes * constants.memory_use_fraction - weights - constants.reserved_bytes
    return (room - workspace_bytes_per_rank(shape, layout=layout)) * constants.memory_of_free_fraction


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
    return np.floor(np.maximum(free, 0.0) / (each / layout.stages)) * attention_groups(layout)


def serving_flop_per_output_token(
    shape: ModelShape, *, prompt_tokens: Floats, output_tokens: Floats, found_tokens: Floats | None = None
) -> Floats:
    """Model FLOP for each output token, its share of the prompt included.

    Args:
        shape: The model.
        prompt_tokens, output_tokens: Lengths of a request.
        found_tokens: Of the prompt, tokens at its beginning that a cache has already and nobody computes; none by default.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.
    """
    total = prompt_tokens + output_tokens
    linear = 2.0 * (active_parameters(shape) - embedding_parameters(shape))
    flop = (linear + attention_flop_per_token(shape, sequence_tokens=total)) * total
    if found_tokens is not None:
        # a sequence of no token has no mean span
        one = np.maximum(found_tokens, 1.0)
        saved = (linear + attention_flop_per_token(shape, sequence_tokens=one)) * found_tokens
        flop = flop - np.where(found_tokens > 0.0, saved, 0.0)
    return flop / output_tokens
