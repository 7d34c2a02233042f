"""Who is joined to whom, by which ports; the laws stand in tests/property/test_wiring_laws.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.design.fabric import FabricRequest, SwitchPorts, Topology, design_fabric
from planner.design.wiring import reserved_ports_at, wiring, wiring_ports

DGX = FabricRequest(
    gpus=1016,
    gpus_per_node=8,
    nics_per_node=8,
    nic_rate_gbit_per_s=400.0,
    leaf=SwitchPorts("qm9700", 32, 800.0, 2, ports_per_cage=2),
    reserved_ports=4,
)


def test_a_node_has_a_nic_on_each_leaf_of_its_unit() -> None:
    node_leaf = wiring(design_fabric(DGX))[0]
    assert node_leaf.upper[node_leaf.lower == 0].tolist() == list(range(8))
    assert node_leaf.upper[node_leaf.lower == 32].tolist() == list(range(8, 16))


def test_nics_take_ports_in_their_order_and_uplinks_follow_them() -> None:
    node_leaf, leaf_spine = wiring_ports(design_fabric(DGX))
    first = node_leaf.pairs.lower == 0
    assert node_leaf.pairs.lower_port[first].tolist() == list(range(8))
    assert set(node_leaf.pairs.upper_port[first].tolist()) == {0}
    assert int(leaf_spine.pairs.lower_port.min()) == 32


def test_ports_of_planes_are_those_of_their_nic() -> None:
    node_leaf = wiring_ports(design_fabric(replace(DGX, planes=2, gpus=512)))[0].pairs
    own = node_leaf.lower == 3
    by_port = dict(zip(node_leaf.lower_port[own].tolist(), node_leaf.upper[own].tolist(), strict=True))
    assert [by_port[2 * nic] for nic in range(8)] == list(range(8))
    assert [by_port[2 * nic + 1] for nic in range(8)] == list(range(8, 16))


def test_reserved_ports_are_the_last_of_the_last_unit_and_of_the_first_when_it_grows() -> None:
    leaves, ports = reserved_ports_at(design_fabric(DGX))
    assert (leaves.tolist(), ports.tolist()) == ([24, 25, 26, 27], [31] * 4)
    leaves, ports = reserved_ports_at(design_fabric(replace(DGX, gpus=248, grow_to_gpus=1016)))
    assert (leaves.tolist(), ports.tolist()) == ([0, 1, 2, 3], [31] * 4)


def test_the_rings_of_a_torus_close() -> None:
    ring = replace(DGX, gpus=32, nics_per_node=2, reserved_ports=0, topology=Topology.TORUS)
    (pairs,) = wiring(design_fabric(ring))
    degree = np.bincount(np.concatenate([pairs.lower, pairs.upper]), weights=np.tile(pairs.links, 2))
    assert degree.tolist() == [2, 2, 2, 2]


def test_a_torus_is_folded_so_that_no_ring_closes_over_its_whole_length() -> None:
    line = replace(DGX, gpus=8 * 64, nics_per_node=2, reserved_ports=0, topology=Topology.TORUS)
    (pairs,) = wiring(design_fabric(line))
    assert int((pairs.upper - pairs.lower).max()) == 2
    seen, at = {0}, 0
    for _ in range(64):
        joined = np.concatenate([pairs.upper[pairs.lower == at], pairs.lower[pairs.upper == at]])
        at = next((int(one) for one in joined if int(one) not in seen), 0)
        seen.add(at)
    assert len(seen) == 64 and at == 0


def test_one_switch_laid_out_to_grow_keeps_every_reserved_port() -> None:
    for topology in (Topology.RAIL_OPTIMISED, Topology.DUAL_TOR, Topology.RAIL_ONLY):
        asked = replace(DGX, gpus=24, grow_to_gpus=48, reserved_ports=5, topology=topology)
        built = design_fabric(asked)
        leaves, ports = reserved_ports_at(built)
        assert built.reserved_links == len(leaves) == 5 * built.networks
        assert len(set(zip(leaves.tolist(), ports.tolist(), strict=True))) == len(leaves)
