"""Lines of separate pools on machines of several kinds: what they gain, and what corrects them."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.evaluate import evaluate
from planner.performance.serving_corrected import endpoint_for
from planner.scenario.load import load_scenario
from tests.mixed_plan import NAME, WISH, evaluated, named, shelf, tokens, value
from tests.unit.performance.test_serving_anchors import anchors, table


def test_the_gain_is_against_each_kind_by_itself() -> None:
    found = evaluated()
    each = []
    for server in ("hgx-b200", "hgx-h200"):
        alone = tokens(f"cluster.groups=[{{id: one, server: {server}, gpus: 256}}]", f"{WISH}=null")
        assert value(found, f"pools.{server}.together_output_tokens_per_s_per_gpu") == pytest.approx(
            # each kind's network is smaller alone, and replicas stay inside a domain
            alone, rel=1e-9,
        )  # fmt: skip
        each.append(alone)
    gain = value(found, "output_tokens_per_s_per_gpu") / (sum(each) / 2) - 1
    assert value(found, "pools.gain_fraction") == pytest.approx(gain, rel=1e-9)


def test_servers_draw_by_the_pool_that_they_are_in() -> None:
    ledger = evaluated().ledger

    def time(server: str, part: str) -> float:
        return ledger.scalar(f"power.activity.chat.{server}.{part}_fraction")

    assert time("hgx-b200", "arithmetic") > time("hgx-h200", "arithmetic")
    assert time("hgx-h200", "memory") > 0.5
    busy = value(evaluated(), "pools.prefill_busy_fraction")
    assert sum(time("hgx-b200", part) for part in ("arithmetic", "memory", "waiting")) == pytest.approx(
        busy * value(evaluated(), "pools.hgx-b200.prefill_share_fraction")
    )
    swapped = evaluated(named("there", "new")).ledger
    for server in ("hgx-b200", "hgx-h200"):
        key = f"watts.{server}.typical_w"
        assert ledger.scalar(key) != swapped.scalar(key)
        assert ledger.scalar(f"watts.{server}.peak_w") == swapped.scalar(f"watts.{server}.peak_w")


def test_prompts_are_charged_for_the_servers_that_compute_them() -> None:
    ledger = evaluated().ledger
    new, there = (ledger.scalar(f"capex.{one}_usd") for one in ("hgx-b200", "hgx-h200"))
    share = ledger.scalar("unit.prefill_cost_share_fraction")
    assert share == pytest.approx(new / (new + there)) and share > 0.5
    asked = ledger.scalar("unit.usd_per_mtoken_input") * 2048 / 512
    assert asked + ledger.scalar("unit.usd_per_mtoken_output_decode") == pytest.approx(
        ledger.scalar("unit.usd_per_mtoken_output")
    )


@pytest.mark.parametrize(("token", "first"), [(1.3, 1.3), (2.5, 1.0), (0.6, 0.6)])
def test_pools_keep_the_objective_as_measured_runs_correct_it(
    tmp_path: Path, token: float, first: float
) -> None:
    mine = table(tmp_path / "mine.csv", anchors(shelf(), token=token, first=first))
    rates = {}
    for wish in (named("new", "there"), named("there", "new"), f"{WISH}=auto"):
        found = evaluate(load_scenario(NAME, changes=[wish, f"anchors=[{mine}]"]), shelf())
        assert found.built is not None, found.refusal
        assert value(found, "tpot_p99_s") <= 0.05 and value(found, "ttft_p99_s") <= 2.0
        rates[wish] = value(found, "output_tokens_per_s_per_gpu")
    auto = rates.pop(f"{WISH}=auto")
    # the better assignment by true rates, not by predicted ones
    assert auto == pytest.approx(max(rates.values()), rel=1e-12)
    assert value(found, "pools.other_output_tokens_per_s_per_gpu") == pytest.approx(
        min(rates.values()), rel=1e-12
    )


def test_a_hand_calibrated_ratio_is_kept_to() -> None:
    slow = (
        "overrides={performance.serving.model_error_ratio: {value: 1.4, unit: '1', reason: seen on our own}}"
    )
    found = evaluate(load_scenario(NAME, changes=[slow]), shelf())
    assert found.built is not None, found.refusal
    assert value(found, "model_error_ratio") == 1.4 and 0.036 < value(found, "tpot_p99_s") <= 0.05
    assert value(found, "ttft_p99_s") <= 2.0


def test_anchors_correct_the_pool_of_their_accelerator(tmp_path: Path) -> None:
    mine = table(tmp_path / "mine.csv", anchors(shelf(), token=1.3, first=0.5))
    plain = evaluated(named("new", "there"))
    found = evaluate(load_scenario(NAME, changes=[named("new", "there"), f"anchors=[{mine}]"]), shelf())
    assert found.built is not None, found.refusal
    ratio = value(found, "model_error_ratio")
    # points are of H200, which decodes here; prompts are on B200, of which there are none
    assert 1.2 < ratio < 1.3 and value(found, "first_token_error_ratio") == 1.0
    assert value(found, "tpot_p99_s") <= 0.05 and value(found, "ttft_p99_s") <= 2.0
    # times are longer than predicted, and tokens fewer, though not by all of it: each token keeps its limit still
    assert value(found, "tpot_mean_s") > 1.2 * value(plain, "tpot_mean_s")
    key = "pools.hgx-b200.together_output_tokens_per_s_per_gpu"
    assert value(found, key) == pytest.approx(value(plain, key))
    key = "pools.hgx-h200.together_output_tokens_per_s_per_gpu"
    assert value(found, key) < value(plain, key) / ratio
    swapped = evaluate(load_scenario(NAME, changes=[named("there", "new"), f"anchors=[{mine}]"]), shelf())
    assert value(swapped, "model_error_ratio") == 1.0 and value(swapped, "first_token_error_ratio") < 1.0
    groups = found.built.cluster.parts.groups
    asked = found.loaded.scenario.workloads[0]
    assert endpoint_for(found.built.cluster, asked, groups[0]) is None
    assert endpoint_for(found.built.cluster, asked, groups[1]) is not None
