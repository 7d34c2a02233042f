"""Measured training steps on their way to a prediction: model, machine, layout and software of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.catalog.store import Catalog
from planner.choices import Recompute
from planner.errors import PlannerError
from planner.performance.hardware import FORMAT
from planner.performance.links import Links
from planner.performance.machines import Machines, Node
from planner.performance.models import ModelShape, training_flop_per_token
from planner.performance.parallelism import Plan, recompute_fields
from planner.performance.plans import interleavings
from planner.performance.roofline import ChipRates
from planner.performance.software import Setting, Software
from planner.performance.stacks import STACKS, Stack, stack_of
from planner.performance.training import StateBytes
from planner.study.fidelity.machines import as_variant
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import Rates, TrainingRow
from planner.study.fidelity.stacks import setting_of, shares_stream
from planner.study.fidelity.training_degrees import Degrees, degrees_of, is_sharded
from planner.study.fidelity.training_draft import Draft
from planner.study.fidelity.training_machines import links_of, node_of
from planner.study.fidelity.training_shapes import model_of
from planner.study.fidelity.unfit import UnfitError
from planner.units import TERA

TARGETS = ("step_time_s", "tokens_per_s_per_gpu", "model_tflops_per_gpu", "hardware_tflops_per_gpu", "mfu")
"""Figures of a row in the order in which one is taken."""


@dataclass(frozen=True, slots=True)
class Case:
    """A measured step with all that its prediction rests on; arrays of shape (1,).

    Attributes:
        server: Item of the catalog that stands for the machine, or a bare host.
        target: Figure of the row that is scored.
        measured_s: The step that it stands for.
        known_stack: The framework is of a known class.
        assumed: What was settled on the row.
    """

    row: TrainingRow
    shape: ModelShape
    plan: Plan
    chip: ChipRates
    links: Links
    state: StateBytes
    setting: Setting
    server: str
    target: str
    measured_s: float
    known_stack: bool
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unfit:
    """A row that can't be predicted, and why."""

    row: TrainingRow
    why_not: str
    assumed: tuple[str, ...]


class Cases:
    """Makes cases of rows; machines are drawn once."""

    def __init__(self, catalog: Catalog) -> None:
        self.names, self.machines = Names(catalog), Machines(catalog)

    def of(self, row: TrainingRow) -> Case | Unfit:
        """The case of a row, or why there is none."""
        draft = Draft(row)
        try:
            return self._case(draft)
        except UnfitError as why:
            said = str(why)
        except PlannerError as error:
            said = "; ".join(problem.message for problem in error.problems)
        return Unfit(row, said, tuple(draft.assumed))

    def _case(self, draft: Draft) -> Case:
        row = draft.row
        shape = model_of(draft, self.names)
        machine = node_of(draft, self.names, self.machines)
        known = stack_of(row.framework)
        stack = known or STACKS[-1]
        if known is None:
            draft.settle(f"framework '{row.framework}' taken as {stack.name}")
        degrees = degrees_of(draft, shape)
        plan = _plan(draft, shape, stack, degrees)
        target, measured = measured_step_s(draft, shape, machine, sequences=degrees.sequences)
        setting = setting_of(
            row,
            machine,
            stack,
            form=FORMAT[draft.precision],
            windowed=bool(shape.windowed_layers[0] > 0),
        )
        links = links_of(draft, machine)
        return Case(
            row=row, shape=shape, plan=plan, chip=as_variant(machine.hardware, row.gpu_note).chip, links=links,
            state=_state_bytes(machine, stack, row.precision), setting=setting, server=machine.name,
            target=target, measured_s=measured, known_stack=known is not None, assumed=tuple(draft.assumed),
        )  # fmt: skip


def _plan(draft: Draft, shape: ModelShape, stack: Stack, degrees: Degrees) -> Plan:
    row = draft.row
    again = _recompute(draft)
    if again is Recompute.SELECTIVE and stack.software is Software.FSDP_COMPILED:
        again = Recompute.OPERATORS
    numbers = {
        "tensor_ranks": degrees.tensor, "pipeline_ranks": degrees.pipeline, "context_ranks": degrees.context,
        "data_ranks": degrees.data, "expert_ranks": degrees.expert, "expert_tensor_ranks": degrees.expert_tensor,
        "virtual_stages": _virtual_stages(draft, shape, stack),
        "microbatch_sequences": _microbatch(draft, degrees), "global_batch_sequences": degrees.sequences,
        "sequence_tokens": row.seq_len or 1, "zero_stage": _zero_stage(draft, stack),
        "sequence_parallel": shares_stream(row, stack),
    }  # fmt: skip
    return Plan(
        **{name: np.array([float(value)]) for name, value in numbers.items()},
        **recompute_fields(again),
    )


