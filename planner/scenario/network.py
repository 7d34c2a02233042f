"""What a user may ask of the networks: topology, tiers, storage."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.choices import Topology
from planner.scenario.fields import Count, Id, Strict


class Tier(Strict):
    """One tier of the fabric."""

    switch: Id | None = None
    """Switch of this tier, an item of the catalog; the tier below's by default."""
    optic: Id | None = None
    """Optical module on its ports; the cheapest that fits and reaches by default."""


class RatedTier(Tier):
    """A tier that may have more bandwidth down than up."""

    oversubscription: Annotated[float, Field(ge=1, le=64, allow_inf_nan=False, strict=True)] = 1.0
    """Bandwidth down over bandwidth up: 1 is non-blocking."""


class StorageWish(Strict):
    """Storage for datasets and checkpoints."""

    system: Id
    """Storage building block, an item of the catalog."""
    count: Count | None = None
    """Building blocks; by default what checkpoints, loading and datasets of the workloads need, 1 at least."""
    switch: Id | None = None
    """Switch of a storage network of its own; by default storage is on the in-band network."""


class Network(Strict):
    """The scale-out fabric."""

    topology: Topology = Topology.RAIL_OPTIMISED
    """rail-optimised (a leaf set for each rail, joined by spines), fat-tree (all NICs of a node on one leaf),
    rail-only (no spine), dual-tor (every NIC on two leaves, two planes), dragonfly (groups of leaves and spines,
    every group joined to every other), torus (servers joined in three dimensions, no switch), direct (scale-up
    domains joined to each other without a switch), single-switch (refused where one doesn't reach) or none
    (one server)."""
    planes: Annotated[int, Field(ge=1, le=8, strict=True)] = 1
    """Independent copies of the fabric that each NIC is split over; 2 in a dual-tor, and without switches the
    links that each NIC is split into."""
    rails: Annotated[int, Field(ge=1, le=64, strict=True)] | None = None
    """Leaf sets a node is spread over; a NIC for each by default, 1 in a fat-tree."""
    grow_to_gpus: Count | None = None
    """GPUs the fabric is laid out for: what is built now grows to so many with no cable moved."""
    reserved_ports: Annotated[int, Field(ge=0, le=64, strict=True)] | None = None
    """Endpoint ports kept for a subnet manager; 4 on InfiniBand by default, 0 on Ethernet."""
    behaviour: Id | None = None
    """How the fabric balances load, an item of fabrics; by link protocol by default."""
    nic: Id | None = None
    """Network adapter; the server's own by default."""
    endpoint_optic: Id | None = None
    """Optical module on the NIC's port; the cheapest that fits by default."""
    copper: Annotated[bool, Field(strict=True)] = True
    """Use copper where it reaches."""
    leaf: RatedTier = RatedTier()
    """First tier, where NICs connect."""
    spine: RatedTier = RatedTier()
    """Second tier; its oversubscription counts below a third tier, and between the groups of a dragonfly."""
    core: Tier = Tier()
    """Third tier."""
    storage: StorageWish | None = None
    """Storage systems; none by default."""
    inband: Id | None = "sn4700"
    """Switch of the in-band network, which carries storage that has no switch of its own; null for none."""
    oob: Id | None = "sn2201"
    """Switch of the out-of-band network; null for none."""
