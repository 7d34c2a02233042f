"""The same scenario in copper, pluggable, linear and co-packaged optics: which fields change, or why it can't be."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum

from planner.catalog.item import Item
from planner.catalog.schema import Cooling, Medium, Switch, Transceiver
from planner.catalog.store import Catalog, Entry
from planner.documents import Document
from planner.errors import Place
from planner.scenario.load import Loaded, validated
from planner.scenario.parts import Parts
from planner.study.optics_shelf import (
    Wanted,
    WhatIfShelf,
    as_if_orderable,
    by_claim,
    linear_modules,
    not_orderable,
    radix,
    sibling,
)

TIERS = ("leaf", "spine", "core")


class Approach(StrEnum):
    """A way to join the switches, in the order of the comparison."""

    COPPER = "copper-first"
    PLUGGABLE = "pluggable"
    LINEAR = "linear"
    PACKAGED = "co-packaged"
    CLAIMED = "as claimed"
    """Co-packaged with the saving that its maker claims; only where it is asked for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A variant before it is evaluated.

    Attributes:
        changes: Fields of the scenario that it sets, by dotted name.
        loaded: The changed scenario; None where there is none.
        shelf: Where its parts are looked up.
        why_not: Why it can't be drawn up; empty where it can.
        roadmap: Parts that can't be ordered on the day, with the reason: no order holds them.
        notes: What was assumed or exchanged.
    """

    approach: Approach
    changes: Mapping[str, object]
    loaded: Loaded | None
    shelf: Catalog
    why_not: str = ""
    roadmap: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def order_day(parts: Parts) -> str:
    """Day on which parts are ordered: the first phase's order, else the scenario's ``as_of``."""
    phases = parts.loaded.scenario.phases
    return min((phase.order for phase in phases), default=parts.as_of)


def link_gbit_per_s(parts: Parts) -> float:
    """Rate of a fabric link: a NIC's share in one plane."""
    nic = parts.groups[0].nic.item
    return nic.port_rate_gbit_per_s.value * nic.ports / parts.loaded.scenario.network.planes


def plans(parts: Parts, *, claims: bool = False) -> tuple[Plan, ...]:
    """Every variant of a scenario, drawn up or refused."""
    found = [_plan(parts, approach) for approach in Approach if approach is not Approach.CLAIMED]
    if claims:
        found.append(_plan(parts, Approach.CLAIMED))
    return tuple(found)


def changed(loaded: Loaded, changes: Mapping[str, object], name: str) -> Loaded:
    """A scenario with some fields set, each with its place in the comparison."""
    old = loaded.document
    document = Document(deepcopy(old.data), old.path, dict(old.places))
    for dotted, value in changes.items():
        *way, last = dotted.split(".")
        here = document.data
        for step in way:
            if not isinstance(here.get(step), dict):
                here[step] = {}
            here = here[step]
        here[last] = value
        document.places[tuple(dotted.split("."))] = Place(f"--set {dotted} (comparison of optics, {name})")
    return validated(document, loaded.path, loaded.bases)


WANTED = {
    Approach.COPPER: Wanted(packaged=False),
    Approach.PLUGGABLE: Wanted(packaged=False),
    Approach.LINEAR: Wanted(packaged=False, linear=True),
    Approach.PACKAGED: Wanted(packaged=True),
    Approach.CLAIMED: Wanted(packaged=True),
}


def _plan(parts: Parts, approach: Approach) -> Plan:
    """Draw up one variant: its switches, then what goes into their cages."""
    catalog, day, rate = parts.catalog, order_day(parts), link_gbit_per_s(parts)
    chosen: dict[str, Entry[Switch]] = {}
    for tier, part in zip(TIERS, parts.tiers, strict=True):
        found = sibling(catalog, part.switch.item, WANTED[approach], rate, day)
        if found is None:
            return Plan(approach, {}, None, catalog, _no_sibling(part.switch.item, approach, rate))
        chosen[tier] = found
    changes: dict[str, object] = {"network.copper": approach is Approach.COPPER}
    why_not = _fill(parts, approach, chosen, changes)
    if why_not:
        return Plan(approach, changes, None, catalog, why_not)
    shelf, roadmap, notes = _shelf(parts, approach, chosen, day)
    loaded = changed(parts.loaded, changes, approach)
    return Plan(approach, changes, loaded, shelf, "", roadmap, (*_exchanged(parts, chosen), *notes))


def _exchanged(parts: Parts, chosen: Mapping[str, Entry[Switch]]) -> list[str]:
    """Which switches stand in for which, and in which tiers."""
    tiers: dict[str, list[str]] = {}
    for tier, part in zip(TIERS, parts.tiers, strict=True):
        new, old = chosen[tier].item.id, part.switch.item.id
        if new != old and (part.wish.switch or tier == "leaf"):
            tiers.setdefault(f"{new} in place of {old}", []).append(tier)
    return [f"{said} ({', '.join(names)})" for said, names in tiers.items()]


