"""Networks whose items are joined to their like: nodes in a torus, scale-up domains, a pair of switches."""

from __future__ import annotations

from dataclasses import replace

from planner.choices import Topology
from planner.design.fabric_build import assembled, tier_ports, without_switches
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier
from planner.design.meshes import Mesh, torus_of
from planner.design.ports import refusal

PAIR = 2
"""Switches of a pair."""


def joined_torus(request: FabricRequest) -> FabricDesign:
    """Nodes in a torus of three dimensions, closed in each.

    Raises:
        DesignError: A node has fewer than two links, or the torus is asked to grow.
    """
    if request.grow_to_gpus is not None and request.grow_to_gpus > request.gpus:
        raise refusal(
            "a torus can't grow without moving the cables that close its rings",
            "no grow_to_gpus",
            "topology dragonfly or rail-optimised",
            key="network.grow_to_gpus",
        )
    _no_reserved(request)
    torus = torus_of(request.nodes, ports=request.links_per_node)
    if torus is None:
        raise refusal(
            f"a torus needs 2 links or more of each node, it has {request.links_per_node:,}",
            "a server with more NICs",
            "more planes, which split each NIC into more links",
            "topology rail-optimised",
            key="network.topology",
        )
    sizes = " x ".join(f"{size:,}" for size in torus.dimensions)
    *widths, last = [str(links) for links in torus.links if links]
    links = f"{', '.join(widths)} and {last}" if widths else last
    why = [
        f"{request.nodes:,} nodes stand in a torus of {sizes}, {links} of a node's {request.links_per_node:,} "
        "links to either side in each dimension; what isn't for a neighbour passes through nodes, which must "
        "forward it.",
    ]
    if torus.dimensions[0] > 2 * max(2.0, request.nodes ** (1.0 / 3.0)):
        why.append(
            f"{request.nodes:,} nodes have no factors near their cube root or a node has too few links for three "
            "dimensions: another count of nodes would make shorter rings."
        )
    built = without_switches(
        request, Topology.TORUS, why=tuple(why), links=torus.all_links, bisection_links=torus.bisection_links
    )
    return replace(built, torus=torus)


def joined_directly(request: FabricRequest) -> FabricDesign:
    """Every scale-up domain joined to every other by equally many links, without a switch.

    Raises:
        DesignError: A domain has fewer links than peers, or stages that split a domain.
    """
    _no_reserved(request)
    domain = max(request.scaleup_domain_gpus or 0, request.gpus_per_node)
    final_gpus = max(request.gpus, request.grow_to_gpus or 0)
    if request.grow_to_gpus is not None and (request.gpus % domain or final_gpus % domain):
        raise refusal(
            f"domains joined directly grow by whole domains of {domain:,} GPUs",
            f"{-(-request.gpus // domain) * domain:,} GPUs now and {-(-final_gpus // domain) * domain:,} in the end",
            key="network.grow_to_gpus",
        )
    final = -(-final_gpus // domain)
    smallest = (final_gpus - (final - 1) * domain) // request.gpus_per_node
    ports = smallest * request.links_per_node
    each = ports // (final - 1)
    if each < 1:
        raise refusal(
            f"a domain needs {final - 1:,} links to reach every other, it has {ports:,}",
            f"{(ports + 1) * domain:,} GPUs or fewer",
            "more planes, which split each NIC into more links",
            "topology rail-optimised",
            key="network.topology",
        )
    nodes = domain // request.gpus_per_node
    mesh = Mesh(-(-request.gpus // domain), final, each, nodes)
    why = (
        f"{mesh.domains:,} scale-up domains of {domain:,} GPUs are joined each to each by {each:,} links: "
        f"{each * (final - 1):,} of a domain's {nodes * request.links_per_node:,}.",
    )
    built = without_switches(
        request, Topology.DIRECT, why=why, links=mesh.all_links, bisection_links=mesh.bisection_links
    )
    return replace(built, mesh=mesh)


def joined_pair(request: FabricRequest) -> FabricDesign:
    """Two switches where one would do, with half of every node's NICs on each.

    As many links join them as each has from nodes, so that NICs of different halves reach each other at
    their full rate. The pair stands side by side, so a cable between them joins whole cages.

    Source:
        basepod-4-8 of the fabric reference counts (two QM9700 with 8 or 16 twin cables between them).
    """
    if request.nics_per_node % PAIR:
        raise refusal(
            f"{request.nics_per_node:,} NICs of a node can't be halved between two switches",
            "one switch",
            key="network.rails",
        )
    radix, planes = request.radix(Tier.LEAF), request.planes
    down = request.nodes_laid_out * request.nics_per_node // PAIR
    kept = -(-request.reserved_ports // PAIR)
    if 2 * down + kept > radix:
        raise refusal(
            f"a switch of a pair needs {2 * down + kept:,} ports, half of them to the other, has {radix:,}",
            "two tiers (topology rail-optimised)",
            "fewer GPUs",
            "fewer reserved ports",
        )
    halves = replace(request, rails=PAIR)
    between = down * planes
    why = (
        f"Two switches have {down:,} ports of nodes each, and {down:,} links join them: a node keeps half its "
        "bandwidth when one fails.",
    )
    built = assembled(
        halves, Topology.SINGLE_SWITCH, None, down=radix - down, groups=1, per_group=PAIR, why=why
    )
    rate = request.link_rate_gbit_per_s
    below = built.node_leaf_links + built.reserved_links
    return replace(
        built,
        lateral_tier=Tier.LEAF,
        lateral_links=between,
        lateral_cables=-(-between // request.leaf.links_per_cage(rate)),
        tier_ports=tier_ports(request, (built.leaves, 0, 0), (below, 0, 0), (between, 0)),
    )


def _no_reserved(request: FabricRequest) -> None:
    if request.reserved_ports:
        raise refusal(
            f"{request.reserved_ports:,} ports are to be kept for management, and without a switch there are none",
            "reserved_ports: 0",
            "a topology with switches",
            key="network.reserved_ports",
        )
