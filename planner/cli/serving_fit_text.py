"""Definitions of serving's figures, and a joint fit of its constants, as lines for a terminal."""

from __future__ import annotations

from math import isnan
from textwrap import wrap
from typing import Final

from planner.cli.fit_text import columns
from planner.present import format as fmt
from planner.study.fit.serving_errors import ANCHOR_POINTS, Errors
from planner.study.fit.serving_report import FITTED_NAME, ServingFit

WIDTH: Final = 80
PARTS: Final = {
    FITTED_NAME: "nothing", "model": "its model", "gpu": "its GPU generation", "engine": "its engine",
}  # fmt: skip
BANDS: Final = {"per_token": "TPOT and throughput", "first_token": "TTFT"}
DEFINITIONS: Final = (
    "TPOT: (end-to-end time - TTFT) / (output tokens - 1), mean over requests, stalls by others' prompts included.",
    "TTFT of a closed loop: mean over a whole run that starts with all requests at once, ten times as many as are in "
    "flight. It is no steady latency; a scenario's own limits are held against arrivals at random instead.",
    "Throughput: output tokens a second and GPU, scored as the time of a token. Offline: a queue that never empties.",
    "Arrivals at random: most output tokens within the limits of latency that a row states, by the best replica; TTFT and "
    "TPOT at the rate served, where that is less than three quarters of what the model says a replica can do, and "
    "where no submitter chose it to stay just within limits.",
    "Submissions to MLPerf are predicted with one factor for all of them, and replicas and prompt lengths guessed.",
    "Runs drawn from 0.8 to 1 of their printed lengths are predicted at 0.9 of them.",
    "What a row leaves open (degrees, caches, machines that the catalog lacks) is settled and said under `assumed` in "
    "the JSON.",
)


def definition_lines() -> list[str]:
    """What the measured and predicted figures mean."""
    return [line for words in DEFINITIONS for line in wrap(words, WIDTH, subsequent_indent="  ")]


def serving_fit_lines(one: ServingFit) -> list[str]:
    """Errors by what a fit didn't see, anchors, order, bands, and the constants with what they rest on."""
    return [
        "INFERENCE, FITTED AND LEFT OUT",
        *wrap(
            f"{one.parameters} constants with priors; {one.closed_runs:,} closed loops and {one.offline_runs} offline "
            f"runs determine {one.effective_parameters:.1f} of them. Models count alike. People who chose the "
            "structure and the priors had seen these runs: left-out errors are blind in the constants alone.",
            WIDTH,
        ),
        "",
        *_table("TPOT, by a fit without", one.per_token),
        "",
        *_table("TTFT, by a fit without", one.first_token),
        "",
        *_table("offline throughput, by a fit without", one.offline),
        "",
        *columns([("TPOT by model", *HEAD), *((name, *_figures(errors)) for name, errors in one.models.items())]),
        "",
        *columns([
            (f"with {ANCHOR_POINTS} points of the same endpoint", *HEAD), ("TPOT", *_figures(one.anchored_per_token)),
            ("TTFT", *_figures(one.anchored_first_token)),
        ]),
        "",
        *wrap(
            f"Order of throughput within sweeps: rank correlation {one.rank_median:.3f} in the median, "
            f"{one.rank_p10:.3f} at P10.",
            WIDTH,
        ),
        *columns([
            ("band of four of five runs of a left-out model", "half width", "held by others' bands"),
            *(
                (BANDS[name], _share(width), _share(one.coverage_fractions[name]))
                for name, width in one.band_fractions.items()
            ),
        ]),
        "",
        *columns([
            ("constant", "value", "low", "high", "by rows"),
            *(
                (part.key, f"{part.value:.3g}", f"{part.low:.3g}", f"{part.high:.3g}", _share(part.data_fraction))
                for part in one.evidence
            ),
        ]),
    ]  # fmt: skip


HEAD: Final = ("rows", "median", "mean", "p90", "bias")


def _table(name: str, parts: dict[str, Errors]) -> list[str]:
    return columns([(name, *HEAD), *((PARTS[part], *_figures(errors)) for part, errors in parts.items())])


def _figures(one: Errors) -> tuple[str, ...]:
    sign = "+" if one.bias >= 0 else "-"
    return (
        fmt.count(one.rows),
        _share(one.median),
        _share(one.mean),
        _share(one.p90),
        f"{sign}{_share(abs(one.bias))}",
    )


def _share(fraction: float) -> str:
    return fmt.NOTHING if isnan(fraction) else f"{fmt.percent(fraction)} %"
