"""Laws of every floor: links within reach, racks within limits, ports used once, cables and links balance."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.catalog.store import Catalog, open_catalog
from planner.design.cluster import TIERS, Cluster, draw_cluster
from planner.design.cutsheet import cut_sheet
from planner.design.positions import rack_slots
from planner.design.wiring import wiring
from planner.errors import DesignError, ScenarioError
from planner.scenario.load import load_scenario
from planner.scenario.parts import resolve

FABRICS = {
    "h200-1024-ndr": ("rail-optimised", "fat-tree", "rail-only", "single-switch"),
    "h200-1024-spectrum-x": ("rail-optimised", "fat-tree", "rail-only", "dual-tor", "dragonfly", "torus"),
    "h100-16384-roce": ("rail-optimised", "fat-tree", "dragonfly"),
    "b300-2048-cpo": ("rail-optimised", "fat-tree"),
    "gb200-nvl72-16": ("rail-optimised", "direct", "torus"),
}
GPUS_OF_A_SERVER = {"gb200-nvl72-16": 72}


@cache
def catalog() -> Catalog:
    return open_catalog()


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """A shipped scenario of another size, topology and floor."""
    name = draw(st.sampled_from(sorted(FABRICS)))
    most = 40 if name in GPUS_OF_A_SERVER else 300
    gpus = draw(st.integers(1, most)) * GPUS_OF_A_SERVER.get(name, 8)
    made = [
        f"cluster.groups.0.gpus={gpus}",
        f"network.topology={draw(st.sampled_from(FABRICS[name]))}",
        f"network.planes={draw(st.sampled_from([1, 2]))}",
        f"network.copper={draw(st.sampled_from(['true', 'false']))}",
        f"site.row_racks={draw(st.integers(4, 40))}",
        f"site.row_pitch_m={draw(st.sampled_from([2.4, 3.0, 4.5]))}",
    ]
    if draw(st.booleans()):
        racks, metres = draw(st.integers(10, 80)), draw(st.sampled_from([0, 150, 900, 8000]))
        made.append(
            f"site.halls=[{{id: one, racks: {racks}}}, {{id: two, racks: {racks}, distance_m: {metres}}}, "
            f"{{id: three, racks: 2000, distance_m: {metres}}}]"
        )
    return name, tuple(made)


def drawn(case: tuple[str, tuple[str, ...]]) -> Cluster | None:
    """The cluster, or None where it can't be built and that is said with remedies."""
    try:
        return draw_cluster(resolve(load_scenario(case[0], changes=list(case[1])), catalog()))
    except ScenarioError:
        return None
    except DesignError as error:
        assert all(problem.remedy for problem in error.problems)
        return None


@settings(deadline=None, max_examples=60)
@given(changes())
def test_no_link_is_longer_than_its_medium_reaches_or_its_cable(case: tuple[str, tuple[str, ...]]) -> None:
    built = drawn(case)
    for tier in built.cabling.tiers if built else ():
        reach = np.array([medium.reach_m for medium in tier.media])[tier.medium]
        assert np.all(tier.asked.links.length_m <= reach + 1e-6)
        assert np.all(tier.asked.links.length_m <= tier.ordered_m + 1e-6)


@settings(deadline=None, max_examples=60)
@given(changes())
def test_every_link_of_the_fabric_is_cabled_and_none_is_shorter_than_the_floor_allows(
    case: tuple[str, tuple[str, ...]],
) -> None:
    built = drawn(case)
    if built is None:
        return
    layout = built.layout
    totals = {tier.asked.tier: tier.asked.links for tier in built.cabling.tiers}
    for wired in wiring(built.fabric):
        assert totals[wired.tier].total == wired.total
    for links in totals.values():
        straight = np.hypot(
            layout.x_m[links.lower_rack] - layout.x_m[links.upper_rack],
            layout.y_m[links.lower_rack] - layout.y_m[links.upper_rack],
        )
        inside = layout.hall[links.lower_rack] == layout.hall[links.upper_rack]
        assert np.all(links.length_m[inside] >= straight[inside] - 1e-6)
        assert np.all(links.length_m >= links.crossing_m)
        assert not (links.tier == "node-leaf" and links.crossing_m.any())


