"""Points measured on one's own endpoint beside their predictions, and the factors that correct the model by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from planner.arrays import Floats
from planner.catalog.devices import accelerator_named
from planner.catalog.llm import Model
from planner.catalog.schema import Accelerator
from planner.catalog.store import Catalog
from planner.choices import Engine, Precision
from planner.errors import PlannerError, Problem, ScenarioError
from planner.performance.anchors import Ratio, anchor_ratio, server_with
from planner.performance.assumed import file_of
from planner.performance.hardware import engine_link
from planner.performance.inference import STEP_TOKENS, Layout, batch_limit
from planner.performance.machines import Machine, Machines
from planner.performance.models import ModelShape
from planner.performance.serving_engines import ServingSetting, serving_constants
from planner.performance.serving_formats import as_engines_come, formats_of
from planner.performance.serving_loops import Asked, closed_loop
from planner.performance.serving_step import step_costs
from planner.performance.serving_torch import decode_step, prefill_step, torch_kernels
from planner.performance.shapes import shape_of
from planner.scenario.serving_points import ServedBy, ServingAnchor, ServingPoint

FILE: Final = "serving-anchors"
LEAST_POINTS: Final = 3
WHY_THREE: Final = "a single point can make a prediction worse than none, three make it better"
BATCH_SEQUENCES: Final = 512.0
"""Sequences that an engine decodes at once unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Points of one endpoint share a factor."""

    gpu: str
    engine: ServedBy
    model: str
    precision: Precision

    def __str__(self) -> str:
        return f"{self.model}, {self.precision.value}, {self.engine.value} on {self.gpu}"


def endpoint_of(point: ServingPoint) -> Endpoint:
    """Endpoint of a point."""
    return Endpoint(point.gpu, point.engine, point.model, point.precision)


@dataclass(frozen=True, slots=True)
class Latencies:
    """Predicted seconds of a point, arrays of the figures' shape.

    Attributes:
        first_token_s: NaN where none is predicted: in a queue before full memory, or without a scheduler.
    """

    first_token_s: Floats
    per_token_s: Floats


@dataclass(frozen=True, slots=True)
class Priors:
    """How much points are believed, from `catalog/assumptions/serving-anchors.yaml`.

    Attributes:
        per_token_bias, first_token_bias: Standard deviation of endpoints around the model, of the logarithm.
        per_token_scatter, first_token_scatter: Of an endpoint's points around its own bias.
    """

    per_token_bias: float
    per_token_scatter: float
    first_token_bias: float
    first_token_scatter: float


def priors(catalog: Catalog) -> Priors:
    """The catalog's."""
    return Priors(*(catalog.figure(FILE, f"anchored_{one.name}_fraction")[0].value for one in fields(Priors)))


@dataclass(frozen=True, slots=True)
class Factors:
    """Measured over predicted times of an endpoint, with P10 and P90 for a further point of it.

    Attributes:
        first_token: None where fewer than three points have a time to the first token that is no queue's.
        points, first_points: How many give them.
    """

    per_token: Ratio
    first_token: Ratio | None
    points: int
    first_points: int


def factors(token: Floats, first: Floats, prior: Priors) -> Factors:
    """Factors that points give, drawn towards 1 by their number and scatter, as of training runs.

    Args:
        token, first: Logarithms of measured over predicted times of three points or more; first may have fewer.
        prior: How much points are believed.

    >>> found = factors(np.log([1.1, 1.1, 1.1]), np.zeros(0), Priors(0.065, 0.07, 0.14, 0.3))
    >>> round(found.per_token.value, 3), found.first_token
    (1.079, None)
    """
    assert token.size >= LEAST_POINTS, WHY_THREE
    per_token = anchor_ratio(
        log_ratios=token, stack_deviation=prior.per_token_bias, run_deviation=prior.per_token_scatter
    )
    first_token = None
    if first.size >= LEAST_POINTS:
        first_token = anchor_ratio(
            log_ratios=first, stack_deviation=prior.first_token_bias, run_deviation=prior.first_token_scatter
        )
    return Factors(per_token, first_token, token.size, first.size)


