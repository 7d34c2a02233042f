"""Straight-line depreciation: of the books by month, and of tax laws by year."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.units import MONTHS_PER_YEAR


def straight_line_usd(
    *, basis_usd: Floats, salvage_usd: Floats, life_months: Floats, first_month: Floats, months: int
) -> Floats:
    """Charge by month, even from the first month in service until the life is over.

    A life that ends within a month gives that month its part. What the months don't reach is left over.

    Args:
        basis_usd: Shape (n,).
        salvage_usd: Shape (n,), value that stays on the books.
        life_months: Shape (n,).
        first_month: Shape (n,), month that has the first charge, from 0.
        months: Length of the axis.

    Returns:
        Shape (n, months).

    Source:
        planner-finance-notes: 6.0 M over 60 months from October touch six fiscal years.

    >>> charge = straight_line_usd(basis_usd=np.array([6.0]), salvage_usd=np.array([0.0]),
    ...     life_months=np.array([60.0]), first_month=np.array([9.0]), months=72)
    >>> by_year(monthly=charge, first_month_of_year=0).round(6)
    array([[0.3, 1.2, 1.2, 1.2, 1.2, 0.9]])
    """
    ends = np.arange(1.0, months + 1.0)
    passed = np.clip((ends - first_month[:, None]) / life_months[:, None], 0.0, 1.0)
    return np.diff(passed, axis=1, prepend=0.0) * (basis_usd - salvage_usd)[:, None]


def by_year(*, monthly: Floats, first_month_of_year: int) -> Floats:
    """Totals by fiscal year of a series by month.

    Args:
        monthly: Shape (n, months).
        first_month_of_year: Month of the fiscal year that the series starts in, 0 for its first.

    Returns:
        Shape (n, years), cut years at both ends included.

    >>> by_year(monthly=np.ones((1, 15)), first_month_of_year=9)
    array([[ 3., 12.]])
    """
    year = int(MONTHS_PER_YEAR)
    before = first_month_of_year % year
    after = -(before + monthly.shape[1]) % year
    padded = np.pad(monthly, ((0, 0), (before, after)))
    return np.asarray(padded.reshape(monthly.shape[0], -1, year).sum(axis=2))


def yearly_fractions(*, life_years: Floats, first_year_share: Floats, years: int) -> Floats:
    """Shares of the basis by tax year, even but for the first and last.

    For tax laws that write off in equal parts: pro rata by month in service, or half a year.

    Args:
        life_years: Shape (n,).
        first_year_share: Shape (n,), part of the first year that counts: 1, 0.5, or months over 12.
        years: Length of the axis.

    Returns:
        Shape (n, years).

    >>> yearly_fractions(life_years=np.array([3.0]), first_year_share=np.array([0.25]), years=4).round(6)
    array([[0.083333, 0.333333, 0.333333, 0.25    ]])
    """
    ends = np.arange(years) + first_year_share[:, None]
    passed = np.minimum(ends / life_years[:, None], 1.0)
    return np.diff(passed, axis=1, prepend=0.0)
