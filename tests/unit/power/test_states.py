"""Draws of accelerators by what they do; measured states of H200 come out."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.profiles import Profile
from planner.ledger import Ledger
from planner.power.figures import Figures
from planner.power.server import server_draw
from planner.power.states import Activity, ChipDraw, working_w
from tests.unit.power.parts import CATALOG, of_server, parts_of

MEASURED = {"gemm": "arithmetic_w", "memory": "memory_w", "collectives": "waiting_w", "idle": "ready_w"}


def h200(cap: float = 1.0) -> ChipDraw:
    return of_server("hgx-h200", cap).chip


@pytest.mark.parametrize("state", MEASURED)
def test_the_measured_states_of_h200_come_out(state: str) -> None:
    profile = CATALOG.get(Profile, "h200-sxm-141gb.bench")
    measured = next(one.mean_w for one in profile.power if one.state == state)
    # the figures are rounded to three digits
    assert getattr(h200(), MEASURED[state])[0] == pytest.approx(measured, rel=0.005)


def test_memory_bound_work_draws_by_the_rate_of_the_memory() -> None:
    slow, fast = of_server("hgx-h100").chip, h200()
    assert slow.limit_w == fast.limit_w
    assert fast.memory_w[0] - slow.memory_w[0] == pytest.approx(100 * (4.8 - 3.35))


def test_a_power_limit_takes_from_the_highest_draws_alone() -> None:
    free, capped = h200(), h200(0.5)
    assert capped.arithmetic_w[0] == capped.memory_w[0] == capped.limit_w[0] == 350.0
    assert capped.waiting_w[0] == free.waiting_w[0]


def test_shares_of_time_weigh_the_draws_and_the_rest_is_ready() -> None:
    half = Activity(np.array([0.5]), np.array([0.0]), np.array([0.0]))
    chip = h200()
    assert working_w(chip, half)[0] == pytest.approx((chip.arithmetic_w[0] + chip.ready_w[0]) / 2)


def test_every_orderable_server_with_a_known_accelerator_lies_between_idle_and_nameplate() -> None:
    busy = Activity(np.array([0.6]), np.array([0.35]), np.array([0.05]))
    for server_id in ("hgx-h100", "hgx-b200", "dgx-a100", "gb200-nvl72", "gb300-nvl72", "mi300x-8way"):
        draw = of_server(server_id)
        idle, work, peak = draw.idle_w()[0], draw.working_w(busy)[0], draw.peak_w()[0]
        assert 0.12 * draw.most_w[0] < idle < work < peak <= draw.most_w[0], server_id


def test_the_peak_of_a_dgx_h100_is_the_highest_one_ever_measured() -> None:
    """8.4 kW (latif-2025-h100-node-power), on which no figure was set."""
    assert of_server("dgx-h100").peak_w()[0] == pytest.approx(8400, rel=0.03)


def test_a_draw_names_the_figures_it_rests_on() -> None:
    figures = Figures(Ledger(months=1), CATALOG)
    entry, accelerator, scaleup = parts_of("hgx-h200")
    server_draw(figures, entry, accelerator, scaleup, cap_fraction=np.ones(1))
    keys = {line.key for line in figures.lines}
    assert {
        "accelerator.h200-sxm-141gb.tdp_w",
        "conversion.psu-titanium.efficiency_at_50_percent_fraction",
    } <= keys
    assert all(line.source is not None and line.source.source for line in figures.lines)
