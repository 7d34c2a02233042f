"""The requests of a run: when each comes, how long it is, to whom it belongs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests of one run, every field of shape (requests,).

    Attributes:
        arrival_s: When it comes, rising; ignored by closed-loop clients.
        prompt_tokens, output_tokens: Whole numbers, 1 or more.
        priority: Class, 0 first; within a class first come, first served.
        prefix: Which shared prefix the prompt starts with, -1 for none.
        prefix_tokens: Length of that prefix, below the prompt's.
        found_tokens: Of the prompt, tokens whose cache is there when it comes, whatever else was served; below the
            prompt's. None where caches have to be filled first.
    """

    arrival_s: Floats
    prompt_tokens: Floats
    output_tokens: Floats
    priority: Floats
    prefix: Floats
    prefix_tokens: Floats
    found_tokens: Floats | None = None

    def __len__(self) -> int:
        """Requests."""
        return int(self.prompt_tokens.size)


def first_half(traffic: Traffic) -> Traffic:
    """The first half of the requests, as a shorter run has them.

    >>> len(first_half(plain_traffic(arrival_s=np.zeros(5), prompt_tokens=np.ones(5), output_tokens=np.ones(5))))
    2
    """
    count, found = max(1, len(traffic) // 2), traffic.found_tokens
    return Traffic(
        traffic.arrival_s[:count], traffic.prompt_tokens[:count], traffic.output_tokens[:count], traffic.priority[:count],
        traffic.prefix[:count], traffic.prefix_tokens[:count], None if found is None else found[:count],
    )  # fmt: skip


def plain_traffic(*, arrival_s: Floats, prompt_tokens: Floats, output_tokens: Floats) -> Traffic:
    """Requests of one class that share nothing.

    >>> len(plain_traffic(arrival_s=np.zeros(3), prompt_tokens=np.ones(3), output_tokens=np.ones(3)))
    3
    """
    nothing = np.zeros(arrival_s.size)
    return Traffic(arrival_s, prompt_tokens, output_tokens, nothing, nothing - 1.0, nothing)


def with_prefixes(
    traffic: Traffic,
    random: np.random.Generator,
    *,
    prefixes: int,
    prefix_tokens: float,
    share_fraction: float,
) -> Traffic:
    """Requests some of which start with one of a few prefixes, the first prefix the most frequent.

    Prefixes are drawn by Zipf's law (the k-th with weight 1/k), which popular system prompts and documents follow
    roughly. A prompt that isn't longer than the prefix shares all but its last token.

    Args:
        traffic: Requests without prefixes.
        random: Where prefixes are drawn from.
        prefixes: How many different ones.
        prefix_tokens: Length of each.
        share_fraction: Share of the requests that start with one.

    Returns:
        The same requests with prefixes.
    """
    weights = 1.0 / np.arange(1.0, prefixes + 1.0)
    chosen = random.choice(prefixes, len(traffic), p=weights / weights.sum()).astype(np.float64)
    shared = random.random(len(traffic)) < share_fraction
    length = np.minimum(prefix_tokens, traffic.prompt_tokens - 1.0)
    shared &= length > 0.0
    return replace(
        traffic, prefix=np.where(shared, chosen, -1.0), prefix_tokens=np.where(shared, length, 0.0)
    )


def with_hits(traffic: Traffic, *, hit_fraction: float) -> Traffic:
    """Requests of which a given share of the prompt is found in a cache, the last token never.

    Every request holds memory for its whole prompt, as if nothing were shared: which ones share isn't said.

    Args:
        traffic: Requests.
        hit_fraction: Share of prompt tokens, below 1.

    Returns:
        The same requests with what they find.
    """
    found = np.minimum(np.floor(traffic.prompt_tokens * hit_fraction), traffic.prompt_tokens - 1.0)
    return replace(traffic, found_tokens=found)


def with_priorities(traffic: Traffic, random: np.random.Generator, *, shares: Floats) -> Traffic:
    """Requests drawn into classes, class 0 first in line.

    Args:
        traffic: Requests.
        random: Where classes are drawn from.
        shares: Share of each class; they add up to 1.

    Returns:
        The same requests with classes.
    """
    drawn = random.choice(shares.size, len(traffic), p=shares).astype(np.float64)
    return replace(traffic, priority=drawn)
