"""Time of one transformer layer for one microbatch on one rank, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import (
    Collective,
    Link,
    all_to_all_time_s,
    once_per_domain_ratio,
    ring_time_s,
)
from planner.performance.models import (
    ModelShape,
    attention_flop_per_token,
    ffn_matrices,
    kv_values_per_layer,
    sparse_layers,
)
from planner.performance.parallelism import (
    Plan,
    expert_parameters_per_rank,
    microbatch_tokens,
    microbatches,
    shared_parameters_per_rank,
    slot_layers,
)
from planner.performance.roofline import (
    ChipRates,
    attention_time_s,
    gemm_time_s,
    memory_bound_time_s,
    smooth_maximum,
)

ACTIVATION_BYTES: Final = 2.0
"""Activations travel and rest in 16 bits."""
NORM_PASSES: Final = 10.0
"""16-bit reads and writes of the residual stream: two norms (4) and two residual additions (6)."""
GEMMS_PER_STEP: Final = 3.0
"""Forward, gradient of the input, gradient of the weights."""
TENSOR_COLLECTIVES: Final = 4.0
"""Gathers and scatters of one layer in each direction, two around attention and two around the feed-forward."""


@dataclass(frozen=True, slots=True)
class Links:
    """The network as one rank sees it; fields broadcast to shape (n,).

    Attributes:
        inside: Link in the scale-up domain.
        outside: Link out of it, for rings and neighbours.
        outside_all_to_all: Link out of it under all-to-all traffic, which crosses more spines.
        domain_ranks: Accelerators of a scale-up domain.
        node_ranks: Accelerators of a node (for the count of hosts that may straggle).
        rail_only_overhead_fraction: See `collectives.all_to_all_time_s`; 0 with a spine.
    """

    inside: Link
    outside: Link
    outside_all_to_all: Link
    domain_ranks: Floats
    node_ranks: Floats
    rail_only_overhead_fraction: Floats


@dataclass(frozen=True, slots=True)
class TrainingConstants:
    """Corrections of the training model, all from the catalog; fields broadcast to shape (n,).

    The names are those of the figures in `catalog/assumptions/performance.yaml`, less the chip, precision or
    software class that a figure there is for.
    """

    gemm_share_of_peak_fraction: Floats
    gemm_shape_constant: Floats
    head_gemm_share_of_peak_fraction: Floats
    head_gemm_shape_constant: Floats
    gemm_element_bytes: Floats
    attention_share_of_peak_fraction: Floats
    attention_sequence_constant_tokens: Floats
    attention_full_rate_head_dim: Floats
    attention_head_dim_exponent: Floats
    attention_backward_flop_ratio: Floats
    attention_backward_rate_fraction: Floats
    memory_share_fraction: Floats
    memory_traffic_factor: Floats
    memory_backward_ratio: Floats
    cast_bytes_per_element: Floats
    gradient_traffic_bytes_per_parameter: Floats
    logit_traffic_bytes_per_entry: Floats
    layer_fixed_s: Floats
    tensor_overlap_fraction: Floats
    data_overlap_fraction: Floats
    data_overlap_slowdown_fraction: Floats
    pipeline_exposed_fraction: Floats
    pipeline_interleaved_exposed_ratio: Floats
    expert_transfer_efficiency_fraction: Floats
    expert_exposed_fraction: Floats
    expert_once_per_domain_fraction: Floats
    grouped_gemm_share_ratio: Floats
    permute_passes: Floats
    sparse_layer_host_s: Floats
    sharded_hiding_fraction: Floats
    sharded_slowdown_fraction: Floats
    optimiser_bytes_per_parameter: Floats
    step_fixed_s: Floats
    straggler_fraction_per_doubling: Floats


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """Parts of the mean layer's time for one microbatch on one rank, seconds, shape (n,).

    `host_s` is what a host that can't keep up adds to the others.
    """

    forward_s: Floats
    backward_s: Floats
    recompute_s: Floats
    tensor_exposed_s: Floats
    expert_exposed_s: Floats
    context_exposed_s: Floats
    host_s: Floats


def tier(links: Links, *, within: Floats) -> Link:
    """The inside link where `within` ranks fit the domain, else the outside one."""
    fits = within <= links.domain_ranks
    near, far = links.inside, links.outside
    return Link(
        np.where(fits, near.bytes_per_s, far.bytes_per_s),
        np.where(fits, near.start_s, far.start_s),
        np.where(fits, near.hop_s, far.hop_s),
        np.where(fits, near.half_rate_bytes, far.half_rate_bytes),
    )


def _gemm_s(
    *, m: Floats, n: Floats, k: Floats, chip: ChipRates, constants: TrainingConstants, share: Floats
) -> Floats:
    return gemm_time_s(
        m=m,
        n=n,
        k=k,
        peak_flop_per_s=chip.peak_flop_per_s,
        share_of_peak_fraction=share,
        shape_constant=constants.gemm_shape_constant,
        memory_bytes_per_s=chip.memory_bytes_per_s * constants.memory_share_fraction,
        element_bytes=constants.gemm_element_bytes,
    )


def _attention_linear_s(
    shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants
) -> Floats:
    """Forward time of the projections around attention."""
    m, share, ranks = microbatch_tokens(plan), constants.gemm_share_of_peak_fraction, plan.tensor_ranks
    queries, values = shape.heads * shape.head_dim, shape.heads * shape.value_head_dim
    out = _gemm_s(m=m, n=shape.hidden, k=values / ranks, chip=chip, constants=constants, share=share)
    if not shape.latent:
        qkv = queries + shape.kv_heads * (shape.head_dim + shape.value_head_dim)
        return out + _gemm_s(m=m, n=qkv / ranks, k=shape.hidden, chip=chip, constants=constants, share=share)
    down = shape.query_rank + shape.kv_rank + shape.rope_dim
    query_width = np.where(shape.query_rank > 0.0, shape.query_rank, shape.hidden)
    key_value = shape.heads * (shape.head_dim - shape.rope_dim + shape.value_head_dim)
    return (
        out
        + _gemm_s(m=m, n=down, k=shape.hidden, chip=chip, constants=constants, share=share)
        + _gemm_s(m=m, n=queries / ranks, k=query_width, chip=chip, constants=constants, share=share)
        + _gemm_s(m=m, n=key_value / ranks, k=shape.kv_rank, chip=chip, constants=constants, share=share)
    )


def _feed_forward_s(
    *,
    shape: ModelShape,
    chip: ChipRates,
    constants: TrainingConstants,
    m: Floats,
    width: Floats,
    share: Floats,
) -> Floats:
    """Forward time of one feed-forward of the given inner width per rank."""
    up = _gemm_s(
        m=m,
        n=(ffn_matrices(shape) - 1.0) * width,
        k=shape.hidden,
        chip=chip,
        constants=constants,
        share=share,
    )
    return up + _gemm_s(m=m, n=shape.hidden, k=width, chip=chip, constants=constants, share=share)


def expert_split(plan: Plan) -> Floats:
    """Ranks of a tensor group that route different tokens, shape (n,)."""
    return np.maximum(plan.tensor_ranks / plan.expert_tensor_ranks, 1.0)


def _experts_s(shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants) -> Floats:
    """Forward time of a sparse layer's routed and shared experts, balanced."""
    m, share = microbatch_tokens(plan), constants.gemm_share_of_peak_fraction
    experts = np.maximum(shape.experts, 1.0)
    local = experts / plan.expert_ranks
    rows = np.maximum(m * shape.experts_per_token / (local * expert_split(plan)), 1.0)
    width = np.maximum(shape.expert_ffn, 1.0) / plan.expert_tensor_ranks
    routed = local * _feed_forward_s(
        shape=shape,
        chip=chip,
        constants=constants,
        m=rows,
        width=width,
        share=share * constants.grouped_gemm_share_ratio,
    )
    shared_width = np.maximum(shape.shared_expert_ffn, 1.0) / plan.tensor_ranks
    shared = _feed_forward_s(
        shape=shape, chip=chip, constants=constants, m=m, width=shared_width, share=share
    )
    return routed + np.where(shape.shared_expert_ffn > 0.0, shared, 0.0)


