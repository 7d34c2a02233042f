"""In-band, storage and out-of-band networks of whole scenarios, with their managers, cables and racks."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from planner.catalog.schema import Cable, Transceiver
from planner.catalog.store import Catalog, open_catalog
from planner.design.beside import frontend_rate
from planner.design.beside_links import PARTS_BY_RATE
from planner.design.cluster import Cluster, draw_cluster
from planner.errors import DesignError
from planner.scenario.load import load_scenario
from planner.scenario.parts import Parts, resolve


@lru_cache(maxsize=1)
def _catalog() -> Catalog:
    return open_catalog()


def _parts(name: str, *changes: str) -> Parts:
    return resolve(load_scenario(name, changes=changes), _catalog())


@lru_cache(maxsize=32)
def _drawn(name: str, *changes: str) -> Cluster:
    return draw_cluster(_parts(name, *changes))


OWN = ("network.storage.switch=qm9700", "network.reserved_ports=4")
CASES = (
    ("h200-1024-ndr", ()),
    ("h200-1024-ndr", OWN),
    ("b300-2048-cpo", ("network.storage.switch=sn5600",)),
    ("gb200-nvl72-16", ()),
    ("h100-16384-roce", ()),
    ("h200-serving-fleet", ()),
)
IDS = [f"{name}{'+' if changes else ''}" for name, changes in CASES]


def _links(cluster: Cluster, *tiers: str) -> int:
    return sum(row.links for row in cluster.cabling.rows if row.tier in tiers)


def _ending(cluster: Cluster, end: str) -> int:
    return sum(row.links for row in cluster.cabling.rows if row.tier.endswith(f"-{end}"))


@pytest.mark.parametrize(("name", "changes"), CASES, ids=IDS)
def test_every_counted_link_is_cabled(name: str, changes: tuple[str, ...]) -> None:
    cluster = _drawn(name, *changes)
    made = cluster.beside
    assert made.inband is not None
    assert made.oob is not None
    upwards = _links(cluster, "inband-inband.spine", "inband.spine-inband.core")
    assert _ending(cluster, "inband") + upwards == made.inband.cables
    assert _ending(cluster, "oob") == made.oob.cables == sum(one.ports for one in made.consoles)
    if made.storage_network is not None:
        upwards = _links(cluster, "storage-storage.spine", "storage.spine-storage.core")
        assert _ending(cluster, "storage") + upwards == made.storage_network.cables
    assert _links(cluster, "ufm-leaf") == (
        cluster.fabric.reserved_links if made.management.fabric_managers else 0
    )


@pytest.mark.parametrize(("name", "changes"), CASES, ids=IDS)
def test_everything_beside_the_fabric_stands_in_a_rack(name: str, changes: tuple[str, ...]) -> None:
    cluster = _drawn(name, *changes)
    made = cluster.beside
    wanted = {
        **dict(made.switch_counts),
        "oob": made.oob.switches if made.oob else 0,
        "management": made.management.servers,
        "ufm": made.management.managers,
        "block": made.storage.blocks if made.storage else 0,
    }
    assert {kind: len(cluster.layout.stand(kind).rack) for kind in wanted} == wanted


@pytest.mark.parametrize(("name", "changes"), CASES, ids=IDS)
def test_power_strips_of_every_rack_are_reached(name: str, changes: tuple[str, ...]) -> None:
    cluster = _drawn(name, *changes)
    racks = next(one.items for one in cluster.beside.consoles if one.kind == "rack")
    assert racks == cluster.layout.racks


def test_a_node_has_two_links_at_the_rate_of_its_class() -> None:
    for name, rate in (("h200-1024-ndr", 200.0), ("gb200-nvl72-16", 200.0), ("b300-2048-cpo", 400.0)):
        cluster = _drawn(name)
        assert cluster.inband is not None
        assert cluster.inband.rate_gbit_per_s == rate
        assert _links(cluster, "node-inband") == 2 * cluster.nodes


def test_a_slow_switch_bounds_the_rate_and_pod_switches_run_at_100_gbit() -> None:
    parts = _parts("h200-1024-ndr", "network.inband=sn4600c")
    assert parts.inband is not None
    assert frontend_rate(parts, parts.inband) == 100.0


def test_storage_with_a_switch_of_its_own_leaves_the_in_band_network() -> None:
    shared, own = _drawn("h200-1024-ndr"), _drawn("h200-1024-ndr", *OWN)
    assert _links(shared, "block-inband") == shared.beside.block_ports * 4 > 0
    assert _links(own, "block-inband", "node-inband") == 2 * own.nodes
    assert _links(own, "node-storage") == 2 * own.nodes
    assert _links(own, "block-storage") == own.beside.block_ports * 4
    network = own.beside.storage_network
    assert network is not None
    assert 1.0 <= network.oversubscription <= 1.34


def test_infiniband_fabrics_have_two_managers_each_and_ethernet_has_none() -> None:
    assert _drawn("h200-1024-ndr", *OWN).beside.management.managers == 4
    assert _drawn("b300-2048-cpo").beside.management.managers == 2
    assert _drawn("h100-16384-roce").beside.management.managers == 0


def test_no_leaf_of_a_pair_has_more_links_down_than_ports() -> None:
    for name, changes in CASES:
        cluster = _drawn(name, *changes)
        for kind, network in (
            ("inband", cluster.inband),
            ("storage", cluster.beside.storage_network),
        ):
            if network is None:
                continue
            down = [
                tier.asked.links.upper
                for tier in cluster.cabling.tiers
                if tier.asked.links.upper_kind == kind and tier.asked.links.lower_kind != kind
            ]
            assert np.bincount(np.concatenate(down)).max() <= network.ports_down


def test_copper_serves_what_stands_near() -> None:
    """Cat 6 reaches 100 m; racks are reached from their own rows, on a floor of 16,384 GPUs too."""
    for name, changes in CASES:
        cluster = _drawn(name, *changes)
        longest = max(row.longest_m for row in cluster.cabling.rows if row.tier.endswith("-oob"))
        assert longest < 40.0


def test_halls_have_out_of_band_switches_of_their_own() -> None:
    halls = "site.halls=[{id: a, racks: 40}, {id: b, racks: 40, distance_m: 400}]"
    cluster = _drawn("h200-1024-ndr", halls)
    assert cluster.layout.hall.any()
    for tier in cluster.cabling.tiers:
        if tier.asked.links.upper_kind == "oob":
            lower, upper = (
                cluster.layout.hall[tier.asked.links.lower_rack],
                cluster.layout.hall[tier.asked.links.upper_rack],
            )
            assert (lower == upper).all()


def test_two_networks_need_four_front_end_ports() -> None:
    changes = (
        "cluster.groups=[{id: racks, server: gb300-nvl72, gpus: 1152}]",
        "network.leaf.switch=q3400", "network.spine.switch=q3400", "network.storage.switch=sn5600",
    )  # fmt: skip
    with pytest.raises(
        DesignError, match="has 2 front-end ports, and in-band and storage networks"
    ) as refused:
        _drawn("gb200-nvl72-16", *changes)
    assert refused.value.problems[0].offered[0].path == ("network", "storage", "switch")


def test_storage_without_a_network_is_refused() -> None:
    with pytest.raises(DesignError, match="no network joins it"):
        _drawn("h200-1024-ndr", "network.inband=null")


def test_parts_of_every_rate_have_that_rate_and_a_price() -> None:
    for rate, (cables, modules) in PARTS_BY_RATE.items():
        found: list[Cable | Transceiver] = [_catalog().get(Cable, name) for name in cables]
        for item in (*found, *(_catalog().get(Transceiver, name) for name in modules)):
            assert item.rate_gbit_per_s is not None
            assert item.rate_gbit_per_s.value == rate
            assert item.price_usd is not None
            assert item.orderable


@pytest.mark.parametrize(("name", "changes"), CASES, ids=IDS)
def test_every_tier_of_links_has_a_name_of_its_own(name: str, changes: tuple[str, ...]) -> None:
    kinds: dict[str, set[tuple[str, str]]] = {}
    for tier in _drawn(name, *changes).cabling.tiers:
        links = tier.asked.links
        kinds.setdefault(links.tier, set()).add((str(links.lower_kind), str(links.upper_kind)))
    assert all(len(joined) == 1 for joined in kinds.values()), kinds
    assert all(tier.count("-") == 1 for tier in kinds)


def test_a_pair_of_switches_stands_in_one_hall_and_serves_it() -> None:
    halls = "site.halls=[{id: a, racks: 700}, {id: b, racks: 1500, distance_m: 120}]"
    cluster = _drawn("h100-16384-roce", halls)
    rack = cluster.layout.stand("inband").rack
    hall = cluster.layout.hall[rack]
    assert set(hall.tolist()) == {0, 1}
    assert (hall[0::2] == hall[1::2]).all()
    links = next(tier.asked.links for tier in cluster.cabling.tiers if tier.asked.links.tier == "node-inband")
    assert cluster.beside.inband is not None
    assert np.bincount(links.upper).max() <= cluster.beside.inband.ports_down
    away = cluster.layout.hall[links.lower_rack] != cluster.layout.hall[links.upper_rack]
    assert away.mean() < 0.06
