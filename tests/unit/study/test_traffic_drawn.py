"""Requests of a run as they are asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.errors import InputError
from planner.performance.serving import Requests
from planner.scenario.request_trace import RequestTrace
from planner.study.traffic_drawn import (
    Arrivals,
    Lengths,
    TrafficAsked,
    busy_rate_per_s,
    day_length_s,
    drawn_traffic,
)

ONE = np.ones(1)
OWN = Requests(1000.0 * ONE, 200.0 * ONE, 8192.0 * ONE, 512.0 * ONE)
ASKED = TrafficAsked(requests=20_000)
ROWS = 40_000
TRACE = RequestTrace(
    "trace.csv", np.arange(1.0, ROWS + 1.0), np.full(ROWS, 7.0), np.arange(float(ROWS)) / 500.0
)


@pytest.mark.parametrize("lengths", [Lengths.FIXED, Lengths.UNIFORM, Lengths.LOGNORMAL])
def test_lengths_have_the_scenarios_means(lengths: Lengths) -> None:
    found = drawn_traffic(replace(ASKED, lengths=lengths), OWN, rate_per_s=5.0, hourly_fraction=None)
    # 20,000 lognormal lengths of variation 1: standard error 0.7 %
    assert found.prompt_tokens.mean() == pytest.approx(1000.0, rel=0.03)
    assert found.output_tokens.mean() == pytest.approx(200.0, rel=0.03)
    assert ASKED.requests / found.arrival_s[-1] == pytest.approx(5.0, rel=0.03)


def test_a_part_of_the_fleet_sees_its_part_of_a_trace() -> None:
    asked = replace(ASKED, arrivals=Arrivals.TRACE, trace=TRACE)
    whole, part = (
        drawn_traffic(asked, OWN, rate_per_s=1.0, hourly_fraction=None, part=share) for share in (1.0, 0.25)
    )
    np.testing.assert_array_equal(whole.prompt_tokens, TRACE.prompt_tokens[:20_000])
    assert len(part) == pytest.approx(ROWS / 4, rel=0.05)
    assert np.diff(part.arrival_s).mean() == pytest.approx(4.0 / 500.0, rel=0.05)
    # lengths stay with their times
    np.testing.assert_allclose(part.prompt_tokens, part.arrival_s * 500.0 + 1.0)


def test_a_run_goes_through_a_whole_day_however_short_it_is() -> None:
    hours = [0.5] * 12 + [1.0] * 12
    asked = replace(ASKED, arrivals=Arrivals.DAILY)
    found = drawn_traffic(asked, OWN, rate_per_s=100.0, hourly_fraction=hours)
    day = day_length_s(asked.requests, rate_per_s=100.0, hourly_fraction=hours)
    assert day == pytest.approx(20_000 / 75.0)
    night = (found.arrival_s < day / 2.0).sum()
    # 6,667 expected in the first half, standard deviation 82
    assert night == pytest.approx(20_000 / 3.0, rel=0.06)


def test_a_run_of_more_than_a_day_keeps_its_hours() -> None:
    assert day_length_s(1_000_000, rate_per_s=1.0, hourly_fraction=[1.0]) == 86_400.0


def test_busy_spells_bring_the_ratio_that_is_asked() -> None:
    assert busy_rate_per_s(replace(ASKED, arrivals=Arrivals.SWITCHING, variation=3.0), 10.0) == 30.0
    assert busy_rate_per_s(ASKED, 10.0) == 10.0


def test_daily_arrivals_without_a_day_and_traces_without_times_are_refused() -> None:
    with pytest.raises(InputError, match="no daily curve"):
        drawn_traffic(replace(ASKED, arrivals=Arrivals.DAILY), OWN, rate_per_s=1.0, hourly_fraction=None)
    timeless = replace(TRACE, arrival_s=None)
    with pytest.raises(InputError, match="no trace has arrival times"):
        drawn_traffic(
            replace(ASKED, arrivals=Arrivals.TRACE, trace=timeless), OWN, rate_per_s=1.0, hourly_fraction=None
        )
    with pytest.raises(InputError, match="reach the simulated"):
        drawn_traffic(
            replace(ASKED, arrivals=Arrivals.TRACE, trace=TRACE), OWN, rate_per_s=1.0, hourly_fraction=None,
            part=1e-5,
        )  # fmt: skip
