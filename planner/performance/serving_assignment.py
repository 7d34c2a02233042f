"""Which machines of a scenario are its prefill and decode pools: every assignment it allows, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem, Remedy
from planner.performance.assumed import Assumed, rows
from planner.performance.disaggregation import PoolLimits
from planner.performance.hardware import Hardware
from planner.performance.serving import OperatingPoint, Requests
from planner.performance.serving_corrected import expected_ratios
from planner.performance.serving_machines import Placed, one_draw
from planner.performance.serving_points import Objective
from planner.performance.serving_pool_misses import PoolMiss, pool_miss
from planner.performance.serving_pools import PoolPlan, Way, best_pools, pools_point
from planner.scenario.schema import Workload
from planner.scenario.workload import Disaggregated

SIZES = (1, 2, 4, 8)
"""GPUs of a replica that are tried for either pool."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """Pools with the machines that they are on.

    Attributes:
        plan: The best pools of this assignment.
        prefill, decode: Machines of the pools; the same one where both share it.
        way: Of caches between them.
        per_token_ratio: True over predicted time for each token, against which the plan keeps its objective.
        next: The best of the other ways to assign machines to pools that were tried, None where this is the only one.
    """

    plan: PoolPlan
    prefill: Placed
    decode: Placed
    way: Way
    per_token_ratio: float = 1.0
    next: Assigned | None = None

    def point(self, requests: Requests) -> OperatingPoint:
        """How these pools do, for every draw."""
        return pools_point(
            self.plan, self.prefill.server, self.decode.server, requests=requests, way=self.way
        )

    @property
    def rate_per_s(self) -> float:
        """Requests a second within the objective, as measured runs correct them; zero where nothing keeps it."""
        return self.plan.split.rate_per_s / self.per_token_ratio

    @property
    def words(self) -> str:
        """Machines of the pools in a sentence."""
        return f"prefill on {self.prefill.name} and decode on {self.decode.name}"


def way_of(assumed: Assumed, cluster: Cluster, prefill: Hardware, decode: Hardware, index: int) -> Way:
    """How caches get from one pool to the other, over the designed network, at the slower end's rate.

    Raises:
        DesignError: The plan has no network between servers.
    """
    rate = np.minimum(prefill.links.outside.bytes_per_s, decode.links.outside.bytes_per_s)
    if not np.isfinite(rate).all():
        raise DesignError(
            Problem(
                "separate pools move caches between servers, and the plan has no network between them",
                cluster.parts.loaded.document.place(("workloads", index, "disaggregated")),
                f"workloads.{cluster.parts.loaded.scenario.workloads[index].id}.disaggregated",
                remedies=(
                    Remedy("one pool for both", ("workloads", index, "disaggregated"), None),
                    Remedy("a network between servers"),
                ),
            )
        )
    return Way(rate, assumed("serving_handover_s"), assumed("serving_transfer_overlap_fraction"))


def scenario_pools(
    assumed: Assumed, cluster: Cluster, workload: Workload, index: int, placed: Sequence[Placed], requests: Requests,
    key: str,
) -> Assigned:  # fmt: skip
    """The best pools on the workload's GPUs, with what the scenario sets of them.

    Where it names no groups and machines are of several kinds, each kind is tried for either pool.

    Args:
        assumed: Takes the lines of the way.
        cluster, workload, index: Of the scenario.
        placed: Every kind of machine.
        requests: What is asked.
        key: Beginning of the workload's keys.

    Raises:
        DesignError: No pools keep the objective.
    """
    found = [
        _assigned(assumed, cluster, workload, index, pair, requests, key)
        for pair in _pairs(cluster, workload, placed)
    ]
    # of equal rates the earlier
    best = max(found, key=lambda one: one.rate_per_s)
    if best.rate_per_s <= 0.0:
        misses = [
            _miss(assumed, cluster, workload, index, pair, requests, key)
            for pair in _pairs(cluster, workload, placed)
        ]
        raise DesignError(_cannot(cluster, workload, index, min(misses, key=lambda one: one.over)))
    others = [one for one in found if one is not best]
    following = max(others, key=lambda one: one.rate_per_s, default=None)
    return replace(best, next=following)


def _pairs(cluster: Cluster, workload: Workload, placed: Sequence[Placed]) -> list[tuple[Placed, Placed]]:
    """Machines that may be prefill and decode pools."""
    wish = workload.disaggregated
    if isinstance(wish, Disaggregated) and wish.prefill_group is not None:
        groups = {one.wish.id: one.machine for one in cluster.parts.groups}
        by_machine = {one.group.machine: one for one in placed}
        assert wish.decode_group is not None
        return [(by_machine[groups[wish.prefill_group]], by_machine[groups[wish.decode_group]])]
    return [(placed[0], placed[0])] if len(placed) == 1 else list(permutations(placed, 2))


def _assigned(
    assumed: Assumed, cluster: Cluster, workload: Workload, index: int, pair: tuple[Placed, Placed], requests: Requests,
    key: str,
) -> Assigned:  # fmt: skip
    prefill, decode = pair
    way = way_of(assumed, cluster, prefill.machine, decode.machine, index)
    share = assumed.ledger.scalar(f"workload.{workload.id}.scheduled_fraction")
    token, first = expected_ratios(
        assumed, cluster, workload, key, of_token=decode.group, of_first=prefill.group
    )
    plan = best_pools(
        one_draw(prefill.server), one_draw(decode.server), requests=rows(requests, 1),
        gpus=int(cluster.parts.gpus * share + 1e-9),
        objective=Objective(workload.slo.ttft_p99_s / first, workload.slo.tpot_p99_s / token), way=rows(way, 1),
        limits=_limits(cluster, workload, share, pair), sizes=_sizes(workload, prefill, "prefill"),
        decode_sizes=_sizes(workload, decode, "decode"),
    )  # fmt: skip
    return Assigned(plan, prefill, decode, way, token)


def _sizes(workload: Workload, placed: Placed, pool: str) -> tuple[int, ...]:
    """GPUs of a replica to try: as wished, else those that fit a scale-up domain."""
    wish = workload.disaggregated
    wished = getattr(wish, f"{pool}_replica_gpus") if isinstance(wish, Disaggregated) else None
    if wished is not None:
        return (wished,)
    return tuple(size for size in SIZES if size <= placed.group.server.item.scaleup_domain_gpus)


def _limits(cluster: Cluster, workload: Workload, share: float, pair: tuple[Placed, Placed]) -> PoolLimits:
    wish = workload.disaggregated
    set_ = wish if isinstance(wish, Disaggregated) else Disaggregated()
    shared = pair[0] is pair[1]
    prefill, decode = (None, None) if shared else (pair[0].gpus, pair[1].gpus)
    if set_.prefill_group is not None and set_.decode_group is not None:
        gpus = {one.wish.id: int(one.wish.gpus * share + 1e-9) for one in cluster.parts.groups}
        prefill, decode = gpus[set_.prefill_group], gpus[set_.decode_group]
    return PoolLimits(prefill, decode, set_.prefill_replicas, set_.decode_replicas)


def _miss(
    assumed: Assumed, cluster: Cluster, workload: Workload, index: int, pair: tuple[Placed, Placed], requests: Requests,
    key: str,
) -> PoolMiss:  # fmt: skip
    """What is in the way of one assignment."""
    prefill, decode = pair
    way = way_of(assumed, cluster, prefill.machine, decode.machine, index)
    token, first = expected_ratios(
        assumed, cluster, workload, key, of_token=decode.group, of_first=prefill.group
    )
    return pool_miss(
        one_draw(prefill.server), one_draw(decode.server), rows(requests, 1), rows(way, 1),
        sizes=_sizes(workload, prefill, "prefill"), decode_sizes=_sizes(workload, decode, "decode"),
        objective=Objective(workload.slo.ttft_p99_s, workload.slo.tpot_p99_s),
        per_token_ratio=token, first_token_ratio=first,
    )  # fmt: skip


def _cannot(cluster: Cluster, workload: Workload, index: int, miss: PoolMiss) -> Problem:
    path = ("workloads", index, "disaggregated")
    set_ = isinstance(workload.disaggregated, Disaggregated)
    wider = {"ttft_p99_s": "time to the first token", "tpot_p99_s": "time for each token"}
    return Problem(
        f"no separate pools serve '{workload.model}' within its objective on these GPUs: {miss.said}",
        cluster.parts.loaded.document.place(path),
        f"workloads.{workload.id}.disaggregated",
        remedies=(
            *([Remedy("the best split", path, "auto")] if set_ else []),
            Remedy("one pool for both", path, None),
            *(
                Remedy(
                    f"a {said} up to {miss.wider_s:g} s", ("workloads", index, "slo", field), miss.wider_s
                )
                for field, said in wider.items()
                if field == miss.field
            ),
            Remedy("more GPUs"),
        ),
    )  # fmt: skip
