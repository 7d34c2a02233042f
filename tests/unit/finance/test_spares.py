"""Poisson stock: small and large means, many at once."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.finance.spares import covered_fraction, poisson_quantile


@given(st.floats(0.01, 400.0), st.floats(0.5, 0.999))
def test_a_stock_is_the_smallest_that_covers_the_level(mean: float, level: float) -> None:
    stock = int(poisson_quantile(mean=np.array([mean]), level=np.array([level]))[0])
    chances = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(stock + 1)]
    assert sum(chances) >= level - 1e-9
    assert sum(chances[:-1]) < level + 1e-9


def test_more_failures_never_take_a_smaller_stock() -> None:
    means = np.linspace(0, 60, 200)
    stock = poisson_quantile(mean=means, level=np.array([0.95]))
    assert (np.diff(stock) >= 0).all()
    assert stock[0] == 0


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_large_mean_gives_the_normal_quantile(level: float) -> None:
    """Within one part and a skewness term of a sixth of z squared."""
    deviate = {0.5: 0.0, 0.95: 1.6449, 0.999: 3.0902}[level]
    mean = 1e6
    stock = poisson_quantile(mean=np.array([mean]), level=np.array([level]))[0]
    assert stock == pytest.approx(mean + deviate * math.sqrt(mean) + (deviate**2 - 1) / 6, abs=1.5)


def test_means_of_all_sizes_at_once_give_what_each_gives_alone() -> None:
    means = np.array([3e5, 0.0, 0.02, 40.0, 7e4, 1.0, 0.0])
    level = np.array([0.97])
    together = poisson_quantile(mean=means, level=level)
    apart = [poisson_quantile(mean=np.array([mean]), level=level)[0] for mean in means]
    assert together.tolist() == apart
    covered = covered_fraction(mean=means, stock=together)
    assert (covered >= 0.97).all()
    assert covered_fraction(mean=np.array([0.0]), stock=np.array([0.0]))[0] == 1.0
    assert covered_fraction(mean=np.array([5.0]), stock=np.array([1e9]))[0] == pytest.approx(1.0, abs=1e-12)


def test_ten_thousand_draws_take_less_than_a_second() -> None:
    means = np.linspace(0.0, 400.0, 10_000)
    start = time.process_time()
    poisson_quantile(mean=means, level=np.array([0.95]))
    assert time.process_time() - start < 1.0
