"""Failures, checkpoints and goodput."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.reliability import (
    availability_with_spares,
    best_interval_s,
    checkpoint_write_s,
    down_fraction,
    goodput,
    interruptions_per_s,
    mean_time_between_s,
)

ZERO = np.array([0.0])
LLAMA3_MTBF_S = np.array([54 * 86400.0 / 419])


def useful(interval: float, stall: float, mtbf: float) -> float:
    return float(
        goodput(
            interval_s=np.array([interval]), stall_s=np.array([stall]), commit_lag_s=ZERO, restart_s=ZERO,
            mean_time_between_s=np.array([mtbf]),
        ).useful_fraction[0]
    )  # fmt: skip


def test_rates_add() -> None:
    rate = interruptions_per_s(
        gpus=np.array([8.0]), nodes=np.array([1.0]), links=np.array([8.0]), gpu_failures_per_s=np.array([1e-8]),
        node_failures_per_s=np.array([3e-8]), link_failures_per_s=np.array([2e-8]),
        job_failures_per_s=np.array([1e-8]),
    )  # fmt: skip
    np.testing.assert_allclose(rate, 28e-8)
    np.testing.assert_allclose(mean_time_between_s(interruptions_per_s=rate), 1.0 / 28e-8)


# Llama-3 405B on 16,384 H100: an interruption each 3.1 h and more than 90 % effective time. A checkpoint of 12 bytes a
# parameter (4.9 TB) at 2 TB/s stops for 2.4 s; a restart of ten minutes is a guess.
def test_the_llama_3_run_comes_out_above_90_percent() -> None:
    write = checkpoint_write_s(
        checkpoint_bytes=np.array([405.85e9 * 12]), storage_bytes_per_s=np.array([2e12]),
        writers=np.array([2048.0]), writer_bytes_per_s=np.array([2e9]),
    )  # fmt: skip
    interval = best_interval_s(stall_s=write, mean_time_between_s=LLAMA3_MTBF_S, least_s=np.array([5.0]))
    shares = goodput(
        interval_s=interval, stall_s=write, commit_lag_s=ZERO, restart_s=np.array([600.0]),
        mean_time_between_s=LLAMA3_MTBF_S,
    )  # fmt: skip
    assert 0.90 < shares.useful_fraction[0] < 0.96


@pytest.mark.parametrize("lag", [0.0, 120.0])
def test_the_shares_add_up_to_one(lag: float) -> None:
    shares = goodput(
        interval_s=np.array([100.0, 5000.0]), stall_s=np.array([10.0]), commit_lag_s=np.array([lag]),
        restart_s=np.array([300.0]), mean_time_between_s=np.array([8000.0]),
    )  # fmt: skip
    total = (
        shares.useful_fraction
        + shares.checkpoint_fraction
        + shares.lost_work_fraction
        + shares.restart_fraction
    )
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    assert np.all(shares.lost_work_fraction > 0.0)


@pytest.mark.parametrize(("stall", "mtbf"), [(1.0, 1e6), (60.0, 1e4), (500.0, 1000.0), (3000.0, 1000.0)])
def test_no_other_interval_does_better(stall: float, mtbf: float) -> None:
    best = float(
        best_interval_s(
            stall_s=np.array([stall]), mean_time_between_s=np.array([mtbf]), least_s=np.array([1e-3])
        )[0]
    )
    around = [useful(best * factor, stall, mtbf) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0)]
    assert useful(best, stall, mtbf) > max(around)


def test_the_floor_of_the_interval_holds() -> None:
    interval = best_interval_s(
        stall_s=np.array([1e-3]), mean_time_between_s=np.array([100.0]), least_s=np.array([30.0])
    )
    np.testing.assert_array_equal(interval, [30.0])


def test_repair_time_sets_the_share_that_is_down() -> None:
    np.testing.assert_allclose(
        down_fraction(failures_per_s=np.array([1.0 / 900.0]), repair_s=np.array([100.0])), 0.1
    )


def test_spares_against_the_exact_binomial() -> None:
    wanted, spare, down = 500, 12, 0.02
    total, rng = wanted + spare, np.random.default_rng(7)
    failed = rng.binomial(total, down, size=400_000)
    exact_full = np.mean(failed <= spare)
    exact_share = 1.0 - np.mean(np.maximum(failed - spare, 0)) / wanted
    spares = availability_with_spares(
        wanted_nodes=np.array([500.0]), spare_nodes=np.array([12.0]), down_fraction=np.array([down])
    )
    assert spares.full_fraction[0] == pytest.approx(exact_full, abs=0.01)
    assert spares.available_fraction[0] == pytest.approx(exact_share, abs=3e-4)


def test_nothing_that_fails_is_always_there() -> None:
    spares = availability_with_spares(wanted_nodes=np.array([10.0]), spare_nodes=ZERO, down_fraction=ZERO)
    np.testing.assert_array_equal(spares.available_fraction, [1.0])
    np.testing.assert_array_equal(spares.full_fraction, [1.0])
