"""Scenarios side by side."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.errors import InputError
from planner.scenario.load import load_scenario
from planner.study.compare import Comparison, compare_scenarios, differing_inputs

BASE = "h200-1024-ndr"


@cache
def _compared(*changes: str) -> Comparison:
    return compare_scenarios(
        [load_scenario(BASE), load_scenario(BASE, changes=list(changes))], open_catalog(), draws=48
    )


def test_a_scenario_beside_itself_differs_in_nothing() -> None:
    found = _compared()
    assert not found.inputs and not found.design and not found.money and not found.turns
    assert all(row.same and not row.sure for row in found.outcomes if row.best is not None)
    first, second = found.entrants
    for key, column in first.draws.items():
        assert np.array_equal(column, second.draws[key])


def test_what_both_share_does_not_blur_a_difference() -> None:
    """Two prices of energy a tenth apart: ranges overlap by far, and yet one is cheaper in nearly every draw."""
    found = _compared("site.electricity_usd_per_kwh=0.06")
    assert [row.field for row in found.inputs] == ["site.electricity_usd_per_kwh"]
    row = next(one for one in found.outcomes if one.key == "tco.npv_usd")
    one, other = (entrant.evaluation.ranges["tco.npv_usd"] for entrant in found.entrants)
    assert max(one.p10, other.p10) < min(one.p90, other.p90)
    assert row.sure and row.odds is not None and row.odds > 0.95
    assert not any(line.key.startswith("design.") for line in found.design)


def test_the_better_direction_is_the_outcomes_own() -> None:
    found = _compared("cluster.groups.0.gpus=2048")
    rows = {row.key: row for row in found.outcomes}
    assert rows["performance.training.days_to_train"].best == 1
    assert rows["capex.total_usd"].best == 0
    use = rows["outcome.gpu_utilisation_fraction"]
    assert use.higher and use.values[use.best or 0] == max(value for value in use.values if value is not None)


def test_money_is_told_by_how_far_apart_it_is() -> None:
    spreads = [row.spread for row in _compared("cluster.groups.0.gpus=2048").money]
    assert spreads and spreads == sorted(spreads, reverse=True)


def test_a_plan_that_cant_be_built_keeps_its_column() -> None:
    found = _compared("site.rack_limit_kw=5")
    assert [one.built for one in found.entrants] == [True, False]
    assert all(row.values[1] is None and row.best is None for row in found.outcomes)


@pytest.mark.parametrize("count", [1, 5])
def test_too_few_and_too_many_are_refused(count: int) -> None:
    with pytest.raises(InputError, match="name 2 to 4"):
        compare_scenarios([load_scenario(BASE)] * count, open_catalog())


def test_items_of_a_list_go_by_their_ids() -> None:
    rows, equal = differing_inputs(
        [load_scenario(BASE), load_scenario(BASE, changes=["workloads.0.tokens_trillion=9"])]
    )
    assert [(row.field, row.values) for row in rows] == [("workloads.pretrain.tokens_trillion", (8.0, 9.0))]
    assert equal > 50
