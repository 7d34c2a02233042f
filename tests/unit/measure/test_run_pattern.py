"""The values that a check expects, against a simulation of each collective in plain Python."""

from __future__ import annotations

import pytest

from planner.measure.run.pattern import Segment, expected, given
from planner.measure.run.rules import ELEMENT_BYTES, OPS, SUMMING, contributing, counts, modulus, value


def _simulated(op: str, buffers: list[list[int]]) -> list[list[int]]:
    ranks = len(buffers)
    if op == "broadcast":
        return [buffers[0]] * ranks
    if op == "sendrecv":
        return [buffers[(rank - 1) % ranks] for rank in range(ranks)]
    if op == "all_gather":
        return [[item for buffer in buffers for item in buffer]] * ranks
    part = len(buffers[0]) // ranks
    if op == "all_to_all":
        return [
            [item for buffer in buffers for item in buffer[rank * part : (rank + 1) * part]]
            for rank in range(ranks)
        ]
    summed = [sum(column) for column in zip(*buffers, strict=True)]
    return (
        [summed] * ranks if op == "all_reduce" else [summed[r * part : (r + 1) * part] for r in range(ranks)]
    )


def _tile(op: str, dtype: str, ranks: int, *, summed: bool) -> list[int]:
    period = modulus(op, dtype, ranks)
    if not summed:
        return [value(index, 0, period) for index in range(period)]
    giving = [rank for rank in range(ranks) if contributing(rank, op, dtype, ranks)]
    return [sum(value(index, rank, period) for rank in giving) for index in range(period)]


def _values(segments: list[Segment], op: str, dtype: str, ranks: int) -> list[int]:
    found: list[int] = []
    for segment in segments:
        tile = _tile(op, dtype, ranks, summed=segment.summed)
        assert segment.start == len(found)
        found += [tile[(segment.phase + index) % len(tile)] for index in range(segment.length)]
    return found


@pytest.mark.parametrize(
    ("op", "dtype"), [*((op, "bf16") for op in OPS), *((op, "fp8") for op in OPS if op not in SUMMING)]
)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_expected_values_equal_a_simulated_collective(op: str, ranks: int, dtype: str) -> None:
    count = counts(op, 2048, ELEMENT_BYTES[dtype], ranks)
    period = modulus(op, dtype, ranks)
    start = [_values([given(op, rank, count, period)], op, dtype, ranks) for rank in range(ranks)]
    want = _simulated(op, start)
    for rank in range(ranks):
        assert _values(expected(op, rank, ranks, count, period), op, dtype, ranks) == want[rank]


def test_beyond_256_ranks_so_many_hold_zeros_that_a_bf16_sum_stays_exact() -> None:
    giving = sum(contributing(rank, "all_reduce", "bf16", 1024) for rank in range(1024))
    assert 0 < giving <= 256
