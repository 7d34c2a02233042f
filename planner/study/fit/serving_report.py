"""Errors of the serving model, fitted and left out, with what its constants rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.study.fidelity.schema import InferenceRow
from planner.study.fit.bands import coverage_fraction, half_width_fraction
from planner.study.fit.joint import Evidence, Report
from planner.study.fit.serving import (
    SPLITS,
    Runs,
    Times,
    architecture,
    evidence,
    fit,
    left_out,
    predicted,
    serving_parameters,
    serving_runs,
)  # fmt: skip
from planner.study.fit.serving_errors import Errors, anchored, errors_of, rank_correlations

FITTED_NAME: Final = "fitted"


@dataclass(frozen=True, slots=True)
class ServingFit:
    """A joint fit of serving and its errors.

    Attributes:
        closed_runs, offline_runs: Rows fitted.
        parameters: Constants moved; effective_parameters: how many of them the rows determine.
        per_token, first_token, offline: Errors by what was left out, ``fitted`` for nothing.
        models: Errors of the time for each token by model, fitted.
        anchored_per_token, anchored_first_token: With three points of the same endpoint.
        rank_median, rank_p10: Correlation of throughput within sweeps, of the fitted predictions.
        band_fractions: Half widths that hold four of five runs of models that a fit didn't see.
        coverage_fractions: Share of a left-out model's runs within the bands that the other models' errors give.
        evidence: By constant.
    """

    closed_runs: int
    offline_runs: int
    parameters: int
    effective_parameters: float
    per_token: dict[str, Errors]
    first_token: dict[str, Errors]
    offline: dict[str, Errors]
    models: dict[str, Errors]
    anchored_per_token: Errors
    anchored_first_token: Errors
    rank_median: float
    rank_p10: float
    band_fractions: dict[str, float]
    coverage_fractions: dict[str, float]
    evidence: tuple[Evidence, ...]


def serving_fit(
    rows: Sequence[InferenceRow], catalog: Catalog, *, report: Report = lambda line: None
) -> ServingFit | None:
    """Fit the constants to the rows, and once more without each model, GPU generation and engine.

    Args:
        rows: Rows to be scored.
        catalog: Where constants and priors stand.
        report: Takes a line for each fit.

    Returns:
        None without a closed loop among the rows.
    """
    runs, moved = serving_runs(rows, catalog), serving_parameters(catalog)
    if runs is None:
        return None
    report(f"fit of {len(moved.keys)} constants of serving to {len(runs.cases)} rows")
    found = fit(runs, moved)
    times = {FITTED_NAME: predicted(runs, moved, found.parameters)}
    for split in SPLITS:
        if len({SPLITS[split](case) for case in runs.cases[: runs.closed]}) > 1:
            times[split] = left_out(runs, moved, split, found.parameters, report=report)
    closed, whole = runs.cases[: runs.closed], times[FITTED_NAME]
    models = [architecture(case) for case in closed]
    names = [case.model for case in closed]
    order = rank_correlations(closed, _rate(runs, whole.first_token_s, whole.per_token_s), _rate(runs))
    return ServingFit(
        closed_runs=runs.closed,
        offline_runs=len(runs.cases) - runs.closed,
        parameters=len(moved.keys),
        effective_parameters=found.effective_parameters,
        per_token={name: errors_of(one.per_token_s, runs.per_token_s, models) for name, one in times.items()},
        first_token={
            name: errors_of(one.first_token_s, runs.first_token_s, models) for name, one in times.items()
        },
        offline=_offline(runs, times),
        models={
            name: errors_of(whole.per_token_s[rows], runs.per_token_s[rows], [name] * int(rows.sum()))
            for name in sorted(set(names))
            for rows in (np.array(names) == name,)
        },
        anchored_per_token=anchored(closed, whole.per_token_s, runs.per_token_s, models),
        anchored_first_token=anchored(closed, whole.first_token_s, runs.first_token_s, models),
        rank_median=float(np.median(order)) if order.size else float("nan"),
        rank_p10=float(np.quantile(order, 0.1)) if order.size else float("nan"),
        band_fractions=_bands(runs, times, models),
        coverage_fractions=_coverage(runs, times, models),
        evidence=evidence(runs, moved, found),
    )


def _rate(runs: Runs, first_token_s: Floats | None = None, per_token_s: Floats | None = None) -> Floats:
    """Output tokens a second and GPU that both times stand for, under so many requests in flight."""
    first = runs.first_token_s if first_token_s is None else first_token_s
    token = runs.per_token_s if per_token_s is None else per_token_s
    closed = runs.cases[: runs.closed]
    output = np.array([float(case.asked.output_tokens[0]) for case in closed])
    flying = np.array([float(case.in_flight[0] / case.layout.gpus[0]) for case in closed])
    return np.asarray(flying * output / (first + (output - 1.0) * token))


def _offline(runs: Runs, times: dict[str, Times]) -> dict[str, Errors]:
    """Errors as of times, so that twice and half weigh alike with those of closed loops."""
    if not runs.tokens_per_s_per_gpu.size:
        return {}
    every = [case.row.id for case in runs.cases[runs.closed :]]
    return {
        name: errors_of(runs.tokens_per_s_per_gpu, one.tokens_per_s_per_gpu, every)
        for name, one in times.items()
    }


def _bands(runs: Runs, times: dict[str, Times], models: Sequence[str]) -> dict[str, float]:
    if "model" not in times:
        return {}
    unseen = times["model"]
    return {
        "per_token": half_width_fraction(runs.per_token_s, unseen.per_token_s, models),
        "first_token": half_width_fraction(runs.first_token_s, unseen.first_token_s, models),
    }


def _coverage(runs: Runs, times: dict[str, Times], models: Sequence[str]) -> dict[str, float]:
    if "model" not in times:
        return {}
    unseen, kinds = times["model"], ["serving"] * len(models)
    return {
        "per_token": coverage_fraction(runs.per_token_s, unseen.per_token_s, models, kinds),
        "first_token": coverage_fraction(runs.first_token_s, unseen.first_token_s, models, kinds),
    }


def to_json(one: ServingFit) -> dict[str, Any]:
    """The fit as plain data; what doesn't exist is None."""
    plain: dict[str, Any] = _plain(asdict(one))
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and np.isnan(value) else value
