"""Draws of a plan's inputs, and the ranges of its results."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Axis, Kind, Line
from planner.scenario.load import load_scenario
from planner.sourced import Source
from planner.study.bands import HEADLINE_KEYS, Drawing, two_piece_normal, with_ranges
from planner.study.risk_inputs import inputs_of
from planner.study.risk_sampling import Z90


@cache
def found(name: str) -> Evaluation:
    return evaluate(load_scenario(name), open_catalog())


def drawing(name: str = "h200-phased") -> Drawing:
    return Drawing(found(name), inputs_of(found(name)), HEADLINE_KEYS)


def line(value_low: float | None, value_high: float | None, unit: str = "1", key: str = "a") -> Line:
    return Line(key, "A", unit, Axis.SCALAR, Kind.GIVEN, source=Source("x"), low=value_low, high=value_high)


@pytest.mark.parametrize("name", ["h200-phased", "h200-serving-fleet", "h100-8-lab"])
def test_chunks_of_the_keys_alone_equal_one_evaluation_of_everything(name: str) -> None:
    drawn = drawing(name)
    scores = drawn.scores(90, np.random.default_rng(3))
    parts = drawn.results(scores, chunk=40)
    plan = np.concatenate([np.zeros((1, scores.shape[1])), scores])
    whole = evaluate(drawn.evaluation.loaded, open_catalog(), draws=drawn.values(plan)).ledger
    assert set(parts) == {key for key in HEADLINE_KEYS if key in whole}
    for key, column in parts.items():
        np.testing.assert_allclose(column, whole.value(key)[1:], rtol=1e-12, err_msg=key)


def test_scores_of_zero_are_the_plan_itself() -> None:
    drawn = drawing()
    results = drawn.results(np.zeros((2, drawn.inputs.width)))
    for key, column in results.items():
        # inputs whose value lies under their own floor are none
        np.testing.assert_allclose(column, drawn.evaluation.ledger.scalar(key), rtol=1e-12, err_msg=key)


def test_the_same_seed_gives_the_same_ranges_and_another_others() -> None:
    first, again, other = (
        with_ranges(found("h200-phased"), ("tco.npv_usd",), seed=seed) for seed in (1, 1, 2)
    )
    assert first.ranges["tco.npv_usd"].p90 == again.ranges["tco.npv_usd"].p90
    assert first.ranges["tco.npv_usd"].p90 != other.ranges["tco.npv_usd"].p90


def test_a_range_given_by_hand_goes_before_the_sources() -> None:
    key, price = "capex.total_usd", "price.hgx-h200.price_usd"
    base = found("h200-phased")
    value = base.ledger.scalar(price)
    known = with_ranges(base, (key,), bounds={price: (value, value)}).ranges[key]
    usual = with_ranges(base, (key,)).ranges[key]
    assert known.p90 - known.p10 < 0.5 * (usual.p90 - usual.p10)


def test_draws_have_the_stated_quantiles() -> None:
    values = two_piece_normal(line(8.0, 14.0), 10.0, np.random.default_rng(0).standard_normal(200_000))
    np.testing.assert_allclose(np.quantile(values, [0.1, 0.5, 0.9]), [8.0, 10.0, 14.0], rtol=0.005)


@pytest.mark.parametrize(
    ("of", "value", "score", "expected"),
    [
        (line(None, 14.0), 10.0, -3.0, 10.0),
        (line(8.0, None), 10.0, 3.0, 10.0),
        (line(0.0, 20.0), 10.0, -9.0, 0.5),
        (line(0.5, 0.99, "fraction"), 0.9, 5.0, 1.0),
        (line(1.1, 1.6, key="power.pue"), 1.2, -9.0, 1.0),
        (line(8.0, 14.0), 10.0, Z90, 14.0),
    ],
)
def test_draws_stay_where_values_make_sense(of: Line, value: float, score: float, expected: float) -> None:
    assert two_piece_normal(of, value, np.array([score]))[0] == pytest.approx(expected, rel=1e-12)


def test_a_plan_that_cant_be_built_comes_back_as_it_is() -> None:
    refused = evaluate(load_scenario("h200-1024-ndr", changes=["network.topology=none"]), open_catalog())
    assert with_ranges(refused) is refused
