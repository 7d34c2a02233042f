"""What a network without switches leaves of the NICs' rate, by kind of traffic."""

from __future__ import annotations

from dataclasses import dataclass

from planner.design.fabric_parts import FabricDesign
from planner.design.meshes import Mesh, Torus


@dataclass(frozen=True, slots=True)
class Spread:
    """Shares of the NICs' rate, and nodes passed through; whole and none where switches join all.

    Attributes:
        ring_fraction: For reductions and gathers, spread over all directions or over rings of different order.
        exchange_fraction: For an all-to-all, where every pair sends alike.
        neighbour_fraction: For a send from one node, or domain, to one other.
        exchange_nodes_through: Nodes that a message of an all-to-all passes through, on average.
    """

    ring_fraction: float = 1.0
    exchange_fraction: float = 1.0
    neighbour_fraction: float = 1.0
    exchange_nodes_through: float = 0.0


def spread(design: FabricDesign) -> Spread | None:
    """The shares of a design; None where it has switches or no network."""
    if design.torus is not None:
        return torus_spread(design.torus, ports=design.request.links_per_node)
    if design.mesh is not None:
        ports = design.mesh.nodes_per_domain * design.request.links_per_node
        return mesh_spread(design.mesh, ports=ports)
    return None


def torus_spread(torus: Torus, *, ports: int) -> Spread:
    """Shares in a torus whose nodes have so many ports.

    A reduction runs in all directions at once, each taking its part of the buffer. An all-to-all puts half of
    its traffic over the middle in N/2 (N/2) / (N - 1) parts a node's rate, which the bisection has to carry.
    Nodes forward what isn't for them without loss of rate: what that takes of their memory isn't modelled.

    Source:
        Counted; topo-ocs-torus for the shape.

    >>> found = torus_spread(Torus((4, 4, 4), (1, 1, 1)), ports=6)
    >>> found.ring_fraction, found.exchange_fraction, round(found.neighbour_fraction, 3)
    (1.0, 0.328125, 0.167)
    """
    nodes = torus.nodes
    used = torus.ports_used / ports
    middle = 4.0 * torus.bisection_links * (nodes - 1) / nodes**2 / ports
    neighbour = max(
        links * (2 if size == 2 else 1) for size, links in zip(torus.dimensions, torus.links, strict=True)
    )
    return Spread(used, min(used, middle), neighbour / ports, max(0.0, torus.hops_mean - 1.0))


def mesh_spread(mesh: Mesh, *, ports: int) -> Spread:
    """Shares among domains joined each to each, a domain having so many ports.

    A complete graph of an odd number of domains falls into rings that use every link; of an even number
    one link of each domain is left over.

    Source:
        Counted: (d - 1)/2 rings for odd d and (d - 2)/2 for even d (Walecki's decomposition).

    >>> mesh_spread(Mesh(4, 4, 24, 18), ports=72)
    Spread(ring_fraction=0.6666666666666666, exchange_fraction=1.0, neighbour_fraction=0.3333333333333333, exchange_nodes_through=0.0)
    """
    peers = mesh.domains - 1
    used = mesh.links_per_pair * peers / ports
    in_rings = (peers - 1) / peers if peers > 1 and mesh.domains % 2 == 0 else 1.0
    return Spread(used * in_rings, used, mesh.links_per_pair / ports)
