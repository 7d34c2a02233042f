"""Which ranks measure together: inside a host, across hosts, and both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Ranks that run one collective; rank 0 belongs to every group."""

    tier: str
    ranks: tuple[int, ...]
    hosts: int

    @property
    def label(self) -> str:
        """Name in the results, such as intra_node_8."""
        return f"{self.tier}_{len(self.ranks)}"


def host_indexes(tags: Sequence[int]) -> list[int]:
    """Hosts numbered in the order in which their first rank stands; tags are hashes, never names.

    >>> host_indexes([77, 77, 12, 12])
    [0, 0, 1, 1]
    """
    order: dict[int, int] = {}
    return [order.setdefault(tag, len(order)) for tag in tags]


def doubling(most: int) -> list[int]:
    """2, 4, 8, ... and the whole.

    >>> doubling(8), doubling(6), doubling(1)
    ([2, 4, 8], [2, 4, 6], [])
    """
    found = []
    size = 2
    while size <= most:
        found.append(size)
        size *= 2
    if most >= 2 and found[-1] != most:
        found.append(most)
    return found


def groups_for(hosts: Sequence[int]) -> list[Group]:
    """Groups to measure, the largest of a tier first, given each rank's host index.

    Intra-node groups are the first ranks of host 0; inter-node groups hold one rank of each host; mixed
    groups hold all ranks of the first hosts.
    """
    by_host: dict[int, list[int]] = {}
    for rank, host in enumerate(hosts):
        by_host.setdefault(host, []).append(rank)
    first = by_host[hosts[0]]
    order = [hosts[0], *(host for host in by_host if host != hosts[0])]
    found = [Group("intra_node", tuple(first[:size]), 1) for size in reversed(doubling(len(first)))]
    for size in reversed(doubling(len(order))):
        chosen = order[:size]
        found.append(Group("inter_node", tuple(by_host[host][0] for host in chosen), size))
        if any(len(by_host[host]) > 1 for host in chosen):
            together = tuple(sorted(rank for host in chosen for rank in by_host[host]))
            found.append(Group("mixed", together, size))
    return found
