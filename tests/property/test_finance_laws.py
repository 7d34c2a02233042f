"""Laws of the finance conventions over random amounts, rates and dates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.finance import (
    currency,
    discounting,
    leases,
    levelised,
    loans,
    macrs,
    returns,
    spares,
    straight_line,
    tariffs,
    taxes,
    working_capital,
)
from planner.finance.day_counts import DayCount, year_fractions
from planner.finance.leases import LeaseKind
from planner.finance.returns import RateOfReturn
from planner.finance.taxes import Losses

PERIODS = 8
amount = st.floats(0.0, 1e9)
rate = st.floats(-0.2, 0.6)
share = st.floats(0.0, 1.0)
TABLES = [
    macrs.macrs_table(catalog=open_catalog(), recovery_years=years, quarter=quarter)[0]
    for years in (3, 5, 7, 10, 15, 20)
    for quarter in range(5)
]


def batch(values: st.SearchStrategy[float]) -> st.SearchStrategy[Floats]:
    """Shape (3,)."""
    return st.lists(values, min_size=3, max_size=3).map(np.array)


def series(values: st.SearchStrategy[float]) -> st.SearchStrategy[Floats]:
    """Shape (3, PERIODS)."""
    return st.lists(values, min_size=3 * PERIODS, max_size=3 * PERIODS).map(
        lambda found: np.array(found).reshape(3, PERIODS)
    )


def close(found: Floats, expected: Floats, scale: Floats | float) -> None:
    """Equal but for the rounding of sums of amounts of that scale."""
    assert np.all(np.abs(found - expected) <= 1e-9 * np.maximum(scale, 1.0))


@given(basis=batch(amount), bonus=batch(share), table=st.sampled_from(TABLES))
def test_tax_deductions_sum_to_the_basis(basis: Floats, bonus: Floats, table: Floats) -> None:
    found = macrs.deductions_usd(basis_usd=basis, fractions=table, bonus_fraction=bonus)
    assert np.all(found >= 0)
    close(found.sum(axis=1), basis, basis)


@given(years=st.integers(1, 40), first=st.sampled_from(macrs.FIRST_YEAR_SHARES))
def test_the_declining_balance_sums_to_one_and_never_rises_after_its_first_full_year(
    years: int, first: float
) -> None:
    found = macrs.declining_balance_fractions(recovery_years=years, first_year_share=first)
    assert found.shape == (years + 1,)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(found[1:]) <= 1e-15)


@given(years=st.sampled_from([27.5, 39.0]), month=st.integers(1, 12))
def test_mid_month_shares_sum_to_one(years: float, month: int) -> None:
    found = macrs.mid_month_fractions(recovery_years=years, month=month)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.max() == pytest.approx(1.0 / years)


@given(
    basis=batch(amount),
    salvage=batch(share),
    life=batch(st.floats(0.5, 90.0)),
    start=batch(st.integers(0, 30)),
)
def test_book_charges_sum_to_what_is_written_off(
    basis: Floats, salvage: Floats, life: Floats, start: Floats
) -> None:
    found = straight_line.straight_line_usd(
        basis_usd=basis, salvage_usd=salvage * basis, life_months=life, first_month=start, months=125
    )
    close(found.sum(axis=1), basis * (1.0 - salvage), basis)
    assert np.all(found >= -1e-6)
    yearly = straight_line.by_year(monthly=found, first_month_of_year=3)
    close(yearly.sum(axis=1), found.sum(axis=1), basis)


@given(lent=batch(st.floats(1.0, 1e9)), interest=batch(st.floats(0.0, 0.2)), idle=st.integers(0, 5))
def test_a_loan_ends_at_zero_and_its_service_is_worth_the_loan(
    lent: Floats, interest: Floats, idle: int
) -> None:
    loan = loans.amortisation(rate=interest, periods=24, lent_usd=lent, interest_only=idle)
    close(loan.closing[:, -1], np.zeros(3), lent)
    close(loan.principal.sum(axis=1), lent, lent)
    service = loan.interest + loan.principal
    flows = np.concatenate([-lent[:, None], service], axis=1)
    close(discounting.npv(rate=interest, flows=flows), np.zeros(3), lent)


@given(
    cash=series(st.floats(1.0, 1e8)), cover=batch(st.floats(1.05, 2.5)), interest=batch(st.floats(0.0, 0.2))
)
def test_a_sculpted_loan_keeps_its_cover_and_is_repaid(cash: Floats, cover: Floats, interest: Floats) -> None:
    lent = loans.sculpted_debt_usd(cash_usd=cash, cover=cover, rate=interest)
    service = cash / cover[:, None]
    np.testing.assert_allclose(loans.least_cover(cash_usd=cash, service_usd=service), cover)
    debt = lent
    for paid in service.T:
        debt = debt * (1.0 + interest) - paid
    close(debt, np.zeros(3), cash.sum(axis=1) * 10)


@given(spent=batch(st.floats(1.0, 1e8)), back=series(st.floats(0.0, 1e8)))
def test_the_value_at_the_internal_rate_is_zero(spent: Floats, back: Floats) -> None:
    flows = np.concatenate([-spent[:, None], back], axis=1)
    found = returns.irr(flows=flows)
    reason = returns.why_no_rate(flows=flows)
    assert np.array_equal(np.isnan(found), reason != RateOfReturn.FOUND)
    assert not np.any(reason == RateOfReturn.SEVERAL)  # one change of sign has one rate at most
    known = ~np.isnan(found)
    value = discounting.npv(rate=found[known], flows=flows[known])
    weight = np.maximum(1.0, (1.0 + found[known]) ** -PERIODS)
    close(value, np.zeros(known.sum()), np.abs(flows[known]).sum(axis=1) * weight)


@given(flows=series(st.floats(0.0, 1e8)), low=batch(rate), more=batch(st.floats(0.001, 0.3)))
def test_a_higher_rate_never_makes_income_worth_more(flows: Floats, low: Floats, more: Floats) -> None:
    assert np.all(discounting.npv(rate=low + more, flows=flows) <= discounting.npv(rate=low, flows=flows))


@given(flows=series(st.floats(-1e8, 1e8)))
def test_a_rate_of_zero_sums(flows: Floats) -> None:
    scale = np.abs(flows).sum(axis=1)
    nothing = np.zeros(3)
    close(discounting.npv(rate=nothing, flows=flows), flows.sum(axis=1), scale)
    close(discounting.excel_npv(rate=nothing, flows=flows), flows.sum(axis=1), scale)
    middle = discounting.mid_year_npv(
        rate=nothing, outlay=flows[:, 0], flows=flows[:, 1:], at_end=flows[:, 0]
    )
    close(middle, flows.sum(axis=1) + flows[:, 0], scale)


@given(flows=series(st.floats(-1e8, 1e8)), yearly=batch(rate))
def test_an_office_programs_value_is_one_period_behind(flows: Floats, yearly: Floats) -> None:
    now = discounting.npv(rate=yearly, flows=flows)
    later = discounting.excel_npv(rate=yearly, flows=flows) * (1.0 + yearly)
    close(now, later, np.abs(flows).sum(axis=1) * 10)


@given(yearly=batch(rate), inflation=batch(st.floats(-0.05, 0.3)))
def test_rates_convert_there_and_back(yearly: Floats, inflation: Floats) -> None:
    close(discounting.yearly_rate(monthly=discounting.monthly_rate(yearly=yearly)), yearly, 1.0)
    nominal = discounting.nominal_rate(real=yearly, inflation=inflation)
    close(discounting.real_rate(nominal=nominal, inflation=inflation), yearly, 1.0)


@given(peak=series(st.floats(0.0, 1e5)), part=batch(share), months=st.integers(0, 12))
def test_a_ratchet_never_bills_less(peak: Floats, part: Floats, months: int) -> None:
    billed = tariffs.billed_demand_kw(peak_kw=peak, ratchet_fraction=part, months_before=months)
    assert np.all(billed >= peak)
    assert np.all(billed <= np.maximum.accumulate(peak, axis=1))
    longer = tariffs.billed_demand_kw(peak_kw=peak, ratchet_fraction=part, months_before=months + 1)
    assert np.all(longer >= billed)


@given(used=series(st.floats(0.0, 1e5)), contract=batch(st.floats(0.0, 1e5)), part=batch(share))
def test_take_or_pay_never_bills_less_than_the_share(used: Floats, contract: Floats, part: Floats) -> None:
    billed = tariffs.take_or_pay_kw(used_kw=used, contract_kw=contract, committed_fraction=part)
    assert np.all(billed >= (contract * part)[:, None])
    assert np.all((billed == used) | (used < (contract * part)[:, None]))


@given(
    first=batch(st.floats(1.0, 1e8)), second=batch(st.floats(1.0, 1e8)), interest=batch(st.floats(0.0, 0.5)),
    life=st.integers(1, 30),
)  # fmt: skip
def test_of_equal_lives_the_yearly_cost_orders_as_the_present_value(
    first: Floats, second: Floats, interest: Floats, life: int
) -> None:
    assume(np.all(np.abs(first - second) > 1e-6 * first))
    years = np.array([float(life)])
    yearly = [levelised.equivalent_annual(rate=interest, periods=years, npv=one) for one in (first, second)]
    assert np.array_equal(yearly[0] < yearly[1], first < second)
    level = np.repeat(yearly[0][:, None], life, axis=1)
    close(discounting.excel_npv(rate=interest, flows=level), first, first)


@given(
    mean=batch(st.floats(0.0, 500.0)), more=batch(st.floats(0.0, 100.0)), level=batch(st.floats(0.01, 0.99)),
)  # fmt: skip
def test_a_stock_grows_with_failures_and_with_service(mean: Floats, more: Floats, level: Floats) -> None:
    stock = spares.poisson_quantile(mean=mean, level=level)
    assert np.all(spares.poisson_quantile(mean=mean + more, level=level) >= stock)
    assert np.all(spares.poisson_quantile(mean=mean, level=level + (1.0 - level) / 2.0) >= stock)
    assert np.all(spares.covered_fraction(mean=mean, stock=stock) >= level)
    assert np.all(spares.covered_fraction(mean=mean, stock=stock - 1.0) < level)


@given(income=series(st.floats(-1e8, 1e8)), tax=batch(st.floats(0.0, 0.5)), cap=batch(share))
def test_losses_carried_cost_no_more_than_losses_lost_and_no_less_than_losses_used(
    income: Floats, tax: Floats, cap: Floats
) -> None:
    used, floored, carried = (
        taxes.income_tax(income_usd=income, tax_fraction=tax, losses=losses, cap_fraction=cap)
        for losses in (Losses.USED, Losses.FLOORED, Losses.CARRIED)
    )
    scale = np.abs(income).sum(axis=1)
    assert np.all(used.due.sum(axis=1) <= carried.due.sum(axis=1) + 1e-9 * scale)
    assert np.all(carried.due <= floored.due)
    assert np.all(carried.due >= 0)
    made = np.maximum(-income, 0.0).sum(axis=1)
    close(carried.losses_used.sum(axis=1) + carried.losses_left[:, -1], made, scale)


@given(
    paid=series(st.floats(1.0, 1e7)), interest=batch(st.floats(0.0, 0.2)), early=st.booleans(),
    kind=st.sampled_from(LeaseKind),
)  # fmt: skip
def test_a_lease_ends_at_zero_and_charges_what_is_paid(
    paid: Floats, interest: Floats, early: bool, kind: LeaseKind
) -> None:
    books = leases.lease_books(payments_usd=paid, rate=interest, in_advance=early, kind=kind)
    total = paid.sum(axis=1)
    close(books.liability[:, -1], np.zeros(3), total)
    close(books.right_of_use[:, -1], np.zeros(3), total)
    close(books.expense.sum(axis=1), total, total)
    if kind is LeaseKind.OPERATING:
        assert np.all(np.ptp(books.expense, axis=1) <= 1e-9 * total)


@given(needed=series(st.floats(-1e8, 1e8)))
def test_working_capital_comes_back(needed: Floats) -> None:
    found = working_capital.cash_effect_usd(working_capital_usd=needed)
    close(found.sum(axis=1), np.zeros(3), np.abs(needed).sum(axis=1))


@given(
    spot=batch(st.floats(0.01, 200.0)),
    ours=batch(rate),
    theirs=batch(rate),
    years=batch(st.floats(0.0, 20.0)),
)
def test_a_forward_rate_there_and_back_is_the_spot(
    spot: Floats, ours: Floats, theirs: Floats, years: Floats
) -> None:
    there = currency.forward_rate(spot=spot, rate=ours, foreign_rate=theirs, years=years)
    back = currency.forward_rate(spot=1.0 / spot, rate=theirs, foreign_rate=ours, years=years)
    np.testing.assert_allclose(there * back, 1.0, rtol=1e-12)


@given(
    days=st.lists(st.integers(0, 40_000), min_size=2, max_size=2).map(sorted),
    day_count=st.sampled_from(DayCount),
)
def test_year_fractions_grow_with_the_end_and_stay_near_the_calendar(
    days: list[int], day_count: DayCount
) -> None:
    start, end = (np.datetime64("2000-01-01", "D") + np.array([day]) for day in days)
    found = year_fractions(start=start, end=end, day_count=day_count)[0]
    later = year_fractions(start=start, end=end + 3, day_count=day_count)[0]
    calendar = (days[1] - days[0]) / 365.2425
    assert later > found >= 0.0
    assert abs(found - calendar) <= 0.02 * calendar + 0.01  # 360 for 365 days, and a month of 31 or 28


@settings(max_examples=25)
@given(
    flows=series(st.floats(-1e6, 1e6)),
    interest=batch(st.floats(0.0, 0.3)),
    part=batch(share),
    level=batch(share),
)
def test_a_batch_gives_what_its_members_give(
    flows: Floats, interest: Floats, part: Floats, level: Floats
) -> None:
    together = [
        discounting.npv(rate=interest, flows=flows),
        returns.irr(flows=flows),
        tariffs.billed_demand_kw(peak_kw=np.abs(flows), ratchet_fraction=part, months_before=3),
        spares.poisson_quantile(mean=np.abs(flows[:, 0]), level=level * 0.98 + 0.01),
        taxes.income_tax(income_usd=flows, tax_fraction=part, losses=Losses.CARRIED, cap_fraction=level).due,
        loans.amortisation(rate=interest, periods=6, lent_usd=np.abs(flows[:, 0])).closing,
    ]
    for at in range(3):
        only = slice(at, at + 1)
        apart = [
            discounting.npv(rate=interest[only], flows=flows[only]),
            returns.irr(flows=flows[only]),
            tariffs.billed_demand_kw(
                peak_kw=np.abs(flows[only]), ratchet_fraction=part[only], months_before=3
            ),
            spares.poisson_quantile(mean=np.abs(flows[only, 0]), level=level[only] * 0.98 + 0.01),
            taxes.income_tax(
                income_usd=flows[only],
                tax_fraction=part[only],
                losses=Losses.CARRIED,
                cap_fraction=level[only],
            ).due,
            loans.amortisation(rate=interest[only], periods=6, lent_usd=np.abs(flows[only, 0])).closing,
        ]
        for whole, single in zip(together, apart, strict=True):
            np.testing.assert_allclose(whole[only], single, rtol=1e-12, atol=1e-9)
