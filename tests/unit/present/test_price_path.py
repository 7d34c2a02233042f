"""A part's price over time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from planner.catalog.schema import FAMILIES
from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.view.price_path import price_path
from planner.scenario.load import load_scenario


def _price(family: str, part: str) -> object:
    return open_catalog().entry(FAMILIES[family], part).item.price_usd  # type: ignore[attr-defined]


def test_expected_prices_fall_by_the_rate_on_record_and_their_range_widens() -> None:
    catalog = open_catalog()
    path = price_path("switches", "qm9700", _price("switches", "qm9700"), catalog)  # type: ignore[arg-type]
    rate, _ = catalog.figure("finance", "optics_price_erosion_fraction_per_year")
    assert [one.known for one in path] == [True, False, False, False]
    for before, after in pairwise(path):
        assert after.usd == pytest.approx(before.usd * (1 - rate.value))
        assert (
            after.low / after.usd <= before.low / before.usd
            and after.high / after.usd >= before.high / before.usd
        )
        assert int(after.date[:4]) == int(before.date[:4]) + 1
    assert rate.source in path[-1].said


def test_a_family_without_a_rate_has_its_stated_price_alone() -> None:
    catalog = open_catalog()
    assert len(price_path("racks", "x", _price("switches", "qm9700"), catalog)) == 1  # type: ignore[arg-type]


def test_the_plans_own_price_is_a_point_of_its_own(tmp_path: Path) -> None:
    plan = tmp_path / "mine.yaml"
    plan.write_text(
        "extends: h200-1024-ndr\nname: with an offer\n"
        "overrides:\n  price.qm9700.price_usd: {value: 41000, unit: USD, reason: an offer}\n"
    )
    ledger = evaluate(load_scenario(plan), open_catalog()).ledger
    path = price_path("switches", "qm9700", _price("switches", "qm9700"), open_catalog(), ledger)  # type: ignore[arg-type]
    assert 41000.0 in [one.usd for one in path if one.known]
