"""Measured serving runs in a few calls: those of one machine and kind of model are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.choices import Engine
from planner.performance.assumed import file_of
from planner.performance.collectives import Link
from planner.performance.engine_reduce import EngineReduce, SpanningReduce
from planner.performance.inference import ServingConstants, batch_limit
from planner.performance.machines import with_network
from planner.performance.serving_engines import serving_constants
from planner.performance.serving_loops import closed_loop, decode_pool_token_s, offline_tokens_per_s
from planner.performance.serving_step import step_costs
from planner.performance.software import Figures
from planner.study.fidelity.serving_balance import balance_wait_steps
from planner.study.fidelity.serving_cases import FIXED_BATCH, Load, ServingCase
from planner.study.fidelity.serving_open import open_loop
from planner.study.fidelity.steps import figures_of, stacked

INFINIBAND: Final = "infiniband-adaptive"
KEPT: Final = {Engine.VLLM: 0.5, Engine.SGLANG: 0.5, Engine.TENSORRT_LLM: 1.0}
"""Share of an answer that a request needs room for: half in the mean, all of it where the scheduler admits only what
it can finish without evicting (TensorRT-LLM's GUARANTEED_NO_EVICT, its default)."""
MOST_MEMORY: Final = 0.95
"""Share of the memory that a model is given where the engine's own share leaves next to no room: a run that was measured
had room. Runs of DeepSeek-R1 in FP8 on four B200 show it, whose weights alone fill 0.88."""
FEW: Final = 4.0
"""Sequences below which that is done: nobody serves so few."""
NEAR: Final = 0.03
"""Share of the memory by which the rule of an engine may be off."""
FAR: Final = 1.2
"""Requests in flight over those that fit from which the queue's length hangs on their rate more than on the memory."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predictions of shape (draws, rows), NaN where a row's load has no such figure.

    Attributes:
        first_token_s, per_token_s: Means of a closed loop.
        tokens_per_s_per_gpu: Output tokens.
        saturated: More requests in flight than caches fit; near: a little less memory would make it so, or a little more
            would end it.
        holds: At least one sequence fits.
        stretched: Only with nearly all of the memory, which operators then give, see `MOST_MEMORY`.
    """

    first_token_s: Floats
    per_token_s: Floats
    tokens_per_s_per_gpu: Floats
    saturated: Floats
    near: Floats
    holds: Floats
    stretched: Floats


def serving_figures(catalog: Catalog) -> Figures:
    """The catalog's figures of the serving model, by key."""
    return figures_of(lambda key: catalog.figure(file_of(key), key)[0].value)


def _kind(case: ServingCase) -> tuple[object, ...]:
    shape = case.shape
    flags = tuple(getattr(shape, field.name) for field in fields(shape) if field.type == "bool")
    return (
        case.machine.name,
        id(case.machine.hardware),
        flags,
        bool(shape.experts[0] > 0.0),
        case.load,
        case.domains,
    )


def _link(case: ServingCase) -> Link | EngineReduce | SpanningReduce:
    """Between the ranks of a case's replicas."""
    inside, drawn = case.machine.inside, case.machine.server
    if case.domains == 1 or drawn is None or isinstance(inside, Link):
        return inside
    links = with_network(
        drawn, nodes=float(case.domains), nic_gbit_per_s=drawn.nic_gbit_per_s, behaviour=INFINIBAND,
        node_gpus=drawn.node_gpus,
    )  # fmt: skip
    return SpanningReduce(inside, links, case.machine.domain_gpus)


class ServingBatch:
    """Cases stacked once, to be evaluated with several sets of figures.

    Attributes:
        cases: In the order of the results.
    """

    def __init__(self, cases: Sequence[ServingCase]) -> None:
        self.cases = tuple(cases)
        kinds: dict[tuple[object, ...], list[int]] = {}
        for index, case in enumerate(self.cases):
            kinds.setdefault(_kind(case), []).append(index)
        self._groups = [_Group([self.cases[i] for i in rows], np.array(rows)) for rows in kinds.values()]

    def predict(self, figure: Figures) -> Predicted:
        """Predictions with figures of shape (1,), or of shape (draws, 1) for those of a fit."""
        found = [(group.rows, group.predict(figure)) for group in self._groups]
        names = [field.name for field in fields(Predicted)]
        draws = np.broadcast_shapes(*(getattr(one, name).shape[:-1] for _, one in found for name in names))
        joined = {name: np.full((*draws, len(self.cases)), np.nan) for name in names}
        for rows, one in found:
            for name in names:
                joined[name][..., rows] = getattr(one, name)
        return Predicted(**joined)


class _Group:
    """Cases of one kind, stacked."""

    def __init__(self, cases: Sequence[ServingCase], rows: NDArray[np.intp]) -> None:
        self.rows, self.load, self.count, self.cases = rows, cases[0].load, len(cases), tuple(cases)
        self.shape, self.chip = (
            stacked([case.shape for case in cases]),
            stacked([case.chip for case in cases]),
        )
        self.form, self.layout = (
            stacked([case.form for case in cases]),
            stacked([case.layout for case in cases]),
        )
        self.asked = stacked([case.asked for case in cases])
        self.speculation = stacked([case.speculation for case in cases])
        self.in_flight = np.concatenate([case.in_flight for case in cases])
        self.most = np.concatenate([case.most_sequences for case in cases])
        self.kept = np.array([KEPT[case.setting.engine] for case in cases])
        self.balanced = np.array([case.setting.engine is Engine.TENSORRT_LLM for case in cases])
        self.link = _link(cases[0])
        keys = [
            (case.setting, id(case.machine.hardware), case.limit_ratio, case.in_process) for case in cases
        ]
        self.settings = list(dict.fromkeys(keys))
        self.examples = [cases[keys.index(key)] for key in self.settings]
        self.setting_of = np.array([self.settings.index(key) for key in keys])

    def predict(self, figure: Figures) -> Predicted:
        constants = self._constants(figure)
        costs = step_costs(
            shape=self.shape,
            chip=self.chip,
            link=self.link,
            constants=constants,
            form=self.form,
            layout=self.layout,
            speculation=self.speculation,
        )
        usual = self._limit(constants, 1.0)
        most = replace(
            constants, memory_use_fraction=np.maximum(constants.memory_use_fraction, MOST_MEMORY),
            reserved_bytes=0.0 * constants.reserved_bytes,
        )  # fmt: skip
        limit, less = (
            np.where(usual >= FEW, self._limit(constants, share), self._limit(most, share))
            for share in (1.0, 1.0 - NEAR)
        )
        nothing = np.full(self.count, np.nan)
        flags: dict[str, Floats] = {
            "saturated": (self.in_flight > limit).astype(np.float64),
            "near": ((self.in_flight > less) & (self.in_flight < FAR * limit)).astype(np.float64),
            "holds": (limit >= 1.0).astype(np.float64),
            "stretched": (usual < FEW).astype(np.float64),
        }
        held = np.maximum(limit, 1.0)
        if self.load is Load.OPEN:
            return self._open(figure, constants)
        if self.load is Load.OFFLINE:
            rate = offline_tokens_per_s(costs, constants, asked=self.asked, batch_sequences=held)
            return Predicted(nothing, nothing, rate / self.layout.gpus, **flags)
        if self.load is Load.DECODE:
            token = decode_pool_token_s(costs, asked=self.asked, in_flight=np.minimum(self.in_flight, held))
            return Predicted(nothing, token, nothing, **flags)
        loop = closed_loop(costs, constants, asked=self.asked, in_flight=self.in_flight, batch_limit=held)
        steps = balance_wait_steps(
            groups=costs.groups, arrivals_per_step=loop.decode_sequences / self.asked.output_tokens
        )
        waited = np.where(self.balanced, steps * loop.decode_s, 0.0)
        rate = loop.output_tokens_per_s / self.layout.gpus
        rate = rate * loop.end_to_end_s / (loop.end_to_end_s + waited)
        return Predicted(loop.first_token_s + waited, loop.per_token_s, rate, **flags)

    def _open(self, figure: Figures, constants: ServingConstants) -> Predicted:
        """Open loops choose their replica one by one."""
        assert not isinstance(self.link, SpanningReduce)
        found = [
            open_loop(case, figure, _cut(constants, at), self.link, pace=pace_of(case, figure))
            for at, case in enumerate(self.cases)
        ]

        def joined(name: str) -> Floats:
            return np.concatenate([np.atleast_1d(getattr(one, name)).astype(np.float64) for one in found])

        saturated = joined("saturated")
        return Predicted(
            joined("first_token_s"), joined("per_token_s"), joined("tokens_per_s_per_gpu"), saturated, saturated,
            joined("holds"), 0.0 * saturated,
        )  # fmt: skip

    def _limit(self, constants: ServingConstants, share: float) -> Floats:
        fitting = batch_limit(
            self.shape, form=self.form, layout=self.layout, memory_bytes=self.chip.memory_bytes * share,
            sequence_tokens=self.asked.prompt_tokens + self.asked.output_tokens * self.kept, constants=constants,
        )  # fmt: skip
        return np.asarray(np.minimum(fitting, self.most))

    def _constants(self, figure: Figures) -> ServingConstants:
        """Corrections of each row, figures read once for each setting."""
        return _spread([_corrections(case, figure) for case in self.examples], self.setting_of)


def _corrections(case: ServingCase, figure: Figures) -> ServingConstants:
    """Corrections of a case: what products of its machine reach, and no front end where the harness has none."""
    machine = case.machine
    found = serving_constants(
        figure, case.setting, case.chip,
        gemm_ratio=machine.hardware.gemm_ratio * machine.narrow_ratio * case.limit_ratio,
        cap_ratio=machine.hardware.cap_ratio * machine.wide_ratio * case.limit_ratio,
    )  # fmt: skip
    if not case.in_process:
        return found
    fixed = case.row.scenario == FIXED_BATCH
    return replace(
        found, first_token_fixed_s=0.0 * found.first_token_fixed_s, request_host_s=0.0 * found.request_host_s,
        first_token_decode_steps=0.0 * found.first_token_decode_steps,
        # a batch that stays together fills in all of its prompts before any of it decodes
        lockstep_fraction=np.ones_like(found.lockstep_fraction) if fixed else found.lockstep_fraction,
    )  # fmt: skip


def pace_of(case: ServingCase, figure: Figures) -> float:
    """How many times as fast as the model a run is: submissions are tuned to their benchmark."""
    return float(figure("tuned_submission_ratio")[0]) if case.tuned else 1.0


def _cut(constants: ServingConstants, at: int) -> ServingConstants:
    """Corrections of one row."""
    cut: dict[str, Any] = {}
    for field in fields(constants):
        value = getattr(constants, field.name)
        cut[field.name] = (
            replace(value, **{one.name: getattr(value, one.name)[..., [at]] for one in fields(value)})
            if is_dataclass(value) and not isinstance(value, type)
            else value[..., [at]]
        )
    return replace(constants, **cut)


def _spread(parts: Sequence[T], place: NDArray[np.intp]) -> T:
    """Dataclasses of arrays of shape (1,) or (draws, 1), one for each setting, as one with a column for each row."""
    first = parts[0]
    assert is_dataclass(first) and not isinstance(first, type)
    joined: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(one, field.name) for one in parts]
        if is_dataclass(values[0]):
            joined[field.name] = _spread(values, place)
            continue
        draws = max((value.shape[:-1] for value in values), key=len)
        columns = np.empty((*draws, len(values)))
        for at, value in enumerate(values):
            columns[..., at] = value[..., 0]
        joined[field.name] = columns[..., place]
    return replace(first, **joined)
