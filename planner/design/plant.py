"""Structured cabling: patch panels in the network racks, trunks between them, jumpers to the switches.

Fibre between switches in different rows or halls isn't pulled link by link. Each end plugs into a panel of
its rack with a jumper, and trunks of many fibres join the panels. Links of nodes, links inside a row,
copper and active cables run from port to port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.design.cabling import CabledTier, CablingPlan
from planner.design.rack_parts import Ints, RackLayout
from planner.design.wiring import TierWiring

STRUCTURED = ("leaf-spine", "spine-core", "spine-spine")
"""Pairs of tiers whose fibres go over panels where they leave a row."""
JUMPER_M = 3.0
"""Length a jumper between a switch and its rack's panel is ordered in."""


@dataclass(frozen=True, slots=True)
class PlantRow:
    """One kind of fibre between two tiers that runs over panels.

    Attributes:
        channels: Fibre cables that are panel to panel here: each has two jumpers.
        trunks: Trunks, which a pair of racks doesn't share with another.
        trunk_m: Their length together.
        channel_m: Length of the cables that they stand for, as ordered from port to port.
    """

    tier: str
    medium: str
    channels: int
    trunks: int
    trunk_m: float
    channel_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """All structured cabling.

    Attributes:
        panel_ports: Panel ports in use, rack by rack.
        panels: Panels of one unit, rack by rack.
    """

    rows: tuple[PlantRow, ...]
    panel_ports: Ints
    panels: Ints

    @property
    def trunks(self) -> int:
        """All trunks."""
        return sum(row.trunks for row in self.rows)

    @property
    def channels(self) -> int:
        """Cables that run over panels."""
        return sum(row.channels for row in self.rows)


def panel_shares(
    wirings: Iterable[TierWiring], links_per_cable: Mapping[str, int], ports_per_panel: int
) -> dict[str, float]:
    """Height of patch panel, in units, that one switch of each tier may need.

    Panels are one unit high. What is kept free is enough for all of a switch's links to other switches.

    >>> both = np.array([0, 1])
    >>> pair = TierWiring("leaf-spine", "leaf", "spine", both, np.zeros(2, np.int64), np.array([48, 48]))
    >>> panel_shares([pair], {}, 96)
    {'leaf': 0.5, 'spine': 1.0}
    """
    found: dict[str, float] = {}
    for one in wirings:
        if one.tier not in STRUCTURED or not len(one.links):
            continue
        each = max(1, links_per_cable.get(one.tier, 1))
        same = one.lower_kind == one.upper_kind
        ends = [np.concatenate([one.lower, one.upper])] if same else [one.lower, one.upper]
        links = np.tile(one.links, 2) if same else one.links
        for kind, items in zip((str(one.lower_kind), str(one.upper_kind)), ends, strict=False):
            most = float(np.bincount(items, weights=-(-links // each)).max())
            found[kind] = found.get(kind, 0.0) + most / ports_per_panel
    return found


def design_plant(
    plan: CablingPlan,
    layout: RackLayout,
    *,
    ports_per_panel: int,
    channels_per_trunk: Mapping[tuple[str, str], int],
) -> Plant:
    """Panels and trunks for every fibre that leaves its row.

    Args:
        ports_per_panel: Connectors of a panel of one unit.
        channels_per_trunk: Cables that one trunk stands for, by tier pair and medium.
    """
    rows: list[PlantRow] = []
    ports = np.zeros(layout.racks)
    for tier in plan.tiers:
        if tier.asked.tier not in STRUCTURED:
            continue
        for index, medium in enumerate(tier.media):
            if medium.kind.is_assembly:
                continue
            lower, upper, length, ordered = _channels(tier, index, layout)
            if not len(lower):
                continue
            ports += np.bincount(lower, minlength=layout.racks) + np.bincount(upper, minlength=layout.racks)
            each = channels_per_trunk[(tier.asked.tier, medium.id)]
            trunks, metres = _trunks(lower * layout.racks + upper, length, each)
            rows.append(
                PlantRow(
                    tier.asked.tier, medium.id, len(lower), trunks, metres, float(ordered.sum())
                )
            )  # fmt: skip
    in_use = ports.astype(np.int64)
    return Plant(tuple(rows), in_use, -(-in_use // ports_per_panel))


def _channels(tier: CabledTier, index: int, layout: RackLayout) -> tuple[Ints, Ints, Floats, Floats]:
    """Racks at both ends, length and ordered length of every cable of a medium that leaves its row."""
    links = tier.asked.links
    row = layout.row
    mine = (tier.medium == index) & (row[links.lower_rack] != row[links.upper_rack])
    _, first = np.unique(tier.cable[mine], return_index=True)
    kept = np.flatnonzero(mine)[first]
    return links.lower_rack[kept], links.upper_rack[kept], links.length_m[kept], tier.ordered_m[kept]


def _trunks(pair: Ints, length_m: Floats, each: int) -> tuple[int, float]:
    """Trunks between every pair of racks, each as long as the pair's longest cable."""
    _, of, count = np.unique(pair, return_inverse=True, return_counts=True)
    longest = np.zeros(len(count))
    np.maximum.at(longest, of, length_m)
    trunks = -(-count // each)
    return int(trunks.sum()), float((trunks * longest).sum())
