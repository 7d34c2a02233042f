"""The bill of materials as CSV, for purchasing: every part with counts, orders, price and where that is from."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from planner.design.bom import LABELS, BomRow
from planner.design.orders import Order, orders_of
from planner.errors import DesignError
from planner.evaluate import Built, Evaluation
from planner.study.early_failures import early_failures
from planner.study.procurement import by_order, first_order

HEAD = (
    "part", "name", "where", "class", "unit", "in_service", "spares", "to_order", "early_failures_expected",
    "early_failures_of",
)  # fmt: skip
TAIL = (
    "first_order", "needed_by", "unit_price", "currency", "cost", "basis", "price_date", "source", "vendor", "quote_id",
    "quoted_price", "quoted_currency", "valid_until", "break_from", "moq", "lead_time_weeks",
)  # fmt: skip
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
"""What an office program takes for the beginning of a formula."""


def built_of(evaluation: Evaluation) -> Built:
    """The plan's bill and dates.

    Raises:
        DesignError: It can't be built, and there is nothing to buy.
    """
    if evaluation.built is None:
        raise evaluation.refusal or DesignError("the plan can't be built")
    return evaluation.built


def bom_csv(evaluation: Evaluation) -> bytes:
    """The bill, a row for each part in each place of the design, with a column for each order.

    Counts of early failures are expectations: they are replaced under warranty, and no part of what is ordered.

    Raises:
        DesignError: The plan can't be built.
    """
    built, orders = built_of(evaluation), orders_of(evaluation.loaded, evaluation.parts.as_of)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*HEAD, *(f"order_{order.id}" for order in orders), *TAIL])
    for row in built.bom:
        writer.writerow([safe(cell) for cell in _cells(evaluation, row, orders)])
    return text.getvalue().encode()


def safe(text: str) -> str:
    """A text that an office program doesn't take for a formula, as names in quotes come from others.

    >>> safe("=1+1"), safe("-4.5"), safe("QM9700")
    ("'=1+1", '-4.5', 'QM9700')
    """
    if text.startswith(FORMULA_MARKS) and not text.lstrip("-").replace(".", "", 1).isdigit():
        return f"'{text}"
    return text


def _cells(evaluation: Evaluation, row: BomRow, orders: Sequence[Order]) -> list[str]:
    ledger, demand = evaluation.ledger, row.demand
    bought, needed = ledger.scalar(row.count), ledger.scalar(demand.designed)
    failures = early_failures(evaluation, row)
    expected = "" if failures is None else _number(round(ledger.scalar(failures.expected), 2))
    by = by_order(evaluation, row, orders)
    return [
        demand.entry.item.id, demand.name, demand.where, LABELS[demand.asset_class],
        "m" if demand.unit == "m" else "piece", _number(needed), _number(bought - needed), _number(bought), expected,
        "" if failures is None else failures.of, *(_number(one) for one in by), *_when(by, orders),
        *_price(evaluation, row), *_quote(row),
    ]  # fmt: skip


def _when(by: Sequence[float], orders: Sequence[Order]) -> list[str]:
    """Day of the first order, and by when its parts have to work."""
    first = first_order(by, orders)
    due = next((order.in_service for order in orders if order.ordered == first), None)
    return [first.isoformat(), "" if due is None else due.isoformat()]


def _price(evaluation: Evaluation, row: BomRow) -> list[str]:
    ledger = evaluation.ledger
    source = row.price_source or ledger[row.price.key].source
    cost = [_number(ledger.scalar(row.price)), "USD", _number(round(ledger.scalar(row.cost), 2))]
    if source is None:
        return [*cost, "", "", "derived: planner explain shows from what"]
    publication = evaluation.parts.catalog.sources.get(source.source)
    said = source.where if publication is None else f"{publication.title} ({source.where})"
    return [*cost, source.basis.value, source.as_of, said]


def _quote(row: BomRow) -> list[str]:
    if row.quote is None:
        figure = getattr(row.demand.entry.item, "lead_time_weeks", None)
        return ["", "", "", "", "", "", "", "" if figure is None else _number(figure.value)]
    line = row.quote.line
    lead = "" if line.lead_time_weeks is None else _number(line.lead_time_weeks)
    return [
        line.vendor, line.quote_id, _number(line.price), line.currency, line.valid_until, _number(line.min_quantity),
        _number(line.moq), lead,
    ]  # fmt: skip


def _number(value: float) -> str:
    """A number for programs: no separators, at most ten digits after the point.

    >>> _number(1045.0), _number(0.1 + 0.2)
    ('1045', '0.3')
    """
    return f"{value:.10f}".rstrip("0").rstrip(".")
