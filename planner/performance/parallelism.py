"""How a model is laid over accelerators: degrees, stages, microbatches, parameters of a rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.choices import Recompute
from planner.performance.models import (
    ModelShape,
    dense_layer_parameters,
    embedding_parameters,
    expert_parameters_per_layer,
    head_parameters,
    sparse_layer_shared_parameters,
    sparse_layers,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """An execution plan; every field broadcasts to shape (n,).

    Attributes:
        tensor_ranks, pipeline_ranks, context_ranks, data_ranks: Degrees; their product is the GPUs in use.
        expert_ranks: Ranks that share the experts, 1 in a dense model; they are among tensor x context x data.
        expert_tensor_ranks: Ranks that split one expert.
        virtual_stages: Chunks of layers on each pipeline rank; more than 1 interleaves.
        microbatch_sequences: Sequences of one microbatch.
        global_batch_sequences: Sequences of one optimiser step over the cluster.
        sequence_tokens: Tokens of a sequence.
        zero_stage: 0 replicates, 1 shards the optimiser, 2 also gradients, 3 also weights (FSDP).
        recomputed_layers_fraction: Share of layers computed again whole.
        recomputed_attention_fraction: Share of attention cores computed again, on layers not counted above.
        recomputed_linear_fraction: Share of matrix products computed again on such layers, and with any of them
            all of what only moves bytes.
        sequence_parallel: 1 where tensor ranks also share out norms and residuals, 0 where each does all of them.
        shard_ranks: Data and context ranks of a shard group of hybrid sharding; 0 where the whole data group is one.
        backward_split: 1 where gradients of the weights wait and fill the bubble (zero-bubble schedule).
        context_gathered: 1 where context ranks gather keys and values before attention, 0 where these go round.
        gradient_compression_ratio: Bytes of a gradient before over after its compression, 1 or more.
        local_steps: Optimiser steps between two exchanges of replicas.
        asynchronous: 1 where replicas go on while they exchange.
        offloaded_optimiser, offloaded_activations, offloaded_weights: 1 where these rest in the host's memory.
    """

    tensor_ranks: Floats
    pipeline_ranks: Floats
    context_ranks: Floats
    data_ranks: Floats
    expert_ranks: Floats
    expert_tensor_ranks: Floats
    virtual_stages: Floats
    microbatch_sequences: Floats
    global_batch_sequences: Floats
    sequence_tokens: Floats
    zero_stage: Floats
    recomputed_layers_fraction: Floats
    recomputed_attention_fraction: Floats
    recomputed_linear_fraction: Floats = field(default_factory=lambda: np.zeros(1))
    sequence_parallel: Floats = field(default_factory=lambda: np.ones(1))
    shard_ranks: Floats = field(default_factory=lambda: np.zeros(1))
    backward_split: Floats = field(default_factory=lambda: np.zeros(1))
    context_gathered: Floats = field(default_factory=lambda: np.zeros(1))
    gradient_compression_ratio: Floats = field(default_factory=lambda: np.ones(1))
    local_steps: Floats = field(default_factory=lambda: np.ones(1))
    asynchronous: Floats = field(default_factory=lambda: np.zeros(1))
    offloaded_optimiser: Floats = field(default_factory=lambda: np.zeros(1))
    offloaded_activations: Floats = field(default_factory=lambda: np.zeros(1))
    offloaded_weights: Floats = field(default_factory=lambda: np.zeros(1))


def stream_split(plan: Plan) -> Floats:
    """Ranks over which norms and residuals are shared out, shape (n,)."""
    return 1.0 + (plan.tensor_ranks - 1.0) * plan.sequence_parallel


EVERY_SECOND: Final = 0.5
"""Share of matrix products that operator-wise recompute of compiled stacks runs again; attention is kept."""


def recompute_fields(choice: Recompute, *, layers_fraction: float | None = None) -> dict[str, Floats]:
    """The fields of `Plan` that a recompute mode stands for.

    Args:
        choice: The mode.
        layers_fraction: Share of layers computed again whole; the mode holds for the others. All of them by default
            for full recompute, and none otherwise.

    >>> recompute_fields(Recompute.SELECTIVE)["recomputed_attention_fraction"]
    array([1.])
    >>> recompute_fields(Recompute.FULL, layers_fraction=0.5)["recomputed_layers_fraction"]
    array([0.5])
    """
    whole = 1.0 if choice is Recompute.FULL else 0.0
    return {
        "recomputed_layers_fraction": np.array([whole if layers_fraction is None else layers_fraction]),
        "recomputed_attention_fraction": np.array([float(choice is Recompute.SELECTIVE)]),
        "recomputed_linear_fraction": np.array([EVERY_SECOND * float(choice is Recompute.OPERATORS)]),
    }


def gpus_in_use(plan: Plan) -> Floats:
    """Accelerators that the plan occupies, shape (n,)."""
    return np.asarray(plan.tensor_ranks * plan.pipeline_ranks * plan.context_ranks * plan.data_ranks)


def microbatches(plan: Plan) -> Floats:
    """Microbatches that each pipeline runs in a step, shape (n,)."""
    return np.asarray(plan.global_batch_sequences / (plan.data_ranks * plan.microbatch_sequences))


def microbatch_tokens(plan: Plan) -> Floats:
    """Tokens of one microbatch on one rank of a context group, shape (n,)."""
    return np.asarray(plan.microbatch_sequences * plan.sequence_tokens / plan.context_ranks)


def slot_layers(shape: ModelShape, plan: Plan) -> Floats:
    """Layer slots of the fullest stage.

    Where layers don't divide over the stages, embedding and head are taken to fill a slot each, as the recipes
    with 94 and 126 layers do.

    Returns:
        Shape (n,).

    Source:
        planner-training-notes, section 2 item 12.
    """
    even = np.mod(shape.layers, plan.pipeline_ranks) == 0.0
    return np.where(
        even, shape.layers / plan.pipeline_ranks, np.ceil((shape.layers + 2.0) / plan.pipeline_ranks)
    )


def last_stage_layers(shape: ModelShape, plan: Plan) -> Floats:
    """Layers of the stage that also holds the output head, shape (n,)."""
    even = np.mod(shape.layers, plan.pipeline_ranks) == 0.0
    slots = slot_layers(shape, plan)
    return np.where(even, slots, slots - 1.0)


def shared_parameters_per_rank(shape: ModelShape, plan: Plan) -> Floats:
    """Layer parameters of the fullest stage's rank that every data rank holds alike, shape (n,)."""
    dense = shape.dense_layers * dense_layer_parameters(shape)
    sparse = sparse_layers(shape) * sparse_layer_shared_parameters(shape)
    mean_layer = (dense + sparse) / shape.layers
    return slot_layers(shape, plan) * mean_layer / plan.tensor_ranks


