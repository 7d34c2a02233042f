"""Serving steps of a bench result as steps of whole models and points of an anchor."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from planner.measure.parse.serve_steps import anchor_points, measured_points, serve_steps
from planner.measure.run.serve_cases import DECODE, HEAD, KERNEL, PREFILL
from planner.resources import shipped
from planner.scenario.serving_points import ServingPoint


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    path = shipped("catalog") / "profiles" / "raw" / "h200-sxm-141gb.bench.serve.json.gz"
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def test_the_shipped_result_is_whole_and_right(document: dict[str, Any]) -> None:
    assert document["complete"] is True
    assert document["usable_for_calibration"] is True
    points = document["sections"]["serve"]
    assert [one for one in points if "error" in one] == []
    # what rounding to 16 bits leaves after four layers
    assert max(one["relative_error"] for one in points) < 0.03


def test_a_whole_step_is_its_layers_and_its_head(document: dict[str, Any]) -> None:
    layer = measured_points(document, DECODE)[0]
    (step,) = [
        one for one in serve_steps(document)
        if (one.phase, one.model, one.ranks, one.sequences, one.tokens)
        == (DECODE, layer["model"], layer["tensor_ranks"], layer["sequences"], layer["tokens"])
    ]  # fmt: skip
    (head,) = [
        one for one in measured_points(document, HEAD)
        if (one["model"], one["tensor_ranks"], one["sequences"], one["tokens"])
        == (layer["model"], layer["tensor_ranks"], layer["sequences"], 1)
    ]  # fmt: skip
    expected = layer["model_layers"] * layer["median_us"] / layer["layers"] + head["median_us"]
    assert step.step_s == pytest.approx(expected / 1e6)


def test_points_that_failed_and_heads_that_are_missing_give_no_step() -> None:
    failed = {"phase": DECODE, "error": "no"}
    alone = {
        "phase": PREFILL, "model": "m", "tensor_ranks": 1, "sequences": 1, "tokens": 1024, "layers": 4,
        "model_layers": 32, "median_us": 4.0,
    }  # fmt: skip
    assert serve_steps({"sections": {"serve": [failed, alone]}}) == []
    assert measured_points({"sections": {}}) == []


def test_every_decode_step_is_a_valid_point(document: dict[str, Any]) -> None:
    points = anchor_points(document, gpu="h200-sxm-141gb", date="2026-11-30")
    assert len(points) == len([one for one in serve_steps(document) if one.phase == DECODE])
    for one in points:
        numbers = {key: float(one[key]) for key in ("concurrency", "ttft_ms", "tpot_ms") if one[key]}
        kept = {key: value for key, value in one.items() if key not in ("concurrency", "ttft_ms", "tpot_ms")}
        point = ServingPoint.model_validate({**kept, **numbers})
        assert (point.ttft_ms is not None) <= (point.concurrency == 1)
    assert sum(bool(one["ttft_ms"]) for one in points) >= 6


def test_small_kernels_are_no_steps(document: dict[str, Any]) -> None:
    assert measured_points(document, KERNEL)
    assert {one.phase for one in serve_steps(document)} == {PREFILL, DECODE}
