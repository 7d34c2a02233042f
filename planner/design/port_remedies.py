"""Changes of the network, or of what it joins, under which its ports suffice."""

from __future__ import annotations

from collections.abc import Iterator

from planner.catalog.store import Catalog
from planner.choices import Topology
from planner.design.cluster import fabric_of
from planner.errors import DesignError, Remedy, ScenarioError
from planner.scenario.alternatives import beside, link_rate_gbit_per_s, ports_of, switches
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import (
    applied,
    settled,
    to_gpus,
    to_oversubscription,
    to_planes,
    to_switch,
    to_topology,
)

TOPOLOGIES = (
    Topology.RAIL_OPTIMISED, Topology.FAT_TREE, Topology.RAIL_ONLY, Topology.DUAL_TOR, Topology.DRAGONFLY,
)  # fmt: skip
"""Topologies of switches that are tried, the commonest first."""
RATIOS = (2, 4)
"""Oversubscriptions of the leaves that are tried; beyond, collectives wait for the uplinks."""
PLANES = (1, 2, 4, 8)
MOST_SWITCHES = 3
"""Switches that are named; those with more ports than these cost more."""


def port_remedies(parts: Parts) -> tuple[Remedy, ...]:
    """Every single change under which the fabric can be built, fewer GPUs last; empty where none does.

    Each was tried on the fabric's designer. Whether the rest of the plan holds is for an evaluation to say.
    """
    shelf = beside(parts.catalog)
    found = [one for one in _changes(parts) if _builds(parts, shelf, one)]
    larger = 0
    for remedy in _switches(parts, shelf):
        if larger < MOST_SWITCHES and _builds(parts, shelf, remedy):
            found.append(remedy)
            larger += 1
    fewer = _most_gpus(parts, shelf)
    return (*found, *([fewer] if fewer is not None else []))


def _changes(parts: Parts) -> Iterator[Remedy]:
    """Changes of the network's fields, of those that differ from what is asked."""
    network = parts.loaded.scenario.network
    for topology in TOPOLOGIES:
        if topology is not network.topology:
            yield to_topology(topology)
    for ratio in RATIOS:
        if ratio > network.leaf.oversubscription:
            yield to_oversubscription(ratio)
    for planes in PLANES:
        if planes != network.planes:
            yield to_planes(planes)
    if network.rails is not None:
        yield Remedy("rails by the topology", ("network", "rails"), None)
    if network.grow_to_gpus is not None:
        yield Remedy("no growth laid out", ("network", "grow_to_gpus"), None)
    if network.reserved_ports:
        yield Remedy("no reserved ports", ("network", "reserved_ports"), 0)


def _switches(parts: Parts, shelf: Catalog) -> Iterator[Remedy]:
    rate = link_rate_gbit_per_s(parts)
    for switch in switches(shelf, parts):
        yield to_switch(switch.id, parts, said=f"{ports_of(switch, rate):,} ports of {rate:,.0f} Gbit/s")


def _builds(parts: Parts, shelf: Catalog, remedy: Remedy) -> bool:
    """Whether the fabric can be designed with a change."""
    try:
        fabric_of(resolve(applied(parts.loaded, settled(remedy, parts)), shelf))
    except (DesignError, ScenarioError):
        return False
    return True


def _most_gpus(parts: Parts, shelf: Catalog) -> Remedy | None:
    """The largest number of GPUs, to a server in every group, for which the fabric can be built.

    Found by halving; where a larger number divides better than a smaller one, it may miss the largest by a few.
    """
    step = sum(group.server.item.gpus for group in parts.groups)
    fits, fails = 0, -(-parts.gpus // step)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        remedy = settled(to_gpus(middle * step), parts)
        if remedy.edits and _builds(parts, shelf, remedy):
            fits = middle
        else:
            fails = middle
    return settled(to_gpus(fits * step), parts) if fits else None
