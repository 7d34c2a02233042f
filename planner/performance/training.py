"""Time of a training step, in parts that add up to it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Collective
from planner.performance.corrections import ACTIVATION_BYTES, TrainingConstants
from planner.performance.data_exposed import compression_s, data_exposed_s
from planner.performance.features import NEUTRAL, Features
from planner.performance.layers import GEMMS_PER_STEP, layer_times
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
    gpus_in_use,
    last_stage_layers,
    microbatch_tokens,
    microbatches,
    shard_group_ranks,
    slot_layers,
)
from planner.performance.roofline import ChipRates, gemm_time_s, memory_bound_time_s
from planner.performance.states import StateBytes, host_link_s, optimiser_s

__all__ = [
    "StateBytes",
    "StepParts",
    "TrainingStep",
    "recomputed_flop_per_token",
    "total_s",
    "training_step",
]


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
        other_s: Host that can't keep up, engine between microbatches, the host link, fixed time of a step, stragglers.
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
    """A step and what follows from it, shape (n,); fractions are of the step.

    Attributes:
        host_link_s: Of the step, waiting for activations and weights in the host's memory; it counts as other.
    """

    step_s: Floats
    parts: StepParts
    tokens_per_s: Floats
    mfu: Floats
    hfu: Floats
    exposed_communication_fraction: Floats
    bubble_fraction: Floats
    host_link_s: Floats


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


def _step_parts(
    *,
    shape: ModelShape,
    plan: Plan,
    chip: ChipRates,
    links: Links,
    constants: TrainingConstants,
    state: StateBytes,
    features: Features,
) -> tuple[StepParts, Floats]:
    """The parts, and what of the last one waits for the host link."""
    layer = layer_times(shape, plan, chip, links, constants, features)
    head = _head_s(shape, plan, chip, constants)
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
    if np.any(plan.backward_split):
        filling = filling * np.where(plan.backward_split > 0.0, features.zero_bubble_ratio, 1.0)
    bubble = count * (slowest - mean_stage) + filling
    compute_s = count * (computing + mean_layers * (layer.recompute_s + layer.host_s))
    host_link = host_link_s(shape, plan, constants, state, features, compute_s)
    parts = StepParts(
        computing_s=count * computing,
        recompute_s=count * mean_layers * layer.recompute_s,
        tensor_exposed_s=count * mean_layers * layer.tensor_exposed_s,
        pipeline_exposed_s=count * send,
        data_exposed_s=data_exposed_s(
            shape=shape,
            plan=plan,
            links=links,
            constants=constants,
            state=state,
            layer=layer,
            compute_s=compute_s,
        )
        + compression_s(shape, plan, chip, constants, features),
        expert_exposed_s=count * mean_layers * layer.expert_exposed_s,
        context_exposed_s=count * mean_layers * layer.context_exposed_s,
        bubble_s=bubble,
        optimiser_s=optimiser_s(shape, plan, chip, constants, state, features),
        other_s=count * mean_layers * layer.host_s + constants.step_fixed_s + host_link,
    )
    hosts = np.maximum(_hosts_that_wait(plan, links), 1.0)
    straggling = constants.straggler_fraction_per_doubling * np.log2(hosts) * total_s(parts)
    spread = np.broadcast_arrays(*(getattr(parts, part.name) for part in fields(parts)), straggling)
    names = [part.name for part in fields(parts)]
    named = dict(zip(names, spread, strict=False))
    return StepParts(**named | {"other_s": spread[-2] + spread[-1]}), host_link


def _hosts_that_wait(plan: Plan, links: Links) -> Floats:
    """Hosts of which the slowest sets the pace: those of one replica where replicas don't wait for each other."""
    hosts = gpus_in_use(plan) / links.node_ranks
    if not np.any(plan.asynchronous):
        return hosts
    group = dense_group_ranks(plan)
    replicas = np.where(plan.zero_stage == 0.0, plan.data_ranks, group / shard_group_ranks(plan))
    return np.where(plan.asynchronous > 0.0, hosts / replicas, hosts)


def recomputed_flop_per_token(shape: ModelShape, plan: Plan) -> Floats:
    """FLOP of what is computed again for one token, causal attention by half, shape (n,).

    Args:
        shape: The model.
        plan: Says what is computed again. The head never is.

    Returns:
        Shape (n,).

    Source:
        Counted: the forward FLOP of the layers, attention cores and products that the plan repeats.
    """
    attention = attention_flop_per_token(shape, sequence_tokens=plan.sequence_tokens)
    products = linear_flop_per_token(shape) - 2.0 * shape.vocab * shape.hidden
    again = plan.recomputed_layers_fraction
    some = plan.recomputed_attention_fraction * attention
    if np.any(plan.recomputed_linear_fraction):
        some = some + plan.recomputed_linear_fraction * products
    return again * (products + attention) + (1.0 - again) * some


def training_step(
    *,
    shape: ModelShape,
    plan: Plan,
    chip: ChipRates,
    links: Links,
    constants: TrainingConstants,
    state: StateBytes,
    features: Features = NEUTRAL,
) -> TrainingStep:
    """Time of one optimiser step and the rates that follow from it.

    Pipeline stages run one forward, one backward (interleaved with virtual stages above 1, or with the gradients of
    the weights put off).

    Args:
        shape, plan, chip, links, constants, state, features: Model, layout, accelerator, network, corrections, bytes
            of a parameter's state, and figures of what only some plans use.

    Returns:
        Arrays of the shape that the arguments broadcast to. `mfu` counts causal attention by half and no
        recompute, `hfu` counts recompute; both against the dense peak of the linear layers' precision.

    Source:
        planner-training-notes, section 2.
    """
    parts, host_link = _step_parts(
        shape=shape,
        plan=plan,
        chip=chip,
        links=links,
        constants=constants,
        state=state,
        features=features,
    )
    step_s = total_s(parts)
    tokens = plan.global_batch_sequences * plan.sequence_tokens
    peak = gpus_in_use(plan) * chip.peak_flop_per_s * step_s
    model_flop = tokens * training_flop_per_token(shape, sequence_tokens=plan.sequence_tokens)
    again = recomputed_flop_per_token(shape, plan)
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
        host_link_s=host_link,
    )
