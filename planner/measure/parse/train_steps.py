"""Training steps of a bench result as the runs of an anchor file."""

from __future__ import annotations

from typing import Any

from planner.measure.run.train_cases import HOST_BOUND

STACK = {True: "planner bench, compiled", False: "planner bench, eager"}
SHARDING = {0: "none", 1: "zero1", 2: "zero2", 3: "fsdp"}


def measured_steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Points of the section `train` that hold a time of the device, not one of a host that can't keep up."""
    points = document["sections"].get("train") or []
    return [one for one in points if isinstance(one, dict) and "median_us" in one and not _waits(one)]


def _waits(point: dict[str, Any]) -> bool:
    return bool(point.get("host_bound")) or point.get("host_us", 0.0) > HOST_BOUND * point["median_us"]


def anchor_run(point: dict[str, Any], *, accelerator: str, date: str, attention: str = "") -> dict[str, Any]:
    """One point as a run of an anchor file, plain data.

    Args:
        point: A measured step.
        accelerator: Its id in the catalog.
        date: When it was measured.
        attention: Kernel of the attention, where the point doesn't say it.

    Raises:
        KeyError: The point lacks part of its configuration.
    """
    kernel = point.get("attention_kernel") or attention
    mode = f"{point['mode'].replace('_', '-')}-{point['gpus']}"
    words = [mode, point["size"], f"{point['sequence_tokens']}x{point['microbatch_sequences']}"]
    if point["recompute"] != "none":
        words.append("recompute")
    plan = {
        "tensor": point["tensor_ranks"], "microbatch": point["microbatch_sequences"],
        "sharding": SHARDING[point["zero_stage"]], "sequence_parallel": point["sequence_parallel"],
    }  # fmt: skip
    return {
        "id": "-".join(words), "date": date, "stack": STACK[bool(point["compiled"])],
        "arch": {
            **{name: point[name] for name in ("layers", "hidden", "heads", "kv_heads", "head_size", "ffn")},
            "vocabulary": point["vocab"],
        },
        "accelerator": accelerator, "gpus": point["gpus"], "plan": plan,
        "batch_sequences": point["batch_sequences"], "sequence_tokens": point["sequence_tokens"],
        "precision": point["precision"], "recompute": point["recompute"],
        **({"attention": "cudnn"} if kernel == "cudnn" else {}), "bare": True,
        "step_s": float(f"{point['median_us'] / 1e6:.5g}"),
    }  # fmt: skip
