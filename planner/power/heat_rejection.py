"""How heat leaves the building: compressors, dry coolers, cooling towers, outdoor air.

Everything is for one watt of heat that has to go, hour by hour; what a compressor draws is heat too and
leaves with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.power.climate import OutdoorAir
from planner.scenario.site import HeatRejection

ZERO_C_IN_K = 273.15
RATED_WATER_C = 7.0
"""Chilled water at which makers state a chiller's coefficient of performance (AHRI 550/590)."""
RATED_AIR_C = 35.0
"""Outdoor air at which they state it for air-cooled chillers."""
RATED_TOWER_C = 29.4
"""Tower water at which they state it for water-cooled ones."""
LEAST_LIFT_K = 8.0
"""Between evaporating and condensing: compressors need some difference of pressure to run."""
LEAST_FAN_SHARE = 0.1
"""Of full power, at the lowest speed of fans and their drives."""
KWH_OF_EVAPORATION_PER_KG = 2.4 / 3.6
"""Heat that a kilogram of water takes as it evaporates: 2.4 MJ at the temperatures of towers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """Figures of the equipment outdoors. Arrays of shape (n,), named as in ``catalog/assumptions/facility.yaml``."""

    chiller_cop_air: Floats
    chiller_cop_water: Floats
    chiller_condenser_approach_k: Floats
    tower_condenser_approach_k: Floats
    chiller_evaporator_approach_k: Floats
    dry_cooler_approach_k: Floats
    tower_approach_k: Floats
    water_rise_k: Floats
    air_rise_k: Floats
    dry_cooler_fan_fraction: Floats
    tower_fan_fraction: Floats
    pad_effectiveness_fraction: Floats
    tower_latent_fraction: Floats
    cycles_of_concentration: Floats


@dataclass(frozen=True, slots=True)
class Rejected:
    """For a watt of heat, shapes (n, 12, 40).

    Attributes:
        compressor_fraction: Power of compressors, and of the condenser fans that belong to them.
        fan_fraction: Power of dry coolers' or towers' fans and spray pumps.
        water_l_per_kwh: Water for a kWh of heat: evaporated and bled.
        compressor_share: Share of the heat that goes through a compressor.
    """

    compressor_fraction: Floats
    fan_fraction: Floats
    water_l_per_kwh: Floats
    compressor_share: Floats


def chiller_cop(
    *, rated_cop: Floats, rated_lift_c: tuple[Floats, Floats], cold_c: Floats, hot_c: Floats
) -> Floats:
    """Heat moved over power, between two temperatures of the refrigerant.

    A chiller keeps its share of what the second law allows, so its rating carries over to other
    temperatures; part load and oil return aren't modelled.

    Args:
        rated_cop: At its rating.
        rated_lift_c: Evaporating and condensing temperature at the rating.
        cold_c: Evaporating temperature.
        hot_c: Condensing temperature.

    >>> chiller_cop(rated_cop=np.array([4.0]), rated_lift_c=(np.array([4.0]), np.array([47.0])),
    ...     cold_c=np.array([4.0]), hot_c=np.array([25.5])).round(2)
    array([8.])
    """
    rated = carnot_cop(cold_c=rated_lift_c[0], hot_c=rated_lift_c[1])
    return np.asarray(rated_cop * carnot_cop(cold_c=cold_c, hot_c=hot_c) / rated)


def carnot_cop(*, cold_c: Floats, hot_c: Floats) -> Floats:
    """Most heat that a watt can lift between two temperatures.

    >>> carnot_cop(cold_c=np.array([6.85]), hot_c=np.array([46.85])).round(2)
    array([7.])
    """
    return np.asarray((cold_c + ZERO_C_IN_K) / np.maximum(hot_c - cold_c, LEAST_LIFT_K))


def above(*, reached_c: Floats, wanted_c: Floats, rise_k: Floats) -> Floats:
    """Share of a loop's heat that is left for compressors when nature cools it to ``reached_c`` alone.

    >>> above(reached_c=np.array([10.0, 25.0, 40.0]), wanted_c=np.array([20.0]), rise_k=np.array([10.0]))
    array([0. , 0.5, 1. ])
    """
    return np.asarray(np.clip((reached_c - wanted_c) / rise_k, 0.0, 1.0))


def fan_share(*, approach_k: Floats, available_k: Floats) -> Floats:
    """Fan power over full power when the air is colder than it has to be.

    Air needed falls with the difference of temperatures, and power with the third power of speed.

    >>> fan_share(approach_k=np.array([7.0]), available_k=np.array([5.0, 7.0, 10.0, 30.0])).round(3)
    array([1.   , 1.   , 0.343, 0.1  ])
    """
    speed = approach_k / np.maximum(available_k, approach_k)
    return np.asarray(np.maximum(speed**3, LEAST_FAN_SHARE))


def bled(evaporated: Floats, cycles: Floats) -> Floats:
    """Water taken in for what evaporates: the rest is let go so that salts don't pile up.

    >>> bled(np.array([3.0]), np.array([4.0]))
    array([4.])
    """
    return np.asarray(evaporated * cycles / np.maximum(cycles - 1.0, 0.5))


def cool_water(way: HeatRejection, air: OutdoorAir, plant: Plant, wanted_c: Floats) -> Rejected:
    """Heat out of a water loop.

    Args:
        way: Chillers with free cooling, dry coolers alone, or towers with water-cooled chillers behind them.
        air: Outdoor air.
        plant: Figures of the equipment.
        wanted_c: Water wanted, shape (n,).
    """
    wanted = _wide(wanted_c)
    if way is HeatRejection.EVAPORATIVE:
        return _towers(air, plant, wanted)
    approach = _wide(plant.dry_cooler_approach_k)
    if way is HeatRejection.DRY_COOLER:
        share = np.zeros_like(air.dry_bulb_c)
    else:
        reached = air.dry_bulb_c + approach
        share = above(reached_c=reached, wanted_c=wanted, rise_k=_wide(plant.water_rise_k))
    free = fan_share(approach_k=approach, available_k=wanted - air.dry_bulb_c)
    return Rejected(
        share / _air_cooled_cop(air, plant, wanted),
        (1.0 - share) * free * _wide(plant.dry_cooler_fan_fraction),
        np.zeros_like(share),
        share,
    )


def cool_air(
    way: HeatRejection, air: OutdoorAir, plant: Plant, wanted_c: Floats, water_c: Floats
) -> Rejected:
    """Heat out of a hall through which outdoor air blows; the hall's own fans move it.

    Args:
        way: With ``EVAPORATIVE`` wetted pads cool the air first, with ``DRY_COOLER`` there is no chiller.
        air: Outdoor air.
        plant: Figures of the equipment.
        wanted_c: Air wanted, shape (n,).
        water_c: Water of the chillers that take over, shape (n,).
    """
    wanted, rise = _wide(wanted_c), _wide(plant.air_rise_k)
    dry, water = air.dry_bulb_c, np.zeros_like(air.dry_bulb_c)
    reached = dry
    if way is HeatRejection.EVAPORATIVE:
        lowest = dry - _wide(plant.pad_effectiveness_fraction) * (dry - air.wet_bulb_c)
        reached = np.where(dry > wanted, np.maximum(lowest, np.minimum(wanted, dry)), dry)
        evaporated = (dry - reached) / rise / KWH_OF_EVAPORATION_PER_KG
        water = bled(evaporated, _wide(plant.cycles_of_concentration))
    none = way is HeatRejection.DRY_COOLER
    share = np.zeros_like(dry) if none else above(reached_c=reached, wanted_c=wanted, rise_k=rise)
    return Rejected(share / _air_cooled_cop(air, plant, _wide(water_c)), np.zeros_like(share), water, share)


def _towers(air: OutdoorAir, plant: Plant, wanted: Floats) -> Rejected:
    approach = _wide(plant.tower_approach_k)
    reached = air.wet_bulb_c + approach
    share = above(reached_c=reached, wanted_c=wanted, rise_k=_wide(plant.water_rise_k))
    evaporator, condenser = plant.chiller_evaporator_approach_k, plant.tower_condenser_approach_k
    cop = chiller_cop(
        rated_cop=_wide(plant.chiller_cop_water),
        rated_lift_c=(_wide(RATED_WATER_C - evaporator), _wide(RATED_TOWER_C + condenser)),
        cold_c=wanted - _wide(evaporator),
        hot_c=reached + _wide(condenser),
    )
    power = share / cop
    heat = 1.0 + power
    fans = fan_share(approach_k=approach, available_k=wanted - air.wet_bulb_c)
    evaporated = heat * _wide(plant.tower_latent_fraction) / KWH_OF_EVAPORATION_PER_KG
    return Rejected(
        power,
        heat * fans * _wide(plant.tower_fan_fraction),
        bled(evaporated, _wide(plant.cycles_of_concentration)),
        share,
    )


def _air_cooled_cop(air: OutdoorAir, plant: Plant, water: Floats) -> Floats:
    evaporator, condenser = plant.chiller_evaporator_approach_k, plant.chiller_condenser_approach_k
    return chiller_cop(
        rated_cop=_wide(plant.chiller_cop_air),
        rated_lift_c=(_wide(RATED_WATER_C - evaporator), _wide(RATED_AIR_C + condenser)),
        cold_c=water - _wide(evaporator),
        hot_c=air.dry_bulb_c + _wide(condenser),
    )


def _wide(one: Floats) -> Floats:
    """Shape (n,) beside shapes (n, 12, 40)."""
    return np.asarray(one)[:, None, None]
