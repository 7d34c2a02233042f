"""Compressors, dry coolers, towers and outdoor air: limits, laws and ratings."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.power.climate import Climate, OutdoorAir, outdoor_air
from planner.power.cooling import PLANT
from planner.power.heat_rejection import (
    RATED_AIR_C,
    RATED_TOWER_C,
    RATED_WATER_C,
    Plant,
    Rejected,
    bled,
    chiller_cop,
    cool_air,
    cool_water,
)
from planner.scenario.site import HeatRejection

CATALOG = open_catalog()
SHIPPED = Plant(**{name: np.array([CATALOG.figure("facility", name)[0].value]) for name in PLANT})
WAYS = (HeatRejection.CHILLER, HeatRejection.DRY_COOLER, HeatRejection.EVAPORATIVE)


def air(celsius: float, wet: float | None = None) -> OutdoorAir:
    flat = np.full((1, 12, 40), celsius)
    return OutdoorAir(flat, flat if wet is None else np.full((1, 12, 40), wet))


def year(mean: float) -> OutdoorAir:
    return outdoor_air(
        Climate(
            mean_c=np.array([mean]), seasonal_swing_k=np.array([10.0]), daily_swing_k=np.array([5.0]),
            weather_swing_k=np.array([4.0]), relative_humidity_fraction=np.array([0.65]),
        )
    )  # fmt: skip


def drawn(found: Rejected) -> float:
    return float((found.compressor_fraction + found.fan_fraction).mean())


# facts chiller-cop: 3.0 to 5.0 air-cooled, 5.5 to 7.5 water-cooled, at their ratings
def test_chillers_have_their_rated_efficiency_at_the_rating() -> None:
    hot = cool_water(HeatRejection.CHILLER, air(RATED_AIR_C), SHIPPED, np.array([RATED_WATER_C]))
    assert 3.0 <= 1 / hot.compressor_fraction[0, 0, 0] <= 5.0
    wet = RATED_TOWER_C - float(SHIPPED.tower_approach_k[0])
    towers = cool_water(HeatRejection.EVAPORATIVE, air(35.0, wet), SHIPPED, np.array([RATED_WATER_C]))
    assert 5.5 <= 1 / towers.compressor_fraction[0, 0, 0] <= 7.5


def test_a_smaller_lift_takes_less_power() -> None:
    rated = (np.array([4.0]), np.array([47.0]))
    small, large = (
        chiller_cop(
            rated_cop=np.array([4.0]), rated_lift_c=rated, cold_c=np.array([cold]), hot_c=np.array([40.0])
        )[0]
        for cold in (20.0, 5.0)
    )
    assert small > large > 4.0


def test_free_cooling_takes_over_degree_by_degree() -> None:
    wanted = np.array([20.0])
    shares = [
        float(cool_water(HeatRejection.CHILLER, air(t), SHIPPED, wanted).compressor_share[0, 0, 0])
        for t in (5.0, 13.0, 18.0, 23.0, 30.0)
    ]
    assert shares[0] == shares[1] == 0.0  # 13 C and an approach of 7 K are the 20 C wanted
    assert shares[2] == pytest.approx(0.5)
    assert shares[3] == shares[4] == 1.0


@pytest.mark.parametrize("way", WAYS)
def test_a_warmer_year_never_draws_less(way: HeatRejection) -> None:
    found = [drawn(cool_water(way, year(mean), SHIPPED, np.array([18.0]))) for mean in (0, 8, 16, 24)]
    assert found == sorted(found)


@pytest.mark.parametrize("way", [HeatRejection.CHILLER, HeatRejection.EVAPORATIVE])
def test_warmer_water_never_draws_more(way: HeatRejection) -> None:
    found = [
        drawn(cool_water(way, year(14.0), SHIPPED, np.array([wanted]))) for wanted in (8.0, 16.0, 24.0, 36.0)
    ]
    assert found == sorted(found, reverse=True)


def test_towers_draw_less_than_chillers_and_take_water() -> None:
    dry = cool_water(HeatRejection.CHILLER, year(15.0), SHIPPED, np.array([16.0]))
    wet = cool_water(HeatRejection.EVAPORATIVE, year(15.0), SHIPPED, np.array([16.0]))
    assert drawn(wet) < drawn(dry)
    assert dry.water_l_per_kwh.max() == 0.0
    # published for evaporative hyperscale halls: 1.0 to 1.8 l/kWh; three quarters and more of 1.5 l times 4/3
    assert 1.0 <= wet.water_l_per_kwh.mean() <= 2.0


def test_a_dry_cooler_has_no_compressor() -> None:
    found = cool_water(HeatRejection.DRY_COOLER, year(5.0), SHIPPED, np.array([36.0]))
    assert found.compressor_fraction.max() == 0.0
    assert 0.0 < found.fan_fraction.max() <= SHIPPED.dry_cooler_fan_fraction[0]


def test_outdoor_air_cools_a_hall_alone_until_it_is_too_warm() -> None:
    supply, water = np.array([27.0]), np.array([19.0])
    shares = [
        float(cool_air(HeatRejection.CHILLER, air(t), SHIPPED, supply, water).compressor_share[0, 0, 0])
        for t in (10.0, 27.0, 33.0, 45.0)
    ]
    assert shares == pytest.approx([0.0, 0.0, 0.5, 1.0])


def test_wetted_pads_save_compressors_in_dry_heat_and_take_water_by_the_degree() -> None:
    supply, water = np.array([27.0]), np.array([19.0])
    hot = air(39.0, 20.0)
    dry = cool_air(HeatRejection.CHILLER, hot, SHIPPED, supply, water)
    wet = cool_air(HeatRejection.EVAPORATIVE, hot, SHIPPED, supply, water)
    assert dry.compressor_share.max() == 1.0
    assert wet.compressor_share.max() == 0.0
    # 39 to 27 C is the whole warming of 12 K: all heat evaporates water, 1.5 l/kWh, and a third is bled
    assert wet.water_l_per_kwh[0, 0, 0] == pytest.approx(1.5 * 4 / 3)
    cold = cool_air(HeatRejection.EVAPORATIVE, air(20.0, 15.0), SHIPPED, supply, water)
    assert cold.water_l_per_kwh.max() == 0.0


def test_more_cycles_bleed_less() -> None:
    three, six = bled(np.array([1.0]), np.array([3.0])), bled(np.array([1.0]), np.array([6.0]))
    assert three[0] == pytest.approx(1.5)
    assert six[0] == pytest.approx(1.2)
