"""Memory of a plan: activations as published, parts that add up, and what would make a plan fit."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from planner.performance.activations import layer_activation_bytes
from planner.performance.memory import (
    MemoryConstants,
    score_bytes,
    total_bytes,
    training_memory,
)
from planner.performance.models import model_shape
from planner.performance.search import Case, evaluate_plans, search_plans
from planner.performance.search_remedies import more_memory_in_words, remedies_in_words
from planner.performance.search_space import LEAN, Job, search_space

# The four models of arXiv 2205.05198, table 3: heads, hidden, layers, tensor and pipeline ranks, chunks, microbatch.
KORTHIKANTI = {
    "22B": (64, 6144, 48, 8, 1, 1, 4),
    "175B": (96, 12288, 96, 8, 8, 3, 1),
    "530B": (128, 20480, 105, 8, 35, 3, 1),
    "1T": (160, 25600, 128, 8, 64, 1, 1),
}
SEQUENCE = 2048.0
# Its table 2, bytes of a layer: (sequence parallel, selective) to a multiple of s b h, given 5 a s / h and t.
TABLE_2 = {
    (0, 0): lambda scores, t: 10 + 24 / t + scores / t,
    (1, 0): lambda scores, t: 34 / t + scores / t,
    (0, 1): lambda _, t: 10 + 24 / t,
    (1, 1): lambda _, t: 34 / t,
}
PLAIN = MemoryConstants(np.ones(1), np.array([4.0]), np.zeros(1), score_bytes_per_entry=np.array([5.0]))
"""As that publication counts: nothing fused, scores, their dropout and its mask kept."""


def layout(bench, name: str, **changes: float):  # type: ignore[no-untyped-def]
    heads, hidden, layers, tensor, pipeline, chunks, micro = KORTHIKANTI[name]
    shape = model_shape(layers=layers, hidden=hidden, heads=heads, vocab=51200, ffn=4 * hidden, glu=False)
    plan = bench.plan(
        tensor_ranks=tensor, pipeline_ranks=pipeline, context_ranks=1, data_ranks=1, virtual_stages=chunks,
        microbatch_sequences=micro, global_batch_sequences=8 * micro * pipeline, sequence_tokens=SEQUENCE, **changes,
    )  # fmt: skip
    return shape, plan


@pytest.mark.parametrize("name", KORTHIKANTI)
@pytest.mark.parametrize("mode", TABLE_2, ids=lambda mode: f"sp{mode[0]}-selective{mode[1]}")
def test_activations_of_a_layer_are_those_of_the_published_table(bench, name, mode) -> None:  # type: ignore[no-untyped-def]
    shape, plan = layout(bench, name, sequence_parallel=mode[0], recomputed_attention_fraction=mode[1])
    heads, hidden, _, tensor, _, _, micro = KORTHIKANTI[name]
    published = SEQUENCE * micro * hidden * TABLE_2[mode](5 * heads * SEQUENCE / hidden, tensor)
    kept = layer_activation_bytes(shape, plan) + score_bytes(shape, plan, PLAIN)
    # counted tensor by tensor on both sides, so equal and not merely near
    np.testing.assert_allclose(kept, published, rtol=1e-12)


@pytest.mark.parametrize("name", KORTHIKANTI)
def test_activations_of_a_stage_are_those_of_the_published_count(bench, name) -> None:  # type: ignore[no-untyped-def]
    shape, plan = layout(bench, name, recomputed_attention_fraction=1)
    _, hidden, layers, tensor, pipeline, chunks, micro = KORTHIKANTI[name]
    memory = training_memory(shape=shape, plan=plan, state=bench.state, constants=PLAIN)
    # section 4.2.3: the first stage holds L layers' worth, and (p - 1) / (p m) more when interleaved
    interleaved = 1 + (pipeline - 1) / (pipeline * chunks) if chunks > 1 else 1
    published = SEQUENCE * micro * hidden * 34 / tensor * layers * interleaved
    # the same count on both sides
    np.testing.assert_allclose(memory.activations_bytes, published, rtol=1e-12)


def test_without_sequence_parallelism_each_rank_keeps_all_of_the_stream(bench) -> None:  # type: ignore[no-untyped-def]
    split, whole = (
        layer_activation_bytes(bench.shape, bench.plan(sequence_parallel=flag)) for flag in (1, 0)
    )
    tokens = 8192 / 2
    np.testing.assert_allclose(whole - split, tokens * 10 * 8192 * (1 - 1 / 4))


def test_parts_of_a_block_have_one_shape_and_add_up(bench) -> None:  # type: ignore[no-untyped-def]
    job = Job(bench.shape, 64, 8, False, 128, 8192)
    block = next(iter(search_space(job).blocks()))
    memory = training_memory(shape=bench.shape, plan=block, state=bench.state, constants=bench.memory)
    parts = [getattr(memory, one.name) for one in fields(memory)]
    assert len({part.shape for part in parts}) == 1
    np.testing.assert_allclose(total_bytes(memory), sum(parts), rtol=1e-15)


def case_of(bench) -> Case:  # type: ignore[no-untyped-def]
    return Case(bench.shape, bench.chip, bench.links, bench.constants, bench.state, bench.memory)


def test_remedies_are_single_changes_that_fit_cheapest_first(bench) -> None:  # type: ignore[no-untyped-def]
    case, job = case_of(bench), Job(bench.shape, 256, 8, False, 256, 8192)
    changes = {
        "tensor_ranks": 4,
        "pipeline_ranks": 4,
        "context_ranks": 1,
        "data_ranks": 16,
        "virtual_stages": 1,
    }
    plan = bench.plan(microbatch_sequences=4, global_batch_sequences=256, **changes)
    assert not evaluate_plans(case, plan).fits[0]
    said = remedies_in_words(case, job, plan)
    assert len(said) == 3
    costs = [float(one.split("(")[1].split(" %")[0]) for one in said]
    assert costs == sorted(costs)
    known = {
        f"microbatch {size}": replace(plan, microbatch_sequences=np.array([float(size)])) for size in (1, 2)
    }
    for one in said:
        if one.startswith("microbatch"):
            assert evaluate_plans(case, known[one.split(" (")[0]]).fits[0]


def test_where_no_plan_fits_the_gpus_that_would_are_named(bench) -> None:  # type: ignore[no-untyped-def]
    case, job = case_of(bench), Job(bench.shape, 8, 8, False, 64, 8192)
    choice = search_plans(case, search_space(job, LEAN).blocks(), total=0)
    assert not choice.feasible
    more, larger = more_memory_in_words(case, job, choice)
    gpus = int(more.split(" GPUs")[0])
    assert gpus > 8
    fits = search_plans(case, search_space(replace(job, gpus=gpus)).blocks(), total=0)
    assert fits.feasible
    size = float(larger.removeprefix("GPUs with ").split(" GB")[0])
    roomy = replace(case, chip=replace(case.chip, memory_bytes=np.array([size * 1e9])))
    assert search_plans(roomy, search_space(job, LEAN).blocks(), total=0).feasible
