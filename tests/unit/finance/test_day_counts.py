"""Year fractions at the ends of months and of years."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.day_counts import DayCount, days_of_serials, year_fractions, years_from_first

ENDS = [
    ("2027-01-31", "2027-02-28", DayCount.THIRTY_360, 28.0 / 360.0),
    ("2027-01-31", "2027-03-31", DayCount.THIRTY_360, 60.0 / 360.0),
    ("2027-01-29", "2027-03-31", DayCount.THIRTY_360, 62.0 / 360.0),
    ("2027-01-29", "2027-03-31", DayCount.THIRTY_E_360, 61.0 / 360.0),
    ("2027-12-31", "2028-12-31", DayCount.THIRTY_E_360, 1.0),
    ("2027-01-01", "2028-01-01", DayCount.ACTUAL_360, 365.0 / 360.0),
    ("2028-01-01", "2029-01-01", DayCount.ACTUAL_365_FIXED, 366.0 / 365.0),
    ("2028-01-01", "2029-01-01", DayCount.ACTUAL_ACTUAL_ISDA, 1.0),
    ("2027-07-01", "2028-07-01", DayCount.ACTUAL_ACTUAL_ISDA, 184.0 / 365.0 + 182.0 / 366.0),
    ("2000-02-29", "2000-02-29", DayCount.ACTUAL_ACTUAL_ISDA, 0.0),
]


@pytest.mark.parametrize(("start", "end", "day_count", "years"), ENDS)
def test_years_between_two_dates(start: str, end: str, day_count: DayCount, years: float) -> None:
    first, last = (np.array([day], dtype="M8[D]") for day in (start, end))
    found = year_fractions(start=first, end=last, day_count=day_count)
    assert found[0] == pytest.approx(years, abs=1e-14)


def test_dates_of_several_scenarios_keep_their_own_start() -> None:
    dates = np.array([["2027-01-01", "2027-07-02"], ["2026-07-01", "2027-07-01"]], dtype="M8[D]")
    np.testing.assert_allclose(years_from_first(dates=dates), [[0.0, 182 / 365], [0.0, 1.0]])


def test_day_numbers_of_an_office_program() -> None:
    found = days_of_serials(serials=np.array([[36526.0, 45658.0]]))
    assert found.astype(str).tolist() == [["2000-01-01", "2025-01-01"]]
