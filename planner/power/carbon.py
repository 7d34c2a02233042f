"""Carbon of a full year: by the grid where the hall stands, and by the contracts that pay for its energy."""

from __future__ import annotations

from planner.ledger import Ledger, Line
from planner.scenario.givens import figure_line, wish_line
from planner.scenario.parts import Parts


def carbon(ledger: Ledger, parts: Parts, energy_kwh: Line) -> None:
    """Enter both, each where its intensity is known.

    Location-based carbon knows no contracts. Market-based takes the contracts' intensity, the grid's where
    none is typed, for the energy that isn't matched by contracts without carbon. Making and building
    the equipment isn't in either.

    Source:
        Greenhouse Gas Protocol, Scope 2 guidance, for the two ways of counting.
    """
    grid = None
    if parts.site.item.carbon_kg_per_kwh is not None:
        grid = figure_line(
            ledger, "site.carbon_kg_per_kwh", "Carbon in a kWh", "kg/kWh", parts.site, "carbon_kg_per_kwh"
        )
        ledger.derive(
            "power.carbon_kg_per_year",
            "Carbon of a full year, location-based",
            "kg/year",
            energy_kwh * grid,
        )
    wish = parts.loaded.scenario.site.carbon_market_kg_per_kwh
    contracts = grid
    if wish is not None:
        contracts = wish_line(
            ledger, parts.loaded, "site.carbon_market_kg_per_kwh", "Carbon in a kWh of the contracts", "kg/kWh",
            wish, "site", "carbon_market_kg_per_kwh",
        )  # fmt: skip
    if contracts is None:
        return
    matched = wish_line(
        ledger, parts.loaded, "site.renewable_fraction", "Energy matched by contracts without carbon", "fraction",
        parts.loaded.scenario.site.renewable_fraction, "site", "renewable_fraction",
    )  # fmt: skip
    ledger.derive(
        "power.carbon_market_kg_per_year", "Carbon of a full year, market-based", "kg/year",
        energy_kwh * (1 - matched) * contracts,
    )  # fmt: skip
