"""Published switch and cable counts, reproduced exactly (no tolerance: they are counts)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from planner.design.fabric import FabricRequest, SwitchPorts, Topology, design_fabric

TABLES = YAML(typ="safe").load(Path(__file__).with_name("fabric_reference_counts.yaml"))
ROWS = [(table, row) for table in TABLES for row in table.get("rows", ())]
PAIRS = [(table, row) for table in TABLES for row in table.get("pairs", ())]
PODS = [(table, row) for table in TABLES for row in table.get("pods", ())]


def request_of(table: dict[str, Any], *, gpus: int) -> FabricRequest:
    """The network of a table."""
    switch = SwitchPorts(
        "published",
        table["cages"],
        float(table["cage_rate_gbit_per_s"]),
        table["links_per_cage"],
        ports_per_cage=table["ports_per_cage"],
    )
    return FabricRequest(
        gpus=gpus,
        gpus_per_node=table["gpus_per_node"],
        nics_per_node=table["nics_per_node"],
        nic_rate_gbit_per_s=float(table["nic_rate_gbit_per_s"]),
        leaf=switch,
        planes=table["planes"],
        reserved_ports=table["reserved_ports"],
    )


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{t['table']}-{r['nodes']}" for t, r in ROWS])
def test_a_published_fabric_is_reproduced_exactly(table: dict[str, Any], row: dict[str, int]) -> None:
    built = design_fabric(request_of(table, gpus=row["nodes"] * table["gpus_per_node"])).to_json()
    wanted = {key: count for key, count in row.items() if key != "nodes"}
    assert {key: built[key] for key in wanted} == wanted


@pytest.mark.parametrize(("table", "row"), PAIRS, ids=[f"{t['table']}-{r['nodes']}" for t, r in PAIRS])
def test_a_published_pair_of_switches_is_reproduced_exactly(
    table: dict[str, Any], row: dict[str, int]
) -> None:
    """The table counts twin-port cages and cables, which carry two links each."""
    asked = request_of(table, gpus=row["nodes"] * table["gpus_per_node"])
    built = design_fabric(replace(asked, paired=True))
    per_cage = table["links_per_cage"]
    assert built.leaves == row["qm9700_count"]
    assert built.lateral_cables == row["isl_twin_dac_count"]
    assert built.lateral_links == row["isl_twin_dac_count"] * per_cage
    for name in ("ndr_fibre_printed", "node_twin_transceivers", "switch_twin_transceivers"):
        assert built.node_leaf_links == row[f"{name}_count"] * per_cage
    assert all(table["not_covered"].values())


@pytest.mark.parametrize(("table", "row"), PODS, ids=[t["table"] for t, _ in PODS])
def test_a_published_dual_plane_pod_has_its_segments(table: dict[str, Any], row: dict[str, int]) -> None:
    asked = request_of(table, gpus=row["gpus_count"])
    ports = row["nic_ports_count"]
    built = design_fabric(replace(asked, planes=1, nic_ports=ports, topology=Topology.DUAL_TOR))
    assert built.planes == row["planes_count"]
    assert built.request.link_rate_gbit_per_s == row["nic_port_rate_gbit_per_s"]
    assert built.leaf_groups == row["segments_count"]
    assert built.gpus_per_leaf == row["gpus_per_segment_count"]
    assert built.node_leaf_cables == row["gpus_count"] * ports
    assert built.pods == 1


@pytest.mark.parametrize(("radix", "endpoints"), [(64, 2048), (128, 8192), (144, 10368), (512, 131072)])
def test_a_full_two_tier_build_has_the_textbook_counts(radix: int, endpoints: int) -> None:
    built = design_fabric(_plain(radix, endpoints))
    assert (built.tiers, built.leaves, built.spines) == (2, 2 * endpoints // radix, endpoints // radix)
    assert built.node_leaf_links == built.leaf_spine_links == endpoints


@pytest.mark.parametrize("radix", [16, 32, 64, 128])
def test_a_full_three_tier_build_has_the_textbook_counts(radix: int) -> None:
    """2N/R leaves, 2N/R spines, N/R cores and three links for each of R^3/4 endpoints."""
    endpoints = radix**3 // 4
    built = design_fabric(_plain(radix, endpoints))
    assert (built.leaves, built.spines, built.cores) == (
        2 * endpoints // radix,
        2 * endpoints // radix,
        endpoints // radix,
    )
    assert built.node_leaf_links == built.leaf_spine_links == built.spine_core_links == endpoints
    assert sum(tier.free for tier in built.tier_ports) == 0


def test_a_three_tier_fabric_of_128k_has_five_switch_side_ports_for_each_endpoint() -> None:
    """About 655,000 switch-side modules (NVIDIA and Lambda on co-packaged optics, 131,072 endpoints)."""
    built = design_fabric(_plain(128, 131072))
    assert sum(tier.used for tier in built.tier_ports) == 655_360


def _plain(radix: int, endpoints: int) -> FabricRequest:
    return FabricRequest(
        gpus=endpoints,
        gpus_per_node=8,
        nics_per_node=8,
        nic_rate_gbit_per_s=400.0,
        leaf=SwitchPorts("plain", radix, 400.0, 1),
    )
