"""Drawings of networks without tiers, racks from the front, bars, months, and the chain on one line."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from planner.present.html.bars import bars, months
from planner.present.html.floor import elevation, racks
from planner.present.html.topology import topology
from planner.present.html.watts import oneline
from planner.present.view.build import view
from planner.present.view.model import Cell, Column, Figure, Table
from tests.unit.present.conftest import evaluated

SVG = "{http://www.w3.org/2000/svg}"
TABLE = Table("t", "Caption", (Column("A"),), ((Cell("1"),),))


def drawn_with(kind: str, data: dict[str, Any]) -> Figure:
    return Figure("C0", kind, "Title", "Help.", data, TABLE)


def figures(name: str) -> dict[str, Figure]:
    return {one.id: one for part in view(evaluated(name)).sections for one in part.figures}


def texts(drawn: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def rects(drawn: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn).iter(f"{SVG}rect"))


def moves(drawn: str) -> list[int]:
    """Lines in each path."""
    return [path.count("M") for path in re.findall(r' d="([^"]+)"', drawn)]


def test_a_grid_is_folded_along_each_axis_and_closed_to_rings() -> None:
    data = {"form": "grid", "sizes": [16, 4, 3], "unit": "node", "lines": ["192 nodes"]}
    drawn = topology(drawn_with("topology", data), "t")
    assert len(rects(drawn)) == 3 * 4 * 3
    solid, dashed, *rings = moves(drawn)
    assert dashed == 4 * 3  # across, between the second and the last that is drawn
    assert solid == 1 * 4 * 3 + 3 * 3 * 3 + 3 * 4 * 2
    assert rings == [1, 1, 1]
    assert {"16 nodes across", "4 up", "3 deep", "192 nodes"} <= set(texts(drawn))


def test_no_two_nodes_of_a_grid_are_drawn_in_one_place() -> None:
    data = {"form": "grid", "sizes": [4, 4, 4], "unit": "node", "lines": []}
    places = [
        (float(one.attrib["x"]), float(one.attrib["y"]))
        for one in rects(topology(drawn_with("topology", data), "t"))
    ]
    assert len(places) == 64
    for at, (a, b) in enumerate(places):
        assert all(abs(a - c) >= 5 or abs(b - d) >= 12 for c, d in places[at + 1 :])


def test_two_nodes_in_a_line_have_no_ring() -> None:
    data = {"form": "grid", "sizes": [2], "unit": "node", "lines": []}
    assert moves(topology(drawn_with("topology", data), "t")) == [1]


def test_every_group_of_a_ring_meets_every_other_and_many_are_folded() -> None:
    inside = [
        {"name": "32 spines", "items": 32, "fill": "var(--c6)"},
        {"name": "2 leaves", "items": 2, "fill": "var(--c1)"},
    ]
    data = {"form": "ring", "groups": 20, "inside": inside, "lines": ["20 groups"]}
    drawn = topology(drawn_with("topology", data), "t")
    assert moves(drawn) == [8 * 7 // 2, 4 * 2]
    assert {"… 13 more", "… 28 …", "32 spines", "20 groups"} <= set(texts(drawn))
    few = topology(drawn_with("topology", {**data, "groups": 5, "inside": []}), "t")
    assert moves(few) == [5 * 4 // 2]
    assert len(rects(few)) == 5


TOPOLOGIES = [
    ("h200-1024-ndr!network.topology=torus", "grid"), ("h200-1024-ndr!network.topology=fat-tree", "tiers"),
    ("h200-1024-ndr!network.topology=dual-tor", "tiers"), ("h100-8-lab", "tiers"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "form"), TOPOLOGIES)
def test_a_topology_is_drawn_in_its_form_and_stays_small(name: str, form: str) -> None:
    figure = figures(name)["C14"]
    assert figure.data["form"] == form
    assert len(topology(figure, "t").encode()) <= 12_000


def test_both_leaves_of_a_pair_and_both_planes_of_spines_are_seen() -> None:
    drawn = topology(figures("h200-1024-ndr!network.topology=dual-tor")["C14"], "t")
    said = texts(drawn)
    assert any(one.startswith("first plane, ") for one in said)
    assert any(one.startswith("second plane, ") for one in said)
    assert any(one.startswith("Every adapter has 200 Gbit/s to each leaf of a pair") for one in said)
    assert 'fill="var(--c6)"' in drawn


def test_planes_stand_behind_the_first() -> None:
    data = figures("h200-1024-ndr!network.topology=dual-tor")["C14"].data
    one = {
        **data,
        "planes": 3,
        "note": "",
        "tiers": [{**tier, "planes": tier["tier"] != "node"} for tier in data["tiers"]],
    }
    flat = {**one, "tiers": [{**tier, "planes": False} for tier in one["tiers"]]}
    behind, alone = (len(rects(topology(drawn_with("topology", each), "t"))) for each in (one, flat))
    assert behind > alone
    assert (behind - alone) % 2 == 0  # two outlines for every box that is drawn


def test_bars_are_as_long_as_their_values_and_say_their_sums() -> None:
    parts = ["Multimode fibre", "Single-mode fibre"]
    rows = [
        {"label": "5 m", "text": "40", "parts": [{"part": parts[0], "value": 30, "text": "a"}, {"part": parts[1], "value": 10, "text": "b <"}]},
        {"label": "10 m", "text": "20", "parts": [{"part": parts[1], "value": 20, "text": "c"}]},
    ]  # fmt: skip
    drawn = bars(drawn_with("bars", {"bars": rows, "parts": parts, "axis": "links", "hues": "media"}), "b")
    first, second, third = (float(one.attrib["width"]) for one in rects(drawn)[:3])
    assert first == pytest.approx(3 * second, rel=0.01)
    assert third == pytest.approx(2 * second, rel=0.01)
    assert texts(drawn) == ["5 m", "40", "10 m", "20", *parts]


@pytest.mark.parametrize("name", ["h200-1024-ndr", "h100-16384-roce", "gb200-nvl72-16", "h100-8-lab"])
def test_racks_from_the_front_hold_nothing_above_their_height(name: str) -> None:
    figure = figures(name)["C14d"]
    for rack in figure.data["racks"]:
        tops = [slot["unit"] + slot["units"] * slot["number"] - 1 for slot in rack["slots"]]
        feet = [slot["unit"] for slot in rack["slots"]]
        assert max(tops) <= rack["units"]
        assert all(after > before for before, after in zip(tops, feet[1:], strict=False))
    drawn = elevation(figure, "e")
    assert len(drawn.encode()) < 40_000
    assert {"1", "6"} <= set(texts(drawn))


def test_a_draw_above_its_limit_is_shown_as_bad() -> None:
    slots = [{"unit": 1, "units": 8, "number": 2, "label": "box", "kind": "server"}]
    rack = {"name": "2 x box", "count": 3, "units": 42, "slots": slots}
    over, within = (
        elevation(drawn_with("elevation", {"racks": [{**rack, "bars": [("", kw, 25.0, "kW")]}]}), "e")
        for kw in (26.0, 24.0)
    )
    assert 'fill="var(--bad)"' in over
    assert 'fill="var(--bad)"' not in within
    assert {"3 racks of", "2 x box", "26.0 of 25.0 kW"} <= set(texts(over))


def test_halls_are_named_on_the_floor() -> None:
    data = figures("h200-1024-ndr")["C14b"].data
    drawn = racks(
        drawn_with("racks", {**data, "halls": [{"id": "north", "row": 0}, {"id": "south", "row": 3}]}), "r"
    )
    places = {one.text: float(one.attrib["y"]) for one in ElementTree.fromstring(drawn).iter(f"{SVG}text")}
    assert places["south"] - places["north"] == 3 * 19
    width = float(ElementTree.fromstring(drawn).attrib["width"])
    assert all(float(one.attrib["x"]) < width for one in ElementTree.fromstring(drawn).iter(f"{SVG}text"))


def test_the_chain_names_every_stage_between_utility_and_racks() -> None:
    said = texts(oneline(figures("h200-1024-ndr")["C7b"], "o"))
    for name in ("Utility", "Transformers", "UPS", "Rack feeds", "IT load"):
        assert name in said
    assert any(re.fullmatch(r"\d+ x [\d,]+ kVA, \d+ needed", one) for one in said)
    assert any(re.fullmatch(r"loses [\d.]+ kW, [\d.]+ % of IT", one) for one in said)


def test_each_month_has_a_column_in_each_panel() -> None:
    figure = figures("h200-1024-ndr")["C9"]
    drawn = months(figure, "m")
    assert len(rects(drawn)) == 24
    assert texts(drawn).count("Jan") == texts(drawn).count("Dec") == 2
    heights = [float(one.attrib["height"]) for one in rects(drawn)[:12]]
    energy = figure.data["panels"][0]["values"]
    assert heights.index(max(heights)) == energy.index(max(energy))
    assert min(heights) / max(heights) == pytest.approx(min(energy) / max(energy), abs=0.01)
