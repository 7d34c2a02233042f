"""Device memory that a training plan needs on its fullest rank."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.corrections import ACTIVATION_BYTES
from planner.performance.models import ModelShape, ffn_matrices, sparse_layers
from planner.performance.parallelism import (
    Plan,
    dense_group_ranks,
    expert_group_ranks,
    expert_parameters_per_rank,
    expert_split,
    last_stage_layers,
    microbatch_tokens,
    microbatches,
    shared_parameters_per_rank,
    slot_layers,
    stream_split,
    vocabulary_parameters_per_rank,
)
from planner.performance.training import StateBytes

STREAM_BYTES: Final = 10.0
"""Of each residual value a layer keeps: inputs of norms and linears (8) and masks (2)."""


@dataclass(frozen=True, slots=True)
class MemoryConstants:
    """Corrections of the memory model; fields broadcast to shape (n,).

    Attributes:
        activation_factor: Kept activations against the plain count; fused kernels keep less.
        logit_bytes_per_entry: Of each logit of a microbatch.
        reserved_bytes: Context, communication buffers, fragmentation.
        score_bytes_per_entry: Of each attention score of a layer; 0 with fused kernels, 5 where scores, weights
            and their mask are kept.
    """

    activation_factor: Floats
    logit_bytes_per_entry: Floats
    reserved_bytes: Floats
    score_bytes_per_entry: Floats = field(default_factory=lambda: np.zeros(1))


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """Bytes on the fullest rank, by what holds them, shape (n,)."""

    weights_bytes: Floats
    gradients_bytes: Floats
    optimiser_bytes: Floats
    activations_bytes: Floats
    logits_bytes: Floats
    buffers_bytes: Floats


def total_bytes(memory: TrainingMemory) -> Floats:
    """Sum of the parts, shape (n,).

    >>> total_bytes(TrainingMemory(*[np.array([1.0])] * 6))
    array([6.])
    """
    return (
        memory.weights_bytes
        + memory.gradients_bytes
        + memory.optimiser_bytes
        + memory.activations_bytes
        + memory.logits_bytes
        + memory.buffers_bytes
    )


def layer_activation_bytes(shape: ModelShape, plan: Plan) -> Floats:
    """Bytes that the mean layer keeps of one microbatch without recompute, attention scores left out.

    For the classic shape (full heads, inner width 4 hidden, no gate) this is tokens x hidden x 34 / tp, and
    tokens x hidden x (10 + 24 / tp) without sequence parallelism.

    Args:
        shape, plan: Model and layout.

    Returns:
        Shape (n,).

    Source:
        planner-training-notes, section 6, spelled out by tensor for other shapes; arxiv-2205.05198, table 2.
    """
    sparse = sparse_layers(shape) / shape.layers
    glu = ffn_matrices(shape)
    heads = shape.heads * (shape.head_dim + shape.value_head_dim)
    heads = heads + shape.kv_heads * (shape.head_dim + shape.value_head_dim)
    inner = glu * shape.ffn * (1.0 - sparse) + sparse * glu * shape.shared_expert_ffn
    routed = (
        sparse * shape.experts_per_token * (glu * shape.expert_ffn / plan.expert_tensor_ranks + shape.hidden)
    )
    in_tensor_group = ACTIVATION_BYTES * (heads + inner) / plan.tensor_ranks
    stream = STREAM_BYTES * shape.hidden / stream_split(plan)
    return microbatch_tokens(plan) * (
        stream + in_tensor_group + ACTIVATION_BYTES * routed / expert_split(plan)
    )


def score_bytes(shape: ModelShape, plan: Plan, constants: MemoryConstants) -> Floats:
    """Bytes of the attention scores that a layer keeps where its attention isn't fused and not computed again."""
    entries = microbatch_tokens(plan) * plan.sequence_tokens * shape.heads / plan.tensor_ranks
    return entries * constants.score_bytes_per_entry * (1.0 - plan.recomputed_attention_fraction)


def in_flight_microbatches(plan: Plan) -> Floats:
    """Microbatches whose activations the first stage holds at once, in units of its layers, shape (n,)."""
    stages = plan.pipeline_ranks
    interleaved = np.where(
        plan.virtual_stages > 1.0, 1.0 + (stages - 1.0) / (stages * plan.virtual_stages), 1.0
    )
    return np.minimum(microbatches(plan), stages * interleaved)


def training_memory(
    *, shape: ModelShape, plan: Plan, state: StateBytes, constants: MemoryConstants
) -> TrainingMemory:
    """Bytes on the fullest rank of a plan.

    Stage one holds the most microbatches, the last stage the logits; the logits' part is what they add to the
    larger of the two.

    Args:
        shape, plan, state, constants: Model, layout, bytes of a parameter's state, corrections.

    Returns:
        Parts of shape (n,).

    Source:
        planner-training-notes, section 6.
    """
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    experts = expert_parameters_per_rank(shape, plan)
    whole = shared + experts
    sharded = shared / dense_group_ranks(plan) + experts / expert_group_ranks(plan)

    def held(stage: float, parameter_bytes: Floats) -> Floats:
        return np.where(plan.zero_stage >= stage, sharded, whole) * parameter_bytes

    kept = layer_activation_bytes(shape, plan) * constants.activation_factor
    kept = kept + score_bytes(shape, plan, constants)
    boundary = microbatch_tokens(plan) * shape.hidden * ACTIVATION_BYTES / stream_split(plan)
    again = plan.recomputed_layers_fraction
    layer = (1.0 - again) * kept + again * boundary
    # A layer under recompute comes back whole while its backward runs.
    transient = again * kept
    first = slot_layers(shape, plan) * in_flight_microbatches(plan) * layer + transient
    logits = microbatch_tokens(plan) * shape.vocab / plan.tensor_ranks * constants.logit_bytes_per_entry
    last = last_stage_layers(shape, plan) * layer + transient + logits
    # One layer at a time is gathered whole where weights are sharded.
    gathered = np.where(plan.zero_stage >= 3.0, 2.0 * whole / slot_layers(shape, plan) * state.weight, 0.0)
    return TrainingMemory(
        *np.broadcast_arrays(
            held(3.0, state.weight),
            held(2.0, state.gradient),
            held(1.0, state.optimiser),
            first,
            np.maximum(last - first, 0.0),
            constants.reserved_bytes + gathered,
        )
    )


def largest_part(memory: TrainingMemory) -> Floats:
    """Place of the part that holds most, in the order of the fields, shape (n,); the first of equals.

    >>> sizes = [np.array([1.0, 2.0]), np.array([3.0, 1.0]), *[np.array([0.0])] * 4]
    >>> largest_part(TrainingMemory(*sizes))
    array([1., 0.])
    """
    parts = [getattr(memory, part.name) for part in fields(memory)]
    most, place = parts[0], np.zeros(1)
    for number, part in enumerate(parts[1:], start=1):
        place = np.where(part > most, float(number), place)
        most = np.maximum(most, part)
    return np.asarray(place)
