"""Conventions of tax depreciation beside the tables."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.finance.macrs import (
    deductions_usd,
    macrs_table,
    mid_month_fractions,
    mid_quarter_holds,
    until_disposal,
)

TABLE = macrs_table(catalog=open_catalog(), recovery_years=5)[0]


def test_forty_percent_in_the_last_quarter_is_not_more_than_forty() -> None:
    basis = np.array([[60.0, 40.0], [59.9, 40.1], [0.0, 0.0]])
    found = mid_quarter_holds(
        basis_usd=basis, quarters=np.array([2.0, 4.0]), threshold_fraction=np.array([0.4])
    )
    assert found.tolist() == [False, True, False]


def test_a_december_delivery_gets_five_percent_and_not_twenty() -> None:
    late = macrs_table(catalog=open_catalog(), recovery_years=5, quarter=4)[0]
    assert (TABLE[0], late[0]) == (0.2, 0.05)


def test_a_full_bonus_leaves_nothing_for_later() -> None:
    found = deductions_usd(basis_usd=np.array([7.0]), fractions=TABLE, bonus_fraction=np.array([1.0]))
    assert found.tolist() == [[7.0, 0.0, 0.0, 0.0, 0.0, 0.0]]


def test_a_batch_of_bonuses_leaves_the_table_as_it_was() -> None:
    before = TABLE.copy()
    found = deductions_usd(
        basis_usd=np.array([1.0, 1.0]), fractions=TABLE, bonus_fraction=np.array([0.0, 0.4])
    )
    np.testing.assert_allclose(found[0], before)
    np.testing.assert_allclose(found[1, 0], 0.52)
    np.testing.assert_array_equal(TABLE, before)


@pytest.mark.parametrize(
    ("year", "taken"), [(1.0, 0.1), (4.0, 0.712 + 0.0576), (6.0, 0.9424 + 0.0288), (7.0, 1.0)]
)
def test_the_year_of_a_sale_gets_half(year: float, taken: float) -> None:
    found = until_disposal(fractions=TABLE, disposal_year=np.array([year]), disposal_share=np.array([0.5]))
    assert found.sum() == pytest.approx(taken)


@pytest.mark.parametrize(("month", "first"), [(1, 2.461), (6, 1.391), (12, 0.107)])
def test_a_building_starts_in_the_middle_of_its_month(month: int, first: float) -> None:
    """Table A-7a, which makes up for its three decimals in the first year: 38 x 0.0001 points."""
    found = mid_month_fractions(recovery_years=39, month=month)
    assert found.shape == (40,)
    assert 100 * found[0] == pytest.approx(first, abs=0.0045)
    assert 100 * found[1] == pytest.approx(2.564, abs=0.0005)
