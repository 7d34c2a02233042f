"""Ledger lines of the accounting view: profit by month, its tax with deferred tax, and what stands in the books."""

from __future__ import annotations

from planner.finance.capex import Capex
from planner.finance.cashflow import CashFlow
from planner.finance.debt_lines import Debt
from planner.finance.depreciation import Depreciation
from planner.finance.differences import apart
from planner.finance.metrics import Owners
from planner.finance.opex import Opex
from planner.finance.tax_lines import deferred
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, cumsum, flag, prev, sum_months
from planner.scenario.parts import Parts


def accounts(
    ledger: Ledger, parts: Parts, bought: Capex, running: Opex, charged: Depreciation, flow: CashFlow,
    found: Debt | None, owners: Owners | None, time: Timeline,
) -> None:  # fmt: skip
    """Enter profit and loss by month: earned, charged, sold at the end, interest, tax.

    Revenue and costs stand in the month they belong to, whenever they are paid; current tax in the last month of
    its fiscal year. Interest added to the debt is part of the servers' cost, and is charged with them.
    """
    earned: Expr = running.total + running.at_end
    if flow.revenue is not None:
        earned = flow.revenue + earned
    ebitda = ledger.derive(
        "book.ebitda_usd", "Earnings before interest, tax and depreciation", "USD", earned, sign=Sign.CASH
    )
    last = flag(time.month, "=", ledger.months - 1)
    cost = added([bought.compute, bought.network, *(() if bought.facility is None else (bought.facility,))])
    left = apart(cost, sum_months(charged.total))
    profit: Expr = ebitda - charged.total
    interest_charged = None
    if found is not None:
        interest_charged = _interest_charged(ledger, found, time)
        profit = profit - found.interest - found.fee - interest_charged
        left = left + apart(added(found.capitalised), sum_months(interest_charged))
    gain = ledger.derive(
        "book.disposal_usd",
        "Resale over book value at the end",
        "USD",
        apart(flow.residual, left * last),
        sign=Sign.CASH,
    )
    before = ledger.derive(
        "book.profit_before_tax_usd", "Profit before tax", "USD", profit + gain, sign=Sign.CASH
    )
    if flow.tax is None or flow.written is None or flow.assessed is None:
        return
    deducted: Expr = cumsum(flow.written.total)
    written: Expr = cumsum(charged.total)
    paid, assessed = flow.tax, flow.assessed
    if owners is not None and interest_charged is not None:
        deducted, written = deducted + cumsum(owners.deducted), written + cumsum(interest_charged)
        paid, assessed = owners.tax, owners.assessed
    liability = deferred(ledger, parts, time, deducted, written, assessed)
    moved = ledger.derive(
        "book.deferred_tax_usd",
        "Change of deferred tax",
        "USD",
        prev(liability, 0) - liability,
        sign=Sign.CASH,
    )
    ledger.derive("book.net_income_usd", "Profit after tax", "USD", before + paid + moved, sign=Sign.CASH)


def _interest_charged(ledger: Ledger, found: Debt, time: Timeline) -> Line:
    """Interest added to the debt, written off with the servers of its phase."""
    written = [ledger[f"book.server_{phase.id}_written_off_fraction"] for phase in time.phases]
    shares = added(
        total * (share - prev(share, 0)) for total, share in zip(found.capitalised, written, strict=False)
    )
    return ledger.derive(
        "book.interest_charged_usd", "Depreciation of interest added to the debt", "USD", shares
    )
