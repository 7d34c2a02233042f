"""Rates of return over long horizons and odd flows."""

from __future__ import annotations

import numpy as np
import pytest

from planner.ledger import rates


def rate_of(flows: list[float]) -> float:
    row = np.array([flows])
    return float(rates.internal_rate(flows=row, periods=np.arange(row.shape[1], dtype=np.float64))[0])


@pytest.mark.parametrize("months", [12, 60, 240, 360, 600])
@pytest.mark.parametrize("rate", [-0.5, -0.02, -1e-4, 0.0, 1e-4, 0.01, 0.2, 2.0])
def test_the_rate_is_found_at_any_horizon(months: int, rate: float) -> None:
    """A flow now and one at the end that has grown at the rate."""
    flows = [-1000.0, *[0.0] * (months - 1), 1000.0 * (1.0 + rate) ** months]
    assert rate_of(flows) == pytest.approx(rate, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize(
    "flows",
    [[-1.0, -2.0, -3.0], [5.0, 0.0, 5.0], [0.0, 0.0], [-100.0, *[0.0] * 400], [0.0] * 400 + [1.0], [-3.0]],
)
def test_flows_of_one_sign_have_no_rate(flows: list[float]) -> None:
    assert np.isnan(rate_of(flows))


def test_of_two_rates_the_one_nearer_to_zero_is_taken() -> None:
    """-100, 230, -132: zero at 10 % and at 20 %."""
    assert rate_of([-100.0, 230.0, -132.0]) == pytest.approx(0.1, abs=1e-9)


def test_a_rate_beyond_the_limits_is_none() -> None:
    assert np.isnan(rate_of([-1.0, 12.0]))


def test_idle_months_before_the_first_flow_do_not_change_the_rate() -> None:
    assert rate_of([0.0] * 30 + [-100.0, 60.0, 60.0]) == pytest.approx(
        rate_of([-100.0, 60.0, 60.0]), abs=1e-12
    )


@pytest.mark.parametrize("flows", [[-5.0], [-1.0, -2.0], [1.0, 2.0], [0.0, 0.0]])
def test_there_is_no_modified_rate_without_both_signs(flows: list[float]) -> None:
    rate = np.array([0.01])
    assert np.isnan(rates.modified_rate(flows=np.array([flows]), finance_rate=rate, reinvest_rate=rate)[0])


@pytest.mark.parametrize("rate", [0.0, 1e-14, 1e-10, 1e-6])
def test_a_payment_comes_to_an_even_share_as_the_rate_vanishes(rate: float) -> None:
    found = rates.payment(rate=np.array([rate]), periods=np.array([60.0]), present=np.array([6000.0]))
    # First order of the annuity: an even share plus half the interest on the loan.
    assert found[0] == pytest.approx(100.0 * (1.0 + rate * 61.0 / 2.0), rel=1e-9)
