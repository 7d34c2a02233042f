"""Separate pools in a scenario: what they serve, what moves, and what they leave as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.catalog.llm import Model
from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.performance.disaggregation import PoolLimits
from planner.performance.inference import Layout
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import PoolPlan, Way, best_pools, moved_cache, pools_point
from planner.performance.shapes import shape_of
from planner.scenario.parts import resolve
from planner.study.sizing_machines import candidates_of
from tests.serving_fleet import candidate, fleet, shelf

KEY = "performance.serving"
POOLS = "workloads.chat.disaggregated"
TWO_GROUPS = "cluster.groups=[{id: a, server: hgx-h200, gpus: 320}, {id: b, server: hgx-h200, gpus: 192}]"
ONE = np.ones(1)
WAY = Way(40e9 * ONE, 0.035 * ONE, 0.5 * ONE)
LIMITS = Objective(2.0, 0.05)


def evaluated(*changes: str) -> Evaluation:
    found = evaluate(fleet(*changes), shelf())
    assert found.built is not None, found.refusal
    return found


def pools(*, way: Way = WAY, limits: PoolLimits | None = None, objective: Objective = LIMITS) -> PoolPlan:
    one = candidate()
    return best_pools(
        one.server, one.server, requests=one.requests, gpus=64, objective=objective, way=way, sizes=(1, 2, 4),
        limits=limits,
    )  # fmt: skip


def test_a_cache_moves_with_its_bytes_over_the_path() -> None:
    one = candidate()
    for ranks in (1.0, 2.0, 8.0):
        layout = Layout(ranks * ONE, ranks * ONE)
        moved = moved_cache(one.server, one.requests, layout, Layout(ONE, ONE), WAY)
        # 80 layers, 8 heads of 128, keys and values, 8 bits: 163,840 bytes a token whatever the GPUs share it
        assert moved.bytes[0] == pytest.approx(2048 * 163_840)
        assert moved.busy_s[0] == pytest.approx(moved.bytes[0] / (40e9 * ranks))
        # one GPU takes in what several send
        assert moved.receive_s[0] == pytest.approx(moved.bytes[0] / 40e9)
        assert moved.left_s[0] >= moved.receive_s[0] / 80
        assert moved.exposed_s[0] == pytest.approx(0.035 + moved.left_s[0])


def test_a_latent_cache_leaves_once_however_many_ranks_hold_a_copy() -> None:
    one = candidate()
    server = replace(one.server, shape=shape_of(shelf().get(Model, "deepseek-r1")))
    sizes = []
    for ranks in (1.0, 8.0):
        layout = Layout(ranks * ONE, ranks * ONE)
        moved = moved_cache(server, one.requests, layout, layout, WAY)
        sizes.append(moved.bytes[0])
        # the copies send a part each
        assert moved.busy_s[0] == pytest.approx(moved.bytes[0] / (40e9 * ranks))
    # 61 layers of 576 values in 8 bits
    assert sizes == pytest.approx([2048 * 61 * 576] * 2)


@pytest.mark.parametrize("limit_s", [0.02, 0.0317, 0.05, 0.2])
def test_pools_that_the_time_for_each_token_limits_use_all_of_it_and_no_more(limit_s: float) -> None:
    one = candidate()
    plan = pools(objective=Objective(20.0, limit_s), limits=PoolLimits(prefill_gpus=64, decode_gpus=4))
    point = pools_point(plan, one.server, one.server, requests=one.requests, way=WAY)
    held = point.latency.per_token_p99_s[0]
    assert held <= limit_s
    full = plan.decode_batch >= 0.9 * 0.95 * 512
    assert full or held == pytest.approx(limit_s, rel=5e-6)


@pytest.mark.parametrize("token_s", [0.2, 1.0, 100.0, np.inf])
def test_a_looser_limit_for_each_token_leaves_the_first_one_possible(token_s: float) -> None:
    one = candidate()
    plan = pools(objective=Objective(2.0, token_s))
    # the engine's steps before a first token are never longer than those of the largest batch
    assert plan.split.rate_per_s >= 0.99 * pools().split.rate_per_s
    point = pools_point(plan, one.server, one.server, requests=one.requests, way=WAY)
    assert point.latency.first_token_p99_s[0] <= 2.0


def test_the_point_of_the_planned_pools_is_what_the_split_said() -> None:
    one, plan = candidate(), pools()
    point = pools_point(plan, one.server, one.server, requests=one.requests, way=WAY)
    whole = point.output_tokens_per_s_per_gpu[0] * 64
    # between the batches of the table the split interpolates
    assert whole == pytest.approx(plan.split.rate_per_s * 512, rel=0.01)
    assert point.latency.per_token_p99_s[0] <= 0.05
    assert point.latency.first_token_p99_s[0] <= 2.0
    latency = point.latency
    assert latency.first_token_p50_s[0] < latency.first_token_mean_s[0] < latency.first_token_p99_s[0]
    assert latency.first_token_p95_s[0] < latency.first_token_p99_s[0]


def test_a_slower_way_never_serves_more() -> None:
    rates = [
        pools(way=Way(rate * ONE, 0.035 * ONE, 0.0 * ONE), objective=Objective(0.6, 0.05)).split.rate_per_s
        for rate in (40e9, 1e9, 0.3e9, 0.1e9)
    ]
    assert rates == sorted(rates, reverse=True) and rates[-1] < rates[0]


def test_set_replicas_and_pools_of_their_own_are_kept() -> None:
    free = pools().split.rate_per_s
    set_ = pools(limits=PoolLimits(prefill_replicas=5, decode_replicas=3)).split
    assert (set_.prefill_replicas, set_.decode_replicas) == (5, 3) and 0.0 < set_.rate_per_s < free
    own = pools(limits=PoolLimits(prefill_gpus=16, decode_gpus=48))
    assert own.prefill_gpus <= 16 and own.decode_gpus <= 48 and own.split.rate_per_s <= free
    assert pools(limits=PoolLimits(prefill_replicas=65)).split.rate_per_s == 0.0


def test_a_prefill_slower_than_planned_serves_less_and_its_queue_stays_as_full() -> None:
    from dataclasses import replace

    one, plan = candidate(), pools()
    host = one.server.constants.request_host_s
    slow = replace(one.server, constants=replace(one.server.constants, request_host_s=host + 0.05))
    point = pools_point(plan, slow, one.server, requests=one.requests, way=WAY)
    before = pools_point(plan, one.server, one.server, requests=one.requests, way=WAY)
    assert point.rate_per_s[0] < before.rate_per_s[0]
    assert np.isfinite(point.latency.first_token_p99_s[0])


def test_the_plans_outcomes_are_those_of_the_pools() -> None:
    found = evaluated(f"{POOLS}=auto")
    ledger = found.ledger
    assert found.built is not None
    plan = found.built.performance.served[0].pools
    assert plan is not None
    value = {
        name: ledger.scalar(f"{KEY}.pools.{name}")
        for name in ("prefill_replicas", "decode_replicas", "idle_gpus")
    }
    used = plan.prefill_gpus + plan.decode_gpus
    assert used + value["idle_gpus"] == 512
    assert ledger.scalar("outcome.serving_output_tokens_per_s") == pytest.approx(
        plan.split.rate_per_s * 512, rel=0.01
    )
    assert ledger.scalar("outcome.tpot_p99_s") <= 0.05 * 1.005 and ledger.scalar("outcome.ttft_p99_s") <= 2.0
    plain = evaluated().ledger
    gain = ledger.scalar("outcome.serving_output_tokens_per_s") / plain.scalar(
        "outcome.serving_output_tokens_per_s"
    )
    assert ledger.scalar(f"{KEY}.pools.gain_fraction") == pytest.approx(gain - 1.0, rel=1e-9)
    assert ledger.scalar(f"{KEY}.prefill_share_fraction") == pytest.approx(plan.prefill_gpus / used)
    assert "assumption.serving_handover_s" in ledger.inputs_of(f"{KEY}.pools.transfer_s")


def test_pools_of_two_groups_stay_in_them() -> None:
    found = evaluated(TWO_GROUPS, f"{POOLS}={{prefill_group: a, decode_group: b}}")
    plan = found.built.performance.served[0].pools  # type: ignore[union-attr]
    assert plan is not None and plan.prefill_gpus <= 320 and plan.decode_gpus <= 192


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("{prefill_group: fleet}", "go together"),
        ("{prefill_group: fleet, decode_group: fleet}", "are the same"),
        ("{prefill_group: fleet, decode_group: flet}", "nearest: fleet"),
        ("{prefill_replicas: 0}", "must be 1 or more"),
        ("{prefil_replicas: 3}", "nearest: prefill_replicas"),
    ],
)
def test_wrong_pools_are_said_with_a_remedy(wish: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve(fleet(f"{POOLS}={wish}"), shelf())
    assert any(said in str(one) for one in caught.value.problems)


def test_pools_that_keep_no_objective_are_refused_with_edits() -> None:
    refusal = evaluate(
        fleet(f"{POOLS}={{prefill_replicas: 1}}", "workloads.chat.slo.ttft_p99_s=0.01"), shelf()
    ).refusal
    assert refusal is not None and "no separate pools" in refusal.problems[0].message
    assert refusal.problems[0].offered[0].edits


def test_a_fleet_is_sized_without_pools() -> None:
    plain, _ = candidates_of(fleet(), shelf(), 0, servers=["hgx-h200"], precisions=[])
    apart, _ = candidates_of(fleet(f"{POOLS}=auto"), shelf(), 0, servers=["hgx-h200"], precisions=[])
    assert [one.format_name for one in apart] == [one.format_name for one in plain]


def test_a_prompt_found_at_the_prefill_pool_is_computed_faster_and_moves_whole() -> None:
    one = candidate()
    found = replace(one.requests, hit_fraction=0.6 * ONE)
    layout = Layout(2.0 * ONE, 2.0 * ONE)
    plain, hit = (
        moved_cache(one.server, requests, layout, layout, WAY) for requests in (one.requests, found)
    )
    assert hit.service_s[0] < 0.6 * plain.service_s[0]
    assert hit.bytes[0] == plain.bytes[0]
    assert hit.busy_s[0] == plain.busy_s[0]
