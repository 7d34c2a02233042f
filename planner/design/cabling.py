"""What each link is made of: the cheapest medium that reaches, copper first, and what it adds up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.arrays import Floats
from planner.design.lengths import LinkLengths
from planner.design.ports import refusal
from planner.design.racks import Ints

STOCK_LENGTHS_M = (
    1.0,
    2.0,
    3.0,
    5.0,
    7.0,
    10.0,
    15.0,
    20.0,
    30.0,
    50.0,
    100.0,
    300.0,
    500.0,
    2000.0,
    10000.0,
)
"""Lengths cables are ordered in; the media's reaches are added so that no class straddles one."""


class MediumKind(StrEnum):
    """Kinds in the order they are preferred where a price is missing."""

    DAC = "dac"
    ACC = "acc"
    AEC = "aec"
    AOC = "aoc"
    TRANSCEIVER_PAIR = "transceiver-pair"

    @property
    def is_copper(self) -> bool:
        """Whether current, not light, carries the bits."""
        return self in {MediumKind.DAC, MediumKind.ACC, MediumKind.AEC}

    @property
    def is_assembly(self) -> bool:
        """Whether both ends are fixed to the cable and bought with it."""
        return self is not MediumKind.TRANSCEIVER_PAIR


@dataclass(frozen=True, slots=True)
class Price:
    """A price in USD with its P10 and P90."""

    low_usd: float
    typ_usd: float
    high_usd: float

    def times(self, factor: float) -> Price:
        """The price of so many."""
        return Price(self.low_usd * factor, self.typ_usd * factor, self.high_usd * factor)

    def plus(self, other: Price) -> Price:
        """Both together, as if they rose and fell together."""
        return Price(
            self.low_usd + other.low_usd, self.typ_usd + other.typ_usd, self.high_usd + other.high_usd
        )


