"""Lines that the cost of serving rests on, and what a load needs of a plan."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from planner.evaluate import Evaluation, evaluate
from planner.performance.serving import replica_layouts
from planner.performance.serving_lines import saturated_point
from planner.performance.serving_points import serving_points
from planner.scenario.limits import LOAD_OUTCOME
from tests.serving_fleet import candidate, fleet, shelf

KEY = "performance.serving"
LOAD = "workloads.chat.load"


def evaluated(*changes: str) -> Evaluation:
    found = evaluate(fleet(*changes), shelf())
    assert found.built is not None
    return found


def test_layouts_stay_inside_the_domain_and_attention_groups_inside_a_replica() -> None:
    found = replica_layouts(72)
    assert found.replica_ranks.max() == 64.0 and found.attention_ranks.max() == 8.0
    assert np.all(np.mod(found.replica_ranks, found.attention_ranks) == 0.0)
    assert replica_layouts(1).replica_ranks.tolist() == [1.0]


def test_nothing_serves_more_than_the_saturated_replica() -> None:
    one = candidate()
    most = saturated_point(one.server, requests=one.requests, layouts=one.layouts)
    points = serving_points(one.server, requests=one.requests, layouts=one.layouts)
    best = np.where(points.fits, points.point.output_tokens_per_s_per_gpu, 0.0).max()
    assert most.output_tokens_per_s_per_gpu[0] == pytest.approx(best, rel=1e-12)


def test_the_share_of_time_in_prompts_is_rate_times_prompt() -> None:
    found = evaluated()
    assert found.built is not None
    point = found.built.performance.served[0].point
    share = found.ledger.scalar(f"{KEY}.prefill_share_fraction")
    assert share == pytest.approx(float(point.rate_per_s[0] * point.prefill_s[0]), rel=1e-12)
    assert found.ledger.scalar("workload.chat.prefill_share_fraction") == share


def test_a_load_needs_its_replicas_and_the_plan_covers_them_or_not() -> None:
    found = evaluated(f"{LOAD}.requests_per_s=300", f"{LOAD}.spare_replicas=1")
    assert found.built is not None
    ledger, served = found.ledger, found.built.performance.served[0]
    replicas = math.ceil(300.0 / float(served.point.rate_per_s[0]))
    assert ledger.scalar(f"{KEY}.load.replicas") == replicas
    per_server = 8 // served.layout.gpus[0]
    assert ledger.scalar(f"{KEY}.load.gpus") == 8 * math.ceil((replicas + 1) / per_server)
    assert ledger.scalar(f"{KEY}.load.covered_fraction") == pytest.approx(
        512 / ledger.scalar(f"{KEY}.load.gpus")
    )
    assert ledger.scalar(f"{KEY}.load.mean_requests_per_s") == pytest.approx(300.0)
    short = evaluated(f"{LOAD}.requests_per_s=3000").ledger
    assert short.scalar(f"{KEY}.load.covered_fraction") < 1.0


def test_regions_and_their_hours_change_what_autoscaling_runs() -> None:
    day = [0.2] * 12 + [1.0] * 12
    one = evaluated(f"{LOAD}.requests_per_s=300", f"{LOAD}.hourly_fraction={day}").ledger
    regions = "[{id: a, share_fraction: 0.5}, {id: b, share_fraction: 0.5, utc_offset_hours: -12.0}]"
    two = evaluated(
        f"{LOAD}.requests_per_s=300", f"{LOAD}.hourly_fraction={day}", f"{LOAD}.regions={regions}"
    ).ledger
    for ledger in (one, two):
        assert ledger.scalar(f"{KEY}.load.mean_gpus") < ledger.scalar(f"{KEY}.load.gpus")
        assert ledger.scalar(f"{KEY}.load.mean_requests_per_s") == pytest.approx(300 * np.mean(day), rel=0.01)


def test_the_start_up_time_is_the_catalogs_unless_the_load_says_one() -> None:
    plain = evaluated(f"{LOAD}.requests_per_s=300").ledger
    own = evaluated(f"{LOAD}.requests_per_s=300", f"{LOAD}.startup_s=900").ledger
    assert "assumption.model_load_target_s" in plain.inputs_of(f"{KEY}.load.mean_gpus")
    assert own.scalar(f"{KEY}.load.startup_s") == 900.0


def test_the_fullest_workload_says_whether_a_plan_carries_its_loads() -> None:
    small = evaluated(f"{LOAD}.requests_per_s=300").ledger
    assert small.scalar(LOAD_OUTCOME) == pytest.approx(1.0 / small.scalar(f"{KEY}.load.covered_fraction"))
    first = fleet().document.data["workloads"][0]
    two = [
        first | {"share_fraction": 0.5, "load": {"requests_per_s": 30}},
        first | {"id": "other", "share_fraction": 0.25, "load": {"requests_per_s": 3000}},
    ]
    both = evaluated(f"workloads={json.dumps(two)}").ledger
    taken = [both.scalar(f"workload.{one}.load.gpus") for one in ("chat", "other")]
    assert both.scalar(LOAD_OUTCOME) == pytest.approx(taken[1] / (512 * 0.25))
    assert taken[1] / (512 * 0.25) > taken[0] / (512 * 0.5)


def test_a_plan_that_states_no_load_has_no_share_of_it() -> None:
    assert LOAD_OUTCOME not in evaluated().ledger
