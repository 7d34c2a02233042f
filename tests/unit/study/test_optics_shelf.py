"""Stand-ins for switches, and roadmap parts under prices at parity."""

from __future__ import annotations

import pytest

from planner.catalog.schema import Switch, Transceiver
from planner.catalog.store import Catalog, open_catalog
from planner.study.optics_shelf import (
    Wanted,
    WhatIfShelf,
    as_if_orderable,
    by_claim,
    not_orderable,
    radix,
    sibling,
)

DAY = "2026-11-30"


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


@pytest.mark.parametrize(
    ("name", "rate", "packaged", "found"),
    [
        ("q3400", 800.0, True, "q3450"), ("q3450", 800.0, False, "q3400"), ("sn5600", 400.0, True, "tomahawk-5-bailly"),
        ("qm9700", 400.0, True, None), ("arista-7060xe7-64ps", 1600.0, True, "tomahawk-6-davisson"),
    ],
)  # fmt: skip
def test_a_sibling_has_the_same_ports_lanes_and_protocol(
    shelf: Catalog, name: str, rate: float, packaged: bool, found: str | None
) -> None:
    switch = shelf.get(Switch, name)
    entry = sibling(shelf, switch, Wanted(packaged=packaged), rate, DAY)
    assert (entry.item.id if entry else None) == found
    if entry is not None:
        assert radix(entry.item, rate) == radix(switch, rate)
        assert entry.item.lane_rate_gbit_per_s == switch.lane_rate_gbit_per_s
        assert entry.item.fabric is switch.fabric


def test_a_switch_of_the_wanted_kind_stands_for_itself(shelf: Catalog) -> None:
    arista = shelf.get(Switch, "arista-7060x6-64pe")
    entry = sibling(shelf, arista, Wanted(packaged=False, linear=True), 400.0, DAY)
    assert entry is not None and entry.item.id == arista.id


def test_parity_is_the_pluggable_switch_with_a_module_in_every_cage(shelf: Catalog) -> None:
    part, plain = shelf.get(Switch, "tomahawk-6-davisson"), shelf.get(Switch, "arista-7060xe7-64ps")
    made, said = as_if_orderable(shelf, part, plain)
    module = min(
        (shelf.get(Transceiver, name) for name in plain.modules),
        key=lambda one: (one.price_usd.value, one.id),  # type: ignore[union-attr]
    )
    assert (
        made.orderable
        and made.price_usd is not None
        and plain.price_usd is not None
        and module.price_usd is not None
    )
    assert made.price_usd.value == plain.price_usd.value + 64 * module.price_usd.value
    assert not made.price_usd.verified and "parity" in made.price_usd.note
    saving, _ = shelf.figure("network", "cpo_power_saving_per_800g_port_w")
    assert made.power_typical_w is not None and plain.power_typical_w is not None
    assert made.power_typical_w.value == pytest.approx(
        plain.power_typical_w.value + 64 * module.power_w.value - 128 * saving.value
    )
    assert len(said) == 2 and not not_orderable(made, "2020")


def test_a_public_figure_is_not_replaced(shelf: Catalog) -> None:
    part, plain = shelf.get(Switch, "q3450"), shelf.get(Switch, "q3400")
    made, said = as_if_orderable(shelf, part, plain)
    assert (made.price_usd, made.power_typical_w) == (part.price_usd, part.power_typical_w) and not said


def test_a_claimed_saving_is_marked_as_a_claim(shelf: Catalog) -> None:
    made = by_claim(shelf, shelf.get(Switch, "q3450"), shelf.get(Switch, "q3400"))
    assert made.power_typical_w is not None and made.power_typical_w.basis == "claim"
    assert made.power_typical_w.value == pytest.approx(5200 + 72 * 27 * 0.3)


def test_a_changed_item_is_read_from_the_shelf_and_others_from_the_base(shelf: Catalog) -> None:
    other = shelf.get(Switch, "q3450").model_copy(update={"rack_units": 9.0})
    what_if = WhatIfShelf(shelf, {("switches", "q3450"): other})
    assert what_if.get(Switch, "q3450").rack_units == 9.0
    assert what_if.entry(Switch, "q3400") is shelf.entry(Switch, "q3400")
    assert what_if.used() == shelf.used()
