"""Where heat goes: liquid or air."""

from __future__ import annotations

from tests.unit.power.plans import found, value


def test_cold_plates_take_what_servers_and_liquid_switches_give() -> None:
    evaluation = found("gb200-nvl72-16")
    share = value(evaluation, "power.cooling.liquid_fraction")
    rack = value(evaluation, "watts.gb200-nvl72.liquid_fraction")
    assert 0.9 * rack < share < rack  # switches and optics beside the racks warm the air
    tanks = found("gb200-nvl72-16", "site.cooling=immersion")
    assert value(tanks, "power.cooling.liquid_fraction") == value(tanks, "cooling.liquid_fraction")


def test_a_hall_without_liquid_has_all_heat_in_air() -> None:
    evaluation = found("h200-1024-ndr")
    assert "power.cooling.liquid_fraction" not in evaluation.ledger
    fans = value(evaluation, "cooling.fan_fraction")
    assert abs(value(evaluation, "power.cooling.air_heat_fraction") - (1 + fans)) < 1e-12
