"""Arrivals keep their rate and have the burstiness that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.simulate.clients import (
    DAY_S,
    daily_arrivals_s,
    gamma_arrivals_s,
    poisson_arrivals_s,
    two_state_arrivals_s,
)

COUNT = 100_000


def dispersion(times: np.ndarray, window_s: float) -> float:
    """Variance over mean of the arrivals in a window: 1 for Poisson."""
    counts = np.bincount((times / window_s).astype(int))[:-1]
    return float(counts.var() / counts.mean())


def test_poisson_arrivals_are_neither_bursty_nor_paced() -> None:
    times = poisson_arrivals_s(np.random.default_rng(1), rate_per_s=50.0, requests=COUNT)
    assert COUNT / times[-1] == pytest.approx(50.0, rel=0.02)
    assert dispersion(times, 1.0) == pytest.approx(1.0, abs=0.1)


def test_switching_arrivals_keep_the_mean_rate_and_come_in_bursts() -> None:
    times = two_state_arrivals_s(
        np.random.default_rng(1),
        rate_per_s=50.0,
        requests=COUNT,
        peak_ratio=2.0,
        peak_fraction=0.25,
        peak_s=5.0,
    )
    assert (np.diff(times) >= 0.0).all()
    assert COUNT / times[-1] == pytest.approx(50.0, rel=0.05)
    assert dispersion(times, 1.0) > 3.0


def test_bursty_gaps_have_the_variation_asked_for() -> None:
    gaps = np.diff(gamma_arrivals_s(np.random.default_rng(1), rate_per_s=5.0, requests=COUNT, variation=3.0))
    assert gaps.mean() == pytest.approx(0.2, rel=0.03)
    assert gaps.std() / gaps.mean() == pytest.approx(3.0, rel=0.05)


def test_a_day_repeats_and_follows_its_hours() -> None:
    hours = np.array([0.0, 1.0, 2.0, 1.0])
    times = daily_arrivals_s(np.random.default_rng(1), rate_per_s=0.4, requests=COUNT, hourly_ratios=hours)
    part = (times % DAY_S // (DAY_S / 4)).astype(int)
    shares = np.bincount(part, minlength=4) / COUNT
    assert times[-1] > 2.0 * DAY_S
    assert shares[0] == 0.0
    assert shares[2] == pytest.approx(0.5, abs=0.06)
