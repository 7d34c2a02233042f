"""Specs of the charts of risk: the tornado, and shares of the variance."""

from __future__ import annotations

from planner.present.html.spec_parts import INK, WIDTH, Spec
from planner.present.html.svg import paint

ROW = 24
NAMES = 270
"""Width that names beside the bars take."""


def tornado(data: Spec) -> Spec:
    """C15: what each input does to the result, from its P10 to its P90, around the plan."""
    rows = [
        {"name": bar["name"], "end": ends, "value": bar[ends], "base": data["base"], "text": bar[f"{ends}_text"]}
        for bar in data["bars"]
        for ends in ("low", "high")
    ]  # fmt: skip
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    colour = {
        "field": "input", "type": "nominal", "sort": None, "legend": {},
        "scale": {"domain": ["input at its P10", "input at its P90"], "range": ["var(--c1)", paint("exposed_communication")]},
    }  # fmt: skip
    for row in rows:
        row["input"] = f"input at its {'P10' if row['end'] == 'low' else 'P90'}"
    return {
        "width": WIDTH - NAMES,
        "height": ROW * len(data["bars"]),
        "layer": [
            {
                "data": {"values": rows},
                "mark": {"type": "bar", "height": 14},
                "encoding": {
                    "y": y,
                    "x": {
                        "field": "value", "type": "quantitative", "title": data["unit"], "scale": {"zero": False},
                        "axis": {"tickCount": 6},
                    },
                    "x2": {"field": "base"},
                    "color": colour,
                    "description": {"field": "text"},
                },
            },
            {
                "data": {"values": [{"base": data["base"]}]},
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5},
                "encoding": {"x": {"field": "base", "type": "quantitative"}},
            },
        ],
    }  # fmt: skip


def shares(data: Spec) -> Spec:
    """C15b: first-order and total Sobol indices of each input."""
    rows = data["bars"]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    x = {"type": "quantitative", "title": "% of the variance", "scale": {"domainMin": 0}}
    return {
        "width": WIDTH - NAMES,
        "height": ROW * len(rows),
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": 16, "color": "var(--c1)", "fillOpacity": 0.35},
                "encoding": {"y": y, "x": {**x, "field": "total"}, "description": {"field": "text"}},
            },
            {
                "mark": {"type": "bar", "height": 8, "color": "var(--c1)"},
                "encoding": {"y": y, "x": {**x, "field": "first"}, "description": {"field": "text"}},
            },
            {
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5},
                "encoding": {"y": y, "x": {**x, "field": "from"}, "x2": {"field": "to"}},
            },
        ],
    }
