"""A simulated run as text of 80 columns and as JSON."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from planner.cli.simulate_words import (
    Run,
    hit_words,
    left_out,
    of_run,
    output_words,
    rising,
    transfer_object,
    transfer_words,
    unsettled,
)
from planner.performance.queueing import Latency
from planner.performance.simulate.engine import Eviction
from planner.performance.simulate.record import Outcome, Spread, spread
from planner.scenario.workload import Slo
from planner.study.pool_split import PoolAnswer, SplitRun
from planner.study.traffic_run import TrafficRun

WIDE = 80
PARTS = ("mean", "p50", "p95", "p99")
CLOSED = {"TTFT": "first_token", "TPOT": "per_token"}
"""Fields of the closed form by name."""
FoundPools = tuple[PoolAnswer, SplitRun | None]
"""The closed form's pools, and a simulated run of them where some keep the objective."""


def latencies(outcome: Outcome, busiest: Outcome | None = None) -> dict[str, Spread]:
    """Spreads of a run's latencies by name.

    Args:
        outcome: Of a run that isn't saturated.
        busiest: Of a day, requests of its busiest hour.
    """
    found = {
        "TTFT": spread(outcome.ttft_s),
        "TPOT": spread(outcome.tpot_s),
        "end to end": spread(outcome.latency_s),
    }
    if busiest is not None and busiest.arrival_s.size:
        found["TTFT, busiest hour"] = spread(busiest.ttft_s)
        found["TPOT, busiest hour"] = spread(busiest.tpot_s)
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


def as_object(
    run: TrafficRun, slo: Slo, pools: FoundPools | None, most_per_s: float | None = None
) -> dict[str, Any]:
    """The answer for programs; latencies are null where the fleet is saturated."""
    outcome, asked = run.outcome, run.asked
    found: dict[str, Any] = {
        "workload": run.workload, "requests": run.requests, "seed": asked.seed, "routing": asked.routing.value,
        "arrivals": "closed loop" if run.rate_per_s is None else asked.arrivals.value,
        "replica_gpus": float(run.layout.gpus[0]), "fleet_replicas": run.fleet_replicas,
        "simulated_replicas": run.replicas, "offered_requests_per_s": run.rate_per_s,
        "capacity_requests_per_s": run.capacity_per_s, "binds": run.binds.value, "saturated": run.saturated,
        "output_tokens_per_s": run.output_tokens_per_s,
        "prefix_hit_fraction": float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum()),
        "prefix_hit_from_empty_fraction": run.hit_fraction, "clients": run.clients,
        "evictions": int(outcome.evictions.sum()), "cache_tokens": run.engine.cache_tokens,
        "most_held_tokens": outcome.most_held_tokens, "ttft_p99_limit_s": slo.ttft_p99_s,
        "tpot_p99_limit_s": slo.tpot_p99_s, "plan_saturated_requests_per_s": most_per_s, **latency_objects(run),
        "closed_form_s": None,
    }  # fmt: skip
    if run.closed_form is not None:
        found["closed_form_s"] = closed_form_object(run.closed_form)
    if pools is not None:
        found["pools"] = _pools_object(pools)
    return found


def number(value: float) -> float | None:
    """JSON has no infinity."""
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
        "transfer_s": float(pools.moved.exposed_s[0]), "transfer": transfer_object(pools.moved), "ttft_p99_s": number(split.first_token_p99_s),
        "tpot_p99_s": number(split.per_token_p99_s), "tried": split.tried,
        "simulated_s": None,
    }  # fmt: skip
    if run is not None:
        found["settled"] = run.rise.settled
        one = run.outcome
        found["simulated_s"] = {
            name: {part: number(getattr(spread(values), part)) for part in PARTS}
            for name, values in (("TTFT", one.ttft_s), ("TPOT", one.tpot_s), ("transfer", one.transfer_s))
        }
    return found


