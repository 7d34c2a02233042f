"""Losses used, lost and carried."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.taxes import Losses, after_tax_flows_usd, income_tax, sale_after_tax_usd

INCOME = np.array([[-100.0, 50.0, 100.0, 100.0]])
DUE = {
    Losses.USED: [-20.0, 10.0, 20.0, 20.0],
    Losses.FLOORED: [0.0, 10.0, 20.0, 20.0],
    Losses.CARRIED: [0.0, 2.0, 8.0, 20.0],
}


@pytest.mark.parametrize("losses", Losses)
def test_tax_by_what_becomes_of_a_loss(losses: Losses) -> None:
    tax = income_tax(
        income_usd=INCOME, tax_fraction=np.array([0.2]), losses=losses, cap_fraction=np.array([0.8])
    )
    np.testing.assert_allclose(tax.due[0], DUE[losses])


def test_a_floor_loses_the_tax_on_the_loss() -> None:
    def total(losses: Losses) -> float:
        tax = income_tax(
            income_usd=INCOME, tax_fraction=np.array([0.2]), losses=losses, cap_fraction=np.array([1.0])
        )
        return float(tax.due.sum())

    assert total(Losses.USED) == pytest.approx(total(Losses.CARRIED))
    assert total(Losses.FLOORED) - total(Losses.CARRIED) == pytest.approx(20.0)


def test_a_capped_carry_waits_for_the_next_year() -> None:
    tax = income_tax(
        income_usd=INCOME, tax_fraction=np.array([0.2]), losses=Losses.CARRIED, cap_fraction=np.array([0.5])
    )
    np.testing.assert_allclose(tax.losses_used[0], [0.0, 25.0, 50.0, 25.0])
    np.testing.assert_allclose(tax.losses_left[0], [100.0, 75.0, 25.0, 0.0])


def test_tax_comes_off_what_is_earned() -> None:
    found = after_tax_flows_usd(
        earned_usd=np.array([[10.0, 0.0]]), tax_usd=np.array([[3.0, -1.0]]), invested_usd=np.array([20.0])
    )
    assert found.tolist() == [[-20.0, 7.0, 1.0]]


def test_a_sale_below_its_tax_basis_saves_tax() -> None:
    found = sale_after_tax_usd(
        price_usd=np.array([10.0, 30.0]), tax_basis_usd=np.array([30.0, 10.0]), tax_fraction=np.array([0.25])
    )
    assert found.tolist() == [15.0, 25.0]
