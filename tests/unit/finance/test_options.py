"""Two options against each other: where they cost the same, from when, and what their difference returns."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.options import (
    break_even_month,
    break_even_utilisation_fraction,
    difference_rate_fraction,
    lease_payment_usd,
)
from planner.ledger.rates import present_value

ARRAY = np.array


def test_at_the_break_even_utilisation_both_cost_the_same() -> None:
    used = ARRAY([0.6, 0.9, 0.5])
    fixed, slope = ARRAY([50.0, 20.0, 70.0]), ARRAY([10.0, 5.0, 0.0])
    other_slope = ARRAY([100.0, 60.0, 100.0])
    found = break_even_utilisation_fraction(
        utilisation_fraction=used, npv_usd=fixed + slope * used, varying_usd=slope * used,
        other_npv_usd=other_slope * used, other_varying_usd=other_slope * used,
    )  # fmt: skip
    assert fixed + slope * found == pytest.approx(other_slope * found)
    assert np.all((found > 0) & (found <= 1))


def test_options_that_cross_beyond_full_use_or_never_have_no_break_even() -> None:
    found = break_even_utilisation_fraction(
        utilisation_fraction=ARRAY([0.5, 0.5]), npv_usd=ARRAY([300.0, 40.0]), varying_usd=ARRAY([0.0, 0.0]),
        other_npv_usd=ARRAY([100.0, 60.0]), other_varying_usd=ARRAY([100.0, 0.0]),
    )  # fmt: skip
    assert np.isnan(found).all()


def test_the_break_even_month_is_the_last_crossing_not_the_first() -> None:
    ahead_then_behind = ARRAY([[0.0, 10.0, -30.0, 10.0, 15.0]])
    month = break_even_month(flows=ahead_then_behind, other_flows=np.zeros((1, 5)))
    assert month.tolist() == [4.0]


def test_one_that_is_never_dearer_breaks_even_at_once_and_one_that_ends_dearer_never() -> None:
    rent, cheap = ARRAY([[0.0, -5.0, -5.0]]), ARRAY([[0.0, -4.0, -4.0]])
    assert break_even_month(flows=cheap, other_flows=rent).tolist() == [0.0]
    assert np.isnan(break_even_month(flows=rent, other_flows=cheap)).all()


def test_the_difference_has_the_same_rate_either_way_and_is_worth_nothing_at_it() -> None:
    buy, rent = ARRAY([[-900.0, -5.0, -5.0, 200.0]]), ARRAY([[0.0, -300.0, -300.0, -300.0]])
    one, other = (difference_rate_fraction(flows=a, reference_flows=b) for a, b in ((buy, rent), (rent, buy)))
    assert one == pytest.approx(other)
    monthly = (1 + one) ** (1 / 12) - 1
    assert present_value(rate=monthly, flows=buy - rent, periods=np.arange(4.0)) == pytest.approx(
        0.0, abs=1e-6
    )


@pytest.mark.parametrize("in_advance", [False, True])
def test_a_lessor_earns_its_rate_on_the_payment(in_advance: bool) -> None:
    price, residual, rate, payments = ARRAY([1000.0]), ARRAY([150.0]), ARRAY([0.01]), 36
    level = lease_payment_usd(
        price_usd=price,
        residual_usd=residual,
        rate=rate,
        payments=ARRAY([float(payments)]),
        in_advance=in_advance,
    )
    dates = np.arange(float(payments)) + (0.0 if in_advance else 1.0)
    flows = np.repeat(level[:, None], payments, axis=1)
    worth = present_value(rate=rate, flows=flows, periods=dates) + residual * 1.01**-payments
    assert worth == pytest.approx(price)