def expert_parameters_per_rank(shape: ModelShape, plan: Plan) -> Floats:
    """Parameters of routed experts on a rank of the fullest stage, shape (n,)."""
    mean_layer = sparse_layers(shape) * expert_parameters_per_layer(shape) / shape.layers
    return slot_layers(shape, plan) * mean_layer / (plan.expert_ranks * plan.expert_tensor_ranks)


def vocabulary_parameters_per_rank(shape: ModelShape, plan: Plan) -> Floats:
    """Embedding or head of a rank: the larger with a pipeline, both without one, shape (n,)."""
    embedding, head = embedding_parameters(shape), head_parameters(shape)
    held = np.where(plan.pipeline_ranks > 1.0, np.maximum(embedding, head), embedding + head)
    return held / plan.tensor_ranks


def dense_group_ranks(plan: Plan) -> Floats:
    """Ranks that hold the same shared parameters, shape (n,)."""
    return np.asarray(plan.data_ranks * plan.context_ranks)


def expert_group_ranks(plan: Plan) -> Floats:
    """Ranks that hold the same experts, shape (n,), 1 or more."""
    ranks = plan.data_ranks * plan.context_ranks * plan.tensor_ranks
    return np.maximum(ranks / (plan.expert_ranks * plan.expert_tensor_ranks), 1.0)


def shard_group_ranks(plan: Plan) -> Floats:
    """Ranks over which states of shared parameters are shared out where they are, shape (n,)."""
    group = dense_group_ranks(plan)
    if not np.any(plan.shard_ranks):
        return group
    return np.where(plan.shard_ranks > 0.0, np.minimum(plan.shard_ranks, group), group)


def expert_shard_group_ranks(plan: Plan) -> Floats:
    """The same for experts: with hybrid sharding those of the accelerators of one shard group, shape (n,)."""
    group = expert_group_ranks(plan)
    if not np.any(plan.shard_ranks):
        return group
    near = plan.shard_ranks * plan.tensor_ranks / (plan.expert_ranks * plan.expert_tensor_ranks)
    return np.where(plan.shard_ranks > 0.0, np.minimum(np.maximum(near, 1.0), group), group)


def expert_split(plan: Plan) -> Floats:
    """Ranks of a tensor group that route different tokens, shape (n,)."""
    return np.maximum(plan.tensor_ranks / plan.expert_tensor_ranks, 1.0)