FREE = Price(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class MediumEnd:
    """What goes into one cage: its rate, its power, and its price where it is bought apart (a module)."""

    rate_gbit_per_s: float
    power_w: float
    price: Price | None = None
    part: str = ""


@dataclass(frozen=True, slots=True)
class Medium:
    """A way to join two cages.

    For an assembly (DAC, ACC, AEC, AOC) `cable_price` is that of the whole; its ends have no price. For a
    transceiver pair the ends are modules and `cable_price` plus `usd_per_m` is the fibre between them.
    `lower` is the end nearer the node.
    """

    id: str
    kind: MediumKind
    reach_m: float
    lower: MediumEnd
    upper: MediumEnd
    cable_price: Price | None = None
    usd_per_m: float = 0.0


@dataclass(frozen=True, slots=True)
class Cage:
    """A cage at one end of a tier's links: its rate, the links it carries, whether it takes a module."""

    rate_gbit_per_s: float
    links: int
    pluggable: bool = True


@dataclass(frozen=True, slots=True)
class TierLinks:
    """The links between two tiers and what they may be made of.

    `links_per_cable` is that of the fabric's design and applies to fibre; an assembly carries as many
    links as its larger end.
    """

    lengths: LinkLengths
    lower: Cage
    upper: Cage
    links_per_cable: int
    candidates: tuple[Medium, ...]


@dataclass(frozen=True, slots=True)
class LengthClass:
    """Links of one tier pair that are ordered in one length."""

    tier: str
    ordered_m: float
    longest_m: float
    links: int
    medium: str


@dataclass(frozen=True, slots=True)
class CablingRow:
    """One medium between two tiers. Modules are counted apart; assemblies and co-packaged ends have none."""

    tier: str
    medium: str
    kind: MediumKind
    links: int
    cables: int
    modules_lower: int
    modules_upper: int
    longest_m: float
    power_w: float
    fibre_m: float
    copper_m: float
    cost: Price | None

    @property
    def modules(self) -> int:
        """Modules at both ends."""
        return self.modules_lower + self.modules_upper


@dataclass(frozen=True, slots=True)
class CablingPlan:
    """All cables of a fabric, by tier pair and medium, with the length classes behind them."""

    rows: tuple[CablingRow, ...]
    classes: tuple[LengthClass, ...]

    @property
    def transceivers(self) -> int:
        """Modules bought."""
        return sum(row.modules for row in self.rows)

    @property
    def cables(self) -> int:
        """Cables ordered."""
        return sum(row.cables for row in self.rows)

    @property
    def power_w(self) -> float:
        """Power of modules and active cables, both ends."""
        return sum(row.power_w for row in self.rows)


def plan_cabling(tiers: Sequence[TierLinks]) -> CablingPlan:
    """Choose a medium for every length class of every tier pair.

    Copper comes first where it reaches, then the lower price; where a candidate of that kind has no
    price the kinds' order decides. A co-packaged end needs no module and takes no assembly.

    Eight 400G NICs to twin 800G cages, 30 m of fibre each:

    >>> pair = Medium("dr4", MediumKind.TRANSCEIVER_PAIR, 500.0,
    ...     MediumEnd(400.0, 8.0), MediumEnd(800.0, 16.0))
    >>> lengths = LinkLengths("node-leaf", np.array([28.0]), np.array([8]))
    >>> plan = plan_cabling([TierLinks(lengths, Cage(400.0, 1), Cage(800.0, 2), 1, (pair,))])
    >>> row = plan.rows[0]
    >>> row.modules_lower, row.modules_upper, row.power_w, row.fibre_m
    (8, 4, 128.0, 240.0)

    Raises:
        DesignError: Nothing reaches, or every candidate has another rate than the cages.
    """
    rows: list[CablingRow] = []
    classes: list[LengthClass] = []
    for tier in tiers:
        usable = _usable(tier)
        made: dict[str, list[LengthClass]] = {}
        for ordered, longest, links in _length_classes(tier.lengths, usable):
            medium = _cheapest(tier, usable, ordered=ordered, longest=longest)
            found = LengthClass(tier.lengths.tier, ordered, longest, links, medium.id)
            made.setdefault(medium.id, []).append(found)
            classes.append(found)
        rows += [_row(tier, _named(usable, name), parts) for name, parts in made.items()]
    return CablingPlan(tuple(rows), tuple(classes))


def _usable(tier: TierLinks) -> tuple[Medium, ...]:
    """Candidates whose ends have the cages' rates and that the cages take."""
    if not tier.lengths.total:
        return ()
    if not tier.candidates:
        raise refusal(
            f"{tier.lengths.total:,} {tier.lengths.tier} links need a medium, none is given",
            "a transceiver or cable for this tier",
            key="network.optics",
        )
    ends = [(tier.lower, "lower"), (tier.upper, "upper")]
    fits, wrong = [], ""
    for medium in tier.candidates:
        for cage, side in ends:
            rate = (medium.lower if side == "lower" else medium.upper).rate_gbit_per_s
            if cage.pluggable and abs(rate - cage.rate_gbit_per_s) > 1e-6 * cage.rate_gbit_per_s:
                wrong = wrong or (
                    f"a {tier.lengths.tier} link needs {cage.rate_gbit_per_s:,.0f} Gbit/s in its {side} "
                    f"cage, {medium.id} has {rate:,.0f} Gbit/s"
                )
                break
        else:
            fits.append(medium)
    if not fits:
        raise refusal(
            wrong,
            f"media of {tier.lower.rate_gbit_per_s:,.0f} Gbit/s at the lower and "
            f"{tier.upper.rate_gbit_per_s:,.0f} Gbit/s at the upper end",
            "a NIC or switch with cages of the medium's rate",
            key="network.optics",
        )
    fixed = not (tier.lower.pluggable and tier.upper.pluggable)
    taken = [medium for medium in fits if not (fixed and medium.kind.is_assembly)]
    if not taken:
        raise refusal(
            f"a {tier.lengths.tier} link needs a medium for a co-packaged port, "
            f"has only cables with fixed ends ({', '.join(medium.id for medium in fits)})",
            "transceivers and fibre",
            "a switch with pluggable cages",
            key="network.optics",
        )
    return tuple(taken)


def _length_classes(lengths: LinkLengths, media: Sequence[Medium]) -> list[tuple[float, float, int]]:
    """(ordered length, longest link, links) of every class that has links, shortest first."""
    if not lengths.total:
        return []
    stock = [*STOCK_LENGTHS_M, *(medium.reach_m for medium in media)]
    bounds: Floats = np.unique([*stock, max(*stock, lengths.longest_m)])
    at: Ints = np.searchsorted(bounds, lengths.length_m - 1e-9)
    found = []
    for index in np.unique(at):
        mine = at == index
        longest = float(lengths.length_m[mine].max())
        found.append((float(bounds[index]), longest, int(lengths.links[mine].sum())))
    return found


def _cheapest(tier: TierLinks, media: Sequence[Medium], *, ordered: float, longest: float) -> Medium:
    reaching = [medium for medium in media if medium.reach_m >= longest - 1e-9]
    if not reaching:
        best = max(media, key=lambda medium: medium.reach_m)
        raise refusal(
            f"a {tier.lengths.tier} link needs {longest:,.1f} m, the farthest medium ({best.id}) "
            f"has {best.reach_m:,.1f} m",
            f"a medium that reaches {longest:,.1f} m",
            "network racks in the middle of the rows",
            "shorter rows or more servers in a rack",
            key="network.optics",
        )
    copper = [medium for medium in reaching if medium.kind.is_copper]
    pool = copper or reaching
    costs = {medium.id: _cost_per_link(tier, medium, ordered) for medium in pool}
    order = list(MediumKind)
    priced = all(cost is not None for cost in costs.values())

    def rank(medium: Medium) -> tuple[float, int, float, float, str]:
        cost = costs[medium.id]
        usd = cost.typ_usd if priced and cost is not None else 0.0
        watts = medium.lower.power_w + medium.upper.power_w
        return usd, order.index(medium.kind), watts, medium.reach_m, medium.id

    return min(pool, key=rank)


def _cost_per_link(tier: TierLinks, medium: Medium, metres: float) -> Price | None:
    """Price of one link's share of modules and cable; None where a part of it has no price."""
    if medium.kind.is_assembly:
        share = 1.0 / max(tier.lower.links, tier.upper.links)
        return medium.cable_price.times(share) if medium.cable_price else None
    fibre = medium.cable_price or FREE
    per_m = medium.usd_per_m * metres
    total = fibre.plus(Price(per_m, per_m, per_m)).times(1.0 / tier.links_per_cable)
    for end, cage in ((medium.lower, tier.lower), (medium.upper, tier.upper)):
        if cage.pluggable:
            if end.price is None:
                return None
            total = total.plus(end.price.times(1.0 / cage.links))
    return total


def _named(media: Sequence[Medium], name: str) -> Medium:
    return next(medium for medium in media if medium.id == name)


def _row(tier: TierLinks, medium: Medium, parts: Sequence[LengthClass]) -> CablingRow:
    """Add up the classes of one medium; a cage that is partly filled still holds a whole module."""
    assembly = medium.kind.is_assembly
    per_cable = max(tier.lower.links, tier.upper.links) if assembly else tier.links_per_cable
    links = sum(part.links for part in parts)
    ends = [-(-links // cage.links) if cage.pluggable else 0 for cage in (tier.lower, tier.upper)]
    metres = sum(-(-part.links // per_cable) * part.ordered_m for part in parts)
    return CablingRow(
        tier=tier.lengths.tier,
        medium=medium.id,
        kind=medium.kind,
        links=links,
        cables=-(-links // per_cable),
        modules_lower=0 if assembly else ends[0],
        modules_upper=0 if assembly else ends[1],
        longest_m=max(part.longest_m for part in parts),
        power_w=ends[0] * medium.lower.power_w + ends[1] * medium.upper.power_w,
        fibre_m=0.0 if medium.kind.is_copper else metres,
        copper_m=metres if medium.kind.is_copper else 0.0,
        cost=_row_cost(tier, medium, parts, ends=ends, cables=-(-links // per_cable), metres=metres),
    )


def _row_cost(
    tier: TierLinks,
    medium: Medium,
    parts: Sequence[LengthClass],
    *,
    ends: Sequence[int],
    cables: int,
    metres: float,
) -> Price | None:
    """Price of the whole row: assemblies, or modules and the fibre between them."""
    if any(_cost_per_link(tier, medium, part.ordered_m) is None for part in parts):
        return None
    cost = (medium.cable_price or FREE).times(cables)
    if medium.kind.is_assembly:
        return cost
    run = medium.usd_per_m * metres
    lower, upper = (end.price or FREE for end in (medium.lower, medium.upper))
    return cost.plus(Price(run, run, run)).plus(lower.times(ends[0])).plus(upper.times(ends[1]))
