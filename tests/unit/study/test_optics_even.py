"""Break-evens of copper against optics."""

from __future__ import annotations

import pytest

from planner.catalog.schema import Cable
from planner.catalog.store import Catalog, open_catalog
from planner.scenario.load import load_scenario
from planner.study.optics import compare_optics
from planner.study.optics_even import CopperEven, break_even_lengths, break_even_usd_per_kwh, usd_per_watt
from planner.study.optics_variants import Approach


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def rows(shelf: Catalog) -> tuple[CopperEven, ...]:
    return compare_optics(load_scenario("h200-1024-ndr"), shelf).lengths


def test_no_copper_wins_beyond_its_reach(shelf: Catalog, rows: tuple[CopperEven, ...]) -> None:
    assert {row.lane_rate_gbit_per_s for row in rows} >= {50.0, 100.0, 200.0}
    for row in rows:
        assert row.to_m in (0.0, row.reach_m)
        assert row.reach_m == shelf.get(Cable, row.cable.id).reach_m.value


def test_faster_lanes_leave_copper_shorter(rows: tuple[CopperEven, ...]) -> None:
    longest = {
        lane: max(row.to_m for row in rows if row.lane_rate_gbit_per_s == lane) for lane in (100.0, 200.0)
    }
    assert longest[200.0] < longest[100.0]


def test_at_the_even_price_a_module_costs_what_copper_does(rows: tuple[CopperEven, ...]) -> None:
    for row in rows:
        assert row.module.price_usd is not None
        cheaper = row.optics_usd - 2 * (row.module.price_usd.value - row.even_module_usd)
        assert cheaper == pytest.approx(row.copper_usd)


def test_dearer_energy_speaks_for_passive_copper(shelf: Catalog) -> None:
    found = [
        compare_optics(
            load_scenario("h200-1024-ndr", changes=[f"site.electricity_usd_per_kwh={price}"]), shelf
        )
        for price in (0.05, 0.3)
    ]
    gaps = [
        next(row.optics_usd - row.copper_usd for row in one.lengths if row.cable.id == "dac-800g-3m-nvidia")
        for one in found
    ]
    assert gaps[1] > gaps[0]


def test_watts_are_worth_the_energy_they_draw(shelf: Catalog) -> None:
    found = compare_optics(load_scenario("h200-1024-ndr"), shelf)
    ledger = found.reference.ledger
    whole = ledger.scalar("power.average_it_w") * usd_per_watt(ledger)
    assert whole == pytest.approx(ledger.scalar("tco.opex_energy_npv_usd"), rel=1e-6)
    assert break_even_lengths(shelf, ledger) == found.lengths


def test_lines_of_one_slope_never_cross() -> None:
    assert break_even_usd_per_kwh(price=0.1, npv_usd=5, kwh=3, other_npv_usd=4, other_kwh=3) is None


def test_a_variant_that_is_cheaper_at_every_price_is_named(shelf: Catalog) -> None:
    found = compare_optics(load_scenario("h200-1024-ndr"), shelf)
    even = next(one for one in found.energy if Approach.COPPER in (one.frugal, one.thirsty))
    assert even.usd_per_kwh is None and even.always is Approach.COPPER
