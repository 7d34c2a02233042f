"""The cut sheet: every cable with its label, both ends down to the port, its parts and its length.

A cable that is split has a line for each leg, all with the cable's number; several links between the same
two ports of a cable share a line. What hangs on a network beside the fabric has ports named after that network,
such as `inband-1` and `oob-1` of a node, since its ports are counted from 1 on each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from planner.design.cabling import CabledTier, CablingPlan
from planner.design.joining import Media
from planner.design.medium import Cage
from planner.design.plant import STRUCTURED
from planner.design.rack_parts import Ints, RackLayout

ONLY_HALL = "main"
"""Name of the hall where the scenario names none."""
BESIDE = ("inband", "storage", "oob")
"""Networks beside the fabric, as kinds of their switches begin."""
SIDES = ("item", "hall", "row", "rack", "unit", "port")
HEADER = (
    "label", "cable", *(f"from_{one}" for one in SIDES), *(f"to_{one}" for one in SIDES),
    "tier", "module_from", "module_to", "cable_part", "medium", "length_m", "ordered_m", "links", "over_panels",
)  # fmt: skip
"""Columns of the sheet."""


@dataclass(frozen=True, slots=True)
class CutSheet:
    """Lines of the sheet as text, and what they add up to."""

    lines: tuple[str, ...]
    cables: int
    links: int

    def csv(self) -> bytes:
        """The sheet as a file."""
        return "\r\n".join((",".join(HEADER), *self.lines, "")).encode()


def cut_sheet(plan: CablingPlan, media: Media, layout: RackLayout) -> CutSheet:
    """Every cable of a plan, tier pair by tier pair."""
    lines: list[str] = []
    cables = 0
    for tier in plan.tiers:
        lines += _lines(tier, media, layout)
        cables += int(tier.cable.max(initial=-1)) + 1
    return CutSheet(tuple(lines), cables, sum(tier.asked.links.total for tier in plan.tiers))


def _lines(tier: CabledTier, media: Media, layout: RackLayout) -> Iterator[str]:
    links, name = tier.asked.links, tier.asked.tier
    joined = f"{links.lower_kind}-{links.upper_kind}"  # a tier's name may stand for several kinds of switches
    first, each, leg, legs = _legs(tier)
    parts = [_parts(media, name, medium.id) for medium in tier.media]
    row = layout.row
    panels = (row[links.lower_rack] != row[links.upper_rack]) & (name in STRUCTURED)
    network = _network(links.lower_kind, links.upper_kind)
    columns = zip(
        tier.cable[first].tolist(), leg.tolist(), legs.tolist(),
        _ends(layout, links.lower_kind, links.lower[first], links.lower_port[first], tier.asked.lower, network),
        _ends(layout, links.upper_kind, links.upper[first], links.upper_port[first], tier.asked.upper),
        tier.medium[first].tolist(), links.length_m[first].tolist(), tier.ordered_m[first].tolist(),
        each.tolist(), panels[first].tolist(),
        strict=True,
    )  # fmt: skip
    for cable, at, split, lower, upper, medium, length, ordered, count, over in columns:
        label = f"{joined}-{cable + 1:06}{chr(97 + at) if split > 1 else ''}"
        structured = "yes" if over and not tier.media[medium].kind.is_assembly else "no"
        yield (
            f"{label},{cable + 1},{lower},{upper},{name},{parts[medium]},{tier.media[medium].kind},"
            f"{length:.2f},{ordered:g},{count},{structured}"
        )


def _legs(tier: CabledTier) -> tuple[Ints, Ints, Ints, Ints]:
    """First link of every leg, links in it, its place among the cable's legs, and how many those are."""
    links = tier.asked.links
    order = np.lexsort((links.lower_port, links.upper, links.lower, tier.cable))
    cable = tier.cable[order]
    key = np.stack([cable, links.lower[order], links.upper[order]])
    new = np.flatnonzero(np.any(np.diff(key, axis=1, prepend=-1) != 0, axis=0))
    each = np.diff(np.append(new, links.total))
    _, start, legs = np.unique(cable[new], return_index=True, return_counts=True)
    leg = np.arange(len(new)) - np.repeat(start, legs)
    return order[new], each, leg, np.repeat(legs, legs)


def _network(lower: str, upper: str) -> str:
    """Network beside the fabric that an item below its switches joins; empty in the fabric and between its switches.

    >>> _network("node", "oob"), _network("oob", "inband"), _network("inband-spine", "inband-core"), _network("leaf", "spine")
    ('oob', 'inband', '', '')
    """
    below, above = lower.partition("-")[0], upper.partition("-")[0]
    return above if above in BESIDE and above != below else ""


def _ends(
    layout: RackLayout, kind: str, items: Ints, ports: Ints, cage: Cage, network: str = ""
) -> list[str]:
    """Where one end of every leg is: item, hall, row, rack in the row, unit, port."""
    stand = layout.stand(kind)
    rack = stand.rack[items]
    halls = [hall.id for hall in layout.halls] or [ONLY_HALL]
    rows = layout.row + 1
    places = np.rint(layout.x_m / layout.floor.rack_pitch_m).astype(np.int64) + 1
    prefix = f"{network}-" if network else ""
    front = [f"{prefix}{_port(port, cage.links)}" for port in range(int(ports.max(initial=-1)) + 1)]
    return [
        f"{kind}-{item + 1},{halls[hall]},{row},{place},{unit},{front[port]}"
        for item, hall, row, place, unit, port in zip(
            items.tolist(), layout.hall[rack].tolist(), rows[rack].tolist(), places[rack].tolist(),
            stand.unit[items].tolist(), ports.tolist(),
            strict=True,
        )
    ]  # fmt: skip


def _port(port: int, per_cage: int) -> str:
    """Cage from 1, and the link's place in it where it holds several.

    >>> _port(4, 1), _port(5, 2)
    ('5', '3/2')
    """
    return f"{port + 1}" if per_cage <= 1 else f"{port // per_cage + 1}/{port % per_cage + 1}"


def _parts(media: Mapping[tuple[str, str], object], tier: str, medium: str) -> str:
    """Ids of the modules at both ends and of the cable, empty where there is none."""
    bought = media.get((tier, medium))
    ends = [getattr(bought, name, None) for name in ("lower", "upper", "cable")]
    return ",".join("" if one is None else one.item.id for one in ends)
