"""The bill of materials: what is bought, how many, at which price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from planner.catalog.figure import Figure
from planner.catalog.store import Entry
from planner.errors import DesignError, Problem
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import round_up


class AssetClass(StrEnum):
    """Classes in which capex is reported and depreciated."""

    SERVERS = "servers"
    NICS = "nics"
    SWITCHES = "switches"
    OPTICS = "optics"
    CABLES = "cables"
    STORAGE = "storage"

    @property
    def is_network(self) -> bool:
        """Whether it takes the network's life and purchase schedule."""
        return self in (AssetClass.SWITCHES, AssetClass.OPTICS, AssetClass.CABLES)


LABELS = {
    AssetClass.SERVERS: "Servers with GPUs",
    AssetClass.NICS: "Network adapters",
    AssetClass.SWITCHES: "Switches",
    AssetClass.OPTICS: "Optical modules",
    AssetClass.CABLES: "Cables and fibre",
    AssetClass.STORAGE: "Storage",
}


@dataclass(frozen=True, slots=True)
class Demand:
    """A part the design needs.

    Attributes:
        slug: Middle of its ledger keys, ``bom.<slug>.count``.
        unit: ``1`` for pieces, ``m`` for fibre.
        price_field: Figure of the catalog item that is the price.
        instead_of: Included part that it replaces, whose price is taken off.
    """

    slug: str
    name: str
    entry: Entry[Any]
    asset_class: AssetClass
    designed: Line
    spare: Line | None
    price_field: str = "price_usd"
    unit: str = "1"
    where: str = ""
    instead_of: Entry[Any] | None = None


@dataclass(frozen=True, slots=True)
class BomRow:
    """A bought part with its ledger lines: designed count, bought count, price and cost."""

    demand: Demand
    count: Line
    price: Line
    cost: Line


def bill_of_materials(ledger: Ledger, demands: Iterable[Demand]) -> tuple[BomRow, ...]:
    """Price every demand; parts of no count are left out.

    Raises:
        DesignError: Parts without a price, all of them at once.
    """
    wanted = [demand for demand in demands if ledger.value(demand.designed).max() > 0]
    problems = [
        Problem(
            f"'{demand.entry.item.id}' has no price in the catalog, and the plan needs it ({demand.name})",
            remedy=f"add {demand.price_field} to it in an overlay given with --catalog, or choose another part",
        )
        for demand in wanted
        if getattr(demand.entry.item, demand.price_field) is None
        or (demand.instead_of is not None and getattr(demand.instead_of.item, demand.price_field) is None)
    ]
    if problems:
        raise DesignError(problems)
    return tuple(_row(ledger, demand) for demand in wanted)


def _row(ledger: Ledger, demand: Demand) -> BomRow:
    key = f"bom.{demand.slug}"
    bought = demand.designed * (1 + demand.spare) if demand.spare is not None else demand.designed
    count = ledger.derive(
        f"{key}.count", f"{demand.name}, bought", demand.unit,
        round_up(bought) if demand.unit == "1" else bought,
    )  # fmt: skip
    price = price_line(ledger, demand.entry, demand.price_field)
    if demand.instead_of is not None:
        old = price_line(ledger, demand.instead_of, demand.price_field)
        name = f"{demand.entry.item.name} instead of {demand.instead_of.item.name}"
        price = ledger.derive(f"price.{demand.slug}.more_usd", f"Price of {name}", "USD", price - old)
    cost = ledger.derive(f"capex.{demand.slug}_usd", demand.name, "USD", count * price, sign=Sign.COST)
    return BomRow(demand, count, price, cost)


def price_line(ledger: Ledger, entry: Entry[Any], field: str = "price_usd") -> Line:
    """Given line of a catalog price; entered once however many places buy the part."""
    key = f"price.{entry.item.id}.{field}"
    if key in ledger:
        return ledger[key]
    figure: Figure = getattr(entry.item, field)
    unit = "USD/m" if field.endswith("_per_m") else "USD"
    return ledger.given(
        key, f"Price of {entry.item.name}", unit, figure.value, entry.source(field),
        low=figure.low, high=figure.high,
    )  # fmt: skip
