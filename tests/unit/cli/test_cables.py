"""The cables command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app


def test_the_sheet_is_written_whole_and_the_summary_fits_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.csv"
    assert run_app(["cables", "h200-1024-ndr", "-o", str(path)]) == 0
    said = capsys.readouterr()
    lines = path.read_text().splitlines()
    assert f"{len(lines) - 1:,} lines" in said.err
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert "leaf-spine" in said.out


def test_json_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["cables", "gb200-nvl72-16", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert sum(row["links"] for row in answer["rows"]) == sum(
        one["links"] for one in answer["length_classes"]
    )
    assert "5,184 scale-up cables are built into each rack" in answer["built_in"]


def test_a_server_alone_has_no_fabric_cables(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["cables", "h100-8-lab", "--json"]) == 0
    assert not [row for row in json.loads(capsys.readouterr().out)["rows"] if row["tier"] == "node-leaf"]


def test_a_folder_that_is_missing_is_said_with_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["cables", "h200-1024-ndr", "-o", str(tmp_path / "no" / "cut.csv")]) == 2
    assert "doesn't exist" in capsys.readouterr().err


def test_halls_out_of_reach_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    halls = "site.halls=[{id: a, racks: 40}, {id: b, racks: 40, distance_m: 900000}]"
    assert run_app(["cables", "h200-1024-ndr", "--set", halls]) == 2
    assert "the farthest medium" in capsys.readouterr().err


def test_all_that_is_in_the_way_is_said_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    changes = ["network.oob=sn5600", "network.topology=single-switch", "site.rack_limit_kw=5"]
    assert run_app(["cables", "h200-1024-ndr", *(word for one in changes for word in ("--set", one))]) == 2
    said = capsys.readouterr().err
    for change in changes:
        assert f"--set {change}: {change.partition('=')[0]}: " in said
