"""Measured runs of one's own stack beside their predictions, and the ratio that corrects the model by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from planner.arrays import Floats
from planner.catalog.llm import Model
from planner.catalog.schema import Accelerator, Nic, Server
from planner.catalog.store import Catalog, Entry
from planner.choices import Precision
from planner.errors import DesignError, PlannerError, Problem, ScenarioError, nearest
from planner.performance.corrections import TrainingConstants
from planner.performance.hardware import FORMAT
from planner.performance.links import Links
from planner.performance.machines import Machine, Machines, power_ratios, with_network
from planner.performance.models import ModelShape, model_shape, training_flop_per_token
from planner.performance.parallelism import Plan, recompute_fields
from planner.performance.shapes import shape_of
from planner.performance.software import Figures, Setting, Software, has_fast_softmax, training_constants
from planner.performance.stacks import stack_of
from planner.performance.training import StateBytes, training_step
from planner.scenario.anchors import Anchor, AnchorArch, AnchorRun, Kernel, Shards
from planner.scenario.parts import BEHAVIOUR_BY_FABRIC

ZERO_STAGE: Final = {Shards.NONE: 0, Shards.ZERO1: 1, Shards.ZERO2: 2, Shards.FSDP: 3}
PRIOR_RUNS: Final = 4.0
"""Runs that the catalog's scatter within a family weighs as against the scatter of the runs at hand."""
Z90: Final = 1.2815515655446004
"""Standard normal quantile of 90 %: half a P10-P90 band over its standard deviation."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Runs of one kind share a bias.

    Attributes:
        generation, form: Of the accelerator, and of the matrix products, as in `Setting`.
        sparse: A mixture of experts.
    """

    generation: str
    form: str
    sparse: bool

    def __str__(self) -> str:
        return f"{'mixture of experts' if self.sparse else 'dense'}, {self.form}, {self.generation}"


@dataclass(frozen=True, slots=True)
class AnchorStep:
    """A measured run as the models take it; arrays of shape (1,).

    Attributes:
        gemm_ratio: Matrix products of its machine against the one the models know.
    """

    anchor: Anchor
    shape: ModelShape
    plan: Plan
    machine: Machine
    links: Links
    setting: Setting
    gemm_ratio: Floats

    @property
    def kind(self) -> Kind:
        """What it may correct."""
        return Kind(self.setting.generation, self.setting.form, bool(self.shape.experts[0] > 0.0))

    def predicted_s(self, figure: Figures) -> Floats:
        """The step that the model says, of the shape that figures have."""
        constants = self._constants(figure)
        state = StateBytes(
            *(figure(f"{name}_bytes_per_parameter") for name in ("weight", "gradient", "optimiser"))
        )
        return training_step(
            shape=self.shape, plan=self.plan, chip=self.machine.hardware.chip, links=self.links, constants=constants,
            state=state,
        ).step_s  # fmt: skip

    def _constants(self, figure: Figures) -> TrainingConstants:
        found = training_constants(figure, self.setting)
        run = self.anchor.run
        if run.attention is Kernel.CUDNN:
            share = figure(f"attention_share_of_peak_{self.setting.generation}_fraction")
            found = replace(found, attention_share_of_peak_fraction=share)
        if run.bare:
            found = replace(found, step_fixed_s=np.zeros(1))
        return replace(
            found,
            gemm_share_of_peak_fraction=found.gemm_share_of_peak_fraction * self.gemm_ratio,
            head_gemm_share_of_peak_fraction=found.head_gemm_share_of_peak_fraction * self.gemm_ratio,
        )


_PREPARED: WeakKeyDictionary[Catalog, dict[tuple[Anchor, ...], tuple[AnchorStep, ...]]] = WeakKeyDictionary()


def anchor_steps(anchors: Sequence[Anchor], catalog: Catalog) -> tuple[AnchorStep, ...]:
    """Runs with their machines; kept, since a study evaluates many times.

    Raises:
        ScenarioError: Runs on machines or of models that the catalog doesn't have, and runs of several kinds of
            software; every problem.
    """
    key = tuple(anchors)
    known = _PREPARED.setdefault(catalog, {})
    if key not in known:
        known[key] = _steps(key, catalog)
    return known[key]


def _steps(anchors: Sequence[Anchor], catalog: Catalog) -> tuple[AnchorStep, ...]:
    machines, found, problems = Machines(catalog), [], []
    for anchor in anchors:
        try:
            found.append(_step(anchor, catalog, machines))
        except PlannerError as error:
            problems += [
                replace(one, place=anchor.place, key=f"run '{anchor.run.id}'") for one in error.problems
            ]
    software = dict.fromkeys(one.setting.software for one in found)
    if len(software) > 1:
        names = ", ".join(f"'{one.anchor.run.stack}' ({one.setting.software.value})" for one in
                          {step.setting.software: step for step in found}.values())  # fmt: skip
        problems.append(
            Problem(f"anchors are of several kinds of software: {names}", found[-1].anchor.place,
                    remedy="keep the runs of the stack that the plan is for")
        )  # fmt: skip
    if problems:
        raise ScenarioError(problems)
    return tuple(found)


