"""A simulated run as text of 80 columns and as JSON."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from planner.performance.simulate.engine import Eviction
from planner.performance.simulate.record import Outcome, Spread, spread
from planner.scenario.workload import Slo
from planner.study.pool_split import PoolAnswer
from planner.study.traffic_run import TrafficRun

WIDE = 80
PARTS = ("mean", "p50", "p95", "p99")
FoundPools = tuple[PoolAnswer, Outcome | None]
"""The closed form's pools, and a simulated run of them where some keep the objective."""


def latencies(run: TrafficRun) -> dict[str, Spread]:
    """Spreads of the run's latencies by name.

    Args:
        run: A run that isn't saturated.
    """
    outcome = run.outcome
    found = {
        "TTFT": spread(outcome.ttft_s),
        "TPOT": spread(outcome.tpot_s),
        "end to end": spread(outcome.latency_s),
    }
    classes = np.unique(outcome.priority)
    if classes.size > 1:
        for one in classes.tolist():
            found[f"TTFT, class {one:.0f}"] = spread(outcome.ttft_s[outcome.priority == one])
    return found


def saturation(run: TrafficRun) -> str:
    """What a fleet that can't carry its load is told."""
    assert run.rate_per_s is not None
    return (
        f"saturated at {run.capacity_per_s:,.4g} requests/s: {run.rate_per_s:,.4g} are offered, and {run.binds.value} "
        "ends the capacity. Queues grow for as long as that lasts, so there are no latencies to state."
    )


def as_object(run: TrafficRun, slo: Slo, pools: FoundPools | None) -> dict[str, Any]:
    """The answer for programs; latencies are null where the fleet is saturated."""
    outcome, asked = run.outcome, run.asked
    found: dict[str, Any] = {
        "workload": run.workload, "requests": asked.requests, "seed": asked.seed, "routing": asked.routing.value,
        "arrivals": "closed loop" if run.rate_per_s is None else asked.arrivals.value,
        "replica_gpus": float(run.layout.gpus[0]), "fleet_replicas": run.fleet_replicas,
        "simulated_replicas": run.replicas, "offered_requests_per_s": run.rate_per_s,
        "capacity_requests_per_s": run.capacity_per_s, "binds": run.binds.value, "saturated": run.saturated,
        "output_tokens_per_s": run.output_tokens_per_s,
        "prefix_hit_fraction": float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum()),
        "evictions": int(outcome.evictions.sum()), "cache_tokens": run.engine.cache_tokens,
        "most_held_tokens": outcome.most_held_tokens, "ttft_p99_limit_s": slo.ttft_p99_s,
        "tpot_p99_limit_s": slo.tpot_p99_s, "latencies_s": None, "closed_form_s": None,
    }  # fmt: skip
    if not run.saturated:
        found["latencies_s"] = {
            name: {part: _number(getattr(values, part)) for part in PARTS}
            for name, values in latencies(run).items()
        }
    if run.closed_form is not None:
        found["closed_form_s"] = {
            name: {part: _number(float(getattr(run.closed_form, f"{what}_{part}_s")[0])) for part in PARTS}
            for name, what in (("TTFT", "first_token"), ("TPOT", "per_token"))
        }
    if pools is not None:
        found["pools"] = _pools_object(pools)
    return found


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _pools_object(found_pools: FoundPools) -> dict[str, Any]:
    pools, run = found_pools
    split = pools.split
    found: dict[str, Any] = {
        "feasible": split.rate_per_s > 0.0, "requests_per_s": split.rate_per_s,
        "together_requests_per_s": pools.together_per_s, "gain_fraction": pools.gain_fraction,
        "prefill_replicas": split.prefill_replicas, "decode_replicas": split.decode_replicas,
        "prefill_replica_gpus": float(pools.prefill.gpus[0]), "decode_replica_gpus": float(pools.decode.gpus[0]),
        "cache_bytes_per_token": pools.path.token_bytes, "sender_bytes_per_s": pools.path.replica_bytes_per_s,
        "transfer_s": pools.transfer_s, "ttft_p99_s": _number(split.first_token_p99_s),
        "tpot_p99_s": _number(split.per_token_p99_s), "tried": split.tried,
        "simulated_s": None,
    }  # fmt: skip
    if run is not None:
        found["simulated_s"] = {
            name: {part: _number(getattr(spread(values), part)) for part in PARTS}
            for name, values in (("TTFT", run.ttft_s), ("TPOT", run.tpot_s), ("transfer", run.transfer_s))
        }
    return found


