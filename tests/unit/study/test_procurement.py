"""Vendors' quotes side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.intake.quotes import read_quotes
from planner.scenario.load import load_scenario
from planner.study.early_failures import early_failures
from planner.study.procurement import Comparison, compare_quotes
from planner.study.second_sources import second_sources

HEAD = "Part,Unit price,Currency,Quote date,Valid until,Lead time weeks,Payment terms,Support years,Support price,Vendor,Quote id"
ACME = (
    "hgx-h200,260000,USD,2026-11-20,2027-12-31,12,net 30,3,20000,Acme,Q-1\n"
    "qm9700,40000,USD,2026-11-20,2027-12-31,10,,,,Acme,Q-1\n"
)
BETA = (
    "hgx-h200,255000,USD,2026-11-20,2027-12-31,30,100% with order,,,Beta,B-1\n"
    "qm9700,41000,USD,2026-11-20,2026-11-21,10,,,,Beta,B-1\n"
    "sn6800,5,USD,2026-11-20,,,,,,Beta,B-1\n"
)


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def found(shelf: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compared(shelf, tmp_path_factory.mktemp("quotes"), ACME, BETA, scenario="h200-phased")


def compared(shelf: Catalog, folder: Path, *files: str, scenario: str) -> Comparison:
    paths = []
    for number, text in enumerate(files):
        paths.append(folder / f"{number}.csv")
        paths[-1].write_text(f"{HEAD}\n{text}")
    return compare_quotes(load_scenario(scenario), shelf, read_quotes(paths))


def test_each_vendor_prices_the_same_bill(found: Comparison) -> None:
    ledger = found.base.ledger
    catalog = ledger.scalar(found.catalog_total)
    acme, beta, best = found.offers
    servers = ledger.scalar("bom.hgx-h200.count")
    switches = ledger.scalar("bom.leaf-qm9700.count") + ledger.scalar("bom.spine-qm9700.count")
    saved = servers * (ledger.scalar("price.hgx-h200.price_usd") - 260000)
    saved += switches * (ledger.scalar("price.qm9700.price_usd") - 40000)
    assert ledger.scalar(acme.total) == pytest.approx(catalog - saved)
    assert ledger.scalar(best.total) == pytest.approx(ledger.scalar(acme.total) - servers * 5000)
    assert ledger.scalar(best.total) <= min(ledger.scalar(one.total) for one in (acme, beta))
    quoted = servers * 260000 + switches * 40000
    assert ledger.scalar(acme.covered) == pytest.approx(quoted / ledger.scalar(acme.total))
    assert acme.support is not None
    assert ledger.scalar(acme.support) == servers * 20000


def test_a_line_that_cant_be_taken_is_at_the_catalogs_price_and_says_why(found: Comparison) -> None:
    beta = found.offers[1]
    switch = next(one for one in beta.rows if one.row.demand.slug == "leaf-qm9700")
    assert switch.quoted is None
    assert switch.price.key == "price.qm9700.price_usd"
    assert (
        switch.wrong[0].message
        == "is valid until 2026-11-21, and the order of phase 'first' is placed on 2026-12-01"
    )


def test_lead_times_make_an_offer_late(found: Comparison) -> None:
    acme, beta, _ = found.offers
    assert [one.late for one in acme.ready] == [False, False]
    assert [one.late for one in beta.ready] == [True, True]
    assert beta.ready[0].last.line.part == "hgx-h200"


def test_paying_later_is_worth_more_than_it_costs(found: Comparison) -> None:
    ledger = found.base.ledger
    later = ledger.scalar("quotes.acme.hgx-h200.payment_factor")
    assert later == pytest.approx(1.09 ** (-(12 * 7) / 365) * 1.09 ** (-30 / 365))
    assert ledger.scalar("quotes.beta.hgx-h200.payment_factor") == pytest.approx(1.0)


def test_parts_outside_the_plan_are_kept_apart(found: Comparison) -> None:
    assert "sn6800" in found.matched.by_item
    assert not any(key[0] == "sn6800" for key in found.bought)


def test_second_sources_name_vendors_alternatives_and_time_to_qualify(found: Comparison) -> None:
    sources = {one.row.demand.entry.item.id: one for one in second_sources(found)}
    assert sources["hgx-h200"].vendors == ("Acme", "Beta")
    assert "dgx-h200" in sources["hgx-h200"].others
    # twelve weeks from the plan's date end after the first order
    assert sources["hgx-h200"].in_time is False
    assert sources["qm9700"].others == ("qm9790",)
    assert not sources["flash-parallel-500tb"].others


def test_early_failures_are_expected_of_what_works_and_not_ordered(found: Comparison) -> None:
    built, ledger = found.base.built, found.base.ledger
    assert built is not None
    rows = {row.demand.slug: row for row in built.bom}
    servers, modules = (
        early_failures(found.base, rows["hgx-h200"]),
        early_failures(found.base, rows["osfp-800g-2xsr4"]),
    )
    assert servers is not None
    assert modules is not None
    assert servers.of == "accelerators"
    assert ledger.scalar(servers.expected) == pytest.approx(1024 * 0.05)
    rate = ledger.scalar("assumption.early_life_module_failure_fraction")
    assert ledger.scalar(modules.expected) == pytest.approx(
        ledger.scalar(rows["osfp-800g-2xsr4"].demand.designed) * rate
    )
    assert early_failures(found.base, rows["fibre-mpo-om4"]) is None


def test_vendors_whose_names_are_alike_stay_apart(shelf: Catalog, tmp_path: Path) -> None:
    text = ACME.replace("Acme", "Acme!") + ACME.replace("Acme", "acme").replace("260000", "250000")
    found = compared(shelf, tmp_path, text, scenario="h200-1024-ndr")
    assert [one.slug for one in found.offers] == ["acme", "acme-2", "best"]
