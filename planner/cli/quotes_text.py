"""Quotes and their comparison as an object and as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from planner.cli.folding import folded
from planner.ledger import Line
from planner.scenario.quote_match import Matched, Unmatched
from planner.scenario.quotes import QuoteLine, Quotes
from planner.study.offers import Offer, OfferRow
from planner.study.procurement import Comparison
from planner.study.second_sources import second_sources

WIDE = 80


def lines_object(quotes: Quotes, matched: Matched) -> dict[str, Any]:
    """What files of quotes hold: prices with the part that each means, and what means none."""
    meant = {line.place: item_id for item_id, lines in matched.by_item.items() for line in lines}
    return {
        "lines": [{**_line(line), "part_id": meant.get(line.place)} for line in quotes.lines],
        "unmatched": [_unmatched(one) for one in matched.unmatched],
        "not_offered": [{"place": str(place), "part": part} for place, part in quotes.declined],
        "ignored_columns": [{"file": file, "heading": heading} for file, heading in quotes.ignored],
    }


def _line(line: QuoteLine) -> dict[str, Any]:
    return {
        "place": str(line.place), "vendor": line.vendor, "quote_id": line.quote_id, "date": line.date,
        "valid_until": line.valid_until or None, "part": line.part, "min_quantity": line.min_quantity, "moq": line.moq,
        "unit": "m" if line.unit == "m" else "piece", "price": line.price, "currency": line.currency,
        "lead_time_weeks": line.lead_time_weeks, "support_years": line.support_years, "support_price": line.support_price,
    }  # fmt: skip


def _unmatched(one: Unmatched) -> dict[str, Any]:
    return {"place": str(one.line.place), "part": one.line.part, "remedy": one.remedy}


def lines_text(answer: dict[str, Any]) -> list[str]:
    """The same for people."""
    row = "{:<24} {:<12} {:>9} {:>13} {:<5} {:<11}"
    told = [row.format("part", "vendor", "from unit", "price", "", "valid until")]
    for one in answer["lines"]:
        told.append(
            row.format(
                (one["part_id"] or "?")[:24], one["vendor"][:12], f"{one['min_quantity']:,.0f}", f"{one['price']:,.2f}",
                one["currency"] + ("/m" if one["unit"] == "m" else ""), one["valid_until"] or "open",
            ).rstrip()
        )  # fmt: skip
    return [*told, *_leftovers(answer)]


def _leftovers(answer: dict[str, Any]) -> Iterator[str]:
    """What of the files means nothing to the plan, so that nothing is dropped in silence."""
    for one in answer["unmatched"]:
        yield from _filled(f"{one['place']}: '{one['part']}' is no part of the catalog ({one['remedy']})")
    for one in answer["not_offered"]:
        yield from _filled(f"{one['place']}: '{one['part']}' has no price: not offered")
    for one in answer["ignored_columns"]:
        yield from _filled(f"{one['file']}: column '{one['heading']}' is not read")


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, WIDE, subsequent_indent="  ", break_on_hyphens=False)


def as_object(found: Comparison) -> dict[str, Any]:
    """The comparison, every amount with its key in the ledger."""
    in_bill = {key[0] for key in found.bought}
    return {
        "scenario": found.base.loaded.scenario.name,
        "catalog": _amount(found, found.catalog_total),
        "orders": [
            {"id": order.id, "order": order.ordered.isoformat(),
             "in_service": None if order.in_service is None else order.in_service.isoformat()}
            for order in found.orders
        ],
        "offers": [_offer(found, one) for one in found.offers],
        "second_sources": [
            {
                "part": one.row.demand.entry.item.id, "vendors": list(one.vendors), "alternatives": list(one.others),
                "qualification_weeks": None if one.weeks is None else found.base.ledger.scalar(one.weeks),
                "qualified": None if one.ready is None else one.ready.isoformat(), "in_time": one.in_time,
            }
            for one in second_sources(found)
        ],
        **lines_object(found.quotes, found.matched),
        "not_in_plan": sorted(set(found.matched.by_item) - in_bill),
    }  # fmt: skip


def _amount(found: Comparison, line: Line) -> dict[str, Any]:
    return {"key": line.key, "value": found.base.ledger.scalar(line), "unit": line.unit}


def _offer(found: Comparison, offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.slug, "vendor": offer.vendor, "quotes": list(offer.quotes),
        "total": _amount(found, offer.total), "covered": _amount(found, offer.covered),
        "present_value": _amount(found, offer.present),
        "support": None if offer.support is None else _amount(found, offer.support),
        "parts": [_part(found, one) for one in offer.rows],
        "ready": [
            {"order": one.order.id, "first": one.first.isoformat(), "late": one.late, "decided_by": one.last.line.part,
             "key": one.days.key}
            for one in offer.ready
        ],
    }  # fmt: skip


def _part(found: Comparison, one: OfferRow) -> dict[str, Any]:
    line = None if one.quoted is None else one.quoted.line
    return {
        "part": one.row.demand.entry.item.id, "where": one.row.demand.where or None,
        "count": _amount(found, one.row.count), "price": _amount(found, one.price), "cost": _amount(found, one.cost),
        "quote": None if line is None else line.quote_id, "place": None if line is None else str(line.place),
        "break_from": None if line is None else line.min_quantity,
        "order_size": None if one.quoted is None else one.quoted.ordered,
        "not_taken": [f"{each.line.place}: {each.line.title} {each.message} ({each.remedy})" for each in one.wrong],
    }  # fmt: skip


def as_text(answer: dict[str, Any]) -> list[str]:
    """The comparison for people."""
    told = [answer["scenario"], *_totals(answer)]
    said: set[str] = set()
    for offer in answer["offers"]:
        told += ["", *_offered(offer, said)]
    told += ["", "SECOND SOURCES", *_sources(answer["second_sources"])]
    rest = [*_leftovers(answer)]
    rest += (
        _filled(f"quoted, and not in this plan: {', '.join(answer['not_in_plan'])}")
        if answer["not_in_plan"]
        else []
    )
    return [*told, *([""] if rest else []), *rest]


def _totals(answer: dict[str, Any]) -> Iterator[str]:
    row = "{:<26} {:>13} {:>7} {:>13} {:>16}"
    yield row.format("bill of", "total USD", "quoted", "at order USD", "in service from")
    yield row.format("catalog", f"{answer['catalog']['value']:,.0f}", "", "", "").rstrip()
    for offer in answer["offers"]:
        ready = max((one["first"] for one in offer["ready"]), default="")
        late = " late" if any(one["late"] for one in offer["ready"]) else ""
        yield row.format(
            offer["vendor"][:26], f"{offer['total']['value']:,.0f}", _covered(offer),
            f"{offer['present_value']['value']:,.0f}", f"{ready}{late}",
        ).rstrip()  # fmt: skip
    yield from _filled(
        "Quoted: share of the total, the rest is at catalog prices. At order: what the payments are worth on the "
        "days of the orders, under the terms of payment."
    )
    for offer in answer["offers"]:
        if not offer["covered"]["value"]:
            yield from _filled(f"{offer['vendor']}: no price could be taken, so its total is the catalog's.")


def _covered(offer: dict[str, Any]) -> str:
    """Share that is quoted; never 100 % where a part is missing.

    >>> _covered({"covered": {"value": 0.9996}, "parts": [{"quote": None}]})
    '99.9 %'
    """
    percent = offer["covered"]["value"] * 100
    if any(part["quote"] is None for part in offer["parts"]):
        return f"{min(percent, 99.9):.1f} %" if percent else "0 %"
    return f"{percent:.0f} %"


def _offered(offer: dict[str, Any], told: set[str]) -> Iterator[str]:
    """One offer's parts; what is said of a line of a quote is said once, in the first offer that it is of."""
    quotes = f", {', '.join(offer['quotes'])}" if offer["quotes"] else ""
    yield from _filled(f"{offer['vendor'].upper()}{quotes}")
    row = "{:<28} {:>10} {:>13} {:>13} {:<11}"
    wrong = [one for part in offer["parts"] for one in part["not_taken"]]
    often = [one for one in folded(wrong) if one not in wrong]
    if any(part["quote"] is not None for part in offer["parts"]):
        yield row.format("part", "count", "price USD", "cost USD", "quote").rstrip()
    for part in offer["parts"]:
        if part["quote"] is not None:
            unit = " m" if part["count"]["unit"] == "m" else ""
            yield row.format(
                part["part"][:28], f"{part['count']['value']:,.0f}{unit}", f"{part['price']['value']:,.2f}",
                f"{part['cost']['value']:,.0f}", part["quote"][:11],
            ).rstrip()  # fmt: skip
        if not often:
            yield from _once(part["not_taken"], told)
    if often:
        yield from _once(folded(wrong), told)
    missing = [part for part in offer["parts"] if part["quote"] is None]
    if missing:
        cost = f"{sum(part['cost']['value'] for part in missing):,.0f}"
        yield row.format("at catalog prices", "", "", cost, "catalog").rstrip()
        yield from _filled(f"  not quoted: {', '.join(dict.fromkeys(part['part'] for part in missing))}")
    if offer["support"] is not None:
        yield f"support charged beside the prices: {offer['support']['value']:,.0f} USD"
    for one in offer["ready"]:
        said = "too late: " if one["late"] else ""
        yield from _filled(
            f"order {one['order']}: {said}in service from {one['first']}, by {one['decided_by']}"
        )


def _once(wrong: Sequence[str], told: set[str]) -> Iterator[str]:
    for said in dict.fromkeys(wrong):
        if said not in told:
            told.add(said)
            yield from (f"    {line}" for line in textwrap.wrap(said, WIDE - 4, break_on_hyphens=False))


def _sources(sources: Sequence[dict[str, Any]]) -> Iterator[str]:
    alone: dict[str, list[str]] = {}
    for one in sources:
        vendors = f"quoted by {', '.join(one['vendors'])}" if one["vendors"] else "not quoted"
        if not one["alternatives"]:
            alone.setdefault(vendors, []).append(one["part"])
            continue
        when = ""
        if one["qualified"] is not None:
            said = "in time" if one["in_time"] else "after the order"
            when = f", qualified by {one['qualified']}, {said}"
        yield from _filled(f"{one['part']}: {vendors}; {', '.join(one['alternatives'][:3])}{when}")
    for vendors, parts in alone.items():
        yield from _filled(f"{vendors}, and no other part of its rate and form: {', '.join(parts)}")
