"""Ledger lines of income tax: taxable income by fiscal year, losses, tax, gain of the sale, deferred tax.

Tax falls in the last month of a fiscal year, and in the last month of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.differences import apart
from planner.finance.tax_deductions import Deductions, tax_given
from planner.finance.timeline import Timeline
from planner.finance.worth import tax_rate
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Expr, flag, maximum, minimum, prev, sum_months
from planner.scenario.money import LossUse, Tax
from planner.scenario.parts import Parts


@dataclass(frozen=True, slots=True)
class Assessed:
    """Ledger lines of a tax computation: income by month, tax (cost positive), losses left."""

    income: Line
    due: Line
    losses_left: Line | None


def assess(ledger: Ledger, parts: Parts, prefix: str, label: str, income: Expr, year_end: Line) -> Assessed:
    """Enter taxable income of each fiscal year and its tax.

    Args:
        prefix: First words of the keys.
        label: What the income is before, for labels.
        income: By month, cash in positive, after deductions.
        year_end: 1 in months in which tax is assessed.
    """
    terms = parts.loaded.scenario.money.tax
    assert terms is not None
    rate = tax_rate(ledger, parts)
    monthly = ledger.derive(f"{prefix}.income_usd", f"Taxable income{label}", "USD", income, sign=Sign.CASH)
    yearly = ledger.derive(
        f"{prefix}.income_in_year_usd", f"Taxable income so far in the year{label}", "USD",
        monthly + prev(f"{prefix}.income_in_year_usd", 0) * (1 - prev(year_end, 0)), axis=Axis.MONTH, sign=Sign.CASH,
    )  # fmt: skip
    assessed = yearly * year_end
    if terms.losses is LossUse.USED:
        due = ledger.derive(
            f"{prefix}.due_usd", f"Income tax{label}", "USD", rate * assessed, sign=Sign.COST,
            note="negative where a loss saves tax of the group at once",
        )  # fmt: skip
        return Assessed(monthly, due, None)
    gain = maximum(0, assessed)
    if terms.losses is LossUse.LOST:
        due = ledger.derive(
            f"{prefix}.due_usd", f"Income tax{label}", "USD", rate * gain, sign=Sign.COST,
            note="losses are good for nothing",
        )  # fmt: skip
        return Assessed(monthly, due, None)
    return _carried(ledger, parts, terms, prefix, label, monthly, assessed)


def _carried(
    ledger: Ledger, parts: Parts, terms: Tax, prefix: str, label: str, monthly: Line, assessed: Expr
) -> Assessed:
    cap = tax_given(
        ledger, parts, "tax.loss_cap_fraction", "Share of income that carried losses may offset", "fraction",
        terms.loss_cap_fraction, "loss_cap_fraction", "loss_cap_fraction",
    )  # fmt: skip
    gain = ledger.derive(f"{prefix}.gain_usd", f"Taxable gain of a year{label}", "USD", maximum(0, assessed))
    loss = ledger.derive(f"{prefix}.loss_usd", f"Loss of a year{label}", "USD", maximum(0, -assessed))
    left = f"{prefix}.losses_closing_usd"
    opening = ledger.derive(
        f"{prefix}.losses_opening_usd",
        f"Losses brought forward{label}",
        "USD",
        prev(left, 0),
        axis=Axis.MONTH,
    )
    used = ledger.derive(
        f"{prefix}.losses_used_usd",
        f"Losses used{label}",
        "USD",
        minimum(opening, cap * gain),
        axis=Axis.MONTH,
    )
    closing = ledger.derive(
        left, f"Losses carried forward{label}", "USD", opening + loss - used, axis=Axis.MONTH
    )
    due = ledger.derive(
        f"{prefix}.due_usd", f"Income tax{label}", "USD", tax_rate(ledger, parts) * (gain - used),
        axis=Axis.MONTH, sign=Sign.COST,
    )  # fmt: skip
    return Assessed(monthly, due, closing)


def disposal(
    ledger: Ledger, time: Timeline, found: Deductions, proceeds: Expr, more: Expr | None = None
) -> Expr:
    """Gain on what is sold in the last month over the basis that is left.

    Args:
        proceeds: Resale by month.
        more: Further basis left at the end, such as capitalised interest.
    """
    last = flag(time.month, "=", ledger.months - 1)
    left = apart(found.basis, sum_months(found.total))
    return proceeds - (left if more is None else left + more) * last


def deferred(
    ledger: Ledger, parts: Parts, time: Timeline, deducted: Expr, charged: Expr, tax: Assessed
) -> Line:
    """Enter the deferred tax liability: tax on what was deducted before the books did, less carried losses.

    Args:
        deducted: For tax so far, by month.
        charged: In the books so far, by month.
    """
    ahead = apart(deducted, charged)
    liability = ahead if tax.losses_left is None else ahead - tax.losses_left
    return ledger.derive(
        "tax.deferred_closing_usd", "Deferred tax liability", "USD",
        tax_rate(ledger, parts) * liability * flag(time.month, "<", ledger.months - 1),
        note="negative for an asset; nothing is left once everything is sold, and losses unused by then are lost",
    )  # fmt: skip
