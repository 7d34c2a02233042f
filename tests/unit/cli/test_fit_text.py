"""planner fidelity --leave-out: errors of refits beside the fitted ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.app import run_app

RUN: dict[str, Any] = {
    "id": "one", "group": "A", "family": "one", "src": "log", "model": "Llama3-8B", "gpu": "H100", "n_gpus": 16,
    "arch": {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256},
    "gbs": 64, "mbs": 1, "seq_len": 8192, "parallel": {"tp": 2, "pp": 1, "dp": 8}, "precision": "BF16",
    "framework": "NeMo", "metrics": {"step_time_s": 3.0},
}  # fmt: skip
ROWS = [RUN, RUN | {"id": "two", "family": "two", "src": "other", "metrics": {"step_time_s": 3.5}}]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS))
    return path


def test_programs_get_errors_by_what_was_left_out(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["fidelity", str(file), "--leave-out", "--json"]) == 0
    said = capsys.readouterr()
    fit = json.loads(said.out)["training"]["fit"]
    assert list(fit["all_scores"]) == ["fitted", "family", "source", "generation", "software"]
    # each row is half of the evidence: the other alone is further off
    fitted, family = (fit["all_scores"][name]["median_abs_error"] for name in ("fitted", "family"))
    assert fitted < family
    assert fit["rows"] == 2
    assert 0.0 < fit["effective_parameters"] < 2.0
    assert fit["band_fractions"]["moe"] is None
    assert "refit without family one" in said.err.splitlines()


def test_people_get_a_table_that_fits_a_terminal(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["fidelity", str(file), "--leave-out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index("TRAINING, FITTED AND LEFT OUT")
    assert max(map(len, lines)) <= 80
    assert [line.split("  ")[0] for line in lines[begin + 4 : begin + 9]] == [
        "nothing", "its family", "its source", "its GPU generation", "its stack",
    ]  # fmt: skip


def test_without_training_rows_there_is_nothing_to_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([RUN | {"scorable": False}]))
    assert run_app(["fidelity", str(path), "--leave-out", "--json"]) == 0
    assert "fit" not in json.loads(capsys.readouterr().out)["training"]
