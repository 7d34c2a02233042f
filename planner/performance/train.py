"""A training workload of a scenario: its plan, its step, its memory, as ledger lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.choices import Sharding
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.performance.anchored import enter_without, error_ratio, software_of
from planner.performance.anchors import Kind, kind_of
from planner.performance.assumed import Assumed, family, rows
from planner.performance.hardware import hardware
from planner.performance.memory import (
    MemoryConstants,
    TrainingMemory,
    total_bytes,
    training_memory,
)  # fmt: skip
from planner.performance.models import ModelShape, training_flop_per_token
from planner.performance.parallelism import Plan, gpus_in_use, recomputed_fractions
from planner.performance.search import Case, Goal, PlanChoice, least_recompute, search_plans
from planner.performance.search_remedies import more_memory_in_words, remedies_in_words
from planner.performance.search_space import LEAN, Axes, Job, quick_axes, search_space
from planner.performance.search_words import axes_in_words, plan_in_words
from planner.performance.settings import training_constants
from planner.performance.shapes import shape_of
from planner.performance.training import StateBytes, TrainingStep, training_step
from planner.scenario.givens import wish_line
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import Workload
from planner.units import KILO, TERA

BATCH_TOKENS = 16.8e6
SHOWN_PLANS = 5
"""Plans of a quick search that the report shows."""
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
        case, job: What plans of it are evaluated with, and what they have to divide.
    """

    workload: Workload
    key: str
    case: Case
    job: Job
    shape: ModelShape
    plan: Plan
    step: TrainingStep
    memory: TrainingMemory
    choice: PlanChoice
    searched: bool


