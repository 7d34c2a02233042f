"""Measured training rows with and without the correction of anchors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.catalog.store import Catalog
from planner.performance.anchors import AnchorStep, Kind, Ratio, anchor_steps, like, ratio_of
from planner.scenario.anchors import Anchor
from planner.study.fidelity.cases import Case, Cases
from planner.study.fidelity.schema import TrainingRow
from planner.study.fidelity.scoring import Result, Scores, scores
from planner.study.fidelity.training import catalog_figures, predict_training


def predicted_s(step: AnchorStep, catalog: Catalog) -> float:
    """The step of an anchor's run as the model says it, without any correction."""
    return float(step.predicted_s(catalog_figures(catalog))[0])


def catalog_ratio(steps: Sequence[AnchorStep], catalog: Catalog) -> Ratio:
    """Ratio of runs of one kind at the catalog's figures."""
    return ratio_of(steps, catalog_figures(catalog), lambda key: catalog.figure("performance", key)[0].value)[
        0
    ]


@dataclass(frozen=True, slots=True)
class Anchored:
    """Rows that anchors speak about, as predicted without and with them.

    Attributes:
        ratios: Of each kind of rows.
        others: Rows of another stack, generation, format or kind of model, which anchors leave alone.
    """

    ratios: dict[Kind, Ratio]
    before: tuple[Result, ...]
    after: tuple[Result, ...]
    others: int

    @property
    def scores(self) -> tuple[Scores, Scores]:
        """Errors without and with."""
        return scores(self.before), scores(self.after)


def anchored(rows: Sequence[TrainingRow], catalog: Catalog, anchors: Sequence[Anchor]) -> Anchored:
    """Predict rows with anchors of the same software, generation, format and kind of model.

    Raises:
        ScenarioError: Anchors that the catalog can't place.
    """
    steps = anchor_steps(anchors, catalog)
    software = steps[0].setting.software if steps else None
    maker, ratios = Cases(catalog), dict[Kind, Ratio]()
    before, after = [], []
    for row, result in zip(rows, predict_training(rows, catalog), strict=True):
        case = maker.of(row)
        if result.predicted is None or not isinstance(case, Case) or case.setting.software is not software:
            continue
        kind = Kind(case.setting.generation, case.setting.form, bool(case.shape.experts[0] > 0.0))
        mine = like(steps, kind)
        if not mine:
            continue
        if kind not in ratios:
            ratios[kind] = catalog_ratio(mine, catalog)
        ratio, step = ratios[kind], result.predicted
        before.append(result)
        after.append(
            replace(result, predicted=step * ratio.value, low=step * ratio.low, high=step * ratio.high)
        )
    return Anchored(ratios, tuple(before), tuple(after), len(rows) - len(before))
