"""A training workload of a scenario: its plan, its step, its memory, as ledger lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.choices import Offload
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem, Remedy
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.performance.anchored import enter_without, error_ratio
from planner.performance.assumed import Assumed, rows
from planner.performance.features import host_link_exposed_s
from planner.performance.memory import TrainingMemory, total_bytes, training_memory
from planner.performance.memory_remedies import memory_remedies
from planner.performance.models import ModelShape, training_flop_per_token
from planner.performance.parallelism import Plan, gpus_in_use
from planner.performance.search import Case, Goal, PlanChoice, least_recompute, memory_of, search_plans
from planner.performance.search_space import LEAN, Axes, Job, quick_axes, search_space
from planner.performance.search_words import axes_in_words, plan_in_words
from planner.performance.software import UNFUSED
from planner.performance.states import host_link_bytes
from planner.performance.training import TrainingStep, recomputed_flop_per_token, training_step
from planner.performance.training_case import kind_of_workload, training_case
from planner.performance.wished import wished_plan
from planner.scenario.givens import wish_line
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import Workload
from planner.units import GIGA, KILO, TERA

BATCH_TOKENS = 16.8e6
SHOWN_PLANS = 5
"""Plans of a quick search that the report shows."""
WHAT_IF = "a what-if: communication and memory follow it, and the tokens to train are taken as they are"
FEATURES = {
    "expert_tensor_ranks": ("expert_tensor", "Ranks that split one expert"),
    "recomputed_attention_fraction": ("recompute_attention", "Share of attention cores computed again"),
    "recomputed_linear_fraction": ("recompute_products", "Share of matrix products computed again"),
    "shard_ranks": ("shard_ranks", "Ranks of a shard group"),
    "backward_split": ("zero_bubble", "Zero-bubble schedule (1 yes)"),
    "context_gathered": ("context_gathered", "Keys and values gathered (1 yes)"),
    "gradient_compression_ratio": ("gradient_compression", "Gradient bytes before over after compression"),
    "local_steps": ("local_steps", "Steps between exchanges of replicas"),
    "asynchronous": ("asynchronous", "Replicas go on while they exchange (1 yes)"),
    "offloaded_optimiser": ("offload_optimiser", "Optimiser states in host memory (1 yes)"),
    "offloaded_activations": ("offload_activations", "Activations in host memory (1 yes)"),
    "offloaded_weights": ("offload_weights", "Weights in host memory (1 yes)"),
}
"""Plan fields beyond those of every plan, with the end of their keys and their labels."""
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


def train(
    ledger: Ledger,
    cluster: Cluster,
    workload: Workload,
    index: int,
    key: str,
    choice: PlanChoice | None = None,
) -> Trained:
    """Enter the step, its parts, the plan and the memory of a training workload.

    Args:
        ledger: Takes the lines.
        cluster: What is built.
        workload: What is trained, and its place in the scenario.
        key: Beginning of its lines' keys.
        choice: Its plan, where that is known; looked for otherwise.

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
    choice = choice or _choose(cluster, workload, index, first, job)
    if not choice.feasible or choice.plan is None:
        raise DesignError(_does_not_fit(workload, index, cluster, first, job, choice))
    step = training_step(
        shape=case.shape, plan=choice.plan, chip=case.chip, links=case.links, constants=case.constants,
        state=case.state, features=case.features,
    )  # fmt: skip
    kind = kind_of_workload(cluster, workload, case.shape)
    before, step = step, slower(step, error_ratio(assumed, cluster, key, kind, workload))
    memory = memory_of(case, choice.plan)
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
        host_link_s=step.host_link_s * ratio,
        mfu=step.mfu / ratio,
        hfu=step.hfu / ratio,
    )


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
        sequence_parallel=workload.software not in UNFUSED,
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
        wished = wished_plan(cluster, workload, index, job.batch_sequences, domain_ranks=job.domain_ranks)
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


