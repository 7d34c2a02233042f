"""planner fidelity: tables for people, the contract's object for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app

KEYS = {
    "rows", "rows_predicted", "median_abs_error", "p90_abs_error", "bias", "median_abs_error_rows",
    "p90_abs_error_rows", "bias_rows", "by_family", "by_gpu", "by_source", "by_dense_moe", "by_target", "results",
}  # fmt: skip
RUN = {
    "id": "mine", "group": "A", "family": "mine", "src": "log", "model": "Llama3-8B", "gpu": "H100", "n_gpus": 16,
    "arch": {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256},
    "gbs": 64, "mbs": 1, "seq_len": 8192, "parallel": {"tp": 2, "pp": 1, "dp": 8}, "precision": "BF16",
    "metrics": {"step_time_s": 3.0},
}  # fmt: skip


def test_the_answer_for_programs_has_the_keys_of_the_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([RUN, RUN | {"id": "idle", "scorable": False}]))
    assert run_app(["fidelity", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["training", "collectives", "inference", "goodput", "power"]
    assert all(set(group) >= KEYS for group in found.values())
    training = found["training"]
    assert (training["rows"], training["rows_predicted"], training["skipped"]) == (1, 1, ["idle"])
    (result,) = training["results"]
    assert result["error"] == pytest.approx(result["predicted"] / result["measured"] - 1)
    assert result["low"] < result["predicted"] < result["high"]
    assert training["by_dense_moe"]["dense"]["median_abs_error"] == pytest.approx(abs(result["error"]))


def test_the_tables_fit_a_terminal_and_list_the_misses(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["fidelity"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines.count("largest misses") >= 4
    assert "not predicted" in lines


def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([RUN | {"n_gpus": "many"}], indent=1))
    assert run_app(["fidelity", str(file), str(tmp_path / "no.json")]) == 2
    said = capsys.readouterr().err
    assert f"{file}:9: n_gpus: is 'many', and must be a number" in said
    assert "no.json: can't be read" in said
