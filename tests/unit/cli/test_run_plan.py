"""A scenario with a plan of its own, from its file to what `planner run` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app

SCENARIO = """\
extends: h200-1024-ndr
name: Several fields
workloads:
  - id: pretrain
    kind: training
    model: mixtral-8x22b
    precision: fp8
    scaling: fine
    software: megatron-core
    release: 2026-06
    routing: skewed
    sequence_tokens: 8192
    batch_sequences: 1024
    tokens_trillion: 1.0
    plan:
      tensor: 2
      pipeline: 4
      schedule: zero-bubble
      context: 2
      context_kind: all-gather
      expert: 8
      sharding: hybrid
      shard_ranks: 2
      recompute: operators
      recompute_layers_fraction: 0.25
      offload: [optimiser, activations]
      gradient_compression_ratio: 4
      local_steps: 10
      async_tensor: true
"""
Capture = pytest.CaptureFixture[str]


def values(path: Path) -> dict[str, float]:
    """Ledger values of a written evaluation."""
    return {one["key"]: one["value"] for one in json.loads(path.read_text())["lines"]}


def test_a_plan_of_many_fields_runs_and_its_report_says_them(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "several.yaml"
    path.write_text(SCENARIO)
    assert run_app(["run", str(path), "-o", str(tmp_path), "--format", "json,html"]) in (0, 1)
    found = values(tmp_path / "several.json")
    key = "performance.training"
    parts = [value for name, value in found.items() if name.startswith(f"{key}.parts.")]
    assert sum(parts) == pytest.approx(found[f"{key}.step_s"], rel=1e-9)
    memory = [value for name, value in found.items() if name.startswith(f"{key}.memory.")]
    needed, available = found[f"{key}.memory.needed_bytes"], found[f"{key}.memory.available_bytes"]
    assert sum(memory) - needed - available == pytest.approx(needed, rel=1e-9)
    assert needed < available
    assert found[f"{key}.plan.local_steps"] == 10 and found[f"{key}.plan.zero_bubble"] == 1
    assert found[f"{key}.host_link_s"] <= found[f"{key}.parts.other_s"]
    page = (tmp_path / "several.html").read_text()
    assert "zero-bubble schedule" in page and "replicas exchange every 10 steps" in page
    capsys.readouterr()


def test_taking_features_out_one_by_one_moves_the_step_as_each_is_for(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "several.yaml"
    path.write_text(SCENARIO)

    def of(key: str, *changes: str) -> float:
        said = [part for one in changes for part in ("--set", f"workloads.0.{one}")]
        assert run_app(["explain", str(path), f"performance.training.{key}", *said, "--json"]) == 0
        return float(json.loads(capsys.readouterr().out)["value"])

    assert of("parts.bubble_s", "plan.schedule=1f1b") > of("parts.bubble_s")
    assert of("parts.optimiser_s", "plan.offload=[activations]") < of("parts.optimiser_s")
    assert of("memory.optimiser_bytes", "plan.offload=[activations]") > of("memory.optimiser_bytes")
    assert of("parts.data_exposed_s", "plan.local_steps=1") > of("parts.data_exposed_s")
    assert of("parts.recompute_s", "plan.recompute_layers_fraction=0") < of("parts.recompute_s")
    assert of("parts.tensor_exposed_s", "plan.async_tensor=false") >= of("parts.tensor_exposed_s")
    assert of("step_s", "routing=balanced") < of("step_s")


def test_a_large_replica_in_a_bad_draw_still_makes_a_report(tmp_path: Path) -> None:
    plan = "workloads.0.plan={tensor: 8, pipeline: 16, data: 8}"
    assert run_app(["run", "h200-1024-ndr", "-o", str(tmp_path), "--set", plan, "--format", "json"]) in (0, 1)
    assert (tmp_path / "h200-1024-ndr.json").is_file()


def test_an_anchor_beyond_the_peak_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    anchor = tmp_path / "tiny.yaml"
    anchor.write_text(
        "name: too fast\nruns:\n"
        "  - {id: a, date: 2026-10-01, stack: Megatron Core, model: llama-3.1-70b, server: hgx-h200, gpus: 1024,\n"
        "     plan: {sharding: fsdp}, batch_sequences: 2048, sequence_tokens: 8192, precision: fp8, step_s: 0.001}\n"
    )
    call = ["run", "h200-1024-ndr", "-o", str(tmp_path), "--anchor", str(anchor), "--format", "json"]
    assert run_app(call) == 2
    assert "dense peak" in capsys.readouterr().err
