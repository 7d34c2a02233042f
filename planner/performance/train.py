"""A training workload of a scenario: its plan, its step, its memory, as ledger lines."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.choices import Sharding
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.performance.assumed import Assumed, prior, rows
from planner.performance.hardware import FORMAT, Hardware, gemm_share, hardware
from planner.performance.layers import TrainingConstants
from planner.performance.memory import (
    MemoryConstants,
    TrainingMemory,
    total_bytes,
    training_memory,
)  # fmt: skip
from planner.performance.models import ModelShape, training_flop_per_token
from planner.performance.parallelism import Plan, gpus_in_use, recomputed_fractions
from planner.performance.plans import PlanChoice, best_plan, candidate_plans
from planner.performance.shapes import shape_of
from planner.performance.training import StateBytes, TrainingStep, training_step
from planner.scenario.givens import wish_line
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import Workload
from planner.units import TERA

BATCH_TOKENS = 16.8e6
ZERO_STAGE = {Sharding.ZERO1: 1.0, Sharding.FSDP: 3.0}
PARTS = {
    "computing_s": "Computing",
    "recompute_s": "Recompute",
    "tensor_exposed_s": "Waiting for tensor-parallel communication",
    "pipeline_exposed_s": "Waiting for pipeline communication",
    "data_exposed_s": "Waiting for data-parallel communication",
    "expert_exposed_s": "Waiting for expert-parallel communication",
    "context_exposed_s": "Waiting for context-parallel communication",
    "bubble_s": "Pipeline bubble",
    "optimiser_s": "Optimiser",
    "other_s": "Stragglers, host and fixed time",
}
MEMORY = {
    "weights_bytes": "Weights",
    "gradients_bytes": "Gradients",
    "optimiser_bytes": "Optimiser states",
    "activations_bytes": "Activations",
    "logits_bytes": "Logits",
    "buffers_bytes": "Buffers and reserve",
}


@dataclass(frozen=True, slots=True)
class Trained:
    """A training workload's prediction.

    Attributes:
        key: Beginning of its ledger keys.
        choice: What the search found, for the reports.
    """

    workload: Workload
    key: str
    shape: ModelShape
    plan: Plan
    step: TrainingStep
    memory: TrainingMemory
    choice: PlanChoice
    searched: bool


@dataclass(frozen=True, slots=True)
class _Case:
    shape: ModelShape
    hardware: Hardware
    constants: TrainingConstants
    state: StateBytes
    memory: MemoryConstants


def train(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Trained:
    """Enter the step, its parts, the plan and the memory of a training workload.

    Raises:
        DesignError: No plan fits the memory, or the wished plan doesn't divide the GPUs.
    """
    assumed = Assumed(ledger, cluster.parts.catalog)
    case = _case(assumed, cluster, workload)
    batch = _batch(ledger, cluster, workload, index, key)
    sequences, tokens = int(ledger.value(batch)[0]), workload.sequence_tokens
    gpus = assumed.use(ledger["cluster.gpus"])
    choice = _choose(cluster, workload, index, case, sequences)
    if not choice.feasible or choice.plan is None:
        raise DesignError(_does_not_fit(workload, index, cluster, choice))
    step = training_step(
        shape=case.shape, plan=choice.plan, chip=case.hardware.chip, links=case.hardware.links,
        constants=case.constants, state=case.state,
    )  # fmt: skip
    ratio = _error_ratio(assumed, key, sparse=bool(case.shape.experts[0] > 0))
    step = slower(step, assumed.use(ratio))
    memory = training_memory(shape=case.shape, plan=choice.plan, state=case.state, constants=case.memory)
    found = Trained(workload, key, case.shape, choice.plan, step, memory, choice, workload.plan == "auto")
    inputs = [*assumed.lines, batch]
    _enter_plan(ledger, found, inputs)
    _enter_step(ledger, found, inputs, gpus, float(sequences * tokens))
    _enter_memory(ledger, found, inputs, case.hardware.chip.memory_bytes)
    return found


def _error_ratio(assumed: Assumed, key: str, *, sparse: bool) -> Line:
    """True over predicted step time: 1, with the band that like measured runs showed.

    Overriding it calibrates the prediction to a run of one's own.
    """
    name = "model_band_moe_fraction" if sparse else "model_band_unknown_stack_fraction"
    figure, source = assumed.catalog.figure("performance", name)
    return assumed.ledger.given(
        f"{key}.model_error_ratio", "Measured over predicted step time", "1", 1.0, prior(source),
        low=1.0 - figure.value, high=1.0 + figure.value,
    )  # fmt: skip


def slower(step: TrainingStep, ratio: Floats) -> TrainingStep:
    """A step whose every part takes so many times as long; shares of the step stay.

    Args:
        step: As predicted.
        ratio: Measured over predicted time, shape (n,).
    """
    parts = {part.name: getattr(step.parts, part.name) * ratio for part in fields(step.parts)}
    return replace(
        step,
        step_s=step.step_s * ratio,
        parts=replace(step.parts, **parts),
        tokens_per_s=step.tokens_per_s / ratio,
        mfu=step.mfu / ratio,
        hfu=step.hfu / ratio,
    )


def _case(assumed: Assumed, cluster: Cluster, workload: Workload) -> _Case:
    machine = hardware(assumed, cluster, workload.precision)
    return _Case(
        shape_of(cluster.parts.models[workload.model].item),
        machine,
        training_constants(assumed, cluster, machine, workload),
        StateBytes(
            assumed("weight_bytes_per_parameter"),
            assumed("gradient_bytes_per_parameter"),
            assumed("optimiser_bytes_per_parameter"),
        ),
        MemoryConstants(
            assumed("training_activation_factor"),
            assumed("training_logit_bytes_per_entry"),
            assumed("training_reserved_bytes"),
        ),
    )


def training_constants(
    assumed: Assumed, cluster: Cluster, machine: Hardware, workload: Workload
) -> TrainingConstants:
    """Corrections for a present-day Megatron-class stack on this generation and precision."""
    generation, form = machine.generation, FORMAT[workload.precision]
    width = "16bit" if form == "16bit" else "narrow"
    element_bytes = {"16bit": 2.0, "fp8": 1.0, "nvfp4": 0.5625}[form]
    special = {
        "gemm_share_of_peak_fraction": gemm_share(assumed, cluster, generation, workload.precision),
        "gemm_shape_constant": assumed(f"gemm_shape_constant_{width}"),
        "head_gemm_share_of_peak_fraction": assumed(f"gemm_share_of_peak_{generation}_16bit_fraction"),
        "head_gemm_shape_constant": assumed("gemm_shape_constant_16bit"),
        "gemm_element_bytes": np.array([element_bytes]),
        "attention_share_of_peak_fraction": assumed(f"attention_share_of_peak_{generation}_fraction"),
        "memory_traffic_factor": assumed("training_memory_traffic_factor_megatron_core"),
        "cast_bytes_per_element": assumed(f"training_cast_bytes_per_element_{width}"),
        "tensor_overlap_fraction": assumed("tensor_overlap_fraction_megatron_core"),
        "data_overlap_fraction": assumed("data_overlap_fraction_megatron_core"),
        "expert_exposed_fraction": assumed("expert_exposed_fraction_before_2026_06"),
        "expert_once_per_domain_fraction": assumed("expert_once_per_domain_fraction_before_2026"),
        "grouped_gemm_share_ratio": assumed.first_of(
            f"grouped_gemm_share_ratio_{generation}", "grouped_gemm_share_ratio"
        ),
        "permute_passes": assumed("permute_passes_before_2026_06"),
        "sparse_layer_host_s": assumed("sparse_layer_host_s_2025"),
    }
    plain = {
        field.name: assumed(f"training_{field.name}")
        for field in fields(TrainingConstants)
        if field.name not in special
    }
    return TrainingConstants(**special, **plain)


def _batch(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Line:
    wish = workload.batch_sequences
    if wish is None:
        wish = max(1, 2 ** round(np.log2(BATCH_TOKENS / workload.sequence_tokens)))
    return wish_line(
        ledger, cluster.parts.loaded, f"{key}.batch_sequences", "Sequences in a step", "1", wish,
        "workloads", index, "batch_sequences",
    )  # fmt: skip


def _choose(cluster: Cluster, workload: Workload, index: int, case: _Case, sequences: int) -> PlanChoice:
    gpus, scaleup = cluster.parts.gpus, cluster.parts.groups[0].scaleup
    domain = int(case.hardware.links.domain_ranks[0])
    if isinstance(workload.plan, PlanWish):
        candidates = _wished_plan(cluster, workload.plan, workload, index, sequences)
    else:
        mesh = scaleup is not None and not scaleup.item.switched
        candidates = candidate_plans(
            shape=case.shape, gpus=gpus, domain_ranks=domain, global_batch_sequences=sequences,
            sequence_tokens=workload.sequence_tokens,
            tensor_degrees=(1, domain) if mesh else (1, 2, 4, 8, 16),
            context_degrees=(1,) if workload.sequence_tokens <= 32768 else (1, 2, 4, 8, 16),
        )  # fmt: skip
    return best_plan(
        candidates=candidates,
        shape=case.shape,
        chip=rows(case.hardware.chip, 1),
        links=rows(case.hardware.links, 1),
        constants=rows(case.constants, 1),
        state=rows(case.state, 1),
        memory_constants=rows(case.memory, 1),
    )


def _wished_plan(cluster: Cluster, wish: PlanWish, workload: Workload, index: int, sequences: int) -> Plan:
    gpus, place = cluster.parts.gpus, cluster.parts.loaded.document.place(("workloads", index, "plan"))
    model = cluster.parts.models[workload.model].item
    block = wish.tensor * wish.pipeline
    data = gpus // block if block <= gpus else 0
    problems = []
    if data == 0 or gpus % block:
        problems.append(f"tensor {wish.tensor} x pipeline {wish.pipeline} doesn't divide {gpus:,} GPUs")
    elif sequences % (data * wish.microbatch):
        problems.append(
            f"{sequences:,} sequences don't divide over {data:,} data ranks x {wish.microbatch} in a microbatch"
        )
    if model.heads % wish.tensor:
        problems.append(f"tensor {wish.tensor} doesn't divide {model.heads} heads")
    if wish.pipeline > model.layers:
        problems.append(f"{wish.pipeline} pipeline stages are more than {model.layers} layers")
    if wish.expert > 1 and (not model.experts or model.experts % wish.expert):
        problems.append(f"expert {wish.expert} doesn't divide {model.experts} experts")
    if problems:
        raise DesignError(
            Problem(
                one, place, f"workloads.{workload.id}.plan", "write plan: auto to search for one that does"
            )
            for one in problems
        )
    layers, attention = recomputed_fractions(wish.recompute)

    def one(number: float) -> Floats:
        return np.array([float(number)])

    return Plan(
        tensor_ranks=one(wish.tensor),
        pipeline_ranks=one(wish.pipeline),
        context_ranks=one(1),
        data_ranks=one(data),
        expert_ranks=one(wish.expert),
        expert_tensor_ranks=one(1),
        virtual_stages=one(wish.virtual_stages),
        microbatch_sequences=one(wish.microbatch),
        global_batch_sequences=one(sequences),
        sequence_tokens=one(workload.sequence_tokens),
        zero_stage=one(ZERO_STAGE[wish.sharding]),
        recomputed_layers_fraction=layers,
        recomputed_attention_fraction=attention,
    )


def _does_not_fit(workload: Workload, index: int, cluster: Cluster, choice: PlanChoice) -> Problem:
    per_gpu = choice.available_bytes
    remedies = ["accelerators with more memory", "a smaller model"]
    if choice.needed_bytes > per_gpu > 0:
        factor = choice.needed_bytes / per_gpu
        more = int(np.ceil(cluster.parts.gpus * factor / 8) * 8)
        remedies.insert(0, f"about {more:,} GPUs or more, over which states are shared out")
    return Problem(
        f"'{workload.model}' can't be trained on {cluster.parts.gpus:,} GPUs: {choice.why_not}",
        cluster.parts.loaded.document.place(("workloads", index, "model")),
        f"workloads.{workload.id}",
        "; ".join(remedies),
    )


def _enter_plan(ledger: Ledger, found: Trained, inputs: list[Line]) -> None:
    plan, choice = found.plan, found.choice
    note = "as the scenario says"
    if found.searched:
        note = f"the fastest of {choice.tried:,} plans, of which {choice.fitting:,} fit the memory"
        if choice.runner_up is not None and choice.runner_up_step_s is not None:
            other = choice.runner_up
            note += (
                f"; runner-up tensor {other.tensor_ranks[0]:.0f}, pipeline {other.pipeline_ranks[0]:.0f}, "
                f"data {other.data_ranks[0]:.0f}, step {choice.runner_up_step_s[0]:.3g} s"
            )
    for name, label, value in (
        ("tensor", "Tensor-parallel ranks", plan.tensor_ranks),
        ("pipeline", "Pipeline stages", plan.pipeline_ranks),
        ("context", "Context-parallel ranks", plan.context_ranks),
        ("data", "Data-parallel ranks", plan.data_ranks),
        ("expert", "Expert-parallel ranks", plan.expert_ranks),
        ("virtual_stages", "Chunks on each pipeline stage", plan.virtual_stages),
        ("microbatch", "Sequences in a microbatch", plan.microbatch_sequences),
        ("zero_stage", "Sharding stage (1 optimiser, 3 all)", plan.zero_stage),
        ("recompute", "Share of layers computed again", plan.recomputed_layers_fraction),
    ):
        ledger.compute(
            f"{found.key}.plan.{name}", label, "1", value, function=best_plan, inputs=inputs, note=note
        )


def _enter_step(ledger: Ledger, found: Trained, inputs: list[Line], gpus: Floats, step_tokens: float) -> None:
    step, key = found.step, found.key
    parts = [
        ledger.compute(
            f"{key}.parts.{name}", label, "s", getattr(step.parts, name), function=training_step, inputs=inputs,
            note="part of the step",
        )
        for name, label in PARTS.items()
    ]  # fmt: skip
    total = ledger.derive(f"{key}.step_s", "Training step", "s", added(parts))
    tokens = ledger.compute(
        f"{key}.step_tokens", "Tokens in a step", "tokens", step_tokens, function=training_step, inputs=[inputs[-1]],
        note="sequences in a step x tokens in a sequence",
    )  # fmt: skip
    rate = ledger.derive(f"{key}.tokens_per_s", "Training rate", "tokens/s", tokens / total)
    ledger.derive(
        f"{key}.tokens_per_s_per_gpu", "Training rate of a GPU", "tokens/s", rate / ledger["cluster.gpus"]
    )
    used = gpus_in_use(found.plan) / gpus
    for name, label, value in (
        ("mfu_fraction", "Model FLOP utilisation", step.mfu * used),
        ("hfu_fraction", "Hardware FLOP utilisation", step.hfu * used),
        ("exposed_communication_fraction", "Exposed communication", step.exposed_communication_fraction),
        ("bubble_fraction", "Pipeline bubble", step.bubble_fraction),
    ):
        ledger.compute(
            f"{key}.{name}", label, "fraction", value, function=training_step, inputs=inputs,
            note="of dense peak" if "fu" in name else "of the step",
        )  # fmt: skip
    ledger.compute(
        f"{key}.achieved_tflop_per_s", "Model arithmetic of a GPU", "TFLOP/s",
        _achieved_tflop_per_s(found, gpus),
        function=training_step, inputs=inputs, note="model FLOP, causal attention by half, over the step",
    )  # fmt: skip


def _achieved_tflop_per_s(found: Trained, gpus: Floats) -> Floats:
    plan = found.plan
    tokens = plan.global_batch_sequences * plan.sequence_tokens
    flop = tokens * training_flop_per_token(found.shape, sequence_tokens=plan.sequence_tokens)
    return np.asarray(flop / found.step.step_s / gpus / TERA)


def _enter_memory(ledger: Ledger, found: Trained, inputs: list[Line], available: Floats) -> None:
    for name, label in MEMORY.items():
        ledger.compute(
            f"{found.key}.memory.{name}", f"{label} on the fullest GPU", "byte", getattr(found.memory, name),
            function=training_memory, inputs=inputs,
        )  # fmt: skip
    for name, label, value in (
        ("needed_bytes", "Memory needed on the fullest GPU", total_bytes(found.memory)),
        ("available_bytes", "Memory of a GPU", available),
    ):
        ledger.compute(
            f"{found.key}.memory.{name}", label, "byte", value, function=total_bytes, inputs=inputs
        )
