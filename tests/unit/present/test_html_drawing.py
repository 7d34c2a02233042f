"""Drawings and charts: their size, what they fold, and that their bytes depend on the report alone."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from planner.evaluate import Evaluation
from planner.present.html.charts import chart, tidy
from planner.present.html.drawing import racks, sankey, topology
from planner.present.html.specs import SPECS
from planner.present.html.svg import framed, paint, pattern_definitions
from planner.present.view.build import view
from planner.present.view.model import Column, Figure, Table
from tests.unit.present.conftest import evaluated


def figures(evaluation: Evaluation) -> dict[str, Figure]:
    return {one.id: one for part in view(evaluation).sections for one in part.figures}


def texts(drawn: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]


def test_the_folded_topology_stays_small_at_any_size(shipped: Evaluation) -> None:
    assert len(topology(figures(shipped)["C14"], "t").encode()) <= 8192


def test_three_tiers_fold_to_first_last_and_a_count() -> None:
    said = texts(topology(figures(evaluated("h100-16384-roce"))["C14"], "t"))
    assert said.count("… 62 …") == 5  # core groups between, and items inside spines and units, twice each
    assert "256 x SN5600 Spectrum-4" in said
    assert said.count("16,384 links x 400 Gbit/s") == 3


def test_a_partly_filled_unit_has_a_box_of_its_own() -> None:
    said = texts(topology(figures(evaluated("b300-2048-cpo"))["C14"], "t"))
    assert "scalable unit, partly filled: 40" in said
    assert said.count("… 2 …") == 2  # leaf sets and units fold alike: first, two, last


def test_leaves_kept_for_management_have_no_nodes_below_them() -> None:
    said = texts(topology(figures(evaluated("gb200-nvl72-16!network.reserved_ports=4"))["C14"], "t"))
    assert said.count("no nodes, reserved ports") == 1
    assert said.count("… 8 …") == 2


def test_every_pod_meets_every_core_group_and_a_unit_only_its_own_leaves() -> None:
    drawn = topology(figures(evaluated("h100-16384-roce"))["C14"], "t")
    paths = [path for path in re.findall(r' d="([^"]+)"', drawn) if "L" in path]
    assert [path.count("M") for path in paths] == [9, 3, 3]


@pytest.mark.parametrize("name", ["h100-8-lab", "h200-1024-ndr", "h100-16384-roce"])
def test_every_rack_is_drawn_once(name: str) -> None:
    evaluation = evaluated(name)
    assert evaluation.built is not None
    drawn = racks(figures(evaluation)["C14b"], "r")
    squares = sum(path.count("M") for path in re.findall(r' d="([^"]+)"', drawn))
    assert squares == evaluation.built.cluster.layout.racks


def test_no_two_racks_stand_in_one_place() -> None:
    data = figures(evaluated("h100-16384-roce"))["C14b"].data
    assert len(set(zip(data["x"], data["y"], strict=True))) == len(data["x"])


def test_labels_of_the_power_drawing_keep_their_distance(shipped: Evaluation) -> None:
    drawn = ElementTree.fromstring(sankey(figures(shipped)["C7"], "s"))
    places: dict[str, list[float]] = {}
    for one in drawn.iter("{http://www.w3.org/2000/svg}text"):
        places.setdefault(one.attrib["x"], []).append(float(one.attrib["y"]))
    for heights in places.values():
        ordered = sorted(heights)
        assert all(after - before >= 14 for before, after in pairwise(ordered))
    height = float(drawn.attrib["height"])
    assert all(0 < y < height for heights in places.values() for y in heights)


def test_charts_follow_the_theme_of_the_page(shipped: Evaluation) -> None:
    for figure in figures(shipped).values():
        if figure.kind in SPECS:
            drawn = chart(figure, "c")
            assert re.findall(r'(?:fill|stroke)="#', drawn) == [], figure.id
            assert "currentColor" in drawn


def test_a_chart_drawn_twice_has_the_same_bytes() -> None:
    figure = figures(evaluated("h200-1024-ndr"))["C12"]
    first = chart(figure, "c")
    chart(figures(evaluated("h200-serving-fleet"))["C13"], "d")
    assert chart(figure, "c") == first


def test_hovers_become_titles_and_say_what_they_mean_literally() -> None:
    bars = [
        {
            "lane": "a",
            "label": "x",
            "part": "bubble",
            "start": 0.0,
            "end": 1.0,
            "text": 'one "two" <three> & four',
        }
    ]
    table = Table("t", "Caption", (Column("A"),), ())
    figure = Figure("C3", "lanes", "T <i>", "H", {"bars": bars, "lanes": ["a"], "step": 1.0}, table)
    drawn = chart(figure, "n")
    titles = [one.text for one in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["T <i>", 'one "two" <three> & four']
    assert "aria-label=" not in drawn


def test_clip_ids_count_within_a_report() -> None:
    table = Table("t", "Caption", (Column("A"),), ())
    figure = Figure("C1", "stack", "Title", "Help", {}, table)
    raw = '<svg width="10" height="20"><clipPath id="clip71"/><g clip-path="url(#clip71)"/><clipPath id="clip9"/></svg>'
    drawn = tidy(raw, figure, "fig-c1")
    assert re.findall(r"fig-c1-clip\d+", drawn) == ["fig-c1-clip1", "fig-c1-clip1", "fig-c1-clip2"]


def test_every_hatch_a_part_is_painted_with_is_defined() -> None:
    defined = set(re.findall(r'id="(hatch-[a-z_]+)"', pattern_definitions()))
    for part in (
        "computing",
        "recompute",
        "exposed_communication",
        "bubble",
        "stragglers",
        "checkpoints",
        "failures",
    ):
        found = re.fullmatch(r"url\(#(.+)\)", paint(part))
        assert found is None or found[1] in defined
    assert len(defined) == 6


def test_titles_of_drawings_are_escaped() -> None:
    drawn = framed("", name="x", width=1, height=1, title="<script>", desc="a & b")
    assert "<script>" not in drawn
    assert ElementTree.fromstring(drawn)[0].text == "<script>"
