"""The hall's loops of air and liquid, how each is cooled at a place, and what that draws for a watt of heat.

What depends on climate is computed here; shares of heat, pumps and fans are formulas in `planner.power.pue`.
The losses of the electrical rooms aren't cooled by these loops, and heat isn't reused.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.catalog.figure import Figure
from planner.catalog.schema import CoolingType, Site
from planner.catalog.store import Catalog, Entry
from planner.design.ports import refusal
from planner.errors import DesignError, Remedy
from planner.ledger import Ledger, Line
from planner.power.climate import MONTH_NAMES, Climate, OutdoorAir, by_month, by_year, outdoor_air
from planner.power.heat_rejection import Plant, Rejected, cool_air, cool_water
from planner.scenario.givens import assume, figure_line
from planner.scenario.parts import Parts
from planner.scenario.site import HeatRejection
from planner.sourced import Source
from planner.units import HOURS_PER_YEAR

CLIMATE = {
    "mean_temperature_c": ("Outdoor temperature, yearly mean", "C"),
    "seasonal_swing_k": ("Warmest less coldest month, half of it", "K"),
    "daily_swing_k": ("Daily range, half of it", "K"),
    "weather_swing_k": ("Spread of daily means about the season", "K"),
    "relative_humidity_fraction": ("Relative humidity, yearly mean", "fraction"),
}
PLANT = {
    "chiller_cop_air": ("Air-cooled chillers, heat over power at their rating", "1"),
    "chiller_cop_water": ("Water-cooled chillers, heat over power at their rating", "1"),
    "chiller_condenser_approach_k": ("Condensing above outdoor air", "K"),
    "tower_condenser_approach_k": ("Condensing above tower water", "K"),
    "chiller_evaporator_approach_k": ("Chilled water above the refrigerant", "K"),
    "dry_cooler_approach_k": ("Water out of dry coolers above outdoor air", "K"),
    "tower_approach_k": ("Water out of towers above wet-bulb temperature", "K"),
    "water_rise_k": ("Warming of facility water", "K"),
    "air_rise_k": ("Warming of air in servers", "K"),
    "dry_cooler_fan_fraction": ("Dry coolers' fans at full speed over heat", "fraction"),
    "tower_fan_fraction": ("Towers' fans at full speed over heat", "fraction"),
    "pad_effectiveness_fraction": ("Cooling by wetted pads, of the way to wet-bulb", "fraction"),
    "tower_latent_fraction": ("Share of a tower's heat that evaporates water", "fraction"),
    "cycles_of_concentration": ("Water taken in over water let go", "1"),
}
_LOOP = {
    "supply_air_c": ("Air into the servers", "C"),
    "air_water_approach_k": ("That air above the water that cools it", "K"),
    "liquid_supply_c": ("Facility water into the distribution units", "C"),
}


@dataclass(frozen=True, slots=True)
class Hall:
    """What cooling follows from: a place, a method and what the user asked of them.

    Attributes:
        cooling: The method whose loops count: the one named, or a shipped one like it where it states none.
        climate: The item whose climate counts: the place, or the world where it has none.
        way: How heat leaves: chosen, never ``AUTO``.
        mean_c: Yearly mean typed by the user, with its source.
    """

    catalog: Catalog
    site: Entry[Site]
    cooling: Entry[CoolingType]
    climate: Entry[Site]
    way: HeatRejection
    mean_c: tuple[float, Source] | None = None

    @property
    def loops(self) -> tuple[str, ...]:
        """``air``, and ``liquid`` where there is one."""
        return ("air", "liquid") if self.cooling.item.liquid else ("air",)

    def way_of(self, loop: str) -> HeatRejection:
        """How a loop's heat leaves: air beside a liquid loop needs chillers where that needs none."""
        beside = loop == "air" and self.cooling.item.liquid
        return HeatRejection.CHILLER if beside and self.way is HeatRejection.DRY_COOLER else self.way


def hall_of(parts: Parts) -> Hall:
    """The hall of a scenario.

    Raises:
        DesignError: Dry coolers are asked for where the climate is too hot for the water wanted.
    """
    wish = parts.loaded.scenario.site
    mean = None
    if wish.mean_temperature_c is not None:
        mean = (wish.mean_temperature_c, parts.loaded.source("site", "mean_temperature_c"))
    return hall(parts.catalog, parts.site, parts.cooling, wanted=wish.heat_rejection, mean_c=mean)


