"""`planner optics`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app


def test_the_answer_is_text_or_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "optics.txt"
    assert run_app(["optics", "b300-2048-cpo", "--json", "-o", str(path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["best"] in {"copper-first", "pluggable", "linear", "co-packaged"}
    assert path.read_text().startswith("2,048 B300")


def test_wrong_options_are_all_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["optics", "b300-2048-cpo", "-o", "a.html", "--wait-until", "soon"]) == 2
    said = capsys.readouterr().err
    assert "a.html" in said and "'soon' is no month" in said


def test_a_number_of_a_variant_is_walked_down_to_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["optics", "b300-2048-cpo", "--explain", "co-packaged:optics.liquid_usd"]) == 0
    said = capsys.readouterr().out
    assert "catalog/assumptions/optics.yaml" in said and "not verified" in said


@pytest.mark.parametrize("wanted", ["cpo:optics.npv_usd", "pluggable:optics.npv"])
def test_an_unknown_number_names_near_ones(wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["optics", "b300-2048-cpo", "--explain", wanted]) == 2
    assert "--explain" in capsys.readouterr().err


def test_a_plan_without_switches_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["optics", "h100-8-lab"]) == 2
    assert "no switches" in capsys.readouterr().err
