"""What flows are worth today: by period, by date, in the middle of a year, by month.

Cash in is positive. Unless a function says otherwise the first flow is at time 0.
"""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.finance.day_counts import Dates, DayCount, year_fractions, years_from_first
from planner.ledger.rates import present_value
from planner.units import MONTHS_PER_YEAR


def npv(*, rate: Floats, flows: Floats) -> Floats:
    """Present value of flows one period apart, the first of them now.

    Args:
        rate: Shape (n,), per period.
        flows: Shape (n, periods).

    Returns:
        Shape (n,).

    Source:
        finance_cases.yaml, npv_excel_1.

    >>> npv(rate=np.array([0.1]), flows=np.array([[-10000.0, 3000, 4200, 6800]])).round(2)
    array([1307.29])
    """
    return present_value(rate=rate, flows=flows, periods=_whole(flows))


def excel_npv(*, rate: Floats, flows: Floats) -> Floats:
    """Present value as an office program's NPV has it: the first flow is one period away.

    Args:
        rate: Shape (n,), per period.
        flows: Shape (n, periods).

    Returns:
        Shape (n,): `npv` over (1 + rate).

    Source:
        finance_cases.yaml, npv_excel_1.

    >>> excel_npv(rate=np.array([0.1]), flows=np.array([[-10000.0, 3000, 4200, 6800]])).round(2)
    array([1188.44])
    """
    return present_value(rate=rate, flows=flows, periods=_whole(flows) + 1.0)


def xnpv(
    *, rate: Floats, flows: Floats, dates: Dates, day_count: DayCount = DayCount.ACTUAL_365_FIXED
) -> Floats:
    """Present value of dated flows at a yearly rate, on the first listed date.

    A leap year is 366/365 of a year, so this never ties to a yearly present value exactly.

    Args:
        rate: Shape (n,), per year.
        flows: Shape (n, periods).
        dates: Shape (periods,) or (n, periods).
        day_count: Actual days over 365, as office programs have it, unless another is named.

    Returns:
        Shape (n,).

    Source:
        The present value is the one Microsoft's XNPV page shows for these flows (recalled).

    >>> days = np.array(["2008-01-01", "2008-03-01", "2008-10-30", "2009-02-15", "2009-04-01"], dtype="M8[D]")
    >>> xnpv(rate=np.array([0.09]), flows=np.array([[-10000.0, 2750, 4250, 3250, 2750]]), dates=days).round(2)
    array([2086.65])
    """
    years = years_from_first(dates=dates, day_count=day_count)
    return present_value(rate=rate, flows=flows, periods=years)


def mid_year_periods(*, years: int) -> Floats:
    """Times of an outlay now and of flows in the middle of each year after it.

    >>> mid_year_periods(years=3)
    array([0. , 0.5, 1.5, 2.5])
    """
    return np.concatenate([[0.0], np.arange(years) + 0.5])


def mid_year_npv(*, rate: Floats, outlay: Floats, flows: Floats, at_end: Floats) -> Floats:
    """Present value with an outlay now, flows in the middle of years, and one at the end of the last.

    Only the yearly flows move by half a year: residual value and decommissioning stay at the end.

    Args:
        rate: Shape (n,), per year.
        outlay: Shape (n,), negative when paid.
        flows: Shape (n, years).
        at_end: Shape (n,), residual less decommissioning at the end of the last year.

    Returns:
        Shape (n,).

    Source:
        finance_cases.yaml, midyear_1 and midyear_residual.

    >>> mid_year_npv(rate=np.array([0.1]), outlay=np.array([-985.0]),
    ...     flows=np.array([[75.0, 120, 100, 1200]]), at_end=np.array([0.0])).round(2)
    array([128.94])
    """
    years = flows.shape[-1]
    middle = present_value(rate=rate, flows=flows, periods=mid_year_periods(years=years)[1:])
    return np.asarray(outlay + middle + at_end / (1.0 + rate) ** years)


def monthly_rate(*, yearly: Floats) -> Floats:
    """Rate per month that compounds to a yearly one.

    >>> monthly_rate(yearly=np.array([0.09])).round(8)
    array([0.00720732])
    """
    return np.expm1(np.log1p(yearly) / MONTHS_PER_YEAR)


def yearly_rate(*, monthly: Floats) -> Floats:
    """Yearly rate that a rate per month compounds to.

    >>> yearly_rate(monthly=np.array([0.01])).round(6)
    array([0.126825])
    """
    return np.expm1(np.log1p(monthly) * MONTHS_PER_YEAR)


def nominal_rate(*, real: Floats, inflation: Floats) -> Floats:
    """Rate for flows in money of the day, of one for flows in today's money.

    Nominal flows need it; depreciation shields are nominal always.

    Source:
        NREL SAM help, (1 + real)(1 + inflation) - 1; finance_cases.yaml, fisher.

    >>> nominal_rate(real=np.array([0.064]), inflation=np.array([0.025])).round(6)  # not 8.9 %
    array([0.0906])
    """
    return (1.0 + real) * (1.0 + inflation) - 1.0


def real_rate(*, nominal: Floats, inflation: Floats) -> Floats:
    """Inverse of `nominal_rate`.

    >>> real_rate(nominal=np.array([0.0906]), inflation=np.array([0.025])).round(6)
    array([0.064])
    """
    return (1.0 + nominal) / (1.0 + inflation) - 1.0


def forward_value(*, amount: Floats, start: Dates, paid: Dates, end: Dates, rate_to_paid: Floats,
                  rate_to_end: Floats) -> Floats:  # fmt: skip
    """What a flow between two dates is worth at the later one, by rates that run from the first date.

    Args:
        amount: Paid on the middle date.
        start: Date from which both rates run.
        paid: Date of the flow.
        end: Date of the value.
        rate_to_paid: Yearly rate from the start to the flow.
        rate_to_end: Yearly rate from the start to the end.

    Returns:
        What the arguments broadcast to.

    Source:
        XFV of WestClinTech as cited in tests of pyxirr; finance_cases.yaml, xfv.

    >>> day = lambda text: np.array([text], dtype="M8[D]")
    >>> forward_value(amount=np.array([100000.0]), start=day("2011-02-01"), paid=day("2011-03-01"),
    ...     end=day("2012-02-01"), rate_to_paid=np.array([0.00142]), rate_to_end=np.array([0.00246])).round(2)
    array([100235.09])
    """
    fixed = DayCount.ACTUAL_365_FIXED
    until_paid = year_fractions(start=start, end=paid, day_count=fixed)
    until_end = year_fractions(start=start, end=end, day_count=fixed)
    return np.asarray(amount * (1.0 + rate_to_end) ** until_end / (1.0 + rate_to_paid) ** until_paid)


def _whole(flows: Floats) -> Floats:
    return np.arange(flows.shape[-1], dtype=np.float64)
