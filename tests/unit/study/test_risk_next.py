"""What is said to do about an input."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.evaluate import evaluate
from planner.finance.uncertainty import StepKind
from planner.ledger import Axis, Kind, Line
from planner.scenario.load import load_scenario, shipped_scenarios
from planner.sourced import Basis, Source
from planner.study.risk_inputs import inputs_of
from planner.study.risk_next import next_step


def line(key: str, basis: Basis = Basis.ESTIMATE, *, verified: bool = True) -> Line:
    source = Source("x.yaml:1", basis=basis, as_of="2026-05", verified=verified)
    return Line(key, "Label", "1", Axis.SCALAR, Kind.GIVEN, source=source)


@pytest.mark.parametrize(
    ("key", "kind", "word"),
    [
        ("price.hgx-h200.price_usd", StepKind.NEGOTIATE, "quote for hgx-h200"),
        ("site.electricity_usd_per_kwh", StepKind.FIX, "site.electricity_usd_per_kwh"),
        ("site.colocation_usd_per_kw_month", StepKind.NEGOTIATE, "colocation"),
        ("assumption.residual_fraction_year4", StepKind.NEGOTIATE, "buy-back"),
        ("money.utilisation_fraction", StepKind.DECIDE, "scheduler"),
        ("performance.training.model_error_ratio", StepKind.MEASURE, "planner bench train"),
        ("performance.serving.model_error_ratio", StepKind.MEASURE, "load test of your own engine"),
        ("assumption.gemm_share_of_peak_hopper_16bit_fraction", StepKind.MEASURE, "planner bench gemm"),
        ("calibration.scale_up_time_ratio", StepKind.MEASURE, "planner bench nccl"),
        ("assumption.gpu_failures_per_gpu_hour", StepKind.MEASURE, "interruptions"),
        ("assumption.server_power_error_ratio", StepKind.MEASURE, "planner bench power"),
        ("assumption.discount_rate_fraction", StepKind.DECIDE, "cost of capital"),
        ("site.mean_temperature_c", StepKind.READ, "site"),
        ("assumption.something_new", StepKind.READ, "overrides.assumption.something_new"),
    ],
)
def test_an_input_is_measured_negotiated_fixed_or_decided(key: str, kind: StepKind, word: str) -> None:
    found, words = next_step(line(key))
    assert found is kind and word in words


@pytest.mark.parametrize(
    ("basis", "verified", "said"),
    [
        (Basis.ESTIMATE, False, "so far an estimate, 2026-05, not verified"),
        (Basis.MEASURED, True, "so far measured elsewhere, 2026-05"),
        (Basis.USER, True, "so far typed by you, 2026-05"),
    ],
)
def test_how_it_is_known_so_far_comes_from_its_source(basis: Basis, verified: bool, said: str) -> None:
    assert next_step(line("price.a.price_usd", basis, verified=verified))[1].endswith(said)


def test_every_benchmark_that_is_named_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["bench", "--help"]) == 0
    known = capsys.readouterr().out
    for name in shipped_scenarios():
        evaluation = evaluate(load_scenario(name), open_catalog())
        for one in inputs_of(evaluation).lines:
            words = next_step(one)[1].split()
            for at, word in enumerate(words[:-2]):
                if words[at : at + 2] == ["planner", "bench"]:
                    assert words[at + 2].strip(",;.") in known, (one.key, words)
                assert not word.startswith("{")
