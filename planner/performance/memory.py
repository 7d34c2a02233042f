"""Device memory that a training plan needs on its fullest rank."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from planner.arrays import Floats
from planner.performance.activations import boundary_bytes, kept_bytes
from planner.performance.corrections import ACTIVATION_BYTES
from planner.performance.features import NEUTRAL, Features
from planner.performance.models import ModelShape, kv_values_per_layer
from planner.performance.parallelism import (
    Plan,
    expert_parameters_per_rank,
    expert_shard_group_ranks,
    last_stage_layers,
    microbatch_tokens,
    microbatches,
    shard_group_ranks,
    shared_parameters_per_rank,
    slot_layers,
    vocabulary_parameters_per_rank,
)
from planner.performance.training import StateBytes


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


def score_bytes(shape: ModelShape, plan: Plan, constants: MemoryConstants) -> Floats:
    """Bytes of the attention scores that a layer keeps where its attention isn't fused and not computed again."""
    entries = microbatch_tokens(plan) * plan.sequence_tokens * shape.heads / plan.tensor_ranks
    return entries * constants.score_bytes_per_entry * (1.0 - plan.recomputed_attention_fraction)


def gathered_context_bytes(shape: ModelShape, plan: Plan) -> Floats:
    """Keys and values of one layer over the whole sequence, and their gradients, where they are gathered."""
    split = np.minimum(plan.tensor_ranks, shape.kv_heads)
    whole = microbatch_tokens(plan) * plan.context_ranks * kv_values_per_layer(shape) / split
    spread = (plan.context_gathered > 0.0) & (plan.context_ranks > 1.0)
    return np.where(spread, 2.0 * ACTIVATION_BYTES * whole, 0.0)


def in_flight_microbatches(plan: Plan) -> Floats:
    """Microbatches whose activations the first stage holds at once, in units of its layers, shape (n,)."""
    stages = plan.pipeline_ranks
    interleaved = np.where(
        plan.virtual_stages > 1.0, 1.0 + (stages - 1.0) / (stages * plan.virtual_stages), 1.0
    )
    return np.minimum(microbatches(plan), stages * interleaved)


def training_memory(
    *,
    shape: ModelShape,
    plan: Plan,
    state: StateBytes,
    constants: MemoryConstants,
    features: Features = NEUTRAL,
) -> TrainingMemory:
    """Bytes on the fullest rank of a plan.

    Stage one holds the most microbatches, the last stage the logits; the logits' part is what they add to the
    larger of the two. Of what rests in the host's memory, two layers' worth is on the device: the one in use and
    the one on its way.

    Args:
        shape, plan, state, constants, features: Model, layout, bytes of a parameter's state, corrections.

    Returns:
        Parts of shape (n,).

    Source:
        planner-training-notes, section 6.
    """
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    experts = expert_parameters_per_rank(shape, plan)
    whole = shared + experts
    sharded = shared / shard_group_ranks(plan) + experts / expert_shard_group_ranks(plan)

    slots = slot_layers(shape, plan)
    two_layers = np.minimum(2.0 / slots, 1.0)

    def held(stage: float, parameter_bytes: Floats, away: Floats) -> Floats:
        here = 1.0 - away * (1.0 - two_layers) if np.any(away) else 1.0
        return np.where(plan.zero_stage >= stage, sharded, whole) * parameter_bytes * here

    kept = kept_bytes(shape, plan, features, constants.activation_factor)
    kept, boundary = kept + score_bytes(shape, plan, constants), boundary_bytes(shape, plan)
    again = plan.recomputed_layers_fraction
    layer = (1.0 - again) * kept + again * boundary
    # A layer under recompute comes back whole while its backward runs.
    transient = again * kept
    first, last = slots * in_flight_microbatches(plan), last_stage_layers(shape, plan)
    if np.any(plan.offloaded_activations):
        first, last = (
            np.where(plan.offloaded_activations > 0.0, np.minimum(count, 2.0), count)
            for count in (first, last)
        )
    first = first * layer + transient
    logits = microbatch_tokens(plan) * shape.vocab / plan.tensor_ranks * constants.logit_bytes_per_entry
    last = last * layer + transient + logits
    # One layer at a time is gathered whole where weights are sharded.
    gathered = np.where(plan.zero_stage >= 3.0, 2.0 * whole / slots * state.weight, 0.0)
    buffers = constants.reserved_bytes + gathered
    if np.any(plan.context_gathered):
        buffers = buffers + gathered_context_bytes(shape, plan)
    optimiser = held(1.0, state.optimiser, plan.offloaded_optimiser)
    if np.any(features.local_state_bytes_per_parameter):
        apart = (plan.local_steps > 1.0) | (plan.asynchronous > 0.0)
        optimiser = optimiser + held(
            1.0, features.local_state_bytes_per_parameter, plan.offloaded_optimiser
        ) * np.where(apart, 1.0, 0.0)
    return TrainingMemory(
        *np.broadcast_arrays(
            held(3.0, state.weight, plan.offloaded_weights),
            held(2.0, state.gradient, np.zeros(1)),
            optimiser,
            first,
            np.maximum(last - first, 0.0),
            buffers,
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
