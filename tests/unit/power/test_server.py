"""Draws of servers from their parts."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.conversion import ConversionKind
from planner.catalog.schema import Accelerator
from planner.ledger import Ledger
from planner.power.figures import Figures
from planner.power.server import built_draw, curve_of
from planner.power.states import Activity
from tests.unit.power.parts import CATALOG, of_server

BUSY = Activity(np.array([0.6]), np.array([0.35]), np.array([0.05]))


def test_liquid_takes_over_most_of_the_fans() -> None:
    assert of_server("hgx-h100").host.fan_fraction[0] == pytest.approx(0.07)
    assert of_server("gb200-nvl72").host.fan_fraction[0] == pytest.approx(0.07 * 0.13)


def test_a_rack_has_a_shelf_of_rectifiers_and_a_server_its_supplies() -> None:
    assert max(float(one[0]) for _, one in of_server("gb200-nvl72").supply.curve) == 0.975
    assert max(float(one[0]) for _, one in of_server("hgx-h100").supply.curve) == 0.96


def test_adapters_draw_whether_the_price_includes_them_or_not() -> None:
    # dgx-h100 includes its two DPUs, hgx-h100 sells them apart; both run them
    assert of_server("hgx-h100").host.links_w == of_server("dgx-h100").host.links_w


def test_links_without_a_switch_draw_nothing_beside_the_adapters() -> None:
    assert of_server("mi300x-8way").host.links_w[0] == pytest.approx(8 * 25)


def test_no_draw_exceeds_the_nameplate() -> None:
    draw = of_server("dgx-a100")
    assert draw.peak_w()[0] <= draw.most_w[0]
    assert of_server("vr200-nvl72").peak_w()[0] <= 230e3


def test_supplies_lose_more_than_nothing() -> None:
    draw = of_server("hgx-h200")
    assert draw.behind_supplies_w(BUSY)[0] == pytest.approx(draw.working_w(BUSY)[0] * 0.957, rel=0.01)


def test_a_built_server_comes_near_the_one_of_the_catalog() -> None:
    figures = Figures(Ledger(months=1), CATALOG)
    chip = CATALOG.entry(Accelerator, "h100-sxm5-80gb")
    built = built_draw(figures, chip, gpus=8, cap_fraction=np.ones(1))
    # without adapters and scale-up switches, 0.7 kW of 7
    assert built.working_w(BUSY)[0] == pytest.approx(of_server("hgx-h100").working_w(BUSY)[0], rel=0.13)
    assert built.working_w(BUSY)[0] < of_server("hgx-h100").working_w(BUSY)[0]


def test_a_curve_is_entered_as_lines_with_a_source() -> None:
    figures = Figures(Ledger(months=1), CATALOG)
    curve = curve_of(figures, "ups-eco", ConversionKind.UPS)
    assert [load for load, _ in curve] == [0.25, 0.5, 1.0]
    line = figures.ledger["conversion.ups-eco.efficiency_at_50_percent_fraction"]
    assert line.source is not None and line.source.where.endswith(":7")
