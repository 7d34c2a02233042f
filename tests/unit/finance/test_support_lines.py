"""Hardware support: a share of the price, and what quotes state in its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.ledger import Ledger
from planner.scenario.load import load_scenario

HEAD = "Part,Unit price,Currency,Vendor,Quote id,Quote date,Support years,Support price,USD per currency"


def found(folder: Path, *rows: str, changes: tuple[str, ...] = ()) -> Ledger:
    path = folder / "quotes.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    plan = evaluate(load_scenario("h200-1024-ndr", changes=[f"quotes=[{path}]", *changes]), open_catalog())
    assert plan.built is not None, plan.refusal
    return plan.ledger


def paid(ledger: Ledger, name: str = "") -> np.ndarray:
    return -ledger.value(f"cash.opex_support{name}_usd")[0]


def test_support_that_a_price_includes_is_not_charged_again(tmp_path: Path) -> None:
    book = found(tmp_path, "qm9700,30000,USD,Acme,Q-1,2026-11-20,3,,")
    plain = found(tmp_path, "qm9700,30000,USD,Acme,Q-1,2026-11-20,,,")
    cost = sum(book.scalar(f"capex.{tier}-qm9700_usd") for tier in ("leaf", "spine"))
    month = cost * book.scalar("assumption.support_fraction_per_year") / 12
    first = int(np.argmax(book.value("timing.share_in_service_fraction")[0] > 0))
    assert paid(book, "_qm9700")[: first + 36].sum() == 0.0
    assert paid(book, "_qm9700")[first + 36] == pytest.approx(month)
    rest = paid(book) + paid(book, "_qm9700")
    assert paid(plain)[first] - rest[first] == pytest.approx(month)
    assert rest[first + 36 :] == pytest.approx(paid(plain)[first + 36 :])
    assert book.scalar("tco.npv_usd") < plain.scalar("tco.npv_usd")


def test_support_that_a_quote_charges_is_paid_over_its_years_in_its_currency(tmp_path: Path) -> None:
    book = found(tmp_path, "hgx-h200,250000,EUR,Acme,Q-1,2026-11-20,5,60000,1.1")
    servers = book.scalar("bom.hgx-h200.count")
    charged = paid(book, "_hgx-h200")
    assert charged.sum() == pytest.approx(servers * 60000 * 1.1)
    assert charged.max() == pytest.approx(servers * 60000 * 1.1 / 60)
    source = book["quote.hgx-h200.support_usd.eur"].source
    assert source is not None and source.where == f"{tmp_path}/quotes.csv:2"


def test_a_longer_warranty_delays_the_share_of_the_price_after_quoted_support(tmp_path: Path) -> None:
    row = "qm9700,30000,USD,Acme,Q-1,2026-11-20,2,,"
    short, long = found(tmp_path, row), found(tmp_path, row, changes=("money.warranty_months=36",))
    first = int(np.argmax(short.value("timing.share_in_service_fraction")[0] > 0))
    assert np.argmax(paid(short, "_qm9700") > 0) == first + 24
    assert np.argmax(paid(long, "_qm9700") > 0) == first + 36


PHASED = "h200-phased"
FALL = "money.price_erosion={server_fraction_per_year: 0.3, network_fraction_per_year: 0.1}"


def planned(*changes: str) -> Ledger:
    plan = evaluate(load_scenario(PHASED, changes=changes), open_catalog())
    assert plan.built is not None, plan.refusal
    return plan.ledger


def test_support_is_a_share_of_the_prices_paid_at_each_order() -> None:
    today, fallen = planned("money.price_erosion=null"), planned(FALL)
    rate = today.scalar("assumption.support_fraction_per_year")
    network = fallen.scalar("capex.switches_usd")
    others = paid(today)[-1] * 12 / rate - network
    expected = (
        others * fallen.scalar("erosion.server_factor") + network * fallen.scalar("erosion.network_factor")
    ) * rate / 12  # fmt: skip
    at_the_end = paid(fallen)[-1]
    assert at_the_end < paid(today)[-1]
    gpus = fallen.value("timing.gpus_in_service")[0]
    assert gpus[-1] == fallen.scalar("cluster.gpus"), "all phases have to be in service"
    assert at_the_end == pytest.approx(expected, rel=0.02), "upper tiers come first, and support goes by GPUs"


def test_switches_keep_todays_price_where_only_modules_fall() -> None:
    today = planned("money.price_erosion=null")
    fallen = planned("money.price_erosion={server_fraction_per_year: 0.0}")
    assert fallen.scalar("erosion.network_factor") < 1.0
    assert paid(fallen) == pytest.approx(paid(today), rel=1e-12)


def test_a_warranty_delays_support_at_fallen_prices() -> None:
    early, late = planned(FALL), planned(FALL, "money.warranty_months=12")
    first = int(np.argmax(paid(early) > 0))
    assert int(np.argmax(paid(late) > 0)) == first + 12
    assert paid(late)[-1] == pytest.approx(paid(early)[-1], rel=1e-12)
