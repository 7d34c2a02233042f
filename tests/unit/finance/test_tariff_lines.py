"""Bills by month agree with the tariff functions."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance import tariffs
from tests.unit.finance.planned import ledger, scalar, series

FIRST = 4
"""First month in service: phase p1 is in service in month 3."""
ESCALATED = 0.025


def test_demand_is_billed_with_its_ratchet() -> None:
    book = ledger("money.tariff.ratchet_fraction=0.95")
    peak = series(book, "tariff.peak_kw")
    expected = tariffs.billed_demand_kw(peak_kw=peak, ratchet_fraction=np.array([0.95]), months_before=11)
    np.testing.assert_allclose(series(book, "tariff.billed_kw"), expected, rtol=1e-12)
    assert (expected > peak).any(), "the case needs months that pay for an earlier peak"


def test_the_peak_follows_the_calendar_and_is_the_design_days_in_the_hottest_month() -> None:
    book = ledger()
    full = series(book, "tariff.peak_kw")[0, 24:36]  # the first order is of December, all are in service
    calendar = series(book, "timing.calendar_month")[0, 24:36]
    assert calendar.tolist() == [12, *range(1, 12)]
    assert calendar[full.argmax()] == 7
    assert calendar[full.argmin()] == 1
    assert full.max() == pytest.approx(book.scalar("power.demand_peak_w") / 1000, rel=1e-12)
    assert full.min() < 0.95 * full.max()


def test_a_typed_pue_sets_the_peaks_of_all_months() -> None:
    low, high = (series(ledger(f"site.pue={pue}"), "tariff.peak_kw")[0, 24:] for pue in (1.2, 1.5))
    assert (low < high).all()
    book = ledger("site.pue=1.2")
    assert low.max() == pytest.approx(book.scalar("power.demand_peak_w") / 1000, rel=1e-12)


def demand_paid(*changes: str) -> float:
    return -float(series(ledger(*changes), "cash.opex_demand_usd").sum())


def test_a_ratchet_keeps_the_bill_up_after_a_peak() -> None:
    none, most, whole = (demand_paid(f"money.tariff.ratchet_fraction={share}") for share in (0, 0.95, 1))
    assert none < most < whole


def test_a_ratchet_that_remembers_longer_costs_more() -> None:
    short, long = (
        demand_paid("money.tariff.ratchet_fraction=0.95", f"money.tariff.ratchet_months={months}")
        for months in (2, 11)
    )
    assert short < long


def test_energy_costs_its_average_price_with_riders_and_rises_on_the_anniversary() -> None:
    book = ledger()
    average = tariffs.time_of_use_usd_per_kwh(
        energy_fractions=np.array([[0.3, 0.7]]), usd_per_kwh=np.array([0.12, 0.05])
    ) + 0.004  # fmt: skip
    price = tariffs.escalated(
        price=average, rise_fraction=np.array([ESCALATED]), months=book.months - FIRST, anniversary=0
    )
    found = -series(book, "cash.opex_energy_usd")[:, FIRST:] / series(book, "energy.kwh")[:, FIRST:]
    np.testing.assert_allclose(found, price, rtol=1e-12)


def test_colocation_bills_what_is_used_but_no_less_than_is_committed() -> None:
    book = ledger()
    used = series(book, "colocation.used_kw")[:, FIRST:]
    years = np.minimum(np.arange(used.shape[1]) // 12, 2)
    committed = np.array([0.3, 0.6, 0.9])[years]
    expected = np.concatenate(
        [
            tariffs.take_or_pay_kw(
                used_kw=used[:, [at]], contract_kw=np.array([600.0]), committed_fraction=committed[[at]]
            )
            for at in range(used.shape[1])
        ],
        axis=1,
    )
    np.testing.assert_allclose(series(book, "colocation.billed_kw")[:, FIRST:], expected, rtol=1e-12)
    assert expected[0, 0] > used[0, 0], "the case needs a month that pays for more than it uses"
    assert series(book, "colocation.billed_kw")[0, :FIRST].sum() == 0.0


def test_fixed_and_standby_charges_begin_with_service() -> None:
    book = ledger("money.tariff.demand_usd_per_kw_month=0", "money.escalation=null")
    month = -series(book, "cash.opex_demand_usd")[0]
    assert month[:FIRST].sum() == 0.0
    assert month[FIRST:] == pytest.approx(500.0 + 1.5 * book.scalar("power.demand_peak_w") / 1000)


def test_without_a_tariff_the_sites_one_price_holds() -> None:
    book = ledger("money.tariff=null", "money.escalation=null")
    assert "cash.opex_demand_usd" not in book
    paid = -series(book, "cash.opex_energy_usd")
    np.testing.assert_allclose(
        paid, series(book, "energy.kwh") * scalar(book, "site.electricity_usd_per_kwh")
    )
