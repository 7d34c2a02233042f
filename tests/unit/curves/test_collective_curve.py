"""Message-size curves of collectives: regimes side by side."""

from __future__ import annotations

import numpy as np
import pytest

from planner.curves.collective import Regime, curve_time_s, stack_curves

TWO = (Regime(1024.0, 1e-5, 2e-9, 4e-12), Regime(2.0**20, 2e-5, 0.0, 2e-12))
ONE = (Regime(4096.0, 5e-6, 0.0, 1e-11),)


def times(regimes: tuple[Regime, ...], *sizes: float) -> np.ndarray:
    return curve_time_s(stack_curves([regimes]), curve=np.array([0]), message_bytes=np.array(sizes))


def test_a_regime_is_a_start_a_ramp_and_a_rate() -> None:
    assert times(TWO, 10_000.0)[0] == pytest.approx(1e-5 + 2e-9 * 100.0 + 4e-12 * 10_000.0, rel=1e-12)


def test_the_first_regime_reaches_down_to_nothing_and_the_last_up_without_end() -> None:
    np.testing.assert_allclose(times(ONE, 0.0, 1.0, 1e13), [5e-6, 5e-6 + 1e-11, 5e-6 + 100.0])


def test_a_regime_begins_at_its_border() -> None:
    border = 2.0**21  # far enough up that the second one's rate has overtaken its start
    regimes = (Regime(0.0, 1e-5, 0.0, 1e-12), Regime(border, 4e-5, 0.0, 1e-12))
    below, at = times(regimes, border - 1.0, border)
    assert below == pytest.approx(1e-5 + border * 1e-12, rel=1e-6)
    assert at == pytest.approx(4e-5 + border * 1e-12, rel=1e-12)


def test_a_regime_that_starts_below_the_last_one_waits_until_it_has_caught_up() -> None:
    border = 1e6
    regimes = (Regime(0.0, 1e-5, 0.0, 1e-10), Regime(border, 0.0, 0.0, 1e-11))
    reached = 1e-5 + border * 1e-10
    np.testing.assert_allclose(times(regimes, border, 5e6, 2e7), [reached, reached, 2e-4])


def test_what_an_earlier_regime_reached_holds_in_all_later_ones() -> None:
    regimes = (Regime(0.0, 0.0, 0.0, 1e-9), Regime(1e6, 0.0, 0.0, 1e-12), Regime(2e6, 0.0, 0.0, 1e-11))
    np.testing.assert_allclose(times(regimes, 1e6, 1.5e6, 3e6, 2e8), [1e-3, 1e-3, 1e-3, 2e-3])


def test_curves_of_different_length_stand_side_by_side() -> None:
    stacked = stack_curves([TWO, ONE])
    sizes = np.array([5e3, 5e3, 4e6, 4e6])
    which = np.array([0, 1, 0, 1])
    apart = [times((TWO, ONE)[curve], size)[0] for curve, size in zip(which, sizes, strict=True)]
    np.testing.assert_array_equal(curve_time_s(stacked, curve=which, message_bytes=sizes), apart)


def test_sizes_and_curves_broadcast() -> None:
    stacked = stack_curves([TWO, ONE])
    found = curve_time_s(stacked, curve=np.array([0, 1]), message_bytes=np.array([[1e3], [1e6], [1e9]]))
    assert found.shape == (3, 2)
    assert np.all(np.diff(found, axis=0) > 0.0)
