"""Which quoted price each part of the bill takes, and what is wrong where none can be taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from planner.catalog.store import Catalog
from planner.design.orders import ALL, Order, orders_of, split
from planner.design.quote_remedies import alternatives_in_words
from planner.errors import DesignError, Place, Problem, Remedy
from planner.ledger import Ledger
from planner.scenario.load import Loaded
from planner.scenario.parts import Parts
from planner.scenario.quote_match import match_quotes
from planner.scenario.quotes import QuoteLine, quotes_of
from planner.sourced import Basis, Source

if TYPE_CHECKING:
    from planner.design.bom import Demand

Key = tuple[str, str]
"""Item of the catalog, and the field that its catalog price stands in."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quoted price that a part of the bill takes.

    Attributes:
        ordered: Smallest of the plan's orders of the part, by which the quantity break is chosen.
        usd_per_unit: USD for one unit of the quote's currency.
        rate_source: Where that rate comes from; None for USD.
    """

    line: QuoteLine
    ordered: float
    usd_per_unit: float = 1.0
    rate_source: Source | None = None

    @property
    def price_usd(self) -> float:
        """Price of one."""
        return self.line.price * self.usd_per_unit

    @property
    def source(self) -> Source:
        """The quote, as the source of the price."""
        line = self.line
        until = f"valid until {line.valid_until}" if line.valid_until else "without an end of validity"
        taken = f"for orders from {line.least:g}; the smallest here is {self.ordered:,g}"
        return Source(
            where=f"{line.place}",
            source="",
            basis=Basis.QUOTE,
            as_of=line.date,
            note=f"{line.title} ({line.part}), {until}, {taken}",
        )


def quoted_prices(ledger: Ledger, parts: Parts, demands: Iterable[Demand]) -> dict[Key, Quoted]:
    """The price that each part takes from the scenario's quotes; parts that nobody quotes are left out.

    Of the quotes that are valid on every order's date and that every order is large enough for, the cheapest
    in USD is taken. An order is a phase of the purchase: a quantity break has to be reached by the smallest.

    Raises:
        ScenarioError: The files are wrong.
        DesignError: Quotes of a part that all can't be taken, every one of them.
    """
    quotes = quotes_of(parts.loaded)
    if not quotes.lines:
        return {}
    matched = match_quotes(quotes, parts.catalog)
    orders = orders_of(parts.loaded, parts.as_of)
    found: dict[Key, Quoted] = {}
    refused: dict[str, list[tuple[str, Hindrance]]] = {}
    for key, bought in needs(ledger, demands, orders).items():
        lines = fitting(matched.by_item.get(key[0], ()), key[1])
        if not lines:
            continue
        taken, wrong = choose(lines, bought, orders, parts.loaded)
        if taken is not None:
            found[key] = taken
        else:
            for one in wrong:
                refused.setdefault(f"{one.line.title} {one.message}", []).append((key[0], one))
    if refused:
        raise DesignError(_refused(cases, parts.loaded, parts.catalog, orders) for cases in refused.values())
    return found


def fitting(lines: Sequence[QuoteLine], field: str) -> list[QuoteLine]:
    """Lines that price a part by the piece, or fibre by the metre, as the field does."""
    unit = "m" if field.endswith("_per_m") else "1"
    return [line for line in lines if line.unit == unit]


def needs(
    ledger: Ledger, demands: Iterable[Demand], orders: Sequence[Order], *, replaced: bool = True
) -> dict[Key, tuple[float, ...]]:
    """What each order buys of each part, all its places in the design and its spares together.

    Args:
        replaced: Count parts too whose price is taken off, since others stand in their place.
    """
    found: dict[Key, np.ndarray] = defaultdict(lambda: np.zeros(len(orders)))
    for demand in demands:
        spare = 0.0 if demand.spare is None else ledger.scalar(demand.spare)
        whole = demand.unit == "1"
        count = ledger.scalar(demand.designed) * (1 + spare)
        count = float(np.ceil(count - 1e-9)) if whole else count
        if count <= 0:
            continue
        bought = np.array(split(count, orders, where=demand.where, whole=whole, server=demand.server))
        found[(demand.entry.item.id, demand.price_field)] += bought
        if demand.instead_of is not None and replaced:
            found[(demand.instead_of.item.id, demand.price_field)] += bought
    return {key: tuple(float(one) for one in bought) for key, bought in found.items()}


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why a line can't be taken.

    Attributes:
        order: The order that it fails; None for what fails all.
    """

    line: QuoteLine
    message: str
    remedy: str
    order: Order | None = None


