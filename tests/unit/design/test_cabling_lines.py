"""Ledger lines of the cabling."""

from __future__ import annotations

from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.design.cabling_lines import crossing_m
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario

HALLS = "site.halls=[{{id: a, racks: 40}}, {{id: b, racks: 40, distance_m: {}}}]"


@cache
def evaluated(name: str, *changes: str) -> Evaluation:
    found = evaluate(load_scenario(name, changes=list(changes)), open_catalog())
    assert found.refusal is None
    return found


def value(found: Evaluation, key: str) -> float:
    return float(found.ledger.value(key)[0])


def test_counts_are_those_of_the_plan() -> None:
    found = evaluated("h200-1024-ndr")
    assert found.built is not None
    plan, plant = found.built.cluster.cabling, found.built.cluster.plant
    optical, copper = (
        value(found, "design.cabling.optical_cables"),
        value(found, "design.cabling.copper_cables"),
    )
    assert optical + copper == plan.cables
    assert value(found, "design.cabling.modules") == plan.transceivers
    assert value(found, "design.cabling.trunks") == plant.trunks
    fibre = [row for row in plan.rows if row.fibres_per_link]
    assert (
        value(found, "design.cabling.connectors") == 2 * sum(row.cables for row in fibre) + 4 * plant.channels
    )


def test_hours_and_money_of_the_labour_can_be_checked_by_hand() -> None:
    found = evaluated("h200-1024-ndr")
    hours = 0.5 * value(found, "design.cabling.optical_cables") + 0.2 * value(
        found, "design.cabling.copper_cables"
    )
    assert value(found, "design.cabling.install_hours") == pytest.approx(hours)
    assert value(found, "design.cabling.labour_usd") == pytest.approx(90.0 * hours)
    assert value(found, "design.cabling.labour_usd") < value(found, "capex.installation_usd")
    assert value(found, "design.cabling.clean_hours") < hours
    assert value(found, "design.cabling.days_to_accept") == pytest.approx(hours / (12 * 8) + 7)
    assert value(found, "design.cabling.early_failures") == pytest.approx(
        0.01 * value(found, "design.cabling.modules")
    )


def test_panels_trunks_and_jumpers_are_bought() -> None:
    found = evaluated("h200-1024-ndr")
    assert found.built is not None
    bought = {row.demand.slug: value(found, row.count.key) for row in found.built.bom}
    assert bought["patch-panel-1u"] >= found.built.cluster.plant.panels.sum()
    assert sum(
        count for slug, count in bought.items() if slug.startswith("trunk-") and "metres" not in slug
    ) >= (found.built.cluster.plant.trunks)


def test_every_line_leads_to_a_source() -> None:
    found = evaluated("h200-1024-ndr")
    said = str(found.ledger["assumption.cable_install_hours"].source)
    assert "network" in said


def test_a_rack_with_a_copper_backplane_says_what_nobody_pulls() -> None:
    found = evaluated("gb200-nvl72-16")
    assert value(found, "design.cabling.backplane_cables") == 16 * 5184
    assert "design.cabling.backplane_cables" not in evaluated("h200-1024-ndr").ledger


def test_light_between_halls_takes_its_time_and_slows_the_step() -> None:
    """Leaf to spine and back over a route of 900 m: 1,800 m at 4.5 ns."""
    here, there = evaluated("h200-1024-ndr"), evaluated("h200-1024-ndr", HALLS.format(900))
    assert there.built is not None
    assert crossing_m(there.built.cluster.cabling) == pytest.approx(2 * 900)
    assert value(there, "design.floor.crossing_latency_us") == pytest.approx(1800 * 4.5 / 1000)
    assert "design.floor.crossing_latency_us" not in here.ledger
    step = "performance.training.step_s"
    nearer = evaluated("h200-1024-ndr", HALLS.format(90))
    assert value(here, step) < value(nearer, step) < value(there, step)


def test_halls_next_door_change_no_step() -> None:
    beside = evaluated("h200-1024-ndr", HALLS.format(0))
    assert value(beside, "performance.training.step_s") == value(
        evaluated("h200-1024-ndr"), "performance.training.step_s"
    )
