"""The compare command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.app import run_app

PAIR = ("h200-1024-ndr", "h200-1024-spectrum-x")


def test_it_prints_and_writes_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["compare", *PAIR, "-o", str(tmp_path / "out"), "--format", "html,json,txt"]) == 0
    text = capsys.readouterr().out
    assert "too close to call" in text and "network.leaf.switch" in text and "sn5600" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.strip() == (tmp_path / "out" / "compare.txt").read_text().strip()
    found: dict[str, Any] = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert found["inputs"]["network.leaf.switch"] == ["qm9700", "sn5600"]
    capex = found["outcomes"]["capex.total_usd"]
    assert capex["p10"][0] < capex["values"][0] < capex["p90"][0]
    page = (tmp_path / "out" / "compare.html").read_text()
    assert (
        "<script" not in page
        and 'href="#why.B:capex.total_usd"' in page
        and 'id="why.B:capex.total_usd"' in page
    )


def test_a_number_of_a_column_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["compare", *PAIR, "--explain", "B:capex.optics_usd"]) == 0
    assert "capex.optics_usd" in capsys.readouterr().out
    assert run_app(["compare", *PAIR, "--explain", "E:capex.optics_usd"]) == 2
    assert "one of A, B" in capsys.readouterr().err


def test_wrong_calls_are_told_all_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["compare", PAIR[0], "--format", "pdf"]) == 2
    said = capsys.readouterr().err
    assert "no format 'pdf'" in said and "1 scenario can't be compared (name 2 to 4 of them)" in said
    assert run_app(["compare", "nowhere", "neither"]) == 2
    said = capsys.readouterr().err
    assert "nowhere" in said and "neither" in said


def test_one_that_cant_be_built_keeps_its_column_and_the_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small.yaml"
    small.write_text("extends: h200-1024-ndr\nname: racks too small\nsite: {rack_limit_kw: 5}\n")
    assert run_app(["compare", PAIR[0], str(small), "-o", str(tmp_path)]) == 2
    assert "B can't be built" in capsys.readouterr().out.replace("\n", " ")
    assert "not built" in (tmp_path / "compare.html").read_text()
