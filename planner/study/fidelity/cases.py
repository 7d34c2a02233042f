"""Measured training steps on their way to a prediction: model, machine, layout and software of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.catalog.store import Catalog
from planner.choices import Precision, Recompute
from planner.errors import PlannerError
from planner.performance.hardware import FORMAT
from planner.performance.links import Links
from planner.performance.machines import Machine, Machines, with_network
from planner.performance.models import ModelShape, model_shape, training_flop_per_token
from planner.performance.parallelism import Plan, recompute_fields
from planner.performance.plans import interleavings
from planner.performance.roofline import ChipRates
from planner.performance.shapes import shape_of
from planner.performance.software import Setting, Software
from planner.performance.stacks import STACKS, Stack, stack_of
from planner.performance.training import StateBytes
from planner.study.fidelity.machines import as_variant, behaviour_of, nic_gbit_per_s_per_gpu
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import Rates, TrainingRow
from planner.study.fidelity.stacks import setting_of, shares_stream
from planner.units import TERA

TARGETS = ("step_time_s", "tokens_per_s_per_gpu", "model_tflops_per_gpu", "hardware_tflops_per_gpu", "mfu")
"""Figures of a row in the order in which one is taken."""


class _UnfitError(Exception):
    """Why a row can't be predicted."""


@dataclass(frozen=True, slots=True)
class Case:
    """A measured step with all that its prediction rests on; arrays of shape (1,).

    Attributes:
        server: Item of the catalog that stands for the machine.
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


@dataclass(slots=True)
class _Draft:
    """A row on its way to a case, and what was settled on it."""

    row: TrainingRow
    assumed: list[str]

    def settle(self, what: str) -> None:
        if what not in self.assumed:
            self.assumed.append(what)


class Cases:
    """Makes cases of rows; machines are drawn once."""

    def __init__(self, catalog: Catalog) -> None:
        self.names, self.machines = Names(catalog), Machines(catalog)

    def of(self, row: TrainingRow) -> Case | Unfit:
        """The case of a row, or why there is none."""
        draft = _Draft(row, [])
        try:
            return self._case(draft)
        except _UnfitError as why:
            said = str(why)
        except PlannerError as error:
            said = "; ".join(problem.message for problem in error.problems)
        return Unfit(row, said, tuple(draft.assumed))

    def _case(self, draft: _Draft) -> Case:
        row = draft.row
        shape = _shape(draft, self.names)
        machine = _machine(draft, self.names, self.machines)
        known = stack_of(row.framework)
        stack = known or STACKS[-1]
        if known is None:
            draft.settle(f"framework '{row.framework}' taken as {stack.name}")
        plan = _plan(draft, shape, stack)
        target, measured = measured_step_s(row, shape, machine)
        setting = setting_of(
            row,
            machine,
            stack,
            form=FORMAT[_precision(row.precision)],
            windowed=bool(shape.windowed_layers[0] > 0),
        )
        links = _links(draft, machine)
        return Case(
            row=row, shape=shape, plan=plan, chip=as_variant(machine.hardware, row.gpu_note).chip, links=links,
            state=_state_bytes(machine, stack, row.precision), setting=setting, server=machine.server.item.id,
            target=target, measured_s=measured, known_stack=known is not None, assumed=tuple(draft.assumed),
        )  # fmt: skip


def _shape(draft: _Draft, names: Names) -> ModelShape:
    """The row's own dimensions; a catalog model of the same ones adds what the row leaves out."""
    arch = draft.row.arch
    if arch.layers is None or arch.hidden is None or (arch.ffn is None and arch.moe is None):
        raise _UnfitError("the row doesn't state the model's layers and widths")
    known = names.model_of_shape(arch)
    if known is not None:
        return shape_of(known.item)
    heads = arch.heads
    if heads is None:
        heads = max(1, round(arch.hidden / 128))
        draft.settle("heads of 128 taken, since the row states none")
    experts = arch.moe
    dense = None if experts is None else experts.dense_layers
    return model_shape(
        layers=arch.layers, hidden=arch.hidden, heads=heads, kv_heads=arch.kv_heads or heads,
        head_dim=arch.head_size or 0.0, vocab=arch.vocab or _vocabulary(draft),
        ffn=0.0 if experts is not None and not dense else arch.ffn or 0.0, dense_layers=dense,
        experts=experts.experts if experts else 0, experts_per_token=experts.topk if experts else 0,
        expert_ffn=experts.moe_ffn if experts else 0, shared_expert_ffn=experts.shared_ffn if experts else 0,
        glu=arch.glu if arch.glu is not None else True,
    )  # fmt: skip


