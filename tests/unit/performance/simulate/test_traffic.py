"""Requests of a run: what they share, what they find, and shorter runs of the same."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.simulate.traffic import (
    Traffic,
    first_half,
    plain_traffic,
    with_hits,
    with_prefixes,
    with_priorities,
)


def plain(count: int = 1000, prompt: float = 100.0) -> Traffic:
    return plain_traffic(
        arrival_s=np.arange(float(count)), prompt_tokens=np.full(count, prompt), output_tokens=np.full(count, 10.0)
    )  # fmt: skip


def test_hits_are_the_given_share_and_leave_a_token_to_compute() -> None:
    found = with_hits(plain(), hit_fraction=0.6).found_tokens
    assert found is not None
    assert found.tolist() == [60.0] * 1000
    least = with_hits(plain(prompt=1.0), hit_fraction=0.9).found_tokens
    assert least is not None
    assert least.max() == 0.0


def test_hits_prefixes_and_classes_stand_beside_each_other() -> None:
    random = np.random.default_rng(1)
    traffic = with_hits(plain(), hit_fraction=0.5)
    traffic = with_prefixes(traffic, random, prefixes=5, prefix_tokens=40.0, share_fraction=0.5)
    traffic = with_priorities(traffic, random, shares=np.array([0.25, 0.75]))
    assert traffic.found_tokens is not None
    assert float((traffic.prefix >= 0).mean()) == pytest.approx(0.5, abs=0.05)
    assert float(traffic.priority.mean()) == pytest.approx(0.75, abs=0.05)


def test_the_first_half_is_the_beginning_of_every_column() -> None:
    traffic = with_hits(plain(), hit_fraction=0.5)
    half = first_half(traffic)
    assert len(half) == 500
    assert half.arrival_s.tolist() == traffic.arrival_s[:500].tolist()
    assert half.found_tokens is not None
    assert half.found_tokens.size == 500
