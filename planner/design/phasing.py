"""What share of the network's cost is bought in which phase."""

from __future__ import annotations

from collections.abc import Sequence

from planner.design.bom import BomRow
from planner.design.orders import UPPER_TIERS
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added


def upper_tiers_line(ledger: Ledger, bom: Sequence[BomRow], phases: int) -> Line | None:
    """Share of the network's cost in spines and cores; None where there are none, or one phase buys all.

    Spines and cores of the final size come with the first phase, so that growing needs no
    recabling; leaves, modules and cables come with their servers. It is a formula, since prices
    move it.
    """
    network = [row for row in bom if row.demand.asset_class.is_network]
    upper = [row for row in network if row.demand.where in UPPER_TIERS]
    if not upper or phases == 1:
        return None
    return ledger.derive(
        "bom.upper_tiers_fraction", "Spines and cores, share of the network's cost", "fraction",
        added(row.cost for row in upper) / added(row.cost for row in network),
    )  # fmt: skip
