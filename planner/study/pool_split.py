"""Whether a serving workload gains by separate pools for prefill and decode, on the same GPUs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.performance.disaggregation import Split
from planner.performance.inference import Layout
from planner.performance.serve import Served
from planner.performance.serving import Requests, Server
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import Moved, Way, best_pools, moved_cache
from planner.performance.simulate.clients import poisson_arrivals_s
from planner.performance.simulate.engine import slower_engine
from planner.performance.simulate.lengths import uniform_tokens
from planner.performance.simulate.of_server import moved_token_bytes, simulated_engine
from planner.performance.simulate.pools import Path, Pools, simulate_pools, slower_path
from planner.performance.simulate.record import Outcome, later_first_tokens
from planner.performance.simulate.traffic import first_half, plain_traffic, with_hits
from planner.study.traffic_steady import Rise, rise, steady

SIMULATED_REPLICAS = 16
"""Of both pools together, where the answer is checked by simulation; larger pools are scaled down."""


@dataclass(frozen=True, slots=True)
class PoolAnswer:
    """Both ways to serve with so many GPUs.

    Attributes:
        split: The best pools.
        prefill, decode: Layouts of their replicas, of shape (1,).
        path: The way of caches between them.
        together_per_s: Requests a second of the same GPUs without pools, within the same objective.
        moved: One mean prompt's cache on its way.
        prefill_server, decode_server, requests: What it was found for.
        per_token_ratio, first_token_ratio: Measured over predicted times, by which all of it is corrected.
    """

    split: Split
    prefill: Layout
    decode: Layout
    path: Path
    together_per_s: float
    moved: Moved
    prefill_server: Server
    decode_server: Server
    requests: Requests
    per_token_ratio: float = 1.0
    first_token_ratio: float = 1.0

    @property
    def gain_fraction(self) -> float:
        """Requests a second with pools over those without, less 1."""
        return self.split.rate_per_s / self.together_per_s - 1.0


@dataclass(frozen=True, slots=True)
class SplitRun:
    """The best pools under simulated arrivals.

    Attributes:
        outcome: Requests of the steady state.
        short, rise: See `steady` and `rise`.
    """

    outcome: Outcome
    short: bool
    rise: Rise


def pool_answer(
    served: Served,
    prefill_server: Server,
    decode_server: Server,
    *,
    gpus: int,
    rank_bytes_per_s: float,
    fabric_ranks: float,
    handover_s: float,
    overlap_fraction: float,
    attention_sizes: tuple[int, ...] = (1, 2, 4, 8),
    per_token_ratio: float = 1.0,
    first_token_ratio: float = 1.0,
) -> PoolAnswer:
    """Compare the best pools with the plan.

    Args:
        served: The workload as the plan serves it.
        prefill_server, decode_server: Machines of the pools, of shape (1,); alike, or of two groups.
        gpus: Of both pools.
        rank_bytes_per_s: That one accelerator sends out of its domain, as the designed network sustains it.
        fabric_ranks: Accelerators that may send so at once.
        handover_s, overlap_fraction: Of `Path`.
        attention_sizes: GPUs of a replica to try for either pool.
        per_token_ratio, first_token_ratio: See `PoolAnswer`; the plan's own rate has them already.

    Returns:
        See `PoolAnswer`; the plan's own rate is scaled to the same GPUs.
    """
    requests, slo = served.requests, served.workload.slo
    one = np.ones(1)
    plan = best_pools(
        prefill_server, decode_server, requests=requests, gpus=gpus,
        objective=Objective(slo.ttft_p99_s / first_token_ratio, slo.tpot_p99_s / per_token_ratio),
        way=(way := Way(rank_bytes_per_s * one, handover_s * one, overlap_fraction * one)), sizes=attention_sizes,
    )  # fmt: skip
    split = replace(
        plan.split, rate_per_s=plan.split.rate_per_s / per_token_ratio,
        first_token_p99_s=plan.split.first_token_p99_s * first_token_ratio,
        per_token_p99_s=plan.split.per_token_p99_s * per_token_ratio,
    )  # fmt: skip
    replicas = gpus // float(served.layout.gpus[0])
    path = cache_path(
        prefill_server,
        requests,
        plan.prefill,
        plan.decode,
        rank_bytes_per_s,
        fabric_ranks,
        handover_s,
        overlap_fraction,
    )
    return PoolAnswer(
        split, plan.prefill, plan.decode, path, float(served.point.rate_per_s[0]) * replicas,
        moved_cache(prefill_server, requests, plan.prefill, plan.decode, way), prefill_server, decode_server, requests,
        per_token_ratio, first_token_ratio,
    )  # fmt: skip


def cache_path(
    server: Server, requests: Requests, layout: Layout, decode: Layout, rank_bytes_per_s: float, fabric_ranks: float,
    handover_s: float, overlap_fraction: float,
) -> Path:  # fmt: skip
    """The way of caches out of a prefill replica of one layout.

    Args:
        server, requests: For the bytes of a token's cache.
        layout, decode: Of either pool, of shape (1,); the smaller replica sets the rate.
        rank_bytes_per_s, fabric_ranks, handover_s, overlap_fraction: See `pool_answer`.
    """
    ranks = float(layout.replica_ranks[0])
    return Path(
        token_bytes=moved_token_bytes(server, context_tokens=float(requests.prompt_tokens[0])),
        replica_bytes_per_s=rank_bytes_per_s * min(ranks, float(decode.replica_ranks[0])),
        shared_bytes_per_s=rank_bytes_per_s * fabric_ranks,
        overlap_fraction=overlap_fraction,
        layers=float(np.ravel(server.shape.layers)[0]),
        handover_s=handover_s,
    )


def scaled_down(split: Split, most: int) -> tuple[int, int]:
    """Replicas of both pools that are simulated: all where they are few, else the nearest to their ratio.

    Args:
        split: Replicas of the pools.
        most: Of both together; at least one of each is simulated.

    >>> wide = Split(0, 7, 50, 1.0, 1.0, 1.0, 1)
    >>> scaled_down(wide, 16), scaled_down(wide, 100)
    ((2, 14), (7, 50))
    """
    if split.prefill_replicas + split.decode_replicas <= most:
        return split.prefill_replicas, split.decode_replicas
    pairs = [
        (prefill, decode)
        for prefill in range(1, min(split.prefill_replicas, max(most - 1, 1)) + 1)
        for decode in range(1, min(split.decode_replicas, max(most - prefill, 1)) + 1)
    ]
    wanted = np.log(split.prefill_replicas / split.decode_replicas)
    return min(pairs, key=lambda one: (round(abs(np.log(one[0] / one[1]) - wanted), 6), -one[0] - one[1]))


def simulate_split(answer: PoolAnswer, *, requests: int, seed: int, load_fraction: float = 0.95) -> SplitRun:
    """The best pools under simulated Poisson arrivals, scaled down to a few replicas with their share of the load.

    Args:
        answer: With pools that keep the objective.
        requests, seed: Of the run; lengths vary evenly from 0.8 to 1.0 of the longest.
        load_fraction: Share of the closed form's rate that is offered.

    Returns:
        Its steady state.
    """
    split = answer.split
    prefill, decode = scaled_down(split, SIMULATED_REPLICAS)
    share = min(prefill / split.prefill_replicas, decode / split.decode_replicas)
    random = np.random.default_rng(seed)
    traffic = plain_traffic(
        arrival_s=poisson_arrivals_s(
            random, rate_per_s=split.rate_per_s * share * load_fraction, requests=requests
        ),
        prompt_tokens=uniform_tokens(
            random, most_tokens=float(answer.requests.prompt_tokens[0]) / 0.9, requests=requests
        ),
        output_tokens=uniform_tokens(
            random, most_tokens=float(answer.requests.output_tokens[0]) / 0.9, requests=requests
        ),
    )
    if hits := float(np.ravel(answer.requests.hit_fraction)[0]):
        traffic = with_hits(traffic, hit_fraction=hits)
    ratio = answer.per_token_ratio
    engines = [
        slower_engine(simulated_engine(server, requests=answer.requests, layout=layout), ratio)
        for server, layout in ((answer.prefill_server, answer.prefill), (answer.decode_server, answer.decode))
    ]
    pools, path = Pools(engines[0], engines[1], prefill, decode), slower_path(answer.path, ratio)
    whole, half = (
        later_first_tokens(simulate_pools(pools, sent, path), answer.first_token_ratio / ratio)
        for sent in (traffic, first_half(traffic))
    )
    kept, short = steady(whole)
    return SplitRun(kept, short, rise(half, kept))
