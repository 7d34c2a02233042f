"""A scenario's replicas under simulated traffic."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from planner.errors import InputError
from planner.evaluate import Evaluation, evaluate
from planner.performance.serve import Served
from planner.performance.simulate.routing import Routing
from planner.scenario.request_trace import RequestTrace
from planner.study.traffic_drawn import Arrivals, TrafficAsked
from planner.study.traffic_run import Correction, TrafficRun, run_traffic, simulated_part
from tests.serving_fleet import fleet, shelf

ASKED = TrafficAsked(requests=4000)
GPUS = 24.0
RATE = 25.0
DAY = [0.2] * 8 + [0.6] * 8 + [1.0] * 4 + [0.5] * 4


@cache
def plan(*changes: str) -> Evaluation:
    return evaluate(fleet(*changes), shelf())


def served(*changes: str) -> Served:
    built = plan(*changes).built
    assert built is not None
    return built.performance.served[0]


@cache
def daily() -> Served:
    load = f"workloads.0.load={{requests_per_s: {RATE}, hourly_fraction: {DAY}}}"
    return served(load, "cluster.groups.0.gpus=24")


def run(asked: TrafficAsked = ASKED, correction: Correction | None = None) -> TrafficRun:
    return run_traffic(served(), gpus=GPUS, asked=asked, correction=correction or Correction())


def test_a_short_day_is_not_gone_through_its_busiest_hour_is_simulated_and_said() -> None:
    found = run_traffic(daily(), gpus=GPUS, asked=replace(ASKED, arrivals=Arrivals.DAILY))
    assert found.day_s is None
    assert found.day_requests is not None
    assert found.day_requests > ASKED.requests
    # requests come at the busiest hour's rate, so that the whole fleet makes its tokens
    assert found.output_tokens_per_s == pytest.approx(RATE * 512, rel=0.05)
    assert found.rate_per_s == RATE


def test_a_day_that_is_gone_through_shows_its_busiest_hours_apart() -> None:
    asked = replace(ASKED, arrivals=Arrivals.DAILY, requests=15_000, replicas=1)
    found = run_traffic(daily(), gpus=GPUS, asked=asked)
    assert found.day_requests is None
    assert found.day_s is not None
    assert found.busiest is not None
    assert found.output_tokens_per_s == pytest.approx(RATE * np.mean(DAY) * 512, rel=0.05)
    assert found.busiest.tpot_s.mean() > 1.05 * found.outcome.tpot_s.mean()
    # two days are twice as long
    assert found.outcome.arrival_s.max() > 0.95 * found.day_s


def test_a_trace_reaches_the_simulated_part_with_that_part_of_its_load() -> None:
    random = np.random.default_rng(1)
    count = 3000
    times = np.cumsum(random.exponential(1.0 / RATE, count))
    trace = RequestTrace("t.csv", np.full(count, 2048.0), np.full(count, 512.0), times - times[0])
    found = run(replace(ASKED, trace=trace, arrivals=Arrivals.TRACE))
    assert found.requests == pytest.approx(count * found.replicas / found.fleet_replicas, rel=0.05)
    assert found.rate_per_s == pytest.approx(RATE, rel=0.05)
    assert found.output_tokens_per_s == pytest.approx(RATE * 512, rel=0.1)


def test_close_to_capacity_a_run_is_not_settled_and_at_half_of_it_it_is() -> None:
    most = run().capacity_per_s
    near = run(replace(ASKED, rate_per_s=0.97 * most))
    assert not near.saturated
    assert not near.settled
    assert near.rise.per_token_fraction > 0.1
    assert run(replace(ASKED, rate_per_s=0.5 * most)).settled


def test_a_saturated_fleet_makes_what_it_sustains() -> None:
    most = run().capacity_per_s
    over = run(replace(ASKED, rate_per_s=1.5 * most))
    assert over.saturated
    assert over.output_tokens_per_s == pytest.approx(over.capacity_per_s * 512, rel=0.01)


def test_clients_are_of_the_fleet_and_come_out_whole() -> None:
    assert simulated_part(replace(ASKED, clients=2), 12) == (6, 1)
    assert simulated_part(replace(ASKED, clients=1), 12) == (12, 1)
    assert simulated_part(replace(ASKED, clients=1200), 12) == (8, 800)
    assert simulated_part(ASKED, 12) == (8, 0)
    with pytest.raises(InputError, match="whole fleet of 12"):
        simulated_part(replace(ASKED, clients=2, replicas=3), 12)


def test_few_clients_make_the_tokens_of_few_clients() -> None:
    found = run(replace(ASKED, clients=1, requests=200))
    assert found.clients == 1
    # one client: a token each mean time between tokens at most
    assert found.output_tokens_per_s < 1.0 / found.outcome.tpot_s.mean()


def test_measured_ratios_scale_times_and_rates_as_in_the_plan() -> None:
    ratio = Correction(per_token=1.25, first_token=1.5)
    # the same traffic in slower time: every event comes a ratio later; times that nearly tie may change places
    plain = run(replace(ASKED, rate_per_s=1.25 * RATE, routing=Routing.ROUND_ROBIN))
    slow = run(replace(ASKED, rate_per_s=RATE, routing=Routing.ROUND_ROBIN), ratio)
    assert slow.capacity_per_s == pytest.approx(plain.capacity_per_s / 1.25)
    assert slow.outcome.tpot_s.mean() == pytest.approx(1.25 * plain.outcome.tpot_s.mean(), rel=1e-3)
    assert slow.outcome.ttft_s.mean() == pytest.approx(1.5 * plain.outcome.ttft_s.mean(), rel=1e-3)
    assert slow.closed_form is not None
    assert plain.closed_form is not None
    for name, times in (("per_token", 1.25), ("first_token", 1.5)):
        one, other = (getattr(found.closed_form, f"{name}_p99_s")[0] for found in (slow, plain))
        assert one == pytest.approx(times * other)


def test_prompt_tokens_that_are_found_are_not_computed() -> None:
    found = run(replace(ASKED, hit_fraction=0.5))
    assert found.hit_fraction == pytest.approx(0.5, abs=0.001)
    assert found.outcome.prefilled_tokens.sum() == pytest.approx(
        0.5 * found.outcome.prompt_tokens.sum(), rel=0.001
    )
    assert found.capacity_per_s > 1.2 * run().capacity_per_s


def test_prefixes_longer_than_most_prompts_are_refused() -> None:
    long = replace(ASKED, prefixes=10, prefix_tokens=3000.0, prefix_fraction=0.9)
    with pytest.raises(InputError, match="as long as 100% of the prompts"):
        run(long)
    cold = run(replace(long, prefix_tokens=1500.0))
    steady = cold.outcome.hit_tokens.sum() / cold.outcome.prompt_tokens.sum()
    # the first use of every prefix is in the one and not in the other
    assert cold.hit_fraction < steady


def test_the_plans_hits_are_simulated_unless_others_are_asked() -> None:
    plan_hits = served("workloads.0.prefix_hit_fraction=0.4")
    short = replace(ASKED, requests=500, rate_per_s=25.0)
    prefixes = replace(short, prefixes=5, prefix_tokens=100.0, prefix_fraction=1.0)
    shares = [
        run_traffic(plan_hits, gpus=GPUS, asked=asked).hit_fraction
        for asked in (short, replace(short, hit_fraction=0.0), replace(short, hit_fraction=0.7))
    ]
    assert shares == pytest.approx([0.4, 0.0, 0.7], abs=0.001)
    assert run_traffic(plan_hits, gpus=GPUS, asked=prefixes).hit_fraction < 0.1


@pytest.mark.parametrize("hits", [0.3, 0.6])
def test_the_closed_form_follows_given_hits(hits: float) -> None:
    asked = replace(ASKED, requests=8000, hit_fraction=hits, routing=Routing.RANDOM, rate_per_s=35.0)
    found = run(asked)
    assert found.closed_form is not None
    first, token = found.outcome.ttft_s, found.outcome.tpot_s
    assert found.closed_form.first_token_mean_s[0] == pytest.approx(first.mean(), rel=0.05)
    assert found.closed_form.per_token_mean_s[0] == pytest.approx(token.mean(), rel=0.06)
    assert found.closed_form.first_token_p99_s[0] == pytest.approx(np.percentile(first, 99), rel=0.12)
