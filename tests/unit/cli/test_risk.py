"""`planner risk`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app

FAST = ["--draws", "320"]


def answer(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    assert run_app(["risk", "h200-1024-ndr", *FAST, "--json", *more]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_json_has_quantile_siblings_seed_and_convergence(capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(capsys, "--seed", "7")
    results = said["results"]
    assert isinstance(results, dict) and said["seed"] == 7 and said["draws"] == 320
    for key in ("tco.npv_usd", "unit.usd_per_gpu_hour", "performance.training.days_to_train"):
        assert results[f"{key}_p10"] < results[f"{key}_p50"] < results[f"{key}_p90"]
        assert results[f"{key}_p90_error"] > 0
    convergence = said["convergence"]
    assert isinstance(convergence, list) and [one["draws"] for one in convergence] == [20, 40, 80, 160, 320]


def test_the_same_seed_gives_the_same_bytes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    texts = []
    for name in ("a.json", "b.json"):
        answer(capsys, "-o", str(tmp_path / name))
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]


def test_a_range_by_hand_reaches_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    wide = answer(
        capsys, "--key", "unit.usd_per_gpu_hour_sold", "--range", "money.utilisation_fraction=0.2:0.9"
    )
    tornado = wide["tornado"]
    assert isinstance(tornado, list) and tornado[0]["keys"] == ["money.utilisation_fraction"]
    assert (tornado[0]["p10"], tornado[0]["p90"]) == (0.2, 0.9)


def test_text_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("h200-serving-fleet", "h200-phased"):
        run_app(["risk", name, *FAST])
        said = capsys.readouterr().out
        assert max(len(line) for line in said.splitlines()) <= 80
        for part in ("What to measure or negotiate next", "seed 20261130", "standard errors", "risk.yaml"):
            assert part in said


def test_the_report_has_tornado_shares_and_steps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "risk.html"
    assert run_app(["risk", "h200-1024-ndr", *FAST, "-o", str(path)]) == 0
    said = path.read_text()
    for part in (
        'id="h-c15"',
        'id="h-c15b"',
        'id="table-next-steps"',
        'id="table-missed-odds"',
        'id="table-convergence"',
    ):
        assert part in said
    capsys.readouterr()


def test_wrong_options_are_all_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["risk", "h200-1024-ndr", "-o", "a.pdf", "--range", "a=b:c", "--range", "x=3:1"]) == 2
    said = capsys.readouterr().err
    assert "a.pdf" in said and "'a=b:c' is no range" in said and "x=1:3" in said


def test_ranges_that_make_no_sense_for_the_plan_are_all_said(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        "cluster.gpus=1:2000",
        "tco.npv_usd=1:2",
        "money.utilisation_fraction=0.1:0.2",
        "price.qm9701.price_usd=1:2",
    ]
    assert run_app(["risk", "h200-1024-ndr", *(part for one in wrong for part in ("--range", one))]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4
    assert any("design rests" in line for line in said) and any(
        "price.qm9700.price_usd" in line for line in said
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["h200-1024-ndr", "--key", "tco.npv"], 2),
        (["h200-1024-ndr", "--set", "network.topology=none"], 2),
        (["h200-1024-ndr", "--set", "limits.capex_usd=1000000"], 1),
    ],
)
def test_exit_codes(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["risk", *arguments, *FAST]) == code
    capsys.readouterr()
