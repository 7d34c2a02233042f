"""Byte counts, factors, sizes, groups and statistics of the benchmark."""

from __future__ import annotations

import pytest

from planner.measure.run.groups import groups_for, host_indexes
from planner.measure.run.rules import (
    ELEMENT_BYTES,
    GIB,
    KIB,
    OPS,
    bounded_bytes,
    bus_factor,
    counts,
    modulus,
    parse_bytes,
    rank_shift,
    sizes_bytes,
    value,
)
from planner.measure.run.stats import Plan, column_means, percentile, plan_iterations, significant


@pytest.mark.parametrize(
    ("op", "ranks", "factor"),
    [("all_reduce", 2, 1.0), ("all_reduce", 4, 1.5), ("all_gather", 8, 0.875), ("reduce_scatter", 2, 0.5),
     ("all_to_all", 4, 0.75), ("broadcast", 4, 1.0), ("sendrecv", 4, 1.0)],
)  # fmt: skip
def test_bus_bandwidth_factors_are_those_nccl_tests_documents(op: str, ranks: int, factor: float) -> None:
    assert bus_factor(op, ranks) == factor


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("dtype", list(ELEMENT_BYTES))
def test_a_size_is_met_within_a_grain_of_16_bytes_a_rank(op: str, ranks: int, dtype: str) -> None:
    width = ELEMENT_BYTES[dtype]
    found = counts(op, 4096, width, ranks)
    assert 4096 - 16 * ranks < found.size_bytes <= 4096
    assert max(found.send, found.receive) * width == found.size_bytes


def test_an_all_gather_gives_a_part_and_receives_the_whole_and_a_reduce_scatter_the_reverse() -> None:
    gather, scatter = counts("all_gather", 1024, 2, 4), counts("reduce_scatter", 1024, 2, 4)
    assert (gather.send, gather.receive) == (128, 512) == (scatter.receive, scatter.send)


def test_a_size_too_small_for_its_ranks_counts_nothing() -> None:
    assert counts("all_to_all", 64, 4, 8).size_bytes == 0


def test_an_unknown_collective_is_refused() -> None:
    with pytest.raises(ValueError, match="no collective"):
        counts("reduce", 1024, 2, 2)
    with pytest.raises(ValueError, match="no collective"):
        bus_factor("reduce", 2)


def test_sizes_run_from_1_kib_to_8_gib_in_factors_of_2() -> None:
    found = sizes_bytes(KIB, 8 * GIB, 2)
    assert (found[0], found[-1], len(found)) == (1024, 8 * 1024**3, 24)


def test_two_buffers_of_the_largest_size_fit_in_the_free_memory() -> None:
    for free in (1 * GIB, 20 * GIB, 140 * GIB):
        assert 2 * bounded_bytes(8 * GIB, free) <= free
    assert bounded_bytes(8 * GIB, 140 * GIB) == 8 * GIB


@pytest.mark.parametrize("ranks", [2, 8, 30, 64, 128, 256])
def test_sums_of_test_values_stay_whole_numbers_that_bf16_holds(ranks: int) -> None:
    period = modulus("all_reduce", "bf16", ranks)
    assert (
        max(abs(value(index, rank, period)) for index in range(period) for rank in range(ranks)) * ranks
        <= 256
    )


@pytest.mark.parametrize("period", [3, 5, 11, 17, 31, 251])
def test_a_ranks_values_are_those_of_rank_0_further_on(period: int) -> None:
    for rank in range(9):
        shift = rank_shift(rank, period)
        assert [value(index, rank, period) for index in range(period)] == [
            value(index + shift, 0, period) for index in range(period)
        ]


@pytest.mark.parametrize(
    ("op", "dtype"), [("broadcast", "bf16"), ("all_gather", "fp8"), ("all_reduce", "bf16")]
)
def test_neighbours_and_other_ranks_hold_other_values(op: str, dtype: str) -> None:
    period = modulus(op, dtype, 8)
    assert len({value(0, rank, period) for rank in range(3)}) == 3
    assert len({value(index, 0, period) for index in range(period)}) == period


@pytest.mark.parametrize("wrong", ["", "ten", "0", "-4K", "4X"])
def test_a_size_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="no size"):
        parse_bytes(wrong)


def test_one_host_has_groups_of_2_4_and_8() -> None:
    assert [(group.label, group.hosts) for group in groups_for([0] * 8)] == [
        ("intra_node_8", 1), ("intra_node_4", 1), ("intra_node_2", 1)]  # fmt: skip


def test_several_hosts_add_groups_across_them_and_mixed_ones() -> None:
    hosts = host_indexes([5, 5, 9, 9])
    assert {group.label: group.ranks for group in groups_for(hosts)} == {
        "intra_node_2": (0, 1), "inter_node_2": (0, 2), "mixed_4": (0, 1, 2, 3)}  # fmt: skip


def test_one_process_has_no_group_and_hosts_of_one_gpu_no_mixed_one() -> None:
    assert groups_for([0]) == []
    assert [group.label for group in groups_for([0, 1, 2])] == ["inter_node_3", "inter_node_2"]


@pytest.mark.parametrize("hosts", [[0, 0, 1, 1], [0, 1, 0, 1], [0] * 6, [0, 1, 2, 3]])
def test_rank_0_is_in_every_group(hosts: list[int]) -> None:
    assert all(group.ranks[0] == 0 for group in groups_for(hosts))


def test_percentiles_interpolate_and_need_samples() -> None:
    assert percentile([10.0, 20.0], 10) == 11.0
    assert percentile([7.0], 99) == 7.0
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 50)


def test_rounding_keeps_digits_and_signs() -> None:
    assert [significant(number) for number in (0.0, -1.23456, 98765.0)] == [0.0, -1.235, 98760.0]


def test_ranks_are_averaged_within_each_repetition() -> None:
    assert column_means([[1.0, 5.0], [3.0, 7.0]]) == [2.0, 6.0]


@pytest.mark.parametrize("estimate_us", [0.0, 5.0, 300.0, 4000.0, 25_000.0, 1e7])
def test_a_point_keeps_to_its_budget_or_has_the_least_repetitions(estimate_us: float) -> None:
    plan = plan_iterations(estimate_us, 100.0)
    assert plan.iterations * plan.repetitions * estimate_us <= 100e3 or plan == Plan(1, 3)
