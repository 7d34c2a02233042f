"""The Vega-Lite specs of the statistical charts, one function for each kind of figure.

Colours are CSS variables and ``currentColor``, which pass through into the SVG and follow the page's theme.
"""

from __future__ import annotations

from collections.abc import Callable

from planner.present.html.curves import bandwidth, columns, crossing, odds
from planner.present.html.risk_specs import shares, tornado
from planner.present.html.spec_parts import INK, WIDTH, Spec
from planner.present.html.svg import paint


def _bars(rows: int) -> int:
    return 26 * rows


def stack(data: Spec) -> Spec:
    """C1: one bar of the whole, labels above parts of 4 % or more."""
    parts, at, rows = [one for one in data["parts"] if one["value"] > 0], 0.0, []
    for place, one in enumerate(parts):
        rows.append(
            {
                **one, "start": at * 100, "end": (at + one["value"]) * 100, "middle": (at + one["value"] / 2) * 100,
                "place": place, "name": f"{one['label']} {one['text']}",
            }
        )  # fmt: skip
        at += one["value"]
    names = [row["name"] for row in rows]
    colour = {
        "field": "name", "type": "nominal", "sort": None, "legend": {"columns": 3, "orient": "bottom"},
        "scale": {"domain": names, "range": [paint(one["part"]) for one in parts]},
    }  # fmt: skip
    x = {"field": "start", "type": "quantitative", "title": "share of scheduled GPU time, %", "scale": {"domain": [0, 100]},
         "axis": {"values": [0, 20, 40, 60, 80, 100]}}  # fmt: skip
    return {
        "width": WIDTH,
        "height": 46,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": 46},
                "encoding": {"x": x, "x2": {"field": "end"}, "color": colour, "description": {"field": "name"}},
            },
            {
                "transform": [{"filter": "datum.value >= 0.04"}],
                "mark": {"type": "text", "dy": -32},
                "encoding": {
                    "x": {"field": "middle", "type": "quantitative"}, "text": {"field": "text"},
                    "color": {"value": INK},
                },
            },
        ],
    }  # fmt: skip


def ladder(data: Spec) -> Spec:
    """C2: what is left after each step, and what the step took."""
    steps = data["steps"]
    rows = [
        {
            **one,
            "left": one["after"] * 100,
            "from": one["before"] * 100,
            "at": max(one["before"], one["after"]) * 100,
        }
        for one in steps
    ]
    y = {"field": "step", "type": "nominal", "sort": None, "title": None}
    x = {
        "type": "quantitative",
        "title": "% of peak",
        "scale": {"domain": [0, 112]},
        "axis": {"values": [0, 20, 40, 60, 80, 100]},
    }
    return {
        "width": WIDTH - 120,
        "height": _bars(len(rows)),
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": 16, "color": "var(--c1)"},
                "encoding": {"y": y, "x": {**x, "field": "left"}, "description": {"field": "text"}},
            },
            {
                "transform": [{"filter": "datum.from > datum.left"}],
                "mark": {"type": "bar", "height": 16, "color": paint("exposed_communication")},
                "encoding": {
                    "y": y,
                    "x": {**x, "field": "left"},
                    "x2": {"field": "from"},
                    "description": {"field": "text"},
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"y": y, "x": {"field": "at", "type": "quantitative"}, "text": {"field": "text"}},
            },
        ],
    }


def lanes(data: Spec) -> Spec:
    """C3: what runs in a step, lane by lane."""
    bars = data["bars"]
    parts = list(dict.fromkeys(bar["part"] for bar in bars))
    names = {part: part.replace("_", " ") for part in parts}
    return {
        "width": WIDTH - 100,
        "height": _bars(len(data["lanes"])),
        "data": {"values": [{**bar, "kind": names[bar["part"]]} for bar in bars]},
        "mark": {"type": "bar", "height": 16},
        "encoding": {
            "y": {"field": "lane", "type": "nominal", "sort": data["lanes"], "title": None},
            "x": {
                "field": "start", "type": "quantitative", "title": "seconds in one step",
                "scale": {"domain": [0, data["step"]], "nice": False},
            },
            "x2": {"field": "end"},
            "color": {
                "field": "kind", "type": "nominal", "sort": None, "legend": {},
                "scale": {"domain": [names[part] for part in parts], "range": [paint(part) for part in parts]},
            },
            "description": {"field": "text"},
        },
    }  # fmt: skip


