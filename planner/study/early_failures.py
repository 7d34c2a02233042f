"""Parts that fail before or during burn-in: how many to expect, and whether the spares bridge them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Cable, CableKind, Server, Transceiver
from planner.design.bom import BomRow
from planner.evaluate import Evaluation
from planner.ledger import Line
from planner.scenario.givens import assume

PASSIVE = (CableKind.DAC, CableKind.FIBRE, CableKind.TRUNK)
"""Cables without electronics, of which no such failures are counted."""


@dataclass(frozen=True, slots=True)
class EarlyFailures:
    """What a part's burn-in is likely to find.

    Attributes:
        expected: Ledger line of the number.
        of: What fails: ``accelerators`` of servers, else ``parts``.
    """

    expected: Line
    of: str


def early_failures(evaluation: Evaluation, row: BomRow) -> EarlyFailures | None:
    """Failures to be expected among the parts in service; None where no rate is known.

    The vendor replaces them under warranty, so they are not ordered on top; until then spares stand in.
    """
    ledger, catalog, item = evaluation.ledger, evaluation.parts.catalog, row.demand.entry.item
    key = f"bom.{row.demand.slug}.early_failures"
    if isinstance(item, Server):
        rate = assume(
            ledger,
            catalog,
            "operations",
            "early_failure_fraction",
            "Accelerators that fail in burn-in",
            "fraction",
        )
        label = f"Accelerators of {row.demand.name} that fail early"
        number = row.demand.designed * item.gpus * rate
        found = ledger[key] if key in ledger else ledger.derive(key, label, "1", number)
        return EarlyFailures(found, "accelerators")
    active = isinstance(item, Cable) and item.kind not in PASSIVE
    if not (isinstance(item, Transceiver) or active) or row.demand.unit != "1":
        return None
    rate = assume(
        ledger,
        catalog,
        "network",
        "early_life_module_failure_fraction",
        "Modules that fail early",
        "fraction",
    )
    label = f"{row.demand.name}, failing early"
    found = ledger[key] if key in ledger else ledger.derive(key, label, "1", row.demand.designed * rate)
    return EarlyFailures(found, "parts")
