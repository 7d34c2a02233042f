"""Laws of cooling: heat costs no less where it is warmer, and a batch equals its members."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.schema import CoolingType, Site
from planner.ledger import Ledger
from planner.power.climate import Climate, outdoor_air
from planner.power.cooling import enter_loops, hall
from planner.power.heat_rejection import Plant, cool_water
from planner.scenario.site import HeatRejection
from planner.sourced import Source
from tests.unit.power.plans import CATALOG

WAYS = (HeatRejection.CHILLER, HeatRejection.EVAPORATIVE)
SEEDS = range(20)


def figures(draws: int, random: np.random.Generator) -> Plant:
    """Equipment drawn inside the catalog's ranges."""
    names = Plant.__dataclass_fields__
    found = {}
    for name in names:
        figure = CATALOG.figure("facility", name)[0]
        assert figure.low is not None and figure.high is not None
        found[name] = random.uniform(figure.low, figure.high, draws)
    return Plant(**found)


def drawn_climate(means: np.ndarray, random: np.random.Generator) -> Climate:
    """One climate at several yearly means."""
    alike = np.ones_like(means)
    return Climate(
        mean_c=means,
        seasonal_swing_k=alike * random.uniform(0, 16),
        daily_swing_k=alike * random.uniform(2, 7),
        weather_swing_k=alike * random.uniform(0.5, 5),
        relative_humidity_fraction=alike * random.uniform(0.25, 0.85),
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", WAYS)
def test_heat_never_costs_less_in_a_warmer_year(way: HeatRejection, seed: int) -> None:
    random = np.random.default_rng(seed)
    means = np.arange(-5.0, 31.0, 3.0)
    one = figures(1, random)
    plant = Plant(**{name: np.repeat(getattr(one, name), means.size) for name in Plant.__dataclass_fields__})
    air = outdoor_air(drawn_climate(means, random))
    found = cool_water(way, air, plant, np.full(means.size, random.uniform(8, 36)))
    total = (found.compressor_fraction + found.fan_fraction).mean(axis=(1, 2))
    assert np.all(np.diff(total) >= -1e-12)
    assert np.all((found.compressor_share >= 0) & (found.compressor_share <= 1))
    assert np.all(found.water_l_per_kwh >= 0)


@pytest.mark.parametrize("cooling", CATALOG.ids(CoolingType))
@pytest.mark.parametrize("way", [HeatRejection.AUTO, HeatRejection.EVAPORATIVE])
def test_draws_of_a_place_equal_its_members(cooling: str, way: HeatRejection) -> None:
    random = np.random.default_rng(3)
    base = hall(CATALOG, CATALOG.entry(Site, "germany"), CATALOG.entry(CoolingType, cooling), wanted=way)
    draws = {
        "site.mean_temperature_c": random.uniform(5, 20, 4),
        "assumption.chiller_cop_air": random.uniform(3, 5, 4),
        "cooling.supply_air_c": random.uniform(20, 27, 4),
    }
    batch = Ledger(months=1, draws=draws)
    enter_loops(batch, base)
    for row in range(4):
        alone = Ledger(months=1, draws={key: values[[row]] for key, values in draws.items()})
        enter_loops(alone, base)
        for line in batch:
            np.testing.assert_allclose(
                batch.value(line)[row], alone.value(line.key)[0], rtol=1e-12, err_msg=line.key
            )


def test_a_typed_mean_moves_the_whole_year() -> None:
    source = Source("scenario.yaml:1")
    cold, warm = (
        hall(
            CATALOG, CATALOG.entry(Site, "germany"), CATALOG.entry(CoolingType, "direct-liquid"),
            mean_c=(mean, source),
        ).way
        for mean in (0.0, 20.0)
    )  # fmt: skip
    assert (cold, warm) == (HeatRejection.DRY_COOLER, HeatRejection.CHILLER)