def _does_not_fit(
    workload: Workload, index: int, cluster: Cluster, case: Case, job: Job, choice: PlanChoice
) -> Problem:
    """What overflows, and what would put it right: other plans first, then other machines."""
    remedies: list[Remedy] = []
    if choice.leanest is not None:
        remedies = memory_remedies(workload, index, case, job, choice)
    return Problem(
        f"'{workload.model}' can't be trained on {cluster.parts.gpus:,} GPUs: {choice.why_not}",
        cluster.parts.loaded.document.place(("workloads", index, "model")),
        f"workloads.{workload.id}",
        remedies=(*remedies, Remedy("a smaller model")),
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

    _enter_features(ledger, found, inputs)


def _enter_features(ledger: Ledger, found: Trained, inputs: list[Line]) -> None:
    """Lines of what only some plans use, where this one does."""
    usual = {"expert_tensor_ranks": 1.0, "gradient_compression_ratio": 1.0, "local_steps": 1.0}
    for field, (name, label) in FEATURES.items():
        value = getattr(found.plan, field)
        if value[0] != usual.get(field, 0.0):
            note = WHAT_IF if field in ("local_steps", "asynchronous") else "as the scenario says"
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
    _enter_flop(ledger, found, inputs)
    _enter_host_link(ledger, found, inputs)


def _enter_host_link(ledger: Ledger, found: Trained, inputs: list[Line]) -> None:
    """What an offload takes of the host link, and what the step waits for it."""
    key, step, plan, case = found.key, found.step, found.plan, found.case
    if not any(np.any(getattr(plan, f"offloaded_{one.value}")) for one in Offload):
        return
    moved = host_link_bytes(case.shape, plan, case.state, case.features)
    ledger.compute(
        f"{key}.host_link_gbyte_per_s", "Host link, from the host, mean over the step", "GB/s",
        moved / step.step_s / GIGA, function=host_link_bytes, inputs=inputs,
        note="of each GPU; about as much goes to the host, weights apart",
    )  # fmt: skip
    if np.any(plan.offloaded_activations) or np.any(plan.offloaded_weights):
        ledger.compute(
            f"{key}.host_link_s", "Waiting for the host link", "s", step.host_link_s, function=host_link_exposed_s,
            inputs=inputs, note="of the part named other; the optimiser's own transfers count as optimiser",
        )  # fmt: skip


def _enter_flop(ledger: Ledger, found: Trained, inputs: list[Line]) -> None:
    """FLOP of a token in the conventions that people use."""
    tokens, shape = found.plan.sequence_tokens, found.shape
    causal, full = (
        training_flop_per_token(shape, sequence_tokens=tokens, causal=half) for half in (True, False)
    )
    for name, label, value, note in (
        ("model_flop_causal", "Model FLOP of a token, causal attention", causal,
         "scores above the diagonal left out: the convention of MFU here"),
        ("model_flop_full", "Model FLOP of a token, full attention", full, "the whole square of scores"),
        ("hardware_flop", "Hardware FLOP of a token", causal + recomputed_flop_per_token(shape, found.plan),
         "causal attention, with what is computed again: the convention of HFU here"),
    ):  # fmt: skip
        ledger.compute(
            f"{found.key}.{name}_per_token", label, "FLOP/token", value, function=training_flop_per_token,
            inputs=inputs, note=note,
        )  # fmt: skip


def run_energy(ledger: Ledger, trained: Sequence[Trained]) -> None:
    """Enter the energy of each training run at the meter and its carbon, once power is known.

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
        lines = {"run_energy_kwh": line}
        if "site.carbon_kg_per_kwh" in ledger:
            lines["run_carbon_kg"] = ledger.derive(
                f"{one.key}.run_carbon_kg", "Carbon of the training run, location-based", "kg",
                line * ledger["site.carbon_kg_per_kwh"],
            )  # fmt: skip
        for name, of_run in lines.items():
            own = f"workload.{one.workload.id}.{name}"
            if own not in ledger:
                ledger.derive(own, of_run.label, of_run.unit, of_run)


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
