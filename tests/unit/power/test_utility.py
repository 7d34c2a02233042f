"""Connection to the utility."""

from __future__ import annotations

import pytest

from tests.unit.power.parts import planned, value


def test_the_connection_carries_the_peak_at_its_power_factor() -> None:
    plan = planned()
    peak = value(plan, "power.demand_peak_w")
    assert peak == value(plan, "power.facility_peak_w")
    assert value(plan, "power.utility.apparent_mva") == pytest.approx(peak / 0.95 / 1e6)


def test_the_load_factor_is_the_average_over_the_peak() -> None:
    plan = planned()
    share = value(plan, "power.average_facility_w") / value(plan, "power.demand_peak_w")
    assert value(plan, "power.load_factor_fraction") == pytest.approx(share)
    assert 0.3 < share < 1


def test_needed_transformers_carry_the_apparent_peak() -> None:
    plan = planned()
    carried = (
        value(plan, "power.transformer.units_needed") * value(plan, "power.transformer.unit_kw") * 0.85 / 1e3
    )
    assert carried >= value(plan, "power.utility.apparent_mva")
    assert value(plan, "power.transformer.units") == value(plan, "power.transformer.units_needed") + 1
