"""What all specs of charts share: width, ink and the configuration of the page's look."""

from __future__ import annotations

from typing import Any

from planner.present.html.svg import FONT

Spec = dict[str, Any]
WIDTH = 600
INK = "currentColor"
CONFIG: Spec = {
    "font": FONT,
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": INK, "domainColor": INK, "tickColor": INK, "gridColor": "var(--grid)",
        "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelLimit": 0, "aria": False,
    },
    "legend": {
        "labelColor": INK, "titleColor": INK, "labelFontSize": 11, "labelLimit": 0, "title": None, "orient": "bottom",
        "symbolType": "square", "symbolSize": 160, "symbolStrokeColor": INK, "aria": False,
    },
    "text": {"color": INK, "fontSize": 11},
    "bar": {"stroke": INK, "strokeWidth": 0.6},
}  # fmt: skip
