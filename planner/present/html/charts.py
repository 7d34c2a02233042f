"""Draws Vega-Lite specs to SVG without a browser.

The converter holds a JavaScript engine that takes a third of a second to start and is then kept for
the life of the process, so it is imported on first use.
"""

from __future__ import annotations

import re

from planner.present.html.spec_parts import CONFIG
from planner.present.html.specs import SPECS
from planner.present.html.svg import framed
from planner.present.view.model import Figure


def chart(figure: Figure, name: str) -> str:
    """A figure as SVG, under an id that the page chooses."""
    import vl_convert

    spec = SPECS[figure.kind](figure.data)
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "config": CONFIG,
        "padding": 4,
        **spec,
    }
    drawn: str = vl_convert.vegalite_to_svg(spec, vl_version="5.20")
    return tidy(drawn, figure, name)


_ROOT = re.compile(
    r'^<svg [^>]*width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"[^>]*>(?P<body>.*)</svg>\s*$', re.S
)
_UNSEEN = re.compile(r'<path class="(?:background|foreground)"[^>]*/>')
_LABELLED = re.compile(r'<(path|line|text) aria-label="([^"]*)"([^>]*?)(?:/>|>(.*?)</\1>)', re.S)
_NOISE = re.compile(r' (?:aria-[a-z]+|role|pointer-events|font-family|class)="[^"]*"')
_CLIP = re.compile(r"\bclip(\d+)\b")


def tidy(drawn: str, figure: Figure, name: str) -> str:
    """Hovers as titles, no marks for machines inside an image, ids that depend on the report alone."""
    found = _ROOT.match(drawn)
    assert found is not None, drawn[:200]
    body = _LABELLED.sub(
        lambda hit: f"<{hit[1]}{hit[3]}>{hit[4] or ''}<title>{hit[2]}</title></{hit[1]}>", found["body"]
    )
    body = _NOISE.sub("", _UNSEEN.sub("", body))
    order = {old: str(at) for at, old in enumerate(dict.fromkeys(_CLIP.findall(body)), 1)}
    body = _CLIP.sub(lambda hit: f"{name}-clip{order[hit[1]]}", body)
    return framed(
        body, name=name, width=float(found["width"]), height=float(found["height"]), title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip
