"""Fits of message-size curves: planted regimes are found, outliers and noise are not."""

from __future__ import annotations

import numpy as np
import pytest

from planner.curves.collective import Regime
from planner.measure.fit.collectives import (
    FEWEST_POINTS,
    errors_of,
    evaluate,
    fit_curve,
    fit_errors,
    left_out_errors,
)

SIZES = 1024.0 * 2.0 ** np.arange(24)
PLANTED = (Regime(0.0, 8e-6, 0.0, 40e-12), Regime(2.0**18, 6e-5, 8e-9, 3e-12))


def noisy(times: np.ndarray, seed: int, share: float = 0.01) -> np.ndarray:
    return times * np.random.default_rng(seed).normal(1.0, share, times.shape)


def test_one_planted_regime_is_recovered_exactly() -> None:
    (found,) = fit_curve(SIZES, 1.2e-5 + 5e-9 * np.sqrt(SIZES) + 2.5e-12 * SIZES)
    assert found.start_s == pytest.approx(1.2e-5, rel=1e-4)
    assert found.ramp_s_per_sqrt_byte == pytest.approx(5e-9, rel=1e-3)
    assert found.s_per_byte == pytest.approx(2.5e-12, rel=1e-6)


def test_two_planted_regimes_are_recovered_with_their_border() -> None:
    found = fit_curve(SIZES, evaluate(PLANTED, SIZES))
    assert len(found) == 2
    assert found[1].from_bytes == 2.0**18
    for term in ("start_s", "ramp_s_per_sqrt_byte", "s_per_byte"):
        planted = [getattr(one, term) for one in PLANTED]
        assert [getattr(one, term) for one in found] == pytest.approx(planted, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_scatter_of_repeated_runs_is_worth_no_regime(seed: int) -> None:
    times = 1.2e-5 + 2.5e-12 * SIZES
    found = fit_curve(SIZES, noisy(times, seed))
    assert len(found) == 1
    # the mean of some twelve large points with 1 % of noise
    assert found[0].s_per_byte == pytest.approx(2.5e-12, rel=0.01)


@pytest.mark.parametrize("place", [3, 10, 20])
@pytest.mark.parametrize("times_as_long", [0.7, 3.0, 50.0])
def test_one_wild_point_changes_the_fit_little(place: int, times_as_long: float) -> None:
    times = noisy(evaluate(PLANTED, SIZES), 1)
    wild = times.copy()
    wild[place] *= times_as_long
    apart = np.arange(len(SIZES)) != place
    found = evaluate(fit_curve(SIZES, wild), SIZES)
    # three times the noise
    assert np.median(np.abs(found[apart] / times[apart] - 1.0)) < 0.03
    assert np.quantile(np.abs(found[apart] / times[apart] - 1.0), 0.9) < 0.06


def test_no_constant_is_negative() -> None:
    times = 1e-12 * SIZES**1.1 + 1e-6  # bends the other way than a ramp
    for one in fit_curve(SIZES, times):
        assert min(one.start_s, one.ramp_s_per_sqrt_byte, one.s_per_byte) >= 0.0


@pytest.mark.parametrize("count", range(FEWEST_POINTS))
def test_fewer_points_than_constants_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} points, and a curve needs 3"):
        fit_curve(SIZES[:count], SIZES[:count] * 1e-12)


@pytest.mark.parametrize("count", range(FEWEST_POINTS, 12))
def test_few_points_make_few_regimes(count: int) -> None:
    found = fit_curve(SIZES[:count], noisy(evaluate(PLANTED, SIZES[:count]), 2))
    assert 1 <= len(found) <= max(1, count // 5)
    assert np.all(np.isfinite(evaluate(found, SIZES)))


def test_errors_are_those_of_the_points_given() -> None:
    line = (Regime(0.0, 0.0, 0.0, 1e-9),)
    found = fit_errors(line, np.array([100.0, 200.0, 400.0]), np.array([1e-7, 1.6e-7, 5e-7]))
    assert (found.points, found.median_fraction) == (3, 0.2)
    assert (found.worst_fraction, found.worst_at) == (0.25, "200 bytes")
    assert errors_of(np.array([-0.5, 0.1]), np.array([8.0, 16.0])).worst_at == "8 bytes"


def test_sizes_left_out_are_predicted_without_having_been_seen() -> None:
    clean = left_out_errors(SIZES, evaluate(PLANTED[:1], SIZES))
    assert clean is not None
    assert clean.points == len(SIZES) - 2
    assert clean.worst_fraction < 1e-6
    bent = evaluate(PLANTED[:1], SIZES)
    bent[12] *= 1.5
    seen = left_out_errors(SIZES, bent)
    assert seen is not None
    # a point that is off shows as off where it was left out
    assert seen.worst_fraction == pytest.approx(1.0 - 1.0 / 1.5, rel=0.05)
    assert left_out_errors(SIZES[:5], bent[:5]) is None
