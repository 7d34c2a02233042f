"""Days, cost and energy of a run under a plan are those of the ledger."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.performance.search import Goal
from planner.performance.search_run import run_of, run_rates
from planner.scenario.load import load_scenario


def evaluated(*changes: str) -> Evaluation:
    return evaluate(load_scenario("h200-1024-ndr", changes=changes), open_catalog())


@pytest.mark.parametrize(
    "changes", [(), ("overrides={performance.training.model_error_ratio: {value: 1.2, unit: '1', reason: ours}}",)]
)  # fmt: skip
def test_the_run_of_the_chosen_plan_is_that_of_the_ledger(changes: tuple[str, ...]) -> None:
    evaluation = evaluated(*changes)
    assert evaluation.built is not None
    found, cluster = evaluation.built.performance.trained[0], evaluation.built.cluster
    rates = run_rates(evaluation.ledger, found, gpus=cluster.parts.gpus, nodes=cluster.nodes)
    run = run_of(rates, found.choice.rankings[Goal.TIME][0])
    expected = {
        "step_s": run.step_s, "tokens_per_s": run.tokens_per_s, "days_to_train": run.days, "gpu_hours": run.gpu_hours,
        "run_energy_kwh": run.kwh,
    }  # fmt: skip
    assert run.gpus == 1024
    for key, value in expected.items():
        assert evaluation.ledger.value(f"performance.training.{key}")[0] == pytest.approx(value, rel=1e-9)
    assert evaluation.ledger.value("unit.usd_per_training_run")[0] == pytest.approx(run.usd, rel=1e-9)


def test_a_run_of_more_tokens_costs_as_much_more() -> None:
    evaluation = evaluated()
    assert evaluation.built is not None
    found, cluster = evaluation.built.performance.trained[0], evaluation.built.cluster
    rates = run_rates(evaluation.ledger, found, gpus=cluster.parts.gpus, nodes=cluster.nodes)
    one, two = (
        run_of(replace(rates, tokens=rates.tokens * factor), found.choice.rankings[Goal.TIME][0])
        for factor in (1, 2)
    )
    for name in ("days", "usd", "kwh", "gpu_hours"):
        assert getattr(two, name) == pytest.approx(2 * getattr(one, name))
    assert two.step_s == one.step_s


def test_an_optimal_budget_is_twenty_tokens_a_parameter() -> None:
    ledger = evaluated("workloads.0.tokens_trillion=optimal").ledger
    # 70.55 B parameters
    assert ledger.value("performance.training.tokens")[0] == pytest.approx(20 * 70.55e9 / 1e6, rel=1e-3)
    days = ledger.value("performance.training.days_to_train")[0]
    assert 7 < days < 10
