"""The risk section: figures and tables of one result taken apart."""

from __future__ import annotations

from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.present.html.charts import chart
from planner.present.html.specs import SPECS
from planner.present.view.build import view
from planner.present.view.model import Figure, Section
from planner.scenario.load import load_scenario
from planner.study.bands import with_ranges
from planner.study.risk import Effort, with_risk, with_swings


@cache
def drawn(key: str = "tco.npv_usd") -> Evaluation:
    base = evaluate(load_scenario("h200-1024-ndr"), open_catalog())
    return with_risk(base, key, effort=Effort(draws=640, share_rows=64))


def section(evaluation: Evaluation) -> Section:
    return next(one for one in view(evaluation).sections if one.id == "risk")


def figure(evaluation: Evaluation, kind: str) -> Figure:
    return next(one for one in section(evaluation).figures if one.kind == kind)


def test_the_section_has_what_swings_it_whose_variance_it_is_and_what_to_do() -> None:
    found = section(drawn())
    assert [one.kind for one in found.figures] == ["tornado", "shares", "odds", "odds"]
    assert [one.id for one in found.tables] == [
        "ranges",
        "widest-time",
        "next-steps",
        "missed-odds",
        "convergence",
    ]
    assert "P10 to P90" in found.lead
    assert any("seed" in note for note in found.notes)


def test_ids_of_figures_and_tables_are_used_once() -> None:
    seen = view(drawn())
    figures = [one.id for part in seen.sections for one in part.figures]
    assert len(figures) == len(set(figures))


@pytest.mark.parametrize(
    "key", ["tco.npv_usd", "outcome.waiting_fraction", "performance.training.step_s", "power.facility_w"]
)
def test_a_tornado_has_ten_bars_and_the_rest_as_one_around_the_plan(key: str) -> None:
    data = figure(drawn(key), "tornado").data
    assert 1 < len(data["bars"]) <= 11
    assert data["bars"][-1]["name"].endswith("others together")
    widths = [abs(bar["high"] - bar["low"]) for bar in data["bars"][:-1]]
    assert widths == sorted(widths, reverse=True)
    spec = SPECS["tornado"](data)
    values = spec["layer"][0]["data"]["values"]
    assert len(values) == 2 * len(data["bars"]) and {row["base"] for row in values} == {data["base"]}


def test_charts_are_drawn_with_the_pages_colours() -> None:
    for kind in ("tornado", "shares"):
        drawing = chart(figure(drawn(), kind), "c")
        assert drawing.startswith("<svg") and 'fill="#' not in drawing
        assert "<title>" in drawing


def test_the_table_says_whether_an_input_alone_flips_the_limit() -> None:
    key = "capex.total_usd"
    limited = evaluate(load_scenario("h200-1024-ndr", changes=["limits.capex_usd=50000000"]), open_catalog())
    table = figure(with_risk(limited, key, effort=Effort(draws=64, share_rows=0)), "tornado").table
    at = next(place for place, column in enumerate(table.columns) if column.name == "Flips the limit")
    said = {row[0].text: row[at].text for row in table.rows}
    assert said["Price of HGX H200 server, OEM"] == "yes" and "no" in said.values()


def test_a_quick_report_has_the_tornado_and_says_where_the_rest_is() -> None:
    base = evaluate(load_scenario("h200-1024-ndr"), open_catalog())
    found = section(with_swings(with_ranges(base)))
    assert [one.kind for one in found.figures] == ["tornado", "odds", "odds"]
    steps = next(one for one in found.tables if one.id == "next-steps")
    assert [column.name for column in steps.columns][2] == "Swings it by"
    assert any("planner risk" in note for note in found.notes)


def test_keys_in_the_section_lead_somewhere() -> None:
    evaluation = drawn()
    found = section(evaluation)
    for table in (*found.tables, *(one.table for one in found.figures)):
        for row in table.rows:
            for cell in row:
                assert not cell.key or cell.key in evaluation.ledger
