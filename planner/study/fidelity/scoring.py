"""Errors of predictions, and their figures with every family counted alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats

DENSE, MOE = "dense", "moe"


@dataclass(frozen=True, slots=True)
class Result:
    """One measured figure and its prediction.

    Attributes:
        id: Row, with the target behind a dot where a row has several.
        target: What was measured, under the file's name for it.
        unit: Of measured, predicted, low and high; a rate that is scored as time stands as that time.
        measured, predicted: What was measured, and what the planner says.
        low, high: P10 and P90 of the prediction.
        why_not: Why there is no prediction; empty where there is one.
        family, gpu, source: Of the row.
        kind: `DENSE` or `MOE` where a model runs, else empty.
        assumed: What the row leaves out and the prediction took from the catalog or its own defaults.
        in_sample: The point is one that constants of the model were fitted on.
        rate: measured and predicted are rates, and the error is that of their inverses.
    """

    id: str
    target: str
    family: str
    gpu: str
    source: str
    unit: str = ""
    measured: float | None = None
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    why_not: str = ""
    kind: str = ""
    assumed: tuple[str, ...] = ()
    in_sample: bool = False
    rate: bool = False

    @property
    def error(self) -> float | None:
        """Predicted over measured, minus one; None without a prediction.

        >>> Result("a", "step_time_s", "f", "g", "s", measured=2.0, predicted=2.5).error
        0.25
        >>> Result("a", "busbw", "f", "g", "s", measured=200.0, predicted=160.0, rate=True).error
        0.25
        """
        if self.measured is None or self.predicted is None:
            return None
        over, under = (self.measured, self.predicted) if self.rate else (self.predicted, self.measured)
        return over / under - 1.0


def without(result: Result, why_not: str) -> Result:
    """The result of a row that can't be predicted."""
    return replace(result, predicted=None, low=None, high=None, why_not=why_not)


@dataclass(frozen=True, slots=True)
class Scores:
    """Errors of a set of results; None where nothing was predicted.

    Attributes:
        rows, rows_predicted: Rows, and those with a prediction.
        median_abs_error, p90_abs_error: Percentiles of the absolute error, every family counting alike and
            within it every result.
        bias: Mean of the signed error, weighted likewise.
        median_abs_error_rows, p90_abs_error_rows, bias_rows: The same with every result counting alike.
    """

    rows: int
    rows_predicted: int
    median_abs_error: float | None
    p90_abs_error: float | None
    bias: float | None
    median_abs_error_rows: float | None
    p90_abs_error_rows: float | None
    bias_rows: float | None


def family_weights(families: Sequence[str]) -> Floats:
    """Weight of each result: every family alike, then every result in it; they add up to one.

    >>> family_weights(["a", "a", "b"])
    array([0.25, 0.25, 0.5 ])
    """
    sizes = Counter(families)
    return np.array([1.0 / (len(sizes) * sizes[family]) for family in families])


def weighted_percentile(values: Floats, weights: Floats, fraction: float) -> float:
    """Smallest value that at least so much of the weight doesn't exceed.

    >>> weighted_percentile(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.25]), 0.5)
    2.0
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    # a sum of weights may end a rounding error below the share that it stands for
    place = int(np.searchsorted(reached, fraction * reached[-1] * (1.0 - 1e-12)))
    return float(values[order][min(place, values.size - 1)])


def scores(results: Sequence[Result]) -> Scores:
    """Figures over results, with and without prediction; a row may have several, one for each target."""
    found = [(one, error) for one in results if (error := one.error) is not None]
    number = len({row_of(one) for one in results})
    if not found:
        return Scores(number, 0, None, None, None, None, None, None)
    errors = np.array([error for _, error in found])
    by_family = family_weights([one.family for one, _ in found])
    alike = np.full(errors.size, 1.0 / errors.size)
    figures = [
        figure
        for weights in (by_family, alike)
        for figure in (
            weighted_percentile(np.abs(errors), weights, 0.5),
            weighted_percentile(np.abs(errors), weights, 0.9),
            float(errors @ weights),
        )
    ]
    predicted = len({row_of(one) for one, _ in found})
    return Scores(number, predicted, *figures)


def row_of(result: Result) -> str:
    """Id of the row that a result belongs to.

    >>> row_of(Result("C-1.tpot", "tpot", "f", "g", "s"))
    'C-1'
    """
    return result.id.removesuffix(f".{result.target}")


def split(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, Scores]:
    """Figures of each part of the results, in the order of names; results without a name are left aside."""
    parts: dict[str, list[Result]] = {}
    for one in results:
        name = key(one)
        if name:
            parts.setdefault(name, []).append(one)
    return {name: scores(parts[name]) for name in sorted(parts)}


def worst(results: Iterable[Result], count: int) -> list[Result]:
    """The largest misses, worst first: by the ratio, so that half and twice weigh alike."""
    found = [
        (abs(np.log1p(max(error, -0.999999))), one) for one in results if (error := one.error) is not None
    ]
    return [one for _, one in sorted(found, key=lambda pair: (-pair[0], pair[1].id))[:count]]
