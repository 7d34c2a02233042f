"""What a simulated run leaves behind, by request."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats


class Record:
    """Columns that replicas fill in while they run."""

    __slots__ = (
        "arrival_s", "evictions", "finish_s", "first_s", "hit_tokens", "most_held_tokens", "output_steps",
        "prefilled_tokens", "replica", "started_s", "transfer_s",
    )  # fmt: skip

    def __init__(self, requests: int) -> None:
        """Nothing has happened yet."""
        self.arrival_s = [0.0] * requests
        self.started_s = [0.0] * requests
        self.first_s = [0.0] * requests
        self.finish_s = [0.0] * requests
        self.replica = [0] * requests
        self.prefilled_tokens = [0.0] * requests
        self.hit_tokens = [0.0] * requests
        self.evictions = [0] * requests
        self.transfer_s = [0.0] * requests
        self.most_held_tokens = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run's requests, every array of shape (requests,).

    Attributes:
        arrival_s, started_s, first_s, finish_s: When it came, was let in, showed its first and its last token.
        replica: Which replica decoded it.
        prompt_tokens, output_tokens: Its lengths.
        priority: Its class.
        prefilled_tokens: Prompt tokens computed for it, again after an eviction.
        hit_tokens: Prompt tokens found in the prefix cache.
        evictions: Times it had to leave.
        transfer_s: Waiting and copying of its cache between pools.
        most_held_tokens: Most tokens that a replica's caches held at once.
    """

    arrival_s: Floats
    started_s: Floats
    first_s: Floats
    finish_s: Floats
    replica: Floats
    prompt_tokens: Floats
    output_tokens: Floats
    priority: Floats
    prefilled_tokens: Floats
    hit_tokens: Floats
    evictions: Floats
    transfer_s: Floats
    most_held_tokens: float

    @property
    def ttft_s(self) -> Floats:
        """Time to first token."""
        return self.first_s - self.arrival_s

    @property
    def tpot_s(self) -> Floats:
        """Mean time between the later tokens of a request, those of one token left out as not a number."""
        later = self.output_tokens - 1.0
        return np.where(later > 0.0, (self.finish_s - self.first_s) / np.maximum(later, 1.0), np.nan)

    @property
    def latency_s(self) -> Floats:
        """From arrival to last token."""
        return self.finish_s - self.arrival_s


def later_first_tokens(outcome: Outcome, ratio: float) -> Outcome:
    """A run whose first tokens come so many times as late after their requests; the time between later ones stays.

    Args:
        outcome: As simulated.
        ratio: Of the times to first token.
    """
    added = outcome.ttft_s * (ratio - 1.0)
    return replace(outcome, first_s=outcome.first_s + added, finish_s=outcome.finish_s + added)


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over requests."""

    mean: float
    p50: float
    p95: float
    p99: float


def spread(values: Floats) -> Spread:
    """Mean and percentiles of what is a number.

    >>> spread(np.array([1.0, 3.0, np.nan]))
    Spread(mean=2.0, p50=2.0, p95=2.9, p99=2.98)
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return Spread(np.nan, np.nan, np.nan, np.nan)
    p50, p95, p99 = np.percentile(known, (50, 95, 99)).tolist()
    return Spread(float(known.mean()), p50, p95, p99)
