"""Patch panels and trunks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.design.cabling_lines import cable_counts
from planner.design.cluster import Cluster, draw_cluster
from planner.design.plant import JUMPER_M, STRUCTURED, design_plant, panel_shares
from planner.design.wiring import wiring
from planner.scenario.load import load_scenario
from planner.scenario.parts import resolve

PORTS = 72


@cache
def cluster(*changes: str) -> Cluster:
    return draw_cluster(resolve(load_scenario("h200-1024-ndr", changes=list(changes)), open_catalog()))


def over_panels(built: Cluster) -> int:
    """Cables of fibre between switches in different rows, counted one by one."""
    found = 0
    row = built.layout.row
    for tier in built.cabling.tiers:
        links = tier.asked.links
        if tier.asked.tier not in STRUCTURED:
            continue
        cables = {
            int(cable)
            for cable, lower, upper, medium in zip(
                tier.cable, links.lower_rack, links.upper_rack, tier.medium, strict=True
            )
            if row[lower] != row[upper] and not tier.media[medium].kind.is_assembly
        }
        found += len(cables)
    return found


def test_every_fibre_between_rows_of_switches_has_a_panel_port_at_both_ends() -> None:
    built = cluster()
    assert built.plant.channels == over_panels(built) > 0
    assert built.plant.panel_ports.sum() == 2 * built.plant.channels


def test_panels_fit_into_the_units_that_were_kept_for_them() -> None:
    built = cluster()
    assert np.all(built.plant.panels <= built.layout.panel_units)
    assert np.array_equal(built.plant.panels, -(-built.plant.panel_ports // PORTS))


def test_nothing_runs_over_panels_in_one_row() -> None:
    built = cluster("cluster.groups.0.gpus=64", "site.row_racks=40")
    assert (built.plant.channels, built.plant.trunks, int(built.plant.panels.sum())) == (0, 0, 0)


def test_a_trunk_stands_for_twelve_cables_of_one_pair_of_racks() -> None:
    built = cluster()
    channels, trunks = built.plant.channels, built.plant.trunks
    assert trunks >= -(-channels // 12)
    one_each = design_plant(
        built.cabling, built.layout, ports_per_panel=PORTS,
        channels_per_trunk={(row.tier, row.medium): 1 for row in built.cabling.rows},
    )  # fmt: skip
    assert one_each.trunks == channels


def test_a_cable_over_panels_is_bought_as_two_jumpers_and_a_share_of_a_trunk() -> None:
    built = cluster()
    counts = cable_counts(built)
    fibre = [name for name in counts.pieces if name.startswith("fibre-")]
    rows = [row for row in built.cabling.rows if row.fibres_per_link]
    assert (
        sum(counts.pieces[name] for name in fibre) == sum(row.cables for row in rows) + built.plant.channels
    )
    port_to_port = sum(row.fibre_m for row in rows)
    structured = sum(row.channel_m for row in built.plant.rows)
    assert sum(counts.metres[name] for name in fibre) == pytest.approx(
        port_to_port - structured + 2 * JUMPER_M * built.plant.channels
    )
    trunks = [name for name in counts.pieces if name.startswith("trunk-")]
    assert sum(counts.pieces[name] for name in trunks) == built.plant.trunks
    assert sum(counts.metres[name] for name in trunks) == pytest.approx(
        sum(row.trunk_m for row in built.plant.rows)
    )


def test_half_the_links_in_a_cable_take_half_the_panel() -> None:
    wired = wiring(cluster().fabric)
    single, double = panel_shares(wired, {}, PORTS), panel_shares(wired, {"leaf-spine": 2}, PORTS)
    assert {tier: share / 2 for tier, share in single.items()} == pytest.approx(double)
