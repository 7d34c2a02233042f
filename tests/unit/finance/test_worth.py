"""Discount rates, present values and metrics agree with the conventions."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance import day_counts, discounting, levelised, returns, straight_line, wacc, working_capital
from tests.unit.finance.planned import ledger, scalar, series

MID = ("money.discounting=mid-year",)
DATES = ("money.discounting=dates",)


def test_the_cost_of_capital_is_the_weighted_average_after_tax() -> None:
    expected = wacc.wacc(
        debt_fraction=np.array([0.4]),
        debt_rate=np.array([0.08]),
        equity_rate=np.array([0.14]),
        tax_fraction=np.array([0.25]),
    )
    assert ledger().scalar("money.capital.rate_fraction") == pytest.approx(expected[0], rel=1e-12)
    monthly = discounting.monthly_rate(yearly=expected)
    assert ledger().scalar("money.discount_rate_monthly") == pytest.approx(monthly[0], rel=1e-12)


def test_a_typed_rate_goes_before_the_cost_of_capital_and_a_real_one_is_lifted() -> None:
    book = ledger("money.discount_rate_fraction=0.064", "money.rate_basis=real")
    expected = discounting.nominal_rate(real=np.array([0.064]), inflation=np.array([0.025]))
    assert book.scalar("money.discount_rate_nominal_fraction") == pytest.approx(expected[0], rel=1e-12)
    assert "money.capital.rate_fraction" not in book


def test_months_are_discounted_from_their_end() -> None:
    book = ledger()
    found = discounting.npv(
        rate=scalar(book, "money.discount_rate_monthly"), flows=series(book, "cash.net_usd")
    )
    assert book.scalar("metrics.npv_usd") == pytest.approx(found[0], rel=1e-9)


def test_years_are_discounted_from_their_middle_but_resale_from_their_end() -> None:
    book = ledger(*MID, "money.depreciation.residual_fraction=0.1")
    ends = series(book, "cash.residual_usd") + series(book, "cash.end_usd")
    assert np.count_nonzero(ends[0, :-1]) == 0
    flows = series(book, "cash.net_usd") - ends
    yearly = straight_line.by_year(monthly=flows[:, 1:], first_month_of_year=0)
    years = yearly.shape[1]
    assert book.months - 1 > 12 * (years - 1)
    found = discounting.mid_year_npv(
        rate=scalar(book, "money.capital.rate_fraction"), outlay=flows[:, 0], flows=yearly, at_end=ends[:, -1]
    )
    assert book.scalar("metrics.npv_usd") == pytest.approx(found[0], rel=1e-9)


def test_dates_are_discounted_by_actual_days() -> None:
    book = ledger(*DATES)
    days = day_counts.days_of_serials(serials=series(book, "timing.day")[0])
    assert str(days[0]) == "2026-12-01" and str(days[3]) == "2027-03-01"
    flows = series(book, "cash.net_usd")
    found = discounting.xnpv(rate=scalar(book, "money.capital.rate_fraction"), flows=flows, dates=days)
    assert book.scalar("metrics.npv_usd") == pytest.approx(found[0], rel=1e-9)
    assert book.scalar("metrics.xirr_fraction") == pytest.approx(
        returns.xirr(flows=flows, dates=days)[0], abs=1e-9
    )


@pytest.mark.parametrize("changes", [(), MID, DATES])
def test_hours_sold_at_their_levelised_cost_pay_it_back(changes: tuple[str, ...]) -> None:
    assert ledger(*changes).scalar("metrics.levelised_cover_ratio") == pytest.approx(1.0, abs=1e-12)


def test_returns_and_payback_are_those_of_the_functions() -> None:
    book = ledger()
    flows, rate = series(book, "cash.net_usd"), scalar(book, "money.discount_rate_monthly")
    assert book.scalar("metrics.irr_monthly") == pytest.approx(returns.irr(flows=flows)[0], abs=1e-12)
    modified = returns.mirr(flows=flows, finance_rate=rate, reinvest_rate=rate)
    assert book.scalar("metrics.mirr_monthly") == pytest.approx(modified[0], abs=1e-12)
    assert book.scalar("metrics.payback_months") == pytest.approx(
        returns.payback_periods(flows=flows)[0], rel=1e-9
    )
    discounted = returns.discounted_payback_periods(rate=rate, flows=flows)
    assert book.scalar("metrics.discounted_payback_months") == pytest.approx(discounted[0], rel=1e-9)


def test_a_plan_that_never_pays_back_says_so() -> None:
    book = ledger("money.sell_usd_per_gpu_hour=0.1")
    for key in ("metrics.payback_months", "metrics.irr_fraction"):
        assert np.isnan(book.scalar(key))


def test_a_cost_at_the_end_that_makes_several_rates_is_refused() -> None:
    book = ledger("money.costs.decommissioning={amount: 40000000.0}", "money.tax=null", "money.debt=null")
    assert book.scalar("metrics.irr_turns") > 1
    assert np.isnan(book.scalar("metrics.irr_fraction")) and np.isfinite(book.scalar("metrics.mirr_fraction"))


def test_the_yearly_cost_is_that_of_the_horizon() -> None:
    book = ledger()
    expected = levelised.equivalent_annual(
        rate=scalar(book, "money.capital.rate_fraction"),
        periods=np.array([10.0]),
        npv=scalar(book, "tco.npv_usd"),
    )
    assert book.scalar("metrics.equivalent_annual_cost_usd") == pytest.approx(expected[0], rel=1e-12)


def test_working_capital_follows_days_and_is_released() -> None:
    book = ledger()
    tied = working_capital.net_working_capital_usd(
        revenue_usd=series(book, "cash.revenue_usd") * 12, purchases_usd=-series(book, "cash.opex_usd") * 12,
        receivable_days=np.array([45.0]), payable_days=np.array([30.0]), inventory_days=np.zeros(1),
    )  # fmt: skip
    np.testing.assert_allclose(series(book, "wc.closing_usd")[:, :-1], tied[:, :-1], rtol=1e-12, atol=1e-6)
    assert series(book, "cash.working_capital_usd").sum() == pytest.approx(0.0, abs=1e-6)
