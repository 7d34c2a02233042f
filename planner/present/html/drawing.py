"""Drawings of our own, by the kind of figure they draw."""

from __future__ import annotations

from collections.abc import Callable

from planner.present.html.bars import bars, months
from planner.present.html.floor import elevation, racks
from planner.present.html.topology import topology
from planner.present.html.watts import oneline, sankey
from planner.present.view.model import Figure

DRAWINGS: dict[str, Callable[[Figure, str], str]] = {
    "topology": topology, "racks": racks, "elevation": elevation, "sankey": sankey, "oneline": oneline,
    "bars": bars, "months": months,
}  # fmt: skip
