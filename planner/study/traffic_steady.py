"""The steady state of a simulated run: which requests show it, what is made in it, and whether there is one at all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.simulate.record import Outcome

WARM_UP_FRACTION = 0.1
"""A run starts empty, so its first requests are left out of the statistics."""
LEAST_REQUESTS = 10
"""Of the steady state of a run of half the requests; fewer say nothing about a rise."""
RISE_FRACTION = 0.05
"""By which a run's mean may be above that of a run of half the requests; chosen, see `rise`."""


@dataclass(frozen=True, slots=True)
class Rise:
    """Mean latencies of a run over those of one of half the requests, less 1; zero where it is within `RISE_FRACTION`.

    Attributes:
        first_token_fraction, per_token_fraction: Of the time to first token, and for each later one.
    """

    first_token_fraction: float
    per_token_fraction: float

    @property
    def settled(self) -> bool:
        """Whether neither rises."""
        return self.first_token_fraction == 0.0 and self.per_token_fraction == 0.0


SETTLED = Rise(0.0, 0.0)


def rise(half: Outcome, kept: Outcome) -> Rise:
    """Whether latencies depend on how long a run is: close to saturation batches and queues fill for many lives.

    What still rises from half the requests to all of them would rise with more of them as well.

    Args:
        half: All requests of a run of the first half of the traffic.
        kept: Those of the whole run's steady state.
    """
    early, _ = steady(half)
    if early.arrival_s.size < LEAST_REQUESTS:
        return SETTLED
    return Rise(rise_fraction(early.ttft_s, kept.ttft_s), rise_fraction(early.tpot_s, kept.tpot_s))


def rise_fraction(half: Floats, whole: Floats) -> float:
    """How far the mean of the whole is above that of the half, zero within `RISE_FRACTION`.

    Args:
        half, whole: Values; those that are no number are left out.

    >>> rise_fraction(np.array([1.0, np.nan]), np.array([1.0, 2.0])), rise_fraction(np.ones(2), np.full(2, 1.04))
    (0.5, 0.0)
    """
    early, all_ = (one[np.isfinite(one)] for one in (half, whole))
    if not early.size or not all_.size or early.mean() <= 0.0:
        return 0.0
    found = float(all_.mean() / early.mean()) - 1.0
    return found if found > RISE_FRACTION else 0.0


def steady(outcome: Outcome, *, warm_up_fraction: float = WARM_UP_FRACTION) -> tuple[Outcome, bool]:
    """A run without its beginning, when it fills up, and its end, when nobody comes any more.

    The first part is left out, at least twice the time that a request takes, and whoever comes so late that most of
    their answer is written by an emptying replica.

    Args:
        outcome: All requests.
        warm_up_fraction: Least share of the arrivals' time that is left out; none of a day that is gone through.

    Returns:
        The rest in order of arrival, and whether arrivals last so short that the beginning and the end are most of them;
        half is then kept.
    """
    start, stop = float(outcome.arrival_s.min()), float(outcome.arrival_s.max())
    life, lasts = float(outcome.latency_s.mean()), stop - start
    head, tail = max(warm_up_fraction * lasts, 2.0 * life), life
    short = head + tail > lasts / 2.0
    if short:
        head, tail = lasts / 3.0, lasts / 6.0
    rows = np.flatnonzero((outcome.arrival_s >= start + head) & (outcome.arrival_s <= stop - tail))
    if not rows.size:
        rows = np.arange(len(outcome.arrival_s))
    return part_of(outcome, rows[np.argsort(outcome.arrival_s[rows], kind="stable")]), short


def part_of(outcome: Outcome, rows: NDArray[np.intp]) -> Outcome:
    """Some requests of a run, in the order of their rows."""
    columns = (
        "arrival_s", "started_s", "first_s", "finish_s", "replica", "prompt_tokens", "output_tokens", "priority",
        "prefilled_tokens", "hit_tokens", "evictions", "transfer_s",
    )  # fmt: skip
    return replace(outcome, **{name: getattr(outcome, name)[rows] for name in columns})


def output_tokens_per_s(outcome: Outcome, kept: Outcome) -> float:
    """Output tokens a second of what is simulated.

    Args:
        outcome: All requests.
        kept: Those of the steady state: their tokens are made at the pace at which they come. Where they all come at
            once, all tokens count over the time until the last one.
    """
    span = float(np.ptp(kept.arrival_s))
    if span <= 0.0:
        kept, span = outcome, float(outcome.finish_s.max() - outcome.arrival_s.min())
    return float(kept.output_tokens.sum()) / max(span, 1e-9)


def busiest_rows(outcome: Outcome, *, day_s: float, hourly_fraction: Floats) -> NDArray[np.intp]:
    """Requests that come in the busiest part of a day.

    Args:
        outcome: Requests; times from midnight.
        day_s: Length of the day.
        hourly_fraction: Rates of its equal parts over the highest one.
    """
    part = np.floor(outcome.arrival_s / day_s * hourly_fraction.size).astype(np.intp) % hourly_fraction.size
    return np.flatnonzero(hourly_fraction[part] >= hourly_fraction.max() - 1e-9)
