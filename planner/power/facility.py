"""From IT power to the utility meter: PUE, energy, carbon, water."""

from __future__ import annotations

from planner.ledger import Ledger, Line
from planner.ledger.nodes import Binary, Expr, added, round_up
from planner.power.carbon import carbon
from planner.power.energy import energy
from planner.power.pue import PARTS, enter_pue
from planner.power.water import water
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import Parts
from planner.scenario.site import Redundancy
from planner.units import KILO


def facility_power_w(ledger: Ledger, it_w: Line, *, pue: str = "power.pue") -> Binary:
    """Power at the meter for an IT power: the one place where PUE is applied.

    Args:
        ledger: With the PUE.
        it_w: IT power.
        pue: Key of the PUE to apply: the year's, or that of the hottest hours for peaks.
    """
    return it_w * ledger[pue]


def facility(ledger: Ledger, parts: Parts) -> None:
    """Enter power at the meter by state, energy, carbon and water of a full year.

    Average power lies between idle and load by the hours that work is scheduled. The peak is that of the
    IT equipment in the hottest hours; elsewhere PUE is the year's.

    Raises:
        DesignError: The cooling asked for is impossible at the place.
    """
    average = average_it_w(ledger)
    enter_pue(ledger, parts)
    for key, label, it_w, pue in (
        ("power.facility_idle_w", "Power at the meter, idle", ledger["power.it_idle_w"], "power.pue"),
        ("power.facility_w", "Power at the meter under load", ledger["power.it_w"], "power.pue"),
        (
            "power.facility_peak_w",
            "Power at the meter, peak in the hottest hours",
            ledger["power.it_peak_w"],
            "power.hottest_pue",
        ),
    ):
        ledger.derive(key, label, "W", facility_power_w(ledger, it_w, pue=pue))
    meter = ledger.derive(
        "power.average_facility_w",
        "Power at the meter, yearly average",
        "W",
        facility_power_w(ledger, average),
    )
    year = energy(ledger, meter)
    carbon(ledger, parts, year)
    water(ledger, ("air", "liquid") if parts.cooling.item.liquid else ("air",))
    reserved_power(ledger, parts)
    if parts.cooling.item.liquid:
        distribution_units(ledger, parts)


def average_it_w(ledger: Ledger) -> Line:
    """Enter the share of time under load and the yearly average of IT power."""
    key = "power.average_it_w"
    if key in ledger:
        return ledger[key]
    busy = ledger.derive(
        "power.busy_fraction", "Share of time under load", "fraction",
        ledger["money.utilisation_fraction"] * ledger["performance.availability_fraction"]
        * ledger["workload.scheduled_fraction"],
    )  # fmt: skip
    idle = ledger["power.it_idle_w"]
    return ledger.derive(key, "IT power, yearly average", "W", idle + (ledger["power.it_w"] - idle) * busy)


def reserved_power(ledger: Ledger, parts: Parts) -> Line:
    """Enter the IT power that is contracted or built for: the peak, in whole blocks where it comes in blocks."""
    peak = ledger["power.it_peak_w"] / KILO
    block = parts.loaded.scenario.site.colocation_block_kw
    if block is not None:
        size = wish_line(
            ledger, parts.loaded, "site.colocation_block_kw", "Block of rented power", "kW", block, "site",
            "colocation_block_kw",
        )  # fmt: skip
        peak = round_up(peak / size) * size
    return ledger.derive("power.reserved_it_kw", "IT power reserved", "kW", peak)


def distribution_units(ledger: Ledger, parts: Parts) -> Line:
    """Enter the coolant distribution units: enough for the heat in liquid at peak, and the spare ones."""
    capacity = assume(
        ledger, parts.catalog, "facility", "cdu_capacity_kw", "Capacity of a coolant distribution unit", "kW"
    )
    taken = ledger["power.it_peak_w"] * ledger["power.cooling.liquid_heat_fraction"] / KILO
    needed: Expr = round_up(taken / capacity)
    redundancy = parts.loaded.scenario.site.redundancy
    if redundancy is Redundancy.N_PLUS_1:
        needed = needed + 1
    elif redundancy is Redundancy.TWO_N:
        needed = needed * 2
    return ledger.derive(
        "power.cooling.distribution_units", "Coolant distribution units, spare ones included", "1", needed,
        note=f"redundancy {redundancy.value}",
    )  # fmt: skip


def loss_lines(ledger: Ledger, parts: Parts) -> None:
    """Split what PUE adds under load into its parts; with IT power they come to the power at the meter."""
    it_w, scale = ledger["power.it_w"], ledger["power.overhead_scale_ratio"]
    ledger.derive("power.overhead_w", "What the building adds", "W", ledger["power.facility_w"] - it_w)
    ledger.derive(
        "power.distribution_loss_w", "Distribution and UPS losses", "W",
        it_w * ledger["power.electrical_loss_fraction"] * scale,
    )  # fmt: skip
    lines = [
        ledger.derive(
            f"power.cooling.{part}_w", label, "W", it_w * ledger[f"power.cooling.{part}_fraction"] * scale
        )
        for part, label in PARTS.items()
    ]
    ledger.derive("power.cooling_w", "Cooling and the rest of the building", "W", added(lines))
