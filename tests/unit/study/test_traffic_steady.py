"""The steady state of simulated runs."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrays import Floats
from planner.performance.simulate.record import Outcome
from planner.study.traffic_steady import (
    SETTLED,
    Rise,
    busiest_rows,
    output_tokens_per_s,
    rise,
    steady,
)


def outcome(arrival_s: Floats, *, first_s: float | Floats = 1.0, token_s: float | Floats = 0.1) -> Outcome:
    """Requests of 11 tokens with so long a time to first token, and for each later one."""
    none = np.zeros_like(arrival_s)
    first = arrival_s + first_s
    return Outcome(
        arrival_s=arrival_s, started_s=arrival_s, first_s=first, finish_s=first + 10.0 * token_s, replica=none,
        prompt_tokens=none + 100.0, output_tokens=none + 11.0, priority=none, prefilled_tokens=none, hit_tokens=none,
        evictions=none, transfer_s=none, most_held_tokens=0.0,
    )  # fmt: skip


def test_the_beginning_and_the_end_are_left_out() -> None:
    kept, short = steady(outcome(np.arange(0.0, 1000.0)))
    assert not short
    assert kept.arrival_s.min() == pytest.approx(100.0, abs=1.0)
    # a request takes 2 s
    assert kept.arrival_s.max() == pytest.approx(997.0, abs=1.0)
    day, _ = steady(outcome(np.arange(0.0, 1000.0)), warm_up_fraction=0.0)
    assert day.arrival_s.min() == pytest.approx(4.0, abs=1.0)
    assert steady(outcome(np.arange(0.0, 5.0, 0.1)))[1]


def test_tokens_are_made_at_the_pace_of_the_steady_state() -> None:
    # two requests a second of 11 tokens, and answers that end long after the last one came
    run = outcome(np.arange(0.0, 500.0, 0.5), token_s=5.0)
    kept, _ = steady(run)
    assert output_tokens_per_s(run, kept) == pytest.approx(22.0, rel=0.01)


def test_latencies_that_rise_with_the_run_are_found_and_level_ones_are_not() -> None:
    times = np.arange(0.0, 1000.0)
    level = outcome(times)
    assert rise(outcome(times[:500]), steady(level)[0]) == SETTLED
    climbing = outcome(times, token_s=0.1 + 0.0002 * times)
    kept, _ = steady(climbing)
    found = rise(outcome(times[:500], token_s=0.1 + 0.0002 * times[:500]), kept)
    assert found.first_token_fraction == 0.0
    assert found.per_token_fraction > 0.2
    assert not found.settled
    assert Rise(0.0, 0.0).settled


def test_falling_latencies_and_short_halves_say_nothing() -> None:
    times = np.arange(0.0, 1000.0)
    assert rise(outcome(times[:500], first_s=2.0), steady(outcome(times))[0]) == SETTLED
    assert rise(outcome(times[:8]), steady(outcome(times, first_s=5.0))[0]) == SETTLED


def test_the_busiest_hours_of_a_day_are_found() -> None:
    run = outcome(np.arange(0.0, 100.0))
    rows = busiest_rows(run, day_s=40.0, hourly_fraction=np.array([0.2, 1.0, 0.5, 1.0]))
    assert set((run.arrival_s[rows] % 40.0 // 10.0).tolist()) == {1.0, 3.0}
    assert rows.size == 50