def _vocabulary(draft: _Draft) -> float:
    draft.settle("a vocabulary of 50,000 taken, since the row states none")
    return 50_000.0


def _precision(text: str) -> Precision:
    low = text.lower()
    if "fp4" in low:
        return Precision.FP4
    return Precision.FP8 if "fp8" in low else Precision.BF16


def _machine(draft: _Draft, names: Names, machines: Machines) -> Machine:
    row = draft.row
    chip = names.chip(row.gpu)
    if isinstance(chip, str):
        raise _UnfitError(chip)
    server = names.server(chip)
    if server is None:
        raise _UnfitError(
            f"the catalog has no server with {chip.entry.item.name} to take links and hosts from"
        )
    for said in chip.assumed:
        draft.settle(said)
    return machines.get(server, _precision(row.precision))


def _plan(draft: _Draft, shape: ModelShape, stack: Stack) -> Plan:
    row, degrees = draft.row, draft.row.parallel
    if row.gbs is None or row.seq_len is None:
        raise _UnfitError("the row states no batch or no sequence length")
    if degrees.tp is None or degrees.pp is None:
        raise _UnfitError("the row doesn't state its parallel degrees")
    tensor, pipeline, context = degrees.tp, degrees.pp, degrees.cp or 1
    data = degrees.dp or row.n_gpus // (tensor * pipeline * context)
    if tensor * pipeline * context * data != row.n_gpus:
        draft.settle(f"{row.n_gpus} GPUs named, {tensor * pipeline * context * data} in the layout")
    expert = degrees.ep or 1
    again = _recompute(draft)
    if again is Recompute.SELECTIVE and stack.software is Software.FSDP_COMPILED:
        again = Recompute.OPERATORS
    numbers = {
        "tensor_ranks": tensor, "pipeline_ranks": pipeline, "context_ranks": context, "data_ranks": data,
        "expert_ranks": expert, "expert_tensor_ranks": degrees.etp or 1,
        "virtual_stages": _virtual_stages(draft, shape, stack),
        "microbatch_sequences": _microbatch(draft, data), "global_batch_sequences": row.gbs,
        "sequence_tokens": row.seq_len, "zero_stage": _zero_stage(draft, stack),
        "sequence_parallel": shares_stream(row, stack),
    }  # fmt: skip
    return Plan(
        **{name: np.array([float(value)]) for name, value in numbers.items()},
        **recompute_fields(again),
    )


def _recompute(draft: _Draft) -> Recompute:
    """Full and selective as stated; where a recipe is only referred to, none."""
    said = draft.row.recompute.lower()
    if said.startswith("full"):
        return Recompute.FULL
    if "selective" in said and "none or" not in said:
        return Recompute.SELECTIVE
    if said != "none":
        draft.settle("no recompute taken, since the row states none")
    return Recompute.NONE


def _virtual_stages(draft: _Draft, shape: ModelShape, stack: Stack) -> float:
    degrees = draft.row.parallel
    if isinstance(degrees.vp, int):
        return float(degrees.vp)
    if (degrees.pp or 1) == 1:
        return 1.0
    if degrees.vp is None and not stack.interleaves:
        draft.settle("no interleaving taken, since the row states none")
        return 1.0
    chunks = interleavings(layers=int(shape.layers[0]), stages=degrees.pp or 1)[-1]
    draft.settle(f"{chunks} chunks a stage taken, about two layers in each")
    return float(chunks)


