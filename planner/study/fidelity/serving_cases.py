"""Measured serving runs on their way to a prediction: model, machine, layout, formats and load of each row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.llm import Model
from planner.catalog.store import Catalog
from planner.choices import Engine, Precision, WeightFormat
from planner.errors import PlannerError
from planner.performance.inference import STEP_TOKENS, Layout, ServingFormat, weight_bytes_per_rank
from planner.performance.machines import Machine, Machines
from planner.performance.models import ModelShape
from planner.performance.roofline import ChipRates
from planner.performance.serve import BATCH_SEQUENCES
from planner.performance.serving_engines import Client, ServingSetting
from planner.performance.serving_formats import WIDE, Formats, arithmetic, formats_of
from planner.performance.serving_loops import Asked
from planner.performance.shapes import shape_of
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import InferenceRow

SPREAD_MEAN: Final = 0.9
"""Mean of lengths drawn evenly between 0.8 and 1 of the printed ones."""
SGLANG_STEP_TOKENS: Final = 16384.0
OFFLINE_BATCH: Final = 2048.0
"""Sequences that an attention group decodes at once at most in offline runs of TensorRT-LLM's overview."""
ENGINES: Final = {"tensorrt": Engine.TENSORRT_LLM, "vllm": Engine.VLLM, "sglang": Engine.SGLANG}
FORMATS: Final = {
    "": None, "bf16": WeightFormat.BF16, "fp16": WeightFormat.BF16, "fp8": WeightFormat.FP8,
    "fp8_block": WeightFormat.FP8_BLOCK, "nvfp4": WeightFormat.NVFP4,
}  # fmt: skip
SUBMISSION: Final = "mlperf-inference"
HOLDS_WEIGHTS: Final = 0.7
"""Share of the memory that weights fill at most on the smallest replica of a submission, which states none."""


class Load(StrEnum):
    """How a run is loaded."""

    CLOSED = "closed"
    OFFLINE = "offline"
    DECODE = "decode"
    """Decode workers of a disaggregated pool."""


class _UnfitError(Exception):
    """Why a row can't be predicted."""


@dataclass(frozen=True, slots=True)
class ServingCase:
    """A measured run with all that its prediction rests on; arrays of shape (1,).

    Attributes:
        server: Item of the catalog that stands for the machine.
        in_flight: Requests in flight at one replica, or decode worker; without end offline.
        most_sequences: That the engine decodes at once.
        tuned: A submission, tuned to one benchmark.
        assumed: What was settled on the row.
    """

    row: InferenceRow
    model: str
    shape: ModelShape
    chip: ChipRates
    machine: Machine
    server: str
    setting: ServingSetting
    form: ServingFormat
    layout: Layout
    asked: Asked
    load: Load
    in_flight: Floats
    most_sequences: Floats
    tuned: bool
    assumed: tuple[str, ...]

    @property
    def domains(self) -> int:
        """Scale-up domains over which a replica reaches."""
        return ceil(float(self.layout.replica_ranks[0]) / self.machine.server.item.scaleup_domain_gpus)


@dataclass(frozen=True, slots=True)
class UnfitServing:
    """A row that can't be predicted, and why."""

    row: InferenceRow
    why_not: str
    assumed: tuple[str, ...]


def one(value: float) -> Floats:
    """A number as the core wants it."""
    return np.array([float(value)])


class ServingCases:
    """Makes cases of rows; machines are drawn once."""

    def __init__(self, catalog: Catalog) -> None:
        self.names, self.machines = Names(catalog), Machines(catalog)

    def of(self, row: InferenceRow) -> ServingCase | UnfitServing:
        """The case of a row, or why there is none."""
        said: list[str] = []
        try:
            return self._case(row, said)
        except _UnfitError as why:
            reason = str(why)
        except PlannerError as error:
            reason = "; ".join(problem.message for problem in error.problems)
        return UnfitServing(row, reason, tuple(said))

    def _case(self, row: InferenceRow, said: list[str]) -> ServingCase:
        entry = self.names.model(row.model)
        if entry is None:
            raise _UnfitError(f"the catalog has no model '{row.model}'")
        chip = self.names.chip(row.gpu)
        if isinstance(chip, str):
            raise _UnfitError(chip)
        box = self.names.server(chip)
        if box is None:
            raise _UnfitError(
                f"the catalog has no server with {chip.entry.item.name} to take links and hosts from"
            )
        said += chip.assumed
        load, tuned = _load(row), row.src == SUBMISSION
        asked, engine = _asked(row, tuned, said), _engine(row, said)
        generation = self.machines.get(box, Precision.BF16).hardware.generation
        formats = _formats(row, entry.item, generation, tuned, said)
        machine = self.machines.get(box, _precision(formats, generation))
        shape = shape_of(entry.item)
        rates = machine.hardware.chip
        layout = _layout(
            row, shape, formats.bytes, float(rates.memory_bytes[0]), box.item.scaleup_domain_gpus, said
        )
        client = Client.FIXED if row.lengths == "fixed" else Client.SPREAD
        return ServingCase(
            row=row, model=entry.item.id, shape=shape, chip=rates, machine=machine, server=box.item.id,
            setting=ServingSetting(engine, generation, formats, client, bool(entry.item.experts)), form=formats.bytes, layout=layout,
            asked=asked, load=load, in_flight=_in_flight(row, load, layout), most_sequences=_most(row, load, layout),
            tuned=tuned, assumed=tuple(said),
        )  # fmt: skip


