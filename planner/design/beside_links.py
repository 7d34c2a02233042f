"""Cables of the networks beside the fabric: every link with its length and the parts it may be made of."""

from __future__ import annotations

from typing import Any

from planner.catalog.schema import Appliance, Cable, Transceiver
from planner.catalog.store import Catalog, Entry
from planner.design.beside import FABRIC_MANAGER, MANAGEMENT_SERVER, Beside, frontend_nic
from planner.design.beside_wiring import NetworkWiring
from planner.design.cable_choice import TierLinks
from planner.design.joining import Media
from planner.design.lengths import link_tables
from planner.design.media import End, candidates
from planner.design.medium import Cage
from planner.design.rack_parts import RackLayout
from planner.scenario.parts import Parts

COPPER_1G = 1.0
PARTS_BY_RATE: dict[float, tuple[tuple[str, ...], tuple[str, ...]]] = {
    COPPER_1G: (("cat6-1g",), ()),
    100.0: (("dac-100g-5m", "aoc-100g-100m"), ("qsfp28-100g-dr1", "qsfp28-100g-fr1", "qsfp28-100g-lr1")),
    200.0: (("dac-200g-3m", "aoc-200g-100m"), ("qsfp56-200g-fr4", "qsfp56-200g-lr4")),
    400.0: (
        ("dac-400g-2m", "aoc-400g-100m"),
        ("qsfpdd-400g-dr4", "qsfpdd-400g-fr4", "qsfpdd-400g-lr4", "qsfpdd-400g-zr"),
    ),
    800.0: (
        ("dac-800g-2m", "aoc-800g-100m"),
        ("osfp-800g-2xdr4", "osfp-800g-2xfr4", "osfp-800g-2xlr4", "osfp-800g-zr"),
    ),
}
"""Cables, and modules for what they don't reach, by the rate of a link. Each link is one cable of its own: a cage that
is broken out into several is taken to cost what as many cables of the link's rate do."""


def beside_links(
    parts: Parts, made: Beside, layout: RackLayout, networks: tuple[NetworkWiring, ...]
) -> tuple[list[TierLinks], Media]:
    """Links of all networks with their lengths, and the media that reach.

    Copper is used for 1G whatever the scenario says of the others, since there is nothing else.
    """
    found: list[TierLinks] = []
    media: Media = {}
    for name, wirings in networks:
        for wiring, table in zip(wirings, link_tables(wirings, layout), strict=True):
            rate = _rate(made, name, wiring.tier)
            lower, upper = (_end(parts, kind, rate) for kind in (wiring.lower_kind, wiring.upper_kind))
            copper = parts.loaded.scenario.network.copper or rate == COPPER_1G
            ways, bought = candidates(parts.catalog, lower, upper, copper=copper)
            found.append(TierLinks(table, lower.cage, upper.cage, 1, ways))
            media.update({(wiring.tier, key): value for key, value in bought.items()})
    return found, media


def _rate(made: Beside, network: str, tier: str) -> float:
    """Rate of a link, Gbit/s: 1G out of band, an uplink's own, else that of the network."""
    if network == "oob":
        return COPPER_1G
    if tier == "oob-inband":
        return made.uplink_rate_gbit_per_s
    own = made.storage_network if network == "storage" else made.inband
    assert own is not None
    return own.rate_gbit_per_s


def _end(parts: Parts, kind: str, rate: float) -> End:
    """One side of a link, whose cage has the link's rate."""
    catalog = parts.catalog
    listed = next((step for step in PARTS_BY_RATE if step >= rate), max(PARTS_BY_RATE))
    cables, modules = PARTS_BY_RATE[listed]
    fit = tuple(catalog.entry(Transceiver, name) for name in modules)
    lane = catalog.get(Cable, cables[0]).lane_rate_gbit_per_s or listed
    return End(_part(parts, kind), Cage(listed, 1), fit, cables, lane)


def _part(parts: Parts, kind: str) -> Entry[Any]:
    """The box at an end of a link."""
    named: dict[str, Entry[Any] | None] = {
        "node": frontend_nic(parts) or parts.groups[0].server,
        "block": parts.storage,
        "inband": parts.inband,
        "storage": parts.storage_switch,
        "oob": parts.oob,
        **{tier: one.switch for tier, one in zip(("leaf", "spine", "core"), parts.tiers, strict=False)},
    }
    found = named.get(kind.partition("-")[0])
    if found is not None:
        return found
    return _appliance(parts.catalog, kind)


def _appliance(catalog: Catalog, kind: str) -> Entry[Appliance]:
    return catalog.entry(Appliance, FABRIC_MANAGER if kind == "ufm" else MANAGEMENT_SERVER)


def manager_end(parts: Parts, node_end: End) -> End:
    """Fabric side of a manager: the nodes' adapter and modules, with one link in a cage."""
    cage = Cage(node_end.cage.rate_gbit_per_s, 1)
    return End(_appliance(parts.catalog, "ufm"), cage, node_end.modules, None, node_end.lane_rate_gbit_per_s)