class ServingPredictor:
    """Predicts points; machines are drawn once.

    Args:
        catalog: Models, machines and figures.
        own_caches: Caches as engines keep them unless told otherwise, as measured rows are predicted; a scenario's
            own are those of its precision.
    """

    def __init__(self, catalog: Catalog, *, own_caches: bool = False) -> None:
        """Keep what is drawn."""
        self.catalog, self._machines, self._own_caches = catalog, Machines(catalog), own_caches

    def figure(self, key: str) -> Floats:
        """A figure of the catalog as it stands there, shape (1,)."""
        return np.array([self.catalog.figure(file_of(key), key)[0].value])

    def predict(self, point: ServingPoint) -> Latencies:
        """What the model says of a point, without any correction.

        Raises:
            PlannerError: The catalog lacks its model or accelerator, or nothing holds the weights.
        """
        shape = shape_of(self.catalog.get(Model, point.model))
        if point.engine is ServedBy.PLAIN_TORCH:
            return self._bare(point, shape)
        return self._served(point, shape)

    def _bare(self, point: ServingPoint, shape: ModelShape) -> Latencies:
        kernels, ranks = torch_kernels(self.catalog, point.gpu), point.tp
        context = np.array([point.isl + point.osl / 2.0])
        token = decode_step(
            kernels, shape, ranks=ranks, sequences=np.array([point.concurrency]), context_tokens=context
        )
        first = prefill_step(
            kernels, shape, ranks=ranks, prompts=np.ones(1), prompt_tokens=np.array([float(point.isl)])
        )
        # Without a scheduler nothing says how several prompts queue.
        alone = point.concurrency <= 1.0
        return Latencies(first.total_s if alone else np.array([np.nan]), token.total_s)

    def _served(self, point: ServingPoint, shape: ModelShape) -> Latencies:
        machine = self._machines.get(server_with(point.gpu, self.catalog), point.precision)
        _refuse_large(point, machine)
        hardware = machine.hardware
        form = formats_of(
            point.precision, sparse=bool(shape.experts[0] > 0.0), generation=hardware.generation
        )
        engine = Engine(point.engine.value)
        if self._own_caches:
            form = as_engines_come(
                form, engine=engine, generation=hardware.generation, latent=bool(shape.latent)
            )
        constants = serving_constants(
            self.figure, ServingSetting(engine, hardware.generation, form), hardware.chip,
            gemm_ratio=hardware.gemm_ratio, cap_ratio=hardware.cap_ratio,
        )  # fmt: skip
        ranks = np.array([float(point.tp)])
        layout, asked = (
            Layout(ranks, ranks),
            Asked(*(np.array([float(n)]) for n in (point.isl, max(point.osl, 2), STEP_TOKENS))),
        )
        costs = step_costs(
            shape=shape, chip=hardware.chip, link=engine_link(machine.assumed, hardware), constants=constants,
            form=form.bytes, layout=layout,
        )  # fmt: skip
        fitting = batch_limit(
            shape, form=form.bytes, layout=layout, memory_bytes=hardware.chip.memory_bytes,
            sequence_tokens=asked.prompt_tokens + asked.output_tokens / 2.0, constants=constants,
        )  # fmt: skip
        if float(fitting[0]) < 1.0:
            raise ScenarioError(
                Problem("by the memory model the weights leave no room for a sequence", key="tp", remedy="state the tp of the replica")
            )  # fmt: skip
        loop = closed_loop(
            costs, constants, asked=asked, in_flight=np.array([point.concurrency]),
            batch_limit=np.minimum(fitting, max(BATCH_SEQUENCES, point.concurrency)),
        )  # fmt: skip
        return Latencies(np.where(loop.saturated, np.nan, loop.first_token_s), loop.per_token_s)


