"""Bytes that a layer keeps between its forward and its backward pass."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.corrections import ACTIVATION_BYTES
from planner.performance.features import NEUTRAL, Features, routed_load_ratio
from planner.performance.models import ModelShape, ffn_matrices, sparse_layers
from planner.performance.parallelism import Plan, expert_split, microbatch_tokens, stream_split

STREAM_BYTES: Final = 10.0
"""Of each residual value a layer keeps: inputs of norms and linears (8) and masks (2)."""


def layer_activation_bytes(shape: ModelShape, plan: Plan, features: Features = NEUTRAL) -> Floats:
    """Bytes that the mean layer keeps of one microbatch without recompute, attention scores left out.

    For the classic shape (full heads, inner width 4 hidden, no gate) this is tokens x hidden x 34 / tp, and
    tokens x hidden x (10 + 24 / tp) without sequence parallelism.

    Args:
        shape, plan, features: Model, layout, and how tokens spread over experts.

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
    routed = routed * routed_load_ratio(features, plan)
    in_tensor_group = ACTIVATION_BYTES * (heads + inner) / plan.tensor_ranks
    stream = STREAM_BYTES * shape.hidden / stream_split(plan)
    return microbatch_tokens(plan) * (
        stream + in_tensor_group + ACTIVATION_BYTES * routed / expert_split(plan)
    )


def boundary_bytes(shape: ModelShape, plan: Plan) -> Floats:
    """Bytes of a layer's input of one microbatch, which a layer computed again keeps, shape (n,)."""
    return microbatch_tokens(plan) * shape.hidden * ACTIVATION_BYTES / stream_split(plan)


def kept_bytes(shape: ModelShape, plan: Plan, features: Features, activation_factor: Floats) -> Floats:
    """Bytes that a layer keeps of one microbatch where it isn't computed again whole, scores left out.

    With matrix products computed again, their share of all but the layer's input isn't kept.

    Args:
        shape, plan, features: Model, layout, and how tokens spread over experts.
        activation_factor: Kept activations against the plain count.

    Returns:
        Shape (n,).
    """
    kept = layer_activation_bytes(shape, plan, features) * activation_factor
    if not np.any(plan.recomputed_linear_fraction):
        return kept
    return kept - plan.recomputed_linear_fraction * np.maximum(kept - boundary_bytes(shape, plan), 0.0)


def offloaded_bytes(shape: ModelShape, plan: Plan, features: Features) -> Floats:
    """Bytes of the mean layer that travel to the host for one microbatch and come back, shape (n,)."""
    again = plan.recomputed_layers_fraction
    kept = kept_bytes(shape, plan, features, features.activation_factor)
    return (1.0 - again) * kept + again * boundary_bytes(shape, plan)
