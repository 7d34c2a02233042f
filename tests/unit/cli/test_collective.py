"""planner collective: the contract's keys, every wrong option at once, and profiles that go first or can't."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.app import run_app
from tests.unit.cli.test_calibrate import calibrate, table

KEYS = {
    "op", "bytes", "gpus", "nodes", "time_s", "low_s", "high_s", "algbw_gbyte_per_s", "busbw_gbyte_per_s", "algorithm",
    "limited_by", "rung", "extrapolated", "profile",
}  # fmt: skip
ASKED = ("collective", "--op", "all_reduce", "--bytes", "256M", "--gpus", "8", "--system", "dgx-h200")
Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *words: str) -> dict[str, Any]:
    assert run_app([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_answer_for_programs_has_the_keys_of_the_contract(capsys: Capture) -> None:
    found = answer(capsys, *ASKED)
    assert found.keys() >= KEYS
    assert (found["bytes"], found["gpus"], found["nodes"]) == (2**28, 8, 1)
    assert found["low_s"] < found["time_s"] < found["high_s"]
    assert found["busbw_gbyte_per_s"] == pytest.approx(1.75 * 2**28 / found["time_s"] / 1e9)
    assert (found["rung"], found["extrapolated"]) == ("scaled", False)


def test_the_text_tells_bytes_and_bits_and_where_the_figure_comes_from(capsys: Capture) -> None:
    assert run_app([*ASKED]) == 0
    out = capsys.readouterr().out
    assert "all_reduce of 256 MiB, 8 GPUs in one server or rack" in out
    bus = next(line for line in out.splitlines() if line.startswith("  bus")).split()
    gbyte, gbit = float(bus[1]), float(bus[4].replace(",", ""))
    assert bus[2] == "GB/s" and bus[5] == "Gbit/s"
    assert gbit == pytest.approx(8 * gbyte, abs=1)
    assert "scaled: h100-sxm5-80gb on the same link" in out


def test_nccl_tests_names_and_more_servers_than_needed_are_taken(capsys: Capture) -> None:
    words = ("collective", "--op", "alltoall", "--bytes", "64M", "--gpus", "16", "--system", "dgx-h100")
    near, apart = answer(capsys, *words), answer(capsys, *words, "--nodes", "16")
    assert (near["op"], near["nodes"], apart["nodes"]) == ("all_to_all", 2, 16)
    assert near["time_s"] < apart["time_s"]


def test_a_rack_beyond_what_was_measured_is_flagged(capsys: Capture) -> None:
    words = ("collective", "--op", "all_gather", "--bytes", "1M", "--gpus", "72", "--system", "gb200-nvl72")
    assert answer(capsys, *words)["extrapolated"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--op", "all_redcue", "--bytes", "many", "--dtype", "int9"), ["all_redcue", "--bytes", "int9"]),
        (("--gpus", "9"), ["9 GPUs don't spread evenly over 2 servers"]),
        (("--gpus", "16", "--nodes", "1"), ["16 GPUs don't fit", "--nodes 2"]),
        (("--system", "dgx-h20"), ["no item 'dgx-h20'", "nearest"]),
        (("--calibration", "nowhere"), ["no item 'nowhere'"]),
    ],
)
def test_wrong_options_are_told_in_words(words: tuple[str, ...], said: list[str], capsys: Capture) -> None:
    assert run_app([*ASKED, *words]) == 2
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    for one in said:
        assert one in errors


def test_a_profile_of_another_link_is_refused_and_said(capsys: Capture) -> None:
    assert run_app([*ASKED, "--calibration", "gb200.nccl-tables"]) == 0
    assert "not used: profile gb200.nccl-tables: of gb200" in capsys.readouterr().err


def test_a_profile_of_ones_own_speaks_in_a_prediction_and_in_a_run(tmp_path: Path, capsys: Capture) -> None:
    mine = tmp_path / "mine.yaml"
    assert calibrate(table(tmp_path / "measured", slower=2.0), "--as-of", "2026-05-01", "-o", mine) == 0
    capsys.readouterr()
    before, after = answer(capsys, *ASKED), answer(capsys, *ASKED, "--calibration", str(mine))
    assert (after["rung"], after["profile"]) == ("measured", "mine")
    # the table's time: 2 (10 us + a byte each 2.5 ps)
    assert after["time_s"] == pytest.approx(2 * (10 + 2**28 / 4e5) * 1e-6, rel=0.01)
    assert after["time_s"] != pytest.approx(before["time_s"], rel=0.01)

    run = ["run", "h200-1024-ndr", "--format", "json", "-o", str(tmp_path)]
    assert run_app([*run, "--calibration", str(mine), "--calibration", "gb200.nccl-tables"]) in (0, 1)
    assert "not used: profile gb200.nccl-tables" in capsys.readouterr().err
    written = json.loads((tmp_path / "h200-1024-ndr.json").read_text())
    assert written["calibration"]["profiles"][0] == "mine"
    assert written["calibration"]["refused"] == ["gb200.nccl-tables: of gb200, and this is h200-sxm-141gb"]


def test_an_expert_exchange_says_its_rung_and_scales_with_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    times = []
    for size in ("7M", "14M"):
        call = ["collective", "--op", "moe_dispatch", "--bytes", size, "--gpus", "64", "--system", "dgx-h100",
                "--dtype", "fp8", "--low-latency", "--json"]  # fmt: skip
        assert run_app(call) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["rung"] == "measured" and answer["low_s"] < answer["time_s"] < answer["high_s"]
        times.append(answer["time_s"])
    assert 1.5 < times[1] / times[0] < 2.0


def test_a_combine_on_another_link_stands_on_physics(capsys: pytest.CaptureFixture[str]) -> None:
    call = [
        "collective",
        "--op",
        "moe_combine",
        "--bytes",
        "7M",
        "--gpus",
        "16",
        "--system",
        "dgx-b200",
        "--json",
    ]
    assert run_app(call) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["rung"] == "physics" and answer["extrapolated"]