def _load(row: InferenceRow) -> Load:
    if row.scenario == "disagg":
        return Load.DECODE
    if isinstance(row.concurrency, float):
        return Load.CLOSED
    if "offline" in row.scenario.lower():
        return Load.OFFLINE
    raise _UnfitError("an open loop at a rate that the submitter chose under limits of latency")


def _asked(row: InferenceRow, tuned: bool, said: list[str]) -> Asked:
    prompt = row.isl
    if prompt is None and tuned and row.osl is not None:
        prompt = row.osl
        said.append("prompts taken as long as answers, since the row states none")
    if prompt is None or row.osl is None:
        raise _UnfitError("the row doesn't state the lengths of prompts and answers")
    mean = SPREAD_MEAN if row.lengths == "spread" else 1.0
    limit = SGLANG_STEP_TOKENS if "sglang" in row.engine.lower() else STEP_TOKENS
    return Asked(one(prompt * mean), one(max(row.osl * mean, 2.0)), one(limit))


def _engine(row: InferenceRow, said: list[str]) -> Engine:
    found = next((engine for word, engine in ENGINES.items() if word in row.engine.lower()), None)
    if found is None:
        said.append(f"engine '{row.engine}' taken as vLLM")
    return found or Engine.VLLM


def _formats(row: InferenceRow, model: Model, generation: str, tuned: bool, said: list[str]) -> Formats:
    low, experts = row.precision.lower(), row.expert_precision.lower()
    sparse = bool(model.experts)
    if tuned:
        said.append("4 bits taken on Blackwell and 8 elsewhere, since the row doesn't state which")
        return formats_of(
            Precision.FP4 if generation == "blackwell" else Precision.FP8, sparse=False, generation=generation
        )
    if low == "not stated":
        said.append("16 bits taken, since the row states no precision")
        return formats_of(Precision.BF16, sparse=sparse, generation=generation)
    named = FORMATS.get(low.replace("-", "_")) if not sparse else None
    if named is not None and experts in FORMATS:
        return formats_of(Precision.BF16, sparse=False, generation=generation, weights=named)
    for word, precision in (("fp4", Precision.FP4), ("fp8", Precision.FP8), ("16", Precision.BF16)):
        if word in low:
            return formats_of(precision, sparse=sparse, generation=generation)
    raise _UnfitError(f"precision '{row.precision}' is none of fp4, fp8 and 16 bits")


def _precision(formats: Formats, generation: str) -> Precision:
    """Arithmetic whose peak the narrowest products run against."""
    forms = {
        arithmetic(form, generation) for form in (formats.attention, formats.feed_forward, formats.experts)
    }
    if "nvfp4" in forms:
        return Precision.FP4
    return Precision.BF16 if forms == {WIDE} else Precision.FP8


def _layout(
    row: InferenceRow,
    shape: ModelShape,
    form: ServingFormat,
    memory_bytes: float,
    domain: int,
    said: list[str],
) -> Layout:
    """Ranks of a replica, of an attention group and of expert parallelism."""
    if row.tp is None:
        if row.src != SUBMISSION:
            raise _UnfitError("the row doesn't state how many GPUs share a replica")
        return _smallest(shape, form, memory_bytes, said)
    tensor = float(row.tp)
    replica, attention = tensor * (row.attention_dp or 1), tensor
    dealt = float(row.ep) if isinstance(row.ep, int) else 1.0
    if isinstance(row.ep, str) and "attention-dp" in row.ep.lower():
        replica, attention, dealt = tensor, 1.0, tensor
    if replica > domain and row.scenario != "disagg":
        raise _UnfitError(
            f"a replica of {replica:.0f} GPUs reaches over scale-up domains of {domain}, and the row doesn't state a network"
        )
    if replica > domain:
        said.append("the server's own NICs taken between the domains of a decode worker")
    return Layout(one(replica), one(attention), one(min(dealt, replica)), one(row.pp or 1))


def _smallest(shape: ModelShape, form: ServingFormat, memory_bytes: float, said: list[str]) -> Layout:
    for ranks in (1.0, 2.0, 4.0, 8.0):
        layout = Layout(one(ranks), one(ranks), one(1.0), one(1.0))
        if float(weight_bytes_per_rank(shape, form=form, layout=layout)[0]) < HOLDS_WEIGHTS * memory_bytes:
            said.append(
                f"replicas of {ranks:.0f} GPUs taken, the fewest that hold the weights with room for caches"
            )
            return layout
    raise _UnfitError("the weights don't fit eight GPUs")


def _in_flight(row: InferenceRow, load: Load, layout: Layout) -> Floats:
    if load is Load.OFFLINE:
        return one(np.inf)
    assert isinstance(row.concurrency, float)
    replicas = float(row.decode_workers or 1) if load is Load.DECODE else row.n_gpus / float(layout.gpus[0])
    return one(row.concurrency / replicas)


def _most(row: InferenceRow, load: Load, layout: Layout) -> Floats:
    groups = layout.replica_ranks / layout.attention_ranks
    if load is not Load.OFFLINE:
        return np.maximum(
            BATCH_SEQUENCES * groups, float(row.concurrency) if isinstance(row.concurrency, float) else 0.0
        )
    requests = float(row.num_requests or np.inf) * float(layout.gpus[0]) / row.n_gpus
    return np.minimum(OFFLINE_BATCH * groups, requests)


def release_of(row: InferenceRow) -> str:
    """Engine and the release that a row names.

    >>> release_of(InferenceRow(id="a", group="C", family="f", src="s", model="m", gpu="g", n_gpus=1, precision="fp8",
    ...     engine="vLLM 0.19.0"))
    'vLLM 0.19.0'
    """
    return re.sub(r"\s+", " ", row.engine).strip()
