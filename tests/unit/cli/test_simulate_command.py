"""`planner simulate`: tails, saturation, pools and wrong options."""

from __future__ import annotations

import json

import pytest

from planner.cli.app import run_app

SHORT = ["simulate", "h200-serving-fleet", "--requests", "1500"]


def answer(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, object]]:
    """Exit code and JSON of a run."""
    code = run_app([*SHORT, *options, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_same_seed_gives_the_same_answer_and_another_one_doesn_t(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second, other = (answer(capsys, "--seed", seed)[1] for seed in ("1", "1", "2"))
    assert first == second
    assert first["latencies_s"] != other["latencies_s"]


def test_a_saturated_fleet_has_a_capacity_and_no_latencies(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "--rate", "5000")
    assert code == 1
    assert found["saturated"] is True
    assert found["latencies_s"] is None
    assert found["closed_form_s"] is None
    assert run_app([*SHORT, "--rate", "5000"]) == 1
    assert f"saturated at {found['capacity_requests_per_s']:,.4g} requests/s" in capsys.readouterr().out


def test_pools_are_compared_on_the_same_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "--pools")
    pools = found["pools"]
    assert code == 0
    assert isinstance(pools, dict)
    used = pools["prefill_replicas"] * pools["prefill_replica_gpus"]
    used += pools["decode_replicas"] * pools["decode_replica_gpus"]
    assert used <= 512
    assert pools["tpot_p99_s"] <= 0.05
    assert pools["gain_fraction"] == pytest.approx(
        pools["requests_per_s"] / pools["together_requests_per_s"] - 1.0
    )


def test_every_wrong_option_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    code = run_app(
        [*SHORT, "--routing", "robin", "--classes", "1,2", "--prefixes", "5", "--arrivals", "trace"]
    )
    said = capsys.readouterr().err
    assert code == 2
    for option in ("--routing", "--classes", "--prefixes", "--arrivals trace"):
        assert option in said
