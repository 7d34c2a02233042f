"""``planner fabric --management``: what stands beside the fabric, for programs and for people."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from planner.cli.app import app

POD = ["fabric", "--nodes", "4", "--switch", "qm9700", "--paired", "--reserved-ports", "0"]
BESIDE = [*POD, "--management", "--inband", "sn4600c", "--oob", "sn2201"]


def _said(*asked: str) -> str:
    found = CliRunner().invoke(app, list(asked))
    assert found.exit_code == 0, found.output
    return found.stdout


def test_json_adds_the_counts_of_the_published_pod() -> None:
    said = json.loads(_said(*BESIDE, "--json"))
    assert (said["leaf_count"], said["cat6_count"], said["sn2201_count"], said["mgmt_servers_count"]) == (
        2,
        29,
        1,
        5,
    )
    assert (said["aoc_100g_inband_count"], said["aoc_100g_mgmt_count"]) == (8, 10)


def test_without_the_option_nothing_beside_the_fabric_is_counted() -> None:
    assert "cat6_count" not in json.loads(_said(*POD, "--json"))


def test_people_read_the_same_counts() -> None:
    said = _said(*BESIDE)
    assert "Beside the fabric, without storage and rack strips" in said
    assert any(line.split() == ["cat6", "29"] for line in said.splitlines())


def test_an_unknown_switch_is_named() -> None:
    found = CliRunner().invoke(app, [*POD, "--management", "--inband", "sn4600x"])
    assert found.exit_code != 0
    assert "sn4600c" in f"{found.output}{found.exception}"


@pytest.mark.parametrize("nodes", [31, 127])
def test_infiniband_units_name_their_managers(nodes: int) -> None:
    said = json.loads(_said("fabric", "--nodes", str(nodes), "--switch", "qm9700", "--management", "--json"))
    assert said["fabric_managers_count"] == 2
    assert said["node_leaf_and_ufm_cables_count"] == nodes * 8 + 4
