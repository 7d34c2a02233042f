"""Months and fiscal years of book depreciation."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.straight_line import by_year, straight_line_usd, yearly_fractions


def test_sixty_months_from_october_touch_six_fiscal_years() -> None:
    charge = straight_line_usd(
        basis_usd=np.array([6e6]), salvage_usd=np.array([0.0]), life_months=np.array([60.0]),
        first_month=np.array([9.0]), months=72,
    )  # fmt: skip
    yearly = by_year(monthly=charge, first_month_of_year=0)[0]
    np.testing.assert_allclose(yearly, [0.3e6, 1.2e6, 1.2e6, 1.2e6, 1.2e6, 0.9e6])


def test_a_horizon_that_ends_first_leaves_a_book_value() -> None:
    charge = straight_line_usd(
        basis_usd=np.array([100.0]), salvage_usd=np.array([10.0]), life_months=np.array([10.0]),
        first_month=np.array([2.0]), months=7,
    )  # fmt: skip
    np.testing.assert_allclose(charge[0], [0.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0])


def test_a_life_that_ends_within_a_month_charges_its_part() -> None:
    charge = straight_line_usd(
        basis_usd=np.array([5.0]), salvage_usd=np.array([0.0]), life_months=np.array([2.5]),
        first_month=np.array([0.0]), months=4,
    )  # fmt: skip
    np.testing.assert_allclose(charge[0], [2.0, 2.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("start", "years"), [(0, [12.0, 12.0, 1.0]), (11, [1.0, 12.0, 12.0]), (23, [1.0, 12.0, 12.0])]
)
def test_fiscal_years_are_cut_where_they_start(start: int, years: list[float]) -> None:
    assert by_year(monthly=np.ones((2, 25)), first_month_of_year=start).tolist() == [years, years]


def test_half_a_first_year_leaves_half_a_last_one() -> None:
    found = yearly_fractions(life_years=np.array([5.0, 3.0]), first_year_share=np.array([0.5, 1.0]), years=7)
    np.testing.assert_allclose(found[0], [0.1, 0.2, 0.2, 0.2, 0.2, 0.1, 0.0])
    np.testing.assert_allclose(found[1, :4], [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-15)
