"""How long every link is, from where the racks stand.

A link runs from its port up to a tray, along its row, over a cross tray where the other end stands in
another row, and down again; the slack of a lacing loop and of bends is a share of that. From hall to hall
it runs to its hall's door (the end of its first row), along the route between the halls, and in again; the
route is as long as the scenario says, without a share of slack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.design.lateral_wiring import PortPairs
from planner.design.link_ports import numbered
from planner.design.racks import Ints, RackLayout, Stand
from planner.design.wiring import TierWiring


@dataclass(frozen=True, slots=True, eq=False)
class LinkTable:
    """Every link between two tiers, a row each.

    Attributes:
        lower: Item at the lower end of each link, `upper` at the other.
        bundle: Number of the two items it joins; links of a bundle follow each other.
        lower_port: Port it takes on its lower item, counted from 0 in links; `upper_port` likewise.
        lower_rack: Rack of the lower item; `upper_rack` of the upper.
        length_m: Length with slack.
        crossing_m: The part of it between halls.
    """

    tier: str
    lower_kind: str
    upper_kind: str
    lower: Ints
    upper: Ints
    bundle: Ints
    lower_port: Ints
    upper_port: Ints
    lower_rack: Ints
    upper_rack: Ints
    length_m: Floats
    crossing_m: Floats

    @property
    def total(self) -> int:
        """All links."""
        return len(self.length_m)

    @property
    def longest_m(self) -> float:
        """Length of the longest link."""
        return float(self.length_m.max(initial=0.0))


def link_tables(
    wirings: Iterable[TierWiring],
    layout: RackLayout,
    *,
    pairs: Mapping[str, PortPairs] | None = None,
) -> tuple[LinkTable, ...]:
    """Every link of the wirings with its ports, racks and length.

    Args:
        wirings: What is joined to what; the layout places all of its items.
        layout: Racks on the floor.
        pairs: Links with their ports, by tier, where the network's design says them; numbered in the order
            of the wiring where a tier is left out.

    Raises:
        ValueError: The layout places fewer items than are wired.
    """
    wired, known = tuple(wirings), pairs or {}
    found = numbered([one for one in wired if one.tier not in known])
    made = []
    for one in wired:
        links = known[one.tier] if one.tier in known else found.pop(0)
        made.append(_table(one, _ordered(links), layout))
    return tuple(made)


def _ordered(links: PortPairs) -> PortPairs:
    """The links, those between the same two items after each other."""
    order = np.lexsort((links.lower_port, links.upper, links.lower))
    return PortPairs(links.lower[order], links.lower_port[order], links.upper[order], links.upper_port[order])


def _table(one: TierWiring, links: PortPairs, layout: RackLayout) -> LinkTable:
    low, up = layout.stand(one.lower_kind), layout.stand(one.upper_kind)
    for stand, items in ((low, links.lower), (up, links.upper)):
        if len(items) and int(items.max()) >= len(stand.rack):
            raise ValueError(f"the layout places other nodes or switches than {one.tier} joins")
    new = (np.diff(links.lower, prepend=-1) != 0) | (np.diff(links.upper, prepend=-1) != 0)
    first, bundle = np.flatnonzero(new), np.cumsum(new) - 1
    length, crossing = _length_m(layout, low, links.lower[first], up, links.upper[first])
    return LinkTable(
        one.tier,
        str(one.lower_kind),
        str(one.upper_kind),
        links.lower,
        links.upper,
        bundle,
        links.lower_port,
        links.upper_port,
        low.rack[links.lower],
        up.rack[links.upper],
        length[bundle],
        crossing[bundle],
    )


def _length_m(layout: RackLayout, low: Stand, lower: Ints, up: Stand, upper: Ints) -> tuple[Floats, Floats]:
    """Length of every bundle, and the part of it between halls."""
    floor = layout.floor
    a, b = low.rack[lower], up.rack[upper]
    high_a, high_b = low.height_m[lower], up.height_m[upper]
    x, y, hall = layout.x_m, layout.y_m, layout.hall
    across = np.abs(y[a] - y[b])
    over = np.full(len(a), np.inf)
    for cross in floor.cross_x_m(layout.racks_per_row):
        over = np.minimum(over, np.abs(x[a] - cross) + np.abs(x[b] - cross))
    run = np.where(across > 0.0, over + across, np.abs(x[a] - x[b]))
    apart = hall[a] != hall[b]
    crossing = np.zeros(len(a))
    if apart.any():
        depth = y - layout.door_y_m
        crossing = np.where(apart, layout.route_m[a] + layout.route_m[b], 0.0)
        run = np.where(apart, x[a] + x[b] + depth[a] + depth[b], run)
    drops = 2.0 * floor.tray_m - high_a - high_b
    inside = np.abs(high_a - high_b) + floor.in_rack_m
    length = (1.0 + floor.slack_fraction) * np.where(a == b, inside, run + np.maximum(drops, 0.5))
    return length + crossing, crossing