def train(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Trained:
    """Enter the step, its parts, the plan and the memory of a training workload.

    Raises:
        DesignError: No plan fits the memory, or the wished plan doesn't divide the GPUs.
    """
    assumed = Assumed(ledger, cluster.parts.catalog)
    case = training_case(assumed, cluster, workload)
    batch = batch_line(ledger, cluster, workload, index, key)
    sequences, tokens = int(ledger.value(batch)[0]), workload.sequence_tokens
    gpus = assumed.use(ledger["cluster.gpus"])
    job = search_job(cluster, workload, case, sequences)
    first = rows(case, 1)
    choice = _choose(cluster, workload, index, first, job)
    if not choice.feasible or choice.plan is None:
        raise DesignError(_does_not_fit(workload, index, cluster, first, job, choice))
    step = training_step(
        shape=case.shape, plan=choice.plan, chip=case.chip, links=case.links, constants=case.constants,
        state=case.state,
    )  # fmt: skip
    kind = _kind(cluster, workload, case.shape)
    before, step = step, slower(step, error_ratio(assumed, cluster, key, kind))
    memory = training_memory(shape=case.shape, plan=choice.plan, state=case.state, constants=case.memory)
    searched = workload.plan == "auto"
    found = Trained(workload, key, first, job, case.shape, choice.plan, step, memory, choice, searched)
    inputs = [*assumed.lines, batch]
    _enter_plan(ledger, found, inputs)
    _enter_step(ledger, found, inputs, gpus, float(sequences * tokens))
    enter_without(assumed, cluster, key, kind, before, training_step)
    _enter_memory(ledger, found, inputs, case.chip.memory_bytes)
    return found


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


def training_case(assumed: Assumed, cluster: Cluster, workload: Workload) -> Case:
    """Model, machine and corrections of a workload, from the catalog's figures."""
    machine = hardware(assumed, cluster, workload.precision)
    shape = shape_of(cluster.parts.models[workload.model].item)
    software = software_of(cluster, _kind(cluster, workload, shape))
    return Case(
        shape,
        machine.chip,
        machine.links,
        training_constants(
            assumed, cluster.parts.groups[0].accelerator, machine, workload.precision, software
        ),
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


def _kind(cluster: Cluster, workload: Workload, shape: ModelShape) -> Kind:
    """What anchors have to be alike in to speak for a workload."""
    generation = family(cluster.parts.groups[0].accelerator.item.generation)
    return kind_of(generation, workload.precision, shape)


def search_job(cluster: Cluster, workload: Workload, case: Case, sequences: int) -> Job:
    """What plans of a workload have to divide."""
    scaleup = cluster.parts.groups[0].scaleup
    return Job(
        shape=case.shape,
        gpus=cluster.parts.gpus,
        domain_ranks=int(case.links.domain_ranks[0]),
        mesh=scaleup is not None and not scaleup.item.switched,
        batch_sequences=sequences,
        sequence_tokens=workload.sequence_tokens,
    )


def batch_line(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Line:
    """Sequences in a step, as wished or about 16 million tokens."""
    wish = workload.batch_sequences
    if wish is None:
        wish = max(1, 2 ** round(np.log2(BATCH_TOKENS / workload.sequence_tokens)))
    return wish_line(
        ledger, cluster.parts.loaded, f"{key}.batch_sequences", "Sequences in a step", "1", wish,
        "workloads", index, "batch_sequences",
    )  # fmt: skip


def _choose(cluster: Cluster, workload: Workload, index: int, case: Case, job: Job) -> PlanChoice:
    """The plan of the scenario, or the fastest of a quick search, of the leanest plans where no other fits."""
    if isinstance(workload.plan, PlanWish):
        wished = _wished_plan(cluster, workload.plan, workload, index, job.batch_sequences)
        return search_plans(case, [wished], total=1, top=1, goals=[Goal.TIME])
    found = quick_search(case, job, quick_axes(job.sequence_tokens))
    return found if found.feasible else quick_search(case, job, LEAN)


def quick_search(case: Case, job: Job, axes: Axes) -> PlanChoice:
    """A search of a few thousand plans in one batch, each with the least recompute that fits."""
    space = search_space(job, axes)
    plans = space.flat()
    if axes.recompute_steps == 0:
        plans = least_recompute(case, plans)
    return search_plans(
        case, [plans] if plans.tensor_ranks.size else [], total=plans.tensor_ranks.size, top=SHOWN_PLANS,
        goals=[Goal.TIME], refused=space.refused, axes=space.values(),
    )  # fmt: skip


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


def _does_not_fit(
    workload: Workload, index: int, cluster: Cluster, case: Case, job: Job, choice: PlanChoice
) -> Problem:
    """What overflows, and what would put it right: other plans first, then other machines."""
    remedies = []
    if choice.leanest is not None:
        if isinstance(workload.plan, PlanWish):
            remedies = remedies_in_words(case, job, choice.leanest)
        remedies += more_memory_in_words(case, job, choice)
    return Problem(
        f"'{workload.model}' can't be trained on {cluster.parts.gpus:,} GPUs: {choice.why_not}",
        cluster.parts.loaded.document.place(("workloads", index, "model")),
        f"workloads.{workload.id}",
        "; ".join([*remedies, "a smaller model"][:3]),
    )


def _enter_plan(ledger: Ledger, found: Trained, inputs: list[Line]) -> None:
    plan, choice = found.plan, found.choice
    note = "as the scenario says"
    if found.searched:
        note = f"the fastest of {choice.tried:,} plans, of which {choice.fitting:,} fit the memory"
        ranked = choice.rankings[Goal.TIME]
        if len(ranked) > 1:
            other = ranked[1]
            note += (
                f"; runner-up {plan_in_words(other.plan)}, step {other.step.step_s[0]:.3g} s ({other.why})"
            )
        note += f"; tried were {axes_in_words(choice.axes)}"
        if choice.axes["recomputed_layers_fraction"] == (0.0,):
            note += ", with the fewest layers recomputed that fit"
        note += "; planner search tries every legal plan"
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
            f"{found.key}.plan.{name}", label, "1", value, function=search_plans, inputs=inputs, note=note
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


def run_energy(ledger: Ledger, trained: Sequence[Trained]) -> None:
    """Enter the energy of each training run at the meter, once power is known.

    The site draws its load's power while the job computes or communicates, and its idle power in the bubble of the
    pipeline, as a search by energy has it too.
    """
    load, idle = ledger["power.facility_w"], ledger["power.facility_idle_w"]
    for one in trained:
        hours = ledger[f"{one.key}.gpu_hours"] / ledger["cluster.gpus"]
        line = ledger.derive(
            f"{one.key}.run_energy_kwh", "Energy of the training run at the meter", "kWh",
            hours * (load - ledger[f"{one.key}.bubble_fraction"] * (load - idle)) / KILO,
        )  # fmt: skip
        own = f"workload.{one.workload.id}.run_energy_kwh"
        if own not in ledger:
            ledger.derive(own, line.label, line.unit, line)


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
