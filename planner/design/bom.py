"""The bill of materials: what is bought, how many, at which price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from planner.catalog.figure import Figure
from planner.catalog.store import Entry
from planner.design.quoted import Key, Quoted
from planner.errors import DesignError, Problem
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import round_up
from planner.sourced import Source


class AssetClass(StrEnum):
    """Classes in which capex is reported and depreciated."""

    SERVERS = "servers"
    NICS = "nics"
    SWITCHES = "switches"
    OPTICS = "optics"
    CABLES = "cables"
    STORAGE = "storage"
    MANAGEMENT = "management"

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
    AssetClass.MANAGEMENT: "Management servers and fabric managers",
}


@dataclass(frozen=True, slots=True)
class Demand:
    """A part the design needs.

    Attributes:
        slug: Middle of its ledger keys, ``bom.<slug>.count``.
        unit: ``1`` for pieces, ``m`` for fibre.
        price_field: Figure of the catalog item that is the price.
        instead_of: Included part that it replaces, whose price is taken off.
        server: Kind of server that it is, or that it sits in; empty for what serves all kinds.
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
    server: str = ""


@dataclass(frozen=True, slots=True)
class BomRow:
    """A bought part with its ledger lines: designed count, bought count, price and cost.

    Attributes:
        quote: Quote that its price is from; None where it is the catalog's.
    """

    demand: Demand
    count: Line
    price: Line
    cost: Line
    quote: Quoted | None = None

    @property
    def price_source(self) -> Source | None:
        """Where the price is from; None where it is made of others."""
        return self.price.source if self.quote is None else self.quote.source


NO_QUOTES: Mapping[Key, Quoted] = {}


def bill_of_materials(
    ledger: Ledger, demands: Iterable[Demand], quoted: Mapping[Key, Quoted] = NO_QUOTES
) -> tuple[BomRow, ...]:
    """Price every demand; parts of no count are left out.

    Args:
        quoted: Prices that go before the catalog's (see `planner.design.quoted`).

    Raises:
        DesignError: Parts without a price, all of them at once.
    """
    wanted = [demand for demand in demands if ledger.value(demand.designed).max() > 0]
    problems = [
        Problem(
            f"'{demand.entry.item.id}' has no price in the catalog, and the plan needs it ({demand.name})",
            remedy=f"name a quote of it in quotes; add {demand.price_field} to it in an overlay given with --catalog; "
            "choose another part",
        )
        for demand in wanted
        if any(
            getattr(entry.item, demand.price_field) is None
            and (entry.item.id, demand.price_field) not in quoted
            for entry in (demand.entry, demand.instead_of)
            if entry is not None
        )
    ]
    if problems:
        raise DesignError(problems)
    return tuple(_row(ledger, demand, quoted) for demand in wanted)


def _row(ledger: Ledger, demand: Demand, quoted: Mapping[Key, Quoted]) -> BomRow:
    key = f"bom.{demand.slug}"
    bought = demand.designed * (1 + demand.spare) if demand.spare is not None else demand.designed
    count = ledger.derive(
        f"{key}.count", f"{demand.name}, bought", demand.unit,
        round_up(bought) if demand.unit == "1" else bought,
    )  # fmt: skip
    price = price_line(ledger, demand.entry, demand.price_field, quoted)
    if demand.instead_of is not None:
        old = price_line(ledger, demand.instead_of, demand.price_field, quoted)
        name = f"{demand.entry.item.name} instead of {demand.instead_of.item.name}"
        price = ledger.derive(f"price.{demand.slug}.more_usd", f"Price of {name}", "USD", price - old)
    cost = ledger.derive(f"capex.{demand.slug}_usd", demand.name, "USD", count * price, sign=Sign.COST)
    return BomRow(demand, count, price, cost, quoted.get((demand.entry.item.id, demand.price_field)))


def price_line(
    ledger: Ledger, entry: Entry[Any], field: str = "price_usd", quoted: Mapping[Key, Quoted] = NO_QUOTES
) -> Line:
    """Line of a part's price, the quoted one before the catalog's; entered once however many places buy the part."""
    key = f"price.{entry.item.id}.{field}"
    if key in ledger:
        return ledger[key]
    unit, label = "USD/m" if field.endswith("_per_m") else "USD", f"Price of {entry.item.name}"
    quote = quoted.get((entry.item.id, field))
    if quote is not None and quote.rate_source is not None:
        return _converted(ledger, key, label, unit, quote)
    if quote is not None:
        return ledger.given(key, label, unit, quote.line.price, quote.source)
    figure: Figure = getattr(entry.item, field)
    return ledger.given(
        key, label, unit, figure.value, entry.source(field), low=figure.low, high=figure.high,
    )  # fmt: skip


def _converted(ledger: Ledger, key: str, label: str, unit: str, quote: Quoted) -> Line:
    """A price quoted in another currency, at the rate of the quote or of the scenario."""
    code = quote.line.currency
    own = ledger.given(
        f"{key}.{code.lower()}",
        f"{label}, in {code}",
        unit.replace("USD", code),
        quote.line.price,
        quote.source,
    )
    rate = rate_line(ledger, key, quote)
    return ledger.derive(key, label, unit, own * rate, note=f"{quote.line.title}, converted from {code}")


def rate_line(ledger: Ledger, key: str, quote: Quoted) -> Line:
    """USD for one unit of a quote's currency: its own rate beside its price, or the scenario's for everything.

    Args:
        key: Of the price.
    """
    code = quote.line.currency
    stated = quote.line.usd_per_unit is not None
    name = f"{key}.usd_per_{code.lower()}" if stated else f"fx.{code}_usd"
    if name in ledger:
        return ledger[name]
    assert quote.rate_source is not None
    return ledger.given(name, f"USD for one {code}", f"USD/{code}", quote.usd_per_unit, quote.rate_source)
