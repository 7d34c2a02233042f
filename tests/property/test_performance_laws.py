"""Laws of the performance model, whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.arrays import Floats
from planner.performance.collectives import (
    AllReduce,
    Collective,
    Link,
    all_reduce_time_s,
    all_to_all_time_s,
    hierarchical_time_s,
    ring_time_s,
)
from planner.performance.paths import scale_out_bytes_per_s
from planner.performance.reliability import best_interval_s, goodput
from planner.performance.roofline import gemm_time_s

sizes = st.floats(min_value=1.0, max_value=1e12)
ranks = st.integers(min_value=1, max_value=4096)
rates = st.floats(min_value=1e8, max_value=1e13)
delays = st.floats(min_value=0.0, max_value=1e-3)
growth = st.floats(min_value=1.0, max_value=1e3)


def one(value: float) -> Floats:
    return np.array([float(value)])


def link(rate: float, delay: float) -> Link:
    return Link(one(rate), one(delay), one(delay / 10.0), one(1e6))


def hierarchy(operation: Collective, size: float, count: int, near: Link, far: Link) -> float:
    return float(
        hierarchical_time_s(
            operation, message_bytes=one(size), ranks=one(count), ranks_per_domain=one(8), inside=near, outside=far,
            pipelined_fraction=one(0.5), inside_gain_ratio=one(1.3),
        )[0]
    )  # fmt: skip


@pytest.mark.parametrize("operation", list(Collective))
@given(size=sizes, more=growth, count=ranks, rate=rates, delay=delays)
def test_more_bytes_never_take_less_time(
    operation: Collective, size: float, more: float, count: int, rate: float, delay: float
) -> None:
    tier = link(rate, delay)
    less = ring_time_s(operation, message_bytes=one(size), ranks=one(count), link=tier)
    greater = ring_time_s(operation, message_bytes=one(size * more), ranks=one(count), link=tier)
    assert greater[0] >= less[0] * (1.0 - 1e-12)
    assert hierarchy(operation, size * more, count, tier, link(rate / 8, delay)) >= hierarchy(
        operation, size, count, tier, link(rate / 8, delay)
    ) * (1.0 - 1e-12)


@pytest.mark.parametrize("algorithm", list(AllReduce))
@given(size=sizes, more=growth, count=ranks, rate=rates, delay=delays)
def test_more_bandwidth_never_takes_longer(
    algorithm: AllReduce, size: float, more: float, count: int, rate: float, delay: float
) -> None:
    times = [
        all_reduce_time_s(
            message_bytes=one(size), ranks=one(count), link=link(r, delay), algorithm=algorithm
        )[0]
        for r in (rate, rate * more)
    ]
    assert times[1] <= times[0] * (1.0 + 1e-12)


@given(size=sizes, more=growth, count=ranks, rate=rates, delay=delays)
def test_wider_rails_never_slow_an_exchange(
    size: float, more: float, count: int, rate: float, delay: float
) -> None:
    times = [
        all_to_all_time_s(
            message_bytes=one(size), ranks=one(count), ranks_per_domain=one(8), inside=link(1e12, delay),
            outside=link(r, delay), rail_only_overhead_fraction=one(0.1), outside_bytes_ratio=one(1),
        )[0]
        for r in (rate, rate * more)
    ]  # fmt: skip
    assert times[1] <= times[0] * (1.0 + 1e-12)


@given(rate=rates, oversubscription=st.floats(1.0, 32.0), more=growth, crossing=st.floats(0.0, 1.0))
def test_oversubscription_never_helps(
    rate: float, oversubscription: float, more: float, crossing: float
) -> None:
    out = [
        scale_out_bytes_per_s(
            nic_bytes_per_s=one(rate), host_bytes_per_s=one(1e12), nic_efficiency_fraction=one(0.9),
            spine_efficiency_fraction=one(0.8), oversubscription=one(o), crossing_fraction=one(crossing),
        )[0]
        for o in (oversubscription, oversubscription * more)
    ]  # fmt: skip
    assert out[1] <= out[0]


@given(st.lists(st.integers(1, 65536), min_size=3, max_size=3), growth, rates)
def test_a_larger_product_or_a_slower_chip_never_takes_less_time(
    dimensions: list[int], more: float, rate: float
) -> None:
    def time(m: float, peak: float) -> float:
        return float(
            gemm_time_s(
                m=one(m), n=one(dimensions[1]), k=one(dimensions[2]), peak_flop_per_s=one(peak),
                share_of_peak_fraction=one(0.7), shape_constant=one(85), memory_bytes_per_s=one(1e12),
                element_bytes=one(2),
            )[0]
        )  # fmt: skip

    assert time(dimensions[0] * more, rate) >= time(dimensions[0], rate) * (1.0 - 1e-12)
    assert time(dimensions[0], rate * more) <= time(dimensions[0], rate) * (1.0 + 1e-12)


@given(
    stall=st.floats(0.1, 1e3), lag=st.floats(0.0, 1e3), restart=st.floats(0.0, 1e4), mtbf=st.floats(1e3, 1e7)
)
def test_goodput_adds_up_and_more_failures_never_help(
    stall: float, lag: float, restart: float, mtbf: float
) -> None:
    shares = []
    for mean in (mtbf, mtbf * 2.0):
        interval = best_interval_s(stall_s=one(stall), mean_time_between_s=one(mean), least_s=one(1.0))
        share = goodput(
            interval_s=interval, stall_s=one(stall), commit_lag_s=one(lag), restart_s=one(restart),
            mean_time_between_s=one(mean),
        )  # fmt: skip
        total = (
            share.useful_fraction
            + share.checkpoint_fraction
            + share.lost_work_fraction
            + share.restart_fraction
        )
        np.testing.assert_allclose(total, 1.0, rtol=1e-12)
        shares.append(share.useful_fraction[0])
    assert shares[1] >= shares[0] * (1.0 - 1e-9)
