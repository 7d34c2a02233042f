"""Small pieces of SVG: escaped text, elements, and what makes a drawing readable to all."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SIZE = 11
"""Points of a label, where nothing else is said."""

HUES = {
    "computing": "c1", "recompute": "c5", "exposed_communication": "c2", "bubble": "c7", "stragglers": "c4",
    "checkpoints": "c3", "failures": "c6",
}  # fmt: skip
"""The same part has the same hue and hatch in every chart."""
PATTERNS = {
    "recompute": "M0 2h8",
    "exposed_communication": "M-2 2l4-4M0 8l8-8M6 10l4-4",
    "bubble": "M2 2h1M6 6h1",
    "stragglers": "M2 0v8M6 0v8",
    "checkpoints": "M-2 6l4 4M0 0l8 8M6-2l4 4",
    "failures": "M0 0l8 8M8 0l-8 8",
}


def element(name: str, body: str = "", /, **attributes: str | float) -> str:
    """An element; underscores of attribute names become dashes.

    >>> element("text", "a < b", x=1.50, text_anchor="end")
    '<text x="1.5" text-anchor="end">a < b</text>'
    """
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_number(value))}"
        for key, value in attributes.items()
    )
    return f"<{name}{said}>{body}</{name}>" if body else f"<{name}{said}/>"


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def text(
    said: str,
    x: float,
    y: float,
    *,
    anchor: str = "start",
    size: float = SIZE,
    weight: str = "",
    fill: str = "currentColor",
) -> str:
    """A label, escaped; what the whole drawing has by default isn't said again."""
    more: dict[str, str | float] = {"font_weight": weight} if weight else {}
    if anchor != "start":
        more["text_anchor"] = anchor
    if size != SIZE:
        more["font_size"] = size
    return element("text", escape(said), x=x, y=y, fill=fill, **more)


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str,
    stroke: str = "currentColor",
    dash: str = "",
) -> str:
    """A rectangle with its own paint, so that it also reads without the page's style."""
    more: dict[str, str | float] = {"stroke_dasharray": dash} if dash else {}
    return element(
        "rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, stroke_width=1, **more
    )


def framed(body: str, *, name: str, width: float, height: float, title: str, desc: str) -> str:
    """A whole drawing: an image to screen readers, with its title and description."""
    ids = f"{name}-title {name}-desc"
    head = element("title", escape(title), id=f"{name}-title") + element(
        "desc", escape(desc), id=f"{name}-desc"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="{name}" role="img" aria-labelledby="{ids}" '
        f'viewBox="0 0 {_number(width)} {_number(height)}" width="{_number(width)}" height="{_number(height)}" '
        f'font-family="{FONT}" font-size="{SIZE}">{head}{body}</svg>'
    )


def paint(part: str) -> str:
    """Fill of a part: its hue, hatched where it has a hatch."""
    return f"url(#hatch-{part})" if part in PATTERNS else f"var(--{HUES.get(part, 'c1')})"


def pattern_definitions() -> str:
    """The hatches, once in a page: an SVG of no size that comes before the others."""
    made = "".join(
        f'<pattern id="hatch-{part}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="var(--{HUES[part]})"/>'
        f'<path d="{path}" stroke="#000" stroke-width="1.4" fill="none"/></pattern>'
        for part, path in PATTERNS.items()
    )
    return f'<svg width="0" height="0" aria-hidden="true" class="defs"><defs>{made}</defs></svg>'
