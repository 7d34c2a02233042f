"""Figures of the errors of serving predictions: models counted alike, order within sweeps, bands, anchors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.study.fidelity.scoring import family_weights, weighted_percentile
from planner.study.fidelity.serving_cases import ServingCase, release_of
from planner.study.fit.ordering import LEAST_ROWS, spearman

ANCHOR_POINTS: Final = 3
ANCHOR_DRAWS: Final = 20
"""Random choices of the points, whose errors are taken together."""
SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of a set of predictions, predicted / measured - 1.

    Attributes:
        rows: How many.
        median, mean, p90: Of the absolute error; bias: the median signed one. Models count alike, and runs of a model.
    """

    rows: int
    median: float
    mean: float
    p90: float
    bias: float


def errors_of(predicted: Floats, measured: Floats, models: Sequence[str]) -> Errors:
    """Figures of errors.

    >>> errors_of(np.array([1.1, 2.0, 4.0]), np.array([1.0, 2.0, 5.0]), ["a", "a", "b"]).mean.__round__(3)
    0.125
    """
    off, weights = predicted / measured - 1.0, family_weights(models)
    size = np.abs(off)
    return Errors(
        off.size, weighted_percentile(size, weights, 0.5), float(size @ weights),
        weighted_percentile(size, weights, 0.9), weighted_percentile(off, weights, 0.5),
    )  # fmt: skip


def sweep_of(case: ServingCase) -> tuple[object, ...]:
    """Runs between which a planner chooses: one model, GPU, engine, release, precision and kind of request."""
    row = case.row
    return row.model, row.gpu, release_of(row), row.precision, row.isl, row.osl


def deployment_of(case: ServingCase) -> tuple[object, ...]:
    """Runs of one endpoint: one model, GPU, engine, release, precision and layout."""
    row = case.row
    return row.model, row.gpu, release_of(row), row.precision, row.n_gpus, row.tp, row.ep, row.attention_dp


def _grouped(
    cases: Sequence[ServingCase], key: Callable[[ServingCase], tuple[object, ...]]
) -> list[np.ndarray]:
    found: dict[tuple[object, ...], list[int]] = {}
    for place, case in enumerate(cases):
        found.setdefault(key(case), []).append(place)
    return [np.array(places) for places in found.values()]


def rank_correlations(cases: Sequence[ServingCase], predicted: Floats, measured: Floats) -> Floats:
    """Rank correlation of throughput per GPU within each sweep of five runs or more, shape (sweeps,)."""
    return np.array([
        spearman(predicted[rows], measured[rows])
        for rows in _grouped(cases, sweep_of)
        if rows.size >= LEAST_ROWS and np.ptp(measured[rows]) > 0.0 and np.ptp(predicted[rows]) > 0.0
    ])  # fmt: skip


def anchored(
    cases: Sequence[ServingCase],
    predicted: Floats,
    measured: Floats,
    models: Sequence[str],
    *,
    points: int = ANCHOR_POINTS,
) -> Errors:
    """Errors of the other runs of an endpoint when some points of it, chosen at random, give one factor.

    Args:
        cases: The runs.
        predicted, measured: A time of each.
        models: Count alike.
        points: Runs that give the factor; endpoints with no more are left aside.
    """
    random = np.random.default_rng(SEED)
    ratio, names = np.log(measured / predicted), np.array(models)
    off: list[Floats] = []
    of_model: list[str] = []
    for rows in _grouped(cases, deployment_of):
        if rows.size <= points:
            continue
        for _ in range(ANCHOR_DRAWS):
            chosen = random.permutation(rows)
            factor = np.exp(np.median(ratio[chosen[:points]]))
            rest = chosen[points:]
            off.append(predicted[rest] * factor / measured[rest])
            of_model += list(names[rest])
    if not off:
        return Errors(0, *([float("nan")] * 4))
    whole = np.concatenate(off)
    return errors_of(whole, np.ones(whole.size), of_model)
