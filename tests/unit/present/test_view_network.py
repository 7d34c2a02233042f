"""The network's and the site's tables: schedules, shares beside published ones, flows that add up."""

from __future__ import annotations

import pytest

from planner.evaluate import Evaluation
from planner.present.view.build import view
from planner.present.view.cables import ORDER
from planner.present.view.model import Figure, Section, Table
from tests.unit.present.conftest import evaluated

MAIN, RACKS, LAB = "h200-1024-ndr", "gb200-nvl72-16", "h100-8-lab"


def section(evaluation: Evaluation, name: str) -> Section:
    return next(one for one in view(evaluation).sections if one.id == name)


def figures(evaluation: Evaluation) -> dict[str, Figure]:
    return {one.id: one for part in view(evaluation).sections for one in part.figures}


def table(evaluation: Evaluation, name: str) -> Table:
    return next(one for one in section(evaluation, "network").tables if one.id == name)


def column(found: Table, name: str) -> list[float]:
    at = [one.name for one in found.columns].index(name)
    rows = found.rows[:-1] if found.total else found.rows
    return [row[at].value or 0.0 for row in rows]


def test_flows_from_the_meter_come_to_its_power_and_the_parts_to_the_load(shipped: Evaluation) -> None:
    flows = figures(shipped)["C7"].data["flows"]
    meter = sum(flow["value"] for flow in flows if flow["from"] == "Meter")
    load = sum(flow["value"] for flow in flows if flow["from"] == "IT")
    assert meter == pytest.approx(shipped.ledger.scalar("power.facility_w"), rel=1e-12)
    assert load == pytest.approx(shipped.ledger.scalar("power.it_w"), rel=1e-12)


def test_a_typed_pue_is_still_the_sum_of_its_parts() -> None:
    evaluation = evaluated(f"{MAIN}!site.pue=1.5")
    flows = figures(evaluation)["C7"].data["flows"]
    meter = sum(flow["value"] for flow in flows if flow["from"] == "Meter")
    assert meter == pytest.approx(1.5 * evaluation.ledger.scalar("power.it_w"), rel=1e-12)


def test_each_stage_of_the_chain_says_what_it_loses(shipped: Evaluation) -> None:
    rows = figures(shipped)["C7b"].table.rows
    lost = [row[3].value for row in rows[:-1]]
    assert sum(value for value in lost if value is not None) == pytest.approx(rows[-1][3].value)
    assert [row[0].text for row in rows] == ["Transformers", "UPS", "Rack feeds", "All losses"]


def test_months_make_the_year(shipped: Evaluation) -> None:
    energy = column(figures(shipped)["C9"].table, "Energy")
    assert sum(energy) * 1e3 == pytest.approx(shipped.ledger.scalar("power.energy_kwh_per_year"), rel=1e-9)


def test_the_cable_schedule_has_every_link_once() -> None:
    evaluation = evaluated(MAIN)
    assert evaluation.built is not None
    found = figures(evaluation)["C14c"]
    bars = sum(part["value"] for bar in found.data["bars"] for part in bar["parts"])
    links = sum(row.links for row in evaluation.built.cluster.cabling.rows)
    assert bars == sum(column(found.table, "Links")) == found.table.rows[-1][5].value == links
    assert found.data["parts"] == [name for name in ORDER if name in found.data["parts"]]
    assert all(row[3].value >= row[4].value for row in found.table.rows[:-1] if row[3].value and row[4].value)


def test_kinds_of_racks_count_to_all_racks(shipped: Evaluation) -> None:
    assert shipped.built is not None
    found = figures(shipped)["C14d"]
    assert sum(column(found.table, "Racks")) == shipped.built.cluster.layout.racks
    assert sum(rack["count"] for rack in found.data["racks"]) <= shipped.built.cluster.layout.racks
    assert len(found.data["racks"]) == min(12, len(found.table.rows))


def test_shares_of_cost_and_load_are_bars_of_a_hundred() -> None:
    for bar in figures(evaluated(MAIN))["C14f"].data["bars"]:
        assert sum(part["value"] for part in bar["parts"]) == pytest.approx(100)


def test_published_shares_stand_beside_those_of_like_clusters_alone() -> None:
    of_racks = [row[0].text for row in table(evaluated(RACKS), "published-shares").rows]
    of_servers = [row[0].text for row in table(evaluated(MAIN), "published-shares").rows]
    assert "Network for a GPU" in of_racks
    assert "Network for a GPU" not in of_servers
    assert "Modules, cables and fibre for a GPU" in of_servers
    both = [one for one in of_racks if one in of_servers]
    assert len(both) == 3
    for row in table(evaluated(MAIN), "published-shares").rows:
        assert row[1].key.startswith("share.")
        assert all(cell.text for cell in row)


def test_a_lab_without_a_network_has_no_shares_and_no_schedule() -> None:
    found = figures(evaluated(LAB))
    assert "C14f" not in found
    assert "C14c" not in found


def test_a_second_tier_puts_the_farthest_three_switches_away() -> None:
    rows = {row[0].text: row[1].value for row in table(evaluated(MAIN), "hops").rows}
    assert rows["To a node on the same leaf, same rail"] == 1
    assert rows["To the farthest of all"] == 3
