"""A pod against the published bill: every figure of its rows."""

from __future__ import annotations

import pytest

from planner.catalog.schema import Nic, Switch
from planner.catalog.store import open_catalog
from planner.design.beside import switch_ports
from planner.design.fabric import FabricRequest, design_fabric
from planner.design.pod import Pod, design_pod

PUBLISHED = (
    {
        "nodes_count": 4, "gpus_count": 32, "qm9700_count": 2, "ndr_fibre_printed_count": 16,
        "node_twin_transceivers_count": 16, "switch_twin_transceivers_count": 16, "isl_twin_dac_count": 8,
        "sn2201_count": 1, "sn4600c_count": 2, "cat6_count": 29, "aoc_100g_inband_count": 8,
        "inband_isl_count": 2, "aoc_100g_oob_uplink_count": 2, "mgmt_servers_count": 5, "aoc_100g_mgmt_count": 10,
    },
    {
        "nodes_count": 8, "gpus_count": 64, "qm9700_count": 2, "ndr_fibre_printed_count": 32,
        "node_twin_transceivers_count": 32, "switch_twin_transceivers_count": 32, "isl_twin_dac_count": 16,
        "sn2201_count": 2, "sn4600c_count": 2, "cat6_count": 45, "aoc_100g_inband_count": 16,
        "inband_isl_count": 2, "aoc_100g_oob_uplink_count": 4, "mgmt_servers_count": 5, "aoc_100g_mgmt_count": 10,
    },
)  # fmt: skip
"""DGX BasePOD RA-11127-001 V5, Table 4.2, as quoted in rackula-dgx-notes; every key of both rows is covered. The
printed fibres are twin cages, not links (the source counts 32 for 64 links), and are compared as such."""


def _pod(nodes: int, *, reserved: int = 0, paired: bool = True) -> Pod:
    catalog = open_catalog()
    leaf, inband, oob = (catalog.entry(Switch, name) for name in ("qm9700", "sn4600c", "sn2201"))
    fabric = design_fabric(
        FabricRequest(
            gpus=8 * nodes, gpus_per_node=8, nics_per_node=8, nic_rate_gbit_per_s=400.0,
            leaf=switch_ports(leaf), paired=paired, reserved_ports=reserved,
        )
    )  # fmt: skip
    return design_pod(catalog, fabric=fabric, inband=inband, oob=oob, nic=catalog.get(Nic, "connectx-7-400g"))


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row['nodes_count']} nodes")
def test_a_published_pod_is_reproduced_exactly(row: dict[str, int]) -> None:
    pod = _pod(row["nodes_count"])
    assert (pod.fabric.nodes, pod.fabric.request.gpus) == (row["nodes_count"], row["gpus_count"])
    wanted = {key: count for key, count in row.items() if key not in {"nodes_count", "gpus_count"}}
    built = pod.to_json()
    assert {key: built[key] for key in wanted} == wanted
    assert set(built) - set(wanted) == {"inband_leaf_spine_links_count", "fabric_managers_count"}
    assert (built["inband_leaf_spine_links_count"], built["fabric_managers_count"]) == (0, 0)


def test_the_cages_printed_as_fibres_carry_two_links_each() -> None:
    assert [_pod(nodes).fabric.node_leaf_links for nodes in (4, 8)] == [32, 64]


def test_a_superpod_unit_has_two_managers_and_no_bill_of_twin_cages() -> None:
    built = _pod(31, reserved=4, paired=False).to_json()
    assert built["fabric_managers_count"] == 2
    assert "node_twin_transceivers_count" not in built
    assert built["aoc_100g_inband_count"] == 62
