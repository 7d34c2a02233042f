"""Where a watt goes: bands from the meter to the parts, and the chain of equipment on one line."""

from __future__ import annotations

from typing import Any

from planner.present.html.svg import box, element, framed, text
from planner.present.view.model import Figure

WIDTH = 800.0
SANKEY_HEIGHT, BAND, LABEL = 250.0, 14.0, 17.0
WATT_HUES = {
    "IT": "var(--c1)", "Servers with GPUs": "var(--c1)", "Switches and adapters": "var(--c6)",
    "Optics and active cables": "var(--c3)", "Storage": "var(--c4)", "Management": "var(--c7)",
}  # fmt: skip
KIND_HUES = {"loss": "var(--c2)", "cooling": "var(--c5)", "other": "var(--c7)"}


def _hue(flow: dict[str, Any]) -> str:
    """Losses share a hue, and so does what moves heat; parts of the IT load have their own."""
    return KIND_HUES.get(flow["kind"]) or WATT_HUES.get(flow["to"], "var(--c1)")


def sankey(figure: Figure, name: str) -> str:
    """C7: from the meter to IT, the parts of cooling and each loss, and on to the parts of the load."""
    flows = figure.data["flows"]
    first = [flow for flow in flows if flow["from"] == "Meter"]
    second = [flow for flow in flows if flow["from"] == "IT"]
    total = sum(flow["value"] for flow in first)
    scale = SANKEY_HEIGHT / total
    middle = _column(first, scale, 4.0)
    # IT is the lowest band, so that those to its parts cross no label.
    start = next(top for flow, (top, _) in zip(first, middle, strict=True) if flow["to"] == "IT")
    right = _column(second, scale, start)
    body = element("rect", x=92, y=4, width=BAND, height=SANKEY_HEIGHT, fill="var(--dark)")
    body += text("Meter", 86, 4 + SANKEY_HEIGHT / 2 - 4, anchor="end") + text(
        figure.data["total"], 86, 4 + SANKEY_HEIGHT / 2 + 11, anchor="end", weight="bold"
    )
    body += _bands(first, middle, 92 + BAND, 300, scale, 4.0)
    body += _bands(second, right, 300 + BAND, 540, scale, start)
    body += _nodes(first, middle, 300, scale, beside=False) + _nodes(second, right, 540, scale, beside=True)
    height = max(at + flow["value"] * scale for column, made in ((first, middle), (second, right))
                 for flow, (at, _) in zip(column, made, strict=True)) + 14  # fmt: skip
    return framed(
        body, name=name, width=WIDTH, height=max(height, right[-1][1] + 10 if right else 0), title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip


def _column(flows: list[dict[str, Any]], scale: float, start: float) -> list[tuple[float, float]]:
    """Top of each node and the height of its label, far enough apart to be read."""
    made, at, label = [], start, 0.0
    for flow in flows:
        high = flow["value"] * scale
        label = max(label + LABEL, at + high / 2 + 4)
        made.append((at, label))
        at = max(at + high + 10, label + 7)
    return made


def _bands(
    flows: list[dict[str, Any]],
    places: list[tuple[float, float]],
    x0: float,
    x1: float,
    scale: float,
    start: float,
) -> str:
    body, at = "", start
    half = (x0 + x1) / 2
    for flow, (top, _) in zip(flows, places, strict=True):
        high = max(0.8, flow["value"] * scale)
        path = (
            f"M{x0:.1f} {at:.1f}C{half:.1f} {at:.1f} {half:.1f} {top:.1f} {x1:.1f} {top:.1f}v{high:.1f}"
            f"C{half:.1f} {top + high:.1f} {half:.1f} {at + high:.1f} {x0:.1f} {at + high:.1f}z"
        )
        body += element("path", d=path, fill=_hue(flow), opacity=".45")
        at += flow["value"] * scale
    return body


def _nodes(
    flows: list[dict[str, Any]], places: list[tuple[float, float]], x: float, scale: float, *, beside: bool
) -> str:
    body = ""
    for flow, (top, label) in zip(flows, places, strict=True):
        high = max(1.0, flow["value"] * scale)
        body += element("rect", x=x, y=top, width=BAND, height=high, fill=_hue(flow))
        said = f"{flow['to']} {flow['text']}"
        if beside or flow["to"] != "IT":
            body += text(said, x + BAND + 6, label)
        else:
            body += text(said, x + BAND + 6, top + 14, weight="bold")
    return body


STAGE, APART, NAME_H = 138.0, 27.0, 28.0
LETTER = 5.1


def oneline(figure: Figure, name: str) -> str:
    """The chain from the utility to the racks on one line; what leaves it for cooling hangs below.

    Each stage says how many units of which rating stand there, what they carry and what they lose.
    """
    stages, branch = figure.data["stages"], figure.data["branch"]
    body, deepest = "", 0.0
    for at, stage in enumerate(stages):
        x = at * (STAGE + APART)
        body += _stage(stage, x, 8.0)
        if at:
            body += element(
                "path", d=f"M{x - APART:.0f} {8 + NAME_H / 2:.0f}h{APART - 1:.0f}m-6 -4l6 4l-6 4",
                stroke="currentColor", stroke_width=1.6, fill="none",
            )  # fmt: skip
        deepest = max(deepest, 8 + NAME_H + 16 + 14 * len(stage["lines"]))
    if branch is not None:
        x = branch["after"] * (STAGE + APART) + STAGE + APART / 2
        y = deepest + 14
        body += element(
            "path", d=f"M{x:.0f} {8 + NAME_H / 2:.0f}V{y + NAME_H / 2:.0f}h{APART / 2 - 1:.0f}m-6 -4l6 4l-6 4",
            stroke="currentColor", stroke_width=1.6, fill="none",
        )  # fmt: skip
        body += _stage(branch, x + APART / 2, y, room=2.5 * STAGE)
        deepest = y + NAME_H + 16 + 14 * len(branch["lines"])
    return framed(
        body, name=name, width=WIDTH, height=deepest, title=figure.title,
        desc=f"{figure.help} The same numbers stand in the table: {figure.table.caption}.",
    )  # fmt: skip


def _stage(stage: dict[str, Any], x: float, y: float, *, room: float = STAGE) -> str:
    body = box(x + 0.5, y, STAGE - 1, NAME_H, fill="var(--panel)")
    body += text(stage["name"], x + STAGE / 2, y + 18, anchor="middle", weight="bold")
    most = int(room / LETTER)
    for at, said in enumerate(stage["lines"]):
        shown = said if len(said) <= most else said[: most - 1] + "…"
        body += text(shown, x + 2, y + NAME_H + 15 + 14 * at, size=10)
    return body
