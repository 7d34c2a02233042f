"""Figures of what a plan may use beyond the usual: each is read only where a plan does, and else changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Collective
from planner.performance.links import Links, group_time_s
from planner.performance.parallelism import (
    Plan,
    dense_group_ranks,
    expert_group_ranks,
    expert_shard_group_ranks,
    microbatches,
    shard_group_ranks,
)


def _zero() -> Floats:
    return np.zeros(1)


def _one() -> Floats:
    return np.ones(1)


def _endless() -> Floats:
    return np.full(1, np.inf)


@dataclass(frozen=True, slots=True)
class Features:
    """Corrections of features that few plans use; fields broadcast to shape (n,), and the defaults are neutral.

    Attributes:
        zero_bubble_ratio: Bubble of a zero-bubble schedule over that of 1F1B.
        context_gather_exposed_fraction: Share of gathered keys and values that attention waits for.
        compression_bytes_per_parameter: Memory traffic of compressing a gradient and of unpacking it.
        local_state_bytes_per_parameter: What replicas that exchange seldom keep beside the optimiser's state: the
            weights as of the last exchange, and the momentum of the outer optimiser.
        to_host_bytes_per_s, from_host_bytes_per_s: Host link of an accelerator.
        host_link_hidden_fraction: Share of computing behind which transfers over the host link can run.
        activation_factor: Kept activations against the plain count, as the memory model has it.
        expert_load_ratio: Tokens of the busiest expert rank over the mean; it counts with expert ranks.
        expert_capacity_ratio: Tokens to which each expert is padded, over the mean; 0 for no padding.
    """

    zero_bubble_ratio: Floats = field(default_factory=_one)
    context_gather_exposed_fraction: Floats = field(default_factory=_one)
    compression_bytes_per_parameter: Floats = field(default_factory=_zero)
    local_state_bytes_per_parameter: Floats = field(default_factory=_zero)
    to_host_bytes_per_s: Floats = field(default_factory=_endless)
    from_host_bytes_per_s: Floats = field(default_factory=_endless)
    host_link_hidden_fraction: Floats = field(default_factory=_zero)
    activation_factor: Floats = field(default_factory=_one)
    expert_load_ratio: Floats = field(default_factory=_one)
    expert_capacity_ratio: Floats = field(default_factory=_zero)


NEUTRAL = Features()
"""What plans without any of these run with."""


def routed_load_ratio(features: Features, plan: Plan) -> Floats:
    """Tokens that the busiest rank's experts compute, over an even share, shape (n,).

    >>> one = np.ones(1)
    >>> plan = Plan(*[one] * 4, np.array([1.0, 8.0]), *[one] * 8)
    >>> routed_load_ratio(Features(expert_load_ratio=np.array([1.2])), plan)
    array([1. , 1.2])
    """
    uneven = np.where(plan.expert_ranks > 1.0, features.expert_load_ratio, 1.0)
    return np.where(features.expert_capacity_ratio > 0.0, features.expert_capacity_ratio, uneven)


def replicas_time_s(plan: Plan, links: Links, *, shared_bytes: Floats, expert_bytes: Floats) -> Floats:
    """Time of one all-reduce of gradients between the shard groups of hybrid sharding, zero without any.

    A rank holds the reduced gradients of its own shard, and shares them with its twins of the other groups.

    Args:
        plan, links: Layout and network.
        shared_bytes, expert_bytes: Gradients of a rank before they are sharded.

    Returns:
        Shape (n,).
    """
    if not np.any(plan.shard_ranks):
        return np.zeros(1)
    shared = _twins_s(links, shared_bytes, dense_group_ranks(plan), shard_group_ranks(plan),
                      links.domain_ranks / plan.tensor_ranks)  # fmt: skip
    if not np.any(expert_bytes):
        return shared
    return shared + _twins_s(
        links, expert_bytes, expert_group_ranks(plan), expert_shard_group_ranks(plan),
        links.domain_ranks / (plan.expert_ranks * plan.expert_tensor_ranks),
    )  # fmt: skip


def _twins_s(links: Links, buffer_bytes: Floats, group: Floats, shard: Floats, near: Floats) -> Floats:
    """An all-reduce, as a scatter and a gather, over the ranks of a group that hold one shard."""
    return 2.0 * group_time_s(
        links,
        Collective.REDUCE_SCATTER,
        message_bytes=buffer_bytes / shard,
        ranks=group / shard,
        ranks_per_domain=np.maximum(near / shard, 1.0),
    )


def host_link_exposed_s(
    plan: Plan,
    features: Features,
    *,
    activation_bytes: Floats,
    weight_bytes: Floats,
    compute_s: Floats,
    slowdown_fraction: Floats,
) -> Floats:
    """What a step waits for activations and weights on their way to the host and back.

    Args:
        plan, features: Layout, and rates of the host link.
        activation_bytes: Kept for the backward pass in a step, over all microbatches: out once, and back once.
        weight_bytes: Weights that a rank holds, read for both passes of all microbatches, and written once.
        compute_s: Computing of the step.
        slowdown_fraction: By which hidden transfers slow the computing.

    Returns:
        Shape (n,); zero where neither is offloaded.

    >>> one = np.ones(1)
    >>> plan = Plan(*[one] * 13, offloaded_activations=one)
    >>> rates = Features(to_host_bytes_per_s=50e9 * one, from_host_bytes_per_s=50e9 * one)
    >>> host_link_exposed_s(plan, rates, activation_bytes=25e9 * one, weight_bytes=0 * one, compute_s=one,
    ...     slowdown_fraction=0 * one)
    array([1.])
    """
    if not (np.any(plan.offloaded_activations) or np.any(plan.offloaded_weights)):
        return np.zeros(1)
    away = 1.0 / features.to_host_bytes_per_s
    back = 1.0 / features.from_host_bytes_per_s
    reads = 2.0 * microbatches(plan)
    time = plan.offloaded_activations * activation_bytes * (away + back)
    time = time + plan.offloaded_weights * weight_bytes * (reads * back + away)
    hidden = np.minimum(time, features.host_link_hidden_fraction * compute_s)
    return np.asarray(time - hidden + slowdown_fraction * hidden)


def state_transfer_s(plan: Plan, features: Features, *, state_bytes: Floats) -> Floats:
    """What the update waits for the optimiser's states: all come from the host and go back, both ways at once.

    The update runs on the accelerator, and nothing hides the transfer: it starts when the last gradient is there.

    >>> one = np.ones(1)
    >>> rates = Features(to_host_bytes_per_s=50e9 * one, from_host_bytes_per_s=40e9 * one)
    >>> state_transfer_s(Plan(*[one] * 13, offloaded_optimiser=one), rates, state_bytes=20e9 * one)
    array([0.5])
    """
    slower = np.minimum(features.to_host_bytes_per_s, features.from_host_bytes_per_s)
    return np.asarray(plan.offloaded_optimiser * state_bytes / slower)
