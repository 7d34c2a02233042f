"""P10 and P90 of results, from the ranges of what they rest on.

Every given line with a range is drawn as a two-piece normal around its value; the design, the plan
and the dates stay as they are. Prices of one family of parts (all modules, all switches) move together;
all other inputs are drawn independently of each other.
"""

from __future__ import annotations

from dataclasses import replace
from math import erfc

import numpy as np

from planner.arrays import Floats
from planner.evaluate import Evaluation, Range, evaluate
from planner.ledger import Axis, Kind, Line

DRAWS = 255
SEED = 20261130
Z90 = 1.2815515655446004
"""Standard normal quantile of 90 %."""


HEADLINE_KEYS = (
    "outcome.gpu_utilisation_fraction",
    "outcome.waiting_fraction",
    "outcome.waiting_usd_per_year",
    "outcome.serving_output_tokens_per_s",
    "outcome.ttft_p99_s",
    "outcome.tpot_p99_s",
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


def ranged(evaluation: Evaluation) -> list[Line]:
    """Given scalar lines whose source states a range, in the ledger's order."""
    return [
        line
        for line in evaluation.ledger
        if line.kind is Kind.GIVEN
        and line.axis is Axis.SCALAR
        and (line.low is not None or line.high is not None)
    ]


def with_ranges(
    evaluation: Evaluation, keys: tuple[str, ...] = HEADLINE_KEYS, *, draws: int = DRAWS, seed: int = SEED
) -> Evaluation:
    """The same evaluation with P10, P50 and P90 of its results.

    All ranged inputs are drawn together and evaluated in one call.

    Args:
        evaluation: As evaluated; one that can't be built comes back as it is.
        keys: Scalar lines to report on; absent ones are left out.
        draws: Number of draws.
        seed: Same seed, same ranges.
    """
    inputs = ranged(evaluation)
    if not evaluation.feasible or not inputs:
        return evaluation
    columns = _columns(inputs)
    uniform = _latin_hypercube(draws, max(columns) + 1, seed)[:, columns]
    ledger = evaluation.ledger
    values = {
        line.key: np.concatenate([[ledger.scalar(line)], two_piece_normal(line, ledger.scalar(line), column)])
        for line, column in zip(inputs, uniform.T, strict=True)
    }
    drawn = evaluate(evaluation.loaded, evaluation.parts.catalog, draws=values).ledger
    found: dict[str, Range] = {}
    for key in keys:
        if key in drawn:
            column = drawn.value(key)[1:]  # the first row is the plan itself
            low, middle, high = np.quantile(column, [0.1, 0.5, 0.9])
            found[key] = Range(float(low), float(middle), float(high), column)
    return replace(evaluation, ranges=found)


def _columns(inputs: list[Line]) -> list[int]:
    """Column of draws for each input: prices of one family of parts rise and fall together."""
    known: dict[str, int] = {}
    found = []
    for line in inputs:
        family = line.source.where.rpartition("/")[0] if line.source is not None else ""
        name = f"price {family}" if line.key.startswith("price.") and family else line.key
        found.append(known.setdefault(name, len(known)))
    return found


def two_piece_normal(line: Line, value: float, uniform: Floats) -> Floats:
    """Draws whose median is the value, with the line's P10 and P90; never past zero or, for shares, one.

    >>> from planner.sourced import Source
    >>> line = Line("a", "A", "1", Axis.SCALAR, Kind.GIVEN, source=Source("x"), low=8.0, high=14.0)
    >>> two_piece_normal(line, 10.0, np.array([0.1, 0.5, 0.9])).round(6)
    array([ 8., 10., 14.])
    """
    z = _normal_quantile(uniform)
    low = value if line.low is None else line.low
    high = value if line.high is None else line.high
    width = np.where(z < 0, value - low, high - value) / Z90
    least = 1.0 if line.key == "power.pue" else 0.05 * value
    found = np.maximum(value + z * width, least)
    if line.unit.startswith("fraction") and value <= 1.0:
        found = np.minimum(found, 1.0)
    return np.asarray(found)


def _latin_hypercube(draws: int, inputs: int, seed: int) -> Floats:
    """One draw in each of ``draws`` equal slices of every input, shuffled; shape (draws, inputs)."""
    random = np.random.default_rng(seed)
    slices = np.argsort(random.random((draws, inputs)), axis=0)
    return np.asarray((slices + random.random((draws, inputs))) / draws)


def _normal_quantile(p: Floats) -> Floats:
    """Inverse of the standard normal distribution, by Newton steps on a series of its tail.

    Absolute error under 1e-9 between 1e-6 and 1 - 1e-6.

    Source:
        abramowitz-stegun 26.2.23 for the start.
    """
    upper = np.minimum(p, 1.0 - p)
    t = np.sqrt(-2.0 * np.log(upper))
    top = 2.515517 + 0.802853 * t + 0.010328 * t * t
    bottom = 1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t**3
    z = t - top / bottom
    for _ in range(2):
        tail = np.array([0.5 * erfc(one / 2**0.5) for one in z])
        z = z + (tail - upper) * np.sqrt(2.0 * np.pi) * np.exp(z * z / 2.0)
    return np.asarray(np.where(p < 0.5, -z, z))
