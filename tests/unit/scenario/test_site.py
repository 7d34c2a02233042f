"""Wishes for the place that are refused, each on the line where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import ScenarioError
from planner.scenario.load import load_scenario, load_text

SITE = """\
extends: h200-1024-ndr
site:
  halls:
    - {id: east, racks: 40}
    - {id: east, racks: 90, distance_m: 20.0}
  colocation_block_kw: 1e-300
"""


def test_halls_of_one_name_and_a_block_of_nothing_are_refused_on_their_lines() -> None:
    with pytest.raises(ScenarioError) as refused:
        load_text(SITE, Path("plan.yaml"))
    said = [str(one) for one in refused.value.problems]
    assert len(said) == 2
    assert said[0].startswith("plan.yaml:3:3: site.halls: hall id 'east' is used twice")
    assert said[1].startswith("plan.yaml:6:3: site.colocation_block_kw: is 1e-300, and must be 0.1 or more")


def test_halls_of_different_names_are_taken() -> None:
    halls = "site.halls=[{id: east, racks: 40}, {id: west, racks: 90}]"
    found = load_scenario("h200-1024-ndr", changes=[halls, "site.colocation_block_kw=100"]).scenario.site
    assert ([one.id for one in found.halls], found.colocation_block_kw) == (["east", "west"], 100)
