"""Links between items of one kind, port by port: torus, domains, groups of a dragonfly, a pair of leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.design.clos import leaf_split
from planner.design.fabric_parts import FabricDesign, Tier
from planner.design.meshes import Mesh, Torus

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PortPairs:
    """Links one by one: port `lower_port[i]` of item `lower[i]` to port `upper_port[i]` of item `upper[i]`."""

    lower: Ints
    lower_port: Ints
    upper: Ints
    upper_port: Ints


def lateral_pairs(design: FabricDesign) -> PortPairs:
    """Links of `design.lateral_tier`, the item with the lower number first.

    >>> from planner.design.fabric import FabricRequest, SwitchPorts, Topology, design_fabric
    >>> ring = design_fabric(FabricRequest(gpus=32, gpus_per_node=8, nics_per_node=2,
    ...     nic_rate_gbit_per_s=400.0, leaf=SwitchPorts("none", 1, 400.0, 1), topology=Topology.TORUS))
    >>> pairs = lateral_pairs(ring)
    >>> [(int(a), int(b)) for a, b in zip(pairs.lower, pairs.upper)]
    [(0, 2), (0, 1), (2, 3), (1, 3)]
    """
    if design.torus is not None:
        found = _torus(design.torus)
    elif design.mesh is not None:
        found = _mesh(design.mesh, design.nodes)
    elif design.lateral_tier is Tier.LEAF:
        found = _pair(design)
    else:
        found = _pods(design)
    turned = found.lower > found.upper
    return PortPairs(
        np.where(turned, found.upper, found.lower),
        np.where(turned, found.upper_port, found.lower_port),
        np.where(turned, found.lower, found.upper),
        np.where(turned, found.lower_port, found.upper_port),
    )


def _torus(torus: Torus) -> PortPairs:
    """A node's ports are in the order (dimension, to the next then to the one before, copy).

    Rings are folded: nodes are numbered along the floor, and a ring goes out over every second of them and back
    over the others, so that no link spans a whole dimension.
    """
    nodes = np.arange(torus.nodes)
    grid = nodes.reshape(torus.dimensions)
    parts, first = [], 0
    for axis, width in enumerate(torus.links):
        beyond = np.take(grid, _next_in_ring(torus.dimensions[axis]), axis=axis).ravel()
        copy = np.tile(np.arange(width), torus.nodes)
        parts.append(
            (np.repeat(nodes, width), first + copy, np.repeat(beyond, width), first + width + copy),
        )
        first += 2 * width
    return PortPairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _next_in_ring(size: int) -> Ints:
    """Place that follows each place of a folded ring.

    >>> _next_in_ring(6).tolist()
    [2, 0, 4, 1, 5, 3]
    """
    ring = np.concatenate([np.arange(0, size, 2), np.arange(1, size, 2)[::-1]])
    found = np.empty(size, np.int64)
    found[ring] = np.roll(ring, -1)
    return found


def _mesh(mesh: Mesh, nodes: int) -> PortPairs:
    """The links of a domain, counted peer by peer, go round its nodes; a smaller last domain has fewer of them."""
    left, right = np.triu_indices(mesh.domains, k=1)
    copy = np.tile(np.arange(mesh.links_per_pair), len(left))
    left, right = np.repeat(left, mesh.links_per_pair), np.repeat(right, mesh.links_per_pair)

    def end(own: Ints, peer: Ints) -> tuple[Ints, Ints]:
        index = np.where(peer < own, peer, peer - 1) * mesh.links_per_pair + copy
        size = np.minimum(mesh.nodes_per_domain, nodes - own * mesh.nodes_per_domain)
        return own * mesh.nodes_per_domain + index % size, index // size

    return PortPairs(*end(left, right), *end(right, left))


def _pods(design: FabricDesign) -> PortPairs:
    """The links of a pod, counted peer by peer, go round its spines above their ports down."""
    shape, request = design.shape, design.request
    assert shape is not None
    down = leaf_split(
        radix=request.radix(Tier.SPINE), oversubscription=request.spine_oversubscription
    ).down  # fmt: skip
    each, spines = shape.links_per_pod_pair, shape.spines_per_pod
    left, right = np.triu_indices(len(shape.pods), k=1)
    networks = np.repeat(np.arange(design.networks), len(left) * each)
    copy = np.tile(np.arange(each), len(left) * design.networks)
    left = np.tile(np.repeat(left, each), design.networks)
    right = np.tile(np.repeat(right, each), design.networks)

    def end(own: Ints, peer: Ints) -> tuple[Ints, Ints]:
        index = np.where(peer < own, peer, peer - 1) * each + copy
        spine = (own * design.networks + networks) * spines + index % spines
        return spine, down + index // spines

    return PortPairs(*end(left, right), *end(right, left))


def _pair(design: FabricDesign) -> PortPairs:
    """Link k of a plane joins port k above the nodes' ports of its two leaves."""
    each = design.lateral_links // design.planes
    plane = np.repeat(np.arange(design.planes), each)
    port = design.leaf_down_ports + np.tile(np.arange(each), design.planes)
    return PortPairs(2 * plane, port, 2 * plane + 1, port)
