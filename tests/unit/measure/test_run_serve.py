"""The benchmark's serving steps: what is measured, on CPUs with gloo for its working."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.measure.run.options import ON_DEMAND, SECTIONS
from planner.measure.run.serve_cases import (
    CONTEXTS,
    DECODE,
    EIGHT,
    HEAD,
    KERNEL,
    KINDS,
    MODEL_LAYERS,
    PREFILL,
    SEQUENCES,
    SEVENTY,
    ServeCase,
    groups,
    needed_bytes,
)  # fmt: skip

ROOT = Path(__file__).parents[3]
NO_TORCH = "torch isn't installed here; the benchmark's gloo mode needs it"


def test_serving_steps_are_measured_only_where_asked() -> None:
    assert "serve" in ON_DEMAND
    assert "serve" not in SECTIONS


def test_every_batch_meets_every_context_on_one_gpu_and_on_all() -> None:
    found = {(size.name, ranks): cases for size, ranks, cases in groups(world=2, quick=False, on_gpu=True)}
    assert set(found) == {(size.name, ranks) for size in (EIGHT, SEVENTY) for ranks in (1, 2)}
    for cases in found.values():
        decodes = {(one.sequences, one.tokens) for one in cases if one.phase == DECODE}
        assert decodes == {(count, context) for count in SEQUENCES for context in CONTEXTS}
        assert min(one.tokens for one in cases if one.phase == PREFILL) == 1024
        assert len(set(cases)) == len(cases)


def test_every_layer_step_has_the_output_head_that_goes_with_it() -> None:
    for quick in (True, False):
        for _, _, cases in groups(world=2, quick=quick, on_gpu=True):
            heads = {(one.sequences, one.tokens) for one in cases if one.phase == HEAD}
            for one in cases:
                if one.phase in (PREFILL, DECODE):
                    assert (one.sequences, one.tokens if one.phase == PREFILL else 1) in heads


def test_small_kernels_are_measured_on_one_gpu_alone() -> None:
    for _, ranks, cases in groups(world=2, quick=False, on_gpu=True):
        kinds = {one.kind for one in cases if one.phase == KERNEL}
        assert kinds == (set(KINDS) if ranks == 1 else set())


def test_shapes_and_layers_are_those_of_the_catalog() -> None:
    from planner.catalog.llm import Model
    from planner.catalog.store import open_catalog

    shelf = open_catalog()
    for size in (EIGHT, SEVENTY):
        model = shelf.get(Model, size.name)
        own = (size.hidden, size.heads, size.kv_heads, size.head_size, size.ffn, size.vocab)
        assert own == (
            model.hidden,
            model.heads,
            model.kv_heads,
            model.head_size,
            model.ffn,
            model.vocabulary,
        )
        assert MODEL_LAYERS[size.name] == model.layers


def test_a_split_and_a_shorter_cache_need_less_memory() -> None:
    long, short = [ServeCase(DECODE, SEVENTY, 1, 128, tokens) for tokens in (8192, 512)]
    head = ServeCase(HEAD, SEVENTY, 1, 128, 1)
    assert needed_bytes(SEVENTY, 1, [short, head]) < needed_bytes(SEVENTY, 1, [long, head])
    halves = [ServeCase(DECODE, SEVENTY, 2, 128, 8192), ServeCase(HEAD, SEVENTY, 2, 128, 1)]
    assert needed_bytes(SEVENTY, 2, halves) < 0.6 * needed_bytes(SEVENTY, 1, [long, head])


def test_two_processes_serve_alone_and_split(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    out = tmp_path / "serve.json"
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "planner.measure",
        "serve",
        "--backend",
        "gloo",
        "-o",
        str(out),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    points = result["sections"]["serve"]
    assert result["complete"] is True
    assert [one["error"] for one in points if "error" in one] == []
    assert {(one["phase"], one["tensor_ranks"]) for one in points} == {
        (PREFILL, 1), (HEAD, 1), (DECODE, 1), (KERNEL, 1), (PREFILL, 2), (HEAD, 2), (DECODE, 2),
    }  # fmt: skip
    for one in points:
        assert len(one["samples_us"]) == one["repetitions"] >= 3
        assert len(one["rank_median_us"]) == 2
        # the same sums in another order of rows, in 16 bits
        assert one["relative_error"] < 0.03


ALONE = """
import types
import torch
from planner.measure.run import serve_model
from planner.measure.run.serve_cases import SMALL

context = types.SimpleNamespace(torch=torch, dist=None, rank=0, world=1, device=torch.device("cpu"), on_gpu=False)
replica = serve_model.Replica(context, SMALL, 1, 64)
right = serve_model.relative_error(replica, prompt=20, steps=4)
turned = replica.turned
replica.turned = lambda x, start, end: turned(x, 0, end - start)
misplaced = serve_model.relative_error(replica, prompt=20, steps=4)
replica.turned, attend = turned, replica.attend_new
replica.attend_new = lambda q, k, v, causal: attend(q, k[:, :, 1:], v[:, :, 1:], causal)
cut = serve_model.relative_error(replica, prompt=20, steps=4)
print(right, misplaced, cut)
"""


def test_the_check_sees_a_misplaced_token_and_a_cut_cache(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    script = tmp_path / "alone.py"
    script.write_text(ALONE)
    command = [sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    right, misplaced, cut = (float(word) for word in done.stdout.split())
    assert right < 0.03 < min(misplaced, cut)


SPLIT = """
import types
import torch, torch.distributed as dist
from planner.measure.run.serve_cases import SMALL
from planner.measure.run.serve_model import Replica

dist.init_process_group("gloo")
rank = dist.get_rank()
context = types.SimpleNamespace(torch=torch, dist=dist, rank=rank, world=2, device=torch.device("cpu"), on_gpu=False)
whole, part = (Replica(context, SMALL, ranks, 64) for ranks in (1, 2))
heads, kv, size, ffn = SMALL.heads, SMALL.kv_heads, SMALL.head_size, SMALL.ffn
part.head = whole.head.chunk(2)[rank]
for mine, theirs in zip(part.layers, whole.layers):
    q, k, v = theirs.qkv.split((heads * size, kv * size, kv * size))
    mine.qkv = torch.cat([one.chunk(2)[rank] for one in (q, k, v)])
    mine.gate_up = torch.cat([one.chunk(2)[rank] for one in theirs.gate_up.chunk(2)])
    mine.out, mine.down = theirs.out.chunk(2, dim=1)[rank], theirs.down.chunk(2, dim=1)[rank]
torch.manual_seed(3)
tokens = torch.randint(SMALL.vocab, (4, 12))
with torch.no_grad():
    ends = [one.through(one.embed(tokens), one.caches(4, 12), 0) for one in (whole, part)]
    words = [one.sampled(end) for one, end in zip((whole, part), (ends[0], ends[0]))]
print(f"{float((ends[0] - ends[1]).norm() / ends[0].norm()):.5f} {int((words[0] == words[1]).all())}", flush=True)
dist.destroy_process_group()
"""


def test_a_split_model_gives_what_the_whole_one_gives(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NO_TORCH)
    from planner.measure.run.launch import environments, free_port

    script = tmp_path / "split.py"
    script.write_text(SPLIT)
    places = environments(2, free_port(), dict(os.environ))
    running = [
        subprocess.Popen([sys.executable, "-W", "ignore", str(script)], env=env, stdout=subprocess.PIPE, text=True)
        for env in places
    ]  # fmt: skip
    for process in running:
        told, _ = process.communicate(timeout=120)
        off, same_words = told.split()
        # 16-bit rounding of sums taken in another order
        assert float(off) < 0.03
        assert same_words == "1"
