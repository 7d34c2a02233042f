"""The cheapest folded Clos for a number of leaf groups, so that more endpoints never need a cheaper one.

Every way to build one is a candidate: leaf groups in a pod, links from a leaf to a spine, links from a spine
to a core. A candidate that holds some leaf groups holds fewer as well, for no more switches and links; so the
cheapest candidate gets no cheaper when the network grows. Without oversubscription all candidates have the
same links, and the one of the fewest switches is the cheapest at any prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
import numpy.typing as npt

from planner.design.clos import Clos, LeafSplit, leaf_split

Ints = npt.NDArray[np.int64]

LINKS_PER_SWITCH = 32
"""Links that weigh as much as a switch when two ways to build are compared.

A weight and no price: it only matters under oversubscription, where an uplink port more may save a spine.
"""


def two_tiers(*, groups: int, leaves_per_group: int, split: LeafSplit, spine_radix: int) -> Clos | None:
    """Leaves under one layer of spines; None when there are more leaves than a spine has ports.

    >>> clos = two_tiers(groups=3, leaves_per_group=8, split=LeafSplit(32, 32, 32), spine_radix=64)
    >>> clos.leaves, clos.spines, clos.links_per_leaf_spine
    (24, 16, 2)
    """
    leaves = groups * leaves_per_group
    best: tuple[int, int, int] | None = None
    for each in range(1, min(split.up_wanted, spine_radix // leaves) + 1):
        spines = -(-split.up_wanted // each)
        if each * spines <= split.up_max:
            found = (LINKS_PER_SWITCH * spines + leaves * each * spines, spines, each)
            best = found if best is None else min(best, found)
    if best is None:
        return None
    return Clos(2, (groups,), leaves_per_group, best[1], best[2], 0, ())


def three_tiers(
    *,
    groups: int,
    leaves_per_group: int,
    split: LeafSplit,
    spine_radix: int,
    core_radix: int,
    spine_oversubscription: float = 1.0,
) -> Clos | None:
    """Pods of leaves and spines under a layer of cores; None when it can't hold the groups.

    A spine gives R o / (1 + o) of its ports to its pod's leaves, and 1 / o of its links down go up again.
    Spine j of every pod meets the same cores, each with as many links; pods are filled one after the other,
    and the last has the spines of a full one. A full non-blocking build has 2N/R leaves, 2N/R spines and N/R cores.

    Source:
        topo-fat-tree (full-build counts); partial builds have no published table to check against.

    >>> clos = three_tiers(groups=256, leaves_per_group=8, split=LeafSplit(32, 32, 32),
    ...     spine_radix=64, core_radix=64)
    >>> clos.leaves, clos.spines, clos.cores, clos.spine_core_links
    (2048, 2048, 1024, 65536)
    """
    ways = _ways(
        leaves_per_group, split.up_wanted, split.up_max, spine_radix, core_radix, spine_oversubscription
    )
    found = ways.cheapest(groups)
    if found is None:
        return None
    size, spines, each, cores, above = (int(column[found]) for column in ways.columns)
    full, rest = divmod(groups, size)
    pods, upwards = (size,) * full, (above * cores,) * full
    if rest:
        leaving = _leaving(rest, leaves_per_group, each, spine_oversubscription)
        pods, upwards = (*pods, rest), (*upwards, leaving)
    return Clos(3, pods, leaves_per_group, spines, each, cores, upwards)


def _leaving(size: int, leaves_per_group: int, each: int, ratio: float) -> int:
    """Links that a spine of a pod needs upwards."""
    return ceil(size * leaves_per_group * each / ratio - 1e-9)


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """Every way to build pods and cores, one an element; independent of how many leaf groups there are."""

    leaves_per_group: int
    core_radix: int
    ratio: float
    size: Ints
    spines: Ints
    each: Ints
    cores: Ints
    above: Ints

    @property
    def columns(self) -> tuple[Ints, ...]:
        """Groups in a pod, its spines, links to each from a leaf, cores of a spine, links to each."""
        return self.size, self.spines, self.each, self.cores, self.above

    def cheapest(self, groups: int) -> int | None:
        """Number of the cheapest way for so many leaf groups; None where no way holds them."""
        if not len(self.size):
            return None
        pods = -(-groups // self.size)
        fits = pods * self.above <= self.core_radix
        if not fits.any():
            return None
        full, rest = groups // self.size, groups % self.size
        leaving = np.ceil(rest * self.leaves_per_group * self.each / self.ratio - 1e-9).astype(np.int64)
        upward = self.spines * (full * self.above * self.cores + leaving)
        links = groups * self.leaves_per_group * self.spines * self.each + upward
        weight = LINKS_PER_SWITCH * self.spines * (pods + self.cores) + links
        return int(np.argmin(np.where(fits, weight, np.iinfo(np.int64).max)))


@lru_cache(maxsize=256)
def _ways(
    leaves_per_group: int, up_wanted: int, up_max: int, spine_radix: int, core_radix: int, ratio: float
) -> _Ways:
    down = leaf_split(radix=spine_radix, oversubscription=ratio).down
    up = spine_radix - down
    rows: list[tuple[int, int, int, int, int]] = []
    # of ways that weigh alike the first counts: few large pods, few spines
    for size in range(down // leaves_per_group, 0, -1):
        for each in range(min(up_wanted, down // (size * leaves_per_group)), 0, -1):
            spines = -(-up_wanted // each)
            if each * spines > up_max:
                continue
            leaving = _leaving(size, leaves_per_group, each, ratio)
            if leaving > up:
                continue
            for cores in range(1, leaving + 1):
                if leaving % cores == 0 and leaving // cores <= core_radix:
                    rows.append((size, spines, each, cores, leaving // cores))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return _Ways(leaves_per_group, core_radix, ratio, *columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutAsked:
    """Leaf groups and what is above them, in plain numbers of one network.

    Args:
        nodes: Nodes to join in the end.
        links_per_rail: Links of a node to each leaf of its group.
        reserved_ports: Ports kept on all leaves of one plane together.
        kept_per_leaf: Ports kept on one leaf, where they have their places; else they are spread evenly.
        rails: Leaves of a group.
        leaves_per_group: Those of them that one network joins: all, or one where each rail is a network.
        leaf_down: Ports of a leaf towards nodes at most.
        oversubscription: A leaf's ports down to ports up at most; `spine_oversubscription` a spine's.
        least_groups: Leaf groups that the nodes fill.
        tiers_max: Layers of switches allowed, 2 or 3.
    """

    nodes: int
    links_per_rail: int
    reserved_ports: int
    kept_per_leaf: int | None
    rails: int
    leaves_per_group: int
    leaf_radix: int
    leaf_down: int
    spine_radix: int
    core_radix: int
    oversubscription: float
    spine_oversubscription: float
    least_groups: int
    tiers_max: int

    def split(self, groups: int) -> LeafSplit:
        """A leaf's ports when there are so many groups.

        Uplinks of an oversubscribed leaf follow the ports it really gives to nodes, spread evenly; a
        non-blocking leaf keeps its full split, as the reference architectures do.
        """
        if self.oversubscription <= 1.0:
            return LeafSplit(self.leaf_down, self.leaf_down, self.leaf_down)
        kept = self.kept_per_leaf
        if kept is None:
            kept = -(-self.reserved_ports // (groups * self.rails))
        used = min(self.leaf_down, -(-self.nodes // groups) * self.links_per_rail + kept)
        wanted = max(1, ceil(used / self.oversubscription - 1e-9))
        return LeafSplit(used, wanted, self.leaf_radix - used)


@dataclass(frozen=True, slots=True)
class Layout:
    """Leaf groups, their leaves' ports, and the network above; no shape where none can be built."""

    groups: int
    split: LeafSplit
    shape: Clos | None


