"""Parts of a year between two dates, by the conventions that contracts and programs name."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats

Dates = NDArray[np.datetime64]
"""Days, ``datetime64[D]``."""

EPOCH: Final = np.datetime64("1899-12-30", "D")
"""Day 0 of an office program; right from 1900-03-01 on."""


class DayCount(StrEnum):
    """How days become years."""

    ACTUAL_365_FIXED = "act/365F"
    """Actual days over 365, in leap years too: what XNPV and XIRR of office programs use."""
    ACTUAL_360 = "act/360"
    """Actual days over 360: money markets in USD and EUR."""
    THIRTY_360 = "30/360"
    """Months of 30 days; a 31st counts as the 30th, at the end only if the start is a 30th or 31st."""
    THIRTY_E_360 = "30E/360"
    """Months of 30 days; every 31st counts as the 30th (basis 4 of YEARFRAC)."""
    ACTUAL_ACTUAL_ISDA = "act/act ISDA"
    """Days in leap years over 366 and all others over 365."""


def year_fractions(*, start: Dates, end: Dates, day_count: DayCount) -> Floats:
    """Years from one date to another.

    Args:
        start: First day, any shape.
        end: Last day, of a shape that broadcasts with it; not before it.
        day_count: The convention.

    Returns:
        The shape both broadcast to.

    Source:
        2006 ISDA definitions, section 4.16 (recalled); the answers in the tests are published ones.

    >>> start, end = np.array(["2008-03-01"], dtype="M8[D]"), np.array(["2008-10-31"], dtype="M8[D]")
    >>> year_fractions(start=start, end=end, day_count=DayCount.THIRTY_E_360).round(9)  # 239 / 360
    array([0.66388889])
    """
    return _COUNTS[day_count](start.astype("M8[D]"), end.astype("M8[D]"))


def years_from_first(*, dates: Dates, day_count: DayCount = DayCount.ACTUAL_365_FIXED) -> Floats:
    """Years from the first listed date to each.

    Args:
        dates: Shape (periods,) or (n, periods); no date before the first.

    Returns:
        The same shape, 0 in the first place.

    >>> years_from_first(dates=np.array(["2027-01-01", "2028-01-01"], dtype="M8[D]"))
    array([0., 1.])
    """
    return year_fractions(start=dates[..., :1], end=dates, day_count=day_count)


def days_of_serials(*, serials: Floats) -> Dates:
    """Days of an office program's day numbers.

    >>> days_of_serials(serials=np.array([46388.0]))
    array(['2027-01-01'], dtype='datetime64[D]')
    """
    return EPOCH + serials.astype(np.int64).astype("m8[D]")


def _days(start: Dates, end: Dates) -> Floats:
    return np.asarray((end - start).astype(np.float64))


def _parts(days: Dates) -> tuple[Floats, Floats, Floats]:
    """Year, month from 0 and day of the month from 1."""
    months = days.astype("M8[M]")
    count = months.astype(np.int64)
    day = (days - months.astype("M8[D]")).astype(np.float64) + 1.0
    return (1970 + count // 12).astype(np.float64), (count % 12).astype(np.float64), day


def _thirty(start: Dates, end: Dates, *, every: bool) -> Floats:
    (year1, month1, day1), (year2, month2, day2) = _parts(start), _parts(end)
    first = np.minimum(day1, 30.0)
    shortened = np.minimum(day2, 30.0)
    last = shortened if every else np.where(first >= 30.0, shortened, day2)
    return np.asarray(((year2 - year1) * 360.0 + (month2 - month1) * 30.0 + (last - first)) / 360.0)


def _actual_actual(start: Dates, end: Dates) -> Floats:
    (year1, into1), (year2, into2) = _into_year(start), _into_year(end)
    return (year2 - year1) + (into2 - into1)


def _into_year(days: Dates) -> tuple[Floats, Floats]:
    """Year, and the share of it that has passed."""
    years = days.astype("M8[Y]")
    first, after = years.astype("M8[D]"), (years + 1).astype("M8[D]")
    return years.astype(np.float64), _days(first, days) / _days(first, after)


_COUNTS: Final[dict[DayCount, Callable[[Any, Any], Floats]]] = {
    DayCount.ACTUAL_365_FIXED: lambda start, end: _days(start, end) / 365.0,
    DayCount.ACTUAL_360: lambda start, end: _days(start, end) / 360.0,
    DayCount.THIRTY_360: lambda start, end: _thirty(start, end, every=False),
    DayCount.THIRTY_E_360: lambda start, end: _thirty(start, end, every=True),
    DayCount.ACTUAL_ACTUAL_ISDA: _actual_actual,
}