def _fill(
    parts: Parts, approach: Approach, chosen: Mapping[str, Entry[Switch]], changes: dict[str, object]
) -> str:
    """Set switches and modules; says why where no module fits the NIC."""
    network, catalog = parts.loaded.scenario.network, parts.catalog
    for tier, part in zip(TIERS, parts.tiers, strict=True):
        item = chosen[tier].item
        if item.id != part.switch.item.id and (part.wish.switch or tier == "leaf"):
            changes[f"network.{tier}.switch"] = item.id
        optic = _optic(
            catalog, approach, item, getattr(network, tier).optic, same=item.id == part.switch.item.id
        )
        if optic != getattr(network, tier).optic:
            changes[f"network.{tier}.optic"] = optic
    if approach in (Approach.PACKAGED, Approach.CLAIMED):
        endpoint, why_not = _endpoint(parts, chosen["leaf"].item)
        if endpoint != network.endpoint_optic:
            changes["network.endpoint_optic"] = endpoint
        return why_not
    swapped = chosen["leaf"].item.id != parts.tiers[0].switch.item.id or approach is Approach.LINEAR
    if network.endpoint_optic is not None and swapped:
        changes["network.endpoint_optic"] = None  # it was chosen for another far end
    return ""


def _optic(
    catalog: Catalog, approach: Approach, switch: Switch, wished: str | None, *, same: bool
) -> str | None:
    """Module of a tier's cages; None leaves it to the designer, who takes the cheapest that reaches."""
    if approach in (Approach.PACKAGED, Approach.CLAIMED):
        return None
    linear = linear_modules(catalog, switch)
    if approach is Approach.LINEAR:
        return linear[0]
    if wished is not None and same and wished not in linear:
        return wished
    if not linear:
        return None
    # left alone, the designer would take the linear module for its price
    twin = catalog.get(Transceiver, linear[0])
    like = [
        module
        for name in switch.modules
        if not (module := catalog.get(Transceiver, name)).linear
        and (module.medium, module.links, module.fibres) == (twin.medium, twin.links, twin.fibres)
    ]
    like.sort(
        key=lambda one: (one.price_usd.value if one.price_usd else float("inf"), -one.reach_m.value, one.id)
    )
    return like[0].id if like else None


def _endpoint(parts: Parts, switch: Switch) -> tuple[str | None, str]:
    """Module of the NIC that a co-packaged port talks to: single-mode, its lanes, its plug."""
    nic = parts.groups[0].nic.item
    fitting = [
        module
        for name in nic.modules
        if (module := parts.catalog.get(Transceiver, name)).medium is Medium.SINGLEMODE
        and module.lane_rate_gbit_per_s == switch.lane_rate_gbit_per_s
        and module.rate_gbit_per_s.value == nic.port_rate_gbit_per_s.value
        and (module.fibres // module.links <= 2) == (switch.cage == "LC")
    ]
    if not fitting:
        plug = "fibre pairs with wavelengths" if switch.cage == "LC" else "parallel single-mode fibre"
        return None, (
            f"{switch.id} has {plug} at {switch.lane_rate_gbit_per_s:g} Gbit/s a lane, and {nic.id} takes no "
            f"module for that ({', '.join(nic.modules) or 'none listed'})"
        )
    fitting.sort(key=lambda one: (one.price_usd.value if one.price_usd else float("inf"), one.id))
    return fitting[0].id, ""


def _shelf(
    parts: Parts, approach: Approach, chosen: Mapping[str, Entry[Switch]], day: str
) -> tuple[Catalog, tuple[str, ...], tuple[str, ...]]:
    """The variant's catalog: roadmap parts as if they could be ordered, claimed power where that is asked for."""
    items: dict[tuple[str, str], Item] = {}
    roadmap: list[str] = []
    notes: list[str] = []
    for tier, part in zip(TIERS, parts.tiers, strict=True):
        item = chosen[tier].item
        key = (Switch.family, item.id)
        if key in items:
            continue
        plain = sibling(parts.catalog, item, Wanted(packaged=False), link_gbit_per_s(parts), day)
        instead = part.switch.item if part.switch.item.optics is None else None
        instead = instead or (plain.item if plain is not None else None)
        reason = not_orderable(item, day)
        if reason and instead is not None:
            items[key], said = as_if_orderable(parts.catalog, item, instead)
            roadmap.append(f"{item.id}: {reason}")
            notes += said
        elif reason:
            roadmap.append(f"{item.id}: {reason}")
        made = items.get(key, item)
        assert isinstance(made, Switch)
        if approach is Approach.CLAIMED and instead is not None:
            items[key] = made = by_claim(parts.catalog, made, instead)
        if item.cooling is Cooling.LIQUID and not parts.cooling.item.liquid:
            # the hall would refuse it; the comparison brings the loops for the switches alone and counts them
            items[key] = made.model_copy(update={"cooling": Cooling.AIR})
            notes.append(
                f"{parts.cooling.item.id} cooling brings no liquid for {item.id}: loops, distribution units and pumps for "
                "the switches alone are added"
            )
    return (WhatIfShelf(parts.catalog, items) if items else parts.catalog), tuple(roadmap), tuple(notes)


def _no_sibling(switch: Switch, approach: Approach, rate: float) -> str:
    kind = {
        Approach.LINEAR: "switch that lists linear modules",
        Approach.PACKAGED: "co-packaged switch",
        Approach.CLAIMED: "co-packaged switch",
    }.get(approach, "switch with pluggable cages")
    return (
        f"the catalog has no {kind} for {switch.fabric} with {radix(switch, rate)} ports of {rate:g} Gbit/s "
        f"on {switch.lane_rate_gbit_per_s:g} Gbit/s lanes, as {switch.id} has"
    )