def choose(
    lines: Sequence[QuoteLine], bought: Sequence[float], orders: Sequence[Order], loaded: Loaded
) -> tuple[Quoted | None, tuple[Hindrance, ...]]:
    """The cheapest line that can be taken, and what is in the way of the others.

    A break that is too large for an order is no hindrance while another line of the same quote takes it.
    """
    placed = [(order, quantity) for order, quantity in zip(orders, bought, strict=True) if quantity > 0]
    smallest = min((quantity for _, quantity in placed), default=0.0)
    usable: list[Quoted] = []
    wrong: list[Hindrance] = []
    for line in lines:
        rate, source = usd_rate(line, loaded)
        hindrance = _hindrance(line, placed, smallest, rate)
        if hindrance is None:
            assert rate is not None
            usable.append(Quoted(line, smallest, rate, source))
        else:
            wrong.append(hindrance)
    taken = min(usable, key=_rank, default=None)
    offers = {(one.line.vendor, one.line.quote_id) for one in usable}
    seen: dict[tuple[str, str], Hindrance] = {}
    for one in wrong:
        offer = (one.line.vendor, one.line.quote_id)
        if offer not in offers and (offer not in seen or one.line.least < seen[offer].line.least):
            seen[offer] = one
    return taken, tuple(seen.values())


def _rank(quoted: Quoted) -> tuple[float, str, str, Place]:
    return quoted.price_usd, quoted.line.vendor, quoted.line.quote_id, quoted.line.place


def _hindrance(
    line: QuoteLine, placed: Sequence[tuple[Order, float]], smallest: float, rate: float | None
) -> Hindrance | None:
    for order, _ in placed:
        if line.valid_until and date.fromisoformat(line.valid_until) < order.ordered:
            return Hindrance(
                line, f"is valid until {line.valid_until}, and {_named(order)} is placed on {order.ordered}",
                f"ask for a renewal to {order.ordered} or later", order,
            )  # fmt: skip
    if rate is None:
        return Hindrance(
            line, f"is in {line.currency}, and no rate to USD is known",
            f"write money.currencies.{line.currency}.usd in the scenario, or a column usd per currency in the quote",
        )  # fmt: skip
    if line.least > smallest:
        small = next(order for order, quantity in placed if quantity == smallest)
        return Hindrance(
            line, f"holds from {line.least:,g}, and {_named(small)} buys {smallest:,g}",
            "ask for a price of that quantity, or order more at once", small,
        )  # fmt: skip
    return None


def _named(order: Order) -> str:
    return "the order" if order.id == ALL and order.index is None else f"the order of phase '{order.id}'"


def usd_rate(line: QuoteLine, loaded: Loaded) -> tuple[float | None, Source | None]:
    """USD for one unit of a line's currency: the quote's own rate, else the scenario's; None where neither is known."""
    if line.currency == "USD":
        return 1.0, None
    if line.usd_per_unit is not None:
        note = f"rate that {line.title} states"
        return line.usd_per_unit, Source(f"{line.place}", "", Basis.QUOTE, line.date, note=note)
    known = loaded.scenario.money.currencies.get(line.currency)
    if known is None:
        return None, None
    return known.usd, loaded.source("money", "currencies", line.currency, "usd")


def _refused(
    cases: Sequence[tuple[str, Hindrance]], loaded: Loaded, catalog: Catalog, orders: Sequence[Order]
) -> Problem:
    """Parts of a quote that can't be taken for the same reason, with every way out."""
    wrong = cases[0][1]
    names = list(dict.fromkeys(item_id for item_id, _ in cases))
    remedies = [Remedy(wrong.remedy)]
    until, order = wrong.line.valid_until, wrong.order
    expired = bool(until) and order is not None and date.fromisoformat(until) < order.ordered
    if expired and order is not None and order.index is not None:
        remedies.append(
            Remedy(f"order phase '{order.id}' by {until}", ("phases", order.index, "order"), until)
        )
    path: tuple[str | int, ...] = ("quotes",) if len(loaded.scenario.quotes) == 1 else ()
    remedies.append(Remedy("leave the quote out for the price of the catalog", path))
    if expired and len(names) == 1:
        on = max(one.ordered for one in orders).isoformat()
        said = alternatives_in_words(names[0], catalog, on)
        remedies += [Remedy(said)] if said else []
    told = ", ".join(f"'{name}'" for name in names)
    message = f"{wrong.line.title} for {told} {wrong.message}"
    return Problem(message, wrong.line.place, "quotes", remedies=tuple(remedies))
