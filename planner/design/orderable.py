"""Parts of the bill that can't be ordered on the day of their order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner.catalog.item import Item
from planner.design.orders import Order, orders_of, split
from planner.design.quote_remedies import alternatives_in_words, orderable
from planner.errors import DesignError, Problem, Remedy
from planner.ledger import Ledger
from planner.scenario.parts import Parts

if TYPE_CHECKING:
    from planner.design.bom import Demand


def refuse_unorderable(ledger: Ledger, parts: Parts, demands: Iterable[Demand]) -> None:
    """Refuse roadmap and withdrawn parts, and orders that are placed before their parts are for sale.

    Raises:
        DesignError: Each such part of each order, with the day from which it can be ordered.
    """
    orders = orders_of(parts.loaded, parts.as_of)
    problems: dict[tuple[str, str], Problem] = {}
    for demand in demands:
        item, count = demand.entry.item, ledger.scalar(demand.designed)
        if count <= 0:
            continue
        each = split(count, orders, where=demand.where, server=demand.server)
        for order, bought in zip(orders, each, strict=True):
            if bought > 0 and not orderable(item, order.ordered.isoformat()):
                problems.setdefault((item.id, order.id), _problem(item, order, parts))
    if problems:
        raise DesignError(problems.values())


def _problem(item: Item, order: Order, parts: Parts) -> Problem:
    path: tuple[str | int, ...] = ("as_of",) if order.index is None else ("phases", order.index, "order")
    key = ".".join(str(step) for step in path)
    remedies = []
    if item.orderable and item.available is not None:
        said = f"'{item.id}' can be ordered from {item.available}, and the order is placed on {order.ordered}"
        whole = len(item.available) >= len("2026-01")
        remedies.append(Remedy(f"order from {item.available}", path if whole else (), item.available))
    else:
        said = f"'{item.id}' can't be ordered: {item.why_not_orderable or 'it is a roadmap part'}"
    other = alternatives_in_words(item.id, parts.catalog, order.ordered.isoformat())
    remedies.append(Remedy(other or "choose another part, see planner catalog list"))
    return Problem(said, parts.loaded.document.place(path), key, remedies=tuple(remedies))
