"""Why no separate pools keep an objective: memory, one of its limits, or room."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf, log10

import numpy as np

from planner.performance.disaggregation import first_token_p99_s
from planner.performance.inference import Layout
from planner.performance.serving import Requests, Server, largest_batch
from planner.performance.serving_choice import time_words
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import Way, engine_s, pool_rates

FIRST, TOKEN = "ttft_p99_s", "tpot_p99_s"
SPARE = 1.25
"""A limit that is offered, over the least time: with none to spare replicas would hardly serve."""


@dataclass(frozen=True, slots=True)
class PoolMiss:
    """What keeps pools from serving.

    Attributes:
        over: How many times its limit the least time is; infinite where memory is short, 1 where nothing is over.
        said: In words.
        field: Of the objective, where one of its limits is in the way; else empty.
        wider_s: A limit that some replicas keep.
    """

    over: float
    said: str
    field: str = ""
    wider_s: float = 0.0


def pool_miss(
    prefill: Server, decode: Server, requests: Requests, way: Way, *,
    sizes: tuple[int, ...], decode_sizes: tuple[int, ...], objective: Objective,
    per_token_ratio: float = 1.0, first_token_ratio: float = 1.0,
) -> PoolMiss:  # fmt: skip
    """What is in the way of pools on two machines, replicas being all but idle.

    Args:
        prefill, decode, requests, way: As `best_pools` takes them, of shape (1,).
        sizes, decode_sizes: GPUs of a replica that were tried.
        objective: Limits of the tails as the scenario has them.
        per_token_ratio, first_token_ratio: True over predicted times.
    """
    for pool, server, tried in (("prefill", prefill, sizes), ("decode", decode, decode_sizes)):
        ranks = np.array(tried, dtype=np.float64)
        if not (largest_batch(server, requests=requests, layout=Layout(ranks, ranks)) >= 1.0).any():
            most = f"{max(tried)} GPU{'s' if max(tried) > 1 else ''}"
            return PoolMiss(
                inf, f"memory: a {pool} replica of {most} doesn't hold the weights and one request's cache"
            )
    pairs = np.array([(p, d) for p in sizes for d in decode_sizes], dtype=np.float64)
    layouts = [Layout(column, column) for column in pairs.T]
    rates = pool_rates(prefill, decode, requests, layouts[0], layouts[1], way)
    holds, tails = rates.most_sequences >= 1.0, decode.tails
    own = Objective(
        objective.first_token_p99_s / first_token_ratio, objective.per_token_p99_s / per_token_ratio
    )
    engine = engine_s(decode, own, rates)
    service = np.maximum(rates.prefill_s, rates.transfer_busy_s)
    alone = first_token_p99_s(rate_per_s=np.zeros(1), service_s=service, variation=rates.prompt_variation)
    first = (alone + rates.transfer_s + rates.token_s[:, 0] + engine) * tails.first_token_ratio
    token = rates.token_s[:, 0] * tails.per_token_ratio
    misses = [
        _late(said, beside, field, float(np.where(holds, true, inf).min()), limit)
        for said, beside, field, true, limit in (
            ("TTFT", " and the engine's steps as long as TPOT may be", FIRST, first * first_token_ratio,
             objective.first_token_p99_s),
            ("TPOT", "", TOKEN, token * per_token_ratio, objective.per_token_p99_s),
        )
    ]  # fmt: skip
    worst = max(misses, key=lambda one: one.over)
    if worst.over > 1.0:
        return worst
    return PoolMiss(
        1.0, "room: the replicas that are set leave a pool without GPUs, or without a batch in time"
    )


def _late(said: str, beside: str, field: str, least_s: float, limit_s: float) -> PoolMiss:
    return PoolMiss(
        least_s / limit_s,
        f"{said} p99 is {time_words(least_s)} at least, on replicas that are all but idle{beside}, and its limit"
        f" {time_words(limit_s)}",
        field,
        rounded_up(SPARE * least_s),
    )


def rounded_up(value: float) -> float:
    """Up to two digits.

    >>> rounded_up(0.1234), rounded_up(25.1)
    (0.13, 26.0)
    """
    digits = 1 - floor(log10(value))
    return round(ceil(round(value * 10.0**digits, 6)) / 10.0**digits, 12)
