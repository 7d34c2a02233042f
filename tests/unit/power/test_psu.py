"""Efficiency of converters by load."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.power.psu import efficiency_fraction, inlet_w

CURVE = [(0.2, np.array([0.94])), (0.5, np.array([0.96])), (1.0, np.array([0.91]))]


def test_stated_points_are_met_and_what_lies_between_runs_straight() -> None:
    found = efficiency_fraction(load_fraction=np.array([0.2, 0.35, 0.5, 0.75, 1.0]), curve=CURVE)
    assert found == pytest.approx([0.94, 0.95, 0.96, 0.935, 0.91])


def test_below_the_lowest_point_the_lost_watts_stay() -> None:
    at_lowest = inlet_w(output_w=np.array([200.0]), rating_w=np.array([1000.0]), curve=CURVE) - 200.0
    lower = inlet_w(output_w=np.array([50.0]), rating_w=np.array([1000.0]), curve=CURVE) - 50.0
    assert lower == pytest.approx(at_lowest)


def test_draws_of_the_efficiency_give_draws_of_the_inlet() -> None:
    curve = [(0.5, np.array([0.94, 0.96]))]
    found = inlet_w(output_w=np.array([500.0]), rating_w=np.array([1000.0]), curve=curve)
    assert found == pytest.approx([500 / 0.94, 500 / 0.96])


@given(st.floats(1.0, 1500.0), st.floats(1.0, 1.5))
def test_more_out_never_takes_less_in(output_w: float, more: float) -> None:
    one, two = (
        inlet_w(output_w=np.array([out]), rating_w=np.array([1000.0]), curve=CURVE)[0]
        for out in (output_w, output_w * more)
    )
    assert two >= one >= output_w
