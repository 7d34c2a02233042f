"""Runs on real GPUs, saved: complete, correct, and in agreement with nccl-tests' own way of timing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

DATA = Path(__file__).with_name("data")
RUNS = ("h200-x2", "h200-x2-again", "h200-x2-peer-to-peer-off")
LARGE_BYTES = 16 << 20


def saved(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


def points(name: str) -> list[dict[str, Any]]:
    return [point for point in saved(name)["sections"]["nccl"] if "median_us" in point]


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_run_is_of_gpus_and_every_result_was_right(name: str) -> None:
    run = saved(name)
    assert run["backend"] == "nccl"
    assert run["usable_for_calibration"] is True
    assert len(points(name)) > 100
    assert all(point["wrong_elements"] == 0 for point in points(name))


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_run_names_no_host(name: str) -> None:
    assert not {"hostname", "kernel", "pci_bus_id"} & set(json.dumps(saved(name)).split('"'))


def test_device_events_agree_with_the_host_clock_of_nccl_tests() -> None:
    # 3 %: the agreement asked of this benchmark from 16 MiB on
    for point in points("h200-x2"):
        if point["size_bytes"] >= LARGE_BYTES and point["mode"] == "eager":
            assert point["wall_median_us"] == pytest.approx(point["median_us"], rel=0.03)


def test_large_messages_come_out_alike_in_two_runs() -> None:
    def keyed(name: str) -> dict[tuple[Any, ...], float]:
        wanted = ("op", "dtype", "mode", "size_bytes", "group")
        return {tuple(point[key] for key in wanted): point["median_us"] for point in points(name)}

    first, second = keyed("h200-x2"), keyed("h200-x2-again")
    apart = [
        abs(second[key] / first[key] - 1) for key in first.keys() & second.keys() if key[3] >= LARGE_BYTES
    ]
    assert len(apart) > 50
    assert median(apart) < 0.02


def test_peer_to_peer_off_is_an_order_of_magnitude_slower() -> None:
    def best(name: str) -> float:
        return max(
            p["busbw_gbyte_per_s"] for p in points(name) if p["op"] == "all_reduce" and p["dtype"] == "bf16"
        )

    assert best("h200-x2") > 300
    assert best("h200-x2-peer-to-peer-off") < 60
