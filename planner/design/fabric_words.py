"""Why a network came out as it did, and why it can't be built, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.choices import Topology
from planner.design.clos import Clos, LeafSplit, groups_max
from planner.design.fabric_parts import FabricDesign, FabricRequest, Tier
from planner.design.leaf_groups import leaf_groups_for, nodes_per_leaf, split_of
from planner.design.ports import refusal
from planner.errors import DesignError

Designer = Callable[[FabricRequest], FabricDesign]


def in_words(
    request: FabricRequest, shape: Clos, split: LeafSplit, groups: int, designer: Designer
) -> tuple[str, ...]:
    """Sentences on leaves, spines, reserved ports, further tiers, planes and growth."""
    told = [_leaves_in_words(request, split, groups), _spines_in_words(shape)]
    if request.reserved_ports and request.grow_to_gpus is None:
        told += _reserved_in_words(request, groups, designer)
    if shape.tiers == 3:
        most = groups_max(
            tiers=2,
            leaves_per_group=request.rails_built,
            spine_radix=request.radix(Tier.SPINE),
            core_radix=0,
        )
        told.append(
            f"Two tiers join {most:,} leaf groups and {groups:,} are needed: "
            f"{len(shape.pods):,} pods meet in a third tier{_taper_in_words(shape)}."
        )
    if shape.links_per_pod_pair:
        told.append(
            f"{len(shape.pods):,} groups of leaves and spines: the spines join each pair of groups with "
            f"{counted(shape.links_per_pod_pair, 'link')}{_taper_in_words(shape)}."
        )
    told += _planes_in_words(request)
    return tuple(told)


def growth_in_words(request: FabricRequest, now: int, final: int) -> tuple[str, ...]:
    """What of the network laid out is there now."""
    if request.grow_to_gpus is None:
        return ()
    return (
        f"Laid out for {request.grow_to_gpus:,} GPUs in {counted(final, 'leaf group')}, of which {now:,} "
        f"{'is' if now == 1 else 'are'} built: leaf groups, and the upper switches of their pods, are added and "
        "no cable moves.",
    )


def _leaves_in_words(request: FabricRequest, split: LeafSplit, groups: int) -> str:
    per_leaf, rails = nodes_per_leaf(request, down=split.down), request.rails_built
    leaves = "one leaf (every NIC of a node on it) serves" if rails == 1 else (
        f"{rails:,} leaves (one for each rail) serve"
    )  # fmt: skip
    return (
        f"A leaf gives {split.down:,} of its {request.radix(Tier.LEAF):,} ports to nodes, so {leaves} "
        f"{per_leaf:,} nodes, and {request.nodes_laid_out:,} nodes take "
        f"{groups:,} such group{'s, the last built whole' if groups > 1 else ', built whole'}."
    )


def _spines_in_words(shape: Clos) -> str:
    return (
        f"{shape.spines_per_pod:,} spines let every leaf reach every spine with "
        f"{counted(shape.links_per_leaf_spine, 'link')}, the fewest that do."
    )


def _taper_in_words(shape: Clos) -> str:
    ratio = shape.spine_oversubscription
    return f", {ratio:.3g} to 1 into it" if ratio > 1.0 else ""


def _planes_in_words(request: FabricRequest) -> list[str]:
    if request.planes == 1:
        return []
    told = (
        f"{request.planes:,} planes give each link {request.link_rate_gbit_per_s:,.0f} Gbit/s of the "
        f"NIC's {request.nic_rate_gbit_per_s:,.0f}, and the switches more ports."
    )
    if request.topology is Topology.DUAL_TOR:
        ends = "two ports are" if request.nic_ports > 1 else "one connector is split: its halves are"
        told += f" A NIC's {ends} on two leaves, and the planes stay apart up to the top."
    return [told]


def _reserved_in_words(request: FabricRequest, groups: int, designer: Designer) -> list[str]:
    """What the ports kept for management cost, and the two ways to save it; nothing where they cost nothing."""
    down, kept = split_of(request).down, request.reserved_ports
    more = groups - leaf_groups_for(request, nodes=request.nodes, down=down, reserved_ports=0)
    if more < 1:
        return []
    fewer = next(
        (
            count
            for count in range(1, request.nodes)
            if leaf_groups_for(request, nodes=request.nodes - count, down=down, reserved_ports=kept) < groups
        ),
        0,
    )
    saved = f"{counted(fewer, 'node')} fewer would save {'one' if more > 1 else 'it'}, and " if fewer else ""
    bare = designer(replace(request, reserved_ports=0))
    leaves = counted(bare.leaves, "leaf" if bare.leaves == 1 else "leave")
    return [
        f"{counted(kept, 'port')} kept for management ask{'s' if kept == 1 else ''} for "
        f"{counted(more, 'more leaf group')}: {saved}reserved_ports: 0 would need "
        f"{leaves} and {counted(bare.spines, 'spine')}."
    ]


def too_large(request: FabricRequest, split: LeafSplit, groups: int, most: int) -> DesignError:
    """The refusal of more endpoints, or leaf groups, than the tiers allowed can join."""
    rail_only = request.topology is Topology.RAIL_ONLY
    dragonfly = request.topology is Topology.DRAGONFLY
    tiers = request.rail_tiers_max if rail_only else request.tiers_max
    needed = request.nodes_laid_out * request.nics_per_node
    needed += request.reserved_ports * (request.rails_built if rail_only else 1)
    what = "a dragonfly" if dragonfly else f"a fabric of {tiers} tiers"
    remedies = [f"{tiers + 1} tiers"] if tiers < 3 and not dragonfly else []
    remedies += [
        f"switches with more ports than {request.radix(Tier.SPINE):,}",
        f"more planes than {request.planes}",
        f"an oversubscription above {request.oversubscription:g}",
    ]
    remedies += [] if rail_only else ["topology rail-only"]
    message = f"{what} needs {needed:,} endpoint ports, has {most:,}"
    if needed <= most:
        per_group = split.down * request.rails_built
        message = f"{what} needs {groups:,} leaf groups, has room for {most // per_group:,}"
    return refusal(message, *remedies)


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "link"), counted(1200, "link")
    ('1 link', '1,200 links')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