def attention_core_s(shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants) -> Floats:
    """Forward time of the mean layer's attention core on one rank, shape (n,)."""
    flop = attention_flop_per_token(shape, sequence_tokens=plan.sequence_tokens) / shape.layers
    return attention_time_s(
        attention_flop=flop * microbatch_tokens(plan) / plan.tensor_ranks,
        sequence_tokens=plan.sequence_tokens,
        head_dim=(shape.head_dim + shape.value_head_dim) / 2.0,
        peak_16bit_flop_per_s=chip.peak_16bit_flop_per_s,
        share_of_peak_fraction=constants.attention_share_of_peak_fraction,
        sequence_constant_tokens=constants.attention_sequence_constant_tokens,
        full_rate_head_dim=constants.attention_full_rate_head_dim,
        head_dim_exponent=constants.attention_head_dim_exponent,
    )


def _memory_bound_bytes(
    shape: ModelShape, plan: Plan, constants: TrainingConstants, sparse_fraction: Floats
) -> Floats:
    """Bytes that norms, rotation, activation and permutation move forward in the mean layer."""
    split, glu_passes = plan.tensor_ranks, ffn_matrices(shape)
    rotated = 2.0 * (shape.heads + shape.kv_heads) * shape.head_dim
    inner = glu_passes * shape.ffn * (1.0 - sparse_fraction)
    expert_inner = glu_passes * (shape.experts_per_token * shape.expert_ffn + shape.shared_expert_ffn)
    permuted = constants.permute_passes * shape.experts_per_token * shape.hidden / expert_split(plan)
    elements = (NORM_PASSES * shape.hidden + rotated + inner) / split
    elements = elements + sparse_fraction * (expert_inner / split + permuted)
    return microbatch_tokens(plan) * elements * ACTIVATION_BYTES * constants.memory_traffic_factor


