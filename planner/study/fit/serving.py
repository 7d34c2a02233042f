"""Joint fit of the serving model's constants to measured runs, and the errors of what a fit didn't see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.study.fidelity.inference import TPOT, TTFT, targets
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.serving_batch import ServingBatch
from planner.study.fidelity.serving_cases import Load, ServingCase, ServingCases
from planner.study.fidelity.serving_rules import exclusions, left_out_of_fits
from planner.study.fit.constants import Constants
from planner.study.fit.joint import Evidence, Report
from planner.study.fit.serving_constants import serving_parameters
from planner.study.fit.solve import STEP, Solution, solve

SCALE: Final = 0.08
"""Error from which a time for each token counts as an outlier, in the logarithm."""
FIRST_TOKEN_WEIGHT: Final = 0.25
"""A time to the first token is that much less sure."""
MEASUREMENTS: Final = 150.0
"""Independent measurements that all closed loops together count as."""
OFFLINE_SHARE: Final = 0.15
"""Weight of all offline runs against that."""


def architecture(case: ServingCase) -> str:
    """Shapes of a model: releases of one architecture are left out together."""
    shape = case.shape
    return f"{shape.layers[0]:.0f} x {shape.hidden[0]:.0f}, {shape.experts[0]:.0f} experts"


SPLITS: Final[dict[str, Callable[[ServingCase], str]]] = {
    "model": architecture,
    "gpu": lambda case: case.setting.generation,
    "engine": lambda case: case.setting.engine.value,
}
"""Kinds of parts that are left out, and the part of a case; a GPU's part is its generation."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Rows for a fit: closed loops with both times, and offline runs.

    Attributes:
        cases: Closed loops first.
        closed: How many of them there are.
        first_token_s, per_token_s: Of the closed loops.
        tokens_per_s_per_gpu: Of the offline ones.
        trusted: Offline ones that a fit sees.
        batch: All cases, stacked.
    """

    cases: tuple[ServingCase, ...]
    closed: int
    first_token_s: Floats
    per_token_s: Floats
    tokens_per_s_per_gpu: Floats
    trusted: NDArray[np.bool_]
    batch: ServingBatch

    def residuals(self, constants: Constants, parameters: Floats) -> Floats:
        """Logarithms of predicted over measured times, shape (draws, 2 x closed + offline)."""
        found = self.batch.predict(constants.figures(parameters))
        token = np.log(found.per_token_s[..., : self.closed] / self.per_token_s)
        first = np.log(found.first_token_s[..., : self.closed] / self.first_token_s) * FIRST_TOKEN_WEIGHT
        offline = np.log(self.tokens_per_s_per_gpu / found.tokens_per_s_per_gpu[..., self.closed :])
        return np.concatenate([token, first, offline], axis=-1)

    def weights(self, seen: NDArray[np.bool_]) -> Floats:
        """Weight of each residual with the cases that a fit sees: every model of closed loops alike."""
        models = [architecture(case) for case in self.cases[: self.closed]]
        counts = Counter(model for model, one in zip(models, seen, strict=False) if one)
        each = np.array(
            [1.0 / counts[model] if one else 0.0 for model, one in zip(models, seen, strict=False)]
        )
        each = each / max(len(counts), 1)
        offline = np.where(self.trusted & seen[self.closed :], 1.0, 0.0) / max(int(self.trusted.sum()), 1)
        whole = np.concatenate([each, each, offline * OFFLINE_SHARE])
        return np.asarray(whole * MEASUREMENTS / SCALE**2)


def serving_runs(rows: Sequence[InferenceRow], catalog: Catalog) -> Runs | None:
    """Rows that a fit can use; None without a closed loop."""
    maker, out = ServingCases(catalog), exclusions(rows)
    made = [maker.of(row) for at, row in enumerate(rows) if at not in out]
    cases = [case for case in made if isinstance(case, ServingCase) and not case.tuned]
    closed = [c for c in cases if c.load is Load.CLOSED and {TPOT, TTFT} <= set(targets(c.row))]
    offline = [c for c in cases if c.load is Load.OFFLINE and c.setting.generation in ("hopper", "blackwell")]
    if not closed:
        return None
    goals = [targets(case.row) for case in closed]
    both = (*closed, *offline)
    return Runs(
        cases=both, closed=len(closed), first_token_s=np.array([one[TTFT] for one in goals]),
        per_token_s=np.array([one[TPOT] for one in goals]),
        tokens_per_s_per_gpu=np.array([targets(case.row)["throughput"] for case in offline]),
        trusted=np.array([not left_out_of_fits(case.row) for case in offline], dtype=bool),
        batch=ServingBatch(both),
    )  # fmt: skip


def fit(
    runs: Runs, constants: Constants, *, seen: NDArray[np.bool_] | None = None, start: Floats | None = None
) -> Solution:
    """Constants that fit the cases seen and their priors."""
    every = np.ones(len(runs.cases), dtype=bool) if seen is None else seen
    return solve(
        lambda parameters: runs.residuals(constants, parameters), constants.prior, runs.weights(every),
        scale=SCALE, start=start,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Times:
    """Predictions of a set of runs, shape (closed,) and (offline,)."""

    first_token_s: Floats
    per_token_s: Floats
    tokens_per_s_per_gpu: Floats


def predicted(runs: Runs, constants: Constants, parameters: Floats) -> Times:
    """What a fit says of all runs."""
    found = runs.batch.predict(constants.figures(parameters[None, :]))
    flat = [
        np.broadcast_to(one, (1, len(runs.cases)))[0]
        for one in (found.first_token_s, found.per_token_s, found.tokens_per_s_per_gpu)
    ]
    return Times(flat[0][: runs.closed], flat[1][: runs.closed], flat[2][runs.closed :])


def left_out(
    runs: Runs, constants: Constants, split: str, near: Floats, *, report: Report = lambda line: None
) -> Times:
    """Predictions of each part by a fit of all other parts, offline runs of the part left out with it.

    Args:
        runs, constants: As for `fit`.
        split: One of `SPLITS`.
        near: Parameters of the fit of all, from which these start.
        report: Takes a line for each refit.
    """
    parts = np.array([SPLITS[split](case) for case in runs.cases])
    whole = Times(*(np.empty(size) for size in (runs.closed, runs.closed, len(runs.cases) - runs.closed)))
    for part in sorted(set(parts)):
        report(f"refit without {split} {part}")
        out = parts == part
        parameters = fit(runs, constants, seen=~out, start=near).parameters
        found = predicted(runs, constants, parameters)
        closed, offline = out[: runs.closed], out[runs.closed :]
        whole.first_token_s[closed] = found.first_token_s[closed]
        whole.per_token_s[closed] = found.per_token_s[closed]
        whole.tokens_per_s_per_gpu[offline] = found.tokens_per_s_per_gpu[offline]
    return whole


def evidence(runs: Runs, constants: Constants, found: Solution) -> tuple[Evidence, ...]:
    """What each constant of a fit rests on: models that give a fifth of its curvature or more, three at most."""
    at = found.parameters
    shifted = at + STEP * np.vstack([np.zeros(at.size), np.eye(at.size)])
    values = runs.residuals(constants, shifted)
    each = ((values[1:] - values[0]) / STEP) ** 2 * runs.weights(np.ones(len(runs.cases), dtype=bool))
    names = [case.model for case in runs.cases]
    of_residual = np.array([*names[: runs.closed], *names[: runs.closed], *names[runs.closed :]])
    models = sorted(set(names))
    by_model = np.stack([each[:, of_residual == name].sum(axis=1) for name in models], axis=1)
    rows = []
    for place, key in enumerate(constants.keys):
        shares = by_model[place] / max(by_model[place].sum(), 1e-300)
        order = [int(i) for i in np.argsort(-shares, kind="stable")[:3] if shares[i] >= 0.2]
        rows.append(
            Evidence(
                key, float(np.exp(at[place])), float(np.exp(constants.prior.low[place])),
                float(np.exp(constants.prior.high[place])), float(found.data_share[place]),
                tuple(models[i] for i in order),
            )
        )  # fmt: skip
    return tuple(rows)


__all__ = ["Runs", "Times", "evidence", "fit", "left_out", "predicted", "serving_parameters", "serving_runs"]
