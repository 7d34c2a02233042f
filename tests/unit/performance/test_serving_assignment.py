"""Pools on machines of several kinds: which kind gets which work, over which way, and what it gains."""

from __future__ import annotations

from itertools import permutations

import pytest

from planner.errors import DesignError
from planner.evaluate import evaluate
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.hardware import hardware, second_kind
from planner.performance.serving_assignment import way_of
from planner.scenario.load import load_scenario
from planner.scenario.remedies import applied
from tests.mixed_plan import KEY, NAME, WISH, evaluated, named, shelf, tokens, value


def test_auto_is_the_better_of_both_assignments_and_says_by_how_much() -> None:
    ways = {pair: tokens(named(*pair)) for pair in permutations(("new", "there"))}
    best, other = max(ways.values()), min(ways.values())
    found = evaluated()
    assert ways["new", "there"] == best
    assert value(found, "output_tokens_per_s_per_gpu") == pytest.approx(best, rel=1e-12)
    assert value(found, "pools.other_output_tokens_per_s_per_gpu") == pytest.approx(other, rel=1e-12)
    assert value(found, "pools.assignment_gain_fraction") == pytest.approx(best / other - 1, rel=1e-9)
    line = found.ledger[f"{KEY}.pools.assignment_gain_fraction"]
    assert "prefill on B200" in line.label and "prefill on H200" in line.note
    stated = evaluated(named("new", "there")).ledger
    assert f"{KEY}.pools.assignment_gain_fraction" not in stated


def test_three_kinds_try_every_pair_and_the_third_waits() -> None:
    found = evaluated(
        "cluster.groups=[{id: a, server: hgx-b200, gpus: 128}, {id: b, server: hgx-h200, gpus: 128}, "
        "{id: c, server: hgx-h100, gpus: 64}]"
    )
    assert found.built is not None
    pools = found.built.performance.served[0].pools
    assert pools is not None and pools.gpus == 320
    shares = {
        one: sum(value(found, f"pools.{one}.{pool}_share_fraction") for pool in ("prefill", "decode"))
        for one in ("hgx-b200", "hgx-h200", "hgx-h100")
    }
    assert sorted(shares.values())[0] == 0.0 and value(found, "pools.idle_gpus") >= 64
    idle = min(shares, key=lambda one: shares[one])
    # a kind in neither pool is ready and does nothing
    assert found.ledger.scalar(f"power.activity.chat.{idle}.memory_fraction") == 0.0


def test_caches_move_at_the_slower_end() -> None:
    found = evaluated("cluster.groups.new.server=hgx-b300", "network.nic=connectx-7-400g")
    assert found.built is not None
    parts = found.built.cluster.parts
    book = Ledger(months=1)
    for key in ("network.nic_rate_gbit_per_s", "network.leaf.oversubscription"):
        book.given(key, key, "1", found.ledger.scalar(key), parts.groups[0].nic.source("id"))
    assumed = Assumed(book, parts.catalog)
    machines = [
        hardware(assumed, found.built.cluster, found.loaded.scenario.workloads[0].precision, one)
        for one in parts.groups
    ]
    rates = [float(one.links.outside.bytes_per_s[0]) for one in machines]
    for pair in permutations(machines):
        assert way_of(assumed, found.built.cluster, *pair, 0).rank_bytes_per_s[0] == min(rates)
    assert second_kind(found.built.cluster, parts.groups[0]) == ""
    assert second_kind(found.built.cluster, parts.groups[1]) == "h200-sxm-141gb."


def test_pools_without_a_network_are_refused() -> None:
    found = evaluate(
        load_scenario(NAME, changes=["network.topology=none", "cluster.groups.there.gpus=8",
                                     "cluster.groups.new.gpus=8"]), shelf(),
    )  # fmt: skip
    assert found.refusal is not None


def test_sizes_of_replicas_are_kept() -> None:
    set_ = evaluated(f"{WISH}={{prefill_replica_gpus: 2, decode_replica_gpus: 4}}")
    assert value(set_, "pools.prefill_replica_gpus") == 2 and value(set_, "pools.decode_replica_gpus") == 4
    assert value(set_, "replica_gpus") == 4
    assert value(set_, "output_tokens_per_s_per_gpu") <= tokens() * (1 + 1e-9)
    half = evaluated(f"{WISH}={{prefill_replicas: 32, prefill_replica_gpus: 4, decode_replicas: 16}}")
    assert value(half, "pools.prefill_replicas") == 32 and value(half, "pools.decode_replicas") == 16


def test_a_prefill_replica_holds_the_weights() -> None:
    # 141 GB of bf16 weights leave an H100 or H200 of one GPU no room
    found = evaluated(
        "cluster.groups.new.server=hgx-h100", "workloads.chat.precision=bf16", named("new", "there")
    )
    assert value(found, "pools.prefill_replica_gpus") >= 2


@pytest.mark.parametrize(
    ("change", "said", "field"),
    [
        ("workloads.chat.slo.ttft_p99_s=0.01", "TTFT p99 is ", "ttft_p99_s"),
        ("workloads.chat.slo.tpot_p99_s=0.002", "TPOT p99 is ", "tpot_p99_s"),
        ("workloads.chat.slo.tpot_p99_s=1e-7", "its limit 0.0001 ms", "tpot_p99_s"),
    ],
)
def test_the_limit_in_the_way_is_named_and_the_offered_one_is_kept(
    change: str, said: str, field: str
) -> None:
    loaded = load_scenario(NAME, changes=[change])
    refusal = evaluate(loaded, shelf()).refusal
    assert isinstance(refusal, DesignError)
    [problem] = refusal.problems
    assert "no separate pools" in problem.message and said in problem.message
    [wider] = [one for one in problem.offered if one.path == ("workloads", 0, "slo", field)]
    mended = evaluate(applied(loaded, wider), shelf())
    assert mended.built is not None and value(mended, field) <= wider.value
    # already the best split: no use to offer it
    assert not any(one.value == "auto" for one in problem.offered)


def test_replicas_too_small_for_the_weights_are_named() -> None:
    loaded = load_scenario(
        NAME, changes=[f"{WISH}={{decode_replica_gpus: 1}}", "workloads.chat.model=llama-3.1-405b"]
    )
    refusal = evaluate(loaded, shelf()).refusal
    assert isinstance(refusal, DesignError)
    [problem] = refusal.problems
    assert "a decode replica of 1 GPU doesn't hold the weights" in problem.message
    [best] = [one for one in problem.offered if one.value == "auto"]
    assert evaluate(applied(loaded, best), shelf()).built is not None