def as_text(run: TrafficRun, slo: Slo, pools: FoundPools | None) -> str:
    """The answer for people."""
    asked = run.asked
    offered = f"{asked.clients:,} clients" if run.rate_per_s is None else f"{run.rate_per_s:,.4g} requests/s"
    lead = (
        f"{run.workload}: {asked.requests:,} requests at {run.replicas} of {run.fleet_replicas} replicas of "
        f"{run.layout.gpus[0]:.0f} GPUs, {offered} for the fleet, {asked.routing.value} routing, seed {asked.seed}."
    )
    parts = [_filled(lead)]
    if run.saturated:
        parts.append(_filled(saturation(run)))
    else:
        parts.append("\n".join(_table(run, slo)))
        parts.append(_filled(_definitions(run)))
    parts.append("\n".join(_facts(run)))
    if pools is not None:
        parts.append(_filled(_pools_text(pools)))
    return "\n\n".join(parts)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDE, break_on_hyphens=False)


def _table(run: TrafficRun, slo: Slo) -> list[str]:
    row = "{:<22}{:>11}{:>11}{:>11}{:>11}{:>12}"
    lines = [row.format("seconds", "mean", "p50", "p95", "p99", "p99 limit").rstrip()]
    limits = {"TTFT": slo.ttft_p99_s, "TPOT": slo.tpot_p99_s}
    closed = {"TTFT": "first_token", "TPOT": "per_token"}
    for name, values in latencies(run).items():
        texts = [f"{getattr(values, part):.4g}" for part in PARTS]
        limit = f"{limits[name]:g}" if name in limits else ""
        lines.append(row.format(name, *texts, limit).rstrip())
        if name in closed and run.closed_form is not None:
            means = [float(getattr(run.closed_form, f"{closed[name]}_{part}_s")[0]) for part in PARTS]
            lines.append(row.format("  closed form", *(f"{one:.4g}" for one in means), "").rstrip())
    return lines


def _definitions(run: TrafficRun) -> str:
    text = (
        "TTFT: from arrival to first token. TPOT: mean time between a request's later tokens. The first tenth of the "
        "run is left out."
    )
    if run.closed_form is not None:
        text += (
            " The closed form is of one replica with Poisson arrivals of its own; routing that evens out the queues "
            "does better, bursts do worse."
        )
    return text


def _facts(run: TrafficRun) -> list[str]:
    outcome = run.outcome
    hits = outcome.hit_tokens.sum() / outcome.prompt_tokens.sum()
    facts = [
        ("Output tokens of the fleet", f"{run.output_tokens_per_s:,.0f} tokens/s"),
        ("Capacity", f"{run.capacity_per_s:,.4g} requests/s, {run.binds.value}"),
        ("Caches at most", f"{outcome.most_held_tokens / run.engine.cache_tokens:.1%} of memory for them"),
        ("Evictions", f"{outcome.evictions.sum():,.0f}"),
    ]
    if run.asked.eviction is Eviction.SWAP and run.asked.host_bytes_per_s is not None:
        said = f"{run.asked.host_bytes_per_s / 1e9:,.3g} GB/s a GPU, serving_host_link of the catalog"
        facts.append(("Swapping to the host", said))
    if hits > 0.0:
        facts.append(("Prompt tokens found in prefix caches", f"{hits:.1%}"))
    return [f"{label:<38}{value}" for label, value in facts]


def _pools_text(found: FoundPools) -> str:
    pools, run = found
    split = pools.split
    if split.rate_per_s <= 0.0:
        return "Separate pools: no split of the GPUs keeps the objective."
    gain = pools.gain_fraction
    verdict = f"they pay: {gain:+.0%}" if gain > 0.02 else f"they don't pay: {gain:+.0%}"
    assert run is not None
    first, token = spread(run.ttft_s), spread(run.tpot_s)
    return (
        f"Separate pools: {split.prefill_replicas} prefill replicas of {pools.prefill.gpus[0]:.0f} GPUs and "
        f"{split.decode_replicas} decode replicas of {pools.decode.gpus[0]:.0f} serve {split.rate_per_s:,.4g} requests/s "
        f"within the objective, {pools.together_per_s:,.4g} the same GPUs together, so {verdict}. A mean prompt's "
        f"cache moves in {pools.transfer_s * 1e3:.3g} ms more than its prefill hides, hand-over included "
        f"({pools.path.token_bytes / 1e3:.4g} kB a token, {pools.path.replica_bytes_per_s / 1e9:.4g} GB/s a sender). "
        f"Closed form, both. Simulated at 95 % of that rate: TTFT p99 {first.p99:.3g} s, TPOT p99 {token.p99:.3g} s, "
        f"cache under way {spread(run.transfer_s).p99:.3g} s in 99 of 100."
    )
