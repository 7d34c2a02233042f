"""Debt lines agree with the loan functions."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance import loans, returns
from tests.unit.finance.planned import ledger, scalar, series

ONE = (
    "phases=[]", "money.payment=null", "money.deposit_fraction=1", "money.debt.grace_months=6", "money.lease=null",
    "cluster.groups=[{id: first, server: hgx-h200, gpus: 256}]", "money.price_erosion=null",
)  # fmt: skip


def test_a_loan_for_one_purchase_is_the_level_loan() -> None:
    book = ledger(*ONE)
    lent = series(book, "debt.draw_usd").sum(axis=1)
    expected = loans.amortisation(
        rate=scalar(book, "debt.rate_monthly"), periods=54, lent_usd=lent, interest_only=6
    )
    np.testing.assert_allclose(
        series(book, "debt.interest_usd")[:, 1:55], expected.interest, rtol=1e-9, atol=1e-6
    )
    np.testing.assert_allclose(
        series(book, "debt.closing_usd")[:, 1:55], expected.closing, rtol=1e-9, atol=1e-3
    )
    assert series(book, "debt.closing_usd")[0, 54:].max() == 0.0
    assert lent[0] == pytest.approx(0.6 * book.scalar("capex.total_usd"))


def test_interest_is_added_to_the_debt_until_the_last_payment_of_a_purchase() -> None:
    book = ledger()
    rate, draw = book.scalar("debt.rate_monthly"), series(book, "debt.p1_draw_usd")[0]
    owed = 0.0
    for month in range(6):  # ordered in month 0, shipped in 2, in service in 3, accepted in 5
        owed = owed * (1 + rate) + draw[month]
    assert draw[6:].sum() == 0.0
    assert book.scalar("debt.p1_owed_usd") == pytest.approx(owed, rel=1e-12)
    assert book.scalar("debt.p1_capitalised_usd") == pytest.approx(owed - draw.sum(), rel=1e-9)


def test_all_tranches_are_repaid_and_the_lender_earns_the_rate() -> None:
    book = ledger("money.debt.fee_fraction=0")
    repaid = series(book, "debt.service_usd").sum() - series(book, "debt.interest_usd").sum()
    owed = series(book, "debt.draw_usd").sum() + series(book, "debt.capitalised_interest_usd").sum()
    assert repaid == pytest.approx(owed, rel=1e-12)
    earned = returns.irr(flows=-series(book, "debt.cash_usd"))
    assert earned[0] == pytest.approx(book.scalar("debt.rate_monthly"), abs=1e-9)


def test_a_loan_longer_than_the_plan_is_repaid_in_its_last_month() -> None:
    book = ledger("money.horizon_months=36", "money.lease=null", "money.debt.term_months=120")
    closing, service = series(book, "debt.closing_usd")[0], series(book, "debt.service_usd")[0]
    assert closing[-1] == 0.0
    assert service[-1] == pytest.approx(closing[-2] * (1 + book.scalar("debt.rate_monthly")), rel=1e-12)


def test_the_least_cover_is_that_of_the_worst_year() -> None:
    book = ledger()
    cash, service = series(book, "debt.available_usd")[0], series(book, "debt.service_usd")[0]
    years = [slice(first, min(first + 12, book.months - 1)) for first in range(4, book.months - 1, 12)]
    ratios = loans.least_cover(
        cash_usd=np.array([[cash[year].sum() for year in years]]),
        service_usd=np.array([[service[year].sum() for year in years]]),
    )
    assert book.scalar("metrics.cover_least_ratio") == pytest.approx(ratios[0], rel=1e-12)


def test_owners_get_what_the_project_and_the_lender_leave() -> None:
    book = ledger()
    own = (
        series(book, "cash.net_usd")
        - series(book, "cash.tax_usd")
        + series(book, "cash.levered_tax_usd")
        + series(book, "debt.cash_usd")
    )
    np.testing.assert_allclose(series(book, "cash.equity_usd"), own, rtol=1e-12, atol=1e-6)
    rate = returns.irr(flows=own)
    assert book.scalar("metrics.equity_irr_monthly") == pytest.approx(rate[0], abs=1e-12)
    assert book.scalar("metrics.equity_irr_fraction") > book.scalar("metrics.irr_fraction")
