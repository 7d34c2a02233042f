"""Errors count every family alike, and nothing is dropped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.study.fidelity.scoring import (
    Result,
    family_weights,
    scores,
    split,
    weighted_percentile,
    without,
    worst,
)


def result(name: str, family: str, measured: float, predicted: float | None) -> Result:
    return Result(name, "step_time_s", family, "H100", "log", measured=measured, predicted=predicted)


SWEEP = [result(f"s{index}", "sweep", 1.0, 1.02) for index in range(98)]
ALONE = [result("a", "alone", 1.0, 1.5), result("b", "other", 1.0, 0.6)]


def test_a_long_sweep_weighs_as_much_as_a_single_row() -> None:
    found = scores([*SWEEP, *ALONE])
    assert found.median_abs_error == pytest.approx(0.4)
    assert found.median_abs_error_rows == pytest.approx(0.02)
    assert found.bias == pytest.approx((0.02 + 0.5 - 0.4) / 3)
    assert found.bias_rows == pytest.approx((98 * 0.02 + 0.5 - 0.4) / 100)


def test_a_row_without_prediction_counts_as_a_row_alone() -> None:
    found = scores([result("a", "f", 1.0, 1.1), without(result("b", "g", 1.0, 9.0), "too odd")])
    assert (found.rows, found.rows_predicted) == (2, 1)
    assert found.median_abs_error == pytest.approx(0.1)


def test_nothing_predicted_has_no_error() -> None:
    found = scores([without(result("a", "f", 1.0, None), "too odd")])
    assert found.rows == 1
    assert found.median_abs_error is None


def test_targets_of_one_row_are_one_row() -> None:
    both = [
        Result(f"r.{name}", name, "f", "H100", "log", measured=1.0, predicted=1.2)
        for name in ("tpot", "ttft")
    ]
    found = scores(both)
    assert (found.rows, found.rows_predicted) == (1, 1)


def test_half_as_long_is_as_bad_as_twice_as_long() -> None:
    found = worst(
        [result("half", "f", 1.0, 0.49), result("twice", "f", 1.0, 2.0), result("near", "f", 1.0, 1.1)], 2
    )
    assert [one.id for one in found] == ["half", "twice"]


def test_parts_hold_every_named_result() -> None:
    parts = split([*SWEEP, *ALONE], lambda one: one.family)
    assert {name: part.rows for name, part in parts.items()} == {"alone": 1, "other": 1, "sweep": 98}


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=40))
def test_weights_of_families_are_alike_and_add_up_to_one(families: list[str]) -> None:
    weights = family_weights(families)
    assert weights.sum() == pytest.approx(1.0)
    each = [weights[[f == name for f in families]].sum() for name in set(families)]
    assert max(each) == pytest.approx(min(each))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.floats(0.01, 1.0))
def test_equal_weights_give_numpys_percentile(values: list[float], fraction: float) -> None:
    array = np.array(values)
    alike = np.full(array.size, 1.0 / array.size)
    expected = np.quantile(array, fraction, method="inverted_cdf")
    found = weighted_percentile(array, alike, fraction)
    near = np.sort(array)[max(0, int(np.ceil(fraction * array.size - 1e-6)) - 1)]
    assert found in (expected, near)
