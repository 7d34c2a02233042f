"""Measured points beside the curves a plan uses: what the fidelity section draws and tells."""

from __future__ import annotations

import pytest

from planner.present.html.specs import SPECS
from planner.present.view.build import view
from planner.present.view.calibration import calibration
from planner.present.view.model import Figure, Section
from tests.unit.present.conftest import TOO_SMALL, evaluated

OPERATIONS = ("all-reduce", "all-gather", "all-to-all")


def fidelity(scenario: str) -> Section:
    return next(one for one in view(evaluated(scenario)).sections if one.id == "fidelity")


def drawn(scenario: str) -> Figure:
    (figure,) = (one for one in fidelity(scenario).figures if one.kind == "bandwidth")
    return figure


@pytest.mark.parametrize(
    ("scenario", "rung"),
    [("h100-8-lab", "measured on this accelerator"), ("h200-1024-ndr", "scaled from a like one")],
)
def test_curves_stand_beside_the_points_they_rest_on(scenario: str, rung: str) -> None:
    figure = drawn(scenario)
    model, points = figure.data["model"], figure.data["points"]
    assert all(one["low"] < one["rate"] < one["high"] for one in model)
    for operation in OPERATIONS:
        assert f"{operation}: {rung}, points of h100-sxm5-80gb" in figure.evidence
        reached = [one["rate"] for one in points if one["name"] == operation]
        assert len(reached) > 15
        # the table ends at 512 MiB, where an exchange still gains a tenth
        best = max(one["rate"] for one in model if one["name"] == operation)
        assert max(reached) == pytest.approx(best, rel=0.15)


def test_a_rack_has_curves_and_no_points_of_a_group_so_large() -> None:
    figure = drawn("gb200-nvl72-16")
    assert figure.data["points"] == []
    assert figure.evidence.count("no measured points") == len(OPERATIONS)


def test_the_table_says_rung_profile_band_and_both_units() -> None:
    table = next(one for one in fidelity("h100-8-lab").tables if one.id == "calibration")
    names = [one.name for one in table.columns]
    for row in table.rows:
        cells = dict(zip(names, row, strict=True))
        assert cells["Profile"].text == "h100-sxm5-80gb.nccl-tables"
        assert cells["Band"].value is not None and cells["Band"].value > 0
        assert cells["The same"].value == pytest.approx(8 * (cells["Bus rate at 1 GiB"].value or 0.0))


def test_points_are_drawn_where_there_are_any() -> None:
    for scenario, marks in (("h100-8-lab", ["area", "line", "point"]), ("gb200-nvl72-16", ["area", "line"])):
        assert [one["mark"]["type"] for one in SPECS["bandwidth"](drawn(scenario).data)["layer"]] == marks


def test_a_plan_that_was_not_built_has_no_curves() -> None:
    assert calibration(evaluated(TOO_SMALL)) == ((), (), ())
