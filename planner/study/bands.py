"""P10 and P90 of results, from the ranges of what they rest on.

Every given line with a range is drawn as a two-piece normal around its value; the design, the plan
and the dates stay as they are. What moves together stands in `planner.study.risk_inputs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.arrays import Floats
from planner.evaluate import Evaluation, Range, evaluate
from planner.ledger import Line
from planner.study.risk_inputs import Inputs, inputs_of, ranged
from planner.study.risk_sampling import Z90, normal_scores

__all__ = ["DRAWS", "HEADLINE_KEYS", "SEED", "Drawing", "ranged", "two_piece_normal", "with_ranges"]
DRAWS = 255
SEED = 20261130
CHUNK = 2500
"""Draws evaluated in one call: each call designs the cluster once more, and more draws take more memory."""

HEADLINE_KEYS = (
    "outcome.gpu_utilisation_fraction",
    "outcome.waiting_fraction",
    "outcome.waiting_usd_per_year",
    "outcome.serving_output_tokens_per_s",
    "outcome.ttft_p99_s",
    "outcome.tpot_p99_s",
    "performance.serving.load.ttft_p99_s",
    "performance.serving.load.tpot_p99_s",
    "performance.serving.load.saturated_fraction",
    "performance.training.step_s",
    "performance.training.mfu_fraction",
    "performance.training.days_to_train",
    "performance.goodput_fraction",
    "power.it_w",
    "power.facility_w",
    "power.facility_peak_w",
    "power.energy_kwh_per_year",
    "capex.total_usd",
    "opex.year1_usd",
    "tco.npv_usd",
    "tco.total_usd",
    "unit.usd_per_gpu_hour",
    "unit.usd_per_gpu_hour_sold",
    "unit.usd_per_mtoken_output",
    "unit.usd_per_training_run",
)


@dataclass(frozen=True)
class Drawing:
    """A plan as a function of scores: results of many draws, all of one design.

    Attributes:
        evaluation: The plan.
        inputs: What is drawn.
        keys: Scalar lines that come out; those the plan lacks are left out.
    """

    evaluation: Evaluation
    inputs: Inputs
    keys: tuple[str, ...]

    @cached_property
    def found(self) -> tuple[str, ...]:
        """The keys that the plan has."""
        return tuple(key for key in dict.fromkeys(self.keys) if key in self.evaluation.ledger)

    def scores(self, rows: int, random: np.random.Generator) -> Floats:
        """A Latin hypercube of scores, shape (rows, columns)."""
        return normal_scores(rows, self.inputs.width, random, correlated=self.inputs.correlated)

    def values(self, scores: Floats) -> dict[str, Floats]:
        """Values of the inputs by key, shape (rows,) each."""
        ledger = self.evaluation.ledger
        return {
            line.key: two_piece_normal(line, ledger.scalar(line), scores[:, column])
            for line, column in zip(self.inputs.lines, self.inputs.columns, strict=True)
        }

    def results(self, scores: Floats, *, chunk: int = CHUNK) -> dict[str, Floats]:
        """Results by key, shape (rows,) each.

        The first draw of every call is the plan itself, since the plan of execution is chosen by it.
        """
        found: dict[str, list[Floats]] = {key: [] for key in self.found}
        for at in range(0, len(scores), chunk):
            rows = np.concatenate([np.zeros((1, scores.shape[1])), scores[at : at + chunk]])
            draws = self.values(rows)
            ledger = evaluate(
                self.evaluation.loaded, self.evaluation.parts.catalog, draws=draws, keys=self.found,
                like=self.evaluation.built,
            ).ledger  # fmt: skip
            for key in self.found:
                found[key].append(ledger.value(key)[1:])
        return {key: np.concatenate(pieces) for key, pieces in found.items()}


def with_ranges(
    evaluation: Evaluation,
    keys: Sequence[str] = HEADLINE_KEYS,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Evaluation:
    """The same evaluation with P10, P50 and P90 of its results.

    All ranged inputs are drawn together and evaluated in one call.

    Args:
        evaluation: As evaluated; one that can't be built comes back as it is.
        keys: Scalar lines to report on; absent ones are left out.
        draws: Number of draws.
        seed: Same seed, same ranges.
        bounds: P10 and P90 of inputs by key, before those of their sources.
    """
    if not evaluation.feasible:
        return evaluation
    drawing = Drawing(evaluation, inputs_of(evaluation, bounds), tuple(keys))
    if not drawing.inputs.lines:
        return evaluation
    results = drawing.results(drawing.scores(draws, np.random.default_rng(seed)))
    return replace(evaluation, ranges={key: range_of(column) for key, column in results.items()})


def range_of(column: Floats) -> Range:
    """Quantiles of draws."""
    low, middle, high = np.quantile(column, [0.1, 0.5, 0.9])
    return Range(float(low), float(middle), float(high), column)


def two_piece_normal(line: Line, value: float, scores: Floats) -> Floats:
    """Draws whose median is the value, with the line's P10 and P90; never past zero or, for shares, one.

    Args:
        line: With its range.
        value: The plan's.
        scores: Standard normal scores.

    >>> from planner.ledger import Axis, Kind
    >>> from planner.sourced import Source
    >>> line = Line("a", "A", "1", Axis.SCALAR, Kind.GIVEN, source=Source("x"), low=8.0, high=14.0)
    >>> two_piece_normal(line, 10.0, np.array([-Z90, 0.0, Z90])).round(6)
    array([ 8., 10., 14.])
    """
    low = value if line.low is None else line.low
    high = value if line.high is None else line.high
    width = np.where(scores < 0, value - low, high - value) / Z90
    least = 1.0 if line.key == "power.pue" else 0.05 * value
    found = np.maximum(value + scores * width, least)
    if line.unit.startswith("fraction") and value <= 1.0:
        found = np.minimum(found, 1.0)
    return np.asarray(found)
