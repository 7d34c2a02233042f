"""Measured serving runs whose requests came at random: the rate that limits allow, and latencies at the rate served."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Link
from planner.performance.engine_reduce import EngineReduce
from planner.performance.inference import Layout, ServingConstants
from planner.performance.queueing import Tails
from planner.performance.serving import (
    OperatingPoint,
    Requests,
    Server,
    best_serving,
    full_batch,
    largest_batch,
    operating_point,
    serving_layouts,
)  # fmt: skip
from planner.performance.software import Figures
from planner.study.fidelity.serving_cases import ServingCase, rate_per_s

ANSWER_VARIATION: Final = 0.7
"""Standard deviation of lengths over their mean in sets of people's questions, where a row says nothing of it; a guess."""
SPREAD_VARIATION: Final = 0.1 / 0.9 / 3.0**0.5
"""Of lengths drawn evenly between 0.8 and 1 of the printed ones."""
FULL: Final = 0.75
"""Share of its capacity from which waiting hangs on the last per cent of the rate, which no model knows."""
HALVINGS: Final = 40


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """What is said of a run, each of shape (1,); NaN where nothing can be said.

    Attributes:
        first_token_s, per_token_s: At the rate that the row states.
        tokens_per_s_per_gpu: Most output tokens within the row's limits.
        saturated: The stated rate is all that the model says the replica can do, or more.
        holds: Some replica holds the weights and meets the limits.
    """

    first_token_s: Floats
    per_token_s: Floats
    tokens_per_s_per_gpu: Floats
    saturated: bool
    holds: bool


def open_loop(
    case: ServingCase, figure: Figures, constants: ServingConstants, link: Link | EngineReduce, *, pace: float
) -> OpenLoop:
    """Rate within limits by the best replica, or the one that the row states, and latencies at the row's own rate.

    Args:
        case: Of the row.
        figure: The catalog's figures.
        constants: Corrections of the case's setting.
        link: Between the ranks of a replica.
        pace: How many times as fast as the model a tuned submission runs.
    """
    one, nothing, limits = np.ones(1), np.full(1, np.nan), case.row.slo
    server = Server(
        case.shape, case.chip, link, constants, case.form,
        Tails(figure("tail_first_token_ratio"), figure("tail_per_token_ratio")), case.speculation,
    )  # fmt: skip
    requests = requests_of(case)
    layouts = _layouts(case)
    first_s, token_s = (
        np.inf if limit is None else limit / 1e3 for limit in (limits.ttft_ms, limits.tpot_ms)
    )
    choice = best_serving(
        server, requests=requests, layouts=layouts, first_token_p99_limit_s=one * first_s * pace,
        per_token_p99_limit_s=one * token_s * pace,
    )  # fmt: skip
    if choice.layout is None or choice.point is None:
        return OpenLoop(nothing, nothing, nothing, False, False)
    within = choice.point.output_tokens_per_s_per_gpu if choice.feasible and limits.stated else nothing
    rate = rate_per_s(case.row)
    if rate is None:
        return OpenLoop(nothing, nothing, within, False, True)
    replica_rate = rate / case.row.n_gpus * float(choice.layout.gpus[0]) / pace
    point = _at_rate(server, requests, choice.layout, replica_rate)
    if point is None:
        return OpenLoop(nothing, nothing, within, True, True)
    first, token = _latencies(case, point)
    return OpenLoop(first / pace, token / pace, within, False, True)


def requests_of(case: ServingCase) -> Requests:
    """What is asked, with the spread of its lengths."""
    spread = {"spread": SPREAD_VARIATION, "fixed": 0.0}.get(case.row.lengths, ANSWER_VARIATION)
    asked, variation = case.asked, np.full(1, spread)
    groups = case.layout.replica_ranks / case.layout.attention_ranks
    return Requests(
        asked.prompt_tokens,
        asked.output_tokens,
        asked.step_tokens,
        case.most_sequences / groups,
        variation,
        variation,
    )


def _layouts(case: ServingCase) -> Layout:
    """The stated replica; else every one that fits the row's machine, tensor-parallel."""
    if case.row.tp is not None:
        return case.layout
    most = min(case.row.n_gpus, case.machine.domain_gpus)
    sizes = np.array([float(size) for size in (1, 2, 4, 8) if size <= most])
    both = serving_layouts(sizes=sizes, attention_sizes=sizes)
    same = both.replica_ranks == both.attention_ranks
    return replace(both, replica_ranks=both.replica_ranks[same], attention_ranks=both.attention_ranks[same])


def _at_rate(server: Server, requests: Requests, layout: Layout, rate_per_s: float) -> OperatingPoint | None:
    """The point at which a replica serves a rate; None where that is all it can do, or more."""
    held, full = (
        float(batch(server, requests=requests, layout=layout)[0]) for batch in (largest_batch, full_batch)
    )
    most = min(held, full)

    def point(batch: float) -> OperatingPoint:
        return operating_point(server, requests=requests, layout=layout, batch_sequences=np.array([batch]))

    if held < 1.0 or float(point(most).rate_per_s[0]) * FULL <= rate_per_s:
        return None
    low, high = np.log(1e-3), np.log(most)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        below = float(point(float(np.exp(middle))).rate_per_s[0]) < rate_per_s
        low, high = (middle, high) if below else (low, middle)
    return point(float(np.exp(high)))


def _latencies(case: ServingCase, point: OperatingPoint) -> tuple[Floats, Floats]:
    """Means where the row states means, else its 99th percentiles."""
    rates, latency = case.row.metrics, point.latency
    first = (
        latency.first_token_mean_s if _mean(rates.ttft_mean_ms, rates.ttft_ms) else latency.first_token_p99_s
    )
    token = latency.per_token_mean_s if _mean(rates.tpot_mean_ms, rates.tpot_ms) else latency.per_token_p99_s
    return first, token


def _mean(*stated: float | None) -> bool:
    return any(one is not None for one in stated)


__all__ = ["OpenLoop", "open_loop", "requests_of"]
