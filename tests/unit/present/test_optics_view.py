"""The comparison as tables, text and JSON."""

from __future__ import annotations

import json

import pytest

from planner.catalog.store import open_catalog
from planner.cli.optics_text import as_text
from planner.present.optics_json import as_object
from planner.present.view.optics import optics_section
from planner.scenario.load import load_scenario
from planner.study.optics import Comparison, compare_optics


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    early = ["as_of=2026-01-15", "network.leaf.switch=q3400", "network.spine.switch=q3400"]
    return compare_optics(load_scenario("b300-2048-cpo", changes=early), open_catalog(), claims=True)


def test_tables_are_rectangular_and_named_once(comparison: Comparison) -> None:
    section = optics_section(comparison)
    ids = [table.id for table in section.tables]
    assert len(set(ids)) == len(ids) and "optics-variants" in ids and "optics-wait" in ids
    for table in section.tables:
        assert table.rows and all(len(row) == len(table.columns) for row in table.rows), table.id


def test_the_roadmap_is_said_with_its_day(comparison: Comparison) -> None:
    section = optics_section(comparison)
    assert any("roadmap, not orderable by 2026-01-15: q3450" in note for note in section.notes)
    table = next(one for one in section.tables if one.id == "optics-variants")
    assert [cell.text for cell in table.rows[-1][2:]] == ["yes", "yes", "roadmap", "roadmap"]


def test_every_claim_prints_its_conditions(comparison: Comparison) -> None:
    table = next(one for one in optics_section(comparison).tables if one.id == "optics-claims")
    where = [column.name for column in table.columns].index("Conditions")
    assert all(row[where].text for row in table.rows)
    assert any("conditions not found" in row[where].text for row in table.rows)


def test_text_fits_80_columns(comparison: Comparison) -> None:
    assert max(len(line) for line in as_text(comparison).splitlines()) <= 80


def test_json_holds_values_of_the_ledger_under_their_keys(comparison: Comparison) -> None:
    found = json.loads(json.dumps(as_object(comparison), allow_nan=False))
    by_name = {one["approach"]: one for one in found["variants"]}
    for one in comparison.built:
        lines = by_name[one.approach.value]["lines"]
        assert lines["optics.npv_usd"]["value"] == one.value("optics.npv_usd")
        assert lines["capex.total_usd"]["unit"] == "USD"
    assert by_name["linear"]["why_not"]
    assert found["wait"]["awaited"]
