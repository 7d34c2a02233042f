"""What tokens cost, and what a joule brings."""

from __future__ import annotations

from functools import cache

import pytest

from planner.evaluate import evaluate
from planner.ledger import Ledger
from tests.serving_fleet import fleet, shelf

KEY = "performance.serving"


@cache
def ledger(*changes: str) -> Ledger:
    found = evaluate(fleet(*changes), shelf())
    assert found.built is not None
    return found.ledger


def value(key: str, *changes: str) -> float:
    return ledger(*changes).scalar(key)


def test_input_and_output_tokens_pay_for_the_whole_hour() -> None:
    requests = value(f"{KEY}.output_tokens_per_s_per_gpu") / 512 * 3600 * value(f"{KEY}.goodput_fraction")
    cost = 2048 * value("unit.usd_per_mtoken_input") + 512 * value("unit.usd_per_mtoken_output_decode")
    assert requests * cost / 1e6 == pytest.approx(value("unit.usd_per_gpu_hour_sold"), rel=1e-12)


def test_the_split_is_by_gpu_time() -> None:
    share = value("unit.usd_per_mtoken_input") * 2048 / (value("unit.usd_per_mtoken_output") * 512)
    assert share == pytest.approx(value(f"{KEY}.prefill_share_fraction"), rel=1e-12)
    assert 0.0 < share < 1.0


def test_a_longer_prompt_costs_more_and_so_does_the_answer_that_bears_it() -> None:
    long = "workloads.chat.input_tokens=6144"
    assert 6144 * value("unit.usd_per_mtoken_input", long) > 2048 * value("unit.usd_per_mtoken_input")
    assert value("unit.usd_per_mtoken_output", long) > value("unit.usd_per_mtoken_output")


def test_all_tokens_cost_their_mean() -> None:
    both = (
        2048 * value("unit.usd_per_mtoken_input") + 512 * value("unit.usd_per_mtoken_output_decode")
    ) / 2560
    assert value("unit.usd_per_mtoken_total") == pytest.approx(both, rel=1e-12)


def test_saturation_is_the_floor_and_a_tighter_objective_costs_more() -> None:
    tight = "workloads.chat.slo.tpot_p99_s=0.02"
    floor = value("unit.usd_per_mtoken_output_saturated")
    assert floor < value("unit.usd_per_mtoken_output") < value("unit.usd_per_mtoken_output", tight)
    assert value("unit.usd_per_mtoken_output_saturated", tight) == pytest.approx(floor, rel=0.05)
    premium = value("unit.usd_per_mtoken_output") / floor - 1
    assert value("unit.objective_premium_fraction") == pytest.approx(premium, rel=1e-12)


def test_no_latency_is_promised_without_limits() -> None:
    loose = ("workloads.chat.slo.ttft_p99_s=1000000", "workloads.chat.slo.tpot_p99_s=1000000")
    assert value("unit.objective_premium_fraction", *loose) == pytest.approx(0.0, abs=0.02)


def test_tokens_of_a_joule_are_rate_over_power_at_the_meter() -> None:
    rate = value(f"{KEY}.output_tokens_per_s") * value(f"{KEY}.goodput_fraction")
    assert value("unit.tokens_per_j") == pytest.approx(rate / value("power.facility_inference_w"), rel=1e-12)
    assert value("unit.total_tokens_per_j") == pytest.approx(5 * value("unit.tokens_per_j"), rel=1e-12)
    meter = value("power.it_inference_w") * value("power.pue")
    assert value("power.facility_inference_w") == pytest.approx(meter, rel=1e-12)


def test_at_a_load_every_installed_hour_is_paid() -> None:
    load = "workloads.chat.load.requests_per_s=200"
    hour = value("unit.usd_per_gpu_hour", load) * 512
    assert value("unit.usd_per_mtoken_output_at_load", load) == pytest.approx(
        hour / (200 * 512 * 3600) * 1e6, rel=1e-12
    )
    assert "unit.usd_per_mtoken_output_at_load" not in ledger()


def test_every_cost_has_its_definition() -> None:
    for line in ledger("workloads.chat.load.requests_per_s=200"):
        if line.key.startswith(("unit.usd_per_mtoken", "unit.tokens_per_j", "rent.usd_per_mtoken")):
            assert line.note, line.key