def _recompute(draft: Draft) -> Recompute:
    """Full and selective as stated; where a recipe is only referred to, none."""
    said = draft.row.recompute.lower()
    if said.startswith("full"):
        return Recompute.FULL
    if "selective" in said and "none or" not in said:
        return Recompute.SELECTIVE
    if said != "none":
        draft.settle("no recompute taken, since the row states none")
    return Recompute.NONE


def _virtual_stages(draft: Draft, shape: ModelShape, stack: Stack) -> float:
    degrees = draft.row.parallel
    stages, layers = degrees.pp or 1, int(shape.layers[0])
    if stages == 1:
        return 1.0
    if isinstance(degrees.vp, int):
        most = max(1, layers // stages)
        if degrees.vp > most:
            draft.settle(f"{most} chunks a stage taken instead of {degrees.vp}, one layer in each")
        return float(min(degrees.vp, most))
    if degrees.vp is None and not stack.interleaves:
        draft.settle("no interleaving taken, since the row states none")
        return 1.0
    chunks = interleavings(layers=layers, stages=stages)[-1]
    draft.settle(f"{chunks} chunks a stage taken, about two layers in each")
    return float(chunks)


def _microbatch(draft: Draft, degrees: Degrees) -> float:
    row = draft.row
    share = degrees.sequences / degrees.data
    if row.mbs is not None:
        if row.mbs > share:
            draft.settle(f"microbatch of {share:g} taken, all that a data rank gets of a step")
        return min(float(row.mbs), share)
    if row.local_batch is not None:
        return share
    block = degrees.tensor * degrees.pipeline
    taken = 1.0 if block >= 16 else min(4.0, share)
    draft.settle(f"microbatch of {taken:.0f} taken, since the row states none")
    return taken


def _zero_stage(draft: Draft, stack: Stack) -> float:
    degrees = draft.row.parallel
    if degrees.zero is not None:
        return float(degrees.zero)
    if is_sharded(degrees):
        return 3.0
    if degrees.fsdp is None and degrees.dp != 1:
        draft.settle(f"sharding stage {stack.zero_stage} taken, since the row states none")
    return float(stack.zero_stage if degrees.fsdp is None else min(stack.zero_stage, 1))


def measured_step_s(draft: Draft, shape: ModelShape, machine: Node, *, sequences: int) -> tuple[str, float]:
    """Name of the figure that is scored, and the step time it stands for.

    Raises:
        UnfitError: The row states no rate.
    """
    row = draft.row
    tokens = float(sequences) * float(row.seq_len or 0)
    flop = tokens * training_flop_per_token(shape, sequence_tokens=np.array([float(row.seq_len or 1)]))[0]
    peak = machine.hardware.chip.peak_flop_per_s[0]
    for name in TARGETS:
        for rates in (row.metrics, row.derived or Rates()):
            value: float | None = getattr(rates, name)
            if name == "tokens_per_s_per_gpu" and value is None and rates.tokens_per_s is not None:
                value = rates.tokens_per_s / row.n_gpus
            if value is None:
                continue
            if name == "mfu" and value > 1.0:
                draft.settle(f"mfu of {value:g} read as per cent")
                value /= 100.0
            step = {
                "step_time_s": value,
                "tokens_per_s_per_gpu": tokens / (value * row.n_gpus),
                "model_tflops_per_gpu": flop / (value * TERA * row.n_gpus),
                "hardware_tflops_per_gpu": tokens
                * _hardware_flop_per_token(shape, row)
                / (value * TERA * row.n_gpus),
                "mfu": flop / (value * peak * row.n_gpus),
            }[name]
            return name, float(step)
    raise UnfitError("the row states no step time and no rate")


def _hardware_flop_per_token(shape: ModelShape, row: TrainingRow) -> float:
    """FLOP with the layers' forward pass run again, attention uncut by its mask and the head once.

    That is how the publications of 2021 and 2022 count what they call achieved FLOP.
    """
    sequence = np.array([float(row.seq_len or 1)])
    once = training_flop_per_token(shape, sequence_tokens=sequence, causal=False)
    head = 3.0 * 2.0 * shape.vocab * shape.hidden
    return float((once + (once - head) / 3.0)[0])


def _state_bytes(machine: Node, stack: Stack, precision: str) -> StateBytes:
    """Bytes of a parameter's state: 16-bit gradients in MLPerf submissions and pure 16-bit runs."""
    assumed = machine.assumed
    narrow = stack.software is Software.MLPERF or "PURE" in precision
    gradient = assumed("weight_bytes_per_parameter") if narrow else assumed("gradient_bytes_per_parameter")
    return StateBytes(
        assumed("weight_bytes_per_parameter"), gradient, assumed("optimiser_bytes_per_parameter")
    )
