"""The power chain of a plan: losses by stage, units, and what the scenario's fields do to them."""

from __future__ import annotations

import pytest

from planner.errors import ScenarioError
from planner.power.chain import STAGES
from tests.unit.power.parts import planned, value


def test_losses_of_the_stages_add_up_and_lie_in_pue_once() -> None:
    plan = planned()
    losses = [value(plan, f"power.chain.{stage}_loss_fraction") for stage in STAGES]
    total = value(plan, "power.electrical_loss_fraction")
    assert all(loss > 0 for loss in losses)
    assert total == pytest.approx(sum(losses))
    assert 1 + total < value(plan, "power.pue")


def test_losses_of_supplies_are_in_it_power_and_in_no_stage() -> None:
    plan = planned()
    supply = value(plan, "watts.hgx-h200.job.supply_loss_fraction")
    assert 0.03 < supply < 0.08
    assert "power.electrical_loss_fraction" not in plan.ledger.lines["power.it_w"].inputs
    assert "supply" not in " ".join(STAGES)


# racks on two paths draw a little less through their feeds, so halves hold to a percent
def test_two_n_doubles_the_units_and_halves_their_load() -> None:
    single, double = (planned(site=f"housing: own, redundancy: {one}") for one in ("N", "2N"))
    for key in ("power.ups.units", "power.transformer.units"):
        assert value(double, key) == 2 * value(single, key)
    assert value(double, "power.ups.load_fraction") == pytest.approx(
        value(single, "power.ups.load_fraction") / 2, rel=0.01
    )
    assert value(double, "power.chain.ups_loss_fraction") > value(single, "power.chain.ups_loss_fraction")


def test_n_plus_1_adds_one_unit() -> None:
    single, spare = (planned(site=f"housing: own, redundancy: {one}") for one in ("N", "N+1"))
    assert value(spare, "power.ups.units") == value(single, "power.ups.units") + 1


def test_the_named_ups_loses_what_its_curve_says() -> None:
    eco, double = planned(site="ups: ups-eco"), planned(site="ups: ups-double-conversion")
    lost = [value(plan, "power.chain.ups_loss_fraction") for plan in (eco, double)]
    assert lost[0] < 0.025 < 0.035 < lost[1]
    assert value(eco, "power.pue") < value(double, "power.pue")
    assert value(eco, "power.it_w") == value(double, "power.it_w")


def test_the_cooling_method_chooses_the_ups_where_none_is_named() -> None:
    air, hyperscale = planned(), planned(cooling="air-hyperscale")
    assert "conversion.ups-double-conversion.rating_kw" in air.ledger
    assert "conversion.ups-eco.rating_kw" in hyperscale.ledger


def test_what_is_no_ups_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(ScenarioError, match=r"power.yaml:\d+:\d+: site.ups: 'rack-pdu' is no UPS.*ups-eco"):
        planned(site="ups: rack-pdu")


def test_an_emptier_year_loses_a_larger_share() -> None:
    busy, idle = (
        planned(end=f"money: {{utilisation_fraction: {share}}}") for share in (0.95, 0.2)
    )  # fmt: skip
    assert value(idle, "power.chain.transformer_loss_fraction") != value(
        busy, "power.chain.transformer_loss_fraction"
    )
    assert value(idle, "power.chain.ups_loaded_loss_fraction") == value(
        busy, "power.chain.ups_loaded_loss_fraction"
    )
    assert value(idle, "power.chain.ups_loss_fraction") > value(busy, "power.chain.ups_loss_fraction")


def test_a_small_tenant_shares_the_units_of_the_building() -> None:
    tenant, owner = (planned(gpus=16, site=f"housing: {one}") for one in ("colocation", "own"))
    large = planned(gpus=2048, site="housing: colocation")
    assert value(tenant, "power.ups.unit_kw") > 500 and value(owner, "power.ups.unit_kw") <= 30
    # equipment of the building is loaded alike whoever asks, to the part that the plan itself is of it
    for key in ("power.chain.ups_loss_fraction", "power.chain.transformer_loss_fraction"):
        assert value(tenant, key) == pytest.approx(value(large, key), rel=0.1)
    assert 0.03 < value(tenant, "power.electrical_loss_fraction") < 0.08
    assert value(tenant, "power.utility.apparent_mva") < 0.05


def test_a_tenant_larger_than_the_building_is_as_an_owner() -> None:
    small = "overrides: {assumption.colocation_building_it_kw: {value: 1, unit: kW, reason: a container}}"
    tenant, owner = planned(site="housing: colocation", end=small), planned(site="housing: own")
    for key in ("power.ups.units", "power.ups.load_fraction", "power.electrical_loss_fraction"):
        assert value(tenant, key) == pytest.approx(value(owner, key))


def test_an_owner_of_two_servers_has_units_of_their_size() -> None:
    owner = planned(gpus=16, site="housing: own")
    assert value(owner, "power.electrical_loss_fraction") < 0.12
    assert value(owner, "power.transformer.unit_kw") == 50
