"""Measured serving rows with and without the factors of anchors, and what three points of an endpoint give the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.choices import Precision
from planner.performance.serving_anchors import (
    LEAST_POINTS,
    Endpoint,
    Factors,
    Priors,
    anchored_endpoints,
    factors,
    priors,
)  # fmt: skip
from planner.scenario.serving_points import ServedBy, ServingAnchor
from planner.study.fidelity.inference import TPOT, TTFT, predict_inference, targets
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.scoring import Result, Scores, family_weights, scores, weighted_percentile
from planner.study.fidelity.serving_cases import ServingCase, ServingCases, release_of
from planner.study.fidelity.serving_rules import exclusions

DRAWS, SEED = 20, 7


@dataclass(frozen=True, slots=True)
class AnchoredRows:
    """Rows that anchors speak about, as predicted without and with their factors.

    Attributes:
        factors: Of each endpoint.
        before, after: By target, in one order.
        others: Rows of other endpoints, which anchors leave alone.
    """

    factors: dict[Endpoint, Factors]
    before: tuple[Result, ...]
    after: tuple[Result, ...]
    others: int

    def scores(self, target: str) -> tuple[Scores, Scores]:
        """Errors of a target without and with."""
        return (
            scores([one for one in self.before if one.target == target]),
            scores([one for one in self.after if one.target == target]),
        )


def anchored_serving(
    rows: Sequence[InferenceRow], catalog: Catalog, anchors: Sequence[ServingAnchor]
) -> AnchoredRows:
    """Predict rows with anchors of the same model, precision, engine and accelerator.

    Raises:
        ScenarioError: Anchors that the catalog can't place, or too few of an endpoint.
    """
    endpoints = anchored_endpoints(anchors, catalog, own_caches=True)
    prior = priors(catalog)
    found = {one.endpoint: one.factors(prior) for one in endpoints}
    of_row = dict(_endpoints(rows, catalog))
    before: list[Result] = []
    after: list[Result] = []
    for result in predict_inference(rows, catalog):
        endpoint = of_row.get(result.id.removesuffix(f".{result.target}"))
        known = found.get(endpoint) if endpoint is not None else None
        factor = None
        if known is not None and result.predicted is not None:
            factor = {TPOT: known.per_token, TTFT: known.first_token}.get(result.target)
        if factor is None or result.predicted is None:
            continue
        said = result.predicted
        before.append(result)
        after.append(
            replace(result, predicted=said * factor.value, low=said * factor.low, high=said * factor.high)
        )
    touched = {one.id.removesuffix(f".{one.target}") for one in before}
    return AnchoredRows(found, tuple(before), tuple(after), len(rows) - len(touched))


def _endpoints(rows: Sequence[InferenceRow], catalog: Catalog) -> Iterator[tuple[str, Endpoint]]:
    maker, left_out_rows = ServingCases(catalog), exclusions(rows)
    for place, row in enumerate(rows):
        if place in left_out_rows or not targets(row):
            continue
        case = maker.of(row)
        if isinstance(case, ServingCase):
            yield row.id, _endpoint(case)


def _endpoint(case: ServingCase) -> Endpoint:
    accelerator = case.machine.accelerator
    return Endpoint(
        accelerator, ServedBy(case.setting.engine.value), case.model, _precision(case.row.precision)
    )


def _precision(word: str) -> Precision:
    named = (one for key, one in (("fp4", Precision.FP4), ("fp8", Precision.FP8)) if key in word.lower())
    return next(named, Precision.BF16)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Absolute errors of rows without and with the factor of some points of their endpoint, models counted alike.

    Attributes:
        rows, endpoints: How many are judged.
        before_median, after_median, before_mean, after_mean: Of the absolute error.
        held_fraction: Share of the rows between the P10 and P90 of their endpoint's factor.
    """

    rows: int
    endpoints: int
    before_median: float
    before_mean: float
    after_median: float
    after_mean: float
    held_fraction: float


def left_out(
    rows: Sequence[InferenceRow],
    results: Sequence[Result],
    prior: Priors,
    *,
    target: str,
    points: int = LEAST_POINTS,
    by_release: bool = True,
) -> LeftOut:
    """What a factor from some points of an endpoint, chosen at random, does to its other rows.

    Args:
        rows: Measured rows, and results: what `predict_inference` says of them.
        prior: How much points are believed.
        target: tpot or ttft.
        points: That give the factor; endpoints with no more are left aside.
        by_release: One's own endpoint runs one release of its engine; without, rows of all releases share a factor.

    Returns:
        Errors over all draws together.
    """
    random = np.random.default_rng(SEED)
    parts: list[tuple[Floats, Floats, Floats]] = []
    models: list[str] = []
    judged = [one for one in _grouped(rows, results, target, by_release).items() if one[1].size > points]
    for (model, *_), own in judged:
        for _ in range(DRAWS):
            chosen = random.permutation(own)
            parts.append(_others(chosen[:points], chosen[points:], prior, target))
            models += [model] * (own.size - points)
    weights = family_weights(models)
    plain, anchored, held = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LeftOut(
        sum(own.size for _, own in judged), len(judged), weighted_percentile(plain, weights, 0.5),
        float(plain @ weights), weighted_percentile(anchored, weights, 0.5), float(anchored @ weights),
        float(held @ weights),
    )  # fmt: skip


def _others(chosen: Floats, rest: Floats, prior: Priors, target: str) -> tuple[Floats, Floats, Floats]:
    """Absolute errors of an endpoint's other rows without and with the factor, and whether its band holds them."""
    found = factors(chosen, chosen, prior)
    ratio = found.per_token if target == TPOT else found.first_token
    assert ratio is not None, target
    true: Floats = np.exp(rest)
    held: Floats = np.where((true >= ratio.low) & (true <= ratio.high), 1.0, 0.0)
    before: Floats = np.abs(1.0 / true - 1.0)
    after: Floats = np.abs(ratio.value / true - 1.0)
    return before, after, held


def _grouped(
    rows: Sequence[InferenceRow], results: Sequence[Result], target: str, by_release: bool
) -> dict[tuple[str, ...], Floats]:
    """Logarithms of measured over predicted, by endpoint."""
    of_row = {f"{row.id}.{target}": row for row in rows}
    found: dict[tuple[str, ...], list[float]] = {}
    for one in results:
        row = of_row.get(one.id)
        if row is None or one.error is None or row.scenario == "disagg":
            continue
        engine = release_of(row) if by_release else row.engine.partition(" ")[0]
        key = (row.model, row.gpu, engine, row.precision)
        found.setdefault(key, []).append(float(-np.log1p(one.error)))
    return {key: np.array(own) for key, own in found.items()}
