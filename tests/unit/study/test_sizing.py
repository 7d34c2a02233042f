"""Sizing of a serving fleet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.choices import Precision
from planner.performance.inference import Layout
from planner.performance.serving_choice import why_not
from planner.performance.serving_points import Objective, most_requests
from planner.study.sizing import Fleet, Load, load_of, size_fleets
from tests.serving_fleet import candidate

TIGHT = Objective(2.0, 0.05)
OFFICE = [0.2] * 8 + [1.0] * 10 + [0.2] * 6


def load(peak: float = 300.0, *, spare: int = 0, curve: bool = False, regions: int = 1) -> Load:
    shares = [(f"r{place}", 1.0 / regions, -place * 8.0 % 24 - 12.0) for place in range(regions)]
    return load_of(
        peak_requests_per_s=peak, hourly_fraction=OFFICE if curve else None, regions=shares,
        spare_replicas=spare, startup_s=300.0,
    )  # fmt: skip


def sized(wanted: Load, objective: Objective = TIGHT) -> Fleet:
    return size_fleets([candidate()], wanted, objective).fleets[0]


def test_no_other_layout_of_the_candidate_needs_fewer_servers() -> None:
    one, wanted = candidate(), load()
    fleet, points = sized(wanted), candidate().points()
    _, rates = most_requests(points, TIGHT)
    for rate, gpus in zip(rates, points.layouts.gpus[:, 0], strict=True):
        if rate > 0.0:
            replicas = math.ceil(300.0 / rate - 1e-9)
            assert math.ceil(replicas / (one.server_gpus // gpus)) >= fleet.servers


def test_the_fleet_keeps_the_objective_at_its_peak_without_the_spare_replicas() -> None:
    fleet = sized(load(spare=2))
    latency = fleet.busiest.latency
    assert latency.first_token_p99_s[0] <= 2.0 and latency.per_token_p99_s[0] <= 0.05
    assert fleet.busiest.rate_per_s[0] * fleet.replicas >= 300.0 * (1 - 1e-9)
    assert fleet.standing >= fleet.replicas + 2
    # one replica less can't carry the peak within the objective
    assert fleet.capacity.point.rate_per_s[0] * (fleet.replicas - 1) < 300.0


def test_regions_are_rounded_up_each_by_itself() -> None:
    together, apart = sized(load()), sized(load(regions=3))
    assert len(apart.regions) == 3
    rate = apart.capacity.point.rate_per_s[0]
    for region in apart.regions:
        assert region.replicas == math.ceil(region.peak_requests_per_s / rate - 1e-9)
        assert region.servers == math.ceil(region.replicas / apart.replicas_per_server)
    assert apart.gpus >= together.gpus


def test_spare_replicas_stand_in_every_region() -> None:
    fleet = sized(load(spare=3, regions=2))
    assert all(one.standing >= one.replicas + 3 for one in fleet.regions)


def test_autoscaling_runs_the_days_mean_plus_what_starts_ahead() -> None:
    fleet = sized(load(curve=True))
    region = fleet.regions[0]
    rate = fleet.capacity.point.rate_per_s[0]
    day = np.maximum(np.ceil(load(curve=True).regions[0].requests_per_s / rate - 1e-9), 1.0)
    assert day.mean() < region.mean_replicas < region.replicas
    assert sized(load()).regions[0].mean_replicas == sized(load()).replicas


def test_a_longer_start_up_saves_less() -> None:
    means = [
        size_fleets([candidate()], load_of(
            peak_requests_per_s=300.0, hourly_fraction=OFFICE, regions=[], spare_replicas=0, startup_s=startup,
        ), TIGHT).fleets[0].mean_gpus
        for startup in (60.0, 3600.0, 7200.0)
    ]  # fmt: skip
    assert means[0] < means[1] < means[2]


def test_without_limits_a_gpu_serves_most() -> None:
    fleet = sized(load())
    most = fleet.saturated.point.output_tokens_per_s_per_gpu[0]
    assert most > fleet.capacity.point.output_tokens_per_s_per_gpu[0]
    assert fleet.front[-1].point.output_tokens_per_s_per_gpu[0] <= most


def test_an_objective_that_nothing_keeps_is_refused_with_the_nearest_miss() -> None:
    found = size_fleets([candidate()], load(), Objective(2.0, 0.001))
    assert not found.fleets
    (server, precision, why) = found.refused[0]
    assert (server, precision) == ("hgx-h200", Precision.FP8)
    assert why.startswith("TPOT p99 is ") and why.endswith("and its limit 1 ms")


def test_weights_that_fit_nowhere_are_said() -> None:
    one = candidate("hgx-h200", Precision.BF16)
    small = one.layouts
    assert "memory" in why_not(
        type(one)(
            one.server_id, one.name, one.precision, one.server, one.requests,
            Layout(small.replica_ranks[:1], small.attention_ranks[:1]), one.server_gpus,
        ).points(),
        TIGHT,
    )  # fmt: skip


def test_times_as_measured_ask_for_more_gpus() -> None:
    from dataclasses import replace

    slow = replace(candidate(), per_token_ratio=1.2, first_token_ratio=1.2)
    fleet = size_fleets([slow], load(), TIGHT).fleets[0]
    assert fleet.gpus > sized(load()).gpus
    assert fleet.busiest.latency.per_token_p99_s[0] <= 0.05
    assert fleet.busiest.rate_per_s[0] * fleet.replicas >= 300.0 * (1 - 1e-9)


@pytest.mark.parametrize("peak", [0.01, 1.0, 3.0])
def test_a_small_load_takes_one_server(peak: float) -> None:
    fleet = sized(load(peak))
    assert fleet.servers == 1 and 1 <= fleet.replicas <= fleet.standing == fleet.replicas_per_server


def test_prompts_found_in_caches_need_fewer_servers() -> None:
    from dataclasses import replace

    one = candidate()
    found = replace(one, requests=replace(one.requests, hit_fraction=np.array([0.6])))
    assert size_fleets([found], load(), TIGHT).fleets[0].servers < sized(load()).servers
