"""Who else could deliver each part of a bill, and whether there is time to qualify another part."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from planner.design.bom import AssetClass, BomRow
from planner.design.orders import first_day
from planner.design.quote_remedies import alternatives
from planner.ledger import Line
from planner.scenario.givens import assume
from planner.study.procurement import BEST, Comparison, first_order

QUALIFIED_AS = {
    AssetClass.SERVERS: "servers", AssetClass.SWITCHES: "switches", AssetClass.NICS: "switches",
    AssetClass.OPTICS: "optics", AssetClass.CABLES: "optics",
}  # fmt: skip
"""Whose time of qualification stands for a class; the others have none."""


@dataclass(frozen=True, slots=True)
class SecondSource:
    """Where a part may come from besides.

    Attributes:
        vendors: Vendors whose quotes of it can be taken.
        others: Other parts of the catalog of the same rate and form, orderable by its first order.
        weeks: Ledger line of the time to qualify one of them; None for classes without a figure.
        ready: Day on which one is qualified if that begins on the plan's date; None without a figure.
        in_time: Whether that is before the part's first order.
    """

    row: BomRow
    vendors: tuple[str, ...]
    others: tuple[str, ...]
    weeks: Line | None
    ready: date | None
    in_time: bool | None


def second_sources(comparison: Comparison) -> tuple[SecondSource, ...]:
    """One for each part of the bill, a part in several places once."""
    found: dict[str, SecondSource] = {}
    for row in comparison.base.built.bom if comparison.base.built is not None else ():
        item_id = row.demand.entry.item.id
        if item_id not in found:
            found[item_id] = _source(comparison, row)
    return tuple(found.values())


def _source(comparison: Comparison, row: BomRow) -> SecondSource:
    base, demand = comparison.base, row.demand
    item_id = demand.entry.item.id
    single = [one for one in comparison.offers if one.slug != BEST]
    vendors = tuple(
        offer.vendor for offer in single
        if any(one.quoted is not None and one.row.demand.entry.item.id == item_id for one in offer.rows)
    )  # fmt: skip
    ordered = first_order(comparison.bought[(item_id, demand.price_field)], comparison.orders)
    others = alternatives(item_id, base.parts.catalog, ordered.isoformat())
    kind = QUALIFIED_AS.get(demand.asset_class)
    if kind is None:
        return SecondSource(row, vendors, others, None, None, None)
    weeks = assume(
        base.ledger, base.parts.catalog, "procurement", f"qualification_weeks_{kind}",
        f"Qualification of other {kind}", "weeks",
    )  # fmt: skip
    ready = first_day(base.parts.as_of) + timedelta(days=ceil(base.ledger.scalar(weeks) * 7))
    return SecondSource(row, vendors, others, weeks, ready, ready <= ordered)
