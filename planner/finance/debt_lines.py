"""Ledger lines of a loan for the purchase: draws, interest, repayment, cover.

Each purchase has a tranche, drawn as it is paid. Until its last payment interest is added to the debt; then come
months of interest alone, then level payments. What is owed in the plan's last month is repaid out of the sale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.finance.capex import Capex
from planner.finance.timeline import Timeline
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import (
    Expr,
    added,
    cumsum,
    flag,
    maximum,
    minimum,
    npv,
    pmt,
    prev,
    sum_months,
    sum_year,
)
from planner.scenario.givens import wish_line
from planner.scenario.money import Debt as Terms
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR

MONTHS = int(MONTHS_PER_YEAR)


@dataclass(frozen=True, slots=True)
class Tranche:
    """A purchase that is financed: what is paid for it, and the month its interest is paid from."""

    id: str
    paid: Expr
    ready: Expr


@dataclass(frozen=True, slots=True)
class Debt:
    """Ledger lines of all tranches by month; positive but for the last.

    Attributes:
        draw: Received.
        fee: On it.
        interest: Paid in cash.
        capitalised: Interest added to the debt, by tranche, over all months.
        service: Interest and repayment paid.
        cash: To and from the lender, cash in positive.
    """

    draw: Line
    fee: Line
    interest: Line
    capitalised: tuple[Line, ...]
    service: Line
    cash: Line


def debt(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Debt | None:
    """Enter the loan; None where the scenario has none."""
    terms = parts.loaded.scenario.money.debt
    if terms is None:
        return None
    share, yearly, term, grace, fee = (
        wish_line(ledger, parts.loaded, f"debt.{field}", label, unit, float(getattr(terms, field)),
                  "money", "debt", field)
        for field, label, unit in (
            ("share_fraction", "Share of the purchase that is borrowed", "fraction"),
            ("rate_fraction", "Interest of the loan a year", "fraction/year"),
            ("term_months", "Level payments of a tranche", "month"),
            ("grace_months", "Months of interest alone", "month"),
            ("fee_fraction", "Fee on what is borrowed", "fraction"),
        )
    )  # fmt: skip
    rate = ledger.derive(
        "debt.rate_monthly", "Interest of the loan a month", "fraction/month", yearly / MONTHS_PER_YEAR
    )
    tranches = tuple(_tranches(ledger, bought, time, late=_late(parts)))
    drawn, added_interest, ends = [], [], []
    planned: list[Expr] = []
    for one in tranches:
        lines = _tranche(ledger, one, time, share, rate, term, grace)
        drawn.append(lines[0])
        added_interest.append(lines[1])
        planned += lines[2:]
        ends.append(one.ready + grace + term)
    draw = ledger.derive("debt.draw_usd", "Borrowed", "USD", added(drawn), sign=Sign.CASH)
    capitalised = ledger.derive(
        "debt.capitalised_interest_usd", "Interest added to the debt", "USD", added(added_interest)
    )
    last = ledger.derive("debt.last_month", "Last payment of the loan", "month", maximum(*ends))
    service, interest = _corkscrew(ledger, time, draw, capitalised, rate, last, added(planned))
    charged = ledger.derive("debt.fee_usd", "Fee of the loan", "USD", draw * fee, sign=Sign.COST)
    cash = ledger.derive(
        "debt.cash_usd", "Cash from and to the lender", "USD", draw - charged - service, sign=Sign.CASH
    )
    totals = tuple(
        ledger.derive(f"debt.{one.id}_capitalised_usd", f"Interest added to the debt, {one.id}", "USD", sum_months(line))
        for one, line in zip(tranches, added_interest, strict=True)
    )  # fmt: skip
    return Debt(draw, charged, interest, totals, service, cash)


def _late(parts: Parts) -> bool:
    terms = parts.loaded.scenario.money.payment
    return terms is not None and terms.accepted_months_after_service > 0


def _tranches(ledger: Ledger, bought: Capex, time: Timeline, *, late: bool) -> Iterator[Tranche]:
    """One for each phase, and one for a building with dates of its own."""
    after = ledger["money.payment.accepted_months_after_service"] if late else None
    for phase in time.phases:
        amount = bought.compute * phase.server_share + bought.network * phase.network_share
        if bought.facility is not None and time.building is None:
            amount = amount + bought.facility * phase.server_share
        service = ledger[f"phase.{phase.id}.service_month"]
        yield Tranche(phase.id, amount * phase.paid, service if after is None else service + after)
    if bought.facility is not None and time.building is not None:
        yield Tranche(
            "construction", bought.facility * time.building.paid, ledger["timing.building_service_month"]
        )


def _tranche(
    ledger: Ledger, one: Tranche, time: Timeline, share: Line, rate: Line, term: Line, grace: Line
) -> tuple[Line, Line, Line, Expr]:
    """Draws, interest added, level payments, and interest alone."""
    key, month = f"debt.{one.id}", time.month
    draw = ledger.derive(f"{key}_draw_usd", f"Borrowed, {one.id}", "USD", share * one.paid)
    today = ledger.derive(
        f"{key}_draw_today_usd", f"Borrowed at month 0's value, {one.id}", "USD", draw / (1 + rate) ** month
    )
    grown = ledger.derive(
        f"{key}_grown_usd", f"Owed while building, {one.id}", "USD", (1 + rate) ** month * cumsum(today)
    )
    interest = ledger.derive(
        f"{key}_capitalised_by_month_usd", f"Interest added by month, {one.id}", "USD",
        prev(grown, 0) * rate * flag(month, "<=", one.ready),
    )  # fmt: skip
    owed = ledger.derive(
        f"{key}_owed_usd",
        f"Owed when it is all drawn, {one.id}",
        "USD",
        npv(rate, draw) * (1 + rate) ** one.ready,
    )
    begins = one.ready + grace
    level = ledger.derive(
        f"{key}_level_usd", f"Level payments, {one.id}", "USD",
        pmt(rate, term, owed) * flag(month, ">", begins) * flag(month, "<=", begins + term),
    )  # fmt: skip
    alone = owed * rate * flag(month, ">", one.ready) * flag(month, "<=", begins)
    return draw, interest, level, alone


def _corkscrew(
    ledger: Ledger, time: Timeline, draw: Line, capitalised: Line, rate: Line, last: Line, planned: Expr
) -> tuple[Line, Line]:
    """The balance of all tranches; returns what is paid, and the interest in it."""
    end = flag(time.month, "=", ledger.months - 1)
    opening = ledger.derive(
        "debt.opening_usd", "Debt at the start", "USD", prev("debt.closing_usd", 0), axis=Axis.MONTH
    )
    due = ledger.derive("debt.planned_usd", "Service by the loan's plan", "USD", planned)
    accrued = ledger.derive(
        "debt.accrued_interest_usd", "Interest of the month", "USD", opening * rate, axis=Axis.MONTH
    )
    service = ledger.derive(
        "debt.service_usd", "Interest and repayment", "USD", due + end * (opening + accrued - due),
        axis=Axis.MONTH, sign=Sign.COST, note="all that is owed is repaid in the last month",
    )  # fmt: skip
    ledger.derive(
        "debt.closing_usd", "Debt at the end", "USD",
        (opening + draw + accrued - service) * flag(time.month, "<", last) * flag(time.month, "<", ledger.months - 1),
        axis=Axis.MONTH,
    )  # fmt: skip
    interest = ledger.derive(
        "debt.interest_usd", "Interest paid", "USD", accrued - capitalised, axis=Axis.MONTH, sign=Sign.COST
    )
    return service, interest


def cover(ledger: Ledger, parts: Parts, time: Timeline, found: Debt, available: Line) -> Line:
    """Enter cash over debt service of every year in service, and the least of them (DSCR).

    The last month stays out: the debt that is left is repaid out of the sale there.

    Args:
        available: Cash after running costs and tax by month, before the purchase, resale and debt.
    """
    terms = parts.loaded.scenario.money.debt
    assert terms is not None
    final = ledger.months - 1
    ratios = []
    for year, first in enumerate(range(time.first_month, final, MONTHS), start=1):
        months = min(MONTHS, final - first)
        if not _due_in(terms, time, first, months):
            continue
        ratios.append(
            ledger.derive(
                f"debt.cover_year{year}_ratio", f"Cover of debt service, year {year} in service", "1",
                sum_year(available, first=first, months=months) / sum_year(found.service, first=first, months=months),
            )
        )  # fmt: skip
    least = ledger.derive(
        "metrics.cover_least_ratio", "Least cover of debt service (DSCR)", "1", minimum(*ratios)
    )
    if terms.cover_ratio is not None:
        asked = wish_line(
            ledger, parts.loaded, "debt.cover_ratio", "Cover that the lender asks", "1", terms.cover_ratio,
            "money", "debt", "cover_ratio",
        )  # fmt: skip
        ledger.derive(
            "metrics.cover_kept", "Cover that the lender asks is kept", "flag", flag(least, ">=", asked)
        )
    return least


def _due_in(terms: Terms, time: Timeline, first: int, months: int) -> bool:
    """Whether the plan of some tranche has a payment in these months."""
    return any(
        date.service_month + 1 < first + months
        and date.service_month + terms.grace_months + terms.term_months >= first
        for date in time.dates
    )
