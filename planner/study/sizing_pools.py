"""Sizing of separate pools: the fewest GPUs whose prefill and decode replicas carry a load within its objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.performance.disaggregation import PoolLimits, replica_rates
from planner.performance.fleet import replicas_needed, whole_servers
from planner.performance.inference import Layout
from planner.performance.serving_assignment import SIZES
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import (
    PoolPlan,
    Way,
    best_pools,
    first_limit_s,
    pool_rates,
    token_limit_s,
)
from planner.study.sizing import Candidate, Load


@dataclass(frozen=True, slots=True)
class PoolRegion:
    """One region of the pools, caches moving inside it.

    Attributes:
        peak_requests_per_s: Of its busiest hour.
        prefill_replicas, decode_replicas: Needed at its peak.
        servers: Bought, spare replicas of either pool included.
    """

    id: str
    peak_requests_per_s: float
    prefill_replicas: int
    decode_replicas: int
    servers: int


@dataclass(frozen=True, slots=True)
class PoolFleet:
    """The fewest GPUs of one candidate with separate pools.

    Attributes:
        plan: All replicas that stand, spare ones included, as a plan with these numbers has them.
        prefill_per_s, decode_per_s: Requests a second of a replica of either pool within the objective.
        regions: Where they stand.
        tried: Pairs of replica sizes.
    """

    candidate: Candidate
    plan: PoolPlan
    prefill_per_s: float
    decode_per_s: float
    regions: tuple[PoolRegion, ...]
    tried: int

    @property
    def servers(self) -> int:
        """Bought, all regions together."""
        return sum(one.servers for one in self.regions)

    @property
    def gpus(self) -> int:
        """Bought, all regions together."""
        return self.servers * self.candidate.server_gpus

    @property
    def wish(self) -> dict[str, int]:
        """What a scenario states under ``disaggregated`` to have these pools."""
        split = self.plan.split
        return {
            "prefill_replicas": split.prefill_replicas, "decode_replicas": split.decode_replicas,
            "prefill_replica_gpus": int(self.plan.prefill.gpus[0]), "decode_replica_gpus": int(self.plan.decode.gpus[0]),
        }  # fmt: skip


def size_pools(candidate: Candidate, way: Way, load: Load, objective: Objective) -> PoolFleet | None:
    """The pair of replica sizes with the fewest GPUs, and its pools as a plan evaluates them.

    Args:
        candidate: Machine of both pools.
        way: Of caches between them, of shape (1,).
        load: What they carry.
        objective: Limits of the tails at every time, spare replicas being out.

    Returns:
        None where no pair keeps the objective. Of equal fleets the one whose pools have most to spare.
    """
    own = Objective(
        objective.first_token_p99_s / candidate.first_token_ratio,
        objective.per_token_p99_s / candidate.per_token_ratio,
    )
    sizes = [
        one for one in SIZES if one <= float(candidate.layouts.gpus.max()) and one <= candidate.server_gpus
    ]
    found, tried = [], 0
    for prefill in sizes:
        for decode in sizes:
            tried += 1
            one = _pair(candidate, way, load, own, prefill, decode)
            if one is not None:
                found.append(one)
    if not found:
        return None
    best = min(found, key=lambda one: (one.gpus, -one.plan.split.rate_per_s))
    return PoolFleet(candidate, best.plan, best.prefill_per_s, best.decode_per_s, best.regions, tried)


def _pair(
    candidate: Candidate, way: Way, load: Load, objective: Objective, prefill: int, decode: int
) -> PoolFleet | None:
    """Pools of one pair of replica sizes."""
    server, requests, one = candidate.server, candidate.requests, np.ones(1)
    layouts = [Layout(size * one, size * one) for size in (prefill, decode)]
    token = token_limit_s(server, objective)
    rates = pool_rates(server, server, requests, layouts[0], layouts[1], way, per_token_limit_s=token)
    first = first_limit_s(server, objective, rates)
    able = replica_rates(rates, first_token_limit_s=first, per_token_limit_s=token)
    each = tuple(
        float(rate[0]) / candidate.per_token_ratio for rate in (able.prefill_per_s, able.decode_per_s)
    )
    if min(each) <= 0.0:
        return None
    regions, standing = [], np.zeros(2)
    for region in load.regions:
        needed = replicas_needed(
            requests_per_s=np.full(2, region.peak_requests_per_s), replica_requests_per_s=np.array(each)
        )
        stands = needed + load.spare_replicas
        servers = whole_servers(
            replicas=np.array([float(stands @ np.array([prefill, decode]))]), replica_gpus=one,
            server_gpus=one * candidate.server_gpus,
        )  # fmt: skip
        regions.append(
            PoolRegion(region.id, region.peak_requests_per_s, int(needed[0]), int(needed[1]), int(servers[0]))
        )
        standing += stands
    gpus = sum(region.servers for region in regions) * candidate.server_gpus
    plan = best_pools(
        server, server, requests=requests, gpus=gpus, objective=objective, way=way, sizes=(prefill,),
        decode_sizes=(decode,), limits=PoolLimits(None, None, int(standing[0]), int(standing[1])),
    )  # fmt: skip
    return PoolFleet(candidate, plan, each[0], each[1], tuple(regions), 1)