@lru_cache(maxsize=65536)
def laid_out(asked: LayoutAsked) -> Layout:
    """The cheapest network of the fewest tiers.

    Where leaves are oversubscribed, more leaf groups than the nodes fill may be cheaper: fewer nodes on a
    leaf want fewer uplinks, which may be spread over fewer spines. 85 nodes on leaves with 85 ports down
    and 43 up would take 43 spines of one link from each leaf.

    >>> asked = LayoutAsked(nodes=85, links_per_rail=1, reserved_ports=0, kept_per_leaf=None, rails=8,
    ...     leaves_per_group=8, leaf_radix=128, leaf_down=85, spine_radix=128, core_radix=128,
    ...     oversubscription=2.0, spine_oversubscription=1.0, least_groups=1, tiers_max=3)
    >>> found = laid_out(asked)
    >>> found.groups, found.shape.spines
    (2, 3)
    """
    for tiers in range(2, asked.tiers_max + 1):
        found = _cheapest(asked, tiers)
        if found is not None:
            return found
    return Layout(asked.least_groups, asked.split(asked.least_groups), None)


def _cheapest(asked: LayoutAsked, tiers: int) -> Layout | None:
    best: Layout | None = None
    most = asked.spine_radix // asked.leaves_per_group
    if tiers > 2:
        down = leaf_split(radix=asked.spine_radix, oversubscription=asked.spine_oversubscription).down
        most = down // asked.leaves_per_group * asked.core_radix
    if asked.oversubscription <= 1.0:
        most = min(most, asked.least_groups)
    least_weight = 0.0
    for groups in range(asked.least_groups, most + 1):
        split = asked.split(groups)
        if best is not None:
            # uplinks of all leaves together, were they no whole numbers, are the same for any groups
            shared = asked.nodes * asked.links_per_rail * asked.leaves_per_group / asked.oversubscription
            if _weight_at_least(asked, tiers, groups, shared) >= least_weight:
                break
            if _weight_at_least(asked, tiers, groups, _uplinks(asked, groups, split)) >= least_weight:
                continue
        shape = _shape(asked, tiers, groups, split)
        if shape is not None and (best is None or _weight(shape) < least_weight):
            best, least_weight = Layout(groups, split, shape), _weight(shape)
    return best


def _shape(asked: LayoutAsked, tiers: int, groups: int, split: LeafSplit) -> Clos | None:
    if tiers == 2:
        return two_tiers(
            groups=groups,
            leaves_per_group=asked.leaves_per_group,
            split=split,
            spine_radix=asked.spine_radix,
        )
    return three_tiers(
        groups=groups,
        leaves_per_group=asked.leaves_per_group,
        split=split,
        spine_radix=asked.spine_radix,
        core_radix=asked.core_radix,
        spine_oversubscription=asked.spine_oversubscription,
    )


def _weight(shape: Clos) -> float:
    switches = shape.leaves + shape.spines + shape.cores
    return float(LINKS_PER_SWITCH * switches + shape.leaf_spine_links + shape.spine_core_links)


def _uplinks(asked: LayoutAsked, groups: int, split: LeafSplit) -> float:
    return float(groups * asked.leaves_per_group * split.up_wanted)


def _weight_at_least(asked: LayoutAsked, tiers: int, groups: int, links: float) -> float:
    """What any network of so many groups and uplinks of leaves weighs, were its ports filled without a rest."""
    leaves = groups * asked.leaves_per_group
    if tiers == 2:
        return LINKS_PER_SWITCH * (leaves + links / asked.spine_radix) + links
    upward = links / asked.spine_oversubscription
    switches = leaves + (links + upward) / asked.spine_radix + upward / asked.core_radix
    return LINKS_PER_SWITCH * switches + links + upward
