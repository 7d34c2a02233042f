"""The expectations that the benchmark carries: made from the catalog, never by hand."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from planner.measure.run.expected import FILE, Range, at_size, expectation_for, load

GENERATOR = Path(__file__).parents[2] / "expected.py"


def test_the_file_is_what_the_catalog_and_the_measured_facts_give() -> None:
    assert FILE.read_text(encoding="utf-8") == runpy.run_path(str(GENERATOR))["text"]()


def test_every_driver_name_stands_for_one_accelerator() -> None:
    names = [name.casefold() for item in load()["accelerators"] for name in item["names"]]
    assert len(names) == len(set(names)) > 20


def test_every_range_has_its_low_end_below_its_high_end() -> None:
    curves = [
        curve
        for link in load()["links"].values()
        for op in link["busbw_share"].values()
        for curve in op.values()
    ]
    points = [point for curve in curves for point in curve]
    shares = [share for item in load()["accelerators"] for share in item["shares"].values()]
    assert len(points) > 100
    assert len(shares) > 30
    assert all(low < high for _, low, high in points)
    assert all(share["low"] < share["high"] for share in shares)
    assert all([size for size, *_ in curve] == sorted({size for size, *_ in curve}) for curve in curves)


def test_beyond_the_largest_known_message_there_is_a_floor_alone() -> None:
    h100 = expectation_for("NVIDIA H100 80GB HBM3")
    assert h100 is not None
    known, beyond = h100.busbw("all_reduce", 8, 1 << 29), h100.busbw("all_reduce", 8, 1 << 33)
    assert known is not None
    assert beyond is not None
    assert (beyond.low, beyond.high) == (known.low, None)
    assert h100.busbw("all_reduce", 8, 1 << 20) is None


def test_a_group_between_two_known_ones_takes_the_range_of_both() -> None:
    h100 = expectation_for("NVIDIA H100 80GB HBM3")
    assert h100 is not None
    four, six, eight = (h100.busbw("all_gather", ranks, 1 << 28) for ranks in (4, 6, 8))
    assert four is not None
    assert six is not None
    assert eight is not None
    assert six.low == min(four.low, eight.low)
    assert six.high == max(four.high or 0, eight.high or 0)
    assert h100.busbw("all_gather", 16, 1 << 28) is None


def test_nothing_is_guessed_for_a_link_without_figures() -> None:
    mi300x = expectation_for("AMD Instinct MI300X")
    assert mi300x is not None
    assert mi300x.busbw("all_reduce", 8, 1 << 29) is None
    assert mi300x.share("memory_copy") is None
    assert expectation_for("Some GPU") is None


@pytest.mark.parametrize(("size", "low"), [(1024, 0.4), (2048, 0.5), (4096, 0.6)])
def test_between_sizes_the_range_runs_with_the_logarithm(size: int, low: float) -> None:
    found = at_size([[1024, 0.4, 0.5], [4096, 0.6, 0.7]], size)
    assert isinstance(found, Range)
    assert found.low == pytest.approx(low)
