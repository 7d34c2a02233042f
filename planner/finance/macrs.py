"""Tax depreciation in the United States (MACRS): percentage tables, conventions and bonus.

The percentages are those of IRS Publication 946, kept in ``catalog/depreciation``; a formula of an office
program, such as VDB, doesn't reproduce them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.catalog.depreciation import DepreciationLife
from planner.catalog.store import Catalog
from planner.errors import CatalogError, Place, Problem
from planner.sourced import Source

HALF_YEAR: Final = 0
"""Stands for a quarter where the half-year convention holds."""
FIRST_YEAR_SHARES: Final = (0.5, 0.875, 0.625, 0.375, 0.125)
"""Share of the first tax year that counts: half-year, then mid-quarter by quarter in service."""


def macrs_table(*, catalog: Catalog, recovery_years: int, quarter: int = HALF_YEAR) -> tuple[Floats, Source]:
    """Shares of the basis by tax year, and where they stand: for Python and for the workbook.

    Args:
        catalog: With the tables.
        recovery_years: 3, 5, 7, 10, 15 or 20.
        quarter: Quarter in service under the mid-quarter convention, else `HALF_YEAR`.

    Returns:
        Shape (recovery_years + 1,), and the source.

    Raises:
        CatalogError: No table has this recovery period.

    Source:
        IRS Publication 946, appendix A, tables A-1 to A-5; finance_cases.yaml, macrs_a1_5 and others.

    >>> from planner.catalog.store import open_catalog
    >>> macrs_table(catalog=open_catalog(), recovery_years=5)[0]
    array([0.2   , 0.32  , 0.192 , 0.1152, 0.1152, 0.0576])
    """
    assert 0 <= quarter <= 4, quarter
    name = "macrs-half-year" if quarter == HALF_YEAR else f"macrs-mid-quarter-{quarter}"
    entry = catalog.entry(DepreciationLife, name)
    if recovery_years not in entry.item.columns:
        raise CatalogError(
            Problem(
                f"no column for property of {recovery_years} years",
                Place(entry.document.path),
                remedy=f"one of {', '.join(str(years) for years in entry.item.columns)} years",
            )
        )
    field, column = entry.item.columns[recovery_years]
    return np.array(column.percent) / 100.0, entry.source(field)


def last_quarter_fraction(*, basis_usd: Floats, quarters: Floats) -> Floats:
    """Share of a tax year's basis that goes into service in its last quarter.

    Args:
        basis_usd: Shape (n, assets), after any deduction at once by section 179, before bonus.
        quarters: Shape (assets,) or (n, assets), 1 to 4.

    Returns:
        Shape (n,); 0 where nothing is bought.

    Source:
        finance_cases.yaml, macrs_midq_test.

    >>> last_quarter_fraction(basis_usd=np.array([[4000.0, 1000.0, 5000.0]]), quarters=np.array([1.0, 3.0, 4.0]))
    array([0.5])
    """
    total = basis_usd.sum(axis=-1)
    late = np.where(quarters == 4.0, basis_usd, 0.0).sum(axis=-1)
    return np.where(total > 0, late / np.where(total > 0, total, 1.0), 0.0)


def mid_quarter_holds(
    *, basis_usd: Floats, quarters: Floats, threshold_fraction: Floats
) -> NDArray[np.bool_]:
    """Whether every asset of the tax year goes by the mid-quarter convention.

    Args:
        basis_usd: Shape (n, assets).
        quarters: Shape (assets,) or (n, assets), 1 to 4.
        threshold_fraction: ``mid_quarter_threshold_fraction`` of ``catalog/assumptions/tax.yaml``; the share
            has to be more.

    >>> mid_quarter_holds(basis_usd=np.array([[6.0, 4.0], [5.0, 5.0]]), quarters=np.array([1.0, 4.0]),
    ...     threshold_fraction=np.array([0.4]))
    array([False,  True])
    """
    return np.asarray(last_quarter_fraction(basis_usd=basis_usd, quarters=quarters) > threshold_fraction)


def deductions_usd(*, basis_usd: Floats, fractions: Floats, bonus_fraction: Floats) -> Floats:
    """Deductions by tax year: the bonus at once, the rest by table.

    Args:
        basis_usd: Shape (n,).
        fractions: Shape (years,) or (n, years), as of `macrs_table`.
        bonus_fraction: Shape (n,), share deducted in the first year.

    Returns:
        Shape (n, years).

    Source:
        planner-finance-notes: a basis of 1 M with 40 % gives 520,000, then 192,000.

    >>> table = np.array([0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576])
    >>> deductions_usd(basis_usd=np.array([1e6]), fractions=table, bonus_fraction=np.array([0.4])).round(0)
    array([[520000., 192000., 115200.,  69120.,  69120.,  34560.]])
    """
    found = (basis_usd * (1.0 - bonus_fraction))[:, None] * fractions
    found[:, 0] += basis_usd * bonus_fraction
    return found


def until_disposal(*, fractions: Floats, disposal_year: Floats, disposal_share: Floats) -> Floats:
    """Shares of the basis where the asset is sold before the table ends.

    Args:
        fractions: Shape (years,) or (n, years).
        disposal_year: Shape (n,), tax year of the sale, 1 for the first; past the table for none.
        disposal_share: Shape (n,), part of that year's deduction: 0.5 under the half-year convention, 0.125,
            0.375, 0.625 or 0.875 by quarter of the sale under the mid-quarter one.

    Returns:
        Shape (n, years); what is missing from 1 is the tax basis left at the sale.

    Source:
        IRS Publication 946 (recalled): half a year, or the months to the middle of the quarter.

    >>> until_disposal(fractions=np.array([0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576]),
    ...     disposal_year=np.array([3.0]), disposal_share=np.array([0.5]))
    array([[0.2  , 0.32 , 0.096, 0.   , 0.   , 0.   ]])
    """
    year = np.arange(1.0, fractions.shape[-1] + 1.0)
    sold = disposal_year[:, None]
    share = np.where(year < sold, 1.0, np.where(year == sold, disposal_share[:, None], 0.0))
    return np.asarray(fractions * share)


def declining_balance_fractions(*, recovery_years: int, first_year_share: float) -> Floats:
    """The rule behind the tables: declining balance, then straight line once that gives more.

    Twice the straight-line rate up to 10 years, one and a half times for 15 and 20. The publication rounds so
    that columns sum to 100: up to 0.8 hundredths of a point from the rule, 1.4 in the second quarter's 7 years.

    Args:
        recovery_years: Whole years.
        first_year_share: One of `FIRST_YEAR_SHARES`.

    Returns:
        Shape (recovery_years + 1,); sums to 1.

    >>> declining_balance_fractions(recovery_years=5, first_year_share=0.5).round(4)
    array([0.2   , 0.32  , 0.192 , 0.1152, 0.1152, 0.0576])
    """
    rate = (2.0 if recovery_years <= 10 else 1.5) / recovery_years
    found = [min(1.0, rate * first_year_share)]
    left = 1.0 - found[0]
    for year in range(1, recovery_years + 1):
        years_left = recovery_years - first_year_share - (year - 1)
        found.append(min(left, max(left * rate, left / years_left)))
        left -= found[-1]
    return np.array(found)


def mid_month_fractions(*, recovery_years: float, month: int) -> Floats:
    """Straight line from the middle of a month: buildings, 39 years.

    Args:
        recovery_years: 39 for nonresidential property.
        month: Month in service within the tax year, 1 to 12.

    Returns:
        Shape (tax years,); sums to 1.

    Source:
        The rule behind table A-7a of IRS Publication 946, whose rounding to three decimals makes January's first
        year 2.461 % (the rule has 2.457 %) and the others 2.564 %; read in a copy.

    >>> mid_month_fractions(recovery_years=39, month=1)[[0, 1, -1]].round(5)
    array([0.02457, 0.02564, 0.00107])
    """
    assert 1 <= month <= 12, month
    first = (12.5 - month) / 12.0
    ends = np.minimum(first + np.arange(np.ceil(recovery_years - first) + 1.0), recovery_years)
    return np.diff(ends, prepend=0.0) / recovery_years
