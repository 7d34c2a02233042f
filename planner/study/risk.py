"""The risk of a plan: ranges with their errors, odds, what moves a result, and what to do about it next.

Draws come as independent Latin hypercubes of one seed. Their spread gives the standard error of every quantile,
so a reader sees whether more draws would change what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats
from planner.errors import InputError, Problem, nearest
from planner.evaluate import Evaluation
from planner.finance.uncertainty import (
    Convergence,
    Errors,
    Factor,
    MissedOdds,
    NextStep,
    Swing,
    Uncertainty,
    VarianceShare,
)
from planner.ledger import Axis, Kind
from planner.study.bands import DRAWS, HEADLINE_KEYS, SEED, Drawing, range_of, with_ranges
from planner.study.limits import JUDGES
from planner.study.risk_inputs import Bounds, Inputs, inputs_of
from planner.study.risk_next import next_step
from planner.study.risk_sampling import Z90
from planner.study.sensitivity import exchanged, indices_of

CUBES = 16
"""Independent hypercubes: their standard deviation, and with it every error shown, is known to a fifth."""
LISTED = 10
"""Factors with indices of their own; all others are one."""
BINS, BIN_DRAWS = 20, 100
"""Values of a factor that are told apart where its draws are enough, and the draws that a width takes."""
KEY = "tco.npv_usd"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How many evaluations go into what.

    Attributes:
        draws: For quantiles and odds.
        share_rows: For each Sobol index; 0 for none.
    """

    draws: int = 10_000
    share_rows: int = 2500

    @classmethod
    def of(cls, draws: int) -> Effort:
        """A quarter as many pairs for each index as draws, and no more than tell shares to a percent.

        >>> Effort.of(10_000).share_rows, Effort.of(400).share_rows, Effort.of(1_000_000).share_rows
        (2500, 100, 8192)
        """
        return cls(draws, max(64, min(8192, draws // 4)))


def with_risk(
    evaluation: Evaluation,
    key: str = KEY,
    *,
    effort: Effort | None = None,
    seed: int = SEED,
    bounds: Mapping[str, Bounds] | None = None,
    say: Say = lambda _: None,
) -> Evaluation:
    """The same evaluation with the ranges of its results and the risk of one of them.

    Args:
        evaluation: One that can be built; another comes back as it is.
        key: The result that is taken apart: a scalar line that isn't given.
        effort: How much to evaluate.
        seed: Same seed, same answer.
        bounds: P10 and P90 of inputs by key, before those of their sources.
        say: Told what is going on.

    Raises:
        InputError: No such result.
    """
    if not evaluation.feasible:
        return evaluation
    _refuse_key(evaluation, key)
    effort = effort or Effort()
    inputs = inputs_of(evaluation, bounds)
    judged = tuple(judge.line for judge in JUDGES)
    drawing = Drawing(evaluation, inputs, (key, *HEADLINE_KEYS, *judged))
    random = np.random.default_rng(seed)
    say(f"{effort.draws:,} draws of {len(inputs.lines)} inputs")
    rows = -(-effort.draws // CUBES)
    scores = np.concatenate([drawing.scores(rows, random) for _ in range(CUBES)])
    results = drawing.results(scores)
    swings = tornado(drawing, key)
    found = Uncertainty(
        key=key, value=evaluation.ledger.scalar(key), draws=rows * CUBES, cubes=CUBES, seed=seed,
        inputs=len(inputs.lines), swings=swings, rest=rest_of(swings, evaluation.ledger.scalar(key)), odds=missed_odds(evaluation, results),
        errors={name: quantile_errors(column) for name, column in results.items()},
        convergence=doubling(results[key]), ties=inputs.ties,
    )  # fmt: skip
    if effort.share_rows and swings:
        say(f"variance shares of the {min(LISTED, len(swings))} widest inputs and of all others together")
        shares = variance_shares(drawing, key, swings[:LISTED], rows=effort.share_rows, random=random)
        steps = next_steps(evaluation, shares, scores, results[key])
        found = replace(found, shares=shares, share_rows=effort.share_rows, steps=steps)
    return replace(
        evaluation, ranges={name: range_of(column) for name, column in results.items()}, risk=found
    )


def with_swings(evaluation: Evaluation, key: str = KEY, *, seed: int = SEED) -> Evaluation:
    """The same evaluation with what swings one result, in one call more: the quick half of `with_risk`.

    Args:
        evaluation: With its ranges; one that can't be built comes back as it is.
        key: The result that is taken apart.
        seed: Of the ranges.
    """
    if not evaluation.feasible or key not in evaluation.ledger:
        return evaluation
    drawing = Drawing(evaluation, inputs_of(evaluation), (key,))
    return _with_swings(evaluation, key, drawing.inputs, tornado(drawing, key), seed)


def with_ranges_and_swings(evaluation: Evaluation, key: str = KEY) -> Evaluation:
    """What `with_ranges` and `with_swings` give one after the other, with the model called once for both.

    Args:
        evaluation: As evaluated; one that can't be built comes back as it is.
        key: The result that is taken apart.
    """
    if not evaluation.feasible or key not in evaluation.ledger:
        return with_ranges(evaluation)
    drawing = Drawing(evaluation, inputs_of(evaluation), (*HEADLINE_KEYS, key))
    if not drawing.inputs.lines:
        return evaluation
    draws = drawing.scores(DRAWS, np.random.default_rng(SEED))
    results = drawing.results(np.concatenate([draws, end_scores(drawing.inputs)]))
    ranges = {name: range_of(results[name][:DRAWS]) for name in HEADLINE_KEYS if name in results}
    swings = swings_of(drawing, key, results[key][DRAWS:])
    return _with_swings(replace(evaluation, ranges=ranges), key, drawing.inputs, swings, SEED)


def _with_swings(
    evaluation: Evaluation, key: str, inputs: Inputs, swings: tuple[Swing, ...], seed: int
) -> Evaluation:
    heaviest = [_heaviest(evaluation, one.factor) for one in swings[:LISTED]]
    steps = tuple(
        NextStep(one.factor, *next_step(evaluation.ledger[name]))
        for one, name in zip(swings, heaviest, strict=False)
    )
    draws = max((len(found.draws) for found in evaluation.ranges.values()), default=0)
    value = evaluation.ledger.scalar(key)
    found = Uncertainty(
        key, value, draws, 1, seed, len(inputs.lines), swings, rest_of(swings, value), steps=steps, ties=inputs.ties
    )  # fmt: skip
    return replace(evaluation, risk=found)


def _refuse_key(evaluation: Evaluation, key: str) -> None:
    lines = evaluation.ledger.lines
    if key not in lines:
        raise InputError(
            Problem(f"no ledger line '{key}'", remedy=nearest(key, lines) or f"one such as {KEY}")
        )
    if lines[key].axis is not Axis.SCALAR or lines[key].kind is Kind.GIVEN:
        what = "a given number" if lines[key].kind is Kind.GIVEN else "a series"
        raise InputError(
            Problem(f"'{key}' is {what}, and risk is of one result", remedy=f"one such as {KEY}")
        )


def tornado(drawing: Drawing, key: str) -> tuple[Swing, ...]:
    """The result with each factor at its P10 and at its P90, all else as planned; the widest first.

    Factors that don't move it are left out.
    """
    results = replace(drawing, keys=(key,)).results(end_scores(drawing.inputs))
    return swings_of(drawing, key, results[key])


def end_scores(inputs: Inputs) -> Floats:
    """Scores of one factor after the other at its P10, then at its P90, the others as planned; shape (2 factors, columns)."""
    scores = np.zeros((2 * len(inputs.factors), inputs.width))
    for at, factor in enumerate(inputs.factors):
        scores[2 * at, list(factor.columns)] = -Z90
        scores[2 * at + 1, list(factor.columns)] = Z90
    return scores


def swings_of(drawing: Drawing, key: str, results: Floats) -> tuple[Swing, ...]:
    """The swings that the results of `end_scores` say, the widest first; factors that don't move it are left out."""
    base = abs(drawing.evaluation.ledger.scalar(key))
    found = [
        Swing(factor, float(results[2 * at]), float(results[2 * at + 1]))
        for at, factor in enumerate(drawing.inputs.factors)
    ]
    moving = [one for one in found if one.width > 1e-12 * base]
    return tuple(sorted(moving, key=lambda one: (-one.width, one.factor.name)))


def rest_of(swings: Sequence[Swing], value: float, listed: int = LISTED) -> Swing | None:
    """What the factors after the listed ones do together, were their effects to add up: the root of the squares."""
    rest = swings[listed:]
    if not rest:
        return None
    below = sum((value - min(one.at_low, one.at_high, value)) ** 2 for one in rest) ** 0.5
    above = sum((max(one.at_low, one.at_high, value) - value) ** 2 for one in rest) ** 0.5
    return Swing(Factor(f"{len(rest)} others together", (), ()), value - below, value + above)


def variance_shares(
    drawing: Drawing, key: str, swings: Sequence[Swing], *, rows: int, random: np.random.Generator
) -> tuple[VarianceShare, ...]:
    """Sobol indices of the factors that swing the result most, and of all others as one factor."""
    factors = [one.factor for one in swings]
    listed = {column for factor in factors for column in factor.columns}
    rest = tuple(column for column in range(drawing.inputs.width) if column not in listed)
    sets = [factor.columns for factor in factors] + ([rest] if rest else [])
    first, second = drawing.scores(rows, random), drawing.scores(rows, random)
    model = replace(drawing, keys=(key,))
    at_mixed = np.stack([model.results(exchanged(first, second, columns))[key] for columns in sets])
    found = indices_of(model.results(first)[key], model.results(second)[key], at_mixed)
    shares = [
        VarianceShare(
            factors[at] if at < len(factors) else None,
            *(float(part[at]) for part in (found.first, found.first_error, found.total, found.total_error)),
        )
        for at in range(len(sets))
    ]
    return tuple(sorted(shares, key=lambda one: (one.factor is None, -one.total)))


def next_steps(
    evaluation: Evaluation, shares: Sequence[VarianceShare], scores: Floats, column: Floats
) -> tuple[NextStep, ...]:
    """What to do about the listed factors, what narrows the result most first.

    Args:
        evaluation: The plan.
        shares: Of the factors.
        scores: Of the draws, shape (draws, columns).
        column: The result in each draw.
    """
    found = []
    for share in shares:
        if share.factor is not None:
            kind, words = next_step(evaluation.ledger[_heaviest(evaluation, share.factor)])
            narrower = narrower_fraction(scores[:, list(share.factor.columns)], column)
            found.append(NextStep(share.factor, kind, words, share.first, narrower))
    return tuple(sorted(found, key=lambda one: -(one.narrower_fraction or 0.0)))


def narrower_fraction(scores: Floats, column: Floats) -> float:
    """How much narrower P10 to P90 would be on average, were a factor known.

    Nobody knows yet what it will turn out to be, so draws are put into bins of equal number by the factor, and the
    width is the mean of the bins'. Several scores are put in order by the line that fits the result best. Noise that
    would make a range wider counts as none.

    Args:
        scores: The factor's, shape (draws, columns).
        column: Result of each draw.

    >>> random = np.random.default_rng(4)
    >>> z = random.standard_normal((20_000, 2))
    >>> round(narrower_fraction(z[:, :1], 3.0 * z[:, 0] + 4.0 * z[:, 1]), 1)  # a width of 4 instead of 5
    0.2
    """
    now = _width(column)
    if now == 0.0:
        return 0.0
    if scores.shape[1] > 1:
        with_one = np.column_stack([np.ones(len(scores)), scores])
        order = (with_one @ np.linalg.lstsq(with_one, column, rcond=None)[0]).argsort()
    else:
        order = scores[:, 0].argsort()
    bins = max(2, min(BINS, len(column) // BIN_DRAWS))
    left = [_width(column[part]) for part in np.array_split(order, bins)]
    return max(0.0, 1.0 - float(np.mean(left)) / now)


def _heaviest(evaluation: Evaluation, factor: Factor) -> str:
    """Of several inputs the one whose part costs most, else the one of the widest range."""
    built = evaluation.built
    assert built is not None
    costs = {row.price.key: evaluation.ledger.scalar(row.cost) for row in built.bom}
    return max(factor.keys, key=lambda key: costs.get(key, 0.0))


def _width(column: Floats) -> float:
    low, high = np.quantile(column, [0.1, 0.9])
    return float(high - low)


def quantile_errors(column: Floats, cubes: int = CUBES) -> Errors:
    """Standard errors of P10, P50 and P90 over all draws, from their spread between hypercubes."""
    each = np.quantile(column.reshape(cubes, -1), [0.1, 0.5, 0.9], axis=1)
    return Errors(*(float(part) for part in each.std(axis=1, ddof=1) / np.sqrt(cubes)))


def doubling(column: Floats, cubes: int = CUBES) -> tuple[Convergence, ...]:
    """Quantiles after 1, 2, 4 ... hypercubes."""
    each = column.reshape(cubes, -1)
    found = []
    for many in (1 << power for power in range(cubes.bit_length())):
        if many > cubes:
            break
        part = each[:many].ravel()
        low, middle, high = (float(one) for one in np.quantile(part, [0.1, 0.5, 0.9]))
        errors = quantile_errors(part, many) if many > 1 else None
        found.append(Convergence(len(part), low, middle, high, errors))
    return tuple(found)


def missed_odds(
    evaluation: Evaluation, results: Mapping[str, Floats], cubes: int = CUBES
) -> tuple[MissedOdds, ...]:
    """How often each limit of the scenario is missed, the least sure first."""
    found = []
    for judge in JUDGES:
        name, limit = judge.limit(evaluation.loaded.scenario)
        if limit is None or judge.line not in results:
            continue
        over = (results[judge.line] > limit).reshape(cubes, -1).mean(axis=1)
        error = float(over.std(ddof=1) / np.sqrt(cubes))
        found.append(MissedOdds(name, judge.line, float(limit), float(over.mean()), error))
    return tuple(sorted(found, key=lambda one: -one.missed_fraction))
