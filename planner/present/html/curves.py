"""Specs of charts over a continuous axis: cash by quarter, lines that cross, odds, bandwidth."""

from __future__ import annotations

from planner.present.html.spec_parts import INK, WIDTH, Spec


def columns(data: Spec) -> Spec:
    """C12: net cash of each quarter, and the running total."""
    rows = data["quarters"]
    x = {
        "field": "quarter",
        "type": "ordinal",
        "title": "quarter from the first payment",
        "axis": {"labelAngle": 0, "labelOverlap": True},
    }
    last = rows[-1]
    return {
        "width": WIDTH - 60,
        "height": 190,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "color": "var(--c1)"},
                "encoding": {
                    "x": x,
                    "y": {"field": "net", "type": "quantitative", "title": "M USD"},
                    "description": {"field": "text"},
                },
            },
            {
                "mark": {"type": "line", "color": INK, "strokeDash": [5, 3], "strokeWidth": 1.6},
                "encoding": {"x": x, "y": {"field": "cumulative", "type": "quantitative"}},
            },
            {
                "data": {"values": [{**last, "said": "running total"}]},
                "mark": {"type": "text", "align": "right", "dy": -9, "dx": 4},
                "encoding": {
                    "x": x,
                    "y": {"field": "cumulative", "type": "quantitative"},
                    "text": {"field": "said"},
                },
            },
        ],
    }


def crossing(data: Spec) -> Spec:
    """C13: cost of a scheduled GPU-hour, owned and rented, by utilisation."""
    points = data["points"]
    rows = [
        {"used": point["used"] * 100, "usd": point[who], "who": who}
        for who in ("own", "rent")
        for point in points
    ]
    top = max(row["usd"] for row in rows) * 1.1
    x = {"field": "used", "type": "quantitative", "title": "utilisation, %", "scale": {"domain": [20, 108], "nice": False},
         "axis": {"values": [20, 40, 60, 80, 100]}}  # fmt: skip
    y = {
        "field": "usd",
        "type": "quantitative",
        "title": "USD for a scheduled GPU-hour",
        "scale": {"domain": [0, top], "nice": False},
    }
    who = {
        "field": "who",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": ["own", "rent"], "range": ["var(--c1)", "var(--c6)"]},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": x, "y": y, "color": who,
                "strokeDash": {
                    "field": "who", "type": "nominal", "legend": None,
                    "scale": {"domain": ["own", "rent"], "range": [[1, 0], [6, 3]]},
                },
            },
        },
        {
            "data": {"values": [row for row in rows if row["used"] == 100]},
            "mark": {"type": "text", "align": "left", "dx": 6},
            "encoding": {"x": x, "y": y, "text": {"field": "who"}},
        },
    ]  # fmt: skip
    rules = [{"used": data["planned"] * 100, "said": data["planned_text"], "usd": top}]
    layers += [
        {
            "data": {"values": rules},
            "mark": {"type": "rule", "strokeDash": [2, 2], "color": INK},
            "encoding": {"x": x},
        },
        {
            "data": {"values": rules},
            "mark": {"type": "text", "align": "right", "dx": -5, "dy": 8},
            "encoding": {"x": x, "y": y, "text": {"field": "said"}},
        },
    ]
    if data["even"] is not None and 0.2 <= data["even"] <= 1:
        own = points[-1]["own"] / data["even"]
        even = {"values": [{"used": data["even"] * 100, "usd": own, "said": data["even_text"]}]}
        layers += [
            {
                "data": even,
                "mark": {"type": "point", "filled": True, "size": 70, "color": INK},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": even,
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": -9},
                "encoding": {"x": x, "y": y, "text": {"field": "said"}},
            },
        ]
    return {"width": WIDTH - 60, "height": 190, "data": {"values": rows}, "layer": layers}


def odds(data: Spec) -> Spec:
    """C16: share of draws at or below a value, with the limit."""
    x = {
        "field": "value",
        "type": "quantitative",
        "title": data["unit"],
        "scale": {"zero": False, "nice": True},
        "axis": {"tickCount": 6, "labelOverlap": True},
    }
    y = {
        "field": "odds",
        "type": "quantitative",
        "title": "% of draws at or below",
        "scale": {"domain": [0, 100]},
    }
    rule = {"values": [{"value": data["limit"], "odds": 100, "said": data["limit_text"]}]}
    return {
        "width": WIDTH - 60,
        "height": 170,
        "layer": [
            {
                "data": {"values": data["points"]},
                "mark": {"type": "line", "color": "var(--c1)", "strokeWidth": 2, "interpolate": "step-after"},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": rule, "mark": {"type": "rule", "color": "var(--bad)", "strokeWidth": 2},
                "encoding": {"x": x},
            },
            {
                "data": rule, "mark": {"type": "text", "align": "center", "dy": -8},
                "encoding": {"x": x, "y": y, "text": {"field": "said"}},
            },
        ],
    }  # fmt: skip


def bandwidth(data: Spec) -> Spec:
    """C19: bus rate over message size, curves with their bands, and measured points."""
    x = {
        "field": "bytes", "type": "quantitative", "title": "message, bytes (binary sizes)",
        "scale": {"type": "log", "base": 2},
        "axis": {
            "values": [2**10, 2**14, 2**18, 2**22, 2**26, 2**30, 2**34],
            "labelExpr": "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : "
            "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : datum.value / 1024 + ' KiB'",
        },
    }  # fmt: skip
    y = {"field": "rate", "type": "quantitative", "title": "bus rate, GB/s", "scale": {"zero": True}}
    names = list(dict.fromkeys(row["name"] for row in data["model"]))
    colour = {
        "field": "name", "type": "nominal", "sort": None,
        "scale": {"domain": names, "range": ["var(--c1)", "var(--c2)", "var(--c3)"]},
    }  # fmt: skip
    dash = {"field": "name", "type": "nominal", "sort": None, "legend": None,
            "scale": {"domain": names, "range": [[1, 0], [6, 3], [2, 2]]}}  # fmt: skip
    layers: list[Spec] = [
        {
            "data": {"values": data["model"]},
            "mark": {"type": "area", "opacity": 0.15},
            "encoding": {
                "x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour
            },
        },
        {
            "data": {"values": data["model"]},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
        },
    ]  # fmt: skip
    if data["points"]:
        layers.append(
            {
                "data": {"values": data["points"]},
                "mark": {"type": "point", "filled": True, "size": 26},
                "encoding": {"x": x, "y": y, "color": colour},
            }
        )
    return {"width": WIDTH - 60, "height": 160, "layer": layers}
