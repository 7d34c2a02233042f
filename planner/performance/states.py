"""States of parameters: their bytes, the update, and what of them rests in the host's memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.activations import offloaded_bytes
from planner.performance.corrections import TrainingConstants
from planner.performance.features import Features, host_link_exposed_s, state_transfer_s
from planner.performance.models import ModelShape
from planner.performance.parallelism import (
    Plan,
    expert_parameters_per_rank,
    expert_shard_group_ranks,
    microbatches,
    shard_group_ranks,
    shared_parameters_per_rank,
    slot_layers,
    vocabulary_parameters_per_rank,
)
from planner.performance.roofline import ChipRates, memory_bound_time_s


@dataclass(frozen=True, slots=True)
class StateBytes:
    """Bytes of a parameter's state; fields broadcast to shape (n,).

    Attributes:
        weight: Of the weight that the layers compute with.
        gradient: Of the gradient as added up and reduced.
        optimiser: Of master weight and moments.
    """

    weight: Floats
    gradient: Floats
    optimiser: Floats


def optimiser_s(
    shape: ModelShape,
    plan: Plan,
    chip: ChipRates,
    constants: TrainingConstants,
    state: StateBytes,
    features: Features,
) -> Floats:
    """Reading and writing the state of the parameters that a rank owns, and casting the weights that it holds."""
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    experts = expert_parameters_per_rank(shape, plan)
    sharded = shared / shard_group_ranks(plan) + experts / expert_shard_group_ranks(plan)
    owned = np.where(plan.zero_stage > 0.0, sharded, shared + experts)
    update = memory_bound_time_s(
        traffic_bytes=owned * constants.optimiser_bytes_per_parameter
        + (shared + experts) * constants.weight_cast_bytes_per_parameter,
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    if not np.any(plan.offloaded_optimiser):
        return update
    return update + state_transfer_s(plan, features, state_bytes=owned * state.optimiser)


def host_link_s(
    shape: ModelShape,
    plan: Plan,
    constants: TrainingConstants,
    state: StateBytes,
    features: Features,
    compute_s: Floats,
) -> Floats:
    """Waiting for activations and weights that rest in the host's memory."""
    if not (np.any(plan.offloaded_activations) or np.any(plan.offloaded_weights)):
        return np.zeros(1)
    return host_link_exposed_s(
        plan,
        features,
        activation_bytes=microbatches(plan)
        * slot_layers(shape, plan)
        * offloaded_bytes(shape, plan, features),
        weight_bytes=_held_parameters(shape, plan, plan.zero_stage >= 3.0) * state.weight,
        compute_s=compute_s,
        slowdown_fraction=constants.data_overlap_slowdown_fraction,
    )


def _held_parameters(shape: ModelShape, plan: Plan, sharded: NDArray[np.bool_]) -> Floats:
    """Parameters of a rank, its share of them where they are sharded."""
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    experts = expert_parameters_per_rank(shape, plan)
    owned = shared / shard_group_ranks(plan) + experts / expert_shard_group_ranks(plan)
    return np.where(sharded, owned, shared + experts)


def host_link_bytes(shape: ModelShape, plan: Plan, state: StateBytes, features: Features) -> Floats:
    """Bytes that come to a rank from its host's memory in a step.

    Activations once, weights for both passes of every microbatch, and all optimiser states.

    Args:
        shape, plan, state, features: Model, layout, bytes of a parameter's state, and kept activations.

    Returns:
        Shape (n,); zero where nothing is offloaded.
    """
    layers = microbatches(plan) * slot_layers(shape, plan)
    weights = _held_parameters(shape, plan, plan.zero_stage >= 3.0) * state.weight
    states = _held_parameters(shape, plan, plan.zero_stage > 0.0) * state.optimiser
    return (
        plan.offloaded_activations * layers * offloaded_bytes(shape, plan, features)
        + plan.offloaded_weights * 2.0 * microbatches(plan) * weights
        + plan.offloaded_optimiser * states
    )
