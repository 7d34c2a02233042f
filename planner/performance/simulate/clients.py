"""When requests arrive: steady, in bursts, over a day; all for a given random state."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats

DAY_S = 86_400.0


def poisson_arrivals_s(random: np.random.Generator, *, rate_per_s: float, requests: int) -> Floats:
    """Arrivals of independent clients.

    Args:
        random: Where the gaps are drawn from.
        rate_per_s: Mean requests a second, above zero.
        requests: How many.

    Returns:
        Rising times of shape (requests,).

    >>> round(float(poisson_arrivals_s(np.random.default_rng(0), rate_per_s=2.0, requests=20_000)[-1]), -3)
    10000.0
    """
    return np.cumsum(random.exponential(1.0 / rate_per_s, requests))


def gamma_arrivals_s(
    random: np.random.Generator, *, rate_per_s: float, requests: int, variation: float
) -> Floats:
    """Arrivals whose gaps vary more or less than those of independent clients.

    Args:
        random, rate_per_s, requests: As for `poisson_arrivals_s`.
        variation: Standard deviation of a gap over its mean: 1 is Poisson, above is bursty, below is paced.

    Returns:
        Rising times of shape (requests,).

    >>> gaps = np.diff(gamma_arrivals_s(np.random.default_rng(0), rate_per_s=1.0, requests=50_000, variation=2.0))
    >>> round(float(gaps.std() / gaps.mean()), 1)
    2.0
    """
    shape = 1.0 / variation**2
    return np.cumsum(random.gamma(shape, 1.0 / (rate_per_s * shape), requests))


def two_state_arrivals_s(
    random: np.random.Generator,
    *,
    rate_per_s: float,
    requests: int,
    peak_ratio: float,
    peak_fraction: float,
    peak_s: float,
) -> Floats:
    """Arrivals that switch between a calm and a busy state, Poisson in each (a Markov-modulated process).

    Args:
        random, rate_per_s, requests: As for `poisson_arrivals_s`; the rate is the mean over both states.
        peak_ratio: Rate of the busy state over the mean, 1 or more, and peak_ratio x peak_fraction at most 1.
        peak_fraction: Share of time in the busy state, between 0 and 1.
        peak_s: Mean length of a busy spell; spells are exponential.

    Returns:
        Rising times of shape (requests,).

    Source:
        Definition of the process.

    >>> times = two_state_arrivals_s(np.random.default_rng(0), rate_per_s=10.0, requests=200_000,
    ...     peak_ratio=3.0, peak_fraction=0.2, peak_s=5.0)
    >>> bool(9.0 < times.size / times[-1] < 11.0)
    True
    """
    calm_ratio = (1.0 - peak_ratio * peak_fraction) / (1.0 - peak_fraction)
    calm_s = peak_s * (1.0 - peak_fraction) / peak_fraction
    spells = 2 * (int(requests / (rate_per_s * (peak_s + calm_s))) + 64)
    length = np.where(np.arange(spells) % 2 == 0, calm_s, peak_s) * random.exponential(1.0, spells)
    ratio = np.where(np.arange(spells) % 2 == 0, calm_ratio, peak_ratio)
    edges = np.concatenate([[0.0], np.cumsum(length)])
    expected = np.concatenate([[0.0], np.cumsum(length * ratio * rate_per_s)])
    return _by_expected(random, edges, expected, requests)


def daily_arrivals_s(
    random: np.random.Generator,
    *,
    rate_per_s: float,
    requests: int,
    hourly_ratios: Floats,
    day_s: float = DAY_S,
) -> Floats:
    """Arrivals whose rate follows the hours of a day, Poisson within them.

    Args:
        random, rate_per_s, requests: As for `poisson_arrivals_s`; the rate is the day's mean.
        hourly_ratios: Rate of equal parts of the day over any one number, such as 24 of them; from midnight.
        day_s: Length of a day, shorter to run through one with fewer requests.

    Returns:
        Rising times of shape (requests,), from midnight on over as many days as it takes.

    >>> times = daily_arrivals_s(np.random.default_rng(0), rate_per_s=1.0, requests=86_400,
    ...     hourly_ratios=np.array([1.0, 3.0]))
    >>> round(float((times < 43_200).sum() / 86_400), 2)
    0.25
    """
    days = int(requests / (rate_per_s * day_s)) + 2
    ratios = np.tile(hourly_ratios / hourly_ratios.mean(), days)
    part_s = day_s / hourly_ratios.size
    edges: Floats = np.asarray(np.arange(ratios.size + 1) * part_s, dtype=np.float64)
    expected = np.concatenate([[0.0], np.cumsum(ratios * part_s * rate_per_s)])
    return _by_expected(random, edges, expected, requests)


def _by_expected(random: np.random.Generator, edges: Floats, expected: Floats, requests: int) -> Floats:
    """Times of a Poisson process by the requests expected up to each edge; the last stretch goes on."""
    wanted = np.cumsum(random.exponential(1.0, requests))
    last = (expected[-1] - expected[-3]) / (edges[-1] - edges[-3])
    beyond = edges[-1] + np.maximum(wanted - expected[-1], 0.0) / last
    return np.where(wanted > expected[-1], beyond, np.interp(wanted, expected, edges))
