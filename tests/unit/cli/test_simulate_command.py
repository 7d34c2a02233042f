"""`planner simulate`: tails, saturation, pools and wrong options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app

SHORT = ["simulate", "h200-serving-fleet", "--requests", "4000"]


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


def test_a_run_that_goes_on_rising_has_no_firm_latencies(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answer(capsys, "--requests", "1000")
    assert code == 1
    assert found["settled"] is False
    assert found["latencies_s"] is None
    assert found["reached_latencies_s"] is not None
    assert run_app([*SHORT, "--requests", "1000"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "latencies depend on the length of the run" in said
    assert "--requests 4000" in said


def test_anchors_correct_a_simulation_and_are_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = tmp_path / "mine.csv"
    head = "model,gpu,engine,precision,concurrency,isl,osl,ttft_ms,tpot_ms,tp"
    rows = [
        f"llama-3.1-70b,h200,vllm,fp8,{count},2048,512,{300 + 20 * count},{18 + count / 2},2"
        for count in (1, 16, 64)
    ]
    table.write_text("\n".join([head, *rows]) + "\n")
    plain, corrected = answer(capsys)[1], answer(capsys, "--anchor", str(table))[1]
    ratio = corrected["per_token_error_ratio"]
    assert isinstance(ratio, float)
    assert ratio > 1.05
    assert plain["per_token_error_ratio"] == 1.0
    rate = corrected["offered_requests_per_s"]
    assert rate != plain["offered_requests_per_s"]
    assert run_app([*SHORT, "--anchor", str(table)]) in (0, 1)
    assert f"{ratio:.3g} times as predicted for each token" in " ".join(capsys.readouterr().out.split())


def test_hits_are_given_or_follow_from_prefixes(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "--prefix-hits", "0.5")[1]
    assert found["prefix_hit_fraction"] == pytest.approx(0.5, abs=0.001)
    assert run_app([*SHORT, "--prefix-hits", "0.5", "--prefixes", "5:1000:0.5"]) == 2
    assert "--prefix-hits" in capsys.readouterr().err


def test_prefixes_longer_than_prompts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app([*SHORT, "--prefixes", "50:9000:0.9"]) == 2
    assert "9,000 tokens are as long as 100% of the prompts or longer" in capsys.readouterr().err


def test_the_plans_hits_are_taken_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    plan = ("--set", "workloads.0.prefix_hit_fraction=0.4")
    shares = [
        answer(capsys, *plan, *more)[1]["prefix_hit_fraction"]
        for more in ((), ("--prefix-hits", "0"), ("--prefix-hits", "0.2"))
    ]
    assert shares == pytest.approx([0.4, 0.0, 0.2], abs=0.001)
