"""Serving anchors on the command line: written from a benchmark, applied to a plan and to measured rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from planner.cli.app import run_app
from planner.resources import shipped
from planner.scenario.serving_points import ServedBy, load_serving_anchors

RESULT = shipped("catalog") / "profiles" / "raw" / "h200-sxm-141gb.bench.serve.json.gz"
ROWS = shipped("catalog") / "measured" / "serving.csv"
Capture = pytest.CaptureFixture[str]
HEAD = "model,gpu,engine,precision,concurrency,isl,osl,ttft_ms,tpot_ms,tp"


def h100_table(path: Path, count: int = 3) -> Path:
    rows = [
        f"llama-3.1-70b,h100-sxm5-80gb,vllm,fp8,{c},1024,1024,{200 + 5 * c},{12 + c / 4},4"
        for c in (4, 16, 64)
    ]
    path.write_text("\n".join([HEAD, *rows[:count]]) + "\n")
    return path


def test_a_bench_result_becomes_a_table_of_points(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "mine.csv"
    assert run_app(["bench", "anchor", str(RESULT), "-o", str(out)]) == 0
    points = [one.point for one in load_serving_anchors([out])]
    assert len(points) == 160
    assert {point.engine for point in points} == {ServedBy.PLAIN_TORCH}
    assert {point.gpu for point in points} == {"h200-sxm-141gb"}
    assert {point.tp for point in points} == {1, 2}
    told = capsys.readouterr()
    assert "llama-3.1-70b, bf16, plain-torch on h200-sxm-141gb" in told.out
    assert "TPOT measured over predicted" in told.out
    assert f"planner run SCENARIO --anchor {out}" in told.err


def test_a_table_gets_the_ending_that_anchors_are_told_by(tmp_path: Path) -> None:
    assert run_app(["bench", "anchor", str(RESULT), "-o", str(tmp_path / "anchor.yaml")]) == 0
    assert [one.name for one in tmp_path.iterdir()] == ["anchor.csv"]


def test_a_result_of_cpus_or_of_an_unknown_device_is_refused(tmp_path: Path, capsys: Capture) -> None:
    document = json.loads(gzip.decompress(RESULT.read_bytes()))
    document["usable_for_calibration"] = False
    document["environment"]["devices"] = [{"name": "Abacus 9"}]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(document))
    assert run_app(["bench", "anchor", str(path), "-o", str(tmp_path / "a.csv")]) == 2
    said = capsys.readouterr().err
    for words in ("measured on CPUs", "Abacus 9", "--accelerator"):
        assert words in said
    assert not (tmp_path / "a.csv").exists()


def test_fidelity_shows_rows_of_the_endpoint_without_and_with(tmp_path: Path, capsys: Capture) -> None:
    mine = h100_table(tmp_path / "mine.csv")
    assert run_app(["fidelity", str(ROWS), "--anchor", str(mine)]) == 0
    told = capsys.readouterr().out
    assert "WITH SERVING ANCHORS" in told
    after = told.partition("WITH SERVING ANCHORS")[2]
    assert "llama-3.1-70b, fp8, vllm on h100-sxm5-80gb" in after
    assert "tpot of their rows" in after
    assert "ttft of their rows" in after
    assert run_app(["fidelity", str(ROWS), "--anchor", str(mine), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["inference"]["anchored"]
    assert set(found["with"]) == set(found["without"]) == {"tpot", "ttft"}
    assert found["with"]["tpot"]["rows_predicted"] == found["without"]["tpot"]["rows_predicted"] > 0


@pytest.mark.parametrize("command", [["fidelity", str(ROWS)], ["run", "h200-serving-fleet"]])
def test_two_points_are_refused_with_the_reason(tmp_path: Path, capsys: Capture, command: list[str]) -> None:
    mine = h100_table(tmp_path / "mine.csv", count=2)
    assert run_app([*command, "--anchor", str(mine)]) == 2
    said = capsys.readouterr().err
    assert f"{mine}:2" in said
    assert "make a prediction worse than none" in said


def test_a_table_of_ones_own_endpoint_is_checked_compared_and_written_with_catalog_names(
    tmp_path: Path, capsys: Capture
) -> None:
    table, out = h100_table(tmp_path / "mine.csv"), tmp_path / "anchor.yaml"
    table.write_text(table.read_text().replace("h100-sxm5-80gb", "h100"))
    assert run_app(["bench", "anchor", str(table), "-o", str(out)]) == 0
    told = capsys.readouterr()
    assert "llama-3.1-70b, fp8, vllm on h100-sxm5-80gb" in told.out
    written = [one.point for one in load_serving_anchors([tmp_path / "anchor.csv"])]
    given = [one.point for one in load_serving_anchors([table])]
    assert [one.gpu for one in written] == ["h100-sxm5-80gb"] * 3
    assert [one.model_copy(update={"gpu": "h100"}) for one in written] == given
    assert run_app(["bench", "anchor", str(table), "-o", str(table)]) == 2
    assert "over itself" in capsys.readouterr().err
    h100_table(table, count=2)
    assert run_app(["bench", "anchor", str(table), "-o", str(out)]) == 2
    assert "an anchor needs 3" in capsys.readouterr().err


def test_explain_takes_anchors_as_run_does(tmp_path: Path, capsys: Capture) -> None:
    rows = [f"llama-3.1-70b,h200,vllm,fp8,{c},2048,512,{300 + 20 * c},{18 + c / 2},2" for c in (1, 16, 64)]
    table = tmp_path / "mine.csv"
    table.write_text("\n".join([HEAD, *rows]) + "\n")
    key = "performance.serving.model_error_ratio"
    assert run_app(["explain", "h200-serving-fleet", key, "--anchor", str(table)]) == 0
    said = capsys.readouterr().out
    assert "3 measured points of llama-3.1-70b, fp8, vllm on h200-sxm-141gb" in said
