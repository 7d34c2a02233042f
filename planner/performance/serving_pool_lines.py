"""Ledger lines of separate pools: what they are, what their GPUs do, and what they gain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.performance.assumed import Assumed
from planner.performance.serving import Requests, ServingChoice
from planner.performance.serving_assignment import Assigned
from planner.performance.serving_choice import best_replicas
from planner.performance.serving_corrected import token_ratio_of
from planner.performance.serving_machines import Placed
from planner.performance.serving_pool_work import pool_work
from planner.performance.serving_pools import best_pools, moved_cache, pools_point
from planner.scenario.schema import Workload


def pool_lines(ledger: Ledger, key: str, apart: Assigned, requests: Requests, inputs: list[Line]) -> None:
    """Enter what the pools are, how caches move between them, and what their GPUs do with their time.

    Args:
        ledger: Takes the lines; holds the output tokens of a GPU.
        key: Beginning of the workload's keys.
        apart: The pools with their machines.
        requests: As planned, or with draws.
        inputs: What the prediction rests on.
    """
    plan, prefill, decode, way = apart.plan, apart.prefill, apart.decode, apart.way
    moved = moved_cache(prefill.server, requests, plan.prefill, plan.decode, way)
    ranks = float(min(plan.prefill.gpus[0], plan.decode.gpus[0]))
    rate = ledger.value(f"{key}.output_tokens_per_s_per_gpu") * plan.gpus / requests.output_tokens
    each = rate / plan.split.prefill_replicas
    tried = f"the most of {plan.split.tried:,} splits and rates within the objective"
    idle = plan.gpus - plan.prefill_gpus - plan.decode_gpus
    batch = ledger.value(f"{key}.batch_sequences")
    work = pool_work(plan, prefill.server, decode.server, requests, rate_per_s=rate, batch_sequences=batch)
    first, second = (f"{tried}; on {one.name}" for one in (prefill, decode))
    one = np.ones(1)
    for name, label, kind, value, function, note in (
        ("prefill_replicas", "Replicas that compute prompts", "1", one * plan.split.prefill_replicas, best_pools, first),
        ("prefill_replica_gpus", "GPUs of a prefill replica", "1", plan.prefill.gpus, best_pools, first),
        ("decode_replicas", "Replicas that decode", "1", one * plan.split.decode_replicas, best_pools, second),
        ("decode_replica_gpus", "GPUs of a decode replica", "1", plan.decode.gpus, best_pools, second),
        ("idle_gpus", "GPUs that belong to neither pool", "1", one * idle, best_pools,
         "what whole replicas leave over, and what the pool that limits the other has no use for"),
        ("prefill_busy_fraction", "Share of time that a prefill replica is busy", "fraction", each * moved.service_s,
         pools_point, "arrivals Poisson: the rest keeps the wait for the first token short"),
        ("cache_bytes", "Cache of a mean prompt", "byte", moved.bytes, moved_cache,
         "each value once: GPUs that hold equal copies send a part each"),
        ("path_bytes_per_s", "Way of a cache from replica to replica", "byte/s", way.rank_bytes_per_s * ranks,
         moved_cache, "the GPUs of the smaller one together, as the designed network sustains it at the slower end, oversubscribed or not"),
        ("path_in_busy_fraction", "Share of time that the way into a decode replica is busy", "fraction",
         each * plan.split.prefill_replicas / plan.split.decode_replicas * moved.receive_s, pools_point,
         "caches of all senders together"),
        ("path_busy_fraction", "Share of time that the way out is busy", "fraction", each * moved.busy_s, pools_point,
         "a cache leaves before the next one is ready where it moves in less time than a prefill takes"),
        ("cache_path_s", "Time that a mean prompt's cache is on its way", "s", np.maximum(moved.busy_s, moved.receive_s),
         moved_cache, "at the rate of the smaller replica; most of it beside the prompt's own prefill"),
        ("transfer_left_s", "Of that, left after the prefill", "s", moved.left_s, moved_cache,
         "what isn't hidden beside the prefill of later layers: the last layer at least"),
        ("prefill_communication_fraction", "Share of a prompt's time in collectives", "fraction",
         work.prefill_collective_fraction, pool_work, "not overlapped, host time of the engine included"),
        ("decode_communication_fraction", "Share of a decode step in collectives", "fraction",
         work.decode_collective_fraction, pool_work, "not overlapped in decode"),
        ("prefill_mfu_fraction", "Model FLOP utilisation of the prefill pool", "fraction", work.prefill_mfu_fraction,
         pool_work, f"of the dense peak of its {prefill.name}, waiting for prompts included"),
        ("decode_mfu_fraction", "Model FLOP utilisation of the decode pool", "fraction", work.decode_mfu_fraction,
         pool_work, f"of the dense peak of its {decode.name}"),
    ):  # fmt: skip
        ledger.compute(f"{key}.pools.{name}", label, kind, value, function=function, inputs=inputs, note=note)
    ledger.derive(
        f"{key}.pools.transfer_s", "Wait for a cache, hand-over included", "s",
        ledger[f"{key}.pools.transfer_left_s"] + ledger["assumption.serving_handover_s"],
        note="what the prefill doesn't hide of the move, and the engines' fixed hand-over",
    )  # fmt: skip
    _waiting(ledger, key)


def _waiting(ledger: Ledger, key: str) -> None:
    """Share of the pools' time in collectives: prefill GPUs while they have a prompt, decode GPUs all the time."""
    prefill, decode = (
        ledger[f"{key}.pools.{pool}_replicas"] * ledger[f"{key}.pools.{pool}_replica_gpus"]
        for pool in ("prefill", "decode")
    )
    busy, own, other = (
        ledger[f"{key}.pools.{name}_fraction"]
        for name in ("prefill_busy", "prefill_communication", "decode_communication")
    )
    ledger.derive(
        f"{key}.communication_fraction", "Share of the pools' time in collectives", "fraction",
        (prefill * busy * own + decode * other) / (prefill + decode), note="mean over the GPUs of both pools",
    )  # fmt: skip


