"""What the cash flow comes to: metrics, financing, lease, and the accounting view of the same lines."""

from __future__ import annotations

from planner.finance.accounts import accounts
from planner.finance.capex import Capex
from planner.finance.cashflow import CashFlow
from planner.finance.debt_lines import debt
from planner.finance.depreciation import Depreciation
from planner.finance.lease_lines import lease
from planner.finance.metrics import equity, levelised, metrics
from planner.finance.opex import Opex
from planner.finance.timeline import Timeline
from planner.ledger import Ledger
from planner.scenario.parts import Parts

STRUCTURAL = (
    "tax.months_before", "lease.term_months", "debt.term_months", "debt.grace_months",
    "money.payment.accepted_months_after_service", "timing.building_service_month",
)  # fmt: skip
"""Inputs that say which lines there are, or how long the time axis is: another value is another ledger."""


def returns_and_accounts(
    ledger: Ledger,
    parts: Parts,
    bought: Capex,
    running: Opex,
    charged: Depreciation,
    flow: CashFlow,
    time: Timeline,
) -> None:
    """Enter all that follows from the flows once unit costs stand.

    One ledger has three views: cash (``cash.``, ``metrics.``), accounting (``book.``, ``tax.``) and unit cost
    (``unit.``).
    """
    metrics(ledger, flow, time)
    levelised(ledger, parts, flow, time)
    borrowed = debt(ledger, parts, bought, time)
    owners = equity(ledger, parts, running, flow, time, borrowed)
    lease(ledger, parts, time, flow.written)
    accounts(ledger, parts, bought, running, charged, flow, borrowed, owners, time)
