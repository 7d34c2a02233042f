"""What would change a decision: the value of one input, all else as planned, at which a comparison turns over.

A gap is a function of the scores of inputs whose sign is the decision: a result less its limit, or one plan's result
less another's. Each factor is moved alone from its P10 to its P90; where the sign changes on the way, the place is
found on a grid, with a straight line between two neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.evaluate import Evaluation
from planner.finance.uncertainty import Factor
from planner.study.bands import Drawing, two_piece_normal
from planner.study.limits import JUDGES
from planner.study.risk_inputs import Inputs, inputs_of
from planner.study.risk_sampling import Z90

STEPS: Final = 16
"""Parts of the way from the planned value to one end."""
Gap = Callable[[Floats], Floats]
"""Shape (rows,) from scores of shape (rows, columns)."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A factor that turns a decision over within its P10 to P90.

    Attributes:
        score: Standard normal score at which it turns, of all the factor's columns.
        value: Value of a single input there, in its unit; None where the factor is several.
        planned: Value of a single input as planned.
    """

    factor: Factor
    score: float
    value: float | None
    planned: float | None

    @property
    def above(self) -> bool:
        """Whether it turns once the factor is above the planned value, rather than below."""
        return self.score > 0


@dataclass(frozen=True, slots=True)
class LimitFlips:
    """A limit of the scenario, and what would turn it from met to missed or back.

    Attributes:
        field: Field that states it.
        key: Line that is judged.
        limit, value: In the line's unit.
    """

    field: str
    key: str
    limit: float
    value: float
    flips: tuple[Flip, ...]

    @property
    def met(self) -> bool:
        """Whether the plan as it stands keeps it."""
        return self.value <= self.limit


def turning_scores(gap: Gap, columns: Sequence[Sequence[int]], width: int) -> dict[int, float]:
    """The score nearest to the plan at which each set of columns turns the gap's sign, by its place.

    Args:
        gap: The decision; zero or less is the one answer, more than zero the other.
        columns: Sets of columns that are moved together, each set alone.
        width: Columns of the scores.

    Returns:
        Sets that turn it between their P10 and their P90; the others are left out.

    >>> found = turning_scores(lambda z: z[:, 0] - 0.5 + 0.1 * z[:, 1], [[0], [1]], 2)
    >>> {place: round(score, 6) for place, score in found.items()}
    {0: 0.5}
    """
    ends = np.zeros((2 * len(columns) + 1, width))
    for place, moved in enumerate(columns):
        ends[2 * place + 1, list(moved)] = -Z90
        ends[2 * place + 2, list(moved)] = Z90
    over = gap(ends) > 0
    turned = [
        (at, sign) for at in range(len(columns)) for sign in (0, 1) if over[2 * at + 1 + sign] != over[0]
    ]
    if not turned:
        return {}
    steps = np.linspace(0.0, Z90, STEPS + 1)
    grid = np.zeros((len(turned) * (STEPS + 1), width))
    for row, (at, sign) in enumerate(turned):
        part = slice(row * (STEPS + 1), (row + 1) * (STEPS + 1))
        grid[part, list(columns[at])] = (steps if sign else -steps)[:, None]
    gaps = gap(grid).reshape(len(turned), STEPS + 1)
    found: dict[int, float] = {}
    for (at, sign), way in zip(turned, gaps, strict=True):
        score = _crossing(steps, way) * (1.0 if sign else -1.0)
        if at not in found or abs(score) < abs(found[at]):
            found[at] = score
    return found


def _crossing(steps: Floats, gaps: Floats) -> float:
    """Where the gap first changes sign along the way."""
    over = gaps > 0
    after = int(np.argmax(over != over[0]))
    before, low, high = after - 1, gaps[after - 1], gaps[after]
    share = 0.5 if high == low else (0.0 - low) / (high - low)
    return float(steps[before] + share * (steps[after] - steps[before]))


def flip_of(evaluation: Evaluation, inputs: Inputs, factor: Factor, score: float) -> Flip:
    """A turn in the input's own unit, where the factor is a single input."""
    if len(factor.keys) != 1:
        return Flip(factor, score, None, None)
    line = next(one for one in inputs.lines if one.key == factor.keys[0])
    planned = evaluation.ledger.scalar(line)
    return Flip(factor, score, float(two_piece_normal(line, planned, np.array([score]))[0]), planned)


def limit_flips(evaluation: Evaluation) -> tuple[LimitFlips, ...]:
    """Every limit that the scenario states, with the inputs that alone would change whether it is met.

    Args:
        evaluation: One that can be built; another has none.
    """
    if not evaluation.feasible:
        return ()
    inputs, ledger, found = inputs_of(evaluation), evaluation.ledger, []
    columns = [one.columns for one in inputs.factors]
    for judge in JUDGES:
        name, limit = judge.limit(evaluation.loaded.scenario)
        if limit is None or judge.line not in ledger:
            continue
        drawing = Drawing(evaluation, inputs, (judge.line,))

        def gap(
            scores: Floats, drawing: Drawing = drawing, key: str = judge.line, limit: float = limit
        ) -> Floats:
            return np.asarray(drawing.results(scores)[key] - limit)

        turned = turning_scores(gap, columns, inputs.width)
        flips = [flip_of(evaluation, inputs, inputs.factors[at], score) for at, score in turned.items()]
        flips.sort(key=lambda one: abs(one.score))
        found.append(LimitFlips(name, judge.line, float(limit), ledger.scalar(judge.line), tuple(flips)))
    return tuple(found)
