"""Selling GPU-hours: the ramp, the fall of prices, EBITDA, and the lines that say the same as the functions."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.finance.operator import price_usd_per_gpu_hour, ramp_fraction
from planner.scenario.load import load_scenario

SOLD = "money.sell_usd_per_gpu_hour=3.0"
TERMS = "money.operator={ramp_months: 6, ramp_start_fraction: 0.25, price_fall_fraction_per_year: 0.15}"


def found(*changes: str, name: str = "h200-1024-ndr") -> Evaluation:
    return evaluate(load_scenario(name, changes=list(changes)), open_catalog())


def test_without_terms_all_is_sold_at_once_at_one_price() -> None:
    ledger = found(SOLD).ledger
    assert "operator.price_usd_per_gpu_hour" not in ledger
    revenue = ledger.value("cash.revenue_usd")[0]
    assert np.ptp(revenue[1:]) == pytest.approx(0.0, abs=1e-6)


def test_hours_and_prices_by_month_are_those_of_the_functions() -> None:
    plain, terms = found(SOLD).ledger, found(SOLD, TERMS).ledger
    age = np.arange(1.0, float(terms.months))
    share = ramp_fraction(age_months=age, ramp_months=np.array([6.0]), start_fraction=np.array([0.25]))
    hours = plain.value("timing.gpu_hours_sold")[0][1:] * share
    assert terms.value("timing.gpu_hours_sold")[0][1:] == pytest.approx(hours)
    price = price_usd_per_gpu_hour(
        price=np.array([3.0]), fall_fraction_per_year=np.array([0.15]), months=age - 1.0
    )
    assert terms.value("cash.revenue_usd")[0][1:] == pytest.approx(hours * price)


def test_each_phase_ramps_from_its_own_first_day() -> None:
    ledger = found(SOLD, "money.operator={ramp_months: 12}", name="h200-phased").ledger
    ramped, whole = ledger.value("operator.gpu_hours_ramped")[0], ledger.value("timing.gpu_hours")[0]
    second = int(ledger.scalar("phase.second.service_month"))
    before, after = ramped[second] / whole[second], ramped[second + 1] / whole[second + 1]
    assert after < before < 1.0
    assert ramped[-1] == pytest.approx(whole[-1])


def test_ebitda_is_revenue_less_running_costs_and_its_years_add_up() -> None:
    ledger = found(SOLD, TERMS).ledger
    earned = ledger.value("operator.ebitda_usd")[0]
    assert earned == pytest.approx(ledger.value("cash.revenue_usd")[0] + ledger.value("cash.opex_usd")[0])
    years = sum(ledger.scalar(f"operator.ebitda_year{year}_usd") for year in range(1, 6))
    assert years == pytest.approx(earned.sum())
    assert ledger.scalar("operator.revenue_year1_usd_per_gpu_hour") == pytest.approx(
        ledger.scalar("operator.revenue_year1_usd") / ledger.scalar("operator.gpu_hours_year1")
    )


def test_who_sells_nothing_has_no_operators_view() -> None:
    ledger = found().ledger
    assert not [line.key for line in ledger if line.key.startswith("operator.")]


def test_terms_without_a_price_are_refused_with_the_remedy() -> None:
    with pytest.raises(ScenarioError, match="sell_usd_per_gpu_hour"):
        found("money.operator={ramp_months: 6}")