def _microbatch(draft: _Draft, data: int) -> float:
    row = draft.row
    if row.mbs is not None:
        return float(row.mbs)
    share = max((row.gbs or 1) / data, 1.0)
    if row.local_batch is not None:
        return share
    block = (row.parallel.tp or 1) * (row.parallel.pp or 1)
    taken = 1.0 if block >= 16 else min(4.0, share)
    draft.settle(f"microbatch of {taken:.0f} taken, since the row states none")
    return taken


def _zero_stage(draft: _Draft, stack: Stack) -> float:
    degrees = draft.row.parallel
    if degrees.zero is not None:
        return float(degrees.zero)
    if isinstance(degrees.fsdp, str) or (degrees.fsdp or 0) > 1:
        return 3.0
    if degrees.fsdp is None and degrees.dp != 1:
        draft.settle(f"sharding stage {stack.zero_stage} taken, since the row states none")
    return float(stack.zero_stage if degrees.fsdp is None else min(stack.zero_stage, 1))


def measured_step_s(row: TrainingRow, shape: ModelShape, machine: Machine) -> tuple[str, float]:
    """Name of the figure that is scored, and the step time it stands for.

    Raises:
        _UnfitError: The row states no rate.
    """
    tokens = float(row.gbs or 0) * float(row.seq_len or 0)
    flop = tokens * training_flop_per_token(shape, sequence_tokens=np.array([float(row.seq_len or 1)]))[0]
    peak = machine.hardware.chip.peak_flop_per_s[0]
    for name in TARGETS:
        for rates in (row.metrics, row.derived or Rates()):
            value: float | None = getattr(rates, name)
            if name == "tokens_per_s_per_gpu" and value is None and rates.tokens_per_s is not None:
                value = rates.tokens_per_s / row.n_gpus
            if value is None:
                continue
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
    raise _UnfitError("the row states no step time and no rate")


def _hardware_flop_per_token(shape: ModelShape, row: TrainingRow) -> float:
    """FLOP with the layers' forward pass run again, attention uncut by its mask and the head once.

    That is how the publications of 2021 and 2022 count what they call achieved FLOP.
    """
    sequence = np.array([float(row.seq_len or 1)])
    once = training_flop_per_token(shape, sequence_tokens=sequence, causal=False)
    head = 3.0 * 2.0 * shape.vocab * shape.hidden
    return float((once + (once - head) / 3.0)[0])


def _links(draft: _Draft, machine: Machine) -> Links:
    row = draft.row
    node_gpus = row.gpus_per_node or machine.node_gpus
    rate = nic_gbit_per_s_per_gpu(row.scale_out, node_gpus=node_gpus)
    nodes = row.n_gpus / node_gpus
    if rate is None:
        rate = machine.nic_gbit_per_s
        if nodes > 1:
            draft.settle(f"NICs of {machine.server.item.id} taken, {rate:g} Gbit/s a GPU")
    return with_network(
        machine, nodes=nodes, nic_gbit_per_s=rate, behaviour=behaviour_of(row.scale_out), node_gpus=node_gpus
    )


def _state_bytes(machine: Machine, stack: Stack, precision: str) -> StateBytes:
    """Bytes of a parameter's state: 16-bit gradients in MLPerf submissions and pure 16-bit runs."""
    assumed = machine.assumed
    narrow = stack.software is Software.MLPERF or "PURE" in precision
    gradient = assumed("weight_bytes_per_parameter") if narrow else assumed("gradient_bytes_per_parameter")
    return StateBytes(
        assumed("weight_bytes_per_parameter"), gradient, assumed("optimiser_bytes_per_parameter")
    )
