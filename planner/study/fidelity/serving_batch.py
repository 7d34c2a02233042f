"""Measured serving runs in a few calls: those of one machine and kind of model are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.performance.assumed import file_of
from planner.performance.collectives import Link
from planner.performance.engine_reduce import EngineReduce, SpanningReduce
from planner.performance.hardware import engine_link
from planner.performance.inference import ServingConstants, batch_limit
from planner.performance.machines import with_network
from planner.performance.serving_engines import serving_constants
from planner.performance.serving_loops import closed_loop, decode_pool_token_s, offline_tokens_per_s
from planner.performance.serving_step import step_costs
from planner.performance.software import Figures
from planner.study.fidelity.serving_cases import Load, ServingCase
from planner.study.fidelity.steps import figures_of, stacked

INFINIBAND: Final = "infiniband-adaptive"
NEAR: Final = 0.03
"""Share of the memory by which the rule of an engine may be off."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predictions of shape (draws, rows), NaN where a row's load has no such figure.

    Attributes:
        first_token_s, per_token_s: Means of a closed loop.
        tokens_per_s_per_gpu: Output tokens.
        saturated: More requests in flight than caches fit; near: a little less memory would make it so.
        holds: At least one sequence fits.
    """

    first_token_s: Floats
    per_token_s: Floats
    tokens_per_s_per_gpu: Floats
    saturated: Floats
    near: Floats
    holds: Floats


def serving_figures(catalog: Catalog) -> Figures:
    """The catalog's figures of the serving model, by key."""
    return figures_of(lambda key: catalog.figure(file_of(key), key)[0].value)


def _kind(case: ServingCase) -> tuple[object, ...]:
    shape = case.shape
    flags = tuple(getattr(shape, field.name) for field in fields(shape) if field.type == "bool")
    return case.server, flags, bool(shape.experts[0] > 0.0), case.load, case.domains


def _link(case: ServingCase) -> Link | EngineReduce | SpanningReduce:
    """Between the ranks of a case's replicas."""
    machine = case.machine
    inside = engine_link(machine.assumed, machine.hardware)
    if case.domains == 1 or isinstance(inside, Link):
        return inside
    links = with_network(
        machine, nodes=float(case.domains), nic_gbit_per_s=machine.nic_gbit_per_s, behaviour=INFINIBAND,
        node_gpus=machine.node_gpus,
    )  # fmt: skip
    return SpanningReduce(inside, links, machine.server.item.scaleup_domain_gpus)


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
        self.rows, self.load, self.count = rows, cases[0].load, len(cases)
        self.shape, self.chip = (
            stacked([case.shape for case in cases]),
            stacked([case.chip for case in cases]),
        )
        self.form, self.layout = (
            stacked([case.form for case in cases]),
            stacked([case.layout for case in cases]),
        )
        self.asked = stacked([case.asked for case in cases])
        self.in_flight = np.concatenate([case.in_flight for case in cases])
        self.most = np.concatenate([case.most_sequences for case in cases])
        self.link = _link(cases[0])
        keys = [(case.setting, id(case.machine)) for case in cases]
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
        )
        limit, less = (self._limit(constants, share) for share in (1.0, 1.0 - NEAR))
        nothing = np.full(self.count, np.nan)
        flags: dict[str, Floats] = {
            "saturated": (self.in_flight > limit).astype(np.float64),
            "near": (self.in_flight > less).astype(np.float64),
            "holds": (limit >= 1.0).astype(np.float64),
        }
        held = np.maximum(limit, 1.0)
        if self.load is Load.OFFLINE:
            rate = offline_tokens_per_s(costs, constants, asked=self.asked, batch_sequences=held)
            return Predicted(nothing, nothing, rate / self.layout.gpus, **flags)
        if self.load is Load.DECODE:
            token = decode_pool_token_s(costs, asked=self.asked, in_flight=self.in_flight)
            return Predicted(nothing, token, nothing, **flags)
        loop = closed_loop(costs, constants, asked=self.asked, in_flight=self.in_flight, batch_limit=held)
        rate = loop.output_tokens_per_s / self.layout.gpus
        return Predicted(loop.first_token_s, loop.per_token_s, rate, **flags)

    def _limit(self, constants: ServingConstants, share: float) -> Floats:
        fitting = batch_limit(
            self.shape, form=self.form, layout=self.layout, memory_bytes=self.chip.memory_bytes * share,
            sequence_tokens=self.asked.prompt_tokens + self.asked.output_tokens / 2.0, constants=constants,
        )  # fmt: skip
        return np.asarray(np.minimum(fitting, self.most))

    def _constants(self, figure: Figures) -> ServingConstants:
        """Corrections of each row, figures read once for each setting."""
        by_setting = [
            serving_constants(
                figure, case.setting, case.chip, gemm_ratio=case.machine.hardware.gemm_ratio,
                cap_ratio=case.machine.hardware.cap_ratio,
            )
            for case in self.examples
        ]  # fmt: skip
        return _spread(by_setting, self.setting_of)


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
