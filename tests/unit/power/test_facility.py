"""Power at the meter, what is reserved, and the distribution units."""

from __future__ import annotations

from math import ceil

import pytest

from planner.errors import ScenarioError
from tests.unit.power.plans import found, tried, value


def test_the_peak_is_that_of_the_hottest_hours() -> None:
    evaluation = found("h200-1024-ndr")
    assert value(evaluation, "power.facility_peak_w") == pytest.approx(
        value(evaluation, "power.it_peak_w") * value(evaluation, "power.hottest_pue")
    )
    assert value(evaluation, "power.hottest_pue") > value(evaluation, "power.pue")


@pytest.mark.parametrize(("redundancy", "units"), [("N", "n"), ("N+1", "n + 1"), ("2N", "2 * n")])
def test_distribution_units_carry_the_heat_and_their_spares(redundancy: str, units: str) -> None:
    evaluation = found("gb200-nvl72-16", f"site.redundancy={redundancy}")
    heat = value(evaluation, "power.it_peak_w") * value(evaluation, "power.cooling.liquid_heat_fraction")
    needed = ceil(heat / 1e3 / value(evaluation, "assumption.cdu_capacity_kw"))
    wanted = {"n": needed, "n + 1": needed + 1, "2 * n": 2 * needed}[units]
    assert value(evaluation, "power.cooling.distribution_units") == wanted
    price = value(evaluation, "assumption.cdu_price_usd_per_kw") * value(
        evaluation, "assumption.cdu_capacity_kw"
    )
    assert value(evaluation, "capex.cooling_usd") == pytest.approx(wanted * price)


def test_a_block_of_rented_power_is_refused_in_a_building_of_ones_own() -> None:
    with pytest.raises(ScenarioError, match="does nothing where housing is own"):
        tried("h100-16384-roce", "site.colocation_block_kw=250")


def test_power_is_reserved_for_the_peak_in_whole_blocks() -> None:
    plain = found("h200-1024-ndr")
    peak = value(plain, "power.it_peak_w") / 1e3
    assert value(plain, "power.reserved_it_kw") == pytest.approx(peak)
    blocks = found("h200-1024-ndr", "site.colocation_block_kw=500")
    assert value(blocks, "power.reserved_it_kw") == 500 * ceil(peak / 500)
