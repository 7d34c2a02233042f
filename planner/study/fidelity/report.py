"""Predictions of all groups as plain data, and as the table that the README shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from planner.catalog.store import Catalog
from planner.study.fidelity.collectives import CollectivePredictor, predict_collectives
from planner.study.fidelity.gemm import predict_gemm
from planner.study.fidelity.goodput import predict_goodput
from planner.study.fidelity.inference import predict_inference
from planner.study.fidelity.power import predict_power
from planner.study.fidelity.rows import Rows
from planner.study.fidelity.schema import Group, Measured
from planner.study.fidelity.scoring import Result, Scores, scores, split
from planner.study.fidelity.training import predict_training

BY: dict[str, Callable[[Result], str]] = {
    "by_family": lambda one: one.family,
    "by_gpu": lambda one: one.gpu,
    "by_source": lambda one: one.source,
    "by_dense_moe": lambda one: one.kind,
}
"""Parts that every group's errors are split into, and the name of a result's part."""


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group of measured rows and what was predicted.

    Attributes:
        rows: Rows read and scored; `skipped` are the ids of those that say they can't be.
        scores: Over all results.
        results: In the order of the rows.
    """

    group: Group
    rows: int
    skipped: tuple[str, ...]
    scores: Scores
    results: tuple[Result, ...]

    @property
    def by_target(self) -> dict[str, Scores]:
        """Figures of each target."""
        return split(self.results, lambda one: one.target)

    @property
    def samples(self) -> dict[str, Scores]:
        """Figures of the points that constants were fitted on, and of the others; empty where none is known."""
        if not any(one.in_sample for one in self.results):
            return {}
        return {
            "in_sample": scores([one for one in self.results if one.in_sample]),
            "out_of_sample": scores([one for one in self.results if not one.in_sample]),
        }


@dataclass(frozen=True, slots=True)
class Fidelity:
    """All groups, in their fixed order; a group without rows has none predicted."""

    groups: dict[Group, GroupReport]


def predict_rows(rows: Rows, catalog: Catalog, *, collectives: CollectivePredictor | None = None) -> Fidelity:
    """Predict every row of every group.

    Args:
        rows: As read.
        catalog: What predictions rest on.
        collectives: The collective model; the shipped one by default.
    """
    predictors: dict[Group, Callable[[Any, Catalog], list[Result]]] = {
        Group.TRAINING: predict_training,
        Group.COLLECTIVES: lambda some, shelf: predict_collectives(some, shelf, predictor=collectives),
        Group.INFERENCE: predict_inference,
        Group.GOODPUT: predict_goodput,
        Group.POWER: predict_power,
        Group.GEMM: predict_gemm,
    }
    return Fidelity(
        {
            group: _group(group, rows.of(group), predict, catalog)
            for group, predict in predictors.items()
            if group is not Group.GEMM or rows.gemm
        }
    )


def _group(
    group: Group, rows: Sequence[Any], predict: Callable[[Any, Catalog], list[Result]], catalog: Catalog
) -> GroupReport:
    kept = [row for row in rows if not isinstance(row, Measured) or row.scorable]
    skipped = tuple(row.id for row in rows if isinstance(row, Measured) and not row.scorable)
    results = tuple(predict(kept, catalog))
    return GroupReport(group, len(kept), skipped, scores(results), results)


def to_json(found: Fidelity) -> dict[str, Any]:
    """The object that `planner fidelity --json` prints."""
    return {group.value: _group_json(one) for group, one in found.groups.items()}


def _group_json(one: GroupReport) -> dict[str, Any]:
    whole: dict[str, Any] = asdict(one.scores)
    for name, key in BY.items():
        whole[name] = _parts(split(one.results, key))
    whole["by_target"] = _parts(one.by_target)
    whole |= _parts(one.samples)
    whole["rows_skipped"], whole["skipped"] = len(one.skipped), list(one.skipped)
    whole["results"] = [_result_json(result) for result in one.results]
    return whole


def _parts(parts: dict[str, Scores]) -> dict[str, Any]:
    return {name: asdict(figures) for name, figures in parts.items()}


def _result_json(one: Result) -> dict[str, Any]:
    found: dict[str, Any] = {"id": one.id, "target": one.target, "unit": one.unit, "measured": one.measured}
    if one.predicted is None:
        found["why_not"] = one.why_not
    else:
        found |= {"predicted": one.predicted, "low": one.low, "high": one.high, "error": one.error}
    found |= {"family": one.family, "gpu": one.gpu, "source": one.source}
    if one.kind:
        found["dense_moe"] = one.kind
    if one.in_sample:
        found["in_sample"] = True
    if one.assumed:
        found["assumed"] = list(one.assumed)
    return found
