"""Hours by temperature: means, swings, and how damp air follows."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.schema import Site
from planner.catalog.store import open_catalog
from planner.power.climate import (
    MONTH_SHARES,
    Climate,
    OutdoorAir,
    by_month,
    by_year,
    outdoor_air,
    saturation_kpa,
    wet_bulb_c,
)

CATALOG = open_catalog()


def climate(**changes: float) -> Climate:
    values = {
        "mean_c": 12.0, "seasonal_swing_k": 11.0, "daily_swing_k": 5.0, "weather_swing_k": 4.0,
        "relative_humidity_fraction": 0.7, **changes,
    }  # fmt: skip
    month = int(values.pop("warmest_month", 7))
    return Climate(**{key: np.array([value]) for key, value in values.items()}, warmest_month=month)


def test_the_year_has_the_mean_and_the_spread_it_is_made_from() -> None:
    air = outdoor_air(climate(seasonal_swing_k=0.0, daily_swing_k=0.0)).dry_bulb_c
    assert air.mean() == pytest.approx(12.0)
    assert air.std() == pytest.approx(4.0, rel=1e-3)  # the five weathers are given to four digits
    whole = by_year(by_month(outdoor_air(climate()).dry_bulb_c))
    assert whole[0] == pytest.approx(12.0, abs=0.1)  # months of 28 to 31 days weigh a sine unevenly


def test_months_weigh_by_their_days_and_make_a_year() -> None:
    assert MONTH_SHARES.sum() == pytest.approx(1.0)
    assert by_year(np.eye(12))[1] * 365 == pytest.approx(28)


@pytest.mark.parametrize(("month", "warmest"), [(7, 6), (1, 0)])
def test_the_warmest_month_is_the_one_the_place_names(month: int, warmest: int) -> None:
    months = by_month(outdoor_air(climate(warmest_month=month)).dry_bulb_c)[0]
    assert months.argmax() == warmest
    assert months.max() - months.min() == pytest.approx(22.0)


def test_the_hottest_hours_are_all_swings_together() -> None:
    assert outdoor_air(climate()).hottest_c[0] == pytest.approx(12 + 11 + 5 + 1.4633 * 4)


# dry bulb, humidity, wet bulb: psychrometric chart at sea level, within the 1 K that the formula promises
@pytest.mark.parametrize(
    ("dry", "humidity", "wet"), [(20, 0.5, 13.8), (35, 0.4, 24.0), (30, 0.8, 27.1), (10, 0.9, 9.2), (40, 0.1, 18.7)]
)  # fmt: skip
def test_wet_bulb_agrees_with_the_psychrometric_chart(dry: float, humidity: float, wet: float) -> None:
    found = wet_bulb_c(dry_bulb_c=np.array([dry]), relative_humidity_fraction=np.array([humidity]))
    assert found[0] == pytest.approx(wet, abs=1.0)


def test_saturation_agrees_with_steam_tables() -> None:
    np.testing.assert_allclose(saturation_kpa(np.array([0.0, 25.0, 40.0])), [0.611, 3.169, 7.384], rtol=0.004)


@pytest.mark.parametrize("place", CATALOG.ids(Site))
def test_every_place_has_a_climate_that_can_be(place: str) -> None:
    item = CATALOG.get(Site, place)
    assert item.climate_place
    found = outdoor_air(_of(item))
    assert np.all(found.wet_bulb_c <= found.dry_bulb_c)
    # colder than any town with a data centre, hotter than any record
    assert found.dry_bulb_c.min() > -40
    assert found.dry_bulb_c.max() < 52
    south = place in ("australia", "brazil")
    assert item.warmest_month == (1 if south else 7)


def _of(item: Site) -> Climate:
    names = {"mean_temperature_c": "mean_c"}
    values = {}
    for name in (
        "mean_temperature_c", "seasonal_swing_k", "daily_swing_k", "weather_swing_k",
        "relative_humidity_fraction",
    ):  # fmt: skip
        figure = getattr(item, name)
        assert figure is not None, name
        values[names.get(name, name)] = np.array([figure.value])
    return Climate(**values, warmest_month=item.warmest_month)


def test_a_place_is_evaluated_alike_alone_and_in_a_batch() -> None:
    one, two = climate(), climate(mean_c=25.0)
    both = Climate(
        mean_c=np.array([12.0, 25.0]), seasonal_swing_k=np.array([11.0, 11.0]),
        daily_swing_k=np.array([5.0, 5.0]), weather_swing_k=np.array([4.0, 4.0]),
        relative_humidity_fraction=np.array([0.7, 0.7]),
    )  # fmt: skip
    batch = outdoor_air(both)
    for row, single in enumerate((one, two)):
        apart: OutdoorAir = outdoor_air(single)
        np.testing.assert_allclose(batch.wet_bulb_c[row], apart.wet_bulb_c[0], rtol=1e-12)
