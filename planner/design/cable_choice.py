"""Which medium a link gets: the cheapest that reaches, copper first, the same for all links of a cage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.design.lengths import LinkTable
from planner.design.medium import FREE, Cage, Medium, MediumKind, Price
from planner.design.ports import refusal
from planner.design.racks import Ints

STOCK_LENGTHS_M = (
    1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 300.0, 500.0, 2000.0, 10000.0,
)  # fmt: skip
"""Lengths cables are ordered in; the media's reaches are added so that no class straddles one."""


@dataclass(frozen=True, slots=True)
class TierLinks:
    """The links between two tiers and what they may be made of.

    `links_per_cable` is that of the fabric's design and applies to fibre; an assembly carries as many
    links as its larger end.
    """

    links: LinkTable
    lower: Cage
    upper: Cage
    links_per_cable: int
    candidates: tuple[Medium, ...]

    @property
    def tier(self) -> str:
        """Name of the pair."""
        return self.links.tier

    @property
    def cages(self) -> tuple[Ints, Ints]:
        """Cage of every link at its lower and at its upper end, numbered over all items of a kind."""
        return _cage(self.links.lower, self.links.lower_port, self.lower.links), _cage(
            self.links.upper, self.links.upper_port, self.upper.links
        )


def _cage(item: Ints, port: Ints, per_cage: int) -> Ints:
    at = port // max(1, per_cage)
    return item * (int(at.max(initial=0)) + 1) + at


def usable(tier: TierLinks) -> tuple[Medium, ...]:
    """Candidates whose ends have the cages' rates and that the cages take.

    Raises:
        DesignError: None is left; says why.
    """
    if not tier.links.total:
        return ()
    if not tier.candidates:
        raise refusal(
            f"no cable and no module of the catalog joins the {tier.tier} links: a cage of "
            f"{_cage_words(tier.lower)} and one of {_cage_words(tier.upper)}",
            "another network.nic, network.leaf.switch or network.spine.switch, with cages that one medium joins",
            "network.copper: true, where it is off and only copper joins them",
            key="network.optics",
        )
    wrong = [_wrong_rate(tier, medium) for medium in tier.candidates]
    fits = [medium for medium, said in zip(tier.candidates, wrong, strict=True) if not said]
    if not fits:
        raise refusal(
            next(said for said in wrong if said),
            f"media of {tier.lower.rate_gbit_per_s:,.0f} Gbit/s at the lower and "
            f"{tier.upper.rate_gbit_per_s:,.0f} Gbit/s at the upper end",
            "a NIC or switch with cages of the medium's rate",
            key="network.optics",
        )
    fixed = not (tier.lower.pluggable and tier.upper.pluggable)
    taken = [medium for medium in fits if not (fixed and medium.kind.is_assembly)]
    if not taken:
        raise refusal(
            f"a {tier.tier} link needs a medium for a co-packaged port, "
            f"has only cables with fixed ends ({', '.join(medium.id for medium in fits)})",
            "transceivers and fibre",
            "a switch with pluggable cages",
            key="network.optics",
        )
    return tuple(taken)


def _cage_words(cage: Cage) -> str:
    links = f" for {cage.links} links" if cage.links > 1 else ""
    return f"{cage.rate_gbit_per_s:,.0f} Gbit/s{links}"


def _wrong_rate(tier: TierLinks, medium: Medium) -> str:
    """What is wrong with a medium's rates; empty where both ends fit."""
    for cage, end, side in ((tier.lower, medium.lower, "lower"), (tier.upper, medium.upper, "upper")):
        if cage.pluggable and abs(end.rate_gbit_per_s - cage.rate_gbit_per_s) > 1e-6 * cage.rate_gbit_per_s:
            return (
                f"a {tier.tier} link needs {cage.rate_gbit_per_s:,.0f} Gbit/s in its {side} "
                f"cage, {medium.id} has {end.rate_gbit_per_s:,.0f} Gbit/s"
            )
    return ""


def stock_lengths_m(media: Sequence[Medium], longest_m: float) -> Floats:
    """Lengths that cables of these media are ordered in, up to the longest link at least."""
    stock = [*STOCK_LENGTHS_M, *(medium.reach_m for medium in media)]
    found: Floats = np.unique([*stock, max(*stock, longest_m)])
    return found


def chosen(tier: TierLinks, media: Sequence[Medium], bounds: Floats) -> Ints:
    """Index into `media` for every link.

    A module or a cable serves all links of its cage, so the longest of them decides for all of them.

    Raises:
        DesignError: A link is longer than every medium reaches.
    """
    governing = _governing_m(tier)
    classes, of = np.unique(np.searchsorted(bounds, governing - 1e-9), return_inverse=True)
    best = [
        _cheapest(tier, media, ordered=float(bounds[one]), longest=float(governing[of == index].max()))
        for index, one in enumerate(classes)
    ]
    return np.array(best, np.int64)[of]


def _governing_m(tier: TierLinks) -> Floats:
    """Longest link among all that a link is tied to by shared cages, step by step until nothing changes."""
    length = tier.links.length_m
    ties = [
        cage
        for cage, end in zip(tier.cages, (tier.lower, tier.upper), strict=True)
        if end.links > 1 and end.pluggable
    ]
    while True:
        before = length
        for cage in ties:
            longest = np.zeros(int(cage.max(initial=0)) + 1)
            np.maximum.at(longest, cage, length)
            length = longest[cage]
        if len(ties) < 2 or np.array_equal(before, length):
            return length


def _cheapest(tier: TierLinks, media: Sequence[Medium], *, ordered: float, longest: float) -> int:
    reaching = [index for index, medium in enumerate(media) if medium.reach_m >= longest - 1e-9]
    if not reaching:
        best = max(media, key=lambda medium: medium.reach_m)
        raise refusal(
            f"a {tier.tier} link needs {longest:,.1f} m, the farthest medium ({best.id}) "
            f"has {best.reach_m:,.1f} m",
            f"a medium that reaches {longest:,.1f} m",
            *(
                ("halls nearer to each other",)
                if tier.links.crossing_m.max(initial=0.0) > 0.0
                else ("network racks in the middle of the rows", "shorter rows or more servers in a rack")
            ),
            key="network.optics",
        )
    copper = [index for index in reaching if media[index].kind.is_copper]
    pool = copper or reaching
    costs = {index: cost_per_link(tier, media[index], ordered) for index in pool}
    order = list(MediumKind)
    priced = all(cost is not None for cost in costs.values())

    def rank(index: int) -> tuple[float, int, float, float, str]:
        medium, cost = media[index], costs[index]
        usd = cost.typ_usd if priced and cost is not None else 0.0
        watts = medium.lower.power_w + medium.upper.power_w
        return usd, order.index(medium.kind), watts, medium.reach_m, medium.id

    return min(pool, key=rank)


def cost_per_link(tier: TierLinks, medium: Medium, metres: float) -> Price | None:
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
