"""Moments of steps that follow each other, against a process of such steps drawn one by one."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.queueing_steps import Arrivals, shared_life_fraction, step_moments

ONE = np.ones(1)


def arrivals(busy: float, growth: float, *, prompt_s: float = 0.05, steps: int = 150) -> Arrivals:
    """A replica whose steps grow in a straight line with batch and prompts; the batch is that of steps all alike."""
    rate, fixed_s = busy / prompt_s, 0.01
    alike = rate * steps / (1.0 - busy)
    more_s = growth / alike
    batch = alike * (fixed_s + more_s) / (1.0 - growth)
    return Arrivals(
        rate * ONE, batch * ONE, (fixed_s + more_s * (batch + 1.0)) * ONE, more_s * ONE, prompt_s * ONE, prompt_s * ONE,
        ONE, steps * ONE, 0.01 * ONE, 0.0 * ONE, 0.0 * ONE,
    )  # fmt: skip


def drawn(a: Arrivals, *, count: int = 300_000) -> tuple[float, float, float]:
    """Mean step, step found by an arrival, and mean time for each token, all answers of one length."""
    random = np.random.default_rng(5)
    rate, more, prompt = (float(one[0]) for one in (a.rate_per_s, a.decode_more_s, a.prefill_s))
    life = int(a.output_tokens[0])
    fixed = float(a.decode_s[0]) - more * (float(a.batch_sequences[0]) + 1.0)
    coming, lengths, inside = np.zeros(count, dtype=int), np.zeros(count), np.zeros(count)
    batch = 0
    for step in range(count):
        lengths[step] = fixed + more * batch + prompt * coming[step]
        inside[step] = batch
        if step + 1 < count:
            coming[step + 1] = random.poisson(rate * lengths[step])
        batch += coming[step] - (coming[step - life] if step >= life else 0)
    lengths, inside = lengths[count // 10 :], inside[count // 10 :]
    over_time = (inside * lengths).sum() / lengths.sum()
    return lengths.mean(), (lengths**2).mean() / lengths.mean(), over_time / (rate * life)


@pytest.mark.parametrize(("busy", "growth"), [(0.3, 0.0), (0.3, 0.4), (0.6, 0.2), (0.6, 0.4)])
def test_moments_are_those_of_steps_drawn_one_by_one(busy: float, growth: float) -> None:
    a = arrivals(busy, growth)
    found, (mean, met, token) = step_moments(a), drawn(a)
    # 300,000 steps leave noise of 1 %; clusters overlap lives of 150 steps
    assert found.mean_s[0] == pytest.approx(mean, rel=0.02)
    assert found.found_s[0] == pytest.approx(met, rel=0.05)
    assert found.token_s[0] == pytest.approx(token, rel=0.03)


def test_tokens_take_longer_than_steps_where_the_batch_swings() -> None:
    calm, swinging = step_moments(arrivals(0.6, 0.0)), step_moments(arrivals(0.6, 0.4))
    assert swinging.token_s[0] / swinging.mean_s[0] > 1.02 * calm.token_s[0] / calm.mean_s[0]


def test_lives_that_vary_share_less_of_a_cluster() -> None:
    shared = shared_life_fraction(np.array([0.0, 0.3, 0.7, 1.5]))
    assert shared[0] == 1.0
    assert (np.diff(shared) < 0.0).all()
    random = np.random.default_rng(0)
    sigma = np.sqrt(np.log1p(0.7**2))
    lives = np.exp(sigma * random.standard_normal((2, 400_000)) - sigma**2 / 2.0)
    assert shared[2] == pytest.approx(lives.min(axis=0).mean(), rel=0.01)
