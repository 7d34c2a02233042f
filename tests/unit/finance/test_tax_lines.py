"""Tax lines agree with the conventions they follow, by fiscal year."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.finance import macrs, straight_line, taxes
from planner.ledger import Ledger
from tests.unit.finance.planned import evaluated, ledger, scalar, series

PHASES = ("p1", "p2", "p3", "p4")
CARRIED: tuple[str, ...] = ()
USED = ("money.tax.losses=used",)
LOST = ("money.tax.losses=lost",)
PURE_COST = ("money.sell_usd_per_gpu_hour=null", "money.costs.letters-of-credit.per=total",
             "money.debt.cover_ratio=null", "money.working_capital.receivable_days=0.0")  # fmt: skip


def by_fiscal_year(book: Ledger, key: str) -> Floats:
    """Totals of fiscal years that begin in April; month 0 is December, their ninth month."""
    return straight_line.by_year(monthly=series(book, key), first_month_of_year=8)


@pytest.mark.parametrize(
    ("changes", "losses"),
    [(CARRIED, taxes.Losses.CARRIED), (USED, taxes.Losses.USED), (LOST, taxes.Losses.FLOORED)],
)
def test_tax_of_each_year_is_that_of_the_convention(changes: tuple[str, ...], losses: taxes.Losses) -> None:
    book = ledger(*changes)
    income = by_fiscal_year(book, "tax.income_usd")
    expected = taxes.income_tax(
        income_usd=income,
        tax_fraction=scalar(book, "tax.rate_fraction"),
        losses=losses,
        cap_fraction=np.array([0.8]),
    )
    assert income.min() < 0 < income.max(), "the case needs years of loss and of gain"
    np.testing.assert_allclose(by_fiscal_year(book, "tax.due_usd"), expected.due, rtol=1e-12, atol=1e-6)
    if losses is taxes.Losses.CARRIED:
        left = series(book, "tax.losses_closing_usd")[:, [3, 15, 27]]
        np.testing.assert_allclose(left, expected.losses_left[:, :3], rtol=1e-12, atol=1e-6)


def test_tax_is_due_in_the_last_month_of_a_fiscal_year_and_of_the_plan() -> None:
    book = ledger()
    ends = np.flatnonzero(series(book, "tax.year_end")[0])
    assert ends.tolist() == [*range(3, book.months - 1, 12), book.months - 1]
    others = np.delete(series(book, "tax.due_usd")[0], ends)
    assert np.all(others == 0.0)


def test_deductions_of_a_phase_are_the_half_year_table_with_its_bonus() -> None:
    book = ledger()
    table, _ = macrs.macrs_table(catalog=open_catalog(), recovery_years=5)
    expected = macrs.deductions_usd(
        basis_usd=np.array([1.0]), fractions=table, bonus_fraction=np.array([0.4])
    )
    found = by_fiscal_year(book, "tax.5_years_p2_fraction")[0]
    np.testing.assert_allclose(found[1:7], expected[0], rtol=1e-12)  # fiscal 2027 begins in month 4
    assert found[0] == 0.0 and found[7:].sum() == 0.0


def test_a_year_heavy_in_its_last_quarter_takes_the_mid_quarter_tables() -> None:
    book = ledger("phases=[{id: p1, order: 2026-12, in_service: 2027-03}, {id: p2, order: 2027-05, in_service: 2028-01},"
                  "{id: p3, order: 2027-09, in_service: 2028-02}, {id: p4, order: 2028-08, in_service: 2028-11}]")  # fmt: skip
    assert book.scalar("tax.last_quarter_2_fraction") == pytest.approx(1.0)
    table, _ = macrs.macrs_table(catalog=open_catalog(), recovery_years=5, quarter=4)
    found = by_fiscal_year(book, "tax.5_years_p2_fraction")[0, 1:7]
    np.testing.assert_allclose(found, 0.6 * table + 0.4 * np.eye(6)[0], rtol=1e-12)


def test_a_last_quarter_of_little_weight_leaves_the_half_year_tables() -> None:
    book = ledger("cluster.groups=[{id: first, server: hgx-h200, gpus: 64, phase: p1}, {id: second, server: hgx-h200, gpus: 128, phase: p2},"
                  "{id: third, server: hgx-h200, gpus: 16, phase: p3}, {id: fourth, server: hgx-h200, gpus: 48, phase: p4}]",
                  "phases=[{id: p1, order: 2026-12, in_service: 2027-02}, {id: p2, order: 2027-05, in_service: 2027-08},"
                  "{id: p3, order: 2027-09, in_service: 2028-02}, {id: p4, order: 2028-08, in_service: 2028-11}]")  # fmt: skip
    assert 0 < book.scalar("tax.last_quarter_2_fraction") < 0.4
    table, _ = macrs.macrs_table(catalog=open_catalog(), recovery_years=5)
    found = by_fiscal_year(book, "tax.5_years_p3_fraction")[0, 1:7]
    np.testing.assert_allclose(found, 0.6 * table + 0.4 * np.eye(6)[0], rtol=1e-12)


def test_everything_that_is_bought_is_deducted_or_set_against_its_sale() -> None:
    book = ledger(*USED)
    deducted = series(book, "tax.depreciation_usd").sum()
    assert deducted == pytest.approx(book.scalar("capex.total_usd"), rel=1e-12)
    earned = sum(
        series(book, key).sum()
        for key in ("cash.revenue_usd", "cash.opex_usd", "cash.end_usd", "cash.residual_usd")
    )
    kept = -series(book, "cash.opex_further_security-compliance_usd").sum() * 0.5
    assert series(book, "tax.income_usd").sum() == pytest.approx(
        earned + kept - book.scalar("capex.total_usd"), rel=1e-12
    )


def test_a_pure_cost_saves_tax_only_where_losses_are_used() -> None:
    used, carried = ledger(*PURE_COST, *USED), ledger(*PURE_COST)
    assert used.scalar("tco.tax_npv_usd") < 0
    assert carried.scalar("tco.tax_npv_usd") == 0.0
    assert used.scalar("tco.before_tax_npv_usd") == pytest.approx(
        carried.scalar("tco.before_tax_npv_usd"), rel=1e-12
    )
    assert "metrics.irr_fraction" not in used


def test_deferred_tax_ends_at_nothing_and_profit_after_tax_is_profit_less_tax() -> None:
    book = ledger(*USED)
    assert series(book, "tax.deferred_closing_usd")[0, -1] == 0.0
    assert series(book, "book.deferred_tax_usd").sum() == pytest.approx(0.0, abs=1e-6)
    profit, kept = (series(book, f"book.{name}_usd").sum() for name in ("profit_before_tax", "net_income"))
    assert kept == pytest.approx(profit + series(book, "cash.levered_tax_usd").sum(), rel=1e-12)


def test_books_and_cash_come_to_the_same_over_the_whole_plan() -> None:
    book = ledger(*USED)
    assert series(book, "book.net_income_usd").sum() == pytest.approx(
        series(book, "cash.equity_usd").sum(), rel=1e-9
    )


def test_the_price_that_pays_tax_too_leaves_a_present_value_of_zero() -> None:
    base = evaluated(*USED, *PURE_COST, "money.working_capital=null")
    sold = base.ledger
    price = sold.scalar("unit.usd_per_gpu_hour_after_tax")
    assert price > sold.scalar("unit.usd_per_gpu_hour")
    share = series(sold, "timing.gpu_hours_sold").sum() / series(sold, "timing.gpu_hours").sum()
    again = ledger(
        *USED,
        PURE_COST[1],
        "money.working_capital=null",
        f"money.sell_usd_per_gpu_hour={float(price / share)!r}",
    )
    assert again.scalar("metrics.npv_usd") == pytest.approx(0.0, abs=1e-9 * again.scalar("tco.npv_usd"))
    assert again.scalar("unit.usd_per_gpu_hour_after_tax") == pytest.approx(price, rel=1e-9)


@pytest.mark.parametrize(
    "terms", ["price_fall_fraction_per_year: 0.2", "ramp_months: 12, ramp_start_fraction: 0.2"]
)
def test_the_price_that_pays_tax_too_does_not_depend_on_what_is_sold_now(terms: str) -> None:
    plain = ("money.costs.letters-of-credit.per=total",)
    now, later = ledger(*USED, *plain), ledger(*USED, *plain, f"money.operator={{{terms}}}")
    assert later.scalar("tco.npv_usd") < now.scalar("tco.npv_usd")  # less revenue is taxed
    key = "unit.usd_per_gpu_hour_after_tax"
    assert later.scalar(key) == pytest.approx(now.scalar(key), rel=1e-9)


def test_straight_line_recovery_is_even_by_month_in_service() -> None:
    book = ledger(
        "money.tax.method=straight-line", "money.tax.bonus_fraction=null", "money.tax.server_years=4"
    )
    share = series(book, "tax.server_p1_fraction")[0]
    assert share[4:52] == pytest.approx(np.full(48, 1 / 48))  # in service in month 3
    assert share.sum() == pytest.approx(1.0)
