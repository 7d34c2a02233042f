"""Laws of sizing a serving fleet."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.performance.fleet import running_replicas
from planner.performance.serving_points import Objective
from planner.study.sizing import Fleet, load_of, size_fleets
from tests.serving_fleet import candidate

PEAKS = st.floats(min_value=1.0, max_value=5000.0)
TOKEN = st.floats(min_value=0.02, max_value=0.5)


def fleet(peak: float, token_s: float, spare: int = 0, regions: int = 1) -> Fleet:
    shares = [(f"r{place}", 1.0 / regions, 0.0) for place in range(regions)]
    load = load_of(
        peak_requests_per_s=peak, hourly_fraction=None, regions=shares, spare_replicas=spare, startup_s=300.0
    )
    return size_fleets([candidate()], load, Objective(2.0, token_s)).fleets[0]


@settings(max_examples=25, deadline=None)
@given(PEAKS, st.floats(min_value=1.0, max_value=3.0), TOKEN)
def test_more_load_never_takes_fewer_gpus(peak: float, times: float, token_s: float) -> None:
    assert fleet(peak * times, token_s).gpus >= fleet(peak, token_s).gpus


@settings(max_examples=25, deadline=None)
@given(PEAKS, TOKEN, st.floats(min_value=1.0, max_value=3.0))
def test_a_looser_objective_never_takes_more_gpus(peak: float, token_s: float, times: float) -> None:
    assert fleet(peak, token_s * times).gpus <= fleet(peak, token_s).gpus


@settings(max_examples=25, deadline=None)
@given(PEAKS, TOKEN, st.integers(min_value=0, max_value=20))
def test_spare_replicas_never_take_fewer_gpus_and_all_stand(peak: float, token_s: float, spare: int) -> None:
    plain, kept = fleet(peak, token_s), fleet(peak, token_s, spare=spare)
    assert kept.gpus >= plain.gpus
    assert kept.standing >= kept.replicas + spare


@settings(max_examples=25, deadline=None)
@given(PEAKS, TOKEN, st.integers(min_value=2, max_value=8))
def test_split_over_regions_a_load_never_takes_fewer_gpus(peak: float, token_s: float, regions: int) -> None:
    assert fleet(peak, token_s, regions=regions).gpus >= fleet(peak, token_s).gpus


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(min_value=1, max_value=50), min_size=288, max_size=288), st.floats(1.0, 80_000.0))
def test_autoscaling_covers_every_need_within_the_start_up_time(needs: list[int], startup_s: float) -> None:
    needed = np.array(needs, dtype=np.float64)
    running = running_replicas(needed=needed, startup_s=startup_s)
    ahead = min(int(np.ceil(startup_s / 300.0 - 1e-9)), 287)
    for step in (0, 1, 100, 287):
        window = np.take(needed, np.arange(step, step + ahead + 1), mode="wrap")
        assert running[step] == window.max()
