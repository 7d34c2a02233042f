"""Points sorted into curves: releases, ways of calling, paths, in-place and out-of-place."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.profiles import CollectiveFit, Mode
from planner.catalog.profiles import Path as Way
from planner.measure.fit.groups import fit_collectives
from planner.measure.parse.points import CollectivePoint

SIZES = tuple(2**power for power in range(10, 31, 2))


def points(
    start_us: float = 10.0, *, gbyte_per_s: float = 100.0, sizes: tuple[int, ...] = SIZES, **changes: object
) -> list[CollectivePoint]:
    """A straight curve of an all-reduce of two."""
    values = {
        "op": "all_reduce", "dtype": "bf16", "ranks": 2, "nodes": 1, "in_place": False, "source_line": 1,
        "path": Path("x.csv"), "library": "nccl 2.28.9",
    }  # fmt: skip
    return [
        CollectivePoint(bytes=size, time_s=start_us * 1e-6 + size / gbyte_per_s * 1e-9, **(values | changes))  # type: ignore[arg-type]
        for size in sizes
    ]


def fits(*groups: list[CollectivePoint]) -> tuple[CollectiveFit, ...]:
    found, refused = fit_collectives([point for group in groups for point in group])
    assert refused == ()
    return found


def start_us(fit: CollectiveFit) -> float:
    return fit.regimes[0].start_us


def test_every_operation_group_type_and_node_count_is_a_curve() -> None:
    found = fits(
        points(), points(op="sendrecv"), points(ranks=8), points(dtype="fp32"), points(nodes=2, ranks=16)
    )  # fmt: skip
    assert [(one.op, one.nodes, one.ranks, one.dtype) for one in found] == [
        ("all_reduce", 1, 2, "bf16"), ("all_reduce", 1, 2, "fp32"), ("all_reduce", 1, 8, "bf16"),
        ("all_reduce", 2, 16, "bf16"), ("send_receive", 1, 2, "bf16"),
    ]  # fmt: skip
    assert (found[0].min_bytes, found[0].max_bytes) == (1024, 2**30)


def test_the_newest_release_is_fitted_by_its_numbers() -> None:
    (found,) = fits(points(30.0, library="nccl 2.9.8"), points(12.0, library="nccl 2.28.9"))
    assert found.implementation == "nccl 2.28.9"
    assert start_us(found) == pytest.approx(12.0, rel=1e-3)


def test_two_libraries_are_two_curves() -> None:
    found = fits(points(library="nccl 2.28.9"), points(library="rccl 2.20.5"))
    assert [one.implementation for one in found] == ["nccl 2.28.9", "rccl 2.20.5"]


def test_a_newer_release_of_one_group_leaves_the_other_group() -> None:
    found = fits(points(ranks=2, library="nccl 2.29.2"), points(ranks=8, library="nccl 2.27.3"))
    assert [one.implementation for one in found] == ["nccl 2.29.2", "nccl 2.27.3"]


def test_repeated_sizes_count_by_their_median() -> None:
    (found,) = fits(points(10.0), points(11.0), points(500.0))
    assert start_us(found) == pytest.approx(11.0, rel=1e-3)


def test_out_of_place_points_go_before_in_place_ones() -> None:
    (found,) = fits(points(10.0), points(2.0, in_place=True))
    assert start_us(found) == pytest.approx(10.0, rel=1e-3)
    (alone,) = fits(points(2.0, in_place=True))
    assert start_us(alone) == pytest.approx(2.0, rel=1e-3)


def test_calls_in_graphs_make_the_devices_curve_and_larger_eager_ones_complete_it() -> None:
    small = tuple(size for size in SIZES if size <= 2**22)
    device, eager = fits(
        points(8.0, sizes=small, mode="graph", link="scale_up"), points(25.0, mode="eager", link="scale_up")
    )
    assert (device.mode, eager.mode) == (Mode.DEVICE, Mode.EAGER)
    assert (device.max_bytes, device.errors.points) == (2**30, len(SIZES))
    assert start_us(device) == pytest.approx(8.0, rel=0.05)
    assert start_us(eager) == pytest.approx(25.0, rel=1e-3)


def test_eager_calls_that_the_host_holds_up_are_not_the_devices() -> None:
    small, middle = (
        SIZES[:4],
        SIZES[4:6],
    )  # up to 64 KiB, then 256 KiB and 1 MiB: 25 us of host, 10 us of link
    device, _ = fits(
        points(8.0, sizes=small, mode="graph", link="scale_up"),
        points(25.0, sizes=small + middle, mode="eager", link="scale_up"),
    )
    assert device.max_bytes == 2**16


def test_tables_of_nccl_tests_are_the_devices_without_graphs() -> None:
    (table,) = fits(points(impl="nccl-tests out-of-place"))
    assert table.mode is Mode.DEVICE
    (log,) = fits(points(library="2.28.9"))
    assert log.mode is Mode.DEVICE


def test_an_engines_eager_calls_are_kept_apart_from_its_graphs() -> None:
    both = {"op": "custom_all_reduce", "library": "vllm 0.24.0"}
    device, eager = fits(
        points(4.0, mode="graph", impl="vLLM_custom_graph", **both),
        points(22.0, impl="vLLM_custom_eager", **both),
    )
    assert (device.mode, eager.mode) == (Mode.DEVICE, Mode.EAGER)
    assert start_us(device) == pytest.approx(4.0, rel=1e-3)
    assert start_us(eager) == pytest.approx(22.0, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "way"),
    [
        ({"link": "host_staged"}, Way.HOST_STAGED),
        ({"link": "scale_up"}, Way.SCALE_UP),
        ({"link": "network", "nodes": 2, "ranks": 16}, Way.NETWORK),
        ({}, Way.SCALE_UP),
        ({"nodes": 2, "ranks": 16}, Way.NETWORK),
    ],
)
def test_what_the_bytes_went_through_parts_the_curves(changes: dict[str, object], way: Way) -> None:
    assert {one.path for one in fits(points(**changes))} == {way}  # type: ignore[arg-type]


def test_a_group_of_two_sizes_is_refused_by_name_and_the_others_are_fitted() -> None:
    found, refused = fit_collectives([*points(), *points(ranks=8, sizes=SIZES[:2])])
    assert [one.ranks for one in found] == [2]
    assert [str(one) for one in refused] == [
        "all_reduce, 8 ranks, bf16, device: 2 sizes, and a curve needs 3"
    ]
