"""The closed form of open-loop serving against the simulator, below 90 % of capacity."""

from __future__ import annotations

import numpy as np
import pytest

from tests.open_loop import LENGTHS, LOADS, PAIRS, WITHIN, Case, cases, table

LEAST_SHARE_WITHIN = 0.9
"""Of the cases, one run each, whose noise near capacity is 1 % of a mean and up to 7 % of a 99th percentile. Over the whole
grid, two runs each, 97 % of 291 cases keep all three limits, and the largest errors are 6.0 %, 8.3 % and 12.3 %, most with
prompts as long as a step's budget: `python -m tests.open_loop 20000 21 22` prints them."""
MOST = 1.5
"""No case is further off than so many times its limit."""
TAILS = {"first_token_p95_s": 0.1, "per_token_p95_s": 0.1, "per_token_p99_s": 0.15}
"""What the other tails keep in nine cases out of ten."""


@pytest.fixture(scope="module", name="runs")
def _runs() -> list[Case]:
    """Runs without evictions."""
    return [case for case in cases(PAIRS[::2]) if not case.evictions]


def test_means_and_tails_follow_the_simulator(runs: list[Case]) -> None:
    print("\n" + table(runs))
    assert np.mean([case.within for case in runs]) >= LEAST_SHARE_WITHIN
    for case in runs:
        for name, limit in WITHIN.items():
            assert abs(case.error(name)) <= MOST * limit, (
                case.pair,
                case.lengths,
                case.kind,
                case.load,
                name,
            )


def test_other_tails_follow_in_nine_cases_of_ten(runs: list[Case]) -> None:
    for name, limit in TAILS.items():
        assert np.percentile([abs(case.error(name)) for case in runs], 90) <= limit, name


def test_no_group_of_runs_is_left_behind(runs: list[Case]) -> None:
    groups: dict[str, list[float]] = {}
    for case in runs:
        for key in (case.pair[0], f"{case.lengths}", case.kind, f"load {case.load}"):
            groups.setdefault(key, []).append(abs(case.error("first_token_mean_s")))
    for key, errors in groups.items():
        print(f"{key:20} TTFT mean {np.median(errors):.1%}")
        assert np.median(errors) <= 0.05, key


@pytest.mark.parametrize("hits", [0.3, 0.6])
def test_prompts_found_in_caches_follow_the_simulator(hits: float) -> None:
    every = cases(PAIRS[:3:2], lengths=LENGTHS[::2], loads=LOADS[1::2], hit_fraction=hits)
    runs = [case for case in every if not case.evictions]
    print("\n" + table(runs))
    assert np.mean([case.within for case in runs]) >= LEAST_SHARE_WITHIN
    for name, limit in WITHIN.items():
        assert max(abs(case.error(name)) for case in runs) <= MOST * limit, name
