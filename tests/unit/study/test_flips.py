"""Where a decision turns over, one input at a time."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.scenario.load import load_scenario
from planner.study.bands import Drawing
from planner.study.flips import limit_flips, turning_scores
from planner.study.risk_inputs import inputs_of


def test_a_turn_is_found_where_the_sign_changes_and_nowhere_else() -> None:
    def gap(scores: Floats) -> Floats:
        return np.asarray(scores[:, 0] - 0.7 + 0.2 * scores[:, 1] - scores[:, 2])

    found = turning_scores(gap, [[0], [1], [2]], 3)
    assert set(found) == {0, 2}  # the second moves it by a quarter at most
    assert found[0] == pytest.approx(0.7) and found[2] == pytest.approx(-0.7)


def test_the_nearer_of_two_turns_is_taken() -> None:
    found = turning_scores(lambda z: np.asarray(z[:, 0] ** 2 - 0.25), [[0]], 1)
    assert abs(found[0]) == pytest.approx(0.5, abs=0.01)


def test_the_limit_is_met_on_one_side_of_a_turn_and_missed_on_the_other() -> None:
    evaluation = evaluate(
        load_scenario("h200-1024-ndr", changes=["limits.capex_usd=49000000"]), open_catalog()
    )
    inputs = inputs_of(evaluation)
    capex = next(one for one in limit_flips(evaluation) if one.field == "limits.capex_usd")
    assert capex.met and capex.flips
    assert [abs(one.score) for one in capex.flips] == sorted(abs(one.score) for one in capex.flips)
    drawing = Drawing(evaluation, inputs, ("capex.total_usd",))
    for flip in capex.flips:
        scores = np.zeros((2, inputs.width))
        for row, nearer in enumerate((0.95, 1.05)):
            scores[row, list(flip.factor.columns)] = flip.score * nearer
        before, after = drawing.results(scores)["capex.total_usd"]
        assert before <= 49e6 < after
        if flip.value is not None and flip.planned is not None:
            assert (flip.value > flip.planned) == flip.above


def test_a_plan_that_cant_be_built_has_no_turns() -> None:
    assert (
        limit_flips(
            evaluate(load_scenario("h200-1024-ndr", changes=["site.rack_limit_kw=5"]), open_catalog())
        )
        == ()
    )
