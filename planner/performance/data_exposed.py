"""Waiting for data-parallel communication: replicas, shards, hybrid groups, compressed and seldom exchanges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Collective
from planner.performance.corrections import TrainingConstants
from planner.performance.features import Features, replicas_time_s
from planner.performance.layers import LayerTimes
from planner.performance.links import Links, group_time_s
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
from planner.performance.states import StateBytes


def _shard_time_s(links: Links, buffer_bytes: Floats, ranks: Floats, ranks_per_domain: Floats) -> Floats:
    """Time of one reduce-scatter or all-gather of the buffer over a data group."""
    return group_time_s(
        links,
        Collective.REDUCE_SCATTER,
        message_bytes=buffer_bytes,
        ranks=ranks,
        ranks_per_domain=np.maximum(ranks_per_domain, 1.0),
    )


def _data_times_s(
    shape: ModelShape, plan: Plan, links: Links, state: StateBytes
) -> tuple[Floats, Floats, Floats]:
    """Times of reducing all gradients, of gathering all weights of a rank, and of joining replicas, once.

    Replicas are joined apart under hybrid sharding alone.
    """
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    experts = expert_parameters_per_rank(shape, plan)
    group, near = shard_group_ranks(plan), links.domain_ranks / plan.tensor_ranks
    sent = state.gradient / plan.gradient_compression_ratio
    # Without sharding an all-reduce follows, whose second half gathers gradients instead of weights.
    gathered = np.where(plan.zero_stage > 0.0, state.weight, sent)
    # Sharded weights travel layer by layer.
    calls = np.where(plan.zero_stage >= 3.0, shape.layers, 1.0)
    reduce = calls * _shard_time_s(links, shared * sent / calls, group, near)
    gather = calls * _shard_time_s(links, shared * gathered / calls, group, near)
    if np.any(shape.experts > 0.0):
        group = expert_shard_group_ranks(plan)
        near = links.domain_ranks / (plan.expert_ranks * plan.expert_tensor_ranks)
        reduce = reduce + _shard_time_s(links, experts * sent, group, near)
        gather = gather + _shard_time_s(links, experts * gathered, group, near)
    return (
        reduce,
        gather,
        replicas_time_s(plan, links, shared_bytes=shared * sent, expert_bytes=experts * sent),
    )


def data_exposed_s(
    *,
    shape: ModelShape,
    plan: Plan,
    links: Links,
    constants: TrainingConstants,
    state: StateBytes,
    layer: LayerTimes,
    compute_s: Floats,
) -> Floats:
    """Exposed data-parallel time of a step.

    Replicated or optimiser-sharded: what the last backward and the first forward can't hide. Gradients sharded: the
    reduction after every microbatch. Weights sharded and no pipeline: two gathers and a reduction each microbatch,
    hidden behind a share of all compute.
    """
    reduce, gather, join = _data_times_s(shape, plan, links, state)
    slots = slot_layers(shape, plan)

    # Interleaved chunks finish one after another while the pipeline drains, and so do the first ones that start.
    behind = np.minimum(microbatches(plan), plan.pipeline_ranks) - 1.0
    passes = 1.0 + behind * (1.0 - 1.0 / plan.virtual_stages)

    def exposed(time: Floats, window: Floats) -> Floats:
        open_s = np.maximum(time * (1.0 - constants.data_overlap_fraction), time - passes * window)
        return np.asarray(open_s + constants.data_overlap_slowdown_fraction * (time - open_s))

    # While a layer waits for its host, communication goes on.
    draining = slots * (layer.backward_s + layer.host_s)
    reducing = exposed(reduce, draining)
    if np.any(plan.zero_stage == 2.0):
        # Gradients that no rank holds whole are reduced after every microbatch.
        reducing = reducing * np.where(plan.zero_stage == 2.0, microbatches(plan), 1.0)
    once = reducing + exposed(gather, slots * (layer.forward_s + layer.host_s))
    starts = shape.layers * (shard_group_ranks(plan) - 1.0) * constants.sharded_ring_step_s
    each = (reduce + 2.0 * gather) / constants.sharded_network_share_fraction + 3.0 * starts
    traffic = microbatches(plan) * each
    sharded = (
        np.maximum(traffic - constants.sharded_hiding_fraction * compute_s, 0.0)
        + constants.sharded_slowdown_fraction * np.minimum(traffic, compute_s)
        + each / shape.layers
    )
    seldom = _Seldom(plan, compute_s, constants.data_overlap_slowdown_fraction)
    once = np.where(plan.zero_stage == 0.0, seldom.exposed_s(once, reduce + gather), once)
    # A pipeline keeps gathered weights over its microbatches.
    inside = np.where((plan.zero_stage >= 3.0) & (plan.pipeline_ranks == 1.0), sharded, once)
    if not np.any(plan.shard_ranks):
        return inside
    return inside + seldom.exposed_s(exposed(join, draining), join)


@dataclass(frozen=True, slots=True)
class _Seldom:
    """Replicas that exchange every few steps, or go on while they do; what that does to learning isn't judged."""

    plan: Plan
    compute_s: Floats
    slowdown_fraction: Floats

    def exposed_s(self, waited_s: Floats, time_s: Floats) -> Floats:
        """What a mean step waits for an exchange that takes so long, and waits so long where it is waited for."""
        plan = self.plan
        if not (np.any(plan.asynchronous) or np.any(plan.local_steps != 1.0)):
            return waited_s
        until_next = plan.local_steps * self.compute_s
        late = np.maximum(time_s - until_next, 0.0)
        beside = late + self.slowdown_fraction * (time_s - late)
        return np.where(plan.asynchronous > 0.0, np.minimum(beside, waited_s), waited_s) / plan.local_steps


def compression_s(
    shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants, features: Features
) -> Floats:
    """Compressing the gradients of a rank and unpacking them, as often as they are exchanged in a step."""
    if not np.any(plan.gradient_compression_ratio > 1.0):
        return np.zeros(1)
    held = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    held = held + expert_parameters_per_rank(shape, plan)
    each_microbatch = (plan.zero_stage == 2.0) | ((plan.zero_stage >= 3.0) & (plan.pipeline_ranks == 1.0))
    times = np.where(each_microbatch, microbatches(plan), 1.0)
    times = np.where(plan.zero_stage == 0.0, times / plan.local_steps, times)
    once = memory_bound_time_s(
        traffic_bytes=held * features.compression_bytes_per_parameter,
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    return np.where(plan.gradient_compression_ratio > 1.0, once * times, 0.0)
