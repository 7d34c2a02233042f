"""Links out of a domain: NIC, host slot, spines, and steps over the switches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.catalog.schema import FabricBehaviour
from planner.catalog.store import open_catalog
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.collectives import Link
from planner.performance.rails import Fabric, rails, step_kind

CATALOG = open_catalog()


def built(behaviour: str, **changes: Any) -> tuple[Link, Link]:
    fabric = Fabric(
        behaviour=CATALOG.entry(FabricBehaviour, behaviour), nic_bytes_per_s=np.array([50e9]),
        host_bytes_per_s=np.array([np.inf]), oversubscription=np.array([1.0]), nodes=np.array([128.0]),
        leaf_nodes=np.array([32.0]),
    )  # fmt: skip
    return rails(Assumed(Ledger(months=1), CATALOG), replace(fabric, **changes))


def figure(key: str) -> float:
    return CATALOG.figure("performance", key)[0].value


BEHAVIOURS = CATALOG.ids(FabricBehaviour)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_rail_reaches_a_share_of_its_nic_and_no_more(behaviour: str) -> None:
    for link in built(behaviour):
        assert 0.0 < link.bytes_per_s[0] <= 50e9
        assert link.start_s[0] == figure("scale_out_start_s")
        hop = CATALOG.get(FabricBehaviour, behaviour).hop_latency_us.value * 1e-6
        step = figure(f"scale_out_hop_s_{step_kind(behaviour)}")
        assert link.hop_s[0] == pytest.approx(step + hop)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_neighbours_cross_the_spine_less_than_an_exchange(behaviour: str) -> None:
    ring, exchange = built(behaviour, oversubscription=np.array([4.0]))
    assert ring.bytes_per_s[0] > exchange.bytes_per_s[0]


def test_oversubscription_slows_an_exchange_of_many_leaves_and_nothing_under_one() -> None:
    for spread, slower in ((np.array([128.0]), True), (np.array([16.0]), False)):
        wide = built(BEHAVIOURS[0], nodes=spread)[1].bytes_per_s[0]
        narrow = built(BEHAVIOURS[0], nodes=spread, oversubscription=np.array([8.0]))[1].bytes_per_s[0]
        assert bool(narrow < wide) is slower


def test_without_a_spine_nothing_is_oversubscribed() -> None:
    free = built(BEHAVIOURS[0], spineless=True)[1].bytes_per_s
    np.testing.assert_array_equal(
        free, built(BEHAVIOURS[0], spineless=True, oversubscription=np.array([8.0]))[1].bytes_per_s
    )


def test_a_narrow_slot_caps_the_nic() -> None:
    assert built(BEHAVIOURS[0], host_bytes_per_s=np.array([12e9]))[0].bytes_per_s[0] == pytest.approx(12e9)


def test_efa_takes_longer_steps() -> None:
    assert step_kind("efa-srd") == "efa"
    assert figure("scale_out_hop_s_efa") > figure("scale_out_hop_s_infiniband")


def test_a_batch_of_fabrics_equals_its_members() -> None:
    rates, over = np.array([25e9, 50e9, 100e9]), np.array([1.0, 2.0, 4.0])
    whole = built(BEHAVIOURS[0], nic_bytes_per_s=rates, oversubscription=over)[1].bytes_per_s
    apart = [
        built(BEHAVIOURS[0], nic_bytes_per_s=rates[[i]], oversubscription=over[[i]])[1].bytes_per_s[0]
        for i in range(3)
    ]
    np.testing.assert_allclose(whole, apart, rtol=1e-12)
