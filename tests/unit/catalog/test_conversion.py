"""What a catalog may say of parts that convert power."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from planner.catalog.conversion import ConversionKind, PowerConversion
from planner.catalog.schema import CoolingType, Server
from planner.catalog.store import Catalog
from planner.resources import shipped

CATALOG = Catalog([shipped("catalog")])


def figure(value: float) -> dict[str, Any]:
    return {
        "value": value,
        "source": "recalled",
        "basis": "estimate",
        "as_of": "2026",
        "verified": False,
        "note": "x",
    }


def made(**fields: Any) -> PowerConversion:
    return PowerConversion.model_validate({"id": "one", "name": "One", "kind": "psu"} | fields)


def test_a_curve_rises_by_load() -> None:
    item = made(
        efficiency_at_100_percent_fraction=figure(0.9), efficiency_at_20_percent_fraction=figure(0.94)
    )
    assert item.curve == ((0.2, 0.94), (1.0, 0.9))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "at one load or more"),
        ({"efficiency_at_50_percent_fraction": figure(1.2)}, "from 0 to 1"),
        ({"efficiency_at_50_percent_fraction": figure(0.0)}, "above 0 and at most 1"),
        ({"kind": "ups", "efficiency_at_50_percent_fraction": figure(0.9)}, "a rating_kw and a step_kw"),
        (
            {
                "kind": "rack-feed", "efficiency_at_50_percent_fraction": figure(0.9),
                "rating_kw": figure(40), "step_kw": figure(40),
            },
            "per_path_max",
        ),
    ],
)  # fmt: skip
def test_an_incomplete_part_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        made(**fields)


def test_what_items_name_is_there_and_of_its_kind() -> None:
    for item_id in CATALOG.ids(PowerConversion):
        item = CATALOG.get(PowerConversion, item_id)
        assert set(item.default_for_cooling) <= set(CATALOG.ids(CoolingType))
        assert not item.default_for_cooling or item.kind is ConversionKind.UPS
    for item_id in CATALOG.ids(Server):
        psu = CATALOG.get(Server, item_id).psu
        assert psu is None or CATALOG.get(PowerConversion, psu).kind is ConversionKind.PSU


def test_no_cooling_method_has_two_supplies() -> None:
    named = [
        one
        for item_id in CATALOG.ids(PowerConversion)
        for one in CATALOG.get(PowerConversion, item_id).default_for_cooling
    ]
    assert len(named) == len(set(named))
