"""Networks without switches: nodes in a torus, and scale-up domains joined each to each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

LINKS_PER_RING = 2
"""A node's links in one dimension of a torus, one to either side."""


@dataclass(frozen=True, slots=True)
class Torus:
    """Nodes on a grid whose every line is closed to a ring.

    Attributes:
        dimensions: Nodes along each dimension, longest first; 1 where there is none.
        links: Links from a node to its next neighbour in each dimension, one direction of the two.
    """

    dimensions: tuple[int, int, int]
    links: tuple[int, int, int]

    @property
    def nodes(self) -> int:
        """Nodes of the grid."""
        return prod(self.dimensions)

    @property
    def ports_used(self) -> int:
        """Links at one node."""
        return LINKS_PER_RING * sum(self.links)

    @property
    def neighbours(self) -> int:
        """Nodes that a node is joined to: one in a dimension of two, two in a longer one."""
        return sum(min(LINKS_PER_RING, size - 1) for size in self.dimensions)

    @property
    def all_links(self) -> int:
        """Links of the torus: each node owns those to its next neighbours."""
        return self.nodes * sum(self.links)

    @property
    def bisection_links(self) -> int:
        """Links between two halves: a cut across a dimension meets each of its rings twice.

        >>> Torus((4, 4, 4), (1, 1, 1)).bisection_links
        32
        """
        cuts = zip(self.dimensions, self.links, strict=True)
        return min(LINKS_PER_RING * self.nodes // size * links for size, links in cuts if size > 1)

    @property
    def hops_farthest(self) -> int:
        """Links on the shortest path to the farthest node: half of each ring.

        >>> Torus((24, 24, 16), (1, 1, 1)).hops_farthest
        32
        """
        return sum(size // 2 for size in self.dimensions)

    @property
    def hops_mean(self) -> float:
        """Links on the shortest path to another node, all nodes alike."""
        from_one = sum(sum(min(i, size - i) for i in range(size)) / size for size in self.dimensions)
        return from_one * self.nodes / max(1, self.nodes - 1)


def torus_of(nodes: int, *, ports: int) -> Torus | None:
    """The most cubic torus of exactly so many nodes, with the ports of a node spread over its directions.

    Ports left over widen the longest dimensions, which bisection hangs on. A dimension takes two ports of
    a node, so few ports mean few dimensions; None where a node has not even two. Two nodes in a line are
    joined by the links of both directions.

    Source:
        topo-ocs-torus: 4,096 chips of six links as 16 x 16 x 16, 9,216 as 24 x 24 x 16.

    >>> torus_of(9216, ports=6)
    Torus(dimensions=(24, 24, 16), links=(1, 1, 1))
    >>> torus_of(64, ports=8)
    Torus(dimensions=(4, 4, 4), links=(2, 1, 1))
    """
    most = min(3, ports // LINKS_PER_RING)
    if most < 1 or nodes < 2:
        return None
    sizes = min(
        (found for found in _boxes(nodes) if sum(size > 1 for size in found) <= most),
        key=lambda found: (found[0], sum(found)),
    )
    lines = sum(size > 1 for size in sizes)
    each, wider = divmod(ports // LINKS_PER_RING, lines)
    links = tuple(0 if size == 1 else each + (i < wider) for i, size in enumerate(sizes))
    return Torus(sizes, (links[0], links[1], links[2]))


def _boxes(nodes: int) -> list[tuple[int, int, int]]:
    """All ways to write a count as a product of three, each with the largest first."""
    found = []
    for low in _divisors(nodes):
        if low**3 > nodes:
            break
        rest = nodes // low
        found += [(rest // mid, mid, low) for mid in _divisors(rest) if low <= mid <= rest // mid]
    return found


def _divisors(number: int) -> list[int]:
    small = [i for i in range(1, int(number**0.5) + 1) if number % i == 0]
    return small + [number // i for i in reversed(small) if i * i != number]


@dataclass(frozen=True, slots=True)
class Mesh:
    """Scale-up domains, each joined to every other by equally many links.

    Attributes:
        domains: Domains joined.
        domains_laid_out: Domains that can be joined in the end without moving a cable.
        links_per_pair: Links between two of them.
        nodes_per_domain: Nodes of a domain, over which its links are spread.
    """

    domains: int
    domains_laid_out: int
    links_per_pair: int
    nodes_per_domain: int

    @property
    def all_links(self) -> int:
        """Links of the mesh."""
        return self.domains * (self.domains - 1) // 2 * self.links_per_pair

    @property
    def bisection_links(self) -> int:
        """Links between two halves.

        >>> Mesh(4, 4, 24, 18).bisection_links
        96
        """
        return (self.domains // 2) * (self.domains - self.domains // 2) * self.links_per_pair
