"""The purchase: prices at the order, landed cost, contingency, payment terms, a building's own dates."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance import erosion, landed
from tests.unit.finance.planned import evaluated, ledger, scalar, series

PLAIN = ("money.price_erosion=null",)


def test_each_phase_pays_the_price_of_its_order() -> None:
    book = ledger()
    age = book.scalar("erosion.server_price_age_months")
    for phase in ("p1", "p2", "p3", "p4"):
        expected = erosion.eroded_price_usd(
            price_usd=np.ones(1), fall_fraction_per_year=np.array([0.1]),
            years=(scalar(book, f"phase.{phase}.order_month") + age) / 12,
        )  # fmt: skip
        assert book.scalar(f"erosion.server_{phase}_factor") == pytest.approx(expected[0], rel=1e-12)
    shares = sum(
        book.scalar(f"phase.{phase}.server_cost_share_fraction") for phase in ("p1", "p2", "p3", "p4")
    )
    assert shares == pytest.approx(1.0)


def test_a_network_without_a_typed_fall_takes_the_catalogs_for_its_modules_alone() -> None:
    book = ledger()
    fall = book.scalar("assumption.optics_price_erosion_fraction_per_year")
    modules = book.scalar("capex.optics_usd")
    whole = modules + book.scalar("capex.switches_usd") + book.scalar("capex.cables_usd")
    years = (book.scalar("phase.p2.order_month") + book.scalar("erosion.network_price_age_months")) / 12
    expected = 1 - modules / whole * (1 - (1 - fall) ** years)
    assert book.scalar("erosion.network_p2_factor") == pytest.approx(expected, rel=1e-12)


def test_a_typed_price_is_of_the_date_that_the_workbook_keeps() -> None:
    typed = ledger("overrides={price.hgx-h200.price_usd: {value: 300000.0, unit: USD, reason: by phone}}")
    age = "erosion.server_price_age_months"
    assert typed.scalar(age) == ledger().scalar(age)


def test_a_typed_fall_holds_for_all_of_the_network() -> None:
    book = ledger("money.price_erosion.network_fraction_per_year=0.2")
    years = (book.scalar("phase.p2.order_month") + book.scalar("erosion.network_price_age_months")) / 12
    assert book.scalar("erosion.network_p2_factor") == pytest.approx(0.8**years, rel=1e-12)
    assert "erosion.network_modules_fraction" not in book


def test_payments_by_phase_make_the_purchase_and_follow_the_order_not_the_service_date() -> None:
    book = ledger()
    paid = sum(series(book, f"cash.capex_{name}_usd").sum() for name in ("compute", "network"))
    assert -paid == pytest.approx(book.scalar("capex.total_usd"), rel=1e-12)
    later = ledger("phases=[{id: p1, order: 2026-12, in_service: 2027-03}, {id: p2, order: 2027-05, in_service: 2027-11},"
                   "{id: p3, order: 2027-09, in_service: 2027-12}, {id: p4, order: 2028-08, in_service: 2028-11}]")  # fmt: skip
    assert later.scalar("capex.total_usd") == pytest.approx(book.scalar("capex.total_usd"), rel=1e-12)


def test_hardware_lands_as_the_stack_of_charges_has_it() -> None:
    book = ledger(*PLAIN, "money.contingency.spent_fraction=1")
    goods = scalar(book, "capex.hardware_usd")
    expected = landed.landed_cost(
        goods_usd=goods, freight_usd=goods * 0.015, insurance_usd=goods * 0.003, duty_fraction=np.array([0.02]),
        tax_fraction=np.array([0.06]), recovered_fraction=np.array([0.5]), contingency_fraction=np.array([0.05]),
    )  # fmt: skip
    stack = sum(
        book.scalar(f"capex.{name}_usd")
        for name in ("hardware", "freight", "transit_insurance", "duty", "sales_tax")
    )
    assert stack == pytest.approx(expected.total_usd[0], rel=1e-12)
    assert book.scalar("capex.contingency_usd") == pytest.approx(expected.contingency_usd[0], rel=1e-12)


def test_contingency_that_is_not_spent_is_in_the_budget_and_nowhere_else() -> None:
    book = ledger()
    none = ledger("money.contingency.spent_fraction=0")
    assert none.scalar("capex.contingency_usd") == 0.0
    assert none.scalar("capex.budget_usd") == pytest.approx(book.scalar("capex.budget_usd"), rel=1e-12)
    assert none.scalar("capex.total_usd") == pytest.approx(
        book.scalar("capex.total_usd") - book.scalar("capex.contingency_usd"), rel=1e-12
    )
    written_off = series(none, "book.depreciation_usd").sum()
    assert written_off == pytest.approx(none.scalar("capex.total_usd"), rel=1e-12)


def test_a_purchase_is_paid_with_order_shipment_and_acceptance() -> None:
    paid = series(ledger(), "phase.p4.paid_fraction")[0]  # ordered in month 20, in service in 23
    assert {int(month): round(float(paid[month]), 12) for month in np.flatnonzero(paid)} == {
        20: 0.2,
        22: 0.5,
        25: 0.3,
    }


def test_support_begins_after_the_warranty() -> None:
    book = ledger()
    paid = -series(book, "cash.opex_support_usd")[0]
    assert paid[:16].sum() == 0.0 < paid[16]  # in service in month 3, with twelve months of warranty


def test_a_building_is_paid_and_written_off_by_its_own_dates() -> None:
    book = ledger(
        "site.housing=own",
        "money.colocation=null",
        "money.construction={order: 2026-06, in_service: 2027-02}",
    )
    paid = -series(book, "cash.capex_facility_usd")[0]
    assert paid[:9] == pytest.approx(np.full(9, book.scalar("capex.building_usd") / 9))  # June to February
    assert paid[9:].sum() == 0.0
    assert book.scalar("phase.p1.order_month") == 6.0
    charge = series(book, "book.depreciation_facility_usd")[0]
    assert charge[8] == 0.0 < charge[9]
    assert "capex.further_land_usd" not in book and book.scalar("money.costs.land") == 0.0


def test_land_is_paid_and_kept_and_never_written_off() -> None:
    own = ("site.housing=own", "money.colocation=null", "money.lease=null")
    bare, with_land = ledger(*own), ledger(*own, "money.costs.land={amount: 1000000.0}")

    def moved(key: str) -> float:
        return float((series(with_land, key) - series(bare, key)).sum())

    assert with_land.scalar("capex.total_usd") - bare.scalar("capex.total_usd") == pytest.approx(1e6)
    assert moved("book.depreciation_usd") == pytest.approx(0.0, abs=1e-3)
    assert moved("tax.depreciation_usd") == pytest.approx(0.0, abs=1e-3)
    assert moved("cash.residual_usd") == pytest.approx(1e6)
    assert moved("book.disposal_usd") == pytest.approx(0.0, abs=1e-3)
    insured = -moved("cash.opex_insurance_usd")
    # sold at its price it leaves nothing to tax: insurance and property tax alone lower what is due
    more = insured - moved("cash.opex_further_property-tax_usd")
    assert moved("tax.due_usd") == pytest.approx(-0.25 * more, rel=1e-6)


def test_resale_lies_between_the_years_of_age() -> None:
    book = evaluated("money.horizon_months=42", "money.lease=null", "phases=[]",
                     "cluster.groups=[{id: first, server: hgx-h200, gpus: 256}]", *PLAIN).ledger  # fmt: skip
    third, fourth = (book.scalar(f"assumption.residual_fraction_year{year}") for year in (3, 4))
    sold = series(book, "cash.residual_usd")[0, -1] / book.scalar("capex.servers_usd")
    assert sold == pytest.approx((third + fourth) / 2, rel=1e-12)