def hall(
    catalog: Catalog,
    site: Entry[Site],
    cooling: Entry[CoolingType],
    *,
    wanted: HeatRejection = HeatRejection.AUTO,
    mean_c: tuple[float, Source] | None = None,
) -> Hall:
    """A hall of a method at a place; ``AUTO`` takes dry coolers where they suffice, else chillers.

    Raises:
        DesignError: As `hall_of`.
    """
    known = site.item.mean_temperature_c is not None
    climate = site if known else catalog.entry(Site, "world")
    found = Hall(catalog, site, with_loops(catalog, cooling), climate, wanted, mean_c)
    hottest, reached, limit = _dry(found)
    suffices = reached <= limit
    if wanted is HeatRejection.AUTO:
        return replace(found, way=HeatRejection.DRY_COOLER if suffices else HeatRejection.CHILLER)
    if wanted is HeatRejection.DRY_COOLER and not suffices:
        raise _too_hot(found, hottest, reached, limit)
    return found


def with_loops(catalog: Catalog, cooling: Entry[CoolingType]) -> Entry[CoolingType]:
    """A method that states its loops: itself, or the first shipped one of its kind that does."""
    if cooling.item.has_loops:
        return cooling
    alike = ("direct-liquid", "immersion") if cooling.item.liquid else ("air", "rear-door", "air-hyperscale")
    return next(one for one in (catalog.entry(CoolingType, name) for name in alike) if one.item.has_loops)


def _dry(one: Hall) -> tuple[float, float, float]:
    """Hottest outdoor air, what the main loop reaches without a compressor then, and what it may reach."""
    item = one.cooling.item
    hottest = float(outdoor_air(_climate(one)).hottest_c[0])
    approach = one.catalog.figure("facility", "dry_cooler_approach_k")[0].value
    if item.liquid:
        return hottest, hottest + approach, _value(item, "liquid_supply_c")
    if item.outside_air:
        return hottest, hottest, _value(item, "supply_air_c")
    water = _value(item, "supply_air_c") - _value(item, "air_water_approach_k")
    return hottest, hottest + approach, water


def _value(item: Site | CoolingType, name: str) -> float:
    figure: Figure | None = getattr(item, name)
    assert figure is not None, f"{item.id} has no {name}"
    return figure.value


def _too_hot(one: Hall, hottest: float, reached: float, limit: float) -> DesignError:
    item = one.cooling.item
    medium = "air" if item.outside_air else "water"
    way = ("site", "heat_rejection")
    remedies = [
        Remedy("site.heat_rejection: auto, which adds chillers for the hot hours", way, "auto"),
        Remedy("site.heat_rejection: evaporative, which takes water", way, "evaporative"),
        Remedy("a colder site.location"),
    ]
    if not item.liquid:
        remedies.insert(2, Remedy("site.cooling: direct-liquid, which takes warmer water"))
    return refusal(
        f"dry coolers reach {reached:.0f} C in the hottest hours of {one.site.item.name} ({hottest:.0f} C outdoors), "
        f"and '{item.id}' wants {medium} of {limit:.0f} C or less",
        *remedies,
        key="site.heat_rejection",
    )


def _climate(one: Hall) -> Climate:
    """The place's air from the catalog alone, without draws: what the plant is chosen for."""
    item = one.climate.item
    mean = _value(item, "mean_temperature_c") if one.mean_c is None else one.mean_c[0]
    return Climate(
        mean_c=np.array([mean]),
        seasonal_swing_k=np.array([_value(item, "seasonal_swing_k")]),
        daily_swing_k=np.array([_value(item, "daily_swing_k")]),
        weather_swing_k=np.array([_value(item, "weather_swing_k")]),
        relative_humidity_fraction=np.array([_value(item, "relative_humidity_fraction")]),
        warmest_month=item.warmest_month,
    )


def enter_loops(ledger: Ledger, one: Hall) -> None:
    """Enter the climate, the equipment's figures, and what each loop draws for a watt of its heat.

    Keys are ``power.cooling.<loop>.compressor_fraction``, ``.rejection_fraction``, ``.hottest_fraction``,
    ``.<month>_fraction``, ``.water_l_per_kwh`` and ``.compressor_hours``.
    """
    climate = {name: _climate_line(ledger, one, name) for name in CLIMATE}
    plant = {
        name: assume(ledger, one.catalog, "facility", name, label, unit)
        for name, (label, unit) in PLANT.items()
    }
    air = outdoor_air(_drawn_climate(ledger, one, climate))
    figures = Plant(**{name.name: ledger.value(plant[name.name]) for name in fields(Plant)})
    for loop in one.loops:
        supply = _supply(ledger, one, loop)
        _enter_loop(ledger, one, loop, air, figures, supply, [*climate.values(), *plant.values()])