def as_text(run: TrafficRun, slo: Slo, pools: FoundPools | None, most_per_s: float | None = None) -> str:
    """The answer for people; `most_per_s` is what the plan says at saturation, left out where prompts are found in caches."""
    if run.hit_fraction or run.clients or (most_per_s or 0.0) <= run.capacity_per_s:
        most_per_s = None
    asked = run.asked
    offered = f"{run.rate_per_s or 0.0:,.4g} requests/s"
    if run.rate_per_s is None:
        offered = f"{asked.clients:,} clients"
        offered += f" ({run.clients:,} of them simulated)" if run.clients != asked.clients else ""
    lead = (
        f"{run.workload}: {run.requests:,} requests at {run.replicas} of {run.fleet_replicas} replicas of "
        f"{run.layout.gpus[0]:.0f} GPUs, {offered} for the fleet, {asked.routing.value} routing, seed {asked.seed}."
    )
    parts = [filled(lead)]
    if run.saturated:
        parts.append(filled(saturation(run)))
    else:
        parts += [] if run.settled else [filled(unsettled(run))]
        parts.append("\n".join(table(run.outcome, run.closed_form, slo, busiest=run.busiest)))
        parts.append(filled(_definitions(run)))
    parts.append("\n".join(_facts(run, most_per_s)))
    if most_per_s is not None:
        parts.append(filled(_capacities(run, most_per_s)))
    if pools is not None:
        parts.append(filled(_pools_text(pools)))
    return "\n\n".join(parts)


def filled(text: str) -> str:
    """A paragraph of 80 columns."""
    return textwrap.fill(text, WIDE, break_on_hyphens=False)


def table(
    outcome: Outcome, closed_form: Latency | None, slo: Slo, *, busiest: Outcome | None = None
) -> list[str]:
    """Latencies beside the closed form and their limits; of a day those of its busiest hour too."""
    row = "{:<22}{:>11}{:>11}{:>11}{:>11}{:>12}"
    lines = [row.format("seconds", "mean", "p50", "p95", "p99", "p99 limit").rstrip()]
    limits = {"TTFT": slo.ttft_p99_s, "TPOT": slo.tpot_p99_s}
    if busiest is not None and busiest.arrival_s.size:
        limits |= {f"{name}, busiest hour": limit for name, limit in limits.items()}
    for name, values in latencies(outcome, busiest).items():
        texts = [_short(getattr(values, part)) for part in PARTS]
        limit = f"{limits[name]:g}" if name in limits else ""
        lines.append(row.format(name, *texts, limit).rstrip())
        if name in CLOSED and closed_form is not None:
            found = [float(getattr(closed_form, f"{CLOSED[name]}_{part}_s")[0]) for part in PARTS]
            lines.append(row.format("  closed form", *map(_short, found), "").rstrip())
    return lines


def _short(value: float) -> str:
    """Four digits; requests of one token have no time between tokens."""
    return f"{value:.4g}" if np.isfinite(value) else "-"


def latency_object(outcome: Outcome, busiest: Outcome | None = None) -> dict[str, Any]:
    """Latencies for programs, null where there is none."""
    return {
        name: {part: number(getattr(values, part)) for part in PARTS}
        for name, values in latencies(outcome, busiest).items()
    }


def latency_objects(run: Run) -> dict[str, Any]:
    """Latencies of a run for programs: firm ones only where it settled, and how it went on rising where it didn't."""
    reached = None if run.saturated else latency_object(run.outcome, run.busiest)
    return {
        "settled": run.settled, "short": run.short, "latencies_s": reached if run.settled else None,
        "reached_latencies_s": None if run.settled else reached,
        "rise_fractions": {"TTFT": run.rise.first_token_fraction, "TPOT": run.rise.per_token_fraction},
        "day_s": run.day_s, "busiest_hour_only": run.day_requests is not None,
        "per_token_error_ratio": run.correction.per_token, "first_token_error_ratio": run.correction.first_token,
    }  # fmt: skip


