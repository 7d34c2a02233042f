"""Costs of the options by month in the columns of FOCUS, the FinOps cost and usage format.

List, contracted, effective and billed cost are the four prices of one charge: what the list says, what was
negotiated, what prepayments come to when spread over use, and what the month's invoice says.

Source:
    focus.finops.org, FOCUS 1.x, names of columns; columns of our own begin with ``x_`` as it asks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from planner.finance.timeline import start_of
from planner.study.options import Comparison, Option
from planner.units import MONTHS_PER_YEAR

COLUMNS = (
    "BillingPeriodStart", "BillingPeriodEnd", "ProviderName", "ServiceCategory", "ChargeCategory",
    "ChargeDescription", "PricingQuantity", "PricingUnit", "ListUnitPrice", "ContractedUnitPrice", "ListCost",
    "ContractedCost", "EffectiveCost", "BilledCost", "BillingCurrency", "x_OptionId", "x_PriceDate",
)  # fmt: skip
OWN = "own"
"""Provider of what is owned or leased, whose bills come from many sellers."""


def focus_csv(comparison: Comparison) -> str:
    """One row for each option and month, purchases and resale in the months in which they are paid."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for option in comparison.options:
        table.writerows(_rows(comparison, option))
    return text.getvalue()


def _rows(comparison: Comparison, option: Option) -> Iterator[tuple[str, ...]]:
    ledger, offer = comparison.ledger, option.offer
    committed = offer is not None and offer.term_months > 0
    hours = ledger.value("timing.gpu_hours" if committed else "timing.gpu_hours_sold")[0]
    effective = ledger.value(f"options.{option.id}.effective_usd")[0]
    for month, cash in enumerate(option.cash):
        billed, quantity = -float(cash), float(hours[month])
        if not (billed or quantity):
            continue
        listed = billed if offer is None else quantity * offer.list_usd_per_gpu_hour
        unit_prices = ("", "")
        if offer is not None:
            unit_prices = (_number(offer.list_usd_per_gpu_hour), _number(offer.usd_per_gpu_hour))
        start, end = _period(comparison, month)
        yield (
            start, end, offer.provider if offer is not None else OWN, "Compute",
            "Credit" if billed < 0 else "Usage", option.label, _number(quantity), "GPU-hours", *unit_prices,
            _number(listed), _number(billed), _number(float(effective[month])), _number(billed), "USD",
            option.id, offer.as_of if offer is not None else comparison.evaluation.parts.as_of,
        )  # fmt: skip


def _period(comparison: Comparison, month: int) -> tuple[str, str]:
    """First day of a month and of the next; month 0 is that of the first payment, and flows fall at a month's end."""
    year, first = start_of(comparison.evaluation.loaded, comparison.evaluation.parts.as_of)
    days = []
    for at in (month, month + 1):
        years, rest = divmod(first - 1 + at, int(MONTHS_PER_YEAR))
        days.append(f"{year + years:04d}-{rest + 1:02d}-01")
    return days[0], days[1]


def _number(value: float) -> str:
    """A number that reads back as it is, without a sign on zero.

    >>> _number(-0.0), _number(1234.5)
    ('0.0', '1234.5')
    """
    return repr(value + 0.0)
