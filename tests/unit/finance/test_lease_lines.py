"""Lease lines agree with the lease functions."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance import leases
from planner.ledger.rates import present_value
from tests.unit.finance.planned import ledger, scalar, series

ONE = ("phases=[]", "cluster.groups=[{id: first, server: hgx-h200, gpus: 256}]", "money.payment=null",
       "money.deposit_fraction=1", "money.price_erosion=null")  # fmt: skip


@pytest.mark.parametrize("timing", ["advance", "arrears"])
@pytest.mark.parametrize("kind", list(leases.LeaseKind))
def test_the_books_of_a_lease_are_those_of_the_convention(timing: str, kind: leases.LeaseKind) -> None:
    book = ledger(*ONE, f"money.lease.timing={timing}", f"money.lease.view={kind.value}")
    early = timing == "advance"
    rents = series(book, "lease.rent_usd")[:, 0:48] if early else series(book, "lease.rent_usd")[:, 1:49]
    expected = leases.lease_books(
        payments_usd=rents, rate=scalar(book, "lease.rate_monthly"), in_advance=early, kind=kind
    )
    np.testing.assert_allclose(
        series(book, "lease.interest_usd")[:, 1:49], expected.interest, rtol=1e-9, atol=1e-4
    )
    np.testing.assert_allclose(
        series(book, "lease.expense_usd")[:, 1:49], expected.expense, rtol=1e-9, atol=1e-4
    )
    np.testing.assert_allclose(
        series(book, "lease.right_of_use_closing_usd")[:, 1:49], expected.right_of_use, rtol=1e-9, atol=1e-3
    )
    if not early:
        np.testing.assert_allclose(
            series(book, "lease.closing_usd")[:, 1:49], expected.liability, rtol=1e-9, atol=1e-3
        )


def test_leasing_is_worth_the_price_saved_less_rent_shields_and_residual() -> None:
    book = ledger(*ONE)
    months = np.arange(float(book.months))
    rate = scalar(book, "lease.rate_after_tax_monthly")
    tax = book.scalar("tax.rate_fraction")

    def value(flows: np.ndarray) -> float:
        return float(present_value(rate=rate, flows=flows, periods=months)[0])

    price = book.scalar("capex.servers_usd")
    profile = series(book, "tax.5_years_all_fraction")
    worth_at_end = min(book.scalar("assumption.residual_fraction_year4"), 0.15) * price * (1 - tax)
    end = worth_at_end / (1 + book.scalar("lease.residual_rate_monthly")) ** 48
    expected = price - value(series(book, "lease.rent_usd")) * (1 - tax) - value(profile) * price * tax - end
    assert book.scalar("lease.advantage_usd") == pytest.approx(expected, rel=1e-9)
    assert (1 + book.scalar("lease.rate_after_tax_monthly")) ** 12 == pytest.approx(1 + 0.08 * 0.75)


def test_an_owner_deducts_the_whole_price_however_long_it_is_written_off() -> None:
    slow = ("money.tax.method=straight-line", "money.tax.bonus_fraction=0.0", "money.tax.server_years=15")
    book = ledger(*ONE, *slow)
    saved = book.scalar("capex.servers_usd") * book.scalar("tax.rate_fraction")
    shield = series(book, "lease.shield_usd")[0]
    assert shield.sum() == pytest.approx(saved, rel=1e-9)
    assert shield[-1] == pytest.approx(
        saved * (1 / 180 + 60 / 180), rel=1e-9
    )  # ten years of fifteen are over


def test_a_typed_resale_value_is_of_the_plans_end_and_not_of_an_earlier_end_of_the_lease() -> None:
    terms = (*ONE, "money.lease.buyout_fraction=null")

    def lacked(*changes: str) -> float:
        return float(series(ledger(*terms, *changes), "lease.residual_usd").sum())

    typed = "money.depreciation.residual_fraction=0.4"
    assert lacked(typed) == lacked() > 0.0
    to_the_end = ledger(*terms, typed, "money.lease.term_months=120")
    kept = 1 - to_the_end.scalar("tax.rate_fraction")
    found = series(to_the_end, "lease.residual_usd")[0]
    assert found[-1] == pytest.approx(0.4 * kept * to_the_end.scalar("lease.price_usd"), rel=1e-12)


def test_paying_in_arrears_is_worth_more_than_in_advance() -> None:
    early, late = ledger(), ledger("money.lease.timing=arrears")
    assert late.scalar("lease.advantage_usd") > early.scalar("lease.advantage_usd")
