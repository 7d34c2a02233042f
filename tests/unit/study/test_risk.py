"""The risk of a plan: odds, swings, shares, what to do next."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.errors import InputError
from planner.evaluate import Evaluation, evaluate
from planner.finance.uncertainty import Uncertainty
from planner.scenario.load import load_scenario
from planner.study.bands import HEADLINE_KEYS, with_ranges
from planner.study.risk import (
    CUBES,
    Effort,
    doubling,
    narrower_fraction,
    quantile_errors,
    with_ranges_and_swings,
    with_risk,
    with_swings,
)
from planner.study.risk_inputs import Inputs

KEY = "tco.npv_usd"
SMALL = Effort(draws=1600, share_rows=256)


@cache
def base(*changes: str) -> Evaluation:
    return evaluate(load_scenario("h200-1024-ndr", changes=changes), open_catalog())


@cache
def drawn(seed: int = 1) -> Evaluation:
    return with_risk(base(), effort=SMALL, seed=seed)


def risk_of(evaluation: Evaluation) -> Uncertainty:
    assert evaluation.risk is not None
    return evaluation.risk


def test_every_headline_of_the_plan_has_quantiles_in_order_and_their_errors() -> None:
    found = drawn()
    assert set(HEADLINE_KEYS) & set(found.ledger.lines) <= set(found.ranges)
    for key, one in found.ranges.items():
        assert one.p10 <= one.p50 <= one.p90, key
        assert len(one.draws) == 1600
        assert risk_of(found).errors[key].p50 >= 0.0


def test_the_same_seed_gives_the_same_answer_to_the_last_bit_and_another_another() -> None:
    again, other = with_risk(base(), effort=SMALL, seed=1), with_risk(base(), effort=SMALL, seed=2)
    assert risk_of(again) == risk_of(drawn())
    assert risk_of(other).shares != risk_of(drawn()).shares


def test_two_seeds_differ_by_what_their_errors_say() -> None:
    first, other = drawn(), with_risk(base(), effort=SMALL, seed=2)
    for key in HEADLINE_KEYS:
        if key in first.ranges:
            error = np.hypot(risk_of(first).errors[key].p50, risk_of(other).errors[key].p50)
            # five standard errors, each known to a fifth
            assert abs(first.ranges[key].p50 - other.ranges[key].p50) <= 5 * error + 1e-12, key


def test_a_swing_is_the_plan_with_that_one_input_at_its_end() -> None:
    """The widest single input, set by an override of the same value."""
    swing = next(one for one in risk_of(drawn()).swings if one.factor.keys == ("price.hgx-h200.price_usd",))
    for end, value in ((swing.factor.low, swing.at_low), (swing.factor.high, swing.at_high)):
        change = (
            f"overrides.price.hgx-h200.price_usd={{value: {end}, unit: USD, reason: the end of its range}}"
        )
        assert base(change).ledger.scalar(KEY) == pytest.approx(value, rel=1e-12)


def test_swings_are_widest_first_and_touch_only_what_moves_the_result() -> None:
    swings = risk_of(drawn()).swings
    assert [one.width for one in swings] == sorted((one.width for one in swings), reverse=True)
    days = with_risk(base(), "performance.training.days_to_train", effort=Effort(draws=160, share_rows=0))
    keys = {key for one in risk_of(days).swings for key in one.factor.keys}
    assert "performance.training.model_error_ratio" in keys
    assert not any(key.startswith(("price.", "site.electricity")) for key in keys)


def test_shares_are_about_one_together_for_a_result_that_is_nearly_a_sum() -> None:
    shares = risk_of(drawn()).shares
    assert shares[-1].factor is None
    error = sum(one.first_error**2 for one in shares) ** 0.5
    assert sum(one.first for one in shares) == pytest.approx(1.0, abs=4 * error + 0.05)
    for one in shares:
        assert one.total >= 0.0
        assert one.first <= one.total + 4 * (one.first_error + one.total_error)


def test_knowing_the_widest_input_narrows_the_range_most() -> None:
    steps = risk_of(drawn()).steps
    narrower = [one.narrower_fraction or 0.0 for one in steps]
    assert narrower == sorted(narrower, reverse=True) and 0.1 < narrower[0] < 0.7
    widest = max(
        (one for one in risk_of(drawn()).shares if one.factor is not None), key=lambda one: one.total
    ).factor
    assert steps[0].factor == widest
    assert all(one.words for one in steps)


@pytest.mark.parametrize(("weight", "expected"), [(0.0, 0.0), (0.6, 0.2), (0.8, 0.4), (1.0, 1.0)])
def test_the_range_that_is_left_is_that_of_the_rest(weight: float, expected: float) -> None:
    """A sum of two normals: without one of them the width falls by the other's standard deviation over the whole's."""
    random = np.random.default_rng(0)
    z = random.standard_normal((40_000, 2))
    column = weight * z[:, 0] + np.sqrt(1.0 - weight**2) * z[:, 1]
    # 0.09: within a twentieth of its probability a factor still varies
    assert narrower_fraction(z[:, :1], column) == pytest.approx(expected, abs=0.09 if weight == 1.0 else 0.04)


def test_a_set_of_scores_is_known_together() -> None:
    random = np.random.default_rng(0)
    z = random.standard_normal((40_000, 3))
    column = z[:, 0] + z[:, 1] + z[:, 2]
    assert narrower_fraction(z[:, :2], column) == pytest.approx(1.0 - 1.0 / np.sqrt(3.0), abs=0.05)
    assert narrower_fraction(z[:, :1], np.full(40_000, 3.0)) == 0.0


def test_odds_of_every_stated_limit_and_of_no_other() -> None:
    limits = (
        "limits.capex_usd=49000000",
        "limits.site_mw=null",
        "limits.usd_per_gpu_hour=99",
        "site.limit_mw=null",
    )
    found = with_risk(base(*limits), effort=Effort(draws=1600, share_rows=0))
    odds = {one.field: one for one in risk_of(found).odds}
    assert set(odds) == {"limits.days", "limits.capex_usd", "limits.usd_per_gpu_hour"}
    assert odds["limits.usd_per_gpu_hour"].missed_fraction == 0.0
    capex = odds["limits.capex_usd"]
    assert capex.missed_fraction == pytest.approx(1.0 - found.ranges["capex.total_usd"].odds_at_most(49e6))
    assert 0.2 < capex.missed_fraction < 0.9 and 0.0 < capex.error < 0.05


def test_errors_of_quantiles_are_those_of_theory() -> None:
    """Median of n plain draws: sqrt(pi / 2 / n)."""
    column = np.random.default_rng(0).standard_normal(64_000)
    found = quantile_errors(column)
    # known to a fifth from 16 hypercubes; three times that
    assert found.p50 == pytest.approx(np.sqrt(np.pi / 2 / 64_000), rel=0.6)
    assert found.p10 == pytest.approx(found.p90, rel=1.0)


def test_the_table_doubles_up_to_all_draws() -> None:
    column = np.random.default_rng(0).standard_normal(1600)
    found = doubling(column)
    assert [one.draws for one in found] == [100, 200, 400, 800, 1600]
    assert found[0].errors is None and found[-1].errors == quantile_errors(column)
    assert found[-1].p50 == pytest.approx(float(np.median(column)))


@pytest.mark.parametrize("key", ["tco.npv", "price.hgx-h200.price_usd", "timing.gpu_hours"])
def test_only_a_result_can_be_taken_apart(key: str) -> None:
    with pytest.raises(InputError):
        with_risk(base(), key)


def test_the_quick_half_has_the_same_swings() -> None:
    quick = risk_of(with_swings(base()))
    assert quick.swings == risk_of(drawn()).swings and quick.rest == risk_of(drawn()).rest
    assert not quick.shares and not quick.odds and len(quick.steps) == 10


def test_draws_are_whole_hypercubes() -> None:
    found = risk_of(with_risk(base(), effort=Effort(draws=1000, share_rows=0)))
    assert found.draws == -(-1000 // CUBES) * CUBES == 1008


@pytest.mark.parametrize("key", [KEY, "capex.total_usd", "no.such.line"])
def test_ranges_and_swings_in_one_call_are_those_of_two(key: str) -> None:
    one, two = with_ranges_and_swings(base(), key), with_swings(with_ranges(base()), key)
    assert list(one.ranges) == list(two.ranges)
    for name, found in one.ranges.items():
        assert found.draws == pytest.approx(two.ranges[name].draws, rel=1e-12), name
    if key == "no.such.line":
        assert one.risk is None
        assert two.risk is None
        return
    assert risk_of(one) == replace(risk_of(two), swings=risk_of(one).swings, rest=risk_of(one).rest)
    assert [swing.factor for swing in risk_of(one).swings] == [swing.factor for swing in risk_of(two).swings]
    for swing, other in zip(risk_of(one).swings, risk_of(two).swings, strict=True):
        assert (swing.at_low, swing.at_high) == pytest.approx((other.at_low, other.at_high), rel=1e-12)


def test_a_plan_without_ranged_inputs_has_neither_ranges_nor_swings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.study.risk.inputs_of", lambda *_: Inputs((), (), (), ()))
    assert with_ranges_and_swings(base()) is base()
