"""Ledger lines of hardware support: a share of the price a year, and what vendors quote in its place."""

from __future__ import annotations

from collections.abc import Sequence

from planner.design.bom import AssetClass, BomRow, rate_line
from planner.finance.escalation import risen, times
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, flag, maximum
from planner.scenario.givens import assume, wish_line
from planner.scenario.money_costs import Escalator
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR

SUPPORTED = (AssetClass.SERVERS, AssetClass.SWITCHES, AssetClass.STORAGE, AssetClass.MANAGEMENT)
"""Classes of equipment under a maker's support; the others are replaced from spares."""


def support(ledger: Ledger, parts: Parts, rows: Sequence[BomRow], time: Timeline) -> list[Line]:
    """Enter support by month, cash in positive.

    Each year it is a share of the price paid, fallen until the order where prices fall, once the warranty is over. A quote that states years of support takes the
    place of that share for so long, at its own charge or at none, in a line for each part.

    Args:
        rows: The bill of materials.
    """
    rate = assume(
        ledger, parts.catalog, "finance", "support_fraction_per_year",
        "Hardware support, share of price a year", "fraction/year",
    )  # fmt: skip
    covered = [row for row in rows if row.demand.asset_class in SUPPORTED]
    rise = risen(ledger, parts, time, Escalator.SUPPORT)
    usual: dict[str, list[Line]] = {}
    for row in covered:
        if quoted_years(row) is None:
            usual.setdefault(_falls_as(ledger, row), []).append(row.cost)
    found: list[Line] = []
    if usual:
        shares = added(
            added(costs) * rate / MONTHS_PER_YEAR * _after_warranty(ledger, parts, time, fall)
            for fall, costs in usual.items()
        )
        found.append(_cash(ledger, "support", "Hardware support", times(shares, rise)))
    by_part: dict[str, list[BomRow]] = {}
    for row in covered:
        if quoted_years(row) is not None:
            by_part.setdefault(row.demand.entry.item.id, []).append(row)
    for name, places in by_part.items():
        cost = _quoted(ledger, parts, places, time, rate, rise)
        found.append(_cash(ledger, f"support_{name}", f"Support of {places[0].demand.entry.item.name}", cost))
    return found


def quoted_years(row: BomRow) -> float | None:
    """Years of support that the quote of a part's price states; None where it states none."""
    return None if row.quote is None else row.quote.line.support_years or None


def _quoted(
    ledger: Ledger, parts: Parts, places: Sequence[BomRow], time: Timeline, rate: Line, rise: Line | None
) -> Expr:
    """Support of a part: what its quote charges beside the price, then a share of the price as of any other."""
    row, item, stated = places[0], places[0].demand.entry.item, quoted_years(places[0])
    assert row.quote is not None and stated is not None
    years = ledger.given(
        f"quote.{item.id}.support_years", f"Support of {item.name}, {row.quote.line.title}", "years",
        stated, row.quote.source,
    )  # fmt: skip
    months: Expr = years * MONTHS_PER_YEAR
    later = months if not _has_warranty(parts) else maximum(months, _warranty(ledger, parts))
    after = ledger.derive(
        f"timing.share_out_of_support_{item.id}_fraction", f"Share out of quoted support, {item.name}", "fraction",
        _share_older_than(ledger, time, later, _falls_as(ledger, row)),
    )  # fmt: skip
    cost = times(added(one.cost for one in places) * rate / MONTHS_PER_YEAR * after, rise)
    if not row.quote.line.support_price:
        return cost
    price = _price(ledger, row)
    within = ledger.derive(
        f"timing.share_in_support_{item.id}_fraction", f"Share in quoted support, {item.name}", "fraction",
        time.share - _share_older_than(ledger, time, months),
        note="charged in equal parts over the months of its years",
    )  # fmt: skip
    return cost + added(one.count for one in places) * price / months * within


def _price(ledger: Ledger, row: BomRow) -> Line:
    """Support of one part for all its years, in the quote's currency and in USD."""
    quote, item = row.quote, row.demand.entry.item
    assert quote is not None and quote.line.support_price is not None
    key, price = f"quote.{item.id}.support_usd", quote.line.support_price
    label = f"Support of {item.name} for all its years, {quote.line.title}"
    if quote.rate_source is None:
        return ledger.given(key, label, "USD", price, quote.source)
    code = quote.line.currency
    own = ledger.given(f"{key}.{code.lower()}", f"{label}, in {code}", code, price, quote.source)
    return ledger.derive(
        key, label, "USD", own * rate_line(ledger, f"price.{item.id}.{row.demand.price_field}", quote)
    )


def _has_warranty(parts: Parts) -> bool:
    return parts.loaded.scenario.money.warranty_months > 0


def _warranty(ledger: Ledger, parts: Parts) -> Line:
    key, months = "money.warranty_months", parts.loaded.scenario.money.warranty_months
    if key in ledger:
        return ledger[key]
    return wish_line(
        ledger, parts.loaded, key, "Months of warranty", "month", float(months), "money", "warranty_months"
    )


def _falls_as(ledger: Ledger, row: BomRow) -> str:
    """Whose prices a part's falls with until it is ordered, server or network; empty where it keeps today's.

    Switches keep theirs where the fall is the catalog's, which is of optical modules alone.
    """
    if "erosion.server_factor" not in ledger:
        return ""
    if not row.demand.asset_class.is_network:
        return "server"
    return "" if "erosion.network_modules_fraction" in ledger else "network"


def _after_warranty(ledger: Ledger, parts: Parts, time: Timeline, fall: str) -> Line:
    """Share of all GPUs whose warranty is over in a month, each at the price paid over today's."""
    warranted = _has_warranty(parts)
    if not warranted and not fall:
        return time.share
    months = _warranty(ledger, parts) if warranted else None
    key, label = "timing.share_out_of_warranty_fraction", "Share out of warranty"
    if fall:
        key = f"timing.{fall}_share_supported_fraction"
        label = f"{label if warranted else 'Share in service'}, at the price paid over today's, {fall}"
    return ledger.derive(key, label, "fraction", _share_older_than(ledger, time, months, fall))


def _share_older_than(ledger: Ledger, time: Timeline, months: Expr | None, fall: str = "") -> Expr:
    """Share of all GPUs that are longer in service than so many months; with a fall, at the price of each order."""
    older: list[Expr] = []
    mixed = time.load_share is not None  # of several kinds, which shares by GPUs would misprice
    for phase in time.phases:
        service = ledger[f"phase.{phase.id}.service_month"]
        since = service if months is None else service + months
        bought = ledger[f"phase.{phase.id}.server_share_fraction"] if mixed else phase.gpus
        gpus: Expr = bought * flag(time.month, ">", since)
        older.append(gpus * ledger[f"erosion.{fall}_{phase.id}_factor"] if fall else gpus)
    return added(older) if mixed else added(older) / ledger["cluster.gpus"]


def _cash(ledger: Ledger, name: str, label: str, cost: Expr) -> Line:
    return ledger.derive(f"cash.opex_{name}_usd", label, "USD", -cost, sign=Sign.CASH)