def _once_per_layer_s(
    shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants, sparse_fraction: Floats
) -> Floats:
    """Casting to narrow formats, adding up gradients, and gaps between kernels."""
    active_ffn = (1.0 - sparse_fraction) * shape.ffn + sparse_fraction * (
        shape.experts_per_token * shape.expert_ffn + shape.shared_expert_ffn
    )
    inputs = 2.0 * shape.hidden + (shape.heads * shape.value_head_dim + active_ffn) / plan.tensor_ranks
    cast = microbatch_tokens(plan) * inputs * constants.cast_bytes_per_element
    held = shared_parameters_per_rank(shape, plan) + expert_parameters_per_rank(shape, plan)
    accumulating = np.where(microbatches(plan) > 1.0, 1.0, 0.5)
    gradients = (
        held / slot_layers(shape, plan) * constants.gradient_traffic_bytes_per_parameter * accumulating
    )
    moved = memory_bound_time_s(
        traffic_bytes=cast + gradients,
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    return moved + constants.layer_fixed_s


def _tensor_exposed_s(shape: ModelShape, plan: Plan, links: Links, constants: TrainingConstants) -> Floats:
    """Exposed time of one direction's gathers and scatters over the tensor ranks."""
    once = ring_time_s(
        Collective.ALL_GATHER,
        message_bytes=microbatch_tokens(plan) * shape.hidden * ACTIVATION_BYTES,
        ranks=plan.tensor_ranks,
        link=tier(links, within=plan.tensor_ranks),
    )
    return TENSOR_COLLECTIVES * once * (1.0 - constants.tensor_overlap_fraction)


def _expert_exposed_s(shape: ModelShape, plan: Plan, links: Links, constants: TrainingConstants) -> Floats:
    """Exposed time of one direction's dispatch and combine of a sparse layer."""
    sent = microbatch_tokens(plan) * shape.experts_per_token * shape.hidden * ACTIVATION_BYTES
    near = np.maximum(links.domain_ranks / plan.expert_tensor_ranks, 1.0)
    merged = once_per_domain_ratio(
        ranks=plan.expert_ranks, ranks_per_domain=near, copies=shape.experts_per_token
    )
    once = all_to_all_time_s(
        message_bytes=sent / expert_split(plan),
        ranks=plan.expert_ranks,
        ranks_per_domain=near,
        inside=links.inside,
        outside=links.outside_all_to_all,
        rail_only_overhead_fraction=links.rail_only_overhead_fraction,
        outside_bytes_ratio=1.0 - constants.expert_once_per_domain_fraction * (1.0 - merged),
    )
    return 2.0 * once / constants.expert_transfer_efficiency_fraction * constants.expert_exposed_fraction


def _context_exposed_s(
    shape: ModelShape, plan: Plan, links: Links, forward_core: Floats, backward_core: Floats
) -> Floats:
    """Time of passing keys and values round the context ranks that attention doesn't cover."""
    link = tier(links, within=plan.tensor_ranks * plan.context_ranks)
    split = np.minimum(plan.tensor_ranks, shape.kv_heads)
    block = microbatch_tokens(plan) * kv_values_per_layer(shape) * ACTIVATION_BYTES / split
    once = ring_time_s(
        Collective.ALL_GATHER, message_bytes=block * plan.context_ranks, ranks=plan.context_ranks, link=link
    )
    return np.maximum(once - forward_core, 0.0) + np.maximum(2.0 * once - backward_core, 0.0)


def layer_times(
    shape: ModelShape, plan: Plan, chip: ChipRates, links: Links, constants: TrainingConstants
) -> LayerTimes:
    """Parts of the mean layer's time for one microbatch on one rank.

    Dense and sparse layers are averaged by their number. Experts are balanced and sequence parallelism is on.

    Args:
        shape, plan, chip, links, constants: Model, layout, accelerator, network, corrections.

    Returns:
        Parts of shape (n,), see `LayerTimes`.

    Source:
        planner-training-notes, section 2 items 1 to 11.
    """
    core = attention_core_s(shape, plan, chip, constants)
    core_back = core * constants.attention_backward_flop_ratio / constants.attention_backward_rate_fraction
    linear = _attention_linear_s(shape, plan, chip, constants)
    sparse_fraction = sparse_layers(shape) / shape.layers
    expert_once = np.zeros(1)
    if np.any(shape.dense_layers > 0.0):
        dense = _feed_forward_s(
            shape=shape,
            chip=chip,
            constants=constants,
            m=microbatch_tokens(plan),
            width=np.maximum(shape.ffn, 1.0) / plan.tensor_ranks,
            share=constants.gemm_share_of_peak_fraction,
        )
        linear = linear + (1.0 - sparse_fraction) * dense
    if np.any(shape.experts > 0.0):
        linear = linear + sparse_fraction * _experts_s(shape, plan, chip, constants)
        expert_once = sparse_fraction * _expert_exposed_s(shape, plan, links, constants)
    memory = memory_bound_time_s(
        traffic_bytes=_memory_bound_bytes(shape, plan, constants, sparse_fraction),
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    once = _once_per_layer_s(shape, plan, chip, constants, sparse_fraction)
    tensor_once = _tensor_exposed_s(shape, plan, links, constants)
    again, core_again = plan.recomputed_layers_fraction, plan.recomputed_attention_fraction
    forward = linear + core + memory
    backward = (GEMMS_PER_STEP - 1.0) * linear + core_back + memory * constants.memory_backward_ratio + once
    recompute = again * forward + (1.0 - again) * core_again * core
    tensor, expert = (2.0 + again) * tensor_once, (2.0 + again) * expert_once
    context = _context_exposed_s(shape, plan, links, core, core_back)
    busy = forward + backward + recompute + tensor + expert + context
    host = sparse_fraction * constants.sparse_layer_host_s
    return LayerTimes(
        forward, backward, recompute, tensor, expert, context, smooth_maximum(busy, host) - busy
    )
