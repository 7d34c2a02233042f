"""Where a step's time goes, and whom everyone waits for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.measure.parse.trace import read_traces
from planner.measure.parse.trace_spans import COLLECTIVE, COMPUTE, MEMORY, RankTrace, Span
from planner.measure.parse.trace_split import explain

DATA = Path(__file__).with_name("data")
MIB = 1 << 20


def trace(rank: int, *spans: Span) -> RankTrace:
    return RankTrace(rank, Path(f"rank{rank}.json"), spans)


def reduce(start: float, duration: float, *, ranks: int = 3, sequence: int | None = None) -> Span:
    return Span(COLLECTIVE, "all_reduce", start, duration, MIB, ranks, "0", sequence=sequence)


def late(rank: int, compute_us: float) -> RankTrace:
    """A rank that computes so long and then is in an all-reduce that ends at 200 for everyone."""
    return trace(rank, Span(COMPUTE, "gemm", 0, compute_us), reduce(compute_us, 200 - compute_us))


THREE = [late(0, 100), late(1, 180), late(2, 150)]


def test_the_rank_with_the_least_time_in_a_collective_is_the_one_all_wait_for() -> None:
    found = explain(THREE)
    (item,) = found.collectives
    assert item.transfer_us == 20
    assert item.separated
    assert found.last_to_arrive == {1: 1}
    assert found.waited_for_us == {1: 80 + 30}
    assert [split.waiting_us for split in found.ranks] == [80, 0, 30]
    assert [split.exchange_us for split in found.ranks] == [20, 20, 20]


def test_bus_bandwidth_follows_from_the_transfer_and_not_from_the_wait() -> None:
    (item,) = explain(THREE).collectives
    assert item.busbw_gbyte_per_s == pytest.approx(MIB / 20e-6 / 1e9 * 2 * 2 / 3)


def test_the_parts_of_every_rank_add_up_to_its_wall_time() -> None:
    spans = (
        Span(COMPUTE, "a", 0, 100),
        reduce(50, 100),
        Span(MEMORY, "copy", 140, 30),
        Span(COMPUTE, "b", 190, 10),
    )
    for split in [*explain([trace(0, *spans)]).ranks, *explain(read_traces(
        [DATA / f"trace-h200-x2-rank{rank}.json.gz" for rank in (0, 1)])).ranks]:  # fmt: skip
        parts = split.compute_us + split.waiting_us + split.exchange_us + split.copy_us + split.idle_us
        assert parts == pytest.approx(split.wall_us)


def test_what_lies_behind_compute_is_hidden_and_costs_nothing() -> None:
    split = explain([trace(0, Span(COMPUTE, "a", 0, 100), reduce(20, 100))]).ranks[0]
    assert (split.hidden_us, split.exchange_us, split.idle_us) == (80, 20, 0)


def test_one_trace_alone_does_not_tell_waiting_from_exchange() -> None:
    found = explain([late(0, 100)])
    assert not found.collectives[0].separated
    assert found.collectives[0].transfer_us == 100
    assert (found.matched, found.waited_for_us) == (0, {})


def test_a_clock_that_is_off_changes_nothing() -> None:
    shifted = [
        trace(one.rank, *(replace(span, start_us=span.start_us + 1e6 * one.rank) for span in one.spans))
        for one in THREE
    ]
    assert explain(shifted).waited_for_us == explain(THREE).waited_for_us


def test_numbered_collectives_match_though_one_rank_saw_more_of_them() -> None:
    first = trace(0, reduce(0, 50, ranks=2, sequence=7), reduce(100, 60, ranks=2, sequence=8))
    second = trace(1, reduce(100, 20, ranks=2, sequence=8))
    found = explain([first, second])
    assert (found.matched, found.waited_for_us) == (1, {1: 40})


def test_unnumbered_ones_that_differ_in_number_are_not_compared_and_that_is_said() -> None:
    first = trace(0, reduce(0, 50, ranks=2), reduce(100, 60, ranks=2))
    found = explain([first, trace(1, reduce(100, 20, ranks=2))])
    assert found.matched == 0
    assert "different numbers of all_reduce" in found.notes[0]


def test_a_rank_whose_trace_is_missing_is_said() -> None:
    assert "1 of 3 ranks of a group are not among the traces" in explain(THREE[:2]).notes[0]


def test_a_send_and_its_receive_are_one_exchange_where_the_other_rank_is_told() -> None:
    def half(start: float, duration: float, peer: int | None) -> Span:
        return Span(COLLECTIVE, "sendrecv", start, duration, MIB, 4, "0", peer=peer)

    told = explain([trace(0, half(0, 90, 3)), trace(3, half(80, 10, 0)), trace(1, Span(COMPUTE, "a", 0, 1))])
    assert told.waited_for_us == {3: 80}
    assert told.notes == ()
    assert explain([trace(0, half(0, 90, None)), trace(3, half(80, 10, None))]).matched == 0


def test_the_model_is_asked_for_each_collective_with_a_size() -> None:
    asked = []

    def model(op: str, size: int, ranks: int) -> tuple[float, float, float] | None:
        asked.append((op, size, ranks))
        return 18e-6, 19e-6, 21e-6

    found = explain(THREE, model)
    assert asked == [("all_reduce", MIB, 3)]
    assert found.collectives[0].expected_s == (18e-6, 19e-6, 21e-6)


def test_a_real_run_in_which_one_rank_was_given_more_work_names_it() -> None:
    found = explain(read_traces([DATA / f"trace-h200-x2-rank{rank}.json.gz" for rank in (0, 1)]))
    assert found.last_to_arrive == {1: 8}
    assert set(found.waited_for_us) == {1}
    rates = {item.op: item.busbw_gbyte_per_s for item in found.collectives if item.separated}
    # the benchmark on the same kind of machine: 266, 209 and 198 GB/s at 64 MiB
    assert rates["all_reduce"] == pytest.approx(266, rel=0.1)
    assert rates["all_gather"] == pytest.approx(209, rel=0.1)
    assert rates["reduce_scatter"] == pytest.approx(198, rel=0.1)
    assert found.ranks[0].waiting_us > 0.3 * found.ranks[0].wall_us
