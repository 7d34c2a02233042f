"""The planned pools of a scenario under simulated traffic."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from planner.errors import InputError
from planner.evaluate import evaluate
from planner.performance.serve import Served
from planner.performance.serving_machines import one_draw
from planner.performance.simulate.routing import Routing
from planner.study.traffic_drawn import Arrivals, Lengths, TrafficAsked
from planner.study.traffic_pools import (
    PoolBinding,
    PoolsRun,
    at_pool_rate,
    capacity_per_s,
    plan_rate_per_s,
    run_pools,
)
from planner.study.traffic_run import Correction
from tests.serving_fleet import fleet, shelf

ASKED = TrafficAsked(requests=6000, routing=Routing.RANDOM)


@cache
def served() -> Served:
    plan = evaluate(fleet("workloads.0.disaggregated=auto"), shelf())
    assert plan.built is not None
    return plan.built.performance.served[0]


@cache
def run(share: float = 0.6, routing: Routing = Routing.RANDOM) -> PoolsRun:
    rate = share * plan_rate_per_s(served())
    return run_pools(served(), asked=replace(ASKED, rate_per_s=rate, routing=routing))


def test_the_planned_pools_are_simulated_with_their_share_of_the_load() -> None:
    found = run()
    split = found.plan.split
    assert found.prefill_replicas + found.decode_replicas <= 16
    ratio = found.prefill_replicas / found.decode_replicas
    assert ratio == pytest.approx(split.prefill_replicas / split.decode_replicas, rel=0.1)
    # all tokens that are asked for are made, by the pools that are there
    assert found.output_tokens_per_s == pytest.approx(found.rate_per_s * 512, rel=0.05)


def test_the_closed_form_follows_the_simulated_pools() -> None:
    found = run()
    assert found.closed_form is not None
    first, token = found.outcome.ttft_s, found.outcome.tpot_s
    # prompts that share a step, which the closed form lets wait in line, and few replicas' tails
    assert found.closed_form.first_token_mean_s[0] == pytest.approx(first.mean(), rel=0.12)
    assert found.closed_form.first_token_p99_s[0] == pytest.approx(np.percentile(first, 99), rel=0.25)
    assert found.closed_form.per_token_mean_s[0] == pytest.approx(np.nanmean(token), rel=0.05)


def test_routing_that_evens_out_queues_does_better_than_chance() -> None:
    even = run(0.6, Routing.LEAST_QUEUE)
    assert even.outcome.ttft_s.mean() < run().outcome.ttft_s.mean()


def test_more_than_the_pools_carry_is_saturated_and_has_no_closed_form() -> None:
    most, binds = run().capacity_per_s, run().binds
    over = run_pools(served(), asked=replace(ASKED, rate_per_s=1.01 * most))
    assert over.saturated
    assert over.closed_form is None
    assert over.binds is binds
    assert not run().saturated


def test_capacity_is_the_least_of_what_either_pool_and_the_way_carry() -> None:
    apart = served().apart
    assert apart is not None
    servers = (one_draw(apart.prefill.server), one_draw(apart.decode.server))
    slow = replace(apart.way, rank_bytes_per_s=np.array([1e8]))
    most, binds = capacity_per_s(apart.plan, *servers, served().requests, slow)
    assert binds in (PoolBinding.SENDING, PoolBinding.RECEIVING)
    assert most < run().capacity_per_s
    few = replace(apart.plan, split=replace(apart.plan.split, prefill_replicas=1))
    alone = capacity_per_s(few, *servers, served().requests, apart.way)
    assert alone[1] is PoolBinding.PREFILL
    halved = capacity_per_s(few, *servers, served().requests, apart.way, hit_fraction=0.5)
    assert halved[0] > 1.5 * alone[0]


def test_the_plan_at_its_own_rate_is_the_plan() -> None:
    apart = served().apart
    assert apart is not None
    plan = apart.plan
    same = at_pool_rate(
        plan, one_draw(apart.prefill.server), one_draw(apart.decode.server), served().requests, apart.way,
        rate_per_s=plan.split.rate_per_s,
    )  # fmt: skip
    # between the batches of the table of one pair and of all pairs
    assert same.decode_batch == pytest.approx(plan.decode_batch, rel=0.01)
    assert same.prefill_busy_fraction == pytest.approx(plan.prefill_busy_fraction, rel=1e-9)


def test_shared_prefixes_and_classes_go_through_both_pools() -> None:
    asked = replace(
        ASKED, requests=2000, rate_per_s=0.5 * plan_rate_per_s(served()), routing=Routing.PREFIX_AWARE,
        prefixes=10, prefix_tokens=1500.0, prefix_fraction=0.8, classes=(0.2, 0.8),
    )  # fmt: skip
    found = run_pools(served(), asked=asked)
    assert found.outcome.hit_tokens.sum() > 0.3 * found.outcome.prompt_tokens.sum()
    assert found.closed_form is None
    assert set(found.outcome.priority) == {0.0, 1.0}


def test_a_bursty_fleet_waits_longer() -> None:
    rate = 0.8 * plan_rate_per_s(served())
    calm, bursty = (
        run_pools(served(), asked=replace(ASKED, rate_per_s=rate, arrivals=arrivals, variation=4.0))
        for arrivals in (Arrivals.POISSON, Arrivals.BURSTY)
    )
    assert np.percentile(bursty.outcome.ttft_s, 99) > np.percentile(calm.outcome.ttft_s, 99)


def test_what_cannot_be_simulated_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="--clients"):
        run_pools(served(), asked=replace(ASKED, clients=10))
    long = replace(ASKED, lengths=Lengths.LOGNORMAL, length_variation=5.0, requests=100_000)
    with pytest.raises(InputError, match="replica's caches hold"):
        run_pools(served(), asked=long)


def test_measured_ratios_correct_the_pools_as_they_do_the_plan() -> None:
    rate = 0.5 * plan_rate_per_s(served())
    slow = run_pools(served(), asked=replace(ASKED, rate_per_s=rate), correction=Correction(1.2, 1.5))
    plain = run_pools(served(), asked=replace(ASKED, rate_per_s=1.2 * rate))
    assert slow.capacity_per_s == pytest.approx(plain.capacity_per_s / 1.2)
    assert slow.outcome.tpot_s.mean() == pytest.approx(1.2 * plain.outcome.tpot_s.mean(), rel=0.01)
    assert slow.outcome.ttft_s.mean() == pytest.approx(1.5 * plain.outcome.ttft_s.mean(), rel=0.01)
    assert slow.closed_form is not None
    assert plain.closed_form is not None
    assert slow.closed_form.first_token_p99_s[0] == pytest.approx(
        1.5 * plain.closed_form.first_token_p99_s[0]
    )


def test_close_to_capacity_pools_are_not_settled() -> None:
    near = run_pools(served(), asked=replace(ASKED, requests=2000, rate_per_s=0.97 * run().capacity_per_s))
    assert not near.saturated
    assert not near.settled
    assert run().settled


def test_given_hits_have_a_closed_form_and_raise_the_capacity() -> None:
    asked = replace(ASKED, rate_per_s=0.6 * plan_rate_per_s(served()), hit_fraction=0.5)
    found = run_pools(served(), asked=asked)
    assert found.closed_form is not None
    assert found.capacity_per_s >= run().capacity_per_s
    assert found.outcome.ttft_s.mean() == pytest.approx(found.closed_form.first_token_mean_s[0], rel=0.15)
    assert found.outcome.transfer_s.mean() > 0.0
