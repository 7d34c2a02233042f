"""One fit of all constants to measured steps, and what each part of the rows says to it alone left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.study.fidelity.cases import Case
from planner.study.fidelity.scoring import family_weights
from planner.study.fidelity.steps import Batch
from planner.study.fit.constants import Constants
from planner.study.fit.solve import STEP, Solution, solve

SCALE: Final = 0.08
"""Error from which a row counts as an outlier, in the logarithm."""
FAMILY_WEIGHT: Final = 3.0
"""Independent measurements of that error that a family of rows counts as."""

Report = Callable[[str], None]
"""Takes a line on the progress of a fit."""

SPLITS: Final[dict[str, Callable[[Case], str]]] = {
    "family": lambda case: case.row.family,
    "source": lambda case: case.row.src,
    "generation": lambda case: case.setting.generation,
    "software": lambda case: case.setting.software.value,
}
"""Kinds of parts that are left out, and the part of a case."""


def row_weights(cases: Sequence[Case]) -> Floats:
    """Weight of each row: every family alike, as so many measurements."""
    families = [case.row.family for case in cases]
    return np.asarray(family_weights(families) * len(Counter(families)) * FAMILY_WEIGHT / SCALE**2)


def measured_s(cases: Sequence[Case]) -> Floats:
    """Measured steps, shape (n,)."""
    return np.array([case.measured_s for case in cases])


def fit(cases: Sequence[Case], constants: Constants, *, start: Floats | None = None) -> Solution:
    """Constants that fit the cases and their priors; a start near them saves steps and changes nothing."""
    batch, logs = Batch(cases), np.log(measured_s(cases))
    return solve(
        lambda parameters: np.log(batch.step_s(constants.figures(parameters))) - logs,
        constants.prior,
        row_weights(cases),
        scale=SCALE,
        start=start,
    )


def predicted_s(cases: Sequence[Case], constants: Constants, parameters: Floats) -> Floats:
    """Steps with the constants of a fit, shape (n,)."""
    steps = Batch(cases).step_s(constants.figures(parameters[None, :]))
    return np.asarray(np.broadcast_to(steps, (1, len(cases)))[0])


def left_out_s(
    cases: Sequence[Case], constants: Constants, split: str, *, report: Report = lambda line: None
) -> Floats:
    """Steps of each part, predicted by a fit of all other parts.

    Args:
        cases: All cases.
        constants: What a fit moves.
        split: One of `SPLITS`.
        report: Takes a line for each refit.

    Returns:
        Shape (n,).
    """
    part_of = [SPLITS[split](case) for case in cases]
    near = fit(cases, constants).parameters
    steps = np.empty(len(cases))
    for part in sorted(set(part_of)):
        report(f"refit without {split} {part}")
        out = [at for at, one in enumerate(part_of) if one == part]
        rest = [case for case, one in zip(cases, part_of, strict=True) if one != part]
        parameters = fit(rest, constants, start=near).parameters if rest else constants.prior.centre
        steps[out] = predicted_s([cases[at] for at in out], constants, parameters)
    return steps


@dataclass(frozen=True, slots=True)
class Evidence:
    """What determines a fitted constant.

    Attributes:
        data_fraction: Share that rows determine, the rest is prior.
        families: Those that give most of it, the largest first.
    """

    key: str
    value: float
    low: float
    high: float
    data_fraction: float
    families: tuple[str, ...]


def evidence(cases: Sequence[Case], constants: Constants, found: Solution) -> list[Evidence]:
    """What each constant of a fit rests on: families that give a fifth of its curvature or more, three at most."""
    shifted = found.parameters + STEP * np.vstack(
        [np.zeros(found.parameters.size), np.eye(found.parameters.size)]
    )
    logs = np.log(Batch(cases).step_s(constants.figures(shifted)))
    slopes = (logs[1:] - logs[0]) / STEP
    each = slopes**2 * row_weights(cases)
    names = np.array([case.row.family for case in cases])
    families = sorted(set(names))
    by_family = np.stack([each[:, names == name].sum(axis=1) for name in families], axis=1)
    rows = []
    for at, key in enumerate(constants.keys):
        shares = by_family[at] / max(by_family[at].sum(), 1e-300)
        order = [int(i) for i in np.argsort(-shares, kind="stable")[:3] if shares[i] >= 0.2]
        low, high = np.exp(constants.prior.low[at]), np.exp(constants.prior.high[at])
        rows.append(
            Evidence(
                key, float(np.exp(found.parameters[at])), float(low), float(high),
                float(found.data_share[at]), tuple(families[i] for i in order),
            )
        )  # fmt: skip
    return rows
