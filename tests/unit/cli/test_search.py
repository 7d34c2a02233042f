"""The search command: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.cli import search as module
from planner.cli.app import run_app

Capture = pytest.CaptureFixture[str]
LAB = "h100-8-lab"


def answer(capsys: Capture, *arguments: str) -> dict:  # type: ignore[type-arg]
    """JSON of a search that succeeds."""
    assert run_app(["search", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_the_table_says_what_was_tried_and_fits_80_columns(capsys: Capture) -> None:
    assert run_app(["search", "gb200-nvl72-16", "--top", "3", "--set", "cluster.groups.0.gpus=144"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert " plans, " in lines[0] and "fit the memory" in lines[0]
    for part in (
        "axes",
        "  expert tensor  ",
        "by time: the shortest step",
        "by cost: ",
        "by energy: ",
        "refused",
    ):
        assert part in text


def test_programs_get_counts_axes_and_rankings(capsys: Capture) -> None:
    found = answer(capsys, LAB, "--top", "4")
    assert found["plans_tried"] == found["plans_fitting"] + sum(
        count for reason, count in found["refused"].items() if reason.startswith("plans: ")
    )
    assert set(found["best"]) == {"time", "cost", "energy"}
    for goal, key in (("time", "step_s"), ("cost", "usd"), ("energy", "kwh")):
        values = [plan[key] for plan in found["best"][goal]]
        assert values == sorted(values) and len(values) == 4
    for plan in found["best"]["time"]:
        assert sum(plan["parts_s"].values()) == pytest.approx(plan["step_s"], rel=1e-12)
        degrees = plan["plan"]
        accumulated = degrees["data"] * degrees["microbatch"] * degrees["gradient_accumulation"]
        assert accumulated == found["batch_sequences"]
    assert found["best"]["time"][0]["why_not_first"] is None
    assert all(plan["why_not_first"] for plan in found["best"]["time"][1:])


def test_the_best_plan_put_into_the_scenario_takes_the_time_it_was_found_with(capsys: Capture) -> None:
    found = answer(capsys, LAB, "--top", "50")
    for writable in found["best"]["time"][::7]:
        wish = json.dumps(writable["scenario_plan"])
        key = "performance.training.step_s"
        assert run_app(["explain", LAB, key, "--set", f"workloads.0.plan={wish}", "--json"]) == 0
        explained = json.loads(capsys.readouterr().out)
        assert explained["value"] == pytest.approx(writable["step_s"], rel=1e-12)


def test_the_scenarios_own_plan_is_marked_where_it_is_among_the_best(capsys: Capture) -> None:
    second = answer(capsys, LAB, "--top", "3")["best"]["time"][1]
    wish = f"workloads.0.plan={json.dumps(second['scenario_plan'])}"
    found = answer(capsys, LAB, "--top", "3", "--set", wish)
    assert found["own_plan"]["rank"] == 2
    assert found["own_plan"]["plan"] == second["plan"]
    assert found["own_plan"]["step_s"] == pytest.approx(second["step_s"], rel=1e-12)
    assert run_app(["search", LAB, "--top", "3", "--set", wish]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(" 2* ")]
    assert "* the scenario's own plan, number 2" in lines


def test_a_plan_beyond_the_searched_axes_stands_beside_the_table(capsys: Capture) -> None:
    wish = "workloads.0.plan={tensor: 2, sharding: none, offload: [optimiser], local_steps: 8}"
    found = answer(capsys, LAB, "--top", "3", "--set", wish)
    own, best = found["own_plan"], found["best"]["time"][0]
    assert own["rank"] is None and own["step_s"] > best["step_s"] and own["why_not_first"]
    assert own["scenario_plan"] == {
        "tensor": 2, "pipeline": 1, "data": 4, "microbatch": 1, "recompute": "none", "sharding": "none",
        "offload": ["optimiser"], "local_steps": 8,
    }  # fmt: skip
    assert run_app(["search", LAB, "--top", "3", "--set", wish]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "optimiser in host memory" in " ".join(text.split())
    assert answer(capsys, LAB)["own_plan"] is None


def test_an_own_plan_that_cannot_run_says_why(capsys: Capture) -> None:
    found = answer(capsys, LAB, "--set", "workloads.0.plan={tensor: 3}")
    assert "doesn't divide" in found["own_plan"]["why_not"]
    assert run_app(["search", LAB, "--set", "workloads.0.plan={tensor: 3}"]) == 0
    assert "the scenario's own plan can't run" in capsys.readouterr().out


def test_the_zero_bubble_schedule_is_tried_where_the_scenario_has_it(capsys: Capture) -> None:
    plain = answer(capsys, LAB)
    wish = "workloads.0.plan={pipeline: 2, schedule: zero-bubble, recompute: full}"
    wider = answer(capsys, LAB, "--set", wish)
    assert plain["axes"]["zero_bubble"] == [0] and wider["axes"]["zero_bubble"] == [0, 1]
    assert wider["plans_tried"] > plain["plans_tried"]
    assert wider["own_plan"]["scenario_plan"]["schedule"] == "zero-bubble"


def test_sharding_inside_a_node_is_tried_where_the_data_group_is_wider(capsys: Capture) -> None:
    found = answer(
        capsys,
        LAB,
        "--set",
        "cluster.groups.0.gpus=16",
        "--set",
        "network={topology: single-switch, leaf: {switch: qm9700}}",
    )
    assert 8 in found["axes"]["hybrid_shard_ranks"]


def test_the_same_search_gives_the_same_bytes(tmp_path: Path, capsys: Capture) -> None:
    for name in ("a.json", "b.json", "a.csv", "b.csv"):
        assert run_app(["search", LAB, "-o", str(tmp_path / name)]) == 0
    assert f"{tmp_path / 'b.csv'}: written" in capsys.readouterr().err
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    plans = json.loads((tmp_path / "a.json").read_text())["best"]
    assert len(rows) == sum(map(len, plans.values()))
    assert float(rows[0]["step_s"]) == plans["time"][0]["step_s"]


def test_a_plan_of_the_scenario_does_not_narrow_the_search(capsys: Capture) -> None:
    free = answer(capsys, LAB)
    typed = answer(capsys, LAB, "--set", "workloads.0.plan={tensor: 2, sharding: fsdp}")
    assert typed["plans_tried"] == free["plans_tried"]
    assert typed["best"]["time"][0]["plan"] == free["best"]["time"][0]["plan"]


def test_wrong_options_are_said_all_at_once(capsys: Capture, tmp_path: Path) -> None:
    assert run_app(["search", LAB, "--by", "tme", "-o", str(tmp_path / "plans.txt")]) == 2
    said = capsys.readouterr().err
    assert "--by: no goal 'tme'" in said and "nearest: time" in said
    assert "CSV or JSON" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["h200-serving-fleet", "--workload", "cat"],
            "has no training workload, and only these have plans to search",
        ),
        ([LAB, "--workload", "finetun"], "no training workload 'finetun' (nearest: finetune)"),
        ([LAB, "--set", "workloads.0.model=llama-3.1-405b"], "memory: the leanest of"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_a_remedy(
    arguments: list[str], said: str, capsys: Capture
) -> None:
    assert run_app(["search", *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_a_long_search_shows_its_progress_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(module, "SHORT_SEARCH", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    seen = []
    with module._progress(100) as progress:
        assert progress is not None
        progress(40, 100)
        seen.append(40)
    assert run_app(["search", LAB, "--top", "1"]) == 0
    assert capsys.readouterr().out.startswith("llama")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with module._progress(100) as progress:
        assert progress is None


def wait_for_work(pid: int, *, cpu_s: float) -> None:
    """Sleep until a process has used so much CPU time; a second where the system doesn't say."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        time.sleep(1.0)
        return
    ticks = os.sysconf("SC_CLK_TCK")
    while True:
        used = sum(int(one) for one in stat.read_text().rpartition(")")[2].split()[11:13]) / ticks
        if used >= cpu_s:
            return
        time.sleep(0.02)


def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "planner", "search", "gb200-nvl72-16", "-o", str(tmp_path / "plans.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        # 23 million plans take seconds; half a second of work is after the start, however busy the machine is
        wait_for_work(running.pid, cpu_s=0.5)
        os.kill(running.pid, signal.SIGINT)
        _, error = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"Traceback" not in error
    assert not list(tmp_path.iterdir())
