"""The load of a serving workload."""

from __future__ import annotations

import pytest

from planner.errors import ScenarioError
from planner.scenario.load import load_scenario

FLEET = "h200-serving-fleet"
LOAD = "workloads.chat.load"
DAY = [0.5] * 23 + [1.0]


def refused(*changes: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(FLEET, changes=[f"{LOAD}.requests_per_s=10", *changes])
    return str(caught.value)


def test_a_load_with_a_curve_and_regions_is_read() -> None:
    loaded = load_scenario(
        FLEET,
        changes=[
            f"{LOAD}.requests_per_s=100", f"{LOAD}.hourly_fraction={DAY}", f"{LOAD}.spare_replicas=2",
            f"{LOAD}.regions=[{{id: eu, share_fraction: 0.25}}, {{id: us, share_fraction: 0.75}}]",
        ],
    )  # fmt: skip
    load = loaded.scenario.workloads[0].load
    assert load is not None and load.requests_per_s == 100.0 and load.spare_replicas == 2
    assert [one.id for one in load.regions] == ["eu", "us"]
    assert load.hourly_fraction == tuple(DAY)


def test_a_day_has_24_hours() -> None:
    assert "has 23 values, and a day has 24 hours" in refused(f"{LOAD}.hourly_fraction={DAY[1:]}")


def test_the_busiest_hour_is_one() -> None:
    assert "largest value is 0.5" in refused(f"{LOAD}.hourly_fraction={[0.5] * 24}")


def test_regions_share_one_load() -> None:
    assert "add up to 0.9" in refused(f"{LOAD}.regions=[{{id: eu, share_fraction: 0.9}}]")
    twice = "{id: eu, share_fraction: 0.5}"
    assert "'eu' is used twice" in refused(f"{LOAD}.regions=[{twice}, {twice}]")


def test_every_problem_of_a_load_is_said_at_once() -> None:
    said = refused(f"{LOAD}.spare_replicas=-1", f"{LOAD}.startup_s=0")
    assert "spare_replicas" in said and "startup_s" in said
