"""What a network architect asks of a design, as ledger lines: hops, blast radius, free ports, largest sizes."""

from __future__ import annotations

from collections.abc import Sequence

from planner.design.cluster import Cluster
from planner.design.fabric import design_fabric
from planner.design.fabric_parts import FabricDesign
from planner.design.growth import largest_gpus, room_to_grow
from planner.design.reach import blast_radius, hops
from planner.ledger import Ledger, Line
from planner.scenario.givens import wish_line


def wished_fabric(ledger: Ledger, cluster: Cluster) -> list[Line]:
    """Given lines of what the scenario asks of the network beyond its leaves, where it asks for something."""
    loaded, request = cluster.parts.loaded, cluster.fabric.request
    network = loaded.scenario.network
    found: list[Line] = []
    for name, label, value, wished in (
        ("planes", "Planes of the fabric", request.planes, network.planes > 1),
        ("rails", "Rails of a node", request.rails_built, network.rails is not None),
        ("grow_to_gpus", "GPUs the fabric is laid out for", request.grow_to_gpus or 0,
         network.grow_to_gpus is not None),
    ):  # fmt: skip
        if wished:
            found.append(wish_line(ledger, loaded, f"network.{name}", label, "1", value, "network", name))
    if network.spine.oversubscription > 1.0:
        found.append(
            wish_line(
                ledger, loaded, "network.spine.oversubscription", "Spine oversubscription", "1",
                network.spine.oversubscription, "network", "spine", "oversubscription",
            )
        )  # fmt: skip
    return found


def enter_fabric(ledger: Ledger, fabric: FabricDesign, inputs: Sequence[Line]) -> None:
    """Enter ratios, ports, hops, room to grow and the blast radius of a network; nothing where there is none."""
    if not fabric.links:
        return
    why = " ".join(fabric.why)
    for key, label, value in (
        (
            "spine_oversubscription",
            "Links of a pod down over those that leave it",
            fabric.spine_oversubscription,
        ),
        ("cables", "Cables of the compute fabric", fabric.cables),
        ("ports_used", "Switch ports used", sum(tier.used for tier in fabric.tier_ports)),
        ("ports_free", "Switch ports free", sum(tier.free for tier in fabric.tier_ports)),
    ):
        ledger.compute(
            f"design.fabric.{key}", label, "1", value, function=design_fabric, inputs=inputs, note=why
        )
    _enter_hops(ledger, fabric, inputs)
    _enter_sizes(ledger, fabric, inputs)
    _enter_blast(ledger, fabric, inputs)


def _enter_hops(ledger: Ledger, fabric: FabricDesign, inputs: Sequence[Line]) -> None:
    found = hops(fabric)
    note = f"{found.through} on the shortest path"
    where = "same rail and leaf" if fabric.leaves else "neighbour"
    for key, label, value in (
        ("hops_nearest", f"Hops, {where}", found.nearest),
        ("hops_same_pod", "Hops, farthest of the same pod", found.same_pod),
        ("hops_farthest", "Hops, farthest", found.farthest),
    ):
        ledger.compute(f"design.fabric.{key}", label, "1", value, function=hops, inputs=inputs, note=note)


def _enter_sizes(ledger: Ledger, fabric: FabricDesign, inputs: Sequence[Line]) -> None:
    room = room_to_grow(fabric)
    for key, label, value in (
        ("room_leaf_gpus", "GPUs that the leaves there still take", room.leaf_gpus),
        ("room_tier_gpus", "GPUs that may be added with no cable moved", room.tier_gpus),
        ("room_topology_gpus", "GPUs that as many tiers could take beyond these", room.topology_gpus),
    ):
        if value is not None:
            ledger.compute(
                f"design.fabric.{key}", label, "1", value, function=room_to_grow, inputs=inputs,
                note="from the free ports of every tier",
            )  # fmt: skip
    for tiers, name in ((2, "two"), (3, "three")):
        most = largest_gpus(fabric.request, tiers=tiers)
        if most is not None:
            ledger.compute(
                f"design.fabric.largest_{name}_tiers_gpus", f"Most GPUs of these switches in {name} tiers", "1",
                most, function=largest_gpus, inputs=inputs, note="by the ports of each tier at the link's rate",
            )  # fmt: skip


def _enter_blast(ledger: Ledger, fabric: FabricDesign, inputs: Sequence[Line]) -> None:
    for row in blast_radius(fabric):
        slug = row.element.replace(" ", "_")
        ledger.compute(
            f"design.fabric.blast.{slug}_gpus", f"GPUs touched by a failed {row.element}", "1", row.gpus,
            function=blast_radius, inputs=inputs, note=f"one of {row.count:,}",
        )  # fmt: skip
        ledger.compute(
            f"design.fabric.blast.{slug}_lost_fraction", f"Bandwidth lost with a {row.element}", "fraction",
            row.lost_fraction, function=blast_radius, inputs=inputs, note=f"of the bandwidth {row.between}",
        )  # fmt: skip
