"""Groups inside a host, across hosts, and both: told apart, measured apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from planner.measure.run.groups import Group, groups_for
from planner.measure.run.pci import pci_root

ROOT = Path(__file__).parents[3]


def test_two_hosts_of_two_give_a_group_of_each_tier() -> None:
    assert groups_for([0, 0, 1, 1]) == [
        Group("intra_node", (0, 1), 1),
        Group("inter_node", (0, 2), 2),
        Group("mixed", (0, 1, 2, 3), 2),
    ]


def test_one_gpu_a_host_has_no_mixed_group_and_one_host_no_other_tier() -> None:
    assert {group.tier for group in groups_for([0, 1, 2, 3])} == {"inter_node"}
    assert {group.tier for group in groups_for([0] * 8)} == {"intra_node"}


def test_ranks_dealt_out_by_turns_are_grouped_by_their_host() -> None:
    found = groups_for([0, 1, 0, 1])
    assert found[0].ranks == (0, 2)
    assert next(group for group in found if group.tier == "inter_node").ranks == (0, 1)


def test_rank_zero_belongs_to_every_group() -> None:
    assert all(0 in group.ranks for group in groups_for([0] * 4 + [1] * 4 + [2] * 4))


def test_gloo_plays_two_hosts_and_reports_the_tiers_apart(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch isn't installed here; the benchmark's gloo mode needs it")
    out = tmp_path / "g.json"
    command = [sys.executable, "-W", "ignore", "-m", "planner.measure", "nccl", "--backend", "gloo", "--processes", "4",
               "--quick", "--max-bytes", "8K", "--ops", "all_reduce,all_to_all", "-o", str(out)]  # fmt: skip
    played = {**os.environ, "PLANNER_MEASURE_RANKS_PER_HOST": "2"}
    done = subprocess.run(command, cwd=ROOT, env=played, check=True, capture_output=True, text=True)
    found = json.loads(out.read_text())
    assert found["environment"]["hosts"] == 2
    assert found["groups"] == {"intra_node_2": [0, 1], "inter_node_2": [0, 2], "mixed_4": [0, 1, 2, 3]}
    points = found["sections"]["nccl"]
    counted = Counter((point["tier"], point["ranks"], point["hosts"]) for point in points)
    assert counted == {("intra_node", 2, 1): 4, ("inter_node", 2, 2): 4, ("mixed", 4, 2): 4}
    assert all(point["wrong_elements"] == 0 for point in points)
    assert "not a GPU measurement" in done.stdout


def test_a_device_is_under_the_host_bridge_that_its_folder_lies_below(tmp_path: Path) -> None:
    real = tmp_path / "devices" / "pci0000:16" / "0000:16:01.0" / "0000:17:00.0"
    real.mkdir(parents=True)
    link = tmp_path / "0000:17:00.0"
    link.symlink_to(real)
    assert pci_root(link) == "pci0000:16"
    assert pci_root(tmp_path / "missing") is None