@settings(deadline=None, max_examples=60)
@given(changes())
def test_no_rack_is_over_its_units_power_or_weight_and_no_hall_over_its_racks(
    case: tuple[str, tuple[str, ...]],
) -> None:
    built = drawn(case)
    if built is None:
        return
    layout, limits = built.layout, built.layout.limits
    assert np.all(layout.power_kw <= limits.power_kw + 1e-6)
    assert limits.weight_kg is None or np.all(layout.weight_kg <= limits.weight_kg + 1e-6)
    assert np.all(built.plant.panels <= layout.panel_units)
    for slots in rack_slots(layout):
        units = [unit for slot in slots for unit in range(slot.unit_from, slot.unit_from + slot.units)]
        assert len(units) == len(set(units))
        assert min(units) >= 1
        assert max(units) <= limits.usable_units
    held = np.bincount(layout.hall, minlength=len(layout.halls))
    assert all(count <= hall.racks for count, hall in zip(held, layout.halls, strict=False))


@settings(deadline=None, max_examples=40)
@given(changes())
def test_cables_modules_and_links_balance(case: tuple[str, tuple[str, ...]]) -> None:
    built = drawn(case)
    if built is None:
        return
    for name in {tier.asked.tier for tier in built.cabling.tiers}:
        mine = [tier for tier in built.cabling.tiers if tier.asked.tier == name]
        rows = [row for row in built.cabling.rows if row.tier == name]
        links = sum(tier.asked.links.total for tier in mine)
        assert sum(row.links for row in rows) == links
        assert sum(row.cables for row in rows) == sum(len(np.unique(tier.cable)) for tier in mine)
        assert sum(one.links for one in built.cabling.classes if one.tier == name) == links
        assert all(max(row.modules_lower, row.modules_upper) <= row.links for row in rows)
    for tier in built.cabling.tiers:
        asked = tier.asked
        most = max(asked.links_per_cable, asked.lower.links, asked.upper.links)
        in_cable = np.bincount(tier.cable)
        assert in_cable.min() >= 1
        assert in_cable.max() <= most
        for cage in asked.cages:
            pairs = np.unique(np.stack([cage, tier.medium]), axis=1)
            assert pairs.shape[1] == len(np.unique(cage)), "a cage has one medium"


@settings(deadline=None, max_examples=30)
@given(changes())
def test_the_cut_sheet_has_every_link_once(case: tuple[str, tuple[str, ...]]) -> None:
    built = drawn(case)
    if built is None:
        return
    made = cut_sheet(built.cabling, built.media, built.layout)
    assert made.cables == built.cabling.cables
    assert sum(int(line.split(",")[-2]) for line in made.lines) == sum(
        row.links for row in built.cabling.rows
    )


@settings(deadline=None, max_examples=40)
@given(changes())
def test_no_port_carries_two_links_and_none_is_beyond_the_switch(case: tuple[str, tuple[str, ...]]) -> None:
    built = drawn(case)
    if built is None:
        return
    ports: dict[str, list[tuple[int, int]]] = {}
    for tier in built.cabling.tiers:
        links = tier.asked.links
        if {links.lower_kind, links.upper_kind} <= {"node", "leaf", "spine", "core", "ufm"}:
            lower = zip(links.lower.tolist(), links.lower_port.tolist(), strict=True)
            upper = zip(links.upper.tolist(), links.upper_port.tolist(), strict=True)
            ports.setdefault(links.lower_kind, []).extend(lower)
            ports.setdefault(links.upper_kind, []).extend(upper)
    for kind, taken in ports.items():
        assert len(taken) == len(set(taken))
        if kind not in ("node", "ufm"):
            assert max(port for _, port in taken) < built.fabric.radix


@settings(deadline=None, max_examples=40)
@given(changes(), st.sampled_from([1, 1.5, 2, 3]))
def test_a_tier_has_no_more_modules_than_cages(case: tuple[str, tuple[str, ...]], ratio: float) -> None:
    built = drawn((case[0], (*case[1], f"network.leaf.oversubscription={ratio}")))
    if built is None or not built.parts.tiers:
        return
    modules = dict.fromkeys(TIERS, 0)
    for row in built.cabling.rows:
        for kind, number in zip(row.tier.split("-"), (row.modules_lower, row.modules_upper), strict=False):
            modules[kind] = modules.get(kind, 0) + number
    for (tier, count), part in zip(built.switch_counts.items(), built.parts.tiers, strict=True):
        assert modules[tier] <= count * part.switch.item.cages
