"""What a user may ask of the place: halls, racks, power and cooling."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, field_validator

from planner.scenario.fields import Count, Fraction, Id, NotNegative, Positive, Strict


class Housing(StrEnum):
    """Who owns the building."""

    COLOCATION = "colocation"
    OWN = "own"


class Redundancy(StrEnum):
    """Spare power and cooling equipment."""

    N = "N"
    """None."""
    N_PLUS_1 = "N+1"
    """One more of each than is needed."""
    TWO_N = "2N"
    """Everything twice; each half carries half the load."""


class HeatRejection(StrEnum):
    """How heat leaves the building."""

    AUTO = "auto"
    """What the cooling method and the climate allow with the least energy and no evaporation."""
    CHILLER = "chiller"
    """Compressors all year, free cooling when it is cold enough."""
    DRY_COOLER = "dry-cooler"
    """Fans over coils; refused where the climate is too hot for the water wanted."""
    EVAPORATIVE = "evaporative"
    """Cooling towers or wetted pads: less energy, and water."""


class Hall(Strict):
    """A room, a building or a region that takes a part of the racks."""

    id: Id
    """Short name of the hall."""
    racks: Count
    """Racks it takes."""
    distance_m: Annotated[float, Field(ge=0, le=5_000_000, allow_inf_nan=False, strict=True)] = 0.0
    """Length of the cable route to the first hall, as laid: no slack is added to it."""


class SiteWish(Strict):
    """Where it stands."""

    location: Id
    """Place, an item of sites."""
    cooling: Id = "air"
    """Cooling method, an item of cooling."""
    housing: Housing = Housing.COLOCATION
    """colocation pays rent for each kW and shares the building's UPS and transformers; own pays for the construction."""
    pue: Annotated[float, Field(ge=1, le=3, allow_inf_nan=False, strict=True)] | None = None
    """Facility energy over IT energy, yearly average; from cooling, climate and electrical losses by default."""
    electricity_usd_per_kwh: Positive | None = None
    """Price of energy; the location's by default."""
    colocation_usd_per_kw_month: Positive | None = None
    """Rent for a kW of IT power; the location's by default, with a premium for liquid-capable space."""
    limit_mw: Positive | None = None
    """Power the utility can deliver, MW at the meter; the peak is judged by it, and by limits.site_mw if that is lower."""
    rack_limit_kw: Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False, strict=True)] | None = None
    """Power one rack may draw; by cooling method by default."""
    row_racks: Annotated[int, Field(ge=2, le=60, strict=True)] = 12
    """Racks in a row."""
    row_pitch_m: Annotated[float, Field(ge=1, le=20, allow_inf_nan=False, strict=True)] = 3.0
    """From the front of a row to the front of the next, aisle included."""
    halls: tuple[Hall, ...] = Field(default=(), max_length=16)
    """Halls, filled in their order; one hall that takes everything by default."""
    mean_temperature_c: Annotated[float, Field(ge=-40, le=50, allow_inf_nan=False, strict=True)] | None = None
    """Outdoor temperature, yearly average; the location's by default."""
    heat_rejection: HeatRejection = HeatRejection.AUTO
    """auto, chiller, dry-cooler or evaporative."""
    ups: Id | None = None
    """Uninterruptible supply, an item of power_conversion; by cooling method by default: eco mode in halls with liquid or of
    large operators, else double conversion."""
    redundancy: Redundancy = Redundancy.N_PLUS_1
    """Spare power and cooling equipment: N, N+1 or 2N."""
    power_cap_fraction: Annotated[float, Field(ge=0.3, le=1, allow_inf_nan=False, strict=True)] = 1.0
    """Power limit set on accelerators, share of their rated power; training and serving slow down with it."""
    colocation_block_kw: (
        Annotated[float, Field(ge=0.1, le=100_000, allow_inf_nan=False, strict=True)] | None
    ) = None
    """Rented IT power comes in blocks of so many kW; any amount by default."""
    carbon_market_kg_per_kwh: NotNegative | None = None
    """Carbon of the contracts for energy (market-based); the location's by default."""
    renewable_fraction: Fraction = 0.0
    """Share of the energy matched by contracts without carbon."""

    @field_validator("halls")
    @classmethod
    def _named_once(cls, halls: tuple[Hall, ...]) -> tuple[Hall, ...]:
        """Halls that cut sheet and remedies can tell apart.

        Raises:
            ValueError: Two have the same id.
        """
        ids = [hall.id for hall in halls]
        twice = next((one for one in ids if ids.count(one) > 1), None)
        if twice is not None:
            raise ValueError(f"hall id '{twice}' is used twice; rename one of them")
        return halls
