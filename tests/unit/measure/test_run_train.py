"""The benchmark's training steps: what is measured, on CPUs with gloo for its working."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from planner.measure.run.train_cases import (
    NARROW,
    ONE_GPU,
    TENSOR,
    TINY,
    WIDE,
    StepCase,
    cases,
    flop_per_token,
    needed_bytes,
)  # fmt: skip

ROOT = Path(__file__).parents[3]
NO_TORCH = "torch isn't installed here; the benchmark's gloo mode needs it"


def test_every_mode_is_measured_at_two_widths_and_two_lengths() -> None:
    found = cases(world=2, quick=False, on_gpu=True)
    plain = {
        (one.mode, one.size.name, one.sequence_tokens) for one in found if not (one.recompute or one.compiled)
    }
    for mode in ("one_gpu", "ddp", "fsdp", "tensor"):
        for size in (NARROW, WIDE):
            assert {(mode, size.name, 2048), (mode, size.name, 4096)} <= plain
    assert {one.compiled for one in found} == {one.recompute for one in found} == {True, False}
    assert len(set(found)) == len(found)


def test_one_gpu_alone_has_nothing_to_exchange() -> None:
    assert {one.mode for one in cases(world=1, quick=False, on_gpu=True)} == {ONE_GPU}


def test_a_record_states_the_whole_configuration() -> None:
    named = StepCase(TENSOR, WIDE, 4096, 2).named(4)
    assert (named["gpus"], named["tensor_ranks"], named["data_ranks"], named["batch_sequences"]) == (
        4,
        4,
        1,
        2,
    )
    assert {"layers", "hidden", "heads", "kv_heads", "head_size", "ffn", "vocab", "recompute", "precision", "zero_stage"} <= set(named)  # fmt: skip


def test_model_flop_agree_with_the_planner() -> None:
    import numpy as np

    from planner.performance.models import model_shape, parameters, training_flop_per_token

    for size in (NARROW, WIDE, TINY):
        shape = model_shape(
            layers=size.layers, hidden=size.hidden, heads=size.heads, kv_heads=size.kv_heads, vocab=size.vocab,
            head_dim=size.head_size, ffn=size.ffn,
        )  # fmt: skip
        own = flop_per_token(size, 4096)
        assert own == pytest.approx(
            training_flop_per_token(shape, sequence_tokens=np.array([4096.0]))[0], rel=1e-3
        )
        assert size.parameters == pytest.approx(parameters(shape)[0], rel=1e-3)


def test_sharded_and_recomputed_steps_need_less_memory() -> None:
    plain = needed_bytes(StepCase("ddp", WIDE, 4096, 2), 8)
    assert needed_bytes(StepCase("fsdp", WIDE, 4096, 2), 8) < plain
    assert needed_bytes(StepCase("ddp", WIDE, 4096, 2, recompute=True), 8) < plain


def test_two_processes_train_in_every_mode(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    out = tmp_path / "train.json"
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "planner.measure",
        "train",
        "--backend",
        "gloo",
        "-o",
        str(out),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    points = result["sections"]["train"]
    assert result["complete"] is True
    assert [one.get("error") for one in points] == [None] * 5
    assert [one["mode"] for one in points] == ["one_gpu", "ddp", "fsdp", "tensor", "one_gpu"]
    for one in points:
        assert one["forward_us"] + one["backward_us"] + one["optimiser_us"] < 1.5 * one["median_us"]
        assert len(one["samples_us"]) == one["steps"] >= 5
        assert len(one["rank_median_us"]) == 2
        assert one["tokens_per_s"] > 0
    plain, ddp, fsdp, _, again = points
    # the same weights, data and arithmetic but for rounding in 16 bits
    assert ddp["loss"] == pytest.approx(fsdp["loss"], rel=0.01)
    assert plain["loss"] == pytest.approx(again["loss"], rel=0.01)


SPLIT = """
import os, sys
import torch, torch.distributed as dist
from types import SimpleNamespace
from planner.measure.run.train_cases import TINY
from planner.measure.run.train_model import llama, split_over, whole

dist.init_process_group("gloo")
rank = dist.get_rank()
context = SimpleNamespace(torch=torch, dist=dist, device=torch.device("cpu"), rank=rank, world=2)
torch.manual_seed(5)
full = llama(context, TINY, whole(), length=32, recompute=False)
part = llama(context, TINY, split_over(context), length=32, recompute=False)
def cut(name, weight):
    if name.endswith(("out", "down")):
        return weight.chunk(2, dim=1)[rank]
    return weight.chunk(2, dim=0)[rank] if weight.dim() == 2 else weight
with torch.no_grad():
    for (name, mine), (_, theirs) in zip(part.named_parameters(), full.named_parameters()):
        mine.copy_(cut(name, theirs))
tokens, targets = (torch.randint(TINY.vocab, (2, 32)) for _ in range(2))
losses = [model(tokens, targets) for model in (full, part)]
for loss in losses:
    loss.backward()
worst = max(
    float((mine.grad - cut(name, theirs.grad)).norm() / theirs.grad.norm())
    for (name, mine), (_, theirs) in zip(part.named_parameters(), full.named_parameters())
)
print(f"{float(losses[0].detach()):.4f} {float(losses[1].detach()):.4f} {worst:.4f}", flush=True)
dist.destroy_process_group()
"""


def test_a_split_model_has_the_loss_and_the_gradients_of_the_whole_one(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    from planner.measure.run.launch import environments, free_port

    script = tmp_path / "split.py"
    script.write_text(SPLIT)
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script)], env=env, stdout=subprocess.PIPE, text=True
        )
        for env in environments(2, free_port(), {"PATH": ""})
    ]
    for process in running:
        told, _ = process.communicate(timeout=120)
        first, second, worst = (float(word) for word in told.split())
        assert first == pytest.approx(second, abs=0.01)
        # 16-bit rounding of sums taken in another order
        assert worst < 0.02
