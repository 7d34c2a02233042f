"""Time of one transformer layer for one microbatch on one rank, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.attention import attention_core_s, attention_linear_s
from planner.performance.corrections import ACTIVATION_BYTES, TrainingConstants, joined_or_not, product_s
from planner.performance.exposed import context_exposed_s, expert_exposed_s, tensor_exposed_s
from planner.performance.features import NEUTRAL, Features, routed_load_ratio
from planner.performance.links import Links
from planner.performance.models import ModelShape, ffn_matrices, sparse_layers
from planner.performance.parallelism import (
    Plan,
    expert_parameters_per_rank,
    expert_split,
    microbatch_tokens,
    microbatches,
    shared_parameters_per_rank,
    slot_layers,
    stream_split,
)
from planner.performance.roofline import ChipRates, memory_bound_time_s, smooth_maximum

__all__ = ["GEMMS_PER_STEP", "LayerTimes", "TrainingConstants", "layer_times"]

NORM_PASSES: Final = 10.0
"""16-bit reads and writes of the residual stream: two norms (4) and two residual additions (6)."""
GEMMS_PER_STEP: Final = 3.0
"""Forward, gradient of the input, gradient of the weights."""


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """Parts of the mean layer's time for one microbatch on one rank, seconds, shape (n,).

    `host_s` is what a host that can't keep up adds to the others, and what an engine loses between its microbatches.
    """

    forward_s: Floats
    backward_s: Floats
    recompute_s: Floats
    tensor_exposed_s: Floats
    expert_exposed_s: Floats
    context_exposed_s: Floats
    host_s: Floats


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

    def up(inner: Floats) -> Floats:
        return product_s(m=m, n=inner, k=shape.hidden, chip=chip, constants=constants, share=share)

    upwards = [width] * int(ffn_matrices(shape) - 1.0)
    down = product_s(m=m, n=shape.hidden, k=width, chip=chip, constants=constants, share=share)
    return joined_or_not(constants, up, *upwards) + down


def _experts_s(
    shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants, load: Floats
) -> Floats:
    """Forward time of a sparse layer's routed and shared experts, of the rank with so much of an even load."""
    m, share = microbatch_tokens(plan), constants.gemm_share_of_peak_fraction
    experts = np.maximum(shape.experts, 1.0)
    local = experts / plan.expert_ranks
    rows = np.maximum(m * shape.experts_per_token * load / (local * expert_split(plan)), 1.0)
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


def _memory_bound_bytes(
    shape: ModelShape, plan: Plan, constants: TrainingConstants, sparse_fraction: Floats, load: Floats
) -> Floats:
    """Bytes that norms, rotation, activation and permutation move forward in the mean layer."""
    split, glu_passes = plan.tensor_ranks, ffn_matrices(shape)
    rotated = 2.0 * (shape.heads + shape.kv_heads) * shape.head_dim
    inner = glu_passes * shape.ffn * (1.0 - sparse_fraction)
    expert_inner = glu_passes * (shape.experts_per_token * load * shape.expert_ffn + shape.shared_expert_ffn)
    permuted = constants.permute_passes * shape.experts_per_token * load * shape.hidden / expert_split(plan)
    elements = NORM_PASSES * shape.hidden / stream_split(plan) + (rotated + inner) / split
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


def layer_times(
    shape: ModelShape,
    plan: Plan,
    chip: ChipRates,
    links: Links,
    constants: TrainingConstants,
    features: Features = NEUTRAL,
) -> LayerTimes:
    """Parts of the mean layer's time for one microbatch on one rank.

    Dense and sparse layers are averaged by their number.

    Args:
        shape, plan, chip, links, constants, features: Model, layout, accelerator, network, corrections.

    Returns:
        Parts of shape (n,), see `LayerTimes`.

    Source:
        planner-training-notes, section 2 items 1 to 11.
    """
    core, core_back = attention_core_s(shape, plan, chip, constants)
    linear = attention_linear_s(shape, plan, chip, constants)
    sparse_fraction = sparse_layers(shape) / shape.layers
    expert_once, load = np.zeros(1), routed_load_ratio(features, plan)
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
        linear = linear + sparse_fraction * _experts_s(shape, plan, chip, constants, load)
        expert_once = sparse_fraction * expert_exposed_s(shape, plan, links, constants, features)
    memory = memory_bound_time_s(
        traffic_bytes=_memory_bound_bytes(shape, plan, constants, sparse_fraction, load),
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    once = _once_per_layer_s(shape, plan, chip, constants, sparse_fraction)
    tensor_once = tensor_exposed_s(shape, plan, links, constants)
    again, core_again = plan.recomputed_layers_fraction, plan.recomputed_attention_fraction
    linear_again = plan.recomputed_linear_fraction
    forward = linear + core + memory
    backward = (GEMMS_PER_STEP - 1.0) * linear + core_back + memory * constants.memory_backward_ratio + once
    some = core_again * core
    if np.any(linear_again):
        some = some + linear_again * linear + np.where(linear_again > 0.0, memory, 0.0)
    recompute = again * forward + (1.0 - again) * some
    directions = 2.0 + again + (1.0 - again) * linear_again
    tensor, expert = directions * tensor_once, (2.0 + again) * expert_once
    context = context_exposed_s(shape, plan, links, constants, features, core, core_back)
    busy = forward + backward + recompute + tensor + expert + context
    host = smooth_maximum(busy, sparse_fraction * constants.sparse_layer_host_s) - busy
    return LayerTimes(
        forward,
        backward,
        recompute,
        tensor,
        expert,
        context,
        host + constants.engine_slowdown_fraction * busy,
    )
