"""One folded-Clos network (one plane): its tiers, pods and links, by port arithmetic.

A leaf group is the set of leaves that one scalable unit of nodes is cabled to: one leaf for each rail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from planner.design.ports import FanOut, fan_out


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
    """Counts of one network. `pods` holds the leaf groups of each pod.

    Two tiers are one pod, or the groups of a dragonfly, whose spines are joined pod by pod with
    `links_per_pod_pair` links; three tiers are pods under cores. `uplinks_per_spine` has the links upwards
    of a spine of each pod, spread over its `cores_per_spine` cores as evenly as whole links are.
    """

    tiers: int
    pods: tuple[int, ...]
    leaves_per_group: int
    spines_per_pod: int
    links_per_leaf_spine: int
    cores_per_spine: int
    uplinks_per_spine: tuple[int, ...]
    links_per_pod_pair: int = 0

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
        return self.spines_per_pod * sum(self.uplinks_per_spine)

    @property
    def pod_pair_links(self) -> int:
        """Links between the spines of different pods of a dragonfly."""
        return self.links_per_pod_pair * len(self.pods) * (len(self.pods) - 1) // 2

    @property
    def spine_oversubscription(self) -> float:
        """Links of the largest pod from leaves to spines over those that leave it; 1 where none has to."""
        down = self.pods[0] * self.leaves_per_group * self.uplinks_per_leaf
        up = self.links_per_pod_pair * (len(self.pods) - 1)
        if self.tiers == 3:
            up = self.uplinks_per_spine[0] * self.spines_per_pod
        return down / up if up else 1.0

    def first_groups(self, groups: int) -> Clos:
        """What of this network serves the first leaf groups: the rest is added later and moves nothing.

        The spines of every pod that has a leaf are built; cores and links between pods come with the
        second pod.

        >>> final = Clos(3, (4, 4), 8, 32, 1, 1, (32, 32))
        >>> now = final.first_groups(3)
        >>> (final.pods, final.spines, final.cores), (now.pods, now.spines, now.cores)
        (((4, 4), 64, 32), ((3,), 32, 0))
        """
        pods: list[int] = []
        for size in self.pods:
            if sum(pods) < groups:
                pods.append(min(size, groups - sum(pods)))
        if len(pods) == 1 and self.tiers == 3:
            return replace(self, tiers=2, pods=tuple(pods), cores_per_spine=0, uplinks_per_spine=())
        return replace(self, pods=tuple(pods), uplinks_per_spine=self.uplinks_per_spine[: len(pods)])

    def links_to_cores(self) -> npt.NDArray[np.int64]:
        """Links from a spine of each pod (a row) to each of its cores (a column).

        >>> Clos(3, (4, 1), 8, 32, 1, 4, (32, 10)).links_to_cores()
        array([[8, 8, 8, 8],
               [3, 3, 2, 2]])
        """
        up = np.array(self.uplinks_per_spine, dtype=np.int64)[:, None]
        core = np.arange(self.cores_per_spine)[None, :]
        return up // self.cores_per_spine + (core < up % self.cores_per_spine)


def groups_max(
    *,
    tiers: int,
    leaves_per_group: int,
    spine_radix: int,
    core_radix: int,
    spine_oversubscription: float = 1.0,
) -> int:
    """Leaf groups that a network of so many tiers can join.

    >>> groups_max(tiers=2, leaves_per_group=8, spine_radix=64, core_radix=64)
    8
    >>> groups_max(tiers=3, leaves_per_group=8, spine_radix=64, core_radix=64)
    256
    """
    if tiers == 2:
        return spine_radix // leaves_per_group
    down = leaf_split(radix=spine_radix, oversubscription=spine_oversubscription).down
    return down // leaves_per_group * core_radix


def pods_of(
    *, groups: int, leaves_per_group: int, split: LeafSplit, spine_down: int, up_per_peer: int = 0
) -> tuple[tuple[int, ...], FanOut] | None:
    """Leaf groups over the fewest pods whose spines have so many ports down, as equal as can be.

    `up_per_peer` is given where pods are joined to each other: a spine's ports for that, of which every
    other pod needs one on some spine.

    Returns:
        Leaf groups of each pod, and how the leaves of the largest reach its spines.

    >>> pods_of(groups=9, leaves_per_group=8, split=LeafSplit(32, 32, 32), spine_down=32)
    ((3, 3, 3), FanOut(uppers=32, links_each=(1,)))
    """
    per_pod = spine_down // leaves_per_group
    if per_pod == 0:
        return None
    count = -(-groups // per_pod)
    pods = tuple(groups // count + (i < groups % count) for i in range(count))
    lowers = [(pods[0] * leaves_per_group, split.up_wanted)]
    least = -(-(count - 1) // up_per_peer) if up_per_peer else 1
    spread = fan_out(
        lowers=lowers, uplinks_max=split.up_max, upper_ports=spine_down, uppers_min=max(1, least)
    )
    return None if spread is None else (pods, spread)
