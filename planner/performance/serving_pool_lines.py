"""Separate pools of a scenario: the network between them, their plan, and their ledger lines."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem, Remedy
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed, rows
from planner.performance.disaggregation import PoolLimits
from planner.performance.hardware import Hardware
from planner.performance.serving import Requests, Server, best_serving
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import PoolPlan, Way, best_pools, moved_cache, pools_point
from planner.scenario.schema import Workload
from planner.scenario.workload import Disaggregated

SIZES = (1, 2, 4, 8)
"""GPUs of a replica that are tried for either pool."""


def way_of(assumed: Assumed, cluster: Cluster, machine: Hardware, index: int) -> Way:
    """How caches get from one pool to the other, over the designed network.

    Raises:
        DesignError: The plan has no network between servers.
    """
    rate = machine.links.outside.bytes_per_s
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
    ledger: Ledger, cluster: Cluster, workload: Workload, index: int, server: Server, requests: Requests, way: Way
) -> PoolPlan:  # fmt: skip
    """The best pools on the workload's GPUs, with what the scenario sets of them.

    Raises:
        DesignError: No pools keep the objective.
    """
    share = ledger.scalar(f"workload.{workload.id}.scheduled_fraction")
    groups = cluster.parts.groups
    first = Server(
        server.shape, rows(server.chip, 1), rows(server.link, 1), rows(server.constants, 1), server.form,
        rows(server.tails, 1), server.speculation,
    )  # fmt: skip
    limits = _limits(cluster, workload, share)
    found = best_pools(
        first, first, requests=rows(requests, 1), gpus=int(cluster.parts.gpus * share + 1e-9),
        objective=Objective(workload.slo.ttft_p99_s, workload.slo.tpot_p99_s), way=rows(way, 1), limits=limits,
        sizes=tuple(size for size in SIZES if size <= groups[0].server.item.scaleup_domain_gpus),
    )  # fmt: skip
    if found.split.rate_per_s <= 0.0:
        raise DesignError(_cannot(cluster, workload, index))
    return found


def _limits(cluster: Cluster, workload: Workload, share: float) -> PoolLimits:
    wish = workload.disaggregated
    if not isinstance(wish, Disaggregated):
        return PoolLimits()
    gpus = {one.wish.id: int(one.wish.gpus * share + 1e-9) for one in cluster.parts.groups}
    return PoolLimits(
        None if wish.prefill_group is None else gpus[wish.prefill_group],
        None if wish.decode_group is None else gpus[wish.decode_group],
        wish.prefill_replicas,
        wish.decode_replicas,
    )


def _cannot(cluster: Cluster, workload: Workload, index: int) -> Problem:
    path = ("workloads", index, "disaggregated")
    wider = (("ttft_p99_s", "time to the first token"), ("tpot_p99_s", "time for each token"))
    return Problem(
        f"no separate pools serve '{workload.model}' within its objective on these GPUs",
        cluster.parts.loaded.document.place(path),
        f"workloads.{workload.id}.disaggregated",
        remedies=(
            Remedy("the best split", path, "auto"),
            Remedy("one pool for both", path, None),
            *(
                Remedy(
                    f"twice the {said}, {2 * getattr(workload.slo, field):g} s",
                    ("workloads", index, "slo", field), 2 * getattr(workload.slo, field),
                )
                for field, said in wider
            ),
            Remedy("more GPUs"),
        ),
    )  # fmt: skip


def pool_lines(
    ledger: Ledger, key: str, plan: PoolPlan, server: Server, requests: Requests, way: Way, together: Floats | None,
    inputs: list[Line],
) -> None:  # fmt: skip
    """Enter what the pools are, how caches move between them, and what they gain.

    Args:
        ledger: Takes the lines.
        key: Beginning of the workload's keys.
        plan, server, requests, way: As planned, or with draws.
        together: Output tokens a second of a GPU where the same GPUs do both, None where that keeps no objective.
        inputs: What the prediction rests on.
    """
    moved = moved_cache(server, requests, plan.prefill, plan.decode, way)
    ranks = float(min(plan.prefill.gpus[0], plan.decode.gpus[0]))
    per_gpu = f"{key}.output_tokens_per_s_per_gpu"
    unit = plan.gpus / requests.output_tokens
    each = ledger.value(per_gpu) * unit / plan.split.prefill_replicas
    tried = f"the most of {plan.split.tried:,} splits and rates within the objective"
    idle = plan.gpus - plan.prefill_gpus - plan.decode_gpus
    one = np.ones(1)
    for name, label, kind, value, function, note in (
        ("prefill_replicas", "Replicas that compute prompts", "1", one * plan.split.prefill_replicas, best_pools, tried),
        ("prefill_replica_gpus", "GPUs of a prefill replica", "1", plan.prefill.gpus, best_pools, tried),
        ("decode_replicas", "Replicas that decode", "1", one * plan.split.decode_replicas, best_pools, tried),
        ("decode_replica_gpus", "GPUs of a decode replica", "1", plan.decode.gpus, best_pools, tried),
        ("idle_gpus", "GPUs that belong to neither pool", "1", one * idle, best_pools, "what whole replicas leave over"),
        ("prefill_busy_fraction", "Share of time that a prefill replica is busy", "fraction", each * moved.service_s,
         pools_point, "arrivals Poisson: the rest keeps the wait for the first token short"),
        ("cache_bytes", "Cache of a mean prompt", "byte", moved.bytes, moved_cache, "all GPUs of a prefill replica"),
        ("path_bytes_per_s", "Way of a cache from replica to replica", "byte/s", way.rank_bytes_per_s * ranks,
         moved_cache, "the GPUs of the smaller one together, as the designed network sustains it, oversubscribed or not"),
        ("path_in_busy_fraction", "Share of time that the way into a decode replica is busy", "fraction",
         each * plan.split.prefill_replicas / plan.split.decode_replicas * moved.receive_s, pools_point,
         "caches of all senders together"),
        ("path_busy_fraction", "Share of time that the way out is busy", "fraction", each * moved.busy_s, pools_point,
         "a cache leaves before the next one is ready where it moves in less time than a prefill takes"),
        ("transfer_s", "Wait for a cache, hand-over included", "s", moved.exposed_s, moved_cache,
         "what isn't hidden beside the prefill of later layers, and the engines' hand-over"),
    ):  # fmt: skip
        ledger.compute(f"{key}.pools.{name}", label, kind, value, function=function, inputs=inputs, note=note)
    if together is None:
        return
    apart = ledger.compute(
        f"{key}.pools.together_output_tokens_per_s_per_gpu", "Output tokens of a GPU that does both", "tokens/s",
        together / ledger.value(f"{key}.model_error_ratio"), function=best_serving, inputs=inputs,
        note="the same GPUs without separate pools, within the same objective",
    )  # fmt: skip
    ledger.derive(
        f"{key}.pools.gain_fraction", "Tokens gained by separate pools", "fraction",
        ledger[per_gpu] / apart - 1, note="above 0 they pay",
    )  # fmt: skip
