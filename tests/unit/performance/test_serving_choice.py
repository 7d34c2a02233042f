"""Choosing the replica that serves."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.serving_choice import Need, best_replicas, nearest_miss, time_words
from planner.performance.serving_points import Objective, serving_points
from tests.serving_fleet import candidate

OBJECTIVE = Objective(2.0, 0.05)


def test_a_load_is_carried_by_no_more_servers_than_any_other_layout_needs() -> None:
    one = candidate()
    need = Need((40.0,), 1, one.server_gpus)
    found = best_replicas(
        one.server, requests=one.requests, layouts=one.layouts, objective=OBJECTIVE, need=need
    )
    assert found.feasible and found.layout is not None and found.point is not None
    own = float(need.servers(found.point.rate_per_s, found.layout.gpus)[0])
    free = best_replicas(one.server, requests=one.requests, layouts=one.layouts, objective=OBJECTIVE)
    assert free.layout is not None and free.point is not None
    assert own <= float(need.servers(free.point.rate_per_s, free.layout.gpus)[0])
    assert free.point.output_tokens_per_s_per_gpu[0] >= found.point.output_tokens_per_s_per_gpu[0]
    assert found.next_layout is not None


def test_slower_true_times_leave_less_throughput_within_the_objective() -> None:
    one = candidate()
    plain, slow = (
        best_replicas(
            one.server, requests=one.requests, layouts=one.layouts, objective=OBJECTIVE, per_token_ratio=ratio
        )
        for ratio in (1.0, 1.3)
    )
    assert plain.point is not None and slow.point is not None
    assert slow.point.latency.per_token_p99_s[0] * 1.3 <= OBJECTIVE.per_token_p99_s
    assert slow.point.batch_sequences[0] < plain.point.batch_sequences[0]


def test_a_limit_that_nothing_keeps_is_named_with_what_an_idle_replica_takes() -> None:
    one = candidate()
    points = serving_points(one.server, requests=one.requests, layouts=one.layouts)
    *_, why = nearest_miss(points, Objective(1e-4, 1.0))
    least = float(np.where(points.fits, points.point.latency.first_token_p99_s, np.inf).min())
    assert why.startswith(f"TTFT p99 is {time_words(least)} at least")


def test_replicas_larger_than_a_server_need_no_finite_number_of_servers() -> None:
    assert Need((1.0,), 0, 8).servers(np.array([5.0]), np.array([16.0])) == pytest.approx(np.inf)
