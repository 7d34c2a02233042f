"""The fabric command: every topology, its numbers and its refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.cli.app import run_app

Capture = pytest.CaptureFixture[str]
CONTRACT = {
    "leaf_count", "spine_count", "core_count", "node_leaf_links_count", "node_leaf_cables_count",
    "node_leaf_and_ufm_cables_count", "leaf_spine_links_count", "leaf_spine_cables_count", "spine_core_links_count",
    "spine_core_cables_count", "tiers_count", "planes_count", "radix_count",
}  # fmt: skip


def answer(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run_app(["fabric", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert set(found) >= CONTRACT
    return found


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--gpus", "1024", "--topology", "fat-tree", "--reserved-ports", "0"], {"leaf_count": 32, "spine_count": 16}),
        (["--gpus", "512", "--topology", "rail-only", "--reserved-ports", "0"], {"leaf_count": 8, "spine_count": 0}),
        (["--gpus", "1024", "--tor", "2"], {"planes_count": 2, "topology": "dual-tor"}),
        (["--gpus", "4096", "--topology", "dragonfly", "--reserved-ports", "0"], {"core_count": 0, "tiers_count": 2}),
        (["--gpus", "512", "--topology", "torus"], {"leaf_count": 0, "node_node_links_count": 256}),
        (["--gpus", "64", "--topology", "direct"], {"leaf_count": 0, "node_node_links_count": 28}),
        (["--nodes", "4", "--paired"], {"leaf_count": 2, "leaf_leaf_cables_count": 8}),
        (["--gpus", "512", "--grow-to", "4096", "--reserved-ports", "0"], {"leaf_count": 16, "spine_count": 32}),
    ],
)  # fmt: skip
def test_every_topology_has_its_counts(
    arguments: list[str], wanted: dict[str, object], capsys: Capture
) -> None:
    found = answer(capsys, "--switch", "qm9700", *arguments)
    assert {key: found[key] for key in wanted} == wanted
    assert found["blast_radius"] and found["hops"] and found["room"]


def test_oversubscribed_spines_save_cores(capsys: Capture) -> None:
    asked = ("--switch", "qm9700", "--gpus", "16384", "--reserved-ports", "0")
    fair = answer(capsys, *asked)
    tapered = answer(capsys, *asked, "--spine-oversubscription", "3")
    assert tapered["core_count"] < fair["core_count"]
    assert 1 < tapered["spine_oversubscription_ratio"] <= 3


def test_growth_is_listed_stage_by_stage(capsys: Capture) -> None:
    found = answer(
        capsys, "--switch", "qm9700", "--gpus", "512", "--grow-to", "4096", "--reserved-ports", "0"
    )
    assert [stage["gpus"] for stage in found["growth"]] == [512, 1024, 2048, 4096]
    assert sum(stage["leaves"] for stage in found["growth"]) == 128
    assert all(stage["cables"] > 0 for stage in found["growth"])


def test_people_read_ports_hops_failures_and_sizes(capsys: Capture) -> None:
    assert run_app(["fabric", "--switch", "qm9700", "--gpus", "512", "--grow-to", "2048"]) == 0
    out = capsys.readouterr().out
    for words in (
        "ports used",
        "ports free",
        "what fails",
        "hops",
        "most GPUs in 2 tiers",
        "grown to",
        "no cable moves",
    ):
        assert words in out


def test_one_domain_needs_no_network_and_says_so(capsys: Capture) -> None:
    assert run_app(["fabric", "--switch", "qm9700", "--gpus", "8"]) == 0
    assert "no switch is needed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gpus", "64", "--topology", "mesh"], "no topology 'mesh'"),
        (["--gpus", "64", "--tor", "2", "--topology", "torus"], "exclude each other"),
        (["--gpus", "1024", "--topology", "direct"], "a domain needs 127 links"),
        (["--gpus", "1024", "--grow-to", "512"], "can't hold 1,024"),
        (["--gpus", "1024", "--paired"], "a switch of a pair needs"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: list[str], said: str, capsys: Capture) -> None:
    assert run_app(["fabric", "--switch", "qm9700", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_every_wrong_option_is_said_at_once(capsys: Capture) -> None:
    assert run_app(["fabric", "--switch", "qm9700", "--topology", "mesh"]) == 2
    err = capsys.readouterr().err
    assert "give either --gpus or --nodes" in err
    assert "no topology 'mesh'" in err


def test_every_part_that_is_missing_or_wrong_is_named_at_once(capsys: Capture) -> None:
    asked = ["--gpus", "64", "--switch", "nope", "--nic", "none", "--topology", "star", "--management"]
    assert run_app(["fabric", *asked, "--inband", "qm9700", "--oob", "sn5600"]) == 2
    said = capsys.readouterr().err
    for part in (
        "--switch: no item 'nope'",
        "--nic: no item 'none'",
        "no topology 'star'",
        "--inband: 'qm9700'",
        "--oob: 'sn5600'",
    ):
        assert part in said


def test_a_nic_speaks_the_switchs_protocol_and_its_lanes_divide_over_planes(capsys: Capture) -> None:
    asked = ["--gpus", "64", "--switch", "qm9700", "--nic", "pollara-400", "--planes", "3"]
    assert run_app(["fabric", *asked]) == 2
    said = capsys.readouterr().err
    assert "--nic: 'pollara-400' speaks ethernet, and 'qm9700' infiniband" in said
    assert "--planes: 3 planes don't divide the 4 lanes of 'pollara-400' (choose from 1, 2, 4)" in said


def test_a_pair_of_switches_excludes_topologies_without_one(capsys: Capture) -> None:
    assert run_app(["fabric", "--gpus", "64", "--switch", "qm9700", "--paired", "--topology", "torus"]) == 2
    assert "--paired and --topology torus exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--gpus", "2047"], "--gpus: 2,047 GPUs fill"),
        (["--gpus", "2048", "--rails", "3"], "--rails: 8 NICs"),
        (["--gpus", "2048", "--grow-to", "100"], "--grow-to: 100 GPUs"),
    ],
)
def test_a_refusal_names_the_option_and_no_field_of_a_scenario(
    arguments: list[str], option: str, capsys: Capture
) -> None:
    assert run_app(["fabric", "--switch", "qm9700", *arguments]) == 2
    said = capsys.readouterr().err
    assert option in said
    assert "cluster." not in said
    assert "network." not in said
