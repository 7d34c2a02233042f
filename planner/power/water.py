"""Water that towers and wetted pads take in."""

from __future__ import annotations

from planner.ledger import Ledger
from planner.ledger.nodes import added
from planner.units import HOURS_PER_YEAR, KILO


def water(ledger: Ledger, loops: tuple[str, ...]) -> None:
    """Enter litres for a kWh of IT energy (WUE) and for a full year; zero without evaporation.

    Water that power stations take isn't in it, nor what humidifiers, cleaning and people take.

    Args:
        ledger: With the loops' lines and the yearly average of IT power.
        loops: Loops of the hall, by the middle of ``power.cooling.<loop>.water_l_per_kwh``.
    """
    per_kwh = ledger.derive(
        "power.wue_l_per_kwh", "Water for a kWh of IT energy", "l/kWh",
        added(
            ledger[f"power.cooling.{loop}_heat_fraction"] * ledger[f"power.cooling.{loop}.water_l_per_kwh"]
            for loop in loops
        ),
    )  # fmt: skip
    energy = ledger["power.average_it_w"] * HOURS_PER_YEAR / KILO
    ledger.derive("power.water_l_per_year", "Water of a full year, on site", "l/year", per_kwh * energy)
