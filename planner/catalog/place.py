"""What a catalog says of places and of the ways to cool what stands there."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, model_validator

from planner.catalog.figure import Figure
from planner.catalog.item import Item


class Cooling(StrEnum):
    """How heat leaves a part."""

    AIR = "air"
    LIQUID = "liquid"


class Site(Item):
    """A place: climate, energy, carbon, water, space."""

    family: ClassVar[str] = "sites"

    country: str
    climate_place: str = ""
    """Town whose climate stands for the place."""
    warmest_month: int = Field(default=7, ge=1, le=12)
    """7 in the north, 1 in the south."""
    mean_temperature_c: Figure | None = None
    """Outdoor air, yearly mean; without one the world's mild climate is taken."""
    seasonal_swing_k: Figure | None = None
    """Half of warmest less coldest month."""
    daily_swing_k: Figure | None = None
    """Half of the daily range."""
    weather_swing_k: Figure | None = None
    """Standard deviation of daily means about the season."""
    relative_humidity_fraction: Figure | None = None
    """Yearly mean."""
    electricity_usd_per_kwh: Figure
    carbon_kg_per_kwh: Figure | None = None
    colocation_usd_per_kw_month: Figure | None = None
    construction_usd_per_w: Figure | None = None
    """Shell and equipment with one spare of each (N+1), for a watt of IT."""
    demand_charge_usd_per_kw_month: Figure | None = None
    water_l_per_kwh: Figure | None = None
    """Published for operators of the region, to compare with what the cooling model gives."""


class CoolingType(Item):
    """A cooling method: what it needs of air and water, and its limits.

    The heat of the IT equipment leaves in liquid, in air, or in both, and each has its own way out. A hall
    whose PUE is measured may leave all figures of its loops out.
    """

    family: ClassVar[str] = "cooling"

    pue: Figure
    """Published for halls of this kind, to compare with the model; taken as it is where no loops are stated."""
    rack_limit_kw: Figure | None = None
    liquid: bool = False
    """Whether liquid reaches the chips."""
    immersed: bool = False
    """Whether all IT equipment stands in the liquid, or the plates of servers alone."""
    liquid_fraction: Figure | None = None
    """Share of heat that leaves in liquid, where a server doesn't state its own."""
    liquid_supply_c: Figure | None = None
    """Facility water into the coolant distribution units."""
    outside_air: bool = False
    """Whether outdoor air goes through the hall when it is cold enough."""
    fan_fraction: Figure | None = None
    """Fans of the hall over the heat in air."""
    supply_air_c: Figure | None = None
    """Air into the servers, or out of a rear door."""
    air_water_approach_k: Figure | None = None
    """That air above the water that cools it."""
    pump_fraction: Figure | None = None
    """Facility water pumps over the heat they move."""
    other_fraction: Figure | None = None
    """Light, humidity, controls and plant rooms, share of IT power."""
    water_l_per_kwh: Figure | None = None
    price_usd_per_kw: Figure | None = None
    """Equipment at the rack that the tenant buys, for a kW of IT."""

    @model_validator(mode="after")
    def _loops_are_whole(self) -> Self:
        missing = [name for name in self.loop_names if getattr(self, name) is None]
        if missing and len(missing) < len(self.loop_names):
            raise ValueError(
                f"the loops need {', '.join(missing)} too, or none of {', '.join(self.loop_names)}"
            )
        return self

    @property
    def loop_names(self) -> tuple[str, ...]:
        """Figures that a model of the hall's loops needs."""
        air = ("fan_fraction", "supply_air_c", "air_water_approach_k", "pump_fraction", "other_fraction")
        return (*air, "liquid_fraction", "liquid_supply_c") if self.liquid else air

    @property
    def has_loops(self) -> bool:
        """Whether the hall's loops are stated."""
        return self.fan_fraction is not None
