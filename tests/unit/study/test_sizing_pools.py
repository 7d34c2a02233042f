"""Sizing of separate pools: fewest replicas, the same functions as a plan, and a plan that runs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from planner.cli.app import run_app
from planner.evaluate import evaluate
from planner.performance.disaggregation import PoolLimits
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import Way, best_pools
from planner.scenario.load import load_scenario
from planner.study.serving_search import Answer, search_serving
from planner.study.sizing import Load, load_of
from planner.study.sizing_machines import served_of
from planner.study.sizing_pools import PoolFleet, size_pools
from tests.serving_fleet import candidate, fleet, shelf

ONE = np.ones(1)
WAY = Way(40e9 * ONE, 0.035 * ONE, 0.5 * ONE)
LIMITS = Objective(2.0, 0.05)
RATE = 300.0


def load(rate: float = RATE, *, regions: int = 1, spare: int = 0) -> Load:
    shares = [(f"region{place}", 1.0 / regions, 0.0) for place in range(regions)]
    return load_of(
        peak_requests_per_s=rate, hourly_fraction=None, regions=shares, spare_replicas=spare, startup_s=300.0
    )


def sized(rate: float = RATE, *, way: Way = WAY, objective: Objective = LIMITS, **others: int) -> PoolFleet:
    found = size_pools(candidate(), way, load(rate, **others), objective)
    assert found is not None
    return found


@cache
def answer() -> Answer:
    return search_serving(fleet(f"workloads.0.load.requests_per_s={RATE}"), shelf(), 0, top=2)


def test_the_sized_pools_carry_the_load_and_one_replica_less_does_not() -> None:
    found, one = sized(), candidate()
    wish = found.wish
    assert found.plan.split.rate_per_s >= RATE
    for less in ("prefill_replicas", "decode_replicas"):
        numbers = {**wish, less: wish[less] - 1}
        fewer = best_pools(
            one.server, one.server, requests=one.requests, gpus=found.gpus, objective=LIMITS, way=WAY,
            sizes=(wish["prefill_replica_gpus"],), decode_sizes=(wish["decode_replica_gpus"],),
            limits=PoolLimits(None, None, numbers["prefill_replicas"], numbers["decode_replicas"]),
        )  # fmt: skip
        assert fewer.split.rate_per_s < RATE


def test_pools_keep_both_limits_at_their_rate() -> None:
    split = sized().plan.split
    # rounding of the last digits
    assert split.per_token_p99_s <= 0.05 * (1.0 + 1e-12)
    assert split.first_token_p99_s <= 2.0


def test_a_tighter_objective_or_more_load_never_needs_fewer_gpus() -> None:
    own = sized().gpus
    assert sized(2.0 * RATE).gpus >= 1.8 * own
    assert sized(objective=Objective(1.0, 0.05)).gpus >= own
    assert sized(objective=Objective(2.0, 0.02)).gpus >= own
    assert sized(way=replace(WAY, rank_bytes_per_s=0.5e9 * ONE)).gpus > own


def test_regions_round_up_by_themselves_and_spare_replicas_stand_in_each() -> None:
    split = sized(regions=3, spare=1)
    assert [one.servers for one in split.regions] == [split.regions[0].servers] * 3
    needed = sum(one.prefill_replicas for one in split.regions)
    assert split.wish["prefill_replicas"] == needed + 3
    assert split.gpus == split.servers * 8
    assert split.gpus >= sized().gpus
    assert split.plan.prefill_gpus + split.plan.decode_gpus <= split.gpus


def test_nothing_is_sized_where_even_one_prompt_is_late() -> None:
    assert size_pools(candidate(), WAY, load(), Objective(0.05, 0.05)) is None
    assert size_pools(candidate(), WAY, load(), Objective(2.0, 0.001)) is None


def test_measured_times_over_predicted_ones_need_more_gpus() -> None:
    slow = size_pools(replace(candidate(), per_token_ratio=1.3, first_token_ratio=1.3), WAY, load(), LIMITS)
    assert slow is not None
    assert slow.gpus > sized().gpus


def test_search_and_evaluation_agree_to_the_last_digits() -> None:
    found = answer()
    assert found.pools is not None and found.pools.evaluation is not None
    served = served_of(found.pools.evaluation, found.loaded.scenario.workloads[0])
    assert served.pools is not None
    assert served.pools.split.rate_per_s == pytest.approx(found.pools.fleet.plan.split.rate_per_s, rel=1e-12)
    assert served.pools.split.prefill_replicas == found.pools.fleet.wish["prefill_replicas"]
    assert found.pools.together_gpus == found.best.fleet.gpus


def test_the_bill_of_the_pools_is_their_gpu_hours() -> None:
    pools = answer().pools
    assert pools is not None and pools.evaluation is not None
    hour = pools.evaluation.ledger.scalar("unit.usd_per_gpu_hour")
    assert pools.value("usd_per_hour") == pytest.approx(hour * pools.fleet.gpus, rel=1e-12)
    made = RATE * 512 * 3600 / 1e6
    price = pools.value("usd_per_mtoken_output")
    assert price is not None
    assert price * made == pytest.approx(hour * pools.fleet.gpus, rel=1e-12)


def test_the_written_plan_runs_with_the_sized_pools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pools.yaml"
    command = ["search", "h200-serving-fleet", "--rate", "300", "--pools", "--write", str(path)]
    assert run_app(command) == 0
    assert "separate pools:" in capsys.readouterr().out
    plan = evaluate(load_scenario(str(path)), shelf())
    assert plan.built is not None
    served = plan.built.performance.served[0]
    assert served.pools is not None
    assert served.pools.split.rate_per_s >= RATE
    pools = answer().pools
    assert pools is not None
    assert served.pools.split.rate_per_s == pytest.approx(pools.fleet.plan.split.rate_per_s, rel=1e-12)


def test_the_numbers_of_the_pools_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["search", "h200-serving-fleet", "--rate", "300", "--pools", "--explain"]
    assert run_app([*command, "sizing.usd_per_mtoken_output"]) == 0
    text = capsys.readouterr().out
    assert "GPUs of both pools" in text
    assert "unit.usd_per_gpu_hour" in text
