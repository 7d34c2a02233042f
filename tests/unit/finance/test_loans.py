"""Loans at odd terms."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.loans import (
    amortisation,
    construction_interest,
    implied_rate,
    least_cover,
    loan_payment_usd,
)


def test_without_interest_a_loan_is_repaid_in_equal_parts() -> None:
    loan = amortisation(rate=np.array([0.0]), periods=4, lent_usd=np.array([100.0]))
    assert loan.principal.tolist() == [[25.0, 25.0, 25.0, 25.0]]
    assert loan.interest.sum() == 0.0


def test_periods_of_interest_alone_leave_the_debt_as_it_is() -> None:
    loan = amortisation(rate=np.array([0.1]), periods=5, lent_usd=np.array([100.0]), interest_only=2)
    np.testing.assert_allclose(loan.closing[0, :2], 100.0)
    np.testing.assert_allclose(loan.interest[0, :3], 10.0)
    service = (loan.interest + loan.principal)[0, 2:]
    np.testing.assert_allclose(service, 100.0 * 0.1 / (1 - 1.1**-3))


def test_the_implied_rate_is_the_one_the_payment_was_made_with() -> None:
    rates = np.array([0.001, 0.01, 0.05])
    paid = loan_payment_usd(
        rate=rates, periods=np.array([36.0]), lent_usd=np.array([1000.0]), in_advance=False
    )
    found = implied_rate(periods=36, payment_usd=paid, lent_usd=np.full(3, 1000.0))
    np.testing.assert_allclose(found, rates, atol=1e-12)


def test_cover_without_debt_is_not_a_number() -> None:
    assert np.isnan(least_cover(cash_usd=np.ones((1, 3)), service_usd=np.zeros((1, 3)))[0])


def test_interest_while_building_grows_with_earlier_draws() -> None:
    early = construction_interest(draws_usd=np.array([[60e6, 40e6]]), rate=np.array([0.08]))
    late = construction_interest(draws_usd=np.array([[40e6, 60e6]]), rate=np.array([0.08]))
    assert late.capitalised[0] == pytest.approx(107_328_000.0)
    assert early.capitalised[0] > late.capitalised[0]
