"""Machines of a plan with several kinds: each with its own figures."""

from __future__ import annotations

import pytest

from planner.evaluate import evaluate
from planner.scenario.load import load_scenario
from tests.mixed_plan import KEY, NAME, WISH, evaluated, shelf, value


def test_pools_have_the_machines_of_their_groups() -> None:
    found = evaluated()
    assert found.built is not None
    served = found.built.performance.served[0]
    peaks = [float(one.server.chip.peak_flop_per_s[0]) for one in served.placed]
    assert [one.group.wish.id for one in served.placed] == ["new", "there"] and peaks[0] > 2 * peaks[1]
    assert served.server is served.placed[1].server
    inputs = found.ledger.inputs_of(f"{KEY}.output_tokens_per_s_per_gpu")
    for accelerator in ("b200-sxm-180gb", "h200-sxm-141gb"):
        for figure in ("fp8_tflop_per_s", "memory_bandwidth_gbyte_per_s"):
            line = found.ledger[f"accelerator.{accelerator}.{figure}"]
            assert line.key in inputs and line.source is not None and line.source.as_of
    # scale-up links of two kinds are two bands
    bands = [f"calibration.{own}scale_up_time_ratio" for own in ("", "h200-sxm-141gb.")]
    assert all(one in inputs for one in bands)


def test_a_precision_that_one_kind_lacks_is_said_of_that_kind() -> None:
    refusal = evaluate(load_scenario(NAME, changes=["workloads.chat.precision=fp4"]), shelf()).refusal
    assert refusal is not None and "H200 141GB SXM5 has no fp4 arithmetic" in str(refusal)


def test_saturation_is_the_mean_of_the_kinds() -> None:
    each = [
        value(
            evaluated(f"cluster.groups=[{{id: one, server: {one}, gpus: 256}}]", f"{WISH}=null"),
            "output_tokens_per_s_per_gpu_saturated",
        )
        for one in ("hgx-b200", "hgx-h200")
    ]
    assert value(evaluated(), "output_tokens_per_s_per_gpu_saturated") == pytest.approx(
        sum(each) / 2, rel=1e-9
    )


def test_a_power_cap_holds_for_each_kind_by_its_own_limit() -> None:
    capped = evaluated("site.power_cap_fraction=0.7")
    inputs = capped.ledger.inputs_of(f"{KEY}.output_tokens_per_s_per_gpu")
    assert {f"accelerator.{one}.tdp_w" for one in ("b200-sxm-180gb", "h200-sxm-141gb")} <= set(inputs)
    assert value(capped, "output_tokens_per_s_per_gpu") < value(evaluated(), "output_tokens_per_s_per_gpu")
    for server in ("hgx-b200", "hgx-h200"):
        key = f"watts.{server}.peak_w"
        assert capped.ledger.scalar(key) < 0.85 * evaluated().ledger.scalar(key)
