"""Laws of a row: time and bandwidth agree within what was printed, and only then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.measure.parse import read_points
from planner.measure.parse.nccl_row import RowError, half_unit, payload_share, read_row

LOGS = Path(__file__).parent / "logs"


def printed(value: float, width: int) -> str:
    """As nccl-tests fits a figure into its column."""
    digits = len(str(int(value))) if value > 0 else 0
    if digits < width - 2:
        return f"{value:.2f}"
    if digits < width - 1:
        return f"{value:.1f}"
    return f"{value:.0f}" if digits < width + 1 else f"{value:.1e}"


def row_text(size: int, time_us: float, tail: str) -> str:
    rate = printed(size / time_us / 1e3, 6)
    return f"{size} {size // 4} float{tail} {printed(time_us, 7)} {rate} {rate} 0 {printed(time_us, 7)} {rate} {rate} N/A"


sizes = st.integers(2, 2**31).map(lambda count: 4 * count)
times = st.floats(1.0, 5e7)
tails = st.sampled_from([" sum -1", " sum 0", " sum", " none -1", "", " 0", " -1", " 3"])


@given(sizes, times, tails)
def test_a_printed_row_is_read_back_within_its_rounding(size: int, time_us: float, tail: str) -> None:
    row, whole = read_row(row_text(size, time_us, tail))
    assert whole
    assert row.out_of_place is not None
    assert abs(float(row.out_of_place.time_us) - time_us) <= half_unit(row.out_of_place.time_us) * (1 + 1e-9)
    assert row.size_bytes == size


@given(st.integers(2**20, 2**31), st.floats(10.0, 1000.0), st.sampled_from([0.9, 1.1, 10.0]))
def test_a_row_whose_time_was_changed_is_refused(count: int, rate: float, factor: float) -> None:
    time_us = 4 * count / rate / 1e3
    words = row_text(4 * count, time_us, " sum -1").split()
    words[5] = printed(time_us * factor, 7)
    with pytest.raises(RowError):
        read_row(" ".join(words))


@pytest.mark.parametrize(
    "name", sorted(path.name for path in LOGS.glob("*.log") if path.name != "damaged.log")
)
def test_times_agree_with_the_algorithm_bandwidth_printed_beside_them(name: str) -> None:
    """Found again in the text without the parser: the figure after the time is the rate."""
    lines = re.split(r"\r\n|\n", (LOGS / name).read_text())
    checked = 0
    for point in read_points(LOGS / name).collectives:
        # A wrapped or interrupted row goes on in the next line.
        words = " ".join(lines[point.source_line - 1 : point.source_line + 1]).split()
        near = [
            place for place, word in enumerate(words[:-1])
            if re.fullmatch(r"[\d.]+(e\+\d+)?", word) and float(word) == pytest.approx(point.time_s * 1e6, rel=1e-12)
        ]  # fmt: skip
        for place in near[:1]:
            rate = words[place + 1]
            if not re.fullmatch(r"[\d.]+", rate):
                continue
            true = point.bytes * payload_share(point.op, point.ranks) / point.time_s / 1e9
            relative = half_unit(words[place]) / (point.time_s * 1e6)
            assert abs(true - float(rate)) <= half_unit(rate) * (1 + 1e-6) + true * relative * 1.01
            checked += 1
    assert checked >= 2
