"""Measured training steps as the runs of an anchor file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from planner.measure.parse.train_steps import anchor_run, measured_steps
from planner.scenario.anchors import AnchorRun

DATA = Path(__file__).with_name("data")


def saved(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))
    return found


@pytest.mark.parametrize("name", ["h200-x2-train", "h200-x2-train-again"])
def test_every_measured_step_is_a_valid_run(name: str) -> None:
    points = measured_steps(saved(name))
    assert points
    runs = [anchor_run(one, accelerator="h200-sxm-141gb", date="2026-11-30") for one in points]
    read = [AnchorRun.model_validate(one) for one in runs]
    for run, point in zip(read, points, strict=True):
        assert run.measured_s == pytest.approx(point["median_us"] / 1e6, rel=1e-4)
        assert run.data_ranks == point["data_ranks"]
    assert len({(run.id, run.stack) for run in read}) == len(read)


def test_steps_that_wait_for_their_host_are_left_out() -> None:
    document = saved("h200-x2-train-again")
    kept = measured_steps(document)
    left = [one for one in document["sections"]["train"] if one not in kept]
    assert {(one["mode"], one["microbatch_sequences"]) for one in left} == {("one_gpu", 1), ("fsdp", 1)}


def test_points_without_a_time_are_left_out() -> None:
    assert measured_steps({"sections": {"train": [{"mode": "fsdp", "error": "no"}]}}) == []
    assert measured_steps({"sections": {}}) == []


def test_the_kernel_is_the_one_that_torch_named() -> None:
    (point, *_) = measured_steps(saved("h200-x2-train-again"))
    assert anchor_run(point, accelerator="x", date="2026")["attention"] == "cudnn"
    (older, *_) = measured_steps(saved("h200-x2-train"))
    assert "attention" not in anchor_run(older, accelerator="x", date="2026")
    assert anchor_run(older, accelerator="x", date="2026", attention="cudnn")["attention"] == "cudnn"


def test_two_runs_on_other_days_measured_the_same_steps_alike() -> None:
    def keyed(name: str) -> dict[tuple[Any, ...], float]:
        keys = ("mode", "size", "sequence_tokens", "microbatch_sequences", "compiled", "recompute")
        return {tuple(one[key] for key in keys): one["median_us"] for one in measured_steps(saved(name))}

    first, again = keyed("h200-x2-train"), keyed("h200-x2-train-again")
    shared = set(first) & set(again)
    assert len(shared) == 4
    # 1 %: seen 0.1 to 0.7 % between two machines of the kind
    assert all(again[key] == pytest.approx(first[key], rel=0.01) for key in shared)
