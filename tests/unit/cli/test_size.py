"""The search command for a serving workload."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.app import run_app
from planner.cli.size import serving_workload
from planner.scenario.load import load_scenario

Capture = pytest.CaptureFixture[str]
FLEET = "h200-serving-fleet"
RATE = ("--rate", "300")


def answer(capsys: Capture, *arguments: str) -> Any:
    assert run_app(["search", FLEET, *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_table_fits_80_columns_and_defines_every_cost(capsys: Capture) -> None:
    regions = "[{id: eu, share_fraction: 0.5}, {id: us, share_fraction: 0.5, utc_offset_hours: -6.0}]"
    day = [0.3] * 10 + [1.0] * 14
    assert run_app([
        "search", FLEET, *RATE, "--spare", "1", "--set", f"workloads.chat.load.regions={regions}",
        "--set", f"workloads.chat.load.hourly_fraction={day}",
    ]) == 0  # fmt: skip
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    for part in (
        "by gpus: the fewest GPUs", "N+1 replicas in 2 regions", "output, prompts included",
        "share of GPU time in prompts", "at saturation", "rented, autoscaled", "at an API", "tokens/J",
        "throughput against interactivity", "NICs, 400 Gbit/s a GPU", "to have it  cluster.groups.0.gpus=",
    ):  # fmt: skip
        assert part in text


def test_programs_get_fleets_front_and_network(capsys: Capture) -> None:
    found = answer(capsys, *RATE)
    fleets = found["fleets"]
    assert [one["gpus"] for one in fleets] == sorted(one["gpus"] for one in fleets)
    assert {one["precision"] for one in fleets} == {"fp8", "bf16"}
    best = fleets[0]
    assert best["at_the_peak"]["tpot_p99_s"] <= found["tpot_p99_s"]
    assert best["at_the_peak"]["ttft_p99_s"] <= found["ttft_p99_s"]
    assert best["fields"] == {"cluster.groups.0.gpus": best["gpus"]}
    speeds = [one["output_tokens_per_s_per_user"] for one in found["pareto"]]
    assert speeds == sorted(speeds, reverse=True)
    assert [one["replica_gpus"] for one in found["network"]["domain"]] == [1, 2, 4, 8]
    assert set(found["definitions"]) >= {"usd_per_mtoken_input", "usd_per_mtoken_output"}
    assert best["rental"]["as_of"] and best["api"][0]["as_of"]


def test_without_a_load_the_plans_own_gpus_are_the_measure(capsys: Capture) -> None:
    found = answer(capsys)
    assert not found["load"]["stated"]
    assert found["fleets"][0]["gpus"] == pytest.approx(512, abs=16)


def test_other_servers_and_goals_are_ranked(capsys: Capture) -> None:
    servers = ("--server", "hgx-h200", "--server", "hgx-b200", "--precision", "fp8")
    cost = answer(capsys, *RATE, *servers, "--by", "cost")["fleets"]
    energy = answer(capsys, *RATE, *servers, "--by", "energy")["fleets"]
    assert {one["server"] for one in cost} == {"hgx-h200", "hgx-b200"}
    prices = [one["usd_per_mtoken_output"] for one in cost]
    tokens = [one["tokens_per_j"] for one in energy]
    assert prices == sorted(prices) and tokens == sorted(tokens, reverse=True)
    other = next(one for one in cost if one["server"] == "hgx-b200")
    assert other["fields"]["cluster.groups.0.server"] == "hgx-b200"


def test_the_written_scenario_is_the_fleet_and_runs(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    best = answer(capsys, *RATE, "--spare", "2", "--precision", "bf16", "--write", str(path))["fleets"][0]
    scenario = load_scenario(path).scenario
    assert scenario.cluster.groups[0].gpus == best["gpus"]
    assert scenario.workloads[0].precision.value == "bf16"
    load = scenario.workloads[0].load
    assert load is not None and (load.requests_per_s, load.spare_replicas) == (300.0, 2)
    assert path.read_text().startswith("# A fleet that serves")
    again = json.loads(_run(capsys, "search", str(path), "--precision", "bf16", "--json"))
    assert again["fleets"][0]["gpus"] == best["gpus"]
    assert again["fleets"][0]["fields"]["cluster.groups.0.gpus"] == best["gpus"]


def _run(capsys: Capture, *arguments: str) -> str:
    assert run_app(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_file_takes_the_fleets_or_the_whole_answer(capsys: Capture, tmp_path: Path) -> None:
    for name in ("fleets.csv", "fleets.json"):
        assert run_app(["search", FLEET, *RATE, "-o", str(tmp_path / name)]) == 0
    capsys.readouterr()
    rows = list(csv.DictReader((tmp_path / "fleets.csv").read_text().splitlines()))
    whole = json.loads((tmp_path / "fleets.json").read_text())
    assert [int(row["gpus"]) for row in rows] == [one["gpus"] for one in whole["fleets"]]


def test_a_number_is_explained_down_to_its_source_and_date(capsys: Capture) -> None:
    said = _run(capsys, "search", FLEET, *RATE, "--explain", "sizing.usd_per_mtoken_output_autoscaled")
    assert "sizing.mean_gpus" in said and "rentals/" in said and "2026-" in said


def test_wrong_options_are_said_all_at_once(capsys: Capture, tmp_path: Path) -> None:
    there = tmp_path / "there.yaml"
    there.write_text("x: 1\n")
    assert run_app([
        "search", FLEET, *RATE, "--by", "cots", "--precision", "fp6", "--weights", "int3", "-o", "fleets.txt", "--write", str(there),
    ]) == 2  # fmt: skip
    said = capsys.readouterr().err
    for part in (
        "no goal 'cots'",
        "nearest: cost",
        "no precision 'fp6'",
        "no format 'int3'",
        "CSV or JSON",
        "is there already",
    ):
        assert part in said
    assert there.read_text() == "x: 1\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--server", "hgx-h2000"], "no server 'hgx-h2000' in the catalog (nearest: hgx-h200"),
        (["--set", "workloads.chat.slo.tpot_p99_s=0.001"], "TPOT p99 is "),
        (["--explain", "sizing.gpu"], "no ledger line 'sizing.gpu'"),
        (["--rate", "-1"], "requests_per_s"),
    ],
)
def test_what_cannot_be_sized_is_refused_with_a_remedy(
    arguments: list[str], said: str, capsys: Capture
) -> None:
    assert run_app(["search", FLEET, *(RATE if "--rate" not in arguments else ()), *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == ""


def test_a_workload_that_trains_goes_before_those_that_serve() -> None:
    assert serving_workload(FLEET, None, []) == 0
    assert serving_workload(FLEET, "chat", []) == 0
    assert serving_workload(FLEET, "nobody", []) is None
    assert serving_workload("h200-1024-ndr", None, []) is None


def test_a_fleet_is_not_written_over_the_plan_of_other_workloads(capsys: Capture, tmp_path: Path) -> None:
    both = (
        "workloads=[{id: chat, kind: serving, model: llama-3.1-8b, share_fraction: 0.5}, "
        "{id: code, kind: serving, model: llama-3.1-8b, share_fraction: 0.5}]"
    )
    path = tmp_path / "fleet.yaml"
    assert run_app(["search", FLEET, *RATE, "--set", both, "--write", str(path)]) == 2
    assert "sized for one workload" in capsys.readouterr().err
    assert not path.exists()