def _panel(rows: list[Spec], y: str, x: str, title: str, limit: float | None, said: str, width: int) -> Spec:
    top = max([row[x] for row in rows] + ([limit] if limit else [])) * 1.5
    scale = {"domain": [0, top], "nice": False}
    across = {"field": x, "type": "quantitative", "title": title, "scale": scale, "axis": {"tickCount": 5}}
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "bar", "height": 14, "color": "var(--c1)"},
            "encoding": {
                "y": {"field": y, "type": "nominal", "sort": None, "title": None}, "x": across,
                "description": {"field": "text"},
            },
        },
        {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "right"},
            "encoding": {
                "y": {"field": y, "type": "nominal", "sort": None}, "x": {"value": width}, "text": {"field": "text"},
            },
        },
    ]  # fmt: skip
    if limit:
        rule = {"values": [{"limit": limit, "said": said}]}
        at = {"field": "limit", "type": "quantitative"}
        layers += [
            {
                "data": rule,
                "mark": {"type": "rule", "color": "var(--bad)", "strokeWidth": 2},
                "encoding": {"x": at},
            },
            {
                "data": rule,
                "mark": {"type": "text", "align": "center", "dy": -8, "color": INK},
                "encoding": {"x": at, "y": {"value": 0}, "text": {"field": "said"}},
            },
        ]
    return {"width": width, "height": _bars(max(4, len(rows))), "layer": layers}


def power_range(data: Spec) -> Spec:
    """C8: power at the meter by state, and the fullest rack of each kind, against their limits."""
    return {
        "hconcat": [
            _panel(data["states"], "state", "mw", "MW at the meter", data["limit"], data["limit_text"], 200),
            _panel(
                data["racks"],
                "name",
                "kw",
                "kW in the fullest rack",
                data["rack_limit"],
                data["rack_limit_text"],
                200,
            ),
        ],
        "spacing": 24,
    }


def waterfall(data: Spec) -> Spec:
    """C10, C11: each part starts where the one above ended; the last bar is the sum."""
    rows = []
    for one in data["steps"]:
        paintwork = "total" if one["kind"] == "total" else "less" if one["value"] < 0 else "part"
        rows.append(
            {
                **one, "start": one["start"] / 1e6, "end": one["end"] / 1e6, "kind": paintwork,
                "at": max(one["start"], one["end"]) / 1e6,
            }
        )  # fmt: skip
    top = max(row["at"] for row in rows) * 1.22
    y = {"field": "label", "type": "nominal", "sort": None, "title": None}
    return {
        "width": WIDTH - 150,
        "height": _bars(len(rows)),
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": 16},
                "encoding": {
                    "y": y,
                    "x": {
                        "field": "start", "type": "quantitative", "title": "M USD",
                        "scale": {"domain": [0, top], "nice": False},
                    },
                    "x2": {"field": "end"},
                    "color": {
                        "field": "kind", "type": "nominal", "legend": None,
                        "scale": {
                            "domain": ["part", "less", "total"], "range": ["var(--c1)", paint("checkpoints"), "var(--dark)"],
                        },
                    },
                    "description": {"field": "text"},
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"y": y, "x": {"field": "at", "type": "quantitative"}, "text": {"field": "text"}},
            },
        ],
    }  # fmt: skip


SPECS: dict[str, Callable[[Spec], Spec]] = {
    "stack": stack, "ladder": ladder, "lanes": lanes, "range": power_range, "waterfall": waterfall,
    "columns": columns, "crossing": crossing, "odds": odds, "bandwidth": bandwidth,
    "tornado": tornado, "shares": shares,
}  # fmt: skip
