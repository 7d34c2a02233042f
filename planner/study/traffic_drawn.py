"""The requests of a simulated run as they are asked for: when they come, how long they are, what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.errors import InputError, Problem
from planner.performance.serving import Requests
from planner.performance.simulate.clients import (
    DAY_S,
    daily_arrivals_s,
    gamma_arrivals_s,
    poisson_arrivals_s,
    two_state_arrivals_s,
)
from planner.performance.simulate.engine import Eviction, Schedule
from planner.performance.simulate.lengths import drawn_from, fixed_tokens, lognormal_tokens, uniform_tokens
from planner.performance.simulate.routing import Routing
from planner.performance.simulate.traffic import (
    Traffic,
    plain_traffic,
    with_hits,
    with_prefixes,
    with_priorities,
)
from planner.scenario.request_trace import RequestTrace

BUSY_SPELL_S = 30.0
"""Mean length of a busy spell where arrivals switch."""
LEAST_ROWS = 10
"""Of a trace."""
MOST_CUT_FRACTION = 0.5
"""Of prompts that may be shorter than the prefixes which they are said to start with."""


class Arrivals(StrEnum):
    """When requests come."""

    POISSON = "poisson"
    BURSTY = "bursty"
    SWITCHING = "switching"
    DAILY = "daily"
    TRACE = "trace"


class Lengths(StrEnum):
    """How long they are."""

    FIXED = "fixed"
    UNIFORM = "uniform"
    LOGNORMAL = "lognormal"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class TrafficAsked:
    """What is to be simulated.

    Attributes:
        requests, seed: Length of the run and its random state.
        rate_per_s: Requests a second of the whole fleet; the load of the workload, or what the plan serves, by default.
        arrivals: When requests come; variation: of their gaps where bursty.
        lengths: How long they are; length_variation: of lognormal ones.
        trace: A file of lengths and times.
        routing, schedule, chunked, eviction: Of the fleet and its engines; the engine's own schedule by default.
        host_bytes_per_s: Rate of one accelerator to its host, by which caches are swapped; needed where they are.
        prefixes, prefix_tokens, prefix_fraction: Shared prefixes; none where 0.
        hit_fraction: Share of every prompt's tokens found in caches, in place of prefixes; the plan's by
            default, none where 0.
        classes: Shares of priority classes, the first one first in line; none where empty.
        clients, think_s: Closed-loop clients of the whole fleet instead of arrivals; none where 0.
        replicas: To simulate; at most 8 of the fleet's by default.
    """

    requests: int = 10_000
    seed: int = 20261130
    rate_per_s: float | None = None
    arrivals: Arrivals = Arrivals.POISSON
    variation: float = 2.0
    lengths: Lengths = Lengths.UNIFORM
    length_variation: float = 1.0
    trace: RequestTrace | None = None
    routing: Routing = Routing.LEAST_QUEUE
    schedule: Schedule | None = None
    chunked: bool = True
    eviction: Eviction = Eviction.RECOMPUTE
    host_bytes_per_s: float | None = None
    prefixes: int = 0
    prefix_tokens: float = 0.0
    prefix_fraction: float = 0.0
    hit_fraction: float | None = None
    classes: tuple[float, ...] = ()
    clients: int = 0
    think_s: float = 0.0
    replicas: int | None = None


def drawn_traffic(
    asked: TrafficAsked,
    requests: Requests,
    *,
    rate_per_s: float,
    hourly_fraction: Sequence[float] | None,
    part: float = 1.0,
) -> Traffic:
    """Requests of a run, the same for the same seed.

    Args:
        asked: What is to be simulated.
        requests: Mean lengths, of shape (1,).
        rate_per_s: Mean requests a second of what is simulated; of the busiest hour where arrivals are daily.
        hourly_fraction: The 24 hours of a day over the busiest one, None where the load states none.
        part: Share of the fleet that is simulated: of a trace's requests, which go to all of it, so many are taken.

    Raises:
        InputError: Daily arrivals without a day, a trace without times, or prefixes longer than most prompts.
    """
    random = np.random.default_rng(asked.seed)
    rows = _trace_rows(random, asked, part) if asked.arrivals is Arrivals.TRACE else None
    prompt, output = _lengths(random, requests, asked, rows)
    arrival = _arrivals(random, asked, rate_per_s, hourly_fraction, rows)
    traffic = plain_traffic(arrival_s=arrival, prompt_tokens=prompt, output_tokens=output)
    if asked.hit_fraction:
        traffic = with_hits(traffic, hit_fraction=asked.hit_fraction)
    if asked.prefixes:
        _refuse_long_prefixes(asked, traffic)
        traffic = with_prefixes(
            traffic, random, prefixes=asked.prefixes, prefix_tokens=asked.prefix_tokens,
            share_fraction=asked.prefix_fraction,
        )  # fmt: skip
    if asked.classes:
        traffic = with_priorities(traffic, random, shares=np.array(asked.classes))
    return traffic


def cut_fraction(prompt_tokens: Floats, prefix_tokens: float) -> float:
    """Share of prompts that aren't longer than a prefix, and share all but their last token.

    >>> cut_fraction(np.array([10.0, 20.0, 30.0, 40.0]), 20.0)
    0.5
    """
    return float((prompt_tokens <= prefix_tokens).mean())


def _refuse_long_prefixes(asked: TrafficAsked, traffic: Traffic) -> None:
    cut = cut_fraction(traffic.prompt_tokens, asked.prefix_tokens)
    if cut > MOST_CUT_FRACTION:
        raise InputError(
            Problem(
                f"--prefixes: prefixes of {asked.prefix_tokens:,.0f} tokens are as long as {cut:.0%} of the prompts or longer, "
                f"which have {traffic.prompt_tokens.mean():,.0f} tokens in the mean",
                remedy="shorter prefixes; --prefix-hits SHARE for a share of prompt tokens that is found; or longer prompts, "
                "--set workloads.N.input_tokens=TOKENS, which count the prefix",
            )
        )


def day_length_s(requests: int, *, rate_per_s: float, hourly_fraction: Sequence[float]) -> float:
    """Seconds in which a run goes through a day: a whole day takes more requests than most runs have.

    Args:
        requests: Of the run.
        rate_per_s: Requests a second of the busiest hour.
        hourly_fraction: The 24 hours over the busiest one.

    >>> day_length_s(7200, rate_per_s=2.0, hourly_fraction=[1.0, 0.5])
    4800.0
    """
    return min(DAY_S, requests / (rate_per_s * float(np.mean(hourly_fraction))))


def busy_rate_per_s(asked: TrafficAsked, rate_per_s: float) -> float:
    """Requests a second in the busy spells of arrivals that switch, otherwise the rate itself.

    Args:
        asked: What is simulated.
        rate_per_s: Mean, or of the busiest hour where arrivals are daily.
    """
    return rate_per_s * asked.variation if asked.arrivals is Arrivals.SWITCHING else rate_per_s


def _trace_rows(random: np.random.Generator, asked: TrafficAsked, part: float) -> NDArray[np.intp]:
    """Rows of a trace that reach the simulated part of the fleet."""
    trace = asked.trace
    if trace is None or trace.arrival_s is None:
        raise InputError(Problem("no trace has arrival times", remedy="--trace FILE with a column arrival_s"))
    kept = np.flatnonzero(random.random(trace.arrival_s.size) < part)[: asked.requests]
    if kept.size < LEAST_ROWS:
        raise InputError(
            Problem(
                f"{kept.size} requests of the trace reach the simulated {part:.2g} of the fleet, and {LEAST_ROWS} say "
                "something about tails",
                remedy="a longer trace, or more --replicas",
            )
        )
    return kept


def _lengths(
    random: np.random.Generator, requests: Requests, asked: TrafficAsked, rows: NDArray[np.intp] | None
) -> tuple[Floats, Floats]:
    count = asked.requests
    prompt, output = (float(np.ravel(one)[0]) for one in (requests.prompt_tokens, requests.output_tokens))
    trace = asked.trace
    if trace is not None and rows is not None:
        return trace.prompt_tokens[rows], trace.output_tokens[rows]
    if trace is not None:
        return drawn_from(
            random, prompt_tokens=trace.prompt_tokens, output_tokens=trace.output_tokens, requests=count
        )
    if asked.lengths is Lengths.LOGNORMAL:
        both = [
            lognormal_tokens(random, mean_tokens=mean, variation=asked.length_variation, requests=count)
            for mean in (prompt, output)
        ]
        return both[0], both[1]
    if asked.lengths is Lengths.UNIFORM:
        # lengths of the scenario are means, and uniform ones run from 0.8 to 1.0 of the longest
        longest = [
            uniform_tokens(random, most_tokens=mean / 0.9, requests=count) for mean in (prompt, output)
        ]
        return longest[0], longest[1]
    return fixed_tokens(mean_tokens=prompt, requests=count), fixed_tokens(mean_tokens=output, requests=count)


def _arrivals(
    random: np.random.Generator, asked: TrafficAsked, rate: float, hours: Sequence[float] | None,
    rows: NDArray[np.intp] | None,
) -> Floats:  # fmt: skip
    count = asked.requests
    if rows is not None:
        assert asked.trace is not None and asked.trace.arrival_s is not None
        return asked.trace.arrival_s[rows]
    if asked.arrivals is Arrivals.BURSTY:
        return gamma_arrivals_s(random, rate_per_s=rate, requests=count, variation=asked.variation)
    if asked.arrivals is Arrivals.SWITCHING:
        return two_state_arrivals_s(
            random, rate_per_s=rate, requests=count, peak_ratio=asked.variation, peak_fraction=0.5 / asked.variation,
            peak_s=BUSY_SPELL_S,
        )  # fmt: skip
    if asked.arrivals is Arrivals.DAILY:
        if hours is None:
            raise InputError(
                Problem("the workload has no daily curve", remedy="load.hourly_fraction, 24 values")
            )
        curve = np.array(hours)
        return daily_arrivals_s(
            random, rate_per_s=rate * float(curve.mean()), requests=count, hourly_ratios=curve,
            day_s=day_length_s(count, rate_per_s=rate, hourly_fraction=hours),
        )  # fmt: skip
    return poisson_arrivals_s(random, rate_per_s=rate, requests=count)
