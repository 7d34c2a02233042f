"""The table of plans that a search tried."""

from __future__ import annotations

from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.view.model import Table
from planner.present.view.plans_tried import plans_tried
from planner.present.view.reading import Reading
from planner.scenario.load import load_scenario


@cache
def tables(*changes: str) -> list[Table]:
    evaluation = evaluate(load_scenario("h100-8-lab", changes=changes), open_catalog())
    assert evaluation.built is not None
    return plans_tried(Reading(evaluation, evaluation.built), evaluation.built.performance.trained[0])


def test_plans_stand_from_fast_to_slow_with_what_they_lose_by() -> None:
    (table,) = tables()
    assert table.caption.startswith("Plans tried for finetune: ")
    assert table.rows[0][-1].text == "the fastest"
    steps = [row[1].value for row in table.rows]
    assert steps == sorted(steps) and len(steps) == 5
    for row in table.rows[1:]:
        assert row[2].value == pytest.approx((row[1].value / steps[0] - 1) * 100)
        assert row[-1].text.startswith(("+", "equal"))


def test_steps_carry_the_measured_correction() -> None:
    ratio = "overrides={performance.training.model_error_ratio: {value: 1.5, unit: '1', reason: ours}}"
    plain, slower = tables()[0], tables(ratio)[0]
    assert slower.rows[0][1].value == pytest.approx(1.5 * plain.rows[0][1].value)


def test_a_plan_as_typed_was_not_searched() -> None:
    assert tables("workloads.0.plan={sharding: fsdp, microbatch: 1}") == []
