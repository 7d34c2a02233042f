"""Operating points over layouts and batches."""

from __future__ import annotations

import time

import numpy as np
import pytest

from planner.performance.inference import Layout
from planner.performance.serving import largest_batch, operating_point
from planner.performance.serving_points import (
    IDLE_BATCH,
    IDLE_POINTS,
    Objective,
    at_rate,
    front,
    meets,
    most_requests,
    row_at,
    serving_points,
)
from tests.serving_fleet import candidate

TIGHT = Objective(2.0, 0.05)


def test_points_are_those_of_the_closed_form_one_by_one() -> None:
    one = candidate()
    points = serving_points(one.server, requests=one.requests, layouts=one.layouts, batches=5)
    for row in range(one.layouts.replica_ranks.size):
        layout = row_at(points.layouts, (row, 0))
        for column in range(5):
            alone = operating_point(
                one.server, requests=one.requests, layout=layout,
                batch_sequences=points.point.batch_sequences[[row], [column]],
            )  # fmt: skip
            for name in ("rate_per_s", "output_tokens_per_s_per_gpu", "prefill_share_fraction"):
                assert getattr(points.point, name)[row, column] == pytest.approx(
                    getattr(alone, name)[0], rel=1e-12
                )
            assert points.point.latency.per_token_p99_s[row, column] == pytest.approx(
                alone.latency.per_token_p99_s[0], rel=1e-12
            )


def test_batches_go_from_one_sequence_to_the_most_that_memory_and_engine_allow() -> None:
    one = candidate()
    points = serving_points(one.server, requests=one.requests, layouts=one.layouts)
    most = largest_batch(one.server, requests=one.requests, layout=one.layouts)
    assert points.point.batch_sequences[:, 0] == pytest.approx(IDLE_BATCH)
    assert points.point.batch_sequences[:, IDLE_POINTS] == pytest.approx(1.0)
    assert points.point.batch_sequences[:, -1] == pytest.approx(np.maximum(most, 1.0))


def test_the_highest_rate_within_the_objective_keeps_it_and_a_larger_batch_does_not() -> None:
    one = candidate()
    points = serving_points(one.server, requests=one.requests, layouts=one.layouts)
    kept = meets(points, TIGHT)
    columns, rates = most_requests(points, TIGHT)
    assert np.any(rates > 0.0)
    for row in np.nonzero(rates)[0]:
        assert kept[row, columns[row]]
        assert rates[row] == points.point.rate_per_s[row][kept[row]].max()


def test_no_point_beats_one_of_the_front_in_both_ways() -> None:
    one = candidate()
    points = serving_points(one.server, requests=one.requests, layouts=one.layouts)
    best = front(points, first_token_p99_s=2.0)
    each = points.point.latency.per_token_mean_s
    rate = points.point.output_tokens_per_s_per_gpu
    ok = points.fits & (points.point.latency.first_token_p99_s <= 2.0)
    assert len(best) > 10
    for row, column in best:
        better = ok & (each < each[row, column]) & (rate > rate[row, column])
        assert not better.any()
    speeds = [each[place] for place in best]
    assert speeds == sorted(speeds)
    assert [rate[place] for place in best] == sorted(rate[place] for place in best)


def test_a_replica_under_a_load_runs_at_that_rate() -> None:
    one = candidate()
    layout = Layout(np.array([4.0]), np.array([1.0]))
    point = at_rate(one.server, requests=one.requests, layout=layout, rate_per_s=3.0)
    assert point.rate_per_s[0] == pytest.approx(3.0, rel=1e-8)
    idle = at_rate(one.server, requests=one.requests, layout=layout, rate_per_s=0.01)
    assert idle.rate_per_s[0] == pytest.approx(0.01, rel=1e-8) and idle.batch_sequences[0] < 1.0
    full = at_rate(one.server, requests=one.requests, layout=layout, rate_per_s=1e6)
    most = largest_batch(one.server, requests=one.requests, layout=layout)[0]
    assert full.batch_sequences[0] == pytest.approx(most, rel=1e-8)


def test_a_hundred_thousand_points_take_less_than_a_second() -> None:
    one = candidate()
    batches = 100_000 // one.layouts.replica_ranks.size
    taken = []
    for _ in range(3):
        start = time.process_time()
        points = serving_points(one.server, requests=one.requests, layouts=one.layouts, batches=batches)
        meets(points, TIGHT)
        taken.append(time.process_time() - start)
    assert points.point.rate_per_s.size >= 99_000
    assert min(taken) < 1.0
