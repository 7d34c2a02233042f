"""What has to be said beside a simulated run's figures: which requests they are of, and how far they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from planner.performance.serving_pools import Moved
from planner.performance.simulate.pools import Path
from planner.performance.simulate.record import Outcome
from planner.study.traffic_drawn import (
    BUSY_SPELL_S,
    Arrivals,
    TrafficAsked,
    busy_rate_per_s,
    cut_fraction,
)
from planner.study.traffic_pools import PoolsRun
from planner.study.traffic_run import Correction, TrafficRun
from planner.study.traffic_steady import Rise

Run = TrafficRun | PoolsRun
LONGER = 4
"""Times the requests that a run which hasn't settled is advised to have."""
MOST_REQUESTS = 1_000_000


def left_out(run: Run) -> str:
    """Which requests of a run the latencies are of."""
    if run.short:
        return (
            "The run is too short for a steady state: it ends before the first requests' answers do twice over, and these "
            "are the latencies of its middle half; more --requests."
        )
    return "The beginning of the run, when replicas fill up, and its end are left out."


def unsettled(run: Run) -> str:
    """Why a run that goes on rising has no firm latencies."""
    assert run.rate_per_s is not None or isinstance(run, TrafficRun)
    load = ""
    if run.rate_per_s is not None:
        load = f" at {run.rate_per_s / run.capacity_per_s:.0%} of the capacity"
    more = min(run.requests * LONGER, MOST_REQUESTS)
    remedy = f"--requests {more} or a lower load" if more > run.requests else "a lower load"
    return (
        f"not settled{load}: latencies depend on the length of the run. From half of its requests to all of "
        f"them {rising(run.rise)}. These are no firm latencies but what so short a run has reached; {remedy}."
    )


def rising(rise: Rise) -> str:
    """What rises, in words.

    >>> rising(Rise(0.2, 0.0))
    'the mean TTFT rises by 20%'
    """
    pairs = (("TTFT", rise.first_token_fraction), ("TPOT", rise.per_token_fraction))
    said = [f"the mean {name} rises by {value:.0%}" for name, value in pairs if value]
    return " and ".join(said)


def of_run(run: Run) -> str:
    """Everything about arrivals, lengths, prefixes and anchors that has to be known."""
    asked = run.asked
    parts = [_of_day(run), _of_busy_spells(run), _of_trace(asked, run)]
    if asked.prefixes and (cut := cut_fraction(run.outcome.prompt_tokens, asked.prefix_tokens)):
        parts.append(
            f"{cut:.0%} of the prompts aren't longer than the prefixes and share all but their last token."
        )
    if asked.hit_fraction:
        parts.append(
            f"{asked.hit_fraction:.0%} of every prompt is taken to be in a cache, as given; memory is held for whole prompts, "
            "as if none were shared."
        )
    parts.append(of_correction(run.correction))
    return "".join(f" {one}" for one in parts if one)


def of_correction(correction: Correction) -> str:
    """How measured runs change the answer."""
    if correction.of_others:
        return "The scenario's anchors are of other endpoints (model, GPU, engine and precision) and correct nothing here."
    if not correction.corrects:
        return ""
    return (
        f"As in the plan, every time is corrected by measured runs (anchors): {correction.per_token:.3g} times as predicted "
        f"for each token, {correction.first_token:.3g} times to the first one; rates by the former."
    )


def _of_day(run: Run) -> str:
    if run.day_requests is not None:
        asked = run.asked.requests
        few = (
            f"; {run.day_requests:,} requests go through the day" if run.day_requests <= MOST_REQUESTS else ""
        )
        return (
            f"Only the busiest hour is simulated, as if it lasted: in a day of {asked:,} requests an hour would be over "
            f"before its load is felt (10 times what a request takes){few}, fewer with fewer --replicas."
        )
    if run.day_s is None:
        return ""
    return (
        f"The day's curve is run through in {run.day_s:,.4g} s, from midnight; the rate and the closed form are the busiest "
        "hour's."
    )


def _of_busy_spells(run: Run) -> str:
    if run.rate_per_s is None or run.asked.arrivals is not Arrivals.SWITCHING:
        return ""
    peak = busy_rate_per_s(run.asked, run.rate_per_s)
    if peak < run.capacity_per_s:
        return ""
    return (
        f"Busy spells bring {peak:,.4g} requests/s, more than the capacity: queues grow for as long as each lasts, "
        f"{BUSY_SPELL_S:.0f} s in the mean."
    )


def _of_trace(asked: TrafficAsked, run: Run) -> str:
    trace = asked.trace
    if trace is None:
        return ""
    rows = trace.prompt_tokens.size
    if asked.arrivals is not Arrivals.TRACE or trace.arrival_s is None:
        return f"The {run.requests:,} requests draw their lengths from the trace's {rows:,}, each as often as chance has it."
    ends, lasts = float(run.outcome.arrival_s.max()), float(trace.arrival_s.max())
    cut = run.requests >= asked.requests and ends < 0.9 * lasts
    beginning = f", of its first {ends:,.4g} s of {lasts:,.4g} (--requests)" if cut else ""
    if run.requests == rows:
        return f"All {rows:,} requests of the trace are simulated."
    return (
        f"{run.requests:,} of the trace's {rows:,} requests reach the simulated replicas, drawn by chance in their "
        f"share of the fleet{beginning}."
    )


def output_words(run: Run) -> str:
    """Output tokens a second; of a saturated run those of its capacity, which evictions can lower further."""
    said = f"{run.output_tokens_per_s:,.0f} tokens/s"
    return f"{said} at its capacity, evictions aside" if run.saturated else said


def hit_words(outcome: Outcome, from_empty_fraction: float) -> str:
    """Prompt tokens found in caches: when they are full, and with the first use of every prefix."""
    steady = float(outcome.hit_tokens.sum() / outcome.prompt_tokens.sum())
    return f"{steady:.1%} in the steady state, {from_empty_fraction:.1%} from empty caches on"


def transfer_words(moved: Moved, path: Path) -> str:
    """What a mean prompt's cache costs on its way, part by part."""
    way, left, whole = transfer_parts(moved)
    return (
        f"A mean prompt's cache of {float(moved.bytes[0]) / 1e6:,.4g} MB ({path.token_bytes / 1e3:,.4g} kB a token) is under "
        f"way for {way * 1e3:,.3g} ms at {path.replica_bytes_per_s / 1e9:,.4g} GB/s; {left * 1e3:,.3g} ms of that are left "
        f"after the prefill, and the engines' fixed hand-over adds {(whole - left) * 1e3:,.3g} ms: the first token waits "
        f"{whole * 1e3:,.3g} ms for it."
    )


def transfer_parts(moved: Moved) -> tuple[float, float, float]:
    """Seconds on the way, left of them after the prefill, and what the first token waits, hand-over included."""
    way = np.maximum(moved.busy_s, moved.receive_s)
    return float(way[0]), float(moved.left_s[0]), float(moved.exposed_s[0])


def transfer_object(moved: Moved) -> dict[str, Any]:
    """The same for programs."""
    way, left, whole = transfer_parts(moved)
    return {"bytes": float(moved.bytes[0]), "way_s": way, "left_s": left, "handover_s": whole - left}
