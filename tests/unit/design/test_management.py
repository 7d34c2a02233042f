"""Management servers, fabric managers, and the ports that reach every box."""

from __future__ import annotations

from planner.design.management import ConsolePorts, Management, consoles, design_management

EACH = ConsolePorts(node=4, server=1, switch=2, storage_block=2, rack=2)
RULES = {"servers_wanted": 5, "managers_per_fabric": 2}


def test_every_infiniband_fabric_gets_its_managers() -> None:
    made = design_management(nodes=127, inband=True, fabrics=1, fabric_links=4, storage_links=4, **RULES)
    assert (made.servers, made.fabric_managers, made.storage_managers, made.managers) == (5, 2, 2, 4)
    planes = design_management(nodes=64, inband=True, fabrics=2, fabric_links=8, **RULES)
    assert planes.managers == 4


def test_fabrics_without_ports_for_managers_have_none() -> None:
    assert design_management(nodes=127, inband=True, fabrics=1, fabric_links=0, **RULES).managers == 0
    assert design_management(nodes=127, inband=True, fabrics=1, fabric_links=1, **RULES).managers == 1


def test_one_node_and_a_cluster_without_in_band_need_no_servers() -> None:
    assert design_management(nodes=1, inband=True, fabrics=1, fabric_links=0, **RULES).servers == 0
    alone = design_management(nodes=8, inband=False, fabrics=1, fabric_links=0, **RULES)
    assert alone.servers == 0
    assert alone.why == "Nothing is bought to run the cluster."


def test_consoles_add_up_over_all_kinds_and_leave_out_what_is_not_there() -> None:
    found = consoles(
        EACH, nodes=10, management=Management(5, 2, 1, ""), switches=(("leaf", 4), ("spine", 0)),
        storage_blocks=3, racks=6,
    )  # fmt: skip
    assert {one.kind: one.ports for one in found} == {
        "node": 40, "management": 5, "ufm": 3, "block": 6, "leaf": 8, "rack": 12,
    }  # fmt: skip
