"""Switches beside the fabric that the network they are named for can't be built on."""

from __future__ import annotations

from collections.abc import Iterator

from planner.catalog.schema import Fabric, Switch
from planner.errors import Problem, Remedy
from planner.scenario.network import Network
from planner.scenario.parts import Parts

CONSOLE_RATE_GBIT_PER_S = 1.0
"""Rate of a management port, over copper pairs (see `planner.design.beside_links`)."""


def wrong_switches(parts: Parts) -> tuple[Problem, ...]:
    """Out-of-band switches without ports for consoles, and in-band ones that don't speak Ethernet."""
    return (*_without_consoles(parts), *_not_ethernet(parts))


def takes_consoles(switch: Switch) -> bool:
    """Whether its cages are ports of 1 Gbit/s, which a management port's copper goes into.

    A cage of 25 Gbit/s or more takes no such cable, however many of them there are.
    """
    return switch.cage_rate_gbit_per_s <= CONSOLE_RATE_GBIT_PER_S


def _without_consoles(parts: Parts) -> Iterator[Problem]:
    if parts.oob is None or takes_consoles(parts.oob.item):
        return
    item, usual = parts.oob.item, Network.model_fields["oob"].default
    yield Problem(
        f"'{item.id}' has ports of {item.cage_rate_gbit_per_s:,.0f} Gbit/s, and management ports are of "
        f"{CONSOLE_RATE_GBIT_PER_S:g} Gbit/s over copper pairs",
        parts.loaded.document.place(("network", "oob")),
        "network.oob",
        remedies=(
            Remedy(f"switch {usual}", ("network", "oob"), usual),
            Remedy("no out-of-band network", ("network", "oob"), None),
        ),
    )


def _not_ethernet(parts: Parts) -> Iterator[Problem]:
    if parts.inband is None or parts.inband.item.fabric is Fabric.ETHERNET:
        return
    item, usual = parts.inband.item, Network.model_fields["inband"].default
    yield Problem(
        f"'{item.id}' speaks {item.fabric}, and the in-band network is Ethernet",
        parts.loaded.document.place(("network", "inband")),
        "network.inband",
        remedies=(Remedy(f"switch {usual}", ("network", "inband"), usual),),
    )
