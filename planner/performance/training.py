"""Time of a training step, in parts that add up to it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Collective
from planner.performance.corrections import ACTIVATION_BYTES, TrainingConstants
from planner.performance.layers import GEMMS_PER_STEP, LayerTimes, layer_times
from planner.performance.links import Links, group_time_s
from planner.performance.models import (
    ModelShape,
    attention_flop_per_token,
    linear_flop_per_token,
    training_flop_per_token,
)
from planner.performance.parallelism import (
    Plan,
    dense_group_ranks,
    expert_group_ranks,
    expert_parameters_per_rank,
    gpus_in_use,
    last_stage_layers,
    microbatch_tokens,
    microbatches,
    shared_parameters_per_rank,
    slot_layers,
    vocabulary_parameters_per_rank,
)
from planner.performance.roofline import ChipRates, gemm_time_s, memory_bound_time_s


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


@dataclass(frozen=True, slots=True)
class StepParts:
    """Where a step's seconds go, shape (n,); their sum is the step.

    Attributes:
        computing_s: Forward and backward of the mean rank.
        recompute_s: Layers or attention computed again.
        tensor_exposed_s, pipeline_exposed_s, data_exposed_s, expert_exposed_s, context_exposed_s: Waiting for
            the collectives of each kind of parallelism.
        bubble_s: Filling and draining the pipeline, and waiting for its fullest stage.
        optimiser_s: Updating the weights.
        other_s: Host that can't keep up, engine between microbatches, fixed time of a step, stragglers.
    """

    computing_s: Floats
    recompute_s: Floats
    tensor_exposed_s: Floats
    pipeline_exposed_s: Floats
    data_exposed_s: Floats
    expert_exposed_s: Floats
    context_exposed_s: Floats
    bubble_s: Floats
    optimiser_s: Floats
    other_s: Floats


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """A step and what follows from it, shape (n,); fractions are of the step."""

    step_s: Floats
    parts: StepParts
    tokens_per_s: Floats
    mfu: Floats
    hfu: Floats
    exposed_communication_fraction: Floats
    bubble_fraction: Floats


def total_s(parts: StepParts) -> Floats:
    """Sum of the parts in their fixed order, shape (n,).

    >>> one = np.array([1.0])
    >>> total_s(StepParts(*[one] * 10))
    array([10.])
    """
    total: Floats = np.zeros(1)
    for part in fields(parts):
        total = total + getattr(parts, part.name)
    return total


def _head_s(shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants) -> Floats:
    """Output head and loss of one microbatch, forward and backward."""
    tokens, entries = microbatch_tokens(plan), shape.vocab / plan.tensor_ranks
    product = gemm_time_s(
        m=tokens,
        n=entries,
        k=shape.hidden,
        peak_flop_per_s=chip.peak_16bit_flop_per_s,
        share_of_peak_fraction=constants.head_gemm_share_of_peak_fraction,
        shape_constant=constants.head_gemm_shape_constant,
        memory_bytes_per_s=chip.memory_bytes_per_s * constants.memory_share_fraction,
        element_bytes=np.array([ACTIVATION_BYTES]),
    )
    loss = memory_bound_time_s(
        traffic_bytes=tokens * entries * constants.logit_traffic_bytes_per_entry,
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    return GEMMS_PER_STEP * product + loss


def _pipeline_exposed_s(shape: ModelShape, plan: Plan, links: Links, constants: TrainingConstants) -> Floats:
    """Exposed sends between stages for one microbatch, both directions."""
    once = group_time_s(
        links,
        Collective.SEND_RECEIVE,
        message_bytes=microbatch_tokens(plan) * shape.hidden * ACTIVATION_BYTES / plan.tensor_ranks,
        ranks=plan.pipeline_ranks,
        # one hop out of the domain is enough for all of a schedule to wait for it
        ranks_per_domain=np.where(gpus_in_use(plan) <= links.domain_ranks, plan.pipeline_ranks, 1.0),
    )
    interleaved = np.where(plan.virtual_stages > 1.0, constants.pipeline_interleaved_exposed_ratio, 1.0)
    return 2.0 * plan.virtual_stages * once * constants.pipeline_exposed_fraction * interleaved


def _shard_time_s(links: Links, buffer_bytes: Floats, ranks: Floats, ranks_per_domain: Floats) -> Floats:
    """Time of one reduce-scatter or all-gather of the buffer over a data group."""
    return group_time_s(
        links,
        Collective.REDUCE_SCATTER,
        message_bytes=buffer_bytes,
        ranks=ranks,
        ranks_per_domain=np.maximum(ranks_per_domain, 1.0),
    )


def _data_times_s(shape: ModelShape, plan: Plan, links: Links, state: StateBytes) -> tuple[Floats, Floats]:
    """Times of reducing all gradients and of gathering all weights of a rank, once."""
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    group, near = dense_group_ranks(plan), links.domain_ranks / plan.tensor_ranks
    # Without sharding an all-reduce follows, whose second half gathers gradients instead of weights.
    gathered = np.where(plan.zero_stage > 0.0, state.weight, state.gradient)
    # Sharded weights travel layer by layer.
    calls = np.where(plan.zero_stage >= 3.0, shape.layers, 1.0)
    reduce = calls * _shard_time_s(links, shared * state.gradient / calls, group, near)
    gather = calls * _shard_time_s(links, shared * gathered / calls, group, near)
    if np.any(shape.experts > 0.0):
        experts, group = expert_parameters_per_rank(shape, plan), expert_group_ranks(plan)
        near = links.domain_ranks / (plan.expert_ranks * plan.expert_tensor_ranks)
        reduce = reduce + _shard_time_s(links, experts * state.gradient, group, near)
        gather = gather + _shard_time_s(links, experts * gathered, group, near)
    return reduce, gather


def _data_exposed_s(
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
    reduce, gather = _data_times_s(shape, plan, links, state)
    slots = slot_layers(shape, plan)

    # Interleaved chunks finish one after another while the pipeline drains, and so do the first ones that start.
    behind = np.minimum(microbatches(plan), plan.pipeline_ranks) - 1.0
    passes = 1.0 + behind * (1.0 - 1.0 / plan.virtual_stages)

    def exposed(time: Floats, window: Floats) -> Floats:
        open_s = np.maximum(time * (1.0 - constants.data_overlap_fraction), time - passes * window)
        return np.asarray(open_s + constants.data_overlap_slowdown_fraction * (time - open_s))

    # While a layer waits for its host, communication goes on.
    reducing = exposed(reduce, slots * (layer.backward_s + layer.host_s))
    if np.any(plan.zero_stage == 2.0):
        # Gradients that no rank holds whole are reduced after every microbatch.
        reducing = reducing * np.where(plan.zero_stage == 2.0, microbatches(plan), 1.0)
    once = reducing + exposed(gather, slots * (layer.forward_s + layer.host_s))
    starts = shape.layers * (dense_group_ranks(plan) - 1.0) * constants.sharded_ring_step_s
    each = (reduce + 2.0 * gather) / constants.sharded_network_share_fraction + 3.0 * starts
    traffic = microbatches(plan) * each
    sharded = (
        np.maximum(traffic - constants.sharded_hiding_fraction * compute_s, 0.0)
        + constants.sharded_slowdown_fraction * np.minimum(traffic, compute_s)
        + each / shape.layers
    )
    # A pipeline keeps gathered weights over its microbatches.
    return np.where((plan.zero_stage >= 3.0) & (plan.pipeline_ranks == 1.0), sharded, once)


def _optimiser_s(shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants) -> Floats:
    """Reading and writing the state of the parameters that a rank owns, and casting the weights that it holds."""
    shared = shared_parameters_per_rank(shape, plan) + vocabulary_parameters_per_rank(shape, plan)
    experts = expert_parameters_per_rank(shape, plan)
    sharded = shared / dense_group_ranks(plan) + experts / expert_group_ranks(plan)
    owned = np.where(plan.zero_stage > 0.0, sharded, shared + experts)
    return memory_bound_time_s(
        traffic_bytes=owned * constants.optimiser_bytes_per_parameter
        + (shared + experts) * constants.weight_cast_bytes_per_parameter,
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )


def _step_parts(
    *,
    shape: ModelShape,
    plan: Plan,
    chip: ChipRates,
    links: Links,
    constants: TrainingConstants,
    state: StateBytes,
) -> StepParts:
    layer, head = layer_times(shape, plan, chip, links, constants), _head_s(shape, plan, chip, constants)
    count, stages = microbatches(plan), plan.pipeline_ranks
    mean_layers = shape.layers / stages
    send = _pipeline_exposed_s(shape, plan, links, constants)
    computing = mean_layers * (layer.forward_s + layer.backward_s) + head / stages
    exposed = layer.tensor_exposed_s + layer.expert_exposed_s + layer.context_exposed_s
    whole_layer = layer.forward_s + layer.backward_s + layer.recompute_s + exposed + layer.host_s
    mean_stage = mean_layers * whole_layer + head / stages
    slowest = np.maximum(
        slot_layers(shape, plan) * whole_layer, last_stage_layers(shape, plan) * whole_layer + head
    )
    filling = (stages - 1.0) / plan.virtual_stages * (mean_stage + send) * constants.pipeline_bubble_ratio
    bubble = count * (slowest - mean_stage) + filling
    parts = StepParts(
        computing_s=count * computing,
        recompute_s=count * mean_layers * layer.recompute_s,
        tensor_exposed_s=count * mean_layers * layer.tensor_exposed_s,
        pipeline_exposed_s=count * send,
        data_exposed_s=_data_exposed_s(
            shape=shape,
            plan=plan,
            links=links,
            constants=constants,
            state=state,
            layer=layer,
            compute_s=count * (computing + mean_layers * (layer.recompute_s + layer.host_s)),
        ),
        expert_exposed_s=count * mean_layers * layer.expert_exposed_s,
        context_exposed_s=count * mean_layers * layer.context_exposed_s,
        bubble_s=bubble,
        optimiser_s=_optimiser_s(shape, plan, chip, constants),
        other_s=count * mean_layers * layer.host_s + constants.step_fixed_s,
    )
    hosts = np.maximum(gpus_in_use(plan) / links.node_ranks, 1.0)
    straggling = constants.straggler_fraction_per_doubling * np.log2(hosts) * total_s(parts)
    spread = np.broadcast_arrays(*(getattr(parts, part.name) for part in fields(parts)), straggling)
    names = [part.name for part in fields(parts)]
    named = dict(zip(names, spread, strict=False))
    return StepParts(**named | {"other_s": spread[-2] + spread[-1]})


def training_step(
    *,
    shape: ModelShape,
    plan: Plan,
    chip: ChipRates,
    links: Links,
    constants: TrainingConstants,
    state: StateBytes,
) -> TrainingStep:
    """Time of one optimiser step and the rates that follow from it.

    Pipeline stages run one forward, one backward (interleaved with virtual stages above 1).

    Args:
        shape, plan, chip, links, constants, state: Model, layout, accelerator, network, corrections, and bytes of a
            parameter's state.

    Returns:
        Arrays of the shape that the arguments broadcast to. `mfu` counts causal attention by half and no
        recompute, `hfu` counts recompute; both against the dense peak of the linear layers' precision.

    Source:
        planner-training-notes, section 2.
    """
    parts = _step_parts(shape=shape, plan=plan, chip=chip, links=links, constants=constants, state=state)
    step_s = total_s(parts)
    tokens = plan.global_batch_sequences * plan.sequence_tokens
    peak = gpus_in_use(plan) * chip.peak_flop_per_s * step_s
    model_flop = tokens * training_flop_per_token(shape, sequence_tokens=plan.sequence_tokens)
    attention = attention_flop_per_token(shape, sequence_tokens=plan.sequence_tokens)
    in_layers = linear_flop_per_token(shape) - 2.0 * shape.vocab * shape.hidden + attention
    again = plan.recomputed_layers_fraction * in_layers
    again = again + (1.0 - plan.recomputed_layers_fraction) * plan.recomputed_attention_fraction * attention
    exposed = (
        parts.tensor_exposed_s
        + parts.pipeline_exposed_s
        + parts.data_exposed_s
        + parts.expert_exposed_s
        + parts.context_exposed_s
    )
    return TrainingStep(
        step_s=step_s,
        parts=parts,
        tokens_per_s=tokens / step_s,
        mfu=model_flop / peak,
        hfu=(model_flop + tokens * again) / peak,
        exposed_communication_fraction=exposed / step_s,
        bubble_fraction=parts.bubble_s / step_s,
    )
