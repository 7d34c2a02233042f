"""How far apart endpoints are in a network, and what one failure takes from them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.choices import Topology
from planner.design.fabric_parts import FabricDesign, Tier


@dataclass(frozen=True, slots=True)
class Hops:
    """Switches on the shortest path between two endpoints; nodes passed through where there are no switches.

    Attributes:
        nearest: To a node on the same leaf, on the same rail where there are rails; to a neighbour in a torus.
        same_pod: To the farthest endpoint of the same pod, or group of a dragonfly.
        farthest: To the farthest endpoint of all.
        through: ``switches`` or ``nodes``: what is counted.
    """

    nearest: int
    same_pod: int
    farthest: int
    through: str = "switches"


def hops(design: FabricDesign) -> Hops:
    """Hops of the network; across rails without a spine the way goes over the scale-up link.

    Source:
        topo-rail (1 switch on the same rail of a scalable unit, 3 across).

    >>> from planner.design.fabric import FabricRequest, SwitchPorts, design_fabric
    >>> hops(design_fabric(FabricRequest(gpus=4096, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=SwitchPorts("s", 64, 400.0, 1))))
    Hops(nearest=1, same_pod=3, farthest=5, through='switches')
    """
    shape = design.shape
    if design.torus is not None:
        far = design.torus.hops_farthest - 1
        return Hops(0, far, far, "nodes")
    if not design.leaves:
        return Hops(0, 0, 0, "nodes")
    if shape is None:
        far = 2 if design.lateral_links else 1
        return Hops(1, far, far)
    inside = 3 if shape.spines else 1
    if shape.tiers == 3:
        return Hops(1, inside, 5)
    # a spine of each end's group holds the link between two groups of a dragonfly
    return Hops(1, inside, 4 if shape.links_per_pod_pair else inside)


@dataclass(frozen=True, slots=True)
class Blast:
    """What the failure of one element takes away.

    Attributes:
        element: What fails.
        count: How many of it there are.
        gpus: GPUs that lose a path.
        lost_fraction: Share they lose of the bandwidth named by `between`; 1 cuts them off.
        between: Whose bandwidth: of a node, between leaves, between pods.
    """

    element: str
    count: int
    gpus: int
    lost_fraction: float
    between: str


def blast_radius(design: FabricDesign) -> tuple[Blast, ...]:
    """One row for each kind of element, from a node's link up to a plane.

    Source:
        topo-twin-plane (a lost plane of two leaves half the bandwidth); the rest is counted.

    >>> from planner.design.fabric import FabricRequest, SwitchPorts, design_fabric
    >>> built = design_fabric(FabricRequest(gpus=512, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=SwitchPorts("s", 64, 400.0, 1)))
    >>> [(row.element, row.gpus, row.lost_fraction) for row in blast_radius(built)]
    [('node link', 8, 0.125), ('leaf', 256, 0.125), ('leaf uplink', 256, 0.00390625), ('spine', 512, 0.125)]
    """
    if not design.leaves:
        return _without_switches(design)
    return (*_of_nodes(design), *_of_spines(design), *_of_tops(design))


def _gpus(design: FabricDesign) -> int:
    return design.nodes * design.request.gpus_per_node


def _without_switches(design: FabricDesign) -> tuple[Blast, ...]:
    request = design.request
    if not design.lateral_links:
        return ()
    if design.torus is not None:
        used, per_node = design.torus.ports_used, request.gpus_per_node
        widest = max(design.torus.links)
        return (
            Blast("node link", design.lateral_links, 2 * per_node, 1 / used, "of a node"),
            Blast("node", design.nodes, design.torus.neighbours * per_node, widest / used, "of a neighbour"),
        )
    assert design.mesh is not None
    each = design.mesh.links_per_pair
    gpus = 2 * min(_gpus(design), design.mesh.nodes_per_domain * request.gpus_per_node)
    return (Blast("domain link", design.lateral_links, gpus, 1 / each, "between two domains"),)


def _of_nodes(design: FabricDesign) -> list[Blast]:
    request = design.request
    links = request.links_per_node
    found = [
        Blast("node link", design.node_leaf_links, request.gpus_per_node, 1 / links, "of a node"),
    ]
    if design.node_leaf_cables < design.node_leaf_links:
        lost = design.node_leaf_links / design.node_leaf_cables / links
        found.append(Blast("node cable", design.node_leaf_cables, request.gpus_per_node, lost, "of a node"))
    leaves = design.leaves_per_group * design.planes
    found.append(Blast("leaf", design.leaves, design.gpus_per_leaf, 1 / leaves, "of a node"))
    if design.lateral_tier is Tier.LEAF:
        each = design.lateral_links // design.planes
        found.append(
            Blast("link between leaves", design.lateral_links, _gpus(design), 1 / each, "between leaves")
        )
    return found


def _of_spines(design: FabricDesign) -> list[Blast]:
    shape = design.shape
    if shape is None:
        return []
    rail_only = design.topology is Topology.RAIL_ONLY
    leaves = design.leaves_per_group * design.planes
    ways = shape.spines_per_pod * design.planes * (design.leaves_per_group if rail_only else 1)
    pod_gpus = design.nodes_per_pod * design.request.gpus_per_node
    return [
        Blast(
            "leaf uplink", design.leaf_spine_links, design.gpus_per_leaf,
            1 / (design.uplinks_per_leaf * leaves), "between leaves",
        ),
        Blast("spine", design.spines, pod_gpus, 1 / ways, "between leaves"),
    ]  # fmt: skip


def _of_tops(design: FabricDesign) -> list[Blast]:
    """Cores, links between pods, and planes."""
    found: list[Blast] = []
    shape, gpus = design.shape, _gpus(design)
    pod_gpus = design.nodes_per_pod * design.request.gpus_per_node
    if design.cores and shape is not None:
        leaving = shape.uplinks_per_spine[0] * shape.spines_per_pod * design.networks
        found += [
            Blast("spine uplink", design.spine_core_links, pod_gpus, 1 / leaving, "between pods"),
            Blast("core", design.cores, gpus, 1 / design.cores, "between pods"),
        ]
    if shape is not None and shape.links_per_pod_pair:
        pair = shape.links_per_pod_pair * design.networks
        two = min(gpus, 2 * pod_gpus)
        found.append(Blast("link between groups", design.lateral_links, two, 1 / pair, "between two groups"))
    if design.planes > 1:
        found.append(Blast("plane", design.planes, gpus, 1 / design.planes, "of a node"))
    return found
