"""Laws of the power model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.power.states import Activity, ChipDraw, chip_draw, working_w
from planner.power.ups import loss_fraction, units_for
from planner.scenario.schema import Redundancy

shares = st.tuples(*(st.floats(0.0, 1.0) for _ in range(3))).filter(lambda one: sum(one) > 0)
CURVE = [
    (0.25, np.array([0.945])),
    (0.5, np.array([0.96])),
    (0.75, np.array([0.962])),
    (1.0, np.array([0.958])),
]


def chip(limit_w: float, rate: float, cap: float) -> ChipDraw:
    return chip_draw(
        limit_w=np.array([limit_w]), idle_w=np.array([0.1 * limit_w]), memory_tbyte_per_s=np.array([rate]),
        arithmetic_share=np.array([0.99]), ready_share=np.array([0.177]),
        memory_w_per_tbyte_per_s=np.array([100.0]), memory_least_share=np.array([0.6]),
        waiting_share=np.array([0.335]), cap_fraction=np.array([cap]),
    )  # fmt: skip


def activity(one: tuple[float, float, float]) -> Activity:
    total = max(1.0, sum(one))
    return Activity(*(np.array([share / total]) for share in one))


@given(st.floats(200, 2000), st.floats(0.5, 20), st.floats(0.3, 1.0), shares)
def test_a_draw_lies_between_ready_and_the_limit(
    limit: float, rate: float, cap: float, one: tuple[float, float, float]
) -> None:
    found = chip(limit, rate, cap)
    assert found.ready_w[0] * 0.999 <= working_w(found, activity(one))[0] <= limit * cap * 1.001


@given(st.floats(200, 2000), st.floats(0.5, 20), st.floats(0.3, 1.0), st.floats(0.3, 1.0), shares)
def test_a_lower_limit_never_draws_more(
    limit: float, rate: float, cap: float, lower: float, one: tuple[float, float, float]
) -> None:
    high, low = (
        working_w(chip(limit, rate, share), activity(one))[0] for share in (max(cap, lower), min(cap, lower))
    )
    assert low <= high * (1 + 1e-12)


@given(st.floats(200, 2000), st.floats(0.5, 10), st.floats(1.0, 2.0), shares)
def test_faster_memory_never_draws_less(
    limit: float, rate: float, more: float, one: tuple[float, float, float]
) -> None:
    slow, fast = (working_w(chip(limit, tb, 1.0), activity(one))[0] for tb in (rate, rate * more))
    assert fast >= slow * (1 - 1e-12)


@given(st.floats(200, 2000), st.floats(0.5, 20), shares, st.floats(0.01, 1.0))
def test_waiting_instead_of_computing_never_draws_more(
    limit: float, rate: float, one: tuple[float, float, float], moved: float
) -> None:
    busy, draw = activity(one), chip(limit, rate, 1.0)
    share = busy.arithmetic_fraction * moved
    idle = replace(
        busy,
        arithmetic_fraction=busy.arithmetic_fraction - share,
        waiting_fraction=busy.waiting_fraction + share,
    )
    assert working_w(draw, idle)[0] <= working_w(draw, busy)[0] * (1 + 1e-12)


@settings(max_examples=50)
@given(st.floats(1e4, 1e9), st.floats(0.05, 0.85))
def test_spare_units_never_lose_less_below_the_best_load(peak_w: float, share: float) -> None:
    """The curve rises to three quarters, and units planned to 85 % stay below that at such shares."""
    losses = []
    for redundancy in Redundancy:
        units = units_for(
            peak_w=np.array([peak_w]), largest_w=np.array([1.25e6]), step_w=np.array([5e4]),
            load_limit=np.array([0.85]), redundancy=redundancy,
        )  # fmt: skip
        losses.append(
            loss_fraction(load_w=np.array([share * peak_w]), capacity_w=units.capacity_w, curve=CURVE)[0]
        )
    assert losses[0] <= losses[1] * (1 + 1e-9) and losses[0] <= losses[2] * (1 + 1e-9)
