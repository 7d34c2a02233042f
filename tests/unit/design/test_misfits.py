"""What can't stand at the site or be joined, found at once, and remedies that the designer accepts."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.design.cluster import fabric_of
from planner.design.misfits import every_problem, rack_limit_kw, refuse_misfits, servers_peak_w
from planner.errors import DesignError, Problem
from planner.scenario.load import load_scenario
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied


def parts_of(name: str, *changes: str) -> Parts:
    """Parts of a shipped scenario with changes."""
    return resolve(load_scenario(name, changes=changes), open_catalog())


def problems(parts: Parts) -> dict[str, Problem]:
    """Misfits by key."""
    with pytest.raises(DesignError) as refused:
        refuse_misfits(parts)
    return {one.key: one for one in refused.value.problems}


@pytest.mark.parametrize("name", ["h200-1024-ndr", "gb200-nvl72-16", "b300-2048-cpo", "h100-8-lab"])
def test_shipped_scenarios_have_no_misfit(name: str) -> None:
    refuse_misfits(parts_of(name))


def test_a_typed_limit_beats_the_cooling_methods() -> None:
    assert rack_limit_kw(parts_of("h200-1024-ndr", "site.rack_limit_kw=5")) == 5
    assert rack_limit_kw(parts_of("h200-1024-ndr")) == 25


def test_cooling_methods_offered_for_a_dense_rack_take_it() -> None:
    found = problems(parts_of("gb200-nvl72-16", "site.cooling=air", "site.rack_limit_kw=null"))
    assert set(found) == {"site.rack_limit_kw", "site.cooling"}
    for problem in found.values():
        offered = [one for one in problem.offered if one.edits]
        assert [one.value for one in offered] == ["direct-liquid", "immersion"]
        for one in offered:
            changes = [f"{'.'.join(map(str, path))}={value}" for path, value in one.edits]
            refuse_misfits(parts_of("gb200-nvl72-16", "site.rack_limit_kw=null", *changes))


def test_a_switch_that_wants_liquid_is_named() -> None:
    found = problems(parts_of("b300-2048-cpo", "site.cooling=air"))
    assert found["site.cooling"].message == "q3450 wants liquid, and air cooling brings none"


def test_every_remedy_of_missing_ports_makes_the_fabric_build() -> None:
    parts = parts_of("h200-1024-ndr", "network.topology=rail-only")
    with pytest.raises(DesignError) as refused:
        fabric_of(parts)
    (problem,) = every_problem(refused.value, parts).problems
    assert problem.place is not None and len(problem.remedies) > 2
    for one in problem.remedies:
        fabric_of(resolve(applied(parts.loaded, one), open_catalog()))


def test_fewer_gpus_are_as_many_as_the_ports_take() -> None:
    parts = parts_of("h200-1024-ndr", "network.topology=rail-only")
    with pytest.raises(DesignError) as refused:
        fabric_of(parts)
    last = every_problem(refused.value, parts).problems[0].remedies[-1]
    assert last.value == 512  # 64 ports of each rail's leaf, 8 GPUs a server
    more = f"cluster.groups.0.gpus={last.value + 8}"
    with pytest.raises(DesignError):
        fabric_of(parts_of("h200-1024-ndr", "network.topology=rail-only", more))


def test_servers_that_alone_overdraw_the_site_are_said_beside_another_refusal() -> None:
    parts = parts_of("h200-1024-ndr", "site.limit_mw=1", "limits.site_mw=null")
    assert servers_peak_w(parts) == pytest.approx(128 * 10_200)
    found = every_problem(DesignError(Problem("something else", key="site")), parts).problems
    assert [one.key for one in found] == ["site", "site.limit_mw"]
    gpus, cap = (one.value for one in found[1].remedies)
    assert servers_peak_w(parts_of("h200-1024-ndr", f"cluster.groups.0.gpus={gpus}")) <= 1e6
    assert servers_peak_w(parts_of("h200-1024-ndr", f"site.power_cap_fraction={cap}")) <= 1e6
