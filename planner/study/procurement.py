"""Vendors' quotes side by side: one bill of materials priced by each of them.

What a vendor doesn't quote, or quotes in a way that the plan can't take, is priced by the catalog and named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from planner.catalog.store import Catalog
from planner.design.bom import BomRow
from planner.design.orders import Order, orders_of, split
from planner.design.quoted import Key, needs
from planner.errors import Remedy
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Line, Sign
from planner.ledger.nodes import added
from planner.scenario.load import Loaded
from planner.scenario.quote_match import Matched, match_quotes
from planner.scenario.quotes import QuoteLine, Quotes
from planner.scenario.remedies import applied
from planner.study.offers import Maker, Offer

BEST = "best"
"""Slug of the offer that takes each part where it is cheapest."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What quotes make of one plan.

    Attributes:
        base: The plan at catalog prices; its ledger holds the offers' lines too.
        catalog_total: The bill at catalog prices.
        offers: One for each vendor, then the best of each part where there are several.
    """

    base: Evaluation
    catalog_total: Line
    offers: tuple[Offer, ...]
    matched: Matched
    quotes: Quotes
    orders: tuple[Order, ...]
    bought: Mapping[Key, tuple[float, ...]]


def compare_quotes(loaded: Loaded, catalog: Catalog, quotes: Quotes) -> Comparison:
    """Price the bill of a plan by each vendor's quotes.

    Raises:
        ScenarioError: The scenario is wrong.
        DesignError: It can't be built at catalog prices.
    """
    base = evaluate(applied(loaded, Remedy("at catalog prices", ("quotes",))), catalog)
    if base.refusal is not None or base.built is None:
        assert base.refusal is not None
        raise base.refusal
    ledger, rows = base.ledger, base.built.bom
    orders = orders_of(loaded, base.parts.as_of)
    bought = needs(ledger, [row.demand for row in rows], orders)
    matched = match_quotes(quotes, catalog)
    total = ledger.derive(
        "quotes.catalog.total_usd",
        "Bill at catalog prices",
        "USD",
        added(row.cost for row in rows),
        sign=Sign.COST,
    )
    by_vendor: dict[str, dict[str, list[QuoteLine]]] = {}
    for item_id, lines in matched.by_item.items():
        for line in lines:
            by_vendor.setdefault(line.vendor, {}).setdefault(item_id, []).append(line)
    maker = Maker(base, rows, orders, bought)
    taken: set[str] = {BEST, "catalog"}
    offers = [maker.offer(_slug(vendor, taken), vendor, by_vendor[vendor]) for vendor in sorted(by_vendor)]
    if len(offers) > 1:
        every = {item_id: list(lines) for item_id, lines in matched.by_item.items()}
        offers.append(maker.offer(BEST, "cheapest of each part", every))
    return Comparison(base, total, tuple(offers), matched, quotes, orders, bought)


def _slug(vendor: str, taken: set[str]) -> str:
    """A vendor's name as a part of keys, unlike those before it."""
    word = re.sub(r"[^a-z0-9]+", "-", vendor.lower()).strip("-") or "vendor"
    found = next(name for name in (word, *(f"{word}-{n}" for n in range(2, 1000))) if name not in taken)
    taken.add(found)
    return found


def by_order(evaluation: Evaluation, row: BomRow, orders: Sequence[Order]) -> tuple[float, ...]:
    """What each order buys of a part in one place of the design; the orders add up to what is bought."""
    count = evaluation.ledger.scalar(row.count)
    demand = row.demand
    return split(count, orders, where=demand.where, whole=demand.unit == "1", server=demand.server)


def first_order(bought: Sequence[float], orders: Sequence[Order]) -> date:
    """Day of the first order that buys any."""
    return min(
        (order.ordered for order, quantity in zip(orders, bought, strict=True) if quantity > 0),
        default=orders[0].ordered,
    )
