"""A simulated run of a plan's prefill and decode pools, as text of 80 columns and as JSON."""

from __future__ import annotations

from typing import Any

from planner.cli.simulate_text import (
    PARTS,
    closed_form_object,
    filled,
    latency_objects,
    number,
    table,
)
from planner.cli.simulate_words import (
    hit_words,
    left_out,
    of_run,
    output_words,
    transfer_object,
    transfer_parts,
    unsettled,
)
from planner.performance.simulate.record import spread
from planner.scenario.workload import Slo
from planner.study.traffic_pools import PoolsRun


def pools_object(run: PoolsRun, slo: Slo) -> dict[str, Any]:
    """The answer for programs; latencies are null where the pools are saturated."""
    asked, outcome, plan = run.asked, run.outcome, run.plan
    found: dict[str, Any] = {
        "workload": run.workload, "requests": run.requests, "seed": asked.seed, "routing": asked.routing.value,
        "arrivals": asked.arrivals.value, "disaggregated": True,
        "prefill": _pool(run.prefill_name, plan.split.prefill_replicas, plan.prefill.gpus[0], run.prefill_replicas),
        "decode": _pool(run.decode_name, plan.split.decode_replicas, plan.decode.gpus[0], run.decode_replicas),
        "offered_requests_per_s": run.rate_per_s, "capacity_requests_per_s": run.capacity_per_s,
        "binds": run.binds.value, "saturated": run.saturated, "output_tokens_per_s": run.output_tokens_per_s,
        "prefix_hit_fraction": float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum()),
        "evictions": int(outcome.evictions.sum()), "cache_tokens": run.decode_engine.cache_tokens,
        "most_held_tokens": outcome.most_held_tokens, "cache_bytes_per_token": run.path.token_bytes,
        "path_bytes_per_s": run.path.replica_bytes_per_s, "transfer_s": float(run.moved.exposed_s[0]),
        "transfer": transfer_object(run.moved), "prefix_hit_from_empty_fraction": run.hit_fraction,
        "ttft_p99_limit_s": slo.ttft_p99_s, "tpot_p99_limit_s": slo.tpot_p99_s, **latency_objects(run),
        "under_way_s": None, "closed_form_s": None,
    }  # fmt: skip
    if not run.saturated:
        moved = spread(outcome.transfer_s)
        found["under_way_s"] = {part: number(getattr(moved, part)) for part in PARTS}
    if run.closed_form is not None:
        found["closed_form_s"] = closed_form_object(run.closed_form)
    return found


def _pool(name: str, replicas: int, gpus: float, simulated: int) -> dict[str, Any]:
    return {"accelerator": name, "replicas": replicas, "replica_gpus": float(gpus), "simulated_replicas": simulated}  # fmt: skip


def pools_text(run: PoolsRun, slo: Slo) -> str:
    """The answer for people."""
    parts = [filled(_lead(run))]
    if run.saturated:
        parts.append(filled(_saturation(run)))
    else:
        parts += [] if run.settled else [filled(unsettled(run))]
        parts.append("\n".join(table(run.outcome, run.closed_form, slo, busiest=run.busiest)))
        parts.append(filled(_definitions(run)))
    parts.append("\n".join(_facts(run)))
    return "\n\n".join(parts)


def _lead(run: PoolsRun) -> str:
    plan, asked = run.plan, run.asked
    return (
        f"{run.workload}: {run.requests:,} requests at {run.prefill_replicas} of {plan.split.prefill_replicas} "
        f"prefill replicas of {plan.prefill.gpus[0]:.0f} {run.prefill_name} and {run.decode_replicas} of "
        f"{plan.split.decode_replicas} decode replicas of {plan.decode.gpus[0]:.0f} {run.decode_name}, "
        f"{run.rate_per_s:,.4g} requests/s for all of them, {asked.routing.value} routing, seed {asked.seed}."
    )


def _saturation(run: PoolsRun) -> str:
    return (
        f"saturated at {run.capacity_per_s:,.4g} requests/s: {run.rate_per_s:,.4g} are offered, and {run.binds.value} "
        "ends the capacity. Queues grow for as long as that lasts, so there are no latencies to state."
    )


def _definitions(run: PoolsRun) -> str:
    text = (
        "TTFT: from arrival until decoding begins, prefill, the move of the cache and the hand-over in between. TPOT: "
        f"mean time between a request's later tokens. {left_out(run)}"
    )
    if run.closed_form is not None:
        text += (
            " The closed form takes one prompt at a time at every prefill replica, arrivals Poisson at each, and lets nobody "
            "wait for room at a decode replica; routing that evens out the queues does better, bursts do worse."
        )
    elif run.asked.prefixes:
        text += " The closed form has no word for shared prefixes in separate pools."
    return text + of_run(run)


def _facts(run: PoolsRun) -> list[str]:
    outcome, size = run.outcome, float(run.moved.bytes[0])
    way, left, whole = transfer_parts(run.moved)
    facts = [
        ("Output tokens of the pools", output_words(run)),
        ("Capacity", f"{run.capacity_per_s:,.4g} requests/s, {run.binds.value}"),
        ("Cache of a mean prompt", f"{size / 1e6:,.4g} MB, {run.path.token_bytes / 1e3:,.4g} kB a token"),
        ("Its way from replica to replica", f"{way * 1e3:,.3g} ms at {run.path.replica_bytes_per_s / 1e9:,.4g} GB/s"),
        ("  left after the prefill", f"{left * 1e3:,.3g} ms, the last layer at least"),
        ("  fixed hand-over of the engines", f"{(whole - left) * 1e3:,.3g} ms"),
        ("The first token waits for both", f"{whole * 1e3:,.3g} ms"),
        ("Decode caches at most", f"{outcome.most_held_tokens / run.decode_engine.cache_tokens:.1%} of memory for them"),
        ("Evictions", f"{outcome.evictions.sum():,.0f}"),
    ]  # fmt: skip
    if not run.saturated:
        moved = spread(outcome.transfer_s)
        facts.insert(
            5,
            (
                "  simulated, queues on the way too",
                f"{moved.mean * 1e3:,.3g} ms in the mean, p99 {moved.p99 * 1e3:,.3g} ms",
            ),
        )
    hits = outcome.hit_tokens.sum() / outcome.prompt_tokens.sum()
    if hits > 0.0:
        facts.append(("Prompt tokens found in caches", hit_words(outcome, run.hit_fraction)))
    return [f"{label:<38}{value}" for label, value in facts]
