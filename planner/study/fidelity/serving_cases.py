"""Measured serving runs on their way to a prediction: model, machine, layout, formats and load of each row."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import Accelerator
from planner.catalog.store import Catalog, Entry
from planner.choices import Engine
from planner.errors import PlannerError
from planner.performance.inference import STEP_TOKENS, Layout, ServingFormat
from planner.performance.models import ModelShape
from planner.performance.roofline import ChipRates
from planner.performance.serve import BATCH_SEQUENCES
from planner.performance.serving_engines import Client, ServingSetting
from planner.performance.serving_loops import Asked
from planner.performance.serving_speculation import Speculation
from planner.performance.shapes import shape_of
from planner.study.fidelity.names import Chip, Names
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.serving_drafts import speculation_of
from planner.study.fidelity.serving_formats import measured_formats
from planner.study.fidelity.serving_layouts import SUBMISSION, measured_layout
from planner.study.fidelity.serving_machines import ServingMachine, ServingMachines
from planner.study.fidelity.unfit import UnfitError
from planner.units import GIB, MIB

SPREAD_MEAN: Final = 0.9
"""Mean of lengths drawn evenly between 0.8 and 1 of the printed ones."""
SGLANG_STEP_TOKENS: Final = 16384.0
OFFLINE_BATCH: Final = 2048.0
"""Sequences that an attention group decodes at once at most in offline runs of TensorRT-LLM's overview."""
ENGINES: Final = (
    (r"tensorrt|trt-?llm|\btrt", Engine.TENSORRT_LLM), (r"sglang|\bsgl\b", Engine.SGLANG), (r"vllm", Engine.VLLM)
)  # fmt: skip
FIXED_BATCH: Final = "fixed batch"
"""Scenario of runs whose requests start and end together."""
OTHER_MEMORY: Final = 1.1
"""Factor by which the memory that a name states differs from the catalog's before it counts as another variant."""


class Load(StrEnum):
    """How a run is loaded."""

    CLOSED = "closed"
    OFFLINE = "offline"
    OPEN = "open"
    """Arrivals at random, at a rate that limits of latency allow."""
    DECODE = "decode"
    """Decode workers of a disaggregated pool."""


@dataclass(frozen=True, slots=True)
class ServingCase:
    """A measured run with all that its prediction rests on; arrays of shape (1,).

    Attributes:
        in_flight: Requests in flight at one replica, or decode worker; without end offline and in open loops.
        most_sequences: That the engine decodes at once.
        speculation: Draft of each step.
        tuned: A submission, tuned to one benchmark.
        limit_ratio: What a power limit leaves of the rate of products.
        assumed: What was settled on the row.
    """

    row: InferenceRow
    model: str
    shape: ModelShape
    chip: ChipRates
    machine: ServingMachine
    setting: ServingSetting
    form: ServingFormat
    layout: Layout
    asked: Asked
    load: Load
    in_flight: Floats
    most_sequences: Floats
    speculation: Speculation
    tuned: bool
    limit_ratio: float
    assumed: tuple[str, ...]

    @property
    def in_process(self) -> bool:
        """Whether the harness runs in the server's process, as that of submissions and of runs of one fixed batch does."""
        return self.tuned or self.row.scenario == FIXED_BATCH

    @property
    def domains(self) -> int:
        """Scale-up domains over which a replica reaches."""
        return ceil(float(self.layout.replica_ranks[0]) / self.machine.domain_gpus)


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
        self.names, self.machines = Names(catalog), ServingMachines(catalog)

    def of(self, row: InferenceRow) -> ServingCase | UnfitServing:
        """The case of a row, or why there is none."""
        said: list[str] = []
        try:
            return self._case(row, said)
        except UnfitError as why:
            reason = str(why)
        except PlannerError as error:
            reason = "; ".join(problem.message for problem in error.problems)
        return UnfitServing(row, reason, tuple(said))

    def _case(self, row: InferenceRow, said: list[str]) -> ServingCase:
        entry, chip = self.names.model(row.model), self.names.chip(row.gpu)
        if entry is None:
            raise UnfitError(f"the catalog has no model '{row.model}'")
        if isinstance(chip, str):
            raise UnfitError(chip)
        said += chip.assumed
        box = self.names.server(chip)
        load, tuned = load_of(row), row.src == SUBMISSION
        asked, engine = _asked(row, entry.item.context, tuned, said), _engine(row, said)
        found = measured_formats(row, entry.item, chip.entry.item, engine, said)
        shape, form = shape_of(entry.item), found.formats.bytes
        memory = _memory_bytes(chip, row.gpu, said)
        domain = None if box is None else box.item.scaleup_domain_gpus
        layout = measured_layout(
            row,
            shape,
            form,
            memory_bytes=memory,
            domain_gpus=domain,
            one_replica=load is Load.CLOSED,
            said=said,
        )
        machine = self.machines.get(chip.entry, box, found.peak, ranks=float(layout.replica_ranks[0]))
        _refuse_unconnected(machine, layout, chip.entry, said)
        if load is Load.OPEN and float(layout.replica_ranks[0]) > machine.domain_gpus:
            raise UnfitError("an open loop before replicas that reach over scale-up domains")
        rates = machine.hardware.chip
        if memory != chip.entry.item.memory_mib.value * MIB:
            rates = replace(rates, memory_bytes=one(memory))
        limited = self.machines.limit_ratio(chip.entry.item, row.gpu, row.source.where, said)
        client = Client.FIXED if row.lengths == "fixed" else Client.SPREAD
        setting = ServingSetting(
            engine, machine.hardware.generation, found.formats, client, bool(entry.item.experts),
            weight_only=found.widened, four_bit_products=found.four_bit_products, older=is_older(engine, row.engine),
        )  # fmt: skip
        return ServingCase(
            row=row, model=entry.item.id, shape=shape, chip=rates, machine=machine, setting=setting, form=form,
            layout=layout, asked=asked, load=load, in_flight=_in_flight(row, load, layout),
            most_sequences=_most(row, load, layout), speculation=speculation_of(row, shape, said), tuned=tuned, limit_ratio=limited, assumed=tuple(said),
        )  # fmt: skip


