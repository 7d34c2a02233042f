"""Wait for optics, or buy now."""

from __future__ import annotations

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.scenario.load import load_scenario
from planner.study.optics import Comparison, compare_optics
from planner.study.optics_wait import Terms, WaitOrBuy, month_after, months_between, speed_up_needed

BEFORE = ("as_of=2026-01-15", "network.leaf.switch=q3400", "network.spine.switch=q3400")


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


def waited(comparison: Comparison) -> WaitOrBuy:
    assert comparison.wait is not None
    return comparison.wait


@pytest.fixture(scope="module")
def early(shelf: Catalog) -> Comparison:
    return compare_optics(load_scenario("b300-2048-cpo", changes=BEFORE), shelf)


def terms(**changes: float) -> Terms:
    base = {
        "hours_per_month": 1000.0, "hour_usd": 3.0, "opex_usd_per_month": 1000.0, "capex_usd": 50_000.0,
        "monthly_rate": 0.007, "optics_usd": 4000.0, "optics_decline": 0.29, "servers_usd": 40_000.0,
        "servers_decline": 0.276, "horizon_months": 60.0,
    }  # fmt: skip
    return Terms(**{**base, **changes})


def test_the_longest_wait_is_where_it_stops_paying() -> None:
    one = terms()
    longest = one.longest_wait_months(6000.0)
    assert longest is not None and 0 < longest < 60
    assert one.net_usd(6000.0, longest) == pytest.approx(0.0, abs=1e-2)
    assert one.net_usd(6000.0, longest + 1) < 0 < one.net_usd(6000.0, longest - 1)


def test_without_a_gain_no_wait_pays_while_work_earns_more_than_it_costs() -> None:
    assert terms(optics_usd=0.0).longest_wait_months(0.0) is None


def test_work_of_more_worth_makes_waiting_dearer() -> None:
    assert terms(hour_usd=4.0).net_usd(0.0, 6.0) < terms(hour_usd=3.0).net_usd(0.0, 6.0)


def test_faster_falling_prices_speak_for_waiting() -> None:
    assert terms(optics_decline=0.37).net_usd(0.0, 6.0) > terms(optics_decline=0.0).net_usd(0.0, 6.0)


def test_a_dated_part_is_weighed_at_its_date_with_its_own_saving(early: Comparison) -> None:
    wait = waited(early)
    part = next(one for one in wait.awaited if one.id == "q3450")
    assert (part.date, part.months, part.bound) == ("2026-06", 5.0, False)
    packaged = next(one for one in early.built if one.plan.roadmap)
    assert early.best is not None
    gain = early.best.value("optics.npv_usd") - packaged.value("optics.npv_usd")
    assert part.gain_usd == pytest.approx(gain)
    assert part.net_usd == pytest.approx(wait.terms.net_usd(gain, 5.0))
    assert part.pays is False and part.speed_up == pytest.approx(5 / 55)


def test_parts_without_figures_are_bounded_by_optics_for_nothing(early: Comparison) -> None:
    others = [one for one in waited(early).awaited if one.id != "q3450"]
    assert others and all(one.bound for one in others)
    assert len({one.gain_usd for one in others}) == 1
    assert all(one.why_not for one in others)


def test_engines_of_switches_for_sale_or_of_another_protocol_are_not_waited_for(shelf: Catalog) -> None:
    found = {one.id for one in waited(compare_optics(load_scenario("b300-2048-cpo"), shelf)).awaited}
    assert "nvidia-quantum-x-photonics" not in found
    assert "nvidia-spectrum-x-photonics" not in found
    assert "celestial-photonic-fabric" in found


def test_a_date_of_ones_own_is_taken_where_a_part_states_none(shelf: Catalog) -> None:
    found = waited(compare_optics(load_scenario("b300-2048-cpo"), shelf, until="2027-11"))
    dates = {one.id: (one.date, one.months) for one in found.awaited}
    assert dates["lumilens"] == ("2027-11", 12.0)
    assert dates["celestial-photonic-fabric"] == ("2028-01", 14.0)


def test_the_worth_of_an_hour_is_its_price_else_rent_else_cost(shelf: Catalog) -> None:
    name = "h200-1024-ndr"
    sold = compare_optics(load_scenario(name, changes=["money.sell_usd_per_gpu_hour=7.5"]), shelf)
    rented = compare_optics(load_scenario(name), shelf)
    owned = compare_optics(load_scenario(name, changes=["money.rental=null"]), shelf)
    assert sold.hour.usd == 7.5
    assert rented.hour.usd == rented.reference.value("rent.usd_per_gpu_hour")
    assert owned.hour.usd == pytest.approx(owned.reference.value("unit.usd_per_gpu_hour_sold"), rel=0.05)


def test_every_assumption_says_where_it_stands(early: Comparison) -> None:
    wait = waited(early)
    assert len(wait.assumed) == 9
    assert all(one.source.where for one in wait.assumed)
    assert "NVLink" in wait.scale_up


def test_months_and_dates_go_together() -> None:
    assert month_after("2026-11-30", months_between("2026-11-30", "2028-03")) == "2028-03"
    assert speed_up_needed(months=70.0, horizon_months=60.0) is None
