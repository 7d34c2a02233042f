"""The cut sheet agrees with the plan it is written from."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.design.cluster import Cluster, draw_cluster
from planner.design.cutsheet import HEADER, cut_sheet
from planner.scenario.load import load_scenario
from planner.scenario.parts import resolve

SCENARIOS = [
    "h200-1024-ndr",
    "h200-1024-spectrum-x",
    "b200-1024-rail-only",
    "b300-2048-cpo",
    "gb200-nvl72-16",
]


@cache
def cluster(name: str) -> Cluster:
    return draw_cluster(resolve(load_scenario(name), open_catalog()))


@cache
def sheet(name: str) -> list[dict[str, str]]:
    built = cluster(name)
    made = cut_sheet(built.cabling, built.media, built.layout)
    assert (made.cables, made.links) == (built.cabling.cables, sum(row.links for row in built.cabling.rows))
    return list(csv.DictReader(io.StringIO(made.csv().decode())))


@pytest.mark.parametrize("name", SCENARIOS)
def test_links_and_cables_of_every_network_are_those_of_the_plan(name: str) -> None:
    built, rows = cluster(name), sheet(name)
    links: Counter[str] = Counter()
    cables: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        links[row["tier"]] += int(row["links"])
        cables[row["tier"]].add(row["label"].rstrip("ab"))
    planned: Counter[str] = Counter()
    ordered: Counter[str] = Counter()
    for one in built.cabling.rows:
        planned[one.tier] += one.links
        ordered[one.tier] += one.cables
    assert links == planned
    assert {tier: len(found) for tier, found in cables.items()} == ordered
    fabric = built.fabric
    assert links["node-leaf"] == fabric.node_leaf_links
    assert links["leaf-spine"] == fabric.leaf_spine_links


@pytest.mark.parametrize("name", SCENARIOS)
def test_labels_and_ports_are_used_once(name: str) -> None:
    rows = sheet(name)
    assert tuple(rows[0]) == HEADER
    assert len({row["label"] for row in rows}) == len(rows)
    for tiers, side in (({"node-leaf"}, "from"), ({"node-leaf"}, "to"), ({"leaf-spine"}, "to")):
        ends = [(row[f"{side}_item"], row[f"{side}_port"]) for row in rows if row["tier"] in tiers]
        assert len(set(ends)) == len(ends)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_port_of_a_box_has_one_cable_on_all_networks_together(name: str) -> None:
    """A line is a leg of a cable, whose legs at the cage that is split have the same cable number."""
    joined: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in sheet(name):
        for side in ("from", "to"):
            joined[row[f"{side}_item"], row[f"{side}_port"]].add(row["tier"] + row["cable"])
    assert {end for end, cables in joined.items() if len(cables) > 1} == set()


@pytest.mark.parametrize("name", SCENARIOS)
def test_modules_on_the_sheet_are_those_that_are_bought(name: str) -> None:
    """A cage has one module, whichever of its links one looks at."""
    built = cluster(name)
    for one in built.cabling.rows:
        mine = [
            row for row in sheet(name)
            if row["tier"] == one.tier and row["medium"] == one.kind
            and " + ".join(part for part in (row["module_from"], row["module_to"]) if part) in (one.medium, "")
        ]  # fmt: skip
        cages = {(row["to_item"], row["to_port"].split("/")[0]) for row in mine if row["module_to"]}
        if one.modules_upper:
            assert len(cages) == one.modules_upper


def test_a_line_says_where_both_ends_are() -> None:
    row = sheet("h200-1024-ndr")[0]
    assert (row["label"], row["from_item"], row["from_hall"], row["from_row"], row["from_rack"]) == (
        "node-leaf-000001", "node-1", "main", "1", "1",
    )  # fmt: skip
    assert (row["from_unit"], row["from_port"], row["to_item"], row["to_port"]) == ("1", "1", "leaf-1", "1/1")
    assert float(row["length_m"]) <= float(row["ordered_m"])
