"""Fleets for a wanted share of draws."""

from __future__ import annotations

from planner.performance.serving_points import Objective
from planner.study.sizing import load_of, size_fleets
from planner.study.sizing_sure import met_odds, with_margin
from tests.serving_fleet import candidate

OBJECTIVE = Objective(2.0, 0.05)


def test_a_margin_adds_replicas_of_the_same_layout_and_shortens_the_tails_of_the_load_itself() -> None:
    load = load_of(
        peak_requests_per_s=300.0, hourly_fraction=None, regions=[], spare_replicas=1, startup_s=300.0
    )
    plain = size_fleets([candidate()], load, OBJECTIVE).fleets[0]
    more = with_margin(plain, load, OBJECTIVE, 1.5)
    assert 1.4 * plain.replicas <= more.replicas <= 1.6 * plain.replicas + 1
    assert more.capacity == plain.capacity and more.gpus > plain.gpus
    assert more.regions[0].peak_requests_per_s == 300.0
    assert more.busiest.latency.per_token_p99_s[0] < plain.busiest.latency.per_token_p99_s[0]


def test_a_plan_that_cant_be_built_has_no_odds() -> None:
    assert met_odds(None, OBJECTIVE) is None
