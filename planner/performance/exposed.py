"""Waiting for the collectives inside a layer: tensor, expert and context parallelism."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Collective, once_per_domain_ratio
from planner.performance.corrections import ACTIVATION_BYTES, TrainingConstants
from planner.performance.features import Features, routed_load_ratio
from planner.performance.links import Links, exchange_time_s, group_time_s
from planner.performance.models import ModelShape, kv_values_per_layer
from planner.performance.parallelism import Plan, expert_split, microbatch_tokens

TENSOR_COLLECTIVES: Final = 4.0
"""Gathers and scatters of one layer in each direction, two around attention and two around the feed-forward."""


def tensor_exposed_s(shape: ModelShape, plan: Plan, links: Links, constants: TrainingConstants) -> Floats:
    """Exposed time of one direction's gathers and scatters over the tensor ranks."""
    once = group_time_s(
        links,
        Collective.ALL_GATHER,
        message_bytes=microbatch_tokens(plan) * shape.hidden * ACTIVATION_BYTES,
        ranks=plan.tensor_ranks,
        ranks_per_domain=links.domain_ranks,
    )
    return TENSOR_COLLECTIVES * once * (1.0 - constants.tensor_overlap_fraction)


def expert_exposed_s(
    shape: ModelShape, plan: Plan, links: Links, constants: TrainingConstants, features: Features
) -> Floats:
    """Exposed time of one direction's dispatch and combine of a sparse layer."""
    sent = microbatch_tokens(plan) * shape.experts_per_token * shape.hidden * ACTIVATION_BYTES
    sent = sent * routed_load_ratio(features, plan)
    near = np.maximum(links.domain_ranks / plan.expert_tensor_ranks, 1.0)
    merged = once_per_domain_ratio(
        ranks=plan.expert_ranks, ranks_per_domain=near, copies=shape.experts_per_token
    )
    once = exchange_time_s(
        links,
        message_bytes=sent / expert_split(plan),
        ranks=plan.expert_ranks,
        ranks_per_domain=near,
        outside_bytes_ratio=1.0 - constants.expert_once_per_domain_fraction * (1.0 - merged),
    )
    return 2.0 * once / constants.expert_transfer_efficiency_fraction * constants.expert_exposed_fraction


def context_exposed_s(
    shape: ModelShape,
    plan: Plan,
    links: Links,
    constants: TrainingConstants,
    features: Features,
    forward_core: Floats,
    backward_core: Floats,
) -> Floats:
    """What attention over context ranks costs beyond its arithmetic.

    In a ring: keys and values that go round and that attention doesn't cover, blocks of scores that are smaller
    than the whole, and starting each step. Gathered: one gather before attention, and in the backward pass another
    and a scatter of their gradients, behind which hardly anything can run.
    """
    if not np.any(plan.context_ranks > 1.0):
        return np.zeros(1)
    split = np.minimum(plan.tensor_ranks, shape.kv_heads)
    block = microbatch_tokens(plan) * kv_values_per_layer(shape) * ACTIVATION_BYTES / split
    once = group_time_s(
        links,
        Collective.ALL_GATHER,
        message_bytes=block * plan.context_ranks,
        ranks=plan.context_ranks,
        ranks_per_domain=np.maximum(links.domain_ranks / plan.tensor_ranks, 1.0),
    )
    waits = np.maximum(once - forward_core, 0.0) + np.maximum(2.0 * once - backward_core, 0.0)
    smaller = constants.context_slowdown_fraction * (1.0 - 1.0 / plan.context_ranks)
    starts = 3.0 * (plan.context_ranks - 1.0) * constants.context_step_s
    ring = waits + smaller * (forward_core + backward_core) + starts
    if not np.any(plan.context_gathered):
        return ring
    return np.where(plan.context_gathered > 0.0, 3.0 * once * features.context_gather_exposed_fraction, ring)
