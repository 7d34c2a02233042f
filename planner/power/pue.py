"""PUE as the sum of its parts: electrical losses, fans, pumps, compressors, heat rejection, the rest.

All parts are shares of IT power over a year. A PUE that the user types, or a catalog of the user's own
states for a hall without its loops, stands, and the parts are shown in their proportions under it.
"""

from __future__ import annotations

from planner.catalog.schema import CoolingType, Site
from planner.catalog.store import Catalog
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added
from planner.power.climate import MONTH_NAMES
from planner.power.cooling import Hall, enter_loops, hall, hall_of
from planner.power.heat_taken import liquid_share
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.parts import Parts
from planner.scenario.site import HeatRejection

PARTS = {
    "fans": "Fans in the hall",
    "pumps": "Pumps and coolant distribution",
    "chiller": "Compressors",
    "heat_rejection": "Dry coolers or towers",
    "other": "Light, controls and plant rooms",
}
"""What cooling and the building are made of, by the middle of ``power.cooling.<part>_fraction``."""


def enter_pue(ledger: Ledger, parts: Parts) -> None:
    """Enter the parts and ``power.pue``, the yearly average, and ``power.hottest_pue``.

    Raises:
        DesignError: Dry coolers can't do what they are asked to.
    """
    one = hall_of(parts)
    overhead = _overhead(ledger, one, liquid_share(ledger, parts))
    stated = _stated_pue(ledger, parts)
    if stated is None:
        ledger.derive("power.pue", "PUE", "1", 1 + overhead)
        ledger.derive("power.overhead_scale_ratio", "Shown over modelled overhead", "1", 1.0)
    else:
        ledger.derive(
            "power.overhead_scale_ratio", "Shown over modelled overhead", "1", (stated - 1) / overhead,
            note="the PUE is stated, and its parts follow it in their proportions",
        )  # fmt: skip
    scale = ledger["power.overhead_scale_ratio"]
    ledger.derive(
        "power.hottest_pue", "PUE in the hottest hours", "1", 1 + scale * _at(ledger, one, "hottest")
    )
    for month in MONTH_NAMES:
        ledger.derive(
            f"power.month_pue.{month}", f"PUE in {month.title()}", "1", 1 + scale * _at(ledger, one, month)
        )


def _stated_pue(ledger: Ledger, parts: Parts) -> Line | None:
    """A PUE that the scenario types, or that of a hall whose loops nobody stated."""
    wish = parts.loaded.scenario.site.pue
    if wish is not None:
        return wish_line(ledger, parts.loaded, "power.pue", "PUE", "1", wish, "site", "pue")
    if parts.cooling.item.has_loops:
        return None
    return figure_line(ledger, "power.pue", "PUE", "1", parts.cooling, "pue")


def electrical_loss(ledger: Ledger, catalog: Catalog) -> Line:
    """Losses from the utility's meter to the racks, share of IT power."""
    key = "power.electrical_loss_fraction"
    if key in ledger:
        return ledger[key]
    share = assume(
        ledger, catalog, "facility", "distribution_loss_fraction",
        "Distribution and UPS losses, share of IT power", "fraction",
    )  # fmt: skip
    return ledger.derive(key, "Electrical losses, share of IT power", "fraction", share)


