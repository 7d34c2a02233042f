"""Rates that mean something, and reasons where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.discounting import npv
from planner.finance.returns import (
    RateOfReturn,
    irr,
    mirr,
    multiple_of_money,
    payback_periods,
    profitability_index,
    why_no_rate,
    xirr,
)

REASONS = {
    "a cost at the end of life": ([-100.0, 60.0, 60.0, -10.0], RateOfReturn.FOUND),
    "two rates above zero": ([-100.0, 230.0, -132.0], RateOfReturn.SEVERAL),
    "two rates below zero": ([-100.0, 120.0, -25.0], RateOfReturn.SEVERAL),
    "costs alone": ([-100.0, -20.0, 0.0], RateOfReturn.PURE_COST),
    "nothing at all": ([0.0, 0.0, 0.0], RateOfReturn.PURE_COST),
    "income alone": ([0.0, 20.0, 5.0], RateOfReturn.NOTHING_PAID),
    "more than tenfold": ([-1.0, 12.0, 0.0], RateOfReturn.OUT_OF_RANGE),
    "both signs and no rate": ([1.0, -1.0, 1.0], RateOfReturn.OUT_OF_RANGE),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_rate_is_given_or_refused_with_its_reason(name: str) -> None:
    flows, reason = REASONS[name]
    row = np.array([flows])
    assert why_no_rate(flows=row)[0] == reason
    assert np.isnan(irr(flows=row)[0]) == (reason is not RateOfReturn.FOUND)
    assert bool(reason.words) == (reason is not RateOfReturn.FOUND)


def test_a_cost_at_the_end_of_life_leaves_the_rate_that_is_earned() -> None:
    """A second root lies near -85 %; the ledger's search alone would take whichever is nearer to zero."""
    flows = np.array([[-100.0, 60.0, 60.0, -10.0]])
    rate = irr(flows=flows)
    assert 0.05 < rate[0] < 0.1
    assert npv(rate=rate, flows=flows)[0] == pytest.approx(0.0, abs=1e-9)


def test_a_higher_rate_from_zero_up_is_taken_before_a_nearer_one_below() -> None:
    """Roots at -20 % and +50 %: (x - 0.8)(x - 1.5) = x^2 - 2.3 x + 1.2, of which the sum is -0.1."""
    flows = np.array([[100.0, -230.0, 120.0]])
    assert irr(flows=flows)[0] == pytest.approx(0.5, abs=1e-9)


def test_dates_out_of_a_leap_year_change_the_rate() -> None:
    flows = np.array([[-100.0, 110.0]])
    plain = np.array(["2026-01-01", "2027-01-01"], dtype="M8[D]")
    leap = np.array(["2028-01-01", "2029-01-01"], dtype="M8[D]")
    assert xirr(flows=flows, dates=plain)[0] == pytest.approx(0.1, abs=1e-12)
    assert xirr(flows=flows, dates=leap)[0] == pytest.approx(1.1 ** (365 / 366) - 1, abs=1e-12)


def test_payback_needs_a_crossing() -> None:
    flows = np.array(
        [[-10.0, 5.0, 5.0, 0.0], [-10.0, 4.0, 4.0, 4.0], [-10.0, 3.0, 3.0, 3.0], [0.0, 1.0, 1.0, 1.0]]
    )
    np.testing.assert_array_equal(payback_periods(flows=flows), [2.0, 2.5, np.nan, 0.0])


def test_multiples_and_indices() -> None:
    assert np.isnan(profitability_index(rate=np.array([0.1]), flows=np.array([[5.0, 5.0]]))[0])
    assert multiple_of_money(
        invested=np.array([50.0]), realised=np.array([0.0]), unrealised=np.array([25.0])
    )[0] == pytest.approx(0.5)


def test_the_modified_rate_is_the_ledgers() -> None:
    """Microsoft's example for MIRR: 12.61 % (recalled)."""
    flows = np.array([[-120000.0, 39000, 30000, 21000, 37000, 46000]])
    found = mirr(flows=flows, finance_rate=np.array([0.1]), reinvest_rate=np.array([0.12]))
    assert found[0] == pytest.approx(0.126094, abs=1e-6)
