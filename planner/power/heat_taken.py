"""Where the heat of the IT equipment goes: into liquid, or into the air of the hall."""

from __future__ import annotations

from typing import Any

from planner.catalog.schema import Cooling
from planner.catalog.store import Entry
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added
from planner.power.cooling import with_loops
from planner.scenario.givens import figure_line
from planner.scenario.parts import Parts


def liquid_share(ledger: Ledger, parts: Parts) -> Line | None:
    """Share of IT power that leaves in liquid while working; None in a hall without liquid.

    Servers take their own share where the catalog states one, else that of the method: in a hall with
    cold plates an air-cooled server is taken in its version with plates. Switches count where they are
    liquid-cooled; other switches, optics and storage warm the air. In tanks everything is in liquid.
    """
    if not parts.cooling.item.liquid:
        return None
    method = figure_line(
        ledger, "cooling.liquid_fraction", "Share of heat in liquid, by method", "fraction",
        with_loops(parts.catalog, parts.cooling), "liquid_fraction",
    )  # fmt: skip
    taken: Expr = method
    if not parts.cooling.item.immersed:
        shares = _shares(ledger, parts, method)
        taken = added(ledger[key] * share for key, share in shares.items()) / ledger["power.it_w"]
    return ledger.derive("power.cooling.liquid_fraction", "Share of heat in liquid", "fraction", taken)


def _shares(ledger: Ledger, parts: Parts, method: Line) -> dict[str, Line]:
    """Liquid share of each part that has one, by the key of its draw."""
    found: dict[str, Line] = {}
    for group in parts.groups:
        found[f"power.{group.server.item.id}.typical_w"] = _own(ledger, group.server, method)
    for tier, name in zip(parts.tiers, ("leaf", "spine", "core"), strict=False):
        switch = tier.switch.item
        if switch.cooling is Cooling.LIQUID:
            found[f"power.{name}-{switch.id}.typical_w"] = method
    return {key: share for key, share in found.items() if key in ledger}


def _own(ledger: Ledger, server: Entry[Any], method: Line) -> Line:
    stated = server.item.liquid_fraction
    if stated is None or stated.value == 0:
        return method
    key, label = f"watts.{server.item.id}.liquid_fraction", f"Share of heat in liquid of {server.item.name}"
    return figure_line(ledger, key, label, "fraction", server, "liquid_fraction")
