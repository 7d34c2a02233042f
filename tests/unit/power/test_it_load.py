"""Electrical load of a plan, part by part and by state."""

from __future__ import annotations

import pytest

from planner.design.inventory import State
from tests.unit.power.parts import planned, value

SERVING = "  - {id: chat, kind: serving, model: llama-3.1-8b, precision: fp8, input_tokens: 1000, output_tokens: 300, share_fraction: 0.4}"


def test_totals_are_counts_times_watts() -> None:
    plan = planned()
    assert plan.built is not None
    for state, key in (
        (State.IDLE, "power.it_idle_w"),
        (State.TYPICAL, "power.it_w"),
        (State.PEAK, "power.it_peak_w"),
    ):
        parts = [value(plan, load.watts[state].key) for load in plan.built.loads]
        assert value(plan, key) == pytest.approx(sum(parts))
    assert value(plan, "power.hgx-h200.typical_w") == pytest.approx(
        8 * value(plan, "watts.hgx-h200.typical_w")
    )


def test_states_rise_from_idle_to_nameplate() -> None:
    plan = planned()
    keys = ("power.it_idle_w", "power.it_w", "power.it_peak_w", "power.it_nameplate_w")
    watts = [value(plan, key) for key in keys]
    assert watts == sorted(watts) and len(set(watts)) == 4


def test_a_mixed_plan_draws_between_training_and_inference() -> None:
    plan = planned(more=SERVING)
    training, inference = value(plan, "power.it_training_w"), value(plan, "power.it_inference_w")
    assert min(training, inference) < value(plan, "power.it_w") < max(training, inference)


def test_work_that_waits_more_draws_less() -> None:
    near, far = planned(gpus=64), planned(gpus=1024, site="limit_mw: 10")
    waited = [value(plan, "power.activity.job.waiting_fraction") for plan in (near, far)]
    drawn = [value(plan, "watts.hgx-h200.typical_w") for plan in (near, far)]
    assert (waited[0] < waited[1]) == (drawn[0] > drawn[1])
    assert waited[0] != waited[1]


def test_shares_of_time_come_from_the_predicted_step() -> None:
    plan = planned()
    shares = [
        value(plan, f"power.activity.job.{part}_fraction") for part in ("arithmetic", "memory", "waiting")
    ]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] == pytest.approx(value(plan, "performance.training.hfu_fraction") / 0.75)


def test_a_draw_reaches_its_sources() -> None:
    plan = planned()
    keys, waiting = set(), ["power.it_w"]
    while waiting:
        key = waiting.pop()
        if key not in keys:
            keys.add(key)
            waiting += plan.ledger.inputs_of(key)
    assert "assumption.accelerator_memory_w_per_tbyte_per_s" in keys
    assert "conversion.psu-titanium.efficiency_at_50_percent_fraction" in keys
    assert plan.ledger["accelerator.h200-sxm-141gb.tdp_w"].source is not None
