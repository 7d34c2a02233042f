"""What networks without switches leave of the NICs' rate, and what rings and exchanges get on others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.catalog.schema import FabricBehaviour
from planner.catalog.store import open_catalog
from planner.design.meshes import Mesh, Torus
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.rails import Fabric, rails
from planner.performance.spread import Spread, mesh_spread, torus_spread

SHELF = open_catalog()
CLOS = Fabric(
    behaviour=SHELF.entry(FabricBehaviour, "infiniband-adaptive"),
    nic_bytes_per_s=np.array([50e9]),
    host_bytes_per_s=np.array([np.inf]),
    oversubscription=np.ones(1),
    nodes=np.array([1024.0]),
    leaf_nodes=np.array([32.0]),
)


def rates(fabric: Fabric) -> tuple[float, float]:
    """Rates of rings and of all-to-alls, bytes/s."""
    ring, exchange = rails(Assumed(Ledger(months=1), SHELF), fabric)
    return float(ring.bytes_per_s[0]), float(exchange.bytes_per_s[0])


def test_an_all_to_all_gets_less_of_a_longer_torus() -> None:
    """The bisection of a ring of n nodes is two links, whatever n."""
    rings = [torus_spread(Torus((n, 1, 1), (1, 0, 0)), ports=2) for n in (2, 8, 64)]
    shares = [one.exchange_fraction for one in rings]
    assert shares[0] == 1.0
    assert shares == sorted(shares, reverse=True)
    assert shares[2] == pytest.approx(4 * 2 * 63 / 64**2 / 2)
    assert all(one.ring_fraction == 1.0 for one in rings)


def test_ports_without_a_neighbour_carry_nothing() -> None:
    assert torus_spread(Torus((4, 4, 4), (1, 1, 1)), ports=8).ring_fraction == 0.75
    assert mesh_spread(Mesh(3, 3, 4, 1), ports=9).exchange_fraction == pytest.approx(8 / 9)


def test_two_domains_give_each_other_all_their_links() -> None:
    assert mesh_spread(Mesh(2, 2, 72, 18), ports=72) == Spread(1.0, 1.0, 1.0)


def test_a_ratio_above_the_spines_slows_exchanges_between_pods_and_hardly_rings() -> None:
    pods = replace(CLOS, pod_nodes=np.array([256.0]))
    tapered = replace(pods, spine_oversubscription=np.array([4.0]))
    assert rates(pods) == pytest.approx(rates(CLOS))
    assert rates(tapered)[0] == pytest.approx(rates(CLOS)[0])
    assert rates(tapered)[1] == pytest.approx(rates(CLOS)[1] / (4.0 * (1024 - 256) / 1023))


def test_detours_between_dragonfly_groups_weigh_on_rings_only() -> None:
    groups = replace(CLOS, nodes=np.array([8.0]), leaf_nodes=np.array([1.0]), pod_nodes=np.array([2.0]))
    detoured = replace(groups, spine_oversubscription=np.array([2.0]), detours_ratio=np.array([2.0]))
    straight = replace(detoured, detours_ratio=np.ones(1))
    assert rates(detoured)[0] == pytest.approx(rates(straight)[0] / 2.0)
    assert rates(detoured)[1] == pytest.approx(rates(straight)[1])


def test_a_torus_has_no_uplink_and_its_share_of_the_rate() -> None:
    found = Spread(0.75, 0.25, 0.125, exchange_nodes_through=3.0)
    torus = replace(CLOS, spineless=True, spread=found)
    whole = replace(CLOS, spineless=True)
    assert rates(torus) == pytest.approx((rates(whole)[0] * 0.75, rates(whole)[1] * 0.25))
    far = rails(Assumed(Ledger(months=1), SHELF), torus)
    assert float(far[1].hop_s[0]) > float(far[0].hop_s[0])
