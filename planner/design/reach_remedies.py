"""Changes under which every link has a medium that reaches, and networks beside the fabric have the ports."""

from __future__ import annotations

from collections.abc import Iterator

from planner.catalog.schema import Switch, Transceiver
from planner.catalog.store import Catalog
from planner.design.cluster import draw_cluster
from planner.documents import Path_
from planner.errors import CatalogError, DesignError, Remedy, ScenarioError
from planner.scenario.alternatives import beside, beside_switches, switches
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied

ROWS = (8, 16, 24, 32)
"""Racks in a row that are tried."""
MOST_OPTICS = 3
"""Modules that are named."""
MOST_SWITCHES = 2
"""Switches that are named."""


def reach_remedies(parts: Parts) -> tuple[Remedy, ...]:
    """Every single change under which the cables can be planned; empty where none does.

    Each was tried on the whole design, racks and cables included.
    """
    shelf = beside(parts.catalog)
    optics: list[Remedy] = []
    for remedy in _optics(parts, shelf):
        if len(optics) < MOST_OPTICS and _builds(parts, shelf, remedy):
            optics.append(remedy)
    reaching: list[Remedy] = []
    for remedy in _switches(parts, shelf):
        if len(reaching) < MOST_SWITCHES and _builds(parts, shelf, remedy):
            reaching.append(remedy)
    return (*optics, *(one for one in _floor(parts) if _builds(parts, shelf, one)), *reaching)


def beside_remedies(parts: Parts, key: str) -> tuple[Remedy, ...]:
    """Larger switches of the network beside the fabric that a problem's key names, each tried on the whole design.

    Args:
        key: ``network.inband`` or ``network.storage.switch``; others have no such remedy.
    """
    path = tuple(key.split("."))
    names = {
        ("network", "inband"): parts.loaded.scenario.network.inband,
        ("network", "storage", "switch"): getattr(parts.loaded.scenario.network.storage, "switch", None),
    }
    named = names.get(path)
    if named is None:
        return ()
    shelf = beside(parts.catalog)
    found: list[Remedy] = []
    for switch in beside_switches(shelf, parts, shelf.get(Switch, named)):
        remedy = Remedy(f"switch {switch.id}", path, switch.id)
        if len(found) < MOST_OPTICS and _builds(parts, shelf, remedy):
            found.append(remedy)
    return tuple(found)


def _wished(parts: Parts) -> list[Path_]:
    """Fields in which the scenario names a module."""
    network = parts.loaded.scenario.network
    paths: list[Path_] = [
        ("network", tier, "optic") for tier in ("leaf", "spine", "core") if getattr(network, tier).optic
    ]
    return [*paths, *([("network", "endpoint_optic")] if network.endpoint_optic else [])]


def _optics(parts: Parts, shelf: Catalog) -> Iterator[Remedy]:
    """The planner's own choice, then modules that the leaf's cages take, the shortest reach first."""
    wished = _wished(parts)
    if not wished or not parts.tiers:
        return
    free: tuple[tuple[Path_, None], ...] = tuple((path, None) for path in wished)
    yield Remedy("the cheapest optics that reach, chosen by the planner", *free[0], free[1:])
    switch = parts.tiers[0].switch.item
    modules = [shelf.get(Transceiver, one) for one in switch.modules]
    tiers = [path for path in wished if path[-1] == "optic"] or [("network", "leaf", "optic")]
    for module in sorted(modules, key=lambda one: (one.reach_m.value, one.id)):
        edits: list[tuple[Path_, str | None]] = [(path, module.id) for path in tiers]
        edits += [(path, None) for path in wished if path not in tiers]
        said = f"optic {module.id} ({module.reach_m.value:,.0f} m)"
        yield Remedy(said, *edits[0], tuple(edits[1:]))


def _switches(parts: Parts, shelf: Catalog) -> Iterator[Remedy]:
    """Other switches at every tier that list modules of a longer reach, the shortest that is longer first."""
    if not parts.tiers:
        return
    longest = {
        one.id: max((shelf.get(Transceiver, module).reach_m.value for module in one.modules), default=0.0)
        for one in (parts.tiers[0].switch.item, *switches(shelf, parts, more_ports=False))
    }
    now = longest.pop(parts.tiers[0].switch.item.id)
    for name, reach in sorted(longest.items(), key=lambda one: one[1]):
        if reach > now:
            upper = tuple((("network", tier, "switch"), name) for tier in ("spine", "core"))
            said = f"switch {name} at every tier, whose modules reach {reach:,.0f} m"
            yield Remedy(said, ("network", "leaf", "switch"), name, upper)


def _floor(parts: Parts) -> Iterator[Remedy]:
    """Another shape of the floor."""
    site = parts.loaded.scenario.site
    if any(hall.distance_m > 0 for hall in site.halls):
        yield Remedy("one hall that takes all racks", ("site", "halls"), [])
    for racks in ROWS:
        if racks != site.row_racks:
            yield Remedy(f"{racks} racks in a row", ("site", "row_racks"), racks)


def _builds(parts: Parts, shelf: Catalog, remedy: Remedy) -> bool:
    """Whether everything that has a count or a place can be designed with a change."""
    try:
        draw_cluster(resolve(applied(parts.loaded, remedy), shelf))
    except (DesignError, ScenarioError, CatalogError):
        return False
    return True
