"""`planner bench`: what a user types, and what comes back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.app import run_app
from planner.measure.parse.trace import read_traces
from planner.measure.parse.trace_spans import COLLECTIVE, RankTrace, Span
from planner.measure.parse.trace_split import explain
from planner.present.bench_text import explanation_text

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parents[1] / "measure" / "data"
TRACES = [str(DATA / f"trace-h200-x2-rank{rank}.json.gz") for rank in (0, 1)]
RUN = str(DATA / "h200-x2.json.gz")
OFF = str(DATA / "h200-x2-peer-to-peer-off.json.gz")


def test_help_shows_how_to_measure_and_the_commands_beside_it(capsys: Capture) -> None:
    assert run_app(["bench", "--help"]) == 0
    said = capsys.readouterr().out
    for word in ("--quick", "--backend", "--deadline", "explain", "diagnose", "nccl,gemm -o bench.json"):
        assert word in said


@pytest.mark.parametrize(
    "words", [["bench", "--help"], ["bench", "diagnose", RUN], ["bench", "explain", *TRACES]]
)
def test_torch_is_not_loaded_for_what_does_not_measure(words: list[str]) -> None:
    code = f"import sys; from planner.cli.app import run_app; run_app({words!r}); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_without_torch_measuring_says_what_to_install(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert run_app(["bench", "nccl,gemm", "-o", str(tmp_path / "b.json")]) == 2
    assert "pip install 'cluster-planner[bench]'" in capsys.readouterr().err
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nccl,fabric"], "no section 'fabric'"),
        (["--min-bytes", "4M", "--max-bytes", "1M"], "--min-bytes 4194304 is above --max-bytes 1048576"),
        (["--backend", "mpi"], "invalid choice: 'mpi'"),
        (["-o", "/no/such/folder/b.json"], "doesn't exist; create it first"),
        (["--deadline", "0"], "must be above 0 seconds"),
    ],
)
def test_wrong_options_are_named_before_anything_is_measured(
    words: list[str], said: str, capsys: Capture
) -> None:
    assert run_app(["bench", *words]) == 2
    assert said in capsys.readouterr().err


def test_options_reach_the_runner_as_they_were_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    handed: list[str] = []

    def main(arguments: list[str], _program: str) -> int:
        handed.extend(arguments)
        return 130

    monkeypatch.setattr("importlib.util.find_spec", lambda _name: object())
    monkeypatch.setattr("planner.measure.run.main.main", main)
    out = str(tmp_path / "b.json")
    assert (
        run_app(["bench", "gemm", "--quick", "-o", out, "--dtypes", "bf16", "--processes", "2", "--json"])
        == 130
    )
    assert handed[0] == "gemm"
    assert {f"--out={out}", "--dtypes=bf16", "--processes=2", "--quick", "--json", "--max-bytes=8G"} <= set(
        handed
    )


def test_measuring_on_cpus_writes_the_result_and_prints_the_diagnosis_alone(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch isn't installed here; the benchmark's gloo mode needs it")
    out = tmp_path / "g.json"
    words = ["bench", "nccl", "--backend", "gloo", "--quick", "--max-bytes", "8K", "--json", "-o", str(out)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "planner", *words], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == json.loads(out.read_text())["diagnosis"]
    assert "== nccl" in done.stderr


def test_a_saved_result_is_diagnosed_again(capsys: Capture) -> None:
    assert run_app(["bench", "diagnose", RUN]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Diagnosis: nothing wrong was found.")
    assert "bus bandwidth 347 GB/s (2,780 Gbit/s), 77 % of 450 GB/s one way" in " ".join(said.split())
    assert max(len(line) for line in said.splitlines()) <= 80


def test_several_results_as_json_tell_their_file(capsys: Capture) -> None:
    assert run_app(["bench", "diagnose", RUN, OFF, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["file"], row["verdict"]) for row in rows] == [(RUN, "note"), (OFF, "fault")]


def test_files_that_are_no_results_are_all_named(tmp_path: Path, capsys: Capture) -> None:
    cut, other = tmp_path / "cut.json", tmp_path / "other.json"
    cut.write_text('{"kind": "bench",\n "sections": ')
    other.write_text("{}")
    assert run_app(["bench", "diagnose", str(cut), str(other), str(tmp_path / "none.json")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(f"{cut}:2:14: JSON is damaged or cut")
    assert said[1].startswith(f"{other}: is no result of planner bench")
    assert "No such file" in said[2]


def test_explain_says_whom_everyone_waits_for(capsys: Capture) -> None:
    assert run_app(["bench", "explain", *TRACES]) == 0
    said = capsys.readouterr().out
    assert "Everyone waits for rank 1: it arrived last in 8 of 8 collectives" in said
    assert "bus bandwidth 265 GB/s (2,116 Gbit/s)" in " ".join(said.split())
    assert "No expectation: give --system" in said
    assert max(len(line) for line in said.splitlines()) <= 80


def test_explain_of_one_rank_asks_for_the_others(capsys: Capture) -> None:
    assert run_app(["bench", "explain", TRACES[0], "--gpus-per-node", "1"]) == 0
    said = capsys.readouterr().out
    assert "waiting can't be told from the exchange" in said
    assert "(across 2 nodes)" in said


def test_explain_as_json_has_the_parts_of_every_rank(capsys: Capture) -> None:
    assert run_app(["bench", "explain", *TRACES, "--json", "--gpus-per-node", "8"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [split["rank"] for split in found["ranks"]] == [0, 1]
    first = found["collectives"][0]
    assert (first["op"], first["place"], first["verdict"]) == ("all_reduce", "inside one node", None)
    assert first["busbw_gbit_per_s"] == pytest.approx(first["busbw_gbyte_per_s"] * 8)


def test_a_damaged_trace_is_named_with_line_and_offset(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "rank0.json"
    path.write_text('{"traceEvents": [\n{"ph": "X",')
    assert run_app(["bench", "explain", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"{path}:2: JSON is damaged or cut at offset ")


def test_what_the_model_expects_stands_beside_the_transfer() -> None:
    found = explain(
        read_traces([Path(one) for one in TRACES]), lambda op, _size, _ranks: (1e-4, 1.1e-4, 1.2e-4)
    )
    said = " ".join(explanation_text(found, modelled=True, gpus_per_node=8).split())
    assert "expected 110 us (100 us to 120 us): slower than the model, so look at the scale-up link." in said
    assert "No expectation" not in said


def test_where_the_last_to_arrive_changes_no_rank_is_blamed() -> None:
    def trace(rank: int, first_us: float, second_us: float) -> RankTrace:
        spans = [Span(COLLECTIVE, "all_reduce", place * 1000.0, time, 1 << 20, 2, "0")
                 for place, time in enumerate((first_us, second_us))]  # fmt: skip
        return RankTrace(rank, Path(f"rank{rank}.json"), tuple(spans))

    said = explanation_text(explain([trace(0, 50, 20), trace(1, 20, 50)]), modelled=False)
    assert "No one rank is waited for: the last to arrive changes." in said
    assert "Everyone waits" not in said


def test_a_file_named_like_a_command_can_still_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(RUN, tmp_path / "explain")
    monkeypatch.chdir(tmp_path)
    assert run_app(["bench", "diagnose", "explain"]) == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":' * 100_000, "nested too deep"),
        ('{"kind": "bench", "sections": {"nccl": [null]}}', "nccl[0] is None"),
        ('{"kind": "bench", "sections": {}, "environment": {"devices": 5}}', "environment.devices is 5"),
        ('{"kind": "bench", "sections": {}, "environment": 5}', "environment is 5"),
    ],
)
def test_results_of_the_wrong_shape_are_not_diagnosed(
    text: str, reason: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text)
    assert run_app(["bench", "diagnose", str(path)]) == 2
    assert reason in capsys.readouterr().err
