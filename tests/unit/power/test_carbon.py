"""Carbon by the grid and by contracts."""

from __future__ import annotations

import pytest

from tests.unit.power.plans import found, value


def test_market_based_carbon_follows_contracts() -> None:
    plain = found("h200-1024-ndr")
    assert value(plain, "power.carbon_market_kg_per_year") == pytest.approx(
        value(plain, "power.carbon_kg_per_year")
    )
    half = found("h200-1024-ndr", "site.renewable_fraction=0.5", "site.carbon_market_kg_per_kwh=0.1")
    energy = value(half, "power.energy_kwh_per_year")
    assert value(half, "power.carbon_market_kg_per_year") == pytest.approx(energy * 0.05)
    assert value(half, "power.carbon_kg_per_year") == pytest.approx(value(plain, "power.carbon_kg_per_year"))


def test_a_place_without_grid_carbon_has_market_carbon_when_contracts_say_it() -> None:
    bare = found("h200-1024-ndr", "site.location=european-union")
    assert "power.carbon_kg_per_year" not in bare.ledger
    assert "power.carbon_market_kg_per_year" not in bare.ledger
    told = found("h200-1024-ndr", "site.location=european-union", "site.carbon_market_kg_per_kwh=0.2")
    assert value(told, "power.carbon_market_kg_per_year") > 0
