"""Pools for prefill and decode: which split of the GPUs serves most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.performance.disaggregation import PoolRates, best_split, first_token_p99_s

ONE = np.ones(1)
BATCHES = np.arange(1.0, 65.0)
RATES = PoolRates(
    prefill_s=0.1 * ONE, transfer_s=0.04 * ONE, transfer_busy_s=0.01 * ONE, batches=BATCHES,
    token_s=(0.01 + 2e-4 * BATCHES)[None, :], most_sequences=64.0 * ONE, output_tokens=200.0 * ONE,
    prompt_variation=0.0 * ONE,
)  # fmt: skip


def split(rates: PoolRates = RATES, *, gpus: int = 16, first: float = 1.0, token: float = 0.03) -> float:
    """Requests a second of the best split of single GPUs."""
    return best_split(
        rates,
        prefill_gpus=ONE,
        decode_gpus=ONE,
        gpus=gpus,
        first_token_limit_s=first,
        per_token_limit_s=token,
    ).rate_per_s


def test_the_pools_use_every_gpu_and_keep_both_limits() -> None:
    found = best_split(
        RATES, prefill_gpus=ONE, decode_gpus=ONE, gpus=16, first_token_limit_s=1.0, per_token_limit_s=0.03
    )
    assert found.prefill_replicas + found.decode_replicas == 16
    assert found.first_token_p99_s <= 1.0
    assert found.per_token_p99_s <= 0.03
    # neither pool can do more than its work allows
    assert found.rate_per_s <= found.prefill_replicas / 0.1
    assert found.rate_per_s <= found.decode_replicas * 64.0 / (200.0 * (0.01 + 2e-4 * 64.0))


def test_tighter_limits_and_slower_ways_serve_less() -> None:
    assert split(first=0.3) < split(first=1.0)
    assert split(token=0.016) < split(token=0.03)
    assert split(replace(RATES, transfer_busy_s=0.4 * ONE)) < split()
    assert split(first=0.1) == 0.0


def test_waiting_for_prefill_grows_without_end() -> None:
    found = first_token_p99_s(
        rate_per_s=np.array([1.0, 5.0, 9.0, 9.9, 10.0]), service_s=0.1 * ONE, variation=0.0 * ONE
    )
    assert (np.diff(found[:4]) > 0.0).all()
    assert np.isinf(found[4])
