"""Bars of our own: stacked ones in rows, and columns by month."""

from __future__ import annotations

from planner.present.html.svg import box, element, framed, paint, text
from planner.present.view.model import Figure

WIDTH = 800.0
LEFT, RIGHT = 132.0, 620.0
ROW, BAR = 26.0, 16.0
LETTER = 5.9
"""Width of a letter at eleven points, on average."""

MEDIA_HUES = {
    "Twisted pair": "var(--dark)",
    "Passive copper (DAC)": "var(--c6)", "Redriven copper (ACC)": "var(--c2)", "Retimed copper (AEC)": "var(--c7)",
    "Active optical (AOC)": "var(--c4)", "Multimode fibre": "var(--c5)", "Single-mode fibre": "var(--c1)",
    "Fibre": "var(--c3)",
}  # fmt: skip
SHARE_HUES = {
    "Servers with their adapters": "var(--c1)", "Scale-out network": paint("exposed_communication"),
    "Storage and in-band network": "var(--c3)", "Management network": "var(--c7)", "Storage": "var(--c4)", "Management servers": "var(--c5)",
}  # fmt: skip
HUES = {"media": MEDIA_HUES, "shares": SHARE_HUES}


def bars(figure: Figure, name: str) -> str:
    """Stacked bars below each other from one zero, each with its sum, over a legend."""
    data = figure.data
    rows, hues = data["bars"], HUES[data["hues"]]
    most = max((sum(part["value"] for part in bar["parts"]) for bar in rows), default=0.0) or 1.0
    left = max(60.0, min(LEFT, 16 + LETTER * max((len(bar["label"]) for bar in rows), default=0)))
    scale = (RIGHT - left) / most
    body = ""
    for at, bar in enumerate(rows):
        y = 6 + at * ROW
        body += text(bar["label"], left - 8, y + 12, anchor="end")
        x = left
        for part in bar["parts"]:
            wide = part["value"] * scale
            body += element(
                "rect", f"<title>{_safe(part['text'])}</title>", x=x, y=y, width=max(0.6, wide), height=BAR,
                fill=hues[part["part"]], stroke="currentColor", stroke_width=0.6,
            )  # fmt: skip
            x += wide
        body += text(bar["text"], x + 8, y + 12)
    bottom = 6 + len(rows) * ROW + 10
    drawn, height = _legend(data["parts"], hues, bottom)
    return framed(
        body + drawn, name=name, width=WIDTH, height=height, title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip


def _legend(parts: list[str], hues: dict[str, str], y: float) -> tuple[str, float]:
    x, body = 0.0, ""
    for part in parts:
        wide = 40 + len(part) * LETTER
        if x and x + wide > WIDTH:
            x, y = 0.0, y + 18
        body += box(x, y, 12, 12, fill=hues[part]) + text(part, x + 17, y + 10)
        x += wide
    return body, y + 18


def _safe(said: str) -> str:
    return said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


HIGH, COLUMN, BETWEEN = 120.0, 40.0, 14.0


def months(figure: Figure, name: str) -> str:
    """C9: columns for each month in panels below each other, each with its own unit and zero."""
    body, y = "", 18.0
    for panel in figure.data["panels"]:
        most = max(panel["values"]) or 1.0
        body += text(panel["title"], 0, y - 4, weight="bold")
        base = y + 14 + HIGH
        for at, (value, said) in enumerate(zip(panel["values"], panel["texts"], strict=True)):
            x = 10 + at * (COLUMN + BETWEEN)
            high = HIGH * value / most
            body += element(
                "rect", x=x, y=base - high, width=COLUMN, height=high, fill=panel["hue"],
                stroke="currentColor", stroke_width=0.6,
            )  # fmt: skip
            body += text(said, x + COLUMN / 2, base - high - 4, anchor="middle", size=10)
            body += text(figure.data["months"][at], x + COLUMN / 2, base + 14, anchor="middle", size=10)
        body += element(
            "path",
            d=f"M0 {base:.0f}h{12 * (COLUMN + BETWEEN) + 10:.0f}",
            stroke="currentColor",
            stroke_width=1,
        )
        y = base + 42
    return framed(
        body, name=name, width=12 * (COLUMN + BETWEEN) + 20, height=y - 20, title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip
