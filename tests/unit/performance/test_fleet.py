"""Replicas for a load over the day."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.fleet import (
    DAY_STEPS,
    day_requests_per_s,
    replicas_needed,
    running_replicas,
    whole_servers,
)

OFFICE = np.array([0.2] * 8 + [1.0] * 10 + [0.2] * 6)


def test_a_day_peaks_at_its_busiest_hour_and_runs_straight_between_hours() -> None:
    day = day_requests_per_s(
        peak_requests_per_s=np.array([50.0]), hourly_fraction=OFFICE, utc_offset_hours=np.zeros(1)
    )[0]
    assert day.shape == (DAY_STEPS,)
    assert day.max() == 50.0 and day.min() == pytest.approx(10.0)
    assert day[7 * 12 + 6] == pytest.approx((10.0 + 50.0) / 2)
    assert day.mean() == pytest.approx(50.0 * OFFICE.mean())


def test_another_time_zone_has_the_same_day_at_other_hours() -> None:
    days = day_requests_per_s(
        peak_requests_per_s=np.full(2, 10.0), hourly_fraction=OFFICE, utc_offset_hours=np.array([0.0, -6.0])
    )
    assert np.roll(days[0], 6 * 12) == pytest.approx(days[1], rel=1e-12)


def test_midnight_lies_between_the_last_hour_and_the_first() -> None:
    curve = np.zeros(24)
    curve[0] = 1.0
    day = day_requests_per_s(
        peak_requests_per_s=np.ones(1), hourly_fraction=curve, utc_offset_hours=np.zeros(1)
    )[0]
    assert day[-6] == pytest.approx(0.5) and day[6] == pytest.approx(0.5)


def test_a_load_of_whole_replicas_asks_for_no_further_one() -> None:
    rate = np.array([0.1])
    for count in range(1, 200):
        assert replicas_needed(requests_per_s=rate * count, replica_requests_per_s=rate)[0] == count


def test_no_load_still_has_a_replica() -> None:
    assert replicas_needed(requests_per_s=np.zeros(1), replica_requests_per_s=np.ones(1))[0] == 1.0


def test_replicas_run_from_their_start_up_time_ahead_until_they_are_not_needed() -> None:
    needed = np.ones(DAY_STEPS)
    needed[100:150] = 4.0
    running = running_replicas(needed=needed, startup_s=600.0)
    assert np.array_equal(np.nonzero(running == 4.0)[0], np.arange(98, 150))
    assert running.sum() == needed.sum() + 2 * 3


def test_a_start_up_past_midnight_wraps() -> None:
    needed = np.ones(DAY_STEPS)
    needed[0] = 5.0
    assert running_replicas(needed=needed, startup_s=300.0)[-1] == 5.0


@pytest.mark.parametrize("startup_s", [1.0, 300.0, 3600.0, 1e6])
def test_autoscaling_never_runs_fewer_than_needed_nor_more_than_the_peak(startup_s: float) -> None:
    needed = np.ceil(20 * (1 + np.sin(np.arange(DAY_STEPS) / 40.0)))
    running = running_replicas(needed=needed, startup_s=startup_s)
    assert np.all(running >= needed) and running.max() == needed.max()


def test_no_replica_spans_two_servers() -> None:
    found = whole_servers(
        replicas=np.array([1.0, 3.0, 4.0]), replica_gpus=np.array([16.0]), server_gpus=np.array([72.0])
    )
    assert found.tolist() == [1.0, 1.0, 1.0]
    assert whole_servers(
        replicas=np.array([5.0]), replica_gpus=np.array([16.0]), server_gpus=np.array([72.0])
    ) == [2.0]
