"""Dragonfly of two-tier groups: leaves and spines in each group, the spines joined group by group."""

from __future__ import annotations

from math import ceil

from planner.design.clos import Clos, LeafSplit, leaf_split, pods_of
from planner.design.clos_search import two_tiers


def dragonfly(
    *,
    groups: int,
    leaves_per_group: int,
    split: LeafSplit,
    spine_radix: int,
    spine_oversubscription: float = 1.0,
) -> Clos | None:
    """Pods of leaves and spines whose spines give their other ports to links between the pods.

    Half of a spine's ports (fewer when tapered) leave the pod, and are shared out to all other pods
    alike, one link for each pair at least. Where the ports can't be divided evenly the rest stays free.
    None when there are more pods than ports.

    Args:
        groups: Leaf groups to join.
        leaves_per_group: Leaves of one, one for each rail.
        split: A leaf's ports down and up.
        spine_radix: Ports of a spine at the link's rate.
        spine_oversubscription: A spine's ports down to those between pods, 1 or more.

    Source:
        topo-dragonfly (recalled): pods of (R/2)^2 endpoints, (R/2)^4 in all with one link a pair.

    >>> built = dragonfly(groups=16, leaves_per_group=8, split=LeafSplit(32, 32, 32), spine_radix=64)
    >>> built.pods, built.spines, built.links_per_pod_pair, built.pod_pair_links
    ((4, 4, 4, 4), 128, 341, 2046)
    """
    down = leaf_split(radix=spine_radix, oversubscription=spine_oversubscription).down
    found = pods_of(
        groups=groups,
        leaves_per_group=leaves_per_group,
        split=split,
        spine_down=down,
        up_per_peer=spine_radix - down,
    )
    if found is None:
        return None
    pods, spread = found
    links_each, peers = spread.links_each[0], len(pods) - 1
    if peers == 0:
        # a lone pod has no use for ports to others
        return two_tiers(
            groups=groups, leaves_per_group=leaves_per_group, split=split, spine_radix=spine_radix
        )
    leaving = ceil(pods[0] * leaves_per_group * spread.uppers * links_each / spine_oversubscription - 1e-9)
    ports = spread.uppers * (spine_radix - down)
    pair = min(-(-leaving // peers), ports // peers)
    if pair < 1:
        return None
    return Clos(2, pods, leaves_per_group, spread.uppers, links_each, 0, (), links_per_pod_pair=pair)


def dragonfly_groups_max(
    *, leaves_per_group: int, split: LeafSplit, spine_radix: int, spine_oversubscription: float = 1.0
) -> int:
    """Leaf groups that a dragonfly can join: a pod for each port that leaves a pod, and the pod itself.

    >>> dragonfly_groups_max(leaves_per_group=1, split=LeafSplit(18, 18, 18), spine_radix=36) * 18
    105300
    """
    down = leaf_split(radix=spine_radix, oversubscription=spine_oversubscription).down
    per_pod = down // leaves_per_group
    if per_pod == 0:
        return 0
    found = pods_of(groups=per_pod, leaves_per_group=leaves_per_group, split=split, spine_down=down)
    if found is None:
        return 0
    return per_pod * (found[1].uppers * (spine_radix - down) + 1)