def _overhead(ledger: Ledger, one: Hall, liquid: Line | None) -> Expr:
    """Enter all parts and return their sum."""
    enter_loops(ledger, one)
    item = one.cooling
    fan = figure_line(
        ledger, "cooling.fan_fraction", "Fans over heat in air", "fraction", item, "fan_fraction"
    )
    pump = figure_line(
        ledger, "cooling.pump_fraction", "Facility pumps over heat moved", "fraction", item, "pump_fraction"
    )
    other = figure_line(
        ledger, "cooling.other_fraction", "Light, controls and plant rooms over IT", "fraction", item,
        "other_fraction",
    )  # fmt: skip
    ratio = assume(
        ledger, one.catalog, "facility", "cooling_overhead_ratio", "Cooling of real halls over the model", "1"
    )
    in_air: Expr | float = 1.0 if liquid is None else 1 - liquid
    heat = {
        "air": ledger.derive(
            "power.cooling.air_heat_fraction", "Heat in air, over IT power", "fraction", in_air * (1 + fan)
        )
    }
    pumped: Expr = pump * (0.0 if item.item.outside_air else heat["air"])
    if liquid is not None:
        unit = assume(
            ledger, one.catalog, "facility", "cdu_power_fraction", "Coolant distribution units over heat",
            "fraction",
        )  # fmt: skip
        heat["liquid"] = ledger.derive(
            "power.cooling.liquid_heat_fraction", "Heat in liquid, over IT power", "fraction",
            liquid * (1 + unit),
        )  # fmt: skip
        pumped = pumped + liquid * unit + pump * heat["liquid"]
    found: dict[str, Expr] = {
        "fans": in_air * fan,
        "pumps": pumped,
        "chiller": _outdoors(ledger, one, "compressor"),
        "heat_rejection": _outdoors(ledger, one, "rejection"),
        "other": other,
    }
    lines = [
        ledger.derive(
            f"power.cooling.{key}_fraction",
            f"{label}, share of IT power",
            "fraction",
            found[key] * ratio,
        )
        for key, label in PARTS.items()
    ]
    return added([electrical_loss(ledger, one.catalog), *lines])


def _outdoors(ledger: Ledger, one: Hall, what: str) -> Expr:
    """Power outdoors over IT power: each loop's heat by what it draws."""
    return added(
        ledger[f"power.cooling.{loop}_heat_fraction"] * ledger[f"power.cooling.{loop}.{what}_fraction"]
        for loop in one.loops
    )


def _at(ledger: Ledger, one: Hall, what: str) -> Expr:
    """Overhead in a month or in the hottest hours: only the plant outdoors differs from the year's."""
    return overhead_with(ledger, one, _outdoors(ledger, one, what))


def overhead_with(ledger: Ledger, one: Hall, outdoors: Expr) -> Expr:
    """Overhead over IT power with another draw of the plant outdoors than the year's.

    Args:
        ledger: With the year's parts.
        one: The hall.
        outdoors: Power of the plant outdoors over IT power, before real halls' surplus over the model.
    """
    steady = [ledger[f"power.cooling.{part}_fraction"] for part in ("fans", "pumps", "other")]
    ratio = ledger["assumption.cooling_overhead_ratio"]
    return added([electrical_loss(ledger, one.catalog), *steady, ratio * outdoors])


def annual_pue(
    catalog: Catalog,
    *,
    site: str,
    cooling: str,
    way: HeatRejection = HeatRejection.AUTO,
    electrical_loss_fraction: float | None = None,
) -> tuple[float, float, float]:
    """P10, value and P90 of a hall's yearly PUE, without a scenario.

    Args:
        catalog: Where the place and the method are looked up.
        site: An item of ``sites``.
        cooling: An item of ``cooling``.
        way: How heat leaves the building.
        electrical_loss_fraction: Losses over IT power; by the catalog's assumption by default.

    >>> from planner.catalog.store import open_catalog
    >>> low, value, high = annual_pue(open_catalog(), site="sweden", cooling="direct-liquid")
    >>> 1.05 < low < value < high < 1.25
    True
    """
    one = hall(catalog, catalog.entry(Site, site), catalog.entry(CoolingType, cooling), wanted=way)
    ledger = Ledger(months=1)
    liquid = None
    if one.cooling.item.liquid:
        liquid = figure_line(
            ledger, "cooling.liquid_fraction", "Share of heat in liquid", "fraction", one.cooling, "liquid_fraction"
        )  # fmt: skip
    overhead = ledger.derive("overhead", "Overhead", "fraction", _overhead(ledger, one, liquid))
    lost = ledger.scalar("power.electrical_loss_fraction")
    cooled = ledger.scalar(overhead) - lost
    ratio = ledger["assumption.cooling_overhead_ratio"]
    share = lost if electrical_loss_fraction is None else electrical_loss_fraction
    low, high = (1.0 if one is None else one for one in (ratio.low, ratio.high))
    return 1 + share + low * cooled, 1 + share + cooled, 1 + share + high * cooled
