"""A joint fit of the training model as lines for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from math import isnan

from planner.present import format as fmt
from planner.study.fidelity.scoring import Scores
from planner.study.fit.report import FITTED_NAME, TrainingFit

PARTS = {
    FITTED_NAME: "nothing",
    "family": "its family",
    "source": "its source",
    "generation": "its GPU generation",
    "software": "its stack",
}
"""What was left out, in the order of the lines."""
BANDS = {
    "known_stack": "known stack and generation",
    "unknown_stack": "stack left out",
    "new_generation": "generation left out",
    "moe": "mixture of experts",
}
WIDTH = 80


def progress(line: str) -> None:
    """A line of narration."""
    print(line, file=sys.stderr, flush=True)


def fit_lines(one: TrainingFit) -> list[str]:
    """Errors by what a fit didn't see, bands, order, and the constants with what they rest on."""
    return [
        "TRAINING, FITTED AND LEFT OUT",
        f"{one.parameters} constants with priors; {one.rows} rows determine {one.effective_parameters:.1f} of them.",
        "",
        *columns([
            ("each row by a fit without", "all", "p90", "dense", "p90", "experts", "p90"),
            *((PARTS[name], *_errors(one, name)) for name in one.all_scores),
        ]),
        "",
        *columns([
            ("band that holds four of five left-out rows", "half width"),
            *((BANDS[name], _share(width)) for name, width in one.band_fractions.items()),
        ]),
        f"Bands of the other families of a kind hold {_share(one.coverage_fraction)} of a family.",
        "",
        f"Order within families: rank correlation {_two(one.spearman)}, pairs {_share(one.right_fraction)}.",
        "",
        *columns([
            ("constant", "value", "low", "high", "by rows"),
            *(
                (part.key, _three(part.value), _three(part.low), _three(part.high), _share(part.data_fraction))
                for part in one.evidence
            ),
        ]),
    ]  # fmt: skip


def _errors(one: TrainingFit, name: str) -> tuple[str, ...]:
    parts: Iterable[Scores] = (one.all_scores[name], one.dense_scores[name], one.moe_scores[name])
    return tuple(
        _share(error) for part in parts for error in (part.median_abs_error, part.p90_abs_error)
    )  # fmt: skip


def _share(fraction: float | None) -> str:
    return fmt.NOTHING if fraction is None or isnan(fraction) else f"{fmt.percent(fraction)} %"


def _two(value: float) -> str:
    return fmt.NOTHING if isnan(value) else f"{value:.2f}"


def _three(value: float) -> str:
    return f"{value:.3g}"


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Aligned columns within the width; the first one is cut at its end."""
    widths = [max(len(row[at]) for row in rows) for at in range(1, len(rows[0]))]
    first = min(max(len(row[0]) for row in rows), WIDTH - sum(widths) - 2 * len(widths))
    return [
        "  ".join([row[0][:first].ljust(first), *(c.rjust(w) for c, w in zip(row[1:], widths, strict=True))])
        for row in rows
    ]  # fmt: skip
