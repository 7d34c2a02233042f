"""Units of a stage of the power chain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.power.ups import loss_fraction, units_for
from planner.scenario.schema import Redundancy

CURVE = [(0.25, np.array([0.945])), (0.5, np.array([0.96])), (1.0, np.array([0.958]))]


def units(peak_w: float, redundancy: Redundancy = Redundancy.N):  # type: ignore[no-untyped-def]
    return units_for(
        peak_w=np.array([peak_w]), largest_w=np.array([1.25e6]), step_w=np.array([5e4]),
        load_limit=np.array([0.85]), redundancy=redundancy,
    )  # fmt: skip


@given(st.floats(1e3, 1e9))
def test_needed_units_carry_the_peak_within_their_planned_load_and_one_less_would_not(peak_w: float) -> None:
    found = units(peak_w)
    assert found.needed[0] * found.rating_w[0] * 0.85 >= peak_w * (1 - 1e-6)
    assert (found.needed[0] - 1) * 1.25e6 * 0.85 < peak_w
    assert found.rating_w[0] <= 1.25e6


def test_a_small_load_gets_a_small_unit() -> None:
    assert units(40e3).rating_w[0] == 50e3


def test_redundancy_adds_one_unit_or_doubles_them() -> None:
    counts = [float(units(3e6, one).installed[0]) for one in Redundancy]
    assert counts == [3.0, 4.0, 6.0]


def test_twice_the_units_move_down_the_curve() -> None:
    peak = np.array([2e6])
    single, double = (units(2e6, one) for one in (Redundancy.N, Redundancy.TWO_N))
    losses = [
        loss_fraction(load_w=0.6 * peak, capacity_w=one.capacity_w, curve=CURVE)[0]
        for one in (single, double)
    ]
    assert double.capacity_w[0] == 2 * single.capacity_w[0]
    assert losses[1] > losses[0] > 0.03


def test_a_loss_is_over_what_leaves_the_stage() -> None:
    lost = loss_fraction(load_w=np.array([0.5]), capacity_w=np.array([1.0]), curve=CURVE)
    assert lost == pytest.approx([1 / 0.96 - 1])


def test_ratings_below_a_step_come_in_small_steps() -> None:
    found = units_for(
        peak_w=np.array([9e3, 40e3, 43e3]), largest_w=np.array([1.25e6]), step_w=np.array([5e4]),
        load_limit=np.array([0.85]), redundancy=Redundancy.N, small_step_w=np.array([5e3]),
    )  # fmt: skip
    assert found.rating_w.tolist() == [15e3, 50e3, 100e3]
