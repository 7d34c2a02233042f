"""Switches that the networks beside the fabric can't be built on are named, with ones that do."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.design.beside_checks import wrong_switches
from planner.errors import ScenarioError
from planner.scenario.load import load_scenario
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied


def _parts(*changes: str) -> Parts:
    return resolve(load_scenario("h200-1024-ndr", changes=changes), open_catalog())


def test_usual_switches_are_right() -> None:
    assert wrong_switches(_parts()) == ()
    assert wrong_switches(_parts("network.inband=null", "network.oob=null")) == ()


def test_both_wrong_switches_are_named_at_once_and_their_remedies_cure_them() -> None:
    parts = _parts("network.oob=sn5600", "network.inband=qm9700")
    found = wrong_switches(parts)
    assert [one.key for one in found] == ["network.oob", "network.inband"]
    for problem in found:
        assert problem.place is not None and "--set" in str(problem.place)
        for remedy in problem.remedies:
            cured = wrong_switches(resolve(applied(parts.loaded, remedy), open_catalog()))
            assert [one.key for one in cured] == [one.key for one in found if one is not problem]


@pytest.mark.parametrize("key", ["inband", "oob"])
def test_a_switch_beside_the_fabric_that_nobody_sells_is_refused(key: str) -> None:
    with pytest.raises(ScenarioError, match=rf"network\.{key}: 'sn6800' can't be ordered"):
        _parts(f"network.{key}=sn6800")