def rate_per_s(row: InferenceRow) -> float | None:
    """Requests a second over all GPUs of an open loop: as asked, or as served; None where a row states neither."""
    served, total = row.metrics.samples_per_s, row.metrics.output_tokens_per_s_total
    if row.target_qps is not None or served is not None:
        return row.target_qps or served
    return total / row.osl if total is not None and row.osl is not None else None


def load_of(row: InferenceRow) -> Load:
    """How a row's run was loaded.

    Raises:
        UnfitError: It states neither requests in flight nor that all were queued, nor limits or a rate.
    """
    stated = isinstance(row.concurrency, float)
    if row.scenario == "disagg":
        if not stated:
            raise UnfitError("the row states no number of requests in flight")
        return Load.DECODE
    if stated:
        return Load.CLOSED
    words = f"{row.scenario} {row.concurrency or ''}".lower()
    if "offline" in words or "queued at once" in words:
        return Load.OFFLINE
    if rate_per_s(row) is not None or row.slo.stated:
        return Load.OPEN
    raise UnfitError("the row states no number of requests in flight, no rate, and no limits of latency")


def _refuse_unconnected(
    machine: ServingMachine, layout: Layout, chip: Entry[Accelerator], said: list[str]
) -> None:
    ranks = float(layout.replica_ranks[0])
    if ranks <= machine.domain_gpus:
        return
    if machine.server is None:
        raise UnfitError(
            f"a replica of {ranks:.0f} GPUs reaches over hosts of {machine.domain_gpus}, and the catalog has no server with"
            f" {chip.item.name} to take a network from"
        )
    said.append("the server's own NICs taken between the domains of a replica")


def _memory_bytes(chip: Chip, text: str, said: list[str]) -> float:
    """Memory of an accelerator: the catalog's, unless its name states clearly another size."""
    own = chip.entry.item.memory_mib.value * MIB
    stated = re.search(r"(\d+)\s*gb\b", text.lower())
    if stated is None:
        return float(own)
    size = float(stated[1]) * GIB
    if not OTHER_MEMORY < max(size / own, own / size) < 4.0:
        return float(own)
    said.append(f"{stated[1]} GB of memory taken from the accelerator's name")
    return size


def _asked(row: InferenceRow, context: int, tuned: bool, said: list[str]) -> Asked:
    prompt = row.isl
    if prompt is None and tuned and row.osl is not None:
        prompt = row.osl
        said.append("prompts taken as long as answers, since the row states none")
    if prompt is None or row.osl is None:
        raise UnfitError("the row doesn't state the lengths of prompts and answers")
    if prompt + row.osl > context:
        said.append(f"longer than the {context:,} tokens that the model was made for")
    mean = SPREAD_MEAN if row.lengths == "spread" else 1.0
    limit = SGLANG_STEP_TOKENS if "sglang" in row.engine.lower() else STEP_TOKENS
    return Asked(one(prompt * mean), one(max(row.osl * mean, 2.0)), one(limit))


def _engine(row: InferenceRow, said: list[str]) -> Engine:
    low = row.engine.lower()
    found = next((engine for words, engine in ENGINES if re.search(words, low)), None)
    if found is None:
        said.append(f"engine '{row.engine}' taken as vLLM")
    return found or Engine.VLLM


def _in_flight(row: InferenceRow, load: Load, layout: Layout) -> Floats:
    if load in (Load.OFFLINE, Load.OPEN):
        return one(np.inf)
    assert isinstance(row.concurrency, float)
    replicas = float(row.decode_workers or 1) if load is Load.DECODE else row.n_gpus / float(layout.gpus[0])
    return one(row.concurrency / max(replicas, 1.0))


def _most(row: InferenceRow, load: Load, layout: Layout) -> Floats:
    groups = layout.replica_ranks / layout.attention_ranks
    if load not in (Load.OFFLINE, Load.OPEN):
        return np.maximum(
            BATCH_SEQUENCES * groups, float(row.concurrency) if isinstance(row.concurrency, float) else 0.0
        )
    requests = float(row.num_requests or np.inf) * float(layout.gpus[0]) / row.n_gpus
    return np.minimum(OFFLINE_BATCH * groups, requests)


FIRST_OF_2026: Final = {Engine.TENSORRT_LLM: (1, 2), Engine.VLLM: (0, 13), Engine.SGLANG: (0, 5, 7)}
"""Releases of 2026 begin with these; a row that names none is taken as one of them."""


def is_older(engine: Engine, text: str) -> bool:
    """Whether a row names a release from before 2026.

    >>> is_older(Engine.TENSORRT_LLM, "TensorRT-LLM 1.1.0rc2.post2"), is_older(Engine.VLLM, "vLLM nightly-5b8c30")
    (True, False)
    """
    found = re.search(r"(?<![\w.])v?(\d+(?:\.\d+)+)", text)
    return found is not None and tuple(int(part) for part in found[1].split(".")) < FIRST_OF_2026[engine]


def release_of(row: InferenceRow) -> str:
    """Engine and the release that a row names.

    >>> release_of(InferenceRow(id="a", group="C", family="f", src="s", model="m", gpu="g", n_gpus=1, precision="fp8",
    ...     engine="vLLM 0.19.0"))
    'vLLM 0.19.0'
    """
    return re.sub(r"\s+", " ", row.engine).strip()
