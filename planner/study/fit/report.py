"""Errors of the training model, fitted and left out, with what its constants rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.performance.models import training_flop_per_token
from planner.study.fidelity.cases import Case, Cases
from planner.study.fidelity.schema import TrainingRow
from planner.study.fidelity.scoring import DENSE, MOE, Result, Scores, scores
from planner.study.fidelity.training import kind_of
from planner.study.fit.bands import coverage_fraction, half_width_fraction
from planner.study.fit.constants import Constants, constants
from planner.study.fit.joint import (
    SPLITS,
    Evidence,
    Report,
    evidence,
    fit,
    left_out_s,
    measured_s,
    predicted_s,
)
from planner.study.fit.ordering import Ordering, ordering

FITTED_NAME: Final = "fitted"


@dataclass(frozen=True, slots=True)
class TrainingFit:
    """A joint fit and its errors.

    Attributes:
        rows: Rows fitted.
        parameters: Constants moved; effective_parameters: how many of them the rows determine.
        all_scores, dense_scores, moe_scores: By what was left out, ``fitted`` for nothing.
        band_fractions: Half widths by kind: known and unknown stack, new generation, mixture of experts.
        coverage_fraction: Share of left-out rows within the bands of the other families of their kind.
        orderings: By family, of the fitted predictions.
        evidence: By constant.
    """

    rows: int
    parameters: int
    effective_parameters: float
    all_scores: dict[str, Scores]
    dense_scores: dict[str, Scores]
    moe_scores: dict[str, Scores]
    band_fractions: dict[str, float]
    coverage_fraction: float
    orderings: dict[str, Ordering]
    evidence: tuple[Evidence, ...]

    @property
    def spearman(self) -> float:
        """Mean rank correlation over families that have one."""
        return _mean([one.spearman for one in self.orderings.values()])

    @property
    def right_fraction(self) -> float:
        """Mean share of pairs in the right order over families that have pairs."""
        return _mean([one.right_fraction for one in self.orderings.values()])


def _mean(values: Sequence[float | None]) -> float:
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else float("nan")


def training_fit(
    rows: Sequence[TrainingRow], catalog: Catalog, *, report: Report = lambda line: None
) -> TrainingFit | None:
    """Fit the constants to the rows, and once more without each part of them; None without a row that can be.

    Args:
        rows: Rows to be scored.
        catalog: Where constants and priors stand.
        report: Takes a line for each fit.
    """
    maker = Cases(catalog)
    cases = [one for one in map(maker.of, rows) if isinstance(one, Case)]
    if not cases:
        return None
    moved = constants(catalog)
    report(f"fit of {len(moved.keys)} constants to {len(cases)} rows")
    found = fit(cases, moved)
    steps = {FITTED_NAME: predicted_s(cases, moved, found.parameters)} | _left_out(cases, moved, report)
    kinds = np.array([kind_of(case.row) for case in cases])
    return TrainingFit(
        rows=len(cases),
        parameters=len(moved.keys),
        effective_parameters=found.effective_parameters,
        all_scores=_scores(cases, steps, np.ones(len(cases), dtype=bool)),
        dense_scores=_scores(cases, steps, kinds == DENSE),
        moe_scores=_scores(cases, steps, kinds == MOE),
        band_fractions=_bands(cases, steps, kinds),
        coverage_fraction=coverage_fraction(
            measured_s(cases), steps["family"], [case.row.family for case in cases], list(kinds)
        ),
        orderings=_orderings(cases, steps[FITTED_NAME]),
        evidence=tuple(evidence(cases, moved, found)),
    )


def _left_out(cases: Sequence[Case], moved: Constants, report: Report) -> dict[str, Floats]:
    return {split: left_out_s(cases, moved, split, report=report) for split in SPLITS}


def _scores(cases: Sequence[Case], steps: dict[str, Floats], part: Floats) -> dict[str, Scores]:
    found = {}
    for name, predicted in steps.items():
        results = [_result(case, step) for case, step, has in zip(cases, predicted, part, strict=True) if has]
        found[name] = scores(results)
    return found


def _result(case: Case, step_s: float) -> Result:
    row = case.row
    return Result(
        row.id, case.target, row.family, row.gpu, row.src, measured=case.measured_s, predicted=float(step_s)
    )  # fmt: skip


def _bands(cases: Sequence[Case], steps: dict[str, Floats], kinds: Floats) -> dict[str, float]:
    measured, families = measured_s(cases), np.array([case.row.family for case in cases])

    def width(kind: str, split: str) -> float:
        rows = kinds == kind
        if not rows.any():
            return float("nan")
        return half_width_fraction(measured[rows], steps[split][rows], list(families[rows]))

    return {
        "known_stack": width(DENSE, "family"),
        "unknown_stack": width(DENSE, "software"),
        "new_generation": width(DENSE, "generation"),
        "moe": width(MOE, "family"),
    }


def _orderings(cases: Sequence[Case], predicted: Floats) -> dict[str, Ordering]:
    families = np.array([case.row.family for case in cases])
    work = np.array([_flop_per_gpu(case) for case in cases])
    measured, models = work / measured_s(cases), [case.row.model for case in cases]
    found = {}
    for name in sorted(set(families)):
        rows = np.flatnonzero(families == name)
        found[str(name)] = ordering(measured[rows], (work / predicted)[rows], [models[at] for at in rows])
    return found


def _flop_per_gpu(case: Case) -> float:
    tokens = case.plan.global_batch_sequences * case.plan.sequence_tokens
    flop = tokens * training_flop_per_token(case.shape, sequence_tokens=case.plan.sequence_tokens)
    return float(flop[0]) / case.row.n_gpus


def to_json(one: TrainingFit) -> dict[str, Any]:
    """The fit as plain data; what doesn't exist is None."""
    whole = asdict(one) | {"spearman": one.spearman, "right_fraction": one.right_fraction}
    return {key: _plain(value) for key, value in whole.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and np.isnan(value) else value
