"""What of the network is bought in which phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planner.design.fabric import FabricDesign, leaf_groups_for
from planner.design.ports import refusal


@dataclass(frozen=True, slots=True)
class Phase:
    """GPUs that come into service together."""

    id: str
    in_service: date
    gpus: int


@dataclass(frozen=True, slots=True)
class FabricPhase:
    """The part of the network that comes with one phase; the parts add up to the design."""

    id: str
    in_service: date
    gpus: int
    nodes: int
    leaves: int
    spines: int
    cores: int
    node_leaf_links: int
    node_leaf_cables: int
    reserved_links: int
    leaf_spine_links: int
    leaf_spine_cables: int
    spine_core_links: int
    spine_core_cables: int
    lateral_links: int
    lateral_cables: int


def fabric_phases(design: FabricDesign, phases: Sequence[Phase]) -> tuple[FabricPhase, ...]:
    """Split a design over phases, in the order of their dates.

    Spines and cores of the final size, the links between them, those between the groups of a dragonfly and
    the management links come with the first phase, so that growing needs no recabling; leaves and their
    links come with their servers. `growth_stages` says what the least is that each stage needs.

    Raises:
        DesignError: The phases' GPUs don't add up to the design's, or a phase splits a node.
    """
    ordered = sorted(phases, key=lambda phase: phase.in_service)
    total = sum(phase.gpus for phase in ordered)
    if total != design.request.gpus:
        raise refusal(
            f"phases need {design.request.gpus:,} GPUs together, have {total:,}",
            f"phases that add up to {design.request.gpus:,} GPUs",
            key="phases",
        )
    found, before, gpus = [], _built(design, 0), 0
    for phase in ordered:
        gpus += phase.gpus
        if gpus % design.request.gpus_per_node and gpus != total:
            raise refusal(
                f"phase {phase.id} needs whole nodes of {design.request.gpus_per_node:,} GPUs, "
                f"ends at {gpus:,} GPUs",
                "phases of whole nodes",
                key="phases",
            )
        after = _built(design, gpus)
        parts = (now - earlier for now, earlier in zip(after, before, strict=True))
        found.append(FabricPhase(phase.id, phase.in_service, phase.gpus, *parts))
        before = after
    return tuple(found)


def _built(design: FabricDesign, gpus: int) -> tuple[int, ...]:
    """Everything in place once so many GPUs are in service, in the order of `FabricPhase`'s counts."""
    if gpus == 0:
        return (0,) * 13
    request = design.request
    nodes = -(-gpus // request.gpus_per_node)
    groups = _groups(design, nodes)
    leaf_spine = groups * design.leaves_per_group * request.planes * design.uplinks_per_leaf
    return (
        nodes,
        groups * design.leaves_per_group * request.planes,
        design.spines,
        design.cores,
        design.node_leaf_links * nodes // design.nodes,
        design.node_leaf_cables * nodes // design.nodes,
        design.reserved_links,
        leaf_spine,
        -(-design.leaf_spine_cables * leaf_spine // max(1, design.leaf_spine_links)),
        design.spine_core_links,
        design.spine_core_cables,
        design.lateral_links,
        design.lateral_cables,
    )


def _groups(design: FabricDesign, nodes: int) -> int:
    if design.leaf_groups <= 1 or nodes == design.nodes:
        return design.leaf_groups
    reserved = design.request.reserved_ports * design.networks // design.request.planes
    needed = leaf_groups_for(
        design.request, nodes=nodes, down=design.leaf_down_ports, reserved_ports=reserved
    )
    return min(design.leaf_groups, needed)
