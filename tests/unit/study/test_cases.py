"""Named cases: what each takes, and that the better ends are better."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Axis, Kind
from planner.scenario.load import load_scenario
from planner.study.cases import BASE, Case, named_cases


def planned(name: str, *changes: str) -> tuple[Evaluation, dict[str, Case]]:
    plan = evaluate(load_scenario(name, changes=changes), open_catalog())
    fixed = plan.ledger.locked()
    lines = [
        one
        for one in plan.ledger
        if one.kind is Kind.GIVEN and one.axis is Axis.SCALAR and one.key not in fixed
    ]
    return plan, {case.name: case for case in named_cases(plan.ledger, lines)}


def worth(name: str, case: Case, key: str, *changes: str) -> float:
    draws = {key_: np.array([value]) for key_, value in case.values.items()}
    return evaluate(load_scenario(name, changes=changes), open_catalog(), draws=draws).ledger.scalar(key)


def test_the_first_case_is_the_plan_and_ends_are_those_of_the_sources() -> None:
    plan, cases = planned("h200-1024-ndr")
    assert next(iter(cases)) == BASE
    assert all(plan.ledger.scalar(key) == value for key, value in cases[BASE].values.items())
    for key, value in cases["all low"].values.items():
        low = plan.ledger[key].low
        assert value == (plan.ledger.scalar(key) if low is None else low)
    price = "site.electricity_usd_per_kwh"
    assert cases["cheap energy"].values[price] == plan.ledger[price].low
    changed = [key for key, value in cases["dear energy"].values.items() if value != plan.ledger.scalar(key)]
    assert changed == [price]
    assert len({case.values.keys() == cases[BASE].values.keys() for case in cases.values()}) == 1


def test_optimistic_costs_less_than_any_other_case_and_pessimistic_more() -> None:
    _, cases = planned("h200-1024-ndr")
    cost = {name: worth("h200-1024-ndr", case, "tco.npv_usd") for name, case in cases.items()}
    assert min(cost, key=cost.__getitem__) == "optimistic"
    assert max(cost, key=cost.__getitem__) == "pessimistic"


@pytest.mark.parametrize("price", ["1.5", "6.0"])
def test_where_hours_are_sold_optimistic_is_worth_more(price: str) -> None:
    change = f"money.sell_usd_per_gpu_hour={price}"
    _, cases = planned("h200-1024-ndr", change)
    value = {
        name: worth("h200-1024-ndr", cases[name], "metrics.npv_usd", change)
        for name in (BASE, "optimistic", "pessimistic")
    }
    assert value["optimistic"] > value[BASE] > value["pessimistic"]
