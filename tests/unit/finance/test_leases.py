"""Lease or buy at the end of the term, and the books of both kinds of lease."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.finance.leases import LeaseKind, advantage_of_leasing_usd, lease_books

TERMS: dict[str, Any] = {
    "cost_usd": np.array([386000.0]), "payment_usd": np.array([110500.0]), "payments": 4, "in_advance": False,
    "debt_rate": np.array([0.08]), "tax_fraction": np.array([0.21]),
    "depreciation_fractions": np.array([0.3333, 0.4444, 0.1482, 0.0741]), "residual_usd": np.array([0.0]),
    "residual_rate": np.array([0.12]), "buyout_usd": np.array([np.inf]),
}  # fmt: skip


def advantage(**changes: Any) -> float:
    return float(advantage_of_leasing_usd(**(TERMS | changes))[0])


def test_timing_decides_the_sign() -> None:
    assert advantage() == pytest.approx(13741.61, abs=0.01)
    assert advantage(in_advance=True) == pytest.approx(-5236.28, abs=0.01)


def test_a_residual_goes_to_the_lessor_at_its_own_rate() -> None:
    lost = 50000.0 * 0.79 / 1.12**4
    assert advantage(residual_usd=np.array([50000.0])) == pytest.approx(advantage() - lost)


def test_a_buyout_below_the_residual_is_all_that_is_lost() -> None:
    kept = advantage(residual_usd=np.array([50000.0]), buyout_usd=np.array([20000.0]))
    assert kept == pytest.approx(advantage(residual_usd=np.array([20000.0])))
    dear = advantage(residual_usd=np.array([50000.0]), buyout_usd=np.array([60000.0]))
    assert dear == pytest.approx(advantage(residual_usd=np.array([50000.0])))


def test_a_rent_that_is_the_loans_own_service_is_worth_no_more_than_its_shields() -> None:
    """Without tax, rent at the rate of debt costs what buying costs."""
    level = 386000.0 * 0.08 / (1 - 1.08**-4)
    found = advantage(payment_usd=np.array([level]), tax_fraction=np.array([0.0]))
    assert found == pytest.approx(0.0, abs=1e-6)


def test_a_finance_lease_charges_more_at_first_and_both_charge_the_same_in_all() -> None:
    paid, rate = np.full((1, 4), 100.0), np.array([0.1])
    finance, operating = (
        lease_books(payments_usd=paid, rate=rate, in_advance=False, kind=kind) for kind in LeaseKind
    )
    start = 100.0 * (1 - 1.1**-4) / 0.1
    np.testing.assert_allclose(finance.expense[0], start / 4 + finance.interest[0])
    assert finance.expense[0, 0] > 100.0 > finance.expense[0, -1]
    np.testing.assert_allclose(operating.expense, 100.0)
    np.testing.assert_allclose(operating.right_of_use, operating.liability, atol=1e-9)
    np.testing.assert_allclose(finance.liability, operating.liability)


def test_paid_in_advance_the_first_payment_bears_no_interest() -> None:
    books = lease_books(
        payments_usd=np.array([[100.0, 100.0]]), rate=np.array([0.1]), in_advance=True, kind=LeaseKind.FINANCE
    )
    np.testing.assert_allclose(books.interest[0], [100.0 / 1.1 * 0.1, 0.0], atol=1e-12)
    assert books.liability[0, -1] == pytest.approx(0.0, abs=1e-9)
