"""Which inputs are drawn, and what moves together."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.finance.uncertainty import Factor
from planner.ledger import Axis, Kind, Ledger, Line
from planner.scenario.load import load_scenario
from planner.sourced import Source
from planner.study.risk_inputs import UTILISATION, Inputs, _correlations, _together, inputs_of, ranged
from planner.study.risk_sampling import normal_scores


@cache
def found(name: str = "h200-1024-ndr") -> Evaluation:
    return evaluate(load_scenario(name), open_catalog())


def line(key: str, unit: str, where: str) -> Line:
    return Line(key, key, unit, Axis.SCALAR, Kind.GIVEN, source=Source(where), low=0.8, high=1.2)


def factor_of(inputs: Inputs, key: str) -> Factor:
    return next(one for one in inputs.factors if key in one.keys)


@pytest.mark.parametrize("name", ["h200-1024-ndr", "h200-serving-fleet", "gb200-nvl72-16"])
def test_every_ranged_line_is_in_exactly_one_factor_and_so_is_every_score(name: str) -> None:
    inputs = inputs_of(found(name))
    keys = [key for factor in inputs.factors for key in factor.keys]
    assert sorted(keys) == sorted(one.key for one in inputs.lines)
    assert {one.key for one in ranged(found(name))} <= set(keys)
    columns = [column for factor in inputs.factors for column in factor.columns]
    assert sorted(columns) == list(range(inputs.width))
    for one, column in zip(inputs.lines, inputs.columns, strict=True):
        assert column in factor_of(inputs, one.key).columns


def test_prices_of_a_family_and_points_of_a_curve_are_drawn_as_one() -> None:
    inputs = inputs_of(found())
    optics = factor_of(inputs, "price.osfp-400g-dr4.price_usd")
    assert "price.osfp-800g-2xdr4.price_usd" in optics.keys and len(optics.columns) == 1
    assert optics.name.startswith("Prices of transceivers (")
    curve = factor_of(inputs, "conversion.psu-titanium.efficiency_at_50_percent_fraction")
    assert len(curve.keys) > 2 and len(curve.columns) == 1
    assert len(factor_of(inputs, "price.hgx-h200.price_usd").keys) == 1


def test_utilisation_is_drawn_with_the_catalogs_band_and_never_over_one() -> None:
    drawn = next(one for one in inputs_of(found()).lines if one.key == UTILISATION)
    ratio, _ = found().parts.catalog.figure("risk", "utilisation_ratio")
    planned = found().ledger.scalar(UTILISATION)
    assert ratio.low is not None and ratio.high is not None
    assert drawn.low == pytest.approx(planned * ratio.low)
    assert drawn.high == pytest.approx(min(1.0, planned * ratio.high))
    full = evaluate(load_scenario("h200-1024-ndr", changes=["money.utilisation_fraction=1"]), open_catalog())
    drawn = next(one for one in inputs_of(full).lines if one.key == UTILISATION)
    assert drawn.high == 1.0


def test_sets_correlate_as_the_catalog_says() -> None:
    """Each set of the catalog's figures, from lines as a plan with a gas plant and two profiles would have them."""
    lines = [
        line("site.electricity_usd_per_kwh", "USD/kWh", "catalog/sites/us-virginia.yaml:10"),
        line("site.gas_price_usd_per_mwh", "USD/MWh", "catalog/sites/us-virginia.yaml:11"),
        line("site.carbon_kg_per_kwh", "kg/kWh", "catalog/sites/us-virginia.yaml:12"),
        line("calibration.scale_up_time_ratio", "1", "catalog/profiles/mine.yaml:1"),
        line("calibration.scale_out_time_ratio", "1", "catalog/profiles/mine.yaml:2"),
        line("calibration.gemm_ratio", "1", "catalog/profiles/other.yaml:1"),
    ]
    evaluation = found()
    ledger = Ledger(months=1)
    for one in lines:
        assert one.source is not None
        ledger.given(one.key, one.label, one.unit, 1.0, one.source)
    catalog = evaluation.parts.catalog
    inputs = _together(lines, replace(evaluation, ledger=ledger), _correlations(catalog))
    scores = normal_scores(3000, inputs.width, np.random.default_rng(1), correlated=inputs.correlated)
    for keys, name in ((2, "energy_prices_correlation"), (2, "one_calibration_correlation")):
        first = {"energy_prices_correlation": lines[0], "one_calibration_correlation": lines[3]}[name]
        factor = factor_of(inputs, first.key)
        assert len(factor.keys) == len(factor.columns) == keys
        have = np.corrcoef(scores[:, list(factor.columns)], rowvar=False)[0, 1]
        # 0.01: only whole ranks can be exchanged
        assert have == pytest.approx(catalog.figure("risk", name)[0].value, abs=0.01)
    for alone in (lines[2], lines[5]):
        assert factor_of(inputs, alone.key).keys == (alone.key,)


def test_a_quoted_price_moves_alone() -> None:
    quoted = line("price.qm9700.price_usd", "USD", "quotes/offer.csv:3")
    listed = [
        line(f"price.{part}.price_usd", "USD", f"catalog/switches/{part}.yaml:9")
        for part in ("sn4700", "sn2201")
    ]
    evaluation = found()
    inputs = _together([quoted, *listed], evaluation, _correlations(evaluation.parts.catalog))
    assert factor_of(inputs, quoted.key).keys == (quoted.key,)
    assert len(factor_of(inputs, listed[0].key).keys) == 2


def test_a_range_by_hand_is_drawn_where_the_source_states_none() -> None:
    inputs = inputs_of(found(), {"money.deposit_fraction": (0.1, 0.5)})
    drawn = next(one for one in inputs.lines if one.key == "money.deposit_fraction")
    assert (drawn.low, drawn.high) == (0.1, 0.5)
    assert factor_of(inputs, drawn.key).low == 0.1


def test_what_draws_assume_is_said_with_its_place_and_that_nobody_read_it() -> None:
    ties = inputs_of(found()).ties
    assert len(ties) == 3
    for one in ties:
        assert "catalog/assumptions/risk.yaml:" in one.where and "not verified" in one.where
        assert "verify in" in one.note
