"""From IT power to the utility meter: PUE, energy, carbon, water."""

from __future__ import annotations

from planner.ledger import Ledger, Line
from planner.ledger.nodes import Binary, minimum
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.parts import Parts
from planner.units import HOURS_PER_YEAR, KILO


def pue_line(ledger: Ledger, parts: Parts) -> Line:
    """Yearly average facility energy over IT energy, as wished or by cooling method."""
    wish = parts.loaded.scenario.site.pue
    if wish is not None:
        return wish_line(ledger, parts.loaded, "power.pue", "PUE", "1", wish, "site", "pue")
    return figure_line(ledger, "power.pue", "PUE", "1", parts.cooling, "pue")


def facility_power_w(ledger: Ledger, it_w: Line) -> Binary:
    """Power at the meter for an IT power: the one place where PUE is applied."""
    return it_w * ledger["power.pue"]


def facility(ledger: Ledger, parts: Parts) -> None:
    """Enter power at the meter by state, energy and carbon of a full year.

    Average power lies between idle and load by the hours that work is scheduled.
    """
    pue_line(ledger, parts)
    for key, label, it_w in (
        ("power.facility_idle_w", "Power at the meter, idle", ledger["power.it_idle_w"]),
        ("power.facility_w", "Power at the meter under load", ledger["power.it_w"]),
        ("power.facility_peak_w", "Power at the meter, peak", ledger["power.it_peak_w"]),
    ):
        ledger.derive(key, label, "W", facility_power_w(ledger, it_w))
    busy = ledger.derive(
        "power.busy_fraction", "Share of time under load", "fraction",
        ledger["money.utilisation_fraction"] * ledger["performance.availability_fraction"]
        * ledger["workload.scheduled_fraction"],
    )  # fmt: skip
    idle = ledger["power.it_idle_w"]
    average = ledger.derive(
        "power.average_it_w", "IT power, yearly average", "W", idle + (ledger["power.it_w"] - idle) * busy
    )
    meter = ledger.derive(
        "power.average_facility_w",
        "Power at the meter, yearly average",
        "W",
        facility_power_w(ledger, average),
    )
    hours = HOURS_PER_YEAR / KILO
    energy = ledger.derive("power.energy_kwh_per_year", "Energy of a full year", "kWh/year", meter * hours)
    carbon = parts.site.item.carbon_kg_per_kwh
    if carbon is not None:
        intensity = figure_line(
            ledger, "site.carbon_kg_per_kwh", "Carbon in a kWh", "kg/kWh", parts.site, "carbon_kg_per_kwh"
        )
        ledger.derive(
            "power.carbon_kg_per_year", "Carbon of a full year, location-based", "kg/year", energy * intensity
        )


def loss_lines(ledger: Ledger, parts: Parts) -> None:
    """Split what PUE adds into power distribution and cooling, for the drawing of where watts go."""
    share = assume(
        ledger, parts.catalog, "facility", "distribution_loss_fraction",
        "Distribution and UPS losses, share of IT power", "fraction",
    )  # fmt: skip
    it_w = ledger["power.it_w"]
    overhead = ledger.derive(
        "power.overhead_w", "What the building adds", "W", ledger["power.facility_w"] - it_w
    )
    lost = ledger.derive(
        "power.distribution_loss_w", "Distribution and UPS losses", "W", minimum(it_w * share, overhead)
    )
    ledger.derive("power.cooling_w", "Cooling and the rest of the building", "W", overhead - lost)
