"""Laws of draws and of what they say."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario
from planner.study.bands import Drawing
from planner.study.risk import narrower_fraction, tornado
from planner.study.risk_inputs import inputs_of
from planner.study.sensitivity import exchanged, indices_of

KEY, PRICE = "tco.npv_usd", "price.hgx-h200.price_usd"


@cache
def base() -> Evaluation:
    return evaluate(load_scenario("h200-1024-ndr"), open_catalog())


@settings(deadline=None, max_examples=10)
@given(st.floats(0.3, 0.95), st.floats(1.05, 2.0), st.floats(1.01, 1.5))
def test_a_wider_range_of_an_input_swings_the_result_further(low: float, high: float, wider: float) -> None:
    value = base().ledger.scalar(PRICE)
    swings = []
    for ends in ((low, high), (low / wider, high * wider)):
        inputs = inputs_of(base(), {PRICE: (value * ends[0], value * ends[1])})
        found = tornado(Drawing(base(), inputs, (KEY,)), KEY)
        swings.append(next(one for one in found if PRICE in one.factor.keys))
    narrow, wide = swings
    assert wide.at_low < narrow.at_low < base().ledger.scalar(KEY) < narrow.at_high < wide.at_high


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=5), st.floats(0.1, 1e6), st.floats(-1e6, 1e6))
def test_shares_don_t_depend_on_the_unit_or_the_zero(
    weights: list[float], scale: float, shift: float
) -> None:
    random = np.random.default_rng(1)
    first, second = random.standard_normal((2, 200, len(weights)))
    sums = [z @ np.array(weights) for z in (first, second)]
    mixed = np.stack([exchanged(first, second, [at]) @ np.array(weights) for at in range(len(weights))])
    if np.ptp(np.concatenate(sums)) < 1e-3:
        return
    plain = indices_of(*sums, mixed)
    scaled = indices_of(*(one * scale + shift for one in sums), mixed * scale + shift)
    # what a shift of a million takes from the digits of a thousandth
    np.testing.assert_allclose(plain.total, scaled.total, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(plain.first, scaled.first, rtol=1e-4, atol=1e-4)
    assert (plain.total >= 0).all()


@given(st.integers(40, 3000), st.floats(-3, 3), st.integers(1, 3), st.integers(0, 5))
def test_knowing_a_factor_never_narrows_by_more_than_everything(
    draws: int, weight: float, columns: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    z = random.standard_normal((draws, columns))
    column = weight * z.sum(axis=1) + random.standard_normal(draws)
    assert 0.0 <= narrower_fraction(z, column) <= 1.0