def closed_form_object(found: Latency) -> dict[str, Any]:
    """The closed form's latencies for programs."""
    return {
        name: {part: number(float(getattr(found, f"{what}_{part}_s")[0])) for part in PARTS}
        for name, what in CLOSED.items()
    }


def _definitions(run: TrafficRun) -> str:
    text = (
        "TTFT: from arrival to first token. TPOT: mean time between a request's later tokens. "
        f"{left_out(run)}"
    )
    if run.closed_form is not None:
        text += (
            " The closed form is of one replica with Poisson arrivals of its own; routing that evens out the queues "
            "does better, bursts do worse."
        )
    return text + of_run(run)


def _capacities(run: TrafficRun, most_per_s: float) -> str:
    """Why the plan's figure at saturation is another one."""
    return (
        f"Capacity is of these replicas of {run.layout.gpus[0]:.0f} GPUs, which the objective chose, and of the lengths drawn; "
        f"{most_per_s:,.4g} requests/s, the plan's figure at saturation, are the most of replicas of any size, whatever the "
        "latency."
    )


def _facts(run: TrafficRun, most_per_s: float | None) -> list[str]:
    outcome = run.outcome
    hits = outcome.hit_tokens.sum() / outcome.prompt_tokens.sum()
    facts = [
        ("Output tokens of the fleet", output_words(run)),
        ("Capacity", f"{run.capacity_per_s:,.4g} requests/s, {run.binds.value}"),
        *(
            []
            if most_per_s is None
            else [("Most of any replicas, at saturation", f"{most_per_s:,.4g} requests/s")]
        ),
        ("Caches at most", f"{outcome.most_held_tokens / run.engine.cache_tokens:.1%} of memory for them"),
        ("Evictions", f"{outcome.evictions.sum():,.0f}"),
    ]
    if run.asked.eviction is Eviction.SWAP and run.asked.host_bytes_per_s is not None:
        said = f"{run.asked.host_bytes_per_s / 1e9:,.3g} GB/s a GPU, serving_host_link of the catalog"
        facts.append(("Swapping to the host", said))
    if hits > 0.0:
        facts.append(("Prompt tokens found in caches", hit_words(outcome, run.hit_fraction)))
    return [f"{label:<38}{value}" for label, value in facts]


def _pools_text(found: FoundPools) -> str:
    pools, run = found
    split = pools.split
    if split.rate_per_s <= 0.0:
        return "Separate pools: no split of the GPUs keeps the objective."
    gain = pools.gain_fraction
    verdict = f"they pay: {gain:+.0%}" if gain > 0.02 else f"they don't pay: {gain:+.0%}"
    assert run is not None
    return (
        f"Separate pools: {split.prefill_replicas} prefill replicas of {pools.prefill.gpus[0]:.0f} GPUs and "
        f"{split.decode_replicas} decode replicas of {pools.decode.gpus[0]:.0f} serve {split.rate_per_s:,.4g} requests/s "
        f"within the objective, {pools.together_per_s:,.4g} the same GPUs together, so {verdict}. "
        f"{transfer_words(pools.moved, pools.path)} All of this by the closed form. {_split_run(run)}"
    )


def _split_run(run: SplitRun) -> str:
    """The pools as simulated, or that they haven't settled."""
    first, token = spread(run.outcome.ttft_s), spread(run.outcome.tpot_s)
    said = f"TTFT p99 {first.p99:.3g} s, TPOT p99 {token.p99:.3g} s"
    if run.rise.settled:
        left = spread(run.outcome.transfer_s).p99 * 1e3
        return (
            f"Simulated at 95 % of that rate: {said}, {max(left, 0.0):.3g} ms of the way left after the prefill in 99 of 100."
            + (" The run is short: more --requests." if run.short else "")
        )
    return (
        f"Simulated at 95 % of that rate they aren't settled: from half of the requests to all of them {rising(run.rise)}, "
        f"having reached {said}; more --requests."
    )
