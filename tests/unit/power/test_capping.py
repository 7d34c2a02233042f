"""A power limit on accelerators: draw and throughput of a plan."""

from __future__ import annotations

import pytest

from tests.unit.power.parts import planned, value

SERVING = "  - {id: chat, kind: serving, model: llama-3.1-8b, precision: fp8, input_tokens: 1000, output_tokens: 300, share_fraction: 0.4}"


def test_a_limit_lowers_the_draw_and_slows_training_and_serving() -> None:
    free, capped = planned(more=SERVING), planned(more=SERVING, site="power_cap_fraction: 0.6")
    for key in ("power.it_w", "power.it_peak_w", "performance.serving.output_tokens_per_s_per_gpu"):
        assert value(capped, key) < value(free, key)
    assert value(capped, "performance.training.step_s") > value(free, "performance.training.step_s")
    assert value(capped, "power.it_idle_w") == pytest.approx(value(free, "power.it_idle_w"), rel=0.02)


def test_a_limit_saves_more_power_than_it_costs_in_throughput() -> None:
    free, capped = planned(), planned(site="power_cap_fraction: 0.7")
    watts = value(capped, "power.it_w") / value(free, "power.it_w")
    rate = value(free, "performance.training.step_s") / value(capped, "performance.training.step_s")
    assert 0.75 < watts < 0.9
    assert 0.75 < rate < 0.95


def test_no_limit_looks_up_nothing_about_limits() -> None:
    plan = planned()
    assert "watts.hgx-h200.job.cap_saving_fraction" not in plan.ledger
    assert value(planned(site="power_cap_fraction: 1.0"), "power.it_w") == value(plan, "power.it_w")
