"""Energy at the meter, of a full year and of each month."""

from __future__ import annotations

from planner.ledger import Ledger, Line
from planner.power.climate import MONTH_DAYS, MONTH_NAMES
from planner.units import HOURS_PER_YEAR, KILO

HOURS_PER_DAY = 24.0


def energy(ledger: Ledger, meter: Line) -> Line:
    """Enter the year's energy and the months': IT power is the same all year, PUE follows the season.

    The twelve months add up to the year.

    Args:
        ledger: With the PUE of the year and of each month.
        meter: Power at the meter, yearly average.
    """
    year = ledger.derive(
        "power.energy_kwh_per_year",
        "Energy of a full year",
        "kWh/year",
        meter * (HOURS_PER_YEAR / KILO),
    )
    it_w = ledger["power.average_it_w"]
    for name, days in zip(MONTH_NAMES, MONTH_DAYS, strict=True):
        ledger.derive(
            f"power.energy_kwh.{name}", f"Energy of {name.title()}", "kWh",
            it_w * ledger[f"power.month_pue.{name}"] * (days * HOURS_PER_DAY / KILO),
        )  # fmt: skip
    return year
