"""Joins a network's items on the floor: lengths from the racks, media from the catalog, ready to be planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner.catalog.store import Catalog
from planner.design.cable_choice import TierLinks
from planner.design.lateral_wiring import PortPairs
from planner.design.lengths import link_tables
from planner.design.media import Bought, End, candidates
from planner.design.rack_parts import RackLayout
from planner.design.wiring import TierWiring

Media = dict[tuple[str, str], Bought]
"""Catalog items behind each medium, by tier pair and the medium's id."""


def joined(
    catalog: Catalog,
    layout: RackLayout,
    wirings: Iterable[TierWiring],
    ends: Mapping[str, End],
    *,
    copper: bool,
    links_per_cable: Mapping[str, int] | None = None,
    pairs: Mapping[str, PortPairs] | None = None,
) -> tuple[list[TierLinks], Media]:
    """The links of one network with every medium that the catalog lets them have.

    Args:
        layout: Racks, which hold every item that is wired.
        wirings: What is joined to what. Ports are numbered over all of them, so give one network at a time.
        ends: Cage, modules and cables of each kind of item.
        copper: Whether copper may be used.
        links_per_cable: Links that a fibre carries, by tier; 1 where a tier is left out.
        pairs: Links with their ports, by tier, where the network's design says them.

    Raises:
        CatalogError: A medium that an item names isn't there.
    """
    wired = tuple(wirings)
    made: list[TierLinks] = []
    media: Media = {}
    for one, table in zip(wired, link_tables(wired, layout, pairs=pairs), strict=True):
        lower, upper = ends[str(one.lower_kind)], ends[str(one.upper_kind)]
        found, bought = candidates(catalog, lower, upper, copper=copper)
        per_cable = max(1, (links_per_cable or {}).get(one.tier, 1))
        made.append(TierLinks(table, lower.cage, upper.cage, per_cable, found))
        media.update({(one.tier, key): value for key, value in bought.items()})
    return made, media
