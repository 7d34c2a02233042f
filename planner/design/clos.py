"""One folded-Clos network (one plane): its tiers, pods and links, by port arithmetic.

A leaf group is the set of leaves that one scalable unit of nodes is cabled to: one leaf for each rail.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from planner.design.ports import fan_out


@dataclass(frozen=True, slots=True)
class LeafSplit:
    """A leaf's ports: how many face the nodes and how many uplinks those want at least."""

    down: int
    up_wanted: int
    up_max: int


def leaf_split(*, radix: int, oversubscription: float) -> LeafSplit:
    """Down = R o / (1 + o), up = what keeps the ratio at or below o.

    >>> leaf_split(radix=64, oversubscription=3.0)
    LeafSplit(down=48, up_wanted=16, up_max=16)
    """
    down = floor(radix * oversubscription / (1.0 + oversubscription) + 1e-9)
    return LeafSplit(down, ceil(down / oversubscription - 1e-9), radix - down)


@dataclass(frozen=True, slots=True)
class Clos:
    """Counts of one plane. `pods` holds the leaf groups of each pod; one pod when there are two tiers."""

    tiers: int
    pods: tuple[int, ...]
    leaves_per_group: int
    spines_per_pod: int
    links_per_leaf_spine: int
    cores_per_spine: int
    links_per_spine_core: tuple[int, ...]

    @property
    def leaves(self) -> int:
        """Leaves of one plane."""
        return sum(self.pods) * self.leaves_per_group

    @property
    def spines(self) -> int:
        """Spines of one plane."""
        return self.spines_per_pod * len(self.pods)

    @property
    def cores(self) -> int:
        """Cores of one plane."""
        return self.spines_per_pod * self.cores_per_spine

    @property
    def uplinks_per_leaf(self) -> int:
        """Links from one leaf to its spines."""
        return self.spines_per_pod * self.links_per_leaf_spine

    @property
    def leaf_spine_links(self) -> int:
        """Links between leaves and spines."""
        return self.leaves * self.uplinks_per_leaf

    @property
    def spine_core_links(self) -> int:
        """Links between spines and cores."""
        return self.cores * sum(self.links_per_spine_core)


def groups_max(*, tiers: int, leaves_per_group: int, spine_radix: int, core_radix: int) -> int:
    """Leaf groups that a network of so many tiers can join.

    >>> groups_max(tiers=2, leaves_per_group=8, spine_radix=64, core_radix=64)
    8
    >>> groups_max(tiers=3, leaves_per_group=8, spine_radix=64, core_radix=64)
    256
    """
    if tiers == 2:
        return spine_radix // leaves_per_group
    return (spine_radix // 2) // leaves_per_group * core_radix


def two_tiers(*, groups: int, leaves_per_group: int, split: LeafSplit, spine_radix: int) -> Clos | None:
    """Leaves and one layer of spines; None when there are more leaves than a spine has ports.

    >>> clos = two_tiers(groups=4, leaves_per_group=8, split=LeafSplit(32, 32, 32), spine_radix=64)
    >>> clos.leaves, clos.spines, clos.leaf_spine_links
    (32, 16, 1024)
    """
    leaves = groups * leaves_per_group
    spread = fan_out(lowers=[(leaves, split.up_wanted)], uplinks_max=split.up_max, upper_ports=spine_radix)
    if spread is None:
        return None
    return Clos(2, (groups,), leaves_per_group, spread.uppers, spread.links_each[0], 0, ())


def three_tiers(
    *, groups: int, leaves_per_group: int, split: LeafSplit, spine_radix: int, core_radix: int
) -> Clos | None:
    """Pods of leaves and spines under a layer of cores; None when it can't hold the groups.

    A spine gives half its ports to its pod's leaves and as many uplinks as it has links down. Spine j of
    every pod meets the same cores. Pods are as equal as whole leaf groups allow, and each has the spines
    of the largest. A full build has 2N/R leaves, 2N/R spines and N/R cores.

    Source:
        topo-fat-tree (full-build counts); partial builds have no published table to check against.

    >>> clos = three_tiers(groups=256, leaves_per_group=8, split=LeafSplit(32, 32, 32),
    ...     spine_radix=64, core_radix=64)
    >>> clos.leaves, clos.spines, clos.cores, clos.spine_core_links
    (2048, 2048, 1024, 65536)
    """
    down, up = spine_radix // 2, spine_radix - spine_radix // 2
    per_pod = down // leaves_per_group
    if per_pod == 0:
        return None
    pods_count = -(-groups // per_pod)
    pods = tuple(groups // pods_count + (i < groups % pods_count) for i in range(pods_count))
    lowers = [(pods[0] * leaves_per_group, split.up_wanted)]
    inside = fan_out(lowers=lowers, uplinks_max=split.up_max, upper_ports=down)
    if inside is None:
        return None
    links_each = inside.links_each[0]
    sizes = sorted(set(pods), reverse=True)
    wanted = [(pods.count(size), size * leaves_per_group * links_each) for size in sizes]
    above = fan_out(lowers=wanted, uplinks_max=up, upper_ports=core_radix)
    if above is None:
        return None
    upwards = tuple(above.links_each[sizes.index(size)] for size in pods)
    return Clos(3, pods, leaves_per_group, inside.uppers, links_each, above.uppers, upwards)
