"""Purchases of several kinds of servers: what each order buys, pays and draws."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.design.orders import orders_of, split
from planner.evaluate import Evaluation, evaluate
from planner.finance.kind_shares import kind_shares
from planner.ledger import Ledger
from planner.scenario.load import load_scenario

PHASES = (
    "phases=[{id: first, order: 2026-12, in_service: 2027-03}, {id: second, order: 2027-09, in_service: 2028-01}]",
    "cluster.groups.there.phase=first",
    "cluster.groups.new.phase=second",
)
NEW, THERE = "hgx-b200", "hgx-h200"


@cache
def evaluated(*changes: str) -> Evaluation:
    found = evaluate(load_scenario("b200-h200-disaggregated", changes=[*PHASES, *changes]), open_catalog())
    assert found.built is not None, found.refusal
    return found


def test_each_phase_pays_for_its_own_servers() -> None:
    ledger = evaluated().ledger
    cost = {
        one: ledger.scalar(f"capex.{one}_usd") + ledger.scalar(f"capex.bluefield-3.{one}_usd")
        for one in (NEW, THERE)
    }
    shares = {one: ledger.scalar(f"phase.{one}.server_share_fraction") for one in ("first", "second")}
    assert shares["second"] == pytest.approx(cost[NEW] / sum(cost.values()))
    assert shares["second"] > 0.5 and sum(shares.values()) == pytest.approx(1.0)
    paid = ledger.value("cash.capex_compute_usd")
    assert paid.sum() == pytest.approx(-ledger.scalar("capex.compute_with_installation_usd"))


def test_energy_goes_by_what_stands_there() -> None:
    ledger = evaluated().ledger
    draw = {one: ledger.scalar(f"power.{one}.typical_w") for one in (NEW, THERE)}
    share = np.ravel(ledger.value("timing.load_in_service_fraction"))
    early = draw[THERE] / sum(draw.values())
    assert share[4] == pytest.approx(early) and early < 0.5 and share[-1] == pytest.approx(1.0)
    energy = np.ravel(ledger.value("energy.kwh"))
    assert energy[4] / energy[-1] == pytest.approx(early)


def test_an_order_buys_its_own_servers_and_its_share_of_the_rest() -> None:
    found = evaluated()
    orders = orders_of(found.loaded, found.parts.as_of)
    assert [dict(one.of_server) for one in orders] == [{NEW: 0.0, THERE: 1.0}, {NEW: 1.0, THERE: 0.0}]
    assert split(33, orders, server=NEW) == (0.0, 33.0) and split(33, orders, server=THERE) == (33.0, 0.0)
    assert split(10, orders) == (5.0, 5.0)


def test_servers_of_one_kind_keep_their_shares_by_gpus() -> None:
    ledger = evaluated("cluster.groups.new.server=hgx-h200").ledger
    assert "timing.load_in_service_fraction" not in ledger
    assert ledger.scalar("phase.first.server_share_fraction") == 0.5


def test_one_purchase_has_no_shares() -> None:
    found = evaluate(load_scenario("b200-h200-disaggregated"), open_catalog())
    assert found.built is not None
    assert kind_shares(Ledger(months=1), found.parts, found.built.bom, ["all"]) is None
