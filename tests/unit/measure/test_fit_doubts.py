"""What makes measured points doubtful, and what doesn't."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.measure.fit.doubts import doubts
from planner.measure.fit.groups import fit_collectives
from planner.measure.parse.points import CollectivePoint

LINK = 450e9
SIZES = [2**power for power in range(10, 31)]


def points(*, slower: float = 1.0, **fields: object) -> list[CollectivePoint]:
    base = CollectivePoint(
        op="all_reduce", dtype="bf16", bytes=0, ranks=8, nodes=1, time_s=0.0, in_place=False, source_line=0,
        path=Path("run.csv"),
    )  # fmt: skip
    return [
        replace(base, bytes=size, time_s=slower * (1e-5 + size * 1.75 / 440e9), source_line=line, **fields)  # type: ignore[arg-type]
        for line, size in enumerate(SIZES, 2)
    ]


def said(some: list[CollectivePoint], link: float = LINK) -> tuple[str, ...]:
    return doubts(some, fit_collectives(some)[0], link_bytes_per_s=link)


def test_a_curve_below_its_link_is_not_doubted() -> None:
    assert said(points()) == ()


def test_milliseconds_taken_for_microseconds_pass_the_link() -> None:
    (doubt,) = said(points(slower=1e-3))
    assert "are the times in microseconds?" in doubt
    assert doubt.startswith("run.csv:")


@pytest.mark.parametrize("fields", [{"nodes": 2, "link": "network"}, {"link": "host_staged"}])
def test_the_link_says_nothing_of_other_paths(fields: dict[str, object]) -> None:
    assert said(points(slower=1e-3, **fields)) == ()


def test_without_a_known_link_no_rate_is_too_fast() -> None:
    assert said(points(slower=1e-3), link=0.0) == ()


def test_runs_that_disagree_are_named_with_both_places() -> None:
    doubt, scatter = said(points() + points(slower=4.0, path=Path("other.csv")))
    assert "run.csv:" in doubt
    assert "other.csv:" in doubt
    assert "off" in scatter or "points" in scatter


def test_large_runs_that_differ_by_a_third_are_named(tmp_path: Path) -> None:
    doubts = said(points() + points(slower=1.35, path=Path("other.csv")))
    assert any("other.csv:" in doubt for doubt in doubts)
    assert said(points() + points(slower=1.1, path=Path("other.csv"))) == ()


def test_in_place_and_out_of_place_are_not_compared() -> None:
    assert said(points() + points(slower=4.0, in_place=True)) == ()


def test_times_without_any_order_are_scatter() -> None:
    wild = [replace(one, time_s=1e-5 * (1 + 1000 * (place % 3))) for place, one in enumerate(points())]
    assert any("describes them badly" in doubt for doubt in said(wild))
