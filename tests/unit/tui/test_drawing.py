"""Figures of the network and the site as lines of text."""

from __future__ import annotations

from typing import Any

from planner.present.view.model import Cell, Column, Figure, Table
from planner.tui.drawing import figure_lines

TABLE = Table("t", "Caption", (Column("A"),), ((Cell("1"),),))


def lines(kind: str, data: dict[str, Any], width: int = 80) -> list[str]:
    made = figure_lines(Figure("C0", kind, "Title", "Help.", data, TABLE), width)
    return ["".join(part[0] for part in line.parts) for line in made]


def test_stacked_bars_are_as_long_as_their_values() -> None:
    bars = [
        {
            "label": "5 m",
            "text": "40",
            "parts": [{"part": "copper", "value": 30}, {"part": "fibre", "value": 10}],
        },
        {"label": "10 m", "text": "20", "parts": [{"part": "fibre", "value": 20}]},
    ]
    drawn = lines("bars", {"bars": bars, "parts": ["copper", "fibre"]})
    first, second = drawn[1], drawn[2]
    room = first.count("█") + first.count("▓")
    assert first.count("█") == round(30 / 40 * room)
    assert second.count("▓") == round(20 / 40 * room)
    assert first.rstrip().endswith("40")
    assert "██ copper" in drawn[3]
    assert "▓▓ fibre" in drawn[3]
    assert all(len(line) <= 80 for line in drawn)


def test_no_bars_are_drawn_of_nothing() -> None:
    assert lines("bars", {"bars": [], "parts": []})[1:] == lines("elevation", {})[1:]


def test_the_chain_says_stage_by_stage_what_stands_there() -> None:
    stages = [{"name": "Utility", "lines": ["2 MW", "2.1 MVA"]}, {"name": "UPS", "lines": ["3 x 700 kW"]}]
    data = {"stages": stages, "branch": {"name": "Cooling 90 kW", "lines": ["Fans: 90 kW"]}}
    drawn = lines("oneline", data)
    assert drawn[1:4] == [" Utility: 2 MW, 2.1 MVA", " UPS: 3 x 700 kW", " Cooling 90 kW: Fans: 90 kW"]


def test_a_network_without_tiers_is_said_in_words() -> None:
    said = ["128 x server", "8 x 4 x 4 torus"]
    assert lines("topology", {"form": "grid", "lines": said})[1:3] == [f" {one}" for one in said]