def loop_hours(ledger: Ledger, one: Hall, loop: str) -> Rejected:
    """What a loop draws outdoors, hour by hour, once `enter_loops` has entered what it rests on."""
    climate = {name: ledger[f"site.{name}"] for name in CLIMATE}
    plant = Plant(**{name.name: ledger.value(f"assumption.{name.name}") for name in fields(Plant)})
    supply = [ledger.value(f"cooling.{name}") for name in supply_names(loop)]
    return loop_rejection(one, loop, outdoor_air(_drawn_climate(ledger, one, climate)), plant, supply)


def _climate_line(ledger: Ledger, one: Hall, name: str) -> Line:
    label, unit = CLIMATE[name]
    if name == "mean_temperature_c" and one.mean_c is not None:
        value, source = one.mean_c
        return ledger.given(f"site.{name}", label, unit, value, source)
    return figure_line(ledger, f"site.{name}", label, unit, one.climate, name)


def _drawn_climate(ledger: Ledger, one: Hall, lines: dict[str, Line]) -> Climate:
    value = {name: ledger.value(line) for name, line in lines.items()}
    return Climate(
        mean_c=value["mean_temperature_c"],
        seasonal_swing_k=value["seasonal_swing_k"],
        daily_swing_k=value["daily_swing_k"],
        weather_swing_k=value["weather_swing_k"],
        relative_humidity_fraction=value["relative_humidity_fraction"],
        warmest_month=one.climate.item.warmest_month,
    )


def _supply(ledger: Ledger, one: Hall, loop: str) -> list[Line]:
    return [
        figure_line(ledger, f"cooling.{name}", *_LOOP[name], one.cooling, name) for name in supply_names(loop)
    ]


def supply_names(loop: str) -> tuple[str, ...]:
    """Figures of a cooling method that set what a loop's supply is, in the order of `loop_rejection`."""
    return ("liquid_supply_c",) if loop == "liquid" else ("supply_air_c", "air_water_approach_k")


def loop_rejection(one: Hall, loop: str, air: OutdoorAir, plant: Plant, supply: list[Floats]) -> Rejected:
    """What a loop draws outdoors, hour by hour.

    Args:
        one: The hall.
        loop: ``air`` or ``liquid``.
        air: Outdoor air.
        plant: Figures of the equipment.
        supply: Water wanted by the liquid loop; or air wanted and its approach to the water that cools it.
    """
    way = one.way_of(loop)
    if loop == "liquid":
        return cool_water(way, air, plant, supply[0])
    water = supply[0] - supply[1]
    if one.cooling.item.outside_air:
        return cool_air(way, air, plant, supply[0], water)
    return cool_water(way, air, plant, water)


def _enter_loop(
    ledger: Ledger,
    one: Hall,
    loop: str,
    air: OutdoorAir,
    plant: Plant,
    supply: list[Line],
    others: list[Line],
) -> None:
    found = loop_rejection(one, loop, air, plant, [ledger.value(line) for line in supply])
    total = found.compressor_fraction + found.fan_fraction
    months = by_month(total)
    note = f"hour by hour over the year of {one.climate.item.climate_place or one.climate.item.name}, {one.way_of(loop)}"
    rows = [
        ("compressor_fraction", "Compressors", "fraction", by_year(by_month(found.compressor_fraction))),
        (
            "rejection_fraction",
            "Fans and pumps outdoors",
            "fraction",
            by_year(by_month(found.fan_fraction)),
        ),
        ("hottest_fraction", "Plant outdoors in the hottest hours", "fraction", total.max(axis=(1, 2))),
        ("water_l_per_kwh", "Water for a kWh of heat", "l/kWh", by_year(by_month(found.water_l_per_kwh))),
        ("compressor_hours", "Hours with compressors", "h/year", _hours(found.compressor_share)),
    ]
    rows += [
        (f"{name}_fraction", f"Plant outdoors in {name.title()}", "fraction", months[:, index])
        for index, name in enumerate(MONTH_NAMES)
    ]
    inputs = [*supply, *others]
    for key, label, unit, value in rows:
        line = ledger.compute(
            f"power.cooling.{loop}.{key}", f"{label}, for heat in {loop}", unit, value,
            function=loop_rejection, inputs=inputs, note=note,
        )  # fmt: skip
        # all come from one calculation: what it rests on is listed once, at its first line
        inputs = inputs if len(inputs) == 1 else [line]


def _hours(share: Floats) -> Floats:
    return by_year(by_month((share > 0).astype(np.float64))) * HOURS_PER_YEAR
