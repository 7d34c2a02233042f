"""Measured serving runs, beside what the serving model says of the same replica, requests and load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.catalog.store import Catalog
from planner.performance.software import Figures
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.scoring import DENSE, MOE, Result, without
from planner.study.fidelity.serving_batch import (
    MOST_MEMORY,
    Predicted,
    ServingBatch,
    pace_of,
    serving_figures,
)  # fmt: skip
from planner.study.fidelity.serving_cases import Load, ServingCase, ServingCases, UnfitServing
from planner.study.fidelity.serving_rules import CHOSEN, FULL_RATE, OTHER_POOL, SATURATED, exclusions

THROUGHPUT, TPOT, TTFT = "throughput", "tpot", "ttft"
UNITS: Final = {THROUGHPUT: "tokens/s/GPU", TPOT: "s", TTFT: "s"}
TUNED: Final = "times the factor of tuned submissions"
QUEUE: Final = "more requests in flight than caches fit, so this is the length of a queue"
STRETCHED: Final = (
    f"{MOST_MEMORY:.0%} of the memory taken, since the engine's own share leaves next to no room"
)


def targets(row: InferenceRow) -> dict[str, float]:
    """Measured figures of a row: tokens a second and GPU, seconds a token, seconds to the first one."""
    rates = row.metrics
    total = rates.output_tokens_per_s_total
    found = {
        THROUGHPUT: rates.output_tokens_per_s_per_gpu or (total / row.n_gpus if total else None),
        TPOT: _seconds(rates.tpot_mean_ms or rates.tpot_ms or rates.tpot_p99_ms),
        TTFT: _seconds(rates.ttft_mean_ms or rates.ttft_ms or rates.ttft_p99_ms),
    }
    return {name: value for name, value in found.items() if value is not None}


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3


def predict_inference(rows: Sequence[InferenceRow], catalog: Catalog) -> list[Result]:
    """One result for each target that a row states; a row without any is a statement.

    Rows that a rule leaves out (`serving_rules`) say so instead of a prediction.
    """
    names, maker, left_out = Names(catalog), ServingCases(catalog), exclusions(rows)
    cases = {at: maker.of(row) for at, row in enumerate(rows) if at not in left_out and targets(row)}
    fit = {at: case for at, case in cases.items() if isinstance(case, ServingCase)}
    figure = serving_figures(catalog)
    predicted = ServingBatch(list(fit.values())).predict(figure) if fit else None
    column = {at: place for place, at in enumerate(fit)}
    found: list[Result] = []
    for at, row in enumerate(rows):
        blank = _blank(row, names)
        if at in left_out or at not in cases:
            why = left_out.get(at, "statement")
            found += [without(one, why) for one in (_each(row, blank) if targets(row) else [blank])]
            continue
        case = cases[at]
        said = [replace(one, assumed=case.assumed) for one in _each(row, blank)]
        if isinstance(case, UnfitServing):
            found += [without(one, case.why_not) for one in said]
        elif predicted is not None:
            found += [_scored(one, case, predicted, column[at], figure) for one in said]
    return found


def _blank(row: InferenceRow, names: Names) -> Result:
    model = names.model(row.model)
    kind = "" if model is None else MOE if model.item.experts else DENSE
    return Result(row.id, "", row.family, row.gpu, row.src, kind=kind)


def _each(row: InferenceRow, blank: Result) -> list[Result]:
    return [
        replace(
            blank,
            id=f"{row.id}.{name}",
            target=name,
            unit=UNITS[name],
            measured=value,
            rate=name == THROUGHPUT,
        )
        for name, value in targets(row).items()
    ]


def _scored(result: Result, case: ServingCase, predicted: Predicted, at: int, figure: Figures) -> Result:
    """The prediction of a target with the band that like runs showed."""
    if not predicted.holds[..., at].all():
        return without(result, "by the memory model the weights leave no room for a sequence")
    if predicted.stretched[..., at].any():
        result = replace(result, assumed=(*result.assumed, STRETCHED))
    if result.target != THROUGHPUT and case.load is Load.OPEN and case.tuned:
        return without(result, CHOSEN)
    if result.target != THROUGHPUT and case.load is Load.OPEN and predicted.saturated[..., at].any():
        return without(result, FULL_RATE)
    if result.target == TPOT and case.row.osl is not None and case.row.osl < 2.0:
        return without(result, "an answer of one token has no time between tokens")
    by_target = {
        THROUGHPUT: predicted.tokens_per_s_per_gpu, TPOT: predicted.per_token_s, TTFT: predicted.first_token_s,
    }  # fmt: skip
    value = float(by_target[result.target][..., at].item())
    if not np.isfinite(value):
        return without(
            result, OTHER_POOL if case.load is Load.DECODE else f"this load has no {result.target} of its own"
        )
    if result.target == TTFT and predicted.near[..., at].any():
        return without(result, SATURATED)
    if result.target == TTFT and predicted.saturated[..., at].any():
        result = replace(result, assumed=(*result.assumed, QUEUE))
    if case.tuned and result.target == THROUGHPUT:
        value *= pace_of(case, figure)
        result = replace(result, assumed=(*result.assumed, TUNED))
    band = float(
        figure(f"serving_band_{'first_token' if result.target == TTFT else 'throughput'}_fraction")[0]
    )
    return replace(result, predicted=value, low=value * (1.0 - band), high=value * (1.0 + band))
