"""Bounds on the command line: what is read, what is over, and the exit code of a batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cli.app import run_app
from planner.cli.fail_over import bounds_of
from planner.errors import InputError

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("written", "key", "compared", "value", "spread"),
    [
        ("tco.npv_usd>60M", "tco.npv_usd", ">", 60e6, ""),
        (" capex.total_usd_p90 >= 1,000k ", "capex.total_usd", ">=", 1e6, "p90"),
        ("outcome.gpu_utilisation_fraction<40%", "outcome.gpu_utilisation_fraction", "<", 0.4, ""),
        ("outcome.ttft_p99_s<=2", "outcome.ttft_p99_s", "<=", 2.0, ""),
        ("power.it_w>1.5e6", "power.it_w", ">", 1.5e6, ""),
    ],
)
def test_an_expression_is_a_key_a_comparison_and_a_number(
    written: str, key: str, compared: str, value: float, spread: str
) -> None:
    (bound,) = bounds_of([written])
    assert (bound.key, bound.compared, bound.spread) == (key, compared, spread)
    assert bound.value == pytest.approx(value)


def test_every_expression_that_can_not_be_read_is_named() -> None:
    with pytest.raises(InputError) as caught:
        bounds_of(["x", "a>b", "a=3", "a>1e999", "tco.npv_usd>1"])
    assert [problem.message.split("'")[1] for problem in caught.value.problems] == [
        "x",
        "a>b",
        "a=3",
        "a>1e999",
    ]


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([">", ">=", "<", "<="]))
def test_numbers_are_read_as_python_writes_them(value: float, compared: str) -> None:
    (bound,) = bounds_of([f"tco.npv_usd{compared}{value!r}"])
    assert bound.value == value


def run(tmp_path: Path, capsys: Capture, *bounds: str) -> tuple[int, list[str], str]:
    given = [part for bound in bounds for part in ("--fail-over", bound)]
    code = run_app(["run", "h100-8-lab", "-o", str(tmp_path), "--format", "json", "--json", *given])
    out, err = capsys.readouterr()
    return code, json.loads(out)[0]["over"] if out else [], err


def test_a_plan_over_a_bound_ends_with_1_and_says_which(tmp_path: Path, capsys: Capture) -> None:
    code, over, err = run(
        tmp_path, capsys, "unit.usd_per_gpu_hour>0.01", "capex.total_usd_p10>1G", "tco.npv_usd<1"
    )
    assert code == 1
    assert [one.split(" ")[0] for one in over] == ["unit.usd_per_gpu_hour"]
    assert "--fail-over: unit.usd_per_gpu_hour is" in err
    assert (tmp_path / "h100-8-lab.json").is_file()


def test_a_plan_within_its_bounds_ends_with_0(tmp_path: Path, capsys: Capture) -> None:
    assert run(tmp_path, capsys, "unit.usd_per_gpu_hour>100")[:2] == (0, [])


def test_a_figure_that_the_plan_does_not_have_is_no_silent_pass(tmp_path: Path, capsys: Capture) -> None:
    code, over, err = run(
        tmp_path, capsys, "unit.usd_per_gpu_hor>1", "design.racks_p90>1", "unit.usd_per_gpu_hour>0"
    )
    assert (code, over) == (2, [])
    assert "perhaps unit.usd_per_gpu_hour" in err
    assert "'design.racks' has no range" in err
    assert (tmp_path / "h100-8-lab.json").is_file()


def test_a_series_is_no_figure(tmp_path: Path, capsys: Capture) -> None:
    code, _, err = run(tmp_path, capsys, "cash.opex_usd>1")
    assert code == 2
    assert "is a series" in err