def _step(anchor: Anchor, catalog: Catalog, machines: Machines) -> AnchorStep:
    run = anchor.run
    machine = machines.get(_server(run, catalog), run.precision)
    shape = shape_of(catalog.get(Model, run.model)) if run.model else _shape(run.arch)
    form = FORMAT[run.precision]
    stack = stack_of(run.stack)
    accelerator = catalog.get(Accelerator, machine.server.item.accelerator)
    ratio, wide = power_ratios(machine, form=form)
    setting = Setting(
        software=stack.software if stack is not None else Software.MEGATRON_CORE,
        generation=machine.hardware.generation, form=form, windowed=bool(shape.windowed_layers[0] > 0),
        power_ratio=ratio, head_power_ratio=wide, fast_softmax=has_fast_softmax(accelerator),
    )  # fmt: skip
    plan = _plan(run)
    _refuse_beyond_peak(anchor, shape, plan, machine)
    return AnchorStep(
        anchor, shape, plan, machine, _links(run, machine), setting, machine.hardware.gemm_ratio
    )


def _refuse_beyond_peak(anchor: Anchor, shape: ModelShape, plan: Plan, machine: Machine) -> None:
    """A step that would take more than the dense peak of all GPUs.

    Raises:
        DesignError: The run can't have been so fast.
    """
    tokens = plan.global_batch_sequences * plan.sequence_tokens
    flop = training_flop_per_token(shape, sequence_tokens=plan.sequence_tokens) * tokens
    least_s = float((flop / (anchor.run.gpus * machine.hardware.chip.peak_flop_per_s))[0])
    if anchor.run.measured_s < least_s:
        raise DesignError(
            Problem(
                f"a step of {anchor.run.measured_s:.4g} s is faster than {anchor.run.gpus:,} GPUs at their dense "
                f"peak ({least_s:.4g} s)",
                anchor.place,
                remedy="look at step_s or tokens_per_s, batch_sequences, gpus and precision",
            )
        )


def _server(run: AnchorRun, catalog: Catalog) -> Entry[Server]:
    """The server of a run, or the first that can be ordered with its accelerator.

    Raises:
        CatalogError: No such item.
        DesignError: No server brings the accelerator.
    """
    if run.server is not None:
        return catalog.entry(Server, run.server)
    assert run.accelerator is not None
    return server_with(run.accelerator, catalog)


def server_with(accelerator: str, catalog: Catalog) -> Entry[Server]:
    """The first server of the catalog that brings an accelerator, one that can be ordered before others.

    Raises:
        CatalogError: No such accelerator.
        ScenarioError: No server brings it.
    """
    catalog.entry(Accelerator, accelerator)
    entries = [catalog.entry(Server, one) for one in catalog.ids(Server)]
    fitting = [one for one in entries if one.item.accelerator == accelerator]
    if not fitting:
        known = {one.item.accelerator for one in entries}
        raise ScenarioError(
            Problem(f"no server of the catalog brings '{accelerator}'", remedy=nearest(accelerator, known))
        )
    return next((one for one in fitting if one.item.orderable), fitting[0])


def _shape(arch: AnchorArch | None) -> ModelShape:
    assert arch is not None
    experts = arch.experts
    return model_shape(
        layers=arch.layers, hidden=arch.hidden, heads=arch.heads, kv_heads=arch.kv_heads or arch.heads,
        head_dim=arch.head_size or 0.0, vocab=arch.vocabulary, glu=arch.gated_ffn,
        tied_embeddings=arch.tied_embeddings, ffn=(arch.ffn or 0.0) if not experts or experts.dense_layers else 0.0,
        dense_layers=experts.dense_layers if experts else None, experts=experts.experts if experts else 0,
        experts_per_token=experts.experts_per_token if experts else 0,
        expert_ffn=experts.expert_ffn if experts else 0, shared_expert_ffn=experts.shared_ffn if experts else 0,
    )  # fmt: skip


