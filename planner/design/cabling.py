"""What each link is made of, and what that adds up to: cables, modules, fibre, copper, power and price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.arrays import Floats
from planner.design.cable_choice import (
    STOCK_LENGTHS_M,
    TierLinks,
    chosen,
    cost_per_link,
    stock_lengths_m,
    usable,
)
from planner.design.medium import FREE, Cage, Medium, MediumEnd, MediumKind, Price
from planner.design.racks import Ints

__all__ = [
    "STOCK_LENGTHS_M",
    "CabledTier",
    "CablingPlan",
    "CablingRow",
    "Cage",
    "LengthClass",
    "Medium",
    "MediumEnd",
    "MediumKind",
    "Price",
    "TierLinks",
    "plan_cabling",
]


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
    fibres_per_link: int = 0
    wavelengths: int = 1
    optics: str = ""

    @property
    def modules(self) -> int:
        """Modules at both ends."""
        return self.modules_lower + self.modules_upper

    @property
    def fibres(self) -> int:
        """Fibres that carry light, end to end."""
        return self.links * self.fibres_per_link


@dataclass(frozen=True, slots=True, eq=False)
class CabledTier:
    """The links of a tier pair with what each is made of.

    Attributes:
        media: Media by index.
        medium: Index of every link's medium.
        cable: Number of every link's cable, from 0 in this tier; links of a splitter share one.
        ordered_m: Length that every link's cable is ordered in.
    """

    asked: TierLinks
    media: tuple[Medium, ...]
    medium: Ints
    cable: Ints
    ordered_m: Floats


@dataclass(frozen=True, slots=True)
class CablingPlan:
    """All cables, by tier pair and medium, with the length classes and every link behind them."""

    rows: tuple[CablingRow, ...]
    classes: tuple[LengthClass, ...]
    tiers: tuple[CabledTier, ...] = ()

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
    """Choose a medium for every link of every tier pair.

    Copper comes first where it reaches, then the lower price; where a candidate of that kind has no
    price the kinds' order decides. A co-packaged end needs no module and takes no assembly. All links of
    a cage are of one medium, since one module or one plug fills it.

    Raises:
        DesignError: Nothing reaches, or every candidate has another rate than the cages.
    """
    rows: list[CablingRow] = []
    classes: list[LengthClass] = []
    tables: list[CabledTier] = []
    filled = _Filled()
    for tier in tiers:
        media = usable(tier)
        if not media:
            continue
        one = _cabled(tier, media)
        tables.append(one)
        used = [(index, one.medium == index) for index in np.unique(one.medium)]
        used.sort(key=lambda pair: float(one.asked.links.length_m[pair[1]].max()))
        rows += [_row(one, media[index], mine, filled) for index, mine in used]
        found = [made for index, mine in used for made in _classes(one, media[index], mine)]
        classes += sorted(found, key=lambda made: made.ordered_m)
    return CablingPlan(tuple(rows), tuple(classes), tuple(tables))


def _cabled(tier: TierLinks, media: tuple[Medium, ...]) -> CabledTier:
    bounds = stock_lengths_m(media, tier.links.longest_m)
    medium = chosen(tier, media, bounds)
    cable = _cables(tier, np.array([one.kind.is_assembly for one in media])[medium])
    longest = np.zeros(int(cable.max(initial=0)) + 1)
    np.maximum.at(longest, cable, tier.links.length_m)
    ordered = bounds[np.searchsorted(bounds, longest - 1e-9)]
    return CabledTier(tier, media, medium, cable, ordered[cable])


def _cables(tier: TierLinks, assembly: Ints) -> Ints:
    """Number of every link's cable, in the order of the links.

    An assembly fills the larger of its cages. Fibre that carries several links joins one pair of ports
    where the pair has so many, and is a splitter from the upper port where the lower cage has one link, and
    from the lower port where it doesn't.
    """
    links = tier.links
    lower, upper = tier.cages
    key = upper if tier.upper.links >= tier.lower.links else lower
    each = tier.links_per_cable
    if each > 1:
        in_bundle = np.arange(links.total) - np.searchsorted(links.bundle, links.bundle)
        whole = bool(np.all(np.bincount(links.bundle) % each == 0))
        splits_up = tier.lower.links == 1
        ports = (
            links.bundle * (int(in_bundle.max()) + 1) + in_bundle // each
            if whole
            else _shared(links.upper, links.upper_port // each)
            if splits_up
            else _shared(links.lower, links.lower_port // each)
        )
    else:
        ports = np.arange(links.total)
    both = np.where(assembly, 2 * key + 1, 2 * ports)
    _, first, number = np.unique(both, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first, kind="stable")] = np.arange(len(first))
    found: Ints = order[number]
    return found


def _shared(item: Ints, port: Ints) -> Ints:
    return item * (int(port.max(initial=0)) + 1) + port


def _classes(tier: CabledTier, medium: Medium, mine: Ints) -> list[LengthClass]:
    """Links of a medium by ordered length, shortest first."""
    found = []
    for ordered in np.unique(tier.ordered_m[mine]):
        those = tier.asked.links.length_m[mine & (tier.ordered_m == ordered)]
        found.append(LengthClass(tier.asked.tier, float(ordered), float(those.max()), len(those), medium.id))
    return found


@dataclass(slots=True)
class _Filled:
    """Cages that have their module already, by kind of item.

    An odd number of links down leaves half a cage to the links up. It has one module, which counts with the
    tier that comes first.
    """

    cages: dict[str, Ints] = field(default_factory=dict)

    def more(self, kind: str, item: Ints, cage: Ints) -> int:
        """How many of these cages have no module yet; they have one from then on."""
        mine = np.unique((item << 20) + cage)
        before = self.cages.get(kind)
        if before is None:
            self.cages[kind] = mine
            return len(mine)
        fresh = np.setdiff1d(mine, before, assume_unique=True)
        self.cages[kind] = np.concatenate([before, fresh])
        return len(fresh)


def _ends(tier: CabledTier, mine: Ints, filled: _Filled) -> list[int]:
    """Cages that these links fill at the lower and at the upper end."""
    asked, links = tier.asked, tier.asked.links
    found = []
    for kind, item, port, cage in (
        (links.lower_kind, links.lower, links.lower_port, asked.lower),
        (links.upper_kind, links.upper, links.upper_port, asked.upper),
    ):
        if not cage.pluggable:
            found.append(0)
        elif cage.links == 1:
            found.append(int(mine.sum()))
        else:
            found.append(filled.more(kind, item[mine], port[mine] // cage.links))
    return found


def _row(tier: CabledTier, medium: Medium, mine: Ints, filled: _Filled) -> CablingRow:
    """Add up the links of one medium; a cage that is partly filled still holds a whole module."""
    asked, assembly = tier.asked, medium.kind.is_assembly
    links = int(mine.sum())
    ends = _ends(tier, mine, filled)
    cables, first = np.unique(tier.cable[mine], return_index=True)
    metres = float(tier.ordered_m[mine][first].sum())
    return CablingRow(
        tier=asked.tier,
        medium=medium.id,
        kind=medium.kind,
        links=links,
        cables=len(cables),
        modules_lower=0 if assembly else ends[0],
        modules_upper=0 if assembly else ends[1],
        longest_m=float(asked.links.length_m[mine].max()),
        power_w=ends[0] * medium.lower.power_w + ends[1] * medium.upper.power_w,
        fibre_m=0.0 if medium.kind.is_copper else metres,
        copper_m=metres if medium.kind.is_copper else 0.0,
        cost=_row_cost(asked, medium, ends=ends, cables=len(cables), metres=metres),
        fibres_per_link=medium.fibres,
        wavelengths=medium.wavelengths,
        optics=medium.optics,
    )


def _row_cost(
    tier: TierLinks, medium: Medium, *, ends: Sequence[int], cables: int, metres: float
) -> Price | None:
    """Price of the whole row: assemblies, or modules and the fibre between them."""
    if cost_per_link(tier, medium, 1.0) is None:
        return None
    cost = (medium.cable_price or FREE).times(cables)
    if medium.kind.is_assembly:
        return cost
    run = medium.usd_per_m * metres
    lower, upper = (end.price or FREE for end in (medium.lower, medium.upper))
    return cost.plus(Price(run, run, run)).plus(lower.times(ends[0])).plus(upper.times(ends[1]))