def kind_lines(ledger: Ledger, cluster: Cluster, key: str, apart: Assigned) -> None:
    """Enter which share of each kind of server is in which pool; what is in neither waits for work."""
    for kind in cluster.parts.kinds:
        for pool, placed, gpus in (
            ("prefill", apart.prefill, apart.plan.prefill_gpus), ("decode", apart.decode, apart.plan.decode_gpus),
        ):  # fmt: skip
            own = gpus / placed.gpus if placed.group.machine == kind.machine else 0.0
            ledger.compute(
                f"{key}.pools.{kind.server.item.id}.{pool}_share_fraction",
                f"Of {kind.server.item.name}, share in the {pool} pool", "fraction", own, function=best_pools,
                inputs=[f"{key}.pools.{pool}_replicas", f"{key}.pools.{pool}_replica_gpus"],
                note="GPUs of the pool over those of this kind of machine",
            )  # fmt: skip


def together_lines(
    assumed: Assumed, cluster: Cluster, workload: Workload, key: str, apart: Assigned, placed: Sequence[Placed],
    alone: Sequence[ServingChoice], requests: Requests, inputs: list[Line],
) -> None:  # fmt: skip
    """Enter what the pools gain: against the same GPUs without pools, each kind of machine by itself, and against the
    machines assigned the other way round.

    Args:
        assumed: With the ledger, which holds the plan's output tokens of a GPU.
        cluster, workload, key: Of the workload.
        apart: The pools.
        placed, alone: Kinds of machines, and the best replicas of each that do both.
        requests, inputs: What is asked, and what the prediction rests on.
    """
    ledger, names = assumed.ledger, []
    for one, choice in zip(placed, alone, strict=True):
        ratio = _ratio(assumed, cluster, workload, key, apart, one)
        value = np.zeros(1) if choice.point is None or not choice.feasible else (
            choice.point.output_tokens_per_s_per_gpu / ratio
        )  # fmt: skip
        own = "" if len(placed) == 1 else f".{one.group.server.item.id}"
        if own or value.any():
            why = "" if value.any() else f"; none here: {choice.why_not}"
            names.append(
                ledger.compute(
                    f"{key}.pools{own}.together_output_tokens_per_s_per_gpu",
                    f"Output tokens of a GPU that does both{f', {one.name}' if own else ''}", "tokens/s", value,
                    function=best_replicas, inputs=inputs,
                    note=f"the same GPUs without separate pools, within the same objective{why}",
                )
            )  # fmt: skip
    _gain(ledger, key, placed, names)
    if apart.next is not None:
        ratio = _ratio(assumed, cluster, workload, key, apart, apart.next.decode)
        _next_lines(ledger, key, apart, apart.next, requests, ratio, inputs)


def _ratio(
    assumed: Assumed, cluster: Cluster, workload: Workload, key: str, apart: Assigned, one: Placed
) -> Floats:
    """True over predicted time for each token of a kind of machine: of the decode pool's the workload's own line."""
    if one.group.accelerator.item.id == apart.decode.group.accelerator.item.id:
        return assumed.ledger.value(f"{key}.model_error_ratio")
    return token_ratio_of(assumed, cluster, workload, one.group, key)


def _gain(ledger: Ledger, key: str, placed: Sequence[Placed], alone: Sequence[Line]) -> None:
    """What pools gain over all machines by themselves; nothing where none of those keeps the objective."""
    if not alone or not any(ledger.value(one).any() for one in alone):
        return
    together = alone[0]
    if len(placed) > 1:
        gpus = sum(one.gpus for one in placed)
        together = ledger.derive(
            f"{key}.pools.together_output_tokens_per_s_per_gpu", "Output tokens of a GPU that does both, mean of all",
            "tokens/s", added(line * (one.gpus / gpus) for line, one in zip(alone, placed, strict=True)),
            note="every kind of machine by itself, by its GPUs",
        )  # fmt: skip
    ledger.derive(
        f"{key}.pools.gain_fraction", "Tokens gained by separate pools", "fraction",
        ledger[f"{key}.output_tokens_per_s_per_gpu"] / together - 1, note="above 0 they pay",
    )  # fmt: skip


def _next_lines(
    ledger: Ledger, key: str, apart: Assigned, other: Assigned, requests: Requests, ratio: Floats, inputs: list[Line]
) -> None:  # fmt: skip
    """The machines assigned the other way round, or of several ways the best of the others."""
    able = other.rate_per_s > 0.0
    value = np.zeros(1)
    if able:
        value = other.point(requests).output_tokens_per_s_per_gpu / ratio
    line = ledger.compute(
        f"{key}.pools.other_output_tokens_per_s_per_gpu", f"Output tokens of a GPU with {other.words}", "tokens/s",
        value, function=best_pools, inputs=inputs,
        note=f"the plan has {apart.words}" + ("" if able else "; this way nothing keeps the objective"),
    )  # fmt: skip
    if able:
        ledger.derive(
            f"{key}.pools.assignment_gain_fraction", f"Tokens gained by {apart.words}", "fraction",
            ledger[f"{key}.output_tokens_per_s_per_gpu"] / line - 1, note=f"against {other.words}",
        )  # fmt: skip