def _refuse_large(point: ServingPoint, machine: Machine) -> None:
    domain = machine.server.item.scaleup_domain_gpus
    if point.tp > domain:
        raise ScenarioError(
            Problem(f"a replica of {point.tp} GPUs reaches over scale-up domains of {domain}", key="tp", remedy="state the tensor-parallel GPUs of one replica")
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Anchored:
    """Points of one endpoint and what the model says of each."""

    endpoint: Endpoint
    anchors: tuple[ServingAnchor, ...]
    latencies: tuple[Latencies, ...]

    def log_ratios(self) -> tuple[Floats, Floats]:
        """Logarithms of measured over predicted: time for each token, and to the first one where both are known."""
        pairs = list(zip(self.anchors, self.latencies, strict=True))
        token = [np.log(one.point.tpot_ms / 1e3 / said.per_token_s[0]) for one, said in pairs]
        first = [
            np.log(one.point.ttft_ms / 1e3 / said.first_token_s[0])
            for one, said in pairs
            if one.point.ttft_ms is not None and np.isfinite(said.first_token_s[0])
        ]
        return np.array(token), np.array(first)

    def factors(self, prior: Priors) -> Factors:
        """What the points give; whoever made this has looked that there are enough."""
        return factors(*self.log_ratios(), prior)


def catalogued(anchor: ServingAnchor, catalog: Catalog) -> ServingAnchor:
    """A point whose GPU is an item of the catalog, where people wrote it as drivers and vendors do, such as h200.

    Args:
        anchor: A point.
        catalog: Whose ids stand; a name that fits none of them stays.
    """
    gpu = anchor.point.gpu
    found = None if gpu in catalog.ids(Accelerator) else accelerator_named(catalog, gpu)
    return anchor if found is None else replace(anchor, point=anchor.point.model_copy(update={"gpu": found}))


def anchored_endpoints(
    anchors: Sequence[ServingAnchor], catalog: Catalog, *, own_caches: bool = False
) -> tuple[Anchored, ...]:
    """Points by endpoint, each predicted; `own_caches` as of `ServingPredictor`.

    Raises:
        ScenarioError: Points that the catalog can't place, and endpoints of fewer than three; every problem.
    """
    predictor, problems = ServingPredictor(catalog, own_caches=own_caches), list[Problem]()
    groups: dict[Endpoint, list[tuple[ServingAnchor, Latencies]]] = {}
    anchors = [catalogued(one, catalog) for one in anchors]
    for one in anchors:
        found = groups.setdefault(endpoint_of(one.point), [])
        try:
            found.append((one, predictor.predict(one.point)))
        except PlannerError as error:
            problems += [replace(problem, place=one.place) for problem in error.problems]
    problems += _too_few(anchors)
    if problems:
        raise ScenarioError(problems)
    return tuple(
        Anchored(endpoint, tuple(one for one, _ in found), tuple(said for _, said in found))
        for endpoint, found in groups.items()
    )


_PREPARED: WeakKeyDictionary[Catalog, dict[tuple[ServingAnchor, ...], tuple[Anchored, ...]]] = (
    WeakKeyDictionary()
)


def prepared_endpoints(anchors: tuple[ServingAnchor, ...], catalog: Catalog) -> tuple[Anchored, ...]:
    """The same, kept, since a study evaluates many times.

    Raises:
        ScenarioError: As `anchored_endpoints`.
    """
    if not anchors:
        return ()
    known = _PREPARED.setdefault(catalog, {})
    if anchors not in known:
        known[anchors] = anchored_endpoints(anchors, catalog)
    return known[anchors]


def _too_few(anchors: Sequence[ServingAnchor]) -> list[Problem]:
    groups: dict[Endpoint, list[ServingAnchor]] = {}
    for one in anchors:
        groups.setdefault(endpoint_of(one.point), []).append(one)
    return [
        Problem(
            f"{len(found)} point{'s' * (len(found) > 1)} of {endpoint}, and an anchor needs {LEAST_POINTS}: {WHY_THREE}",
            found[0].place, "anchors", "measure at a low, a middle and a high concurrency",
        )
        for endpoint, found in groups.items() if len(found) < LEAST_POINTS
    ]  # fmt: skip
