"""The operator's view: hours that fill up slowly, prices that fall, and what is left before financing."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import added, cumsum, maximum, minimum, sum_year
from planner.scenario.givens import wish_line
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR


def ramp_fraction(*, age_months: Floats, ramp_months: Floats, start_fraction: Floats) -> Floats:
    """Share of the final sales that capacity of an age has found customers for.

    It rises in a straight line from the start's share to 1 at the end of the ramp.

    Args:
        age_months: Months in service, the current one included.
        ramp_months: Month at whose end all is sold.
        start_fraction: Share sold on the first day.

    >>> ramp_fraction(age_months=np.array([1.0, 3.0, 9.0]), ramp_months=np.array([6.0]),
    ...     start_fraction=np.array([0.4]))
    array([0.5, 0.7, 1. ])
    """
    return np.minimum(1.0, start_fraction + (1.0 - start_fraction) * age_months / ramp_months)


def price_usd_per_gpu_hour(*, price: Floats, fall_fraction_per_year: Floats, months: Floats) -> Floats:
    """Price after so many months of a steady fall.

    >>> price_usd_per_gpu_hour(price=np.array([3.0]), fall_fraction_per_year=np.array([0.2]),
    ...     months=np.array([0.0, 12.0, 24.0])).round(2)
    array([3.  , 2.4 , 1.92])
    """
    return np.asarray(price * (1.0 - fall_fraction_per_year) ** (months / MONTHS_PER_YEAR))


def ramped_hours(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    """GPU-hours installed; with a ramp, less those for which a phase is still looking for customers.

    Power and running costs are those of the full plan: idle GPUs of a ramp are few and draw what idle ones draw.
    """
    wish = parts.loaded.scenario.money.operator
    if wish is None or wish.ramp_months == 0:
        return time.hours
    ramp, start = (
        wish_line(ledger, parts.loaded, f"operator.{name}", label, unit, float(getattr(wish, name)),
                  "money", "operator", name)
        for name, label, unit in (
            ("ramp_months", "Months until all hours are sold", "month"),
            ("ramp_start_fraction", "Share sold on the first day", "fraction"),
        )
    )  # fmt: skip
    gpus = added(
        phase.gpus * phase.working * minimum(1.0, start + (1 - start) * cumsum(phase.working) / ramp)
        for phase in time.phases
    )
    return ledger.derive(
        "operator.gpu_hours_ramped", "GPU-hours installed, as far as they find customers", "GPU-h",
        gpus * ledger["timing.hours_per_month"],
    )  # fmt: skip


def selling_price(ledger: Ledger, parts: Parts, time: Timeline, price: Line) -> Line:
    """Price of a sold GPU-hour by month: as typed in the first month of service, then falling where that is stated."""
    wish = parts.loaded.scenario.money.operator
    if wish is None or wish.price_fall_fraction_per_year == 0:
        return price
    fall = wish_line(
        ledger, parts.loaded, "operator.price_fall_fraction_per_year", "Fall of the selling price a year",
        "fraction/year", wish.price_fall_fraction_per_year, "money", "operator", "price_fall_fraction_per_year",
    )  # fmt: skip
    age = maximum(0.0, time.month - time.first_month)
    return ledger.derive(
        "operator.price_usd_per_gpu_hour", "Price of a sold GPU-hour by month", "USD/GPU-h",
        price * (1 - fall) ** (age / MONTHS_PER_YEAR),
    )  # fmt: skip


def operator_view(ledger: Ledger, time: Timeline) -> None:
    """Enter revenue for a GPU-hour, EBITDA and its margin, for who sells hours; payback and cover are metrics.

    Args:
        ledger: Holds revenue and running costs; without revenue nothing is entered.
        time: Says which month is the first of service.
    """
    if "cash.revenue_usd" not in ledger:
        return
    revenue = ledger["cash.revenue_usd"]
    earned = ledger.derive(
        "operator.ebitda_usd", "EBITDA: revenue less running costs", "USD", revenue + ledger["cash.opex_usd"],
        sign=Sign.CASH, note="before depreciation, interest and income tax",
    )  # fmt: skip
    years = range(int((ledger.months - time.first_month) // MONTHS_PER_YEAR))
    for year in years:
        first = time.first_month + year * int(MONTHS_PER_YEAR)
        sold = ledger.derive(
            f"operator.revenue_year{year + 1}_usd", f"Revenue, year {year + 1} in service", "USD",
            sum_year(revenue, first=first), sign=Sign.CASH,
        )  # fmt: skip
        left = ledger.derive(
            f"operator.ebitda_year{year + 1}_usd", f"EBITDA, year {year + 1} in service", "USD",
            sum_year(earned, first=first), sign=Sign.CASH,
        )  # fmt: skip
        ledger.derive(
            f"operator.ebitda_margin_year{year + 1}_fraction", f"EBITDA over revenue, year {year + 1}", "fraction",
            left / sold,
        )  # fmt: skip
        hours = ledger.derive(
            f"operator.gpu_hours_year{year + 1}", f"GPU-hours installed, year {year + 1} in service", "GPU-h",
            sum_year(time.hours, first=first),
        )  # fmt: skip
        ledger.derive(
            f"operator.revenue_year{year + 1}_usd_per_gpu_hour", f"Revenue for an installed GPU-hour, year {year + 1}",
            "USD/GPU-h", sold / hours,
        )  # fmt: skip
