"""What cures a link that no medium reaches."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.design.cluster import draw_cluster
from planner.design.reach_remedies import reach_remedies
from planner.errors import DesignError
from planner.scenario.load import load_scenario
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied

CAMPUS = (
    "cluster.groups.main.gpus=1024",
    "site.halls=[{id: a, racks: 60}, {id: b, racks: 80, distance_m: 7000}]",
)


def parts_of(*changes: str) -> Parts:
    return resolve(load_scenario("h100-16384-roce", changes=changes), open_catalog())


def test_switches_whose_modules_reach_another_building_are_offered() -> None:
    """Those of the plan list no module beyond 2 km, others list LR modules."""
    parts = parts_of(*CAMPUS)
    with pytest.raises(DesignError, match=r"needs 7,0\d\d\.\d m"):
        draw_cluster(parts)
    offered = [one for one in reach_remedies(parts) if one.path == ("network", "leaf", "switch")]
    assert offered
    for one in offered:
        cluster = draw_cluster(resolve(applied(parts.loaded, one), open_catalog()))
        assert max(row.longest_m for row in cluster.cabling.rows) > 7000


def test_one_hall_is_offered_where_halls_are_too_far_apart_for_any_medium() -> None:
    parts = parts_of(CAMPUS[0], CAMPUS[1].replace("7000", "700000"))
    (one,) = reach_remedies(parts)
    assert one.edits == ((("site", "halls"), []),)
