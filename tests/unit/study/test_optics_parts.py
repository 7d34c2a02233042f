"""Parts of the compute fabric that fail, and what waits for them."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Built, evaluate
from planner.scenario.load import load_scenario
from planner.study.optics_parts import PartKind, breakables


def built(name: str, *changes: str) -> Built:
    found = evaluate(load_scenario(name, changes=changes), open_catalog()).built
    assert found is not None
    return found


@pytest.fixture(scope="module")
def packaged() -> Built:
    return built("b300-2048-cpo")


def test_modules_are_those_of_the_fabric_and_each_is_counted_once() -> None:
    one = built("h200-1024-ndr", "network.copper=false")
    fabric = [
        row
        for row in one.cluster.cabling.rows
        if set(row.tier.split("-")) <= {"node", "leaf", "spine", "core"}
    ]
    counted = sum(part.count for part in breakables(one) if part.kind is PartKind.MODULE)
    assert counted == sum(row.modules for row in fabric) > 0


def test_slugs_are_unique_so_no_line_is_entered_twice(packaged: Built) -> None:
    slugs = [part.slug for part in breakables(packaged)]
    assert len(set(slugs)) == len(slugs)


def test_nothing_waits_for_links_and_switches_above_the_leaves(packaged: Built) -> None:
    for part in breakables(packaged):
        tier = part.slug.split(".")[0]
        assert (part.gpus > 0) == (tier in ("node-leaf", "leaf")), part.slug


def test_a_laser_takes_its_ports_and_an_engine_the_whole_leaf(packaged: Built) -> None:
    leaf = {part.kind: part for part in breakables(packaged) if part.slug.startswith("leaf.")}
    assert leaf[PartKind.ENGINE].gpus == leaf[PartKind.SWITCH].gpus
    assert 0 < leaf[PartKind.LASER].gpus < leaf[PartKind.ENGINE].gpus
    assert leaf[PartKind.ENGINE].whole_switch and not leaf[PartKind.LASER].whole_switch
    assert leaf[PartKind.LASER].count == 18 * packaged.cluster.switch_counts["leaf"]