def _plan(run: AnchorRun) -> Plan:
    plan = run.plan
    numbers = {
        "tensor_ranks": plan.tensor, "pipeline_ranks": plan.pipeline, "context_ranks": plan.context,
        "data_ranks": run.data_ranks, "expert_ranks": plan.expert, "expert_tensor_ranks": plan.expert_tensor,
        "virtual_stages": plan.virtual_stages, "microbatch_sequences": plan.microbatch,
        "global_batch_sequences": run.batch_sequences, "sequence_tokens": run.sequence_tokens,
        "zero_stage": ZERO_STAGE[plan.sharding], "sequence_parallel": plan.sequence_parallel,
    }  # fmt: skip
    return Plan(
        **{name: np.array([float(value)]) for name, value in numbers.items()},
        **recompute_fields(run.recompute),
    )


def _links(run: AnchorRun, machine: Machine) -> Links:
    item, catalog = machine.server.item, machine.assumed.catalog
    fabric = catalog.get(Nic, item.compute_nics.nic).fabrics[0]
    return with_network(
        machine, nodes=run.gpus / machine.node_gpus, node_gpus=machine.node_gpus,
        nic_gbit_per_s=run.nic_gbit_per_s_per_gpu or machine.nic_gbit_per_s, behaviour=BEHAVIOUR_BY_FABRIC[fabric],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ratio:
    """Measured over predicted step time, with P10 and P90 for a further run of the same kind."""

    value: float
    low: float
    high: float


def anchor_ratio(*, log_ratios: Floats, stack_deviation: float, run_deviation: float) -> Ratio:
    """What runs say of the model's bias on their stack.

    The bias of a stack is taken as drawn around none, and runs as scattered around it. Their geometric mean is drawn
    towards 1 the more the fewer they are and the wider they scatter; the band holds a further run.

    Args:
        log_ratios: Logarithm of measured over predicted step time of each run, shape (runs,), one or more.
        stack_deviation: Standard deviation of the bias of stacks nobody measured.
        run_deviation: Standard deviation of runs of a family around their own bias, which counts as `PRIOR_RUNS`
            runs beside the scatter seen.

    >>> found = anchor_ratio(log_ratios=np.log([1.1, 1.1, 1.1, 1.1]), stack_deviation=0.15, run_deviation=0.04)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (1.099, 1.052, 1.148)
    """
    runs, mean = log_ratios.size, float(log_ratios.mean())
    seen = float(((log_ratios - mean) ** 2).sum())
    variance = (PRIOR_RUNS * run_deviation**2 + seen) / (PRIOR_RUNS + runs - 1.0)
    kept = stack_deviation**2 / (stack_deviation**2 + variance / runs)
    width = Z90 * float(np.sqrt(variance + stack_deviation**2 * (1.0 - kept)))
    centre = kept * mean
    return Ratio(float(np.exp(centre)), float(np.exp(centre - width)), float(np.exp(centre + width)))


def widened(ratio: Ratio, half_width_fraction: float) -> Ratio:
    """A ratio with the band of something else that is unsure, independent of its own.

    >>> wide = widened(Ratio(1.0, 0.95, 1.05), 0.08)
    >>> round(wide.low, 3), round(wide.high, 3)
    (0.913, 1.095)
    """
    width = float(np.hypot(np.log(ratio.high / ratio.value), np.log1p(half_width_fraction)))
    return Ratio(ratio.value, ratio.value * float(np.exp(-width)), ratio.value * float(np.exp(width)))


def ratio_of(
    steps: Sequence[AnchorStep], figure: Figures, band: Callable[[str], float]
) -> tuple[Ratio, Floats]:
    """The ratio of runs of one kind, and how it moves with the figures.

    Args:
        steps: One or more.
        figure: Figures of the model, of shape (1,) or (n,) with draws; the first one is the plan itself.
        band: Values of the figures that speak of bands.

    Returns:
        The ratio at the plan's figures; and, of the figures' shape, what undoes their draws: where the model is
        drawn slower, so are the predictions of the runs, and the ratio is the smaller.
    """
    logs = np.stack([np.log(one.anchor.run.measured_s) - np.log(one.predicted_s(figure)) for one in steps])
    sparse = steps[0].kind.sparse
    stack = band(f"model_band_{'moe' if sparse else 'unknown_stack'}_fraction") / Z90
    scatter = band(f"model_scatter_{'moe' if sparse else 'dense'}_fraction")
    found = anchor_ratio(log_ratios=logs[:, 0], stack_deviation=stack, run_deviation=scatter)
    drift = logs.mean(axis=0) - logs[:, 0].mean()
    return found, np.exp(drift)


def like(steps: Sequence[AnchorStep], kind: Kind) -> tuple[AnchorStep, ...]:
    """Runs that may correct predictions of a kind: of the same generation, format, and dense or not."""
    return tuple(one for one in steps if one.kind == kind)


def kind_of(generation: str, precision: Precision, shape: ModelShape) -> Kind:
    """Kind of a workload."""
    return Kind(generation, FORMAT[precision], bool(shape.experts[0] > 0.0))
