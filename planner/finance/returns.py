"""What an investment returns: rates, payback, multiples. Cash in is positive."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.finance.day_counts import Dates, DayCount, years_from_first
from planner.ledger.rates import internal_rate, modified_rate, present_value, root_counts

mirr = modified_rate
"""Modified rate of return: the one function the ledger, the workbook and this module share."""


class RateOfReturn(IntEnum):
    """Whether flows have an internal rate of return, and why not."""

    FOUND = 0
    PURE_COST = 1
    """No flow in."""
    NOTHING_PAID = 2
    """No flow out."""
    SEVERAL = 3
    """Several rates make the present value zero; none of them is the answer."""
    OUT_OF_RANGE = 4
    """None between -95 % and 1,000 % a period."""

    @property
    def words(self) -> str:
        """Why there is no rate, for a report."""
        return {
            RateOfReturn.FOUND: "",
            RateOfReturn.PURE_COST: "only costs: compare present values, or the difference to another option",
            RateOfReturn.NOTHING_PAID: "nothing is paid in",
            RateOfReturn.SEVERAL: "several rates fit: use the present value or the modified rate",
            RateOfReturn.OUT_OF_RANGE: "no rate between -95 % and 1,000 % a period",
        }[self]


def irr(*, flows: Floats, periods: Floats | None = None) -> Floats:
    """Internal rate of return per period, where it means something.

    Where one rate from zero up fits, that is the rate: a cost at the end of life adds a second one far below
    zero that nobody earns. Where several fit there, or none there and several below, it is refused.

    Args:
        flows: Shape (n, periods).
        periods: Times of the flows, shape (periods,) or (n, periods); 0, 1, 2 ... by default.

    Returns:
        Shape (n,); not a number where `why_no_rate` gives a reason.

    Source:
        finance_cases.yaml, irr_excel and irr_none; Norstrom 1972 for the choice (recalled).

    >>> irr(flows=np.array([[-100.0, 110.0, 0.0], [-100.0, -20.0, -5.0], [-100.0, 230.0, -132.0]])).round(9)
    array([0.1, nan, nan])
    """
    times = _times(flows, periods)
    below, above = root_counts(flows=flows, periods=times)
    rate = internal_rate(flows=flows, periods=times, from_zero=np.where(above > 0, 1.0, 0.0))
    return np.where(_reason(flows, below, above) == RateOfReturn.FOUND, rate, np.nan)


def why_no_rate(*, flows: Floats, periods: Floats | None = None) -> NDArray[np.int64]:
    """Reason why `irr` gives none, as values of `RateOfReturn`.

    >>> flows = np.array([[-100.0, 110.0, 0.0], [-100.0, -20.0, -5.0], [-100.0, 230.0, -132.0]])
    >>> [RateOfReturn(one).name for one in why_no_rate(flows=flows)]
    ['FOUND', 'PURE_COST', 'SEVERAL']
    """
    below, above = root_counts(flows=flows, periods=_times(flows, periods))
    return _reason(flows, below, above)


def xirr(*, flows: Floats, dates: Dates, day_count: DayCount = DayCount.ACTUAL_365_FIXED) -> Floats:
    """Yearly internal rate of return of dated flows.

    Office programs stop their search at about 1e-8: compare with them to 1e-6.

    Args:
        flows: Shape (n, periods).
        dates: Shape (periods,) or (n, periods).
        day_count: Actual days over 365, as office programs have it, unless another is named.

    Returns:
        Shape (n,).

    Source:
        finance_cases.yaml, xirr_excel and xirr_daycount.

    >>> days = np.array(["2008-01-01", "2008-03-01", "2008-10-30", "2009-02-15", "2009-04-01"], dtype="M8[D]")
    >>> xirr(flows=np.array([[-10000.0, 2750, 4250, 3250, 2750]]), dates=days).round(6)
    array([0.373363])
    """
    return irr(flows=flows, periods=years_from_first(dates=dates, day_count=day_count))


def payback_periods(*, flows: Floats) -> Floats:
    """Periods until the flows have paid back, even within the period that does it.

    Args:
        flows: Shape (n, periods), the first now and negative.

    Returns:
        Shape (n,); not a number where they never do.

    Source:
        finance_cases.yaml, payback.

    >>> payback_periods(flows=np.array([[-1000.0, 400, 400, 400, 400], [-1000.0, 1, 1, 1, 1]]))
    array([2.5, nan])
    """
    total = np.cumsum(flows, axis=-1)
    done = total >= 0.0
    at = done.argmax(axis=-1)
    rows = np.arange(flows.shape[0])
    last = np.where(at > 0, total[rows, at - 1], 0.0)
    gained = np.where(at > 0, flows[rows, at], 1.0)
    return np.where(done.any(axis=-1), np.where(at > 0, at - 1 - last / gained, 0.0), np.nan)


def discounted_payback_periods(*, rate: Floats, flows: Floats) -> Floats:
    """The same of discounted flows.

    Args:
        rate: Shape (n,), per period.
        flows: Shape (n, periods).

    Source:
        finance_cases.yaml, payback: 994.74 back after 3 years, 5.26 of the fourth year's 273.21.

    >>> discounted_payback_periods(rate=np.array([0.1]), flows=np.array([[-1000.0, 400, 400, 400, 400]])).round(5)
    array([3.01925])
    """
    return payback_periods(flows=flows * (1.0 + rate[:, None]) ** -_times(flows, None))


def multiple_of_money(*, invested: Floats, realised: Floats, unrealised: Floats) -> Floats:
    """What came out and what it is still worth, over what went in (MOIC, TVPI); time doesn't count.

    >>> multiple_of_money(invested=np.array([100.0]), realised=np.array([125.0]), unrealised=np.array([15.0]))
    array([1.4])
    """
    return (realised + unrealised) / invested


def profitability_index(*, rate: Floats, flows: Floats) -> Floats:
    """Present value of what comes in over present value of what goes out.

    Args:
        rate: Shape (n,), per period.
        flows: Shape (n, periods), the first now.

    Returns:
        Shape (n,); not a number where nothing goes out.

    Source:
        finance_cases.yaml, pi.

    >>> profitability_index(rate=np.array([0.1]), flows=np.array([[-1000.0, 400, 400, 400, 400]])).round(6)
    array([1.267946])
    """
    times = _times(flows, None)
    spent = -present_value(rate=rate, flows=np.minimum(flows, 0.0), periods=times)
    gained = present_value(rate=rate, flows=np.maximum(flows, 0.0), periods=times)
    return np.where(spent > 0, gained / np.where(spent > 0, spent, 1.0), np.nan)


def _reason(flows: Floats, below: Floats, above: Floats) -> NDArray[np.int64]:
    """Of the signs of the flows, and of how many rates below zero and from zero up fit."""
    counted = np.where(above > 0, above, below)
    refused = {
        RateOfReturn.PURE_COST: ~(flows > 0).any(axis=-1),
        RateOfReturn.NOTHING_PAID: ~(flows < 0).any(axis=-1),
        RateOfReturn.SEVERAL: counted > 1,
        RateOfReturn.OUT_OF_RANGE: counted == 0,
    }
    found = np.select(list(refused.values()), [int(one) for one in refused], int(RateOfReturn.FOUND))
    return found.astype(np.int64)


def _times(flows: Floats, periods: Floats | None) -> Floats:
    return np.arange(flows.shape[-1], dtype=np.float64) if periods is None else periods
