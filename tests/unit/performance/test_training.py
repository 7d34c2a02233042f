"""The training step, its memory and the search over plans."""

from __future__ import annotations

import time
from dataclasses import fields, replace

import numpy as np
import pytest

from planner.performance.activations import layer_activation_bytes
from planner.performance.attention import attention_linear_s
from planner.performance.memory import total_bytes, training_memory
from planner.performance.models import model_shape, parameters
from planner.performance.parallelism import Recompute, microbatches, recompute_fields, slot_layers
from planner.performance.plans import taken
from planner.performance.search import Case, Goal, PlanChoice, search_plans
from planner.performance.search_space import Job, quick_axes, search_space
from planner.performance.training import TrainingStep, total_s, training_step


def step(bench, plan=None, **changes) -> TrainingStep:  # type: ignore[no-untyped-def]
    """The bench's step with some parts replaced."""
    parts = {
        "shape": bench.shape, "chip": bench.chip, "links": bench.links, "constants": bench.constants,
        "state": bench.state,
    }  # fmt: skip
    return training_step(plan=plan or bench.plan(), **(parts | changes))


def space_of(shape, gpus, batch):  # type: ignore[no-untyped-def]
    """What a quick search tries on so many H100."""
    return search_space(Job(shape, gpus, 8, False, batch, 8192), quick_axes(8192))


def search(bench, gpus, batch, **changes) -> PlanChoice:  # type: ignore[no-untyped-def]
    """The best plan on so many H100."""
    shape = changes.get("shape", bench.shape)
    plans = space_of(shape, gpus, batch).flat()
    case = Case(shape, bench.chip, bench.links, bench.constants, bench.state, bench.memory)
    return search_plans(case, [plans], total=plans.tensor_ranks.size, goals=[Goal.TIME])


def test_the_parts_add_up_to_the_step(bench) -> None:  # type: ignore[no-untyped-def]
    result = step(bench)
    total = sum(getattr(result.parts, part.name)[0] for part in fields(result.parts))
    assert total == pytest.approx(result.step_s[0], rel=1e-12)
    np.testing.assert_array_equal(total_s(result.parts), result.step_s)


# DGX Cloud benchmarking, Llama3-70B in BF16 on 64 to 2,048 H100: 14.72 to 14.98 s a step. Nothing here is fitted to
# these rows alone; 5 % is the notes' median on this family.
@pytest.mark.parametrize(("data_ranks", "measured_s"), [(2, 14.72), (16, 14.89), (64, 14.98)])
def test_a_published_step_is_near(bench, data_ranks: int, measured_s: float) -> None:  # type: ignore[no-untyped-def]
    plan = bench.plan(data_ranks=data_ranks, global_batch_sequences=64 * data_ranks)
    assert step(bench, plan).step_s[0] == pytest.approx(measured_s, rel=0.05)


def test_one_rank_waits_for_nobody(bench) -> None:  # type: ignore[no-untyped-def]
    plan = bench.plan(tensor_ranks=1, pipeline_ranks=1, context_ranks=1, data_ranks=1, virtual_stages=1)
    parts = step(bench, plan).parts
    for name in ("tensor", "pipeline", "data", "expert", "context"):
        np.testing.assert_array_equal(getattr(parts, f"{name}_exposed_s"), [0.0])
    np.testing.assert_allclose(parts.bubble_s, [0.0], atol=1e-12)


def test_the_bubble_is_stages_less_one_microbatches(bench) -> None:  # type: ignore[no-untyped-def]
    plan = bench.plan(virtual_stages=1)
    zero = np.array([0.0])
    free = replace(bench.constants, pipeline_exposed_fraction=zero, head_gemm_shape_constant=zero)
    shape = replace(bench.shape, vocab=np.array([1.0]))  # no head: equal stages
    parts = step(bench, plan, constants=free, shape=shape).parts
    busy = parts.computing_s + parts.recompute_s + parts.tensor_exposed_s + parts.context_exposed_s
    # Within 1 %: a head of one row still reads the residual stream on the last stage.
    np.testing.assert_allclose(parts.bubble_s, 3.0 / microbatches(plan) * busy, rtol=0.01)


def test_full_recompute_adds_about_a_third(bench) -> None:  # type: ignore[no-untyped-def]
    plan = replace(bench.plan(), **recompute_fields(Recompute.FULL))
    plain, again = step(bench), step(bench, plan)
    assert 0.28 < again.parts.recompute_s[0] / again.parts.computing_s[0] < 0.34
    assert again.hfu[0] > again.mfu[0]
    assert plain.hfu[0] == plain.mfu[0]


def test_layers_that_do_not_divide_leave_slots_for_the_vocabulary(bench) -> None:  # type: ignore[no-untyped-def]
    deep = replace(bench.shape, layers=np.array([126.0]))
    np.testing.assert_array_equal(slot_layers(deep, bench.plan(pipeline_ranks=16)), [8.0])


def test_a_classic_layer_keeps_34_bytes_for_each_value(bench) -> None:  # type: ignore[no-untyped-def]
    classic = model_shape(layers=1, hidden=1024, heads=8, vocab=1, ffn=4096, glu=False)
    plan = bench.plan(context_ranks=1)
    np.testing.assert_allclose(layer_activation_bytes(classic, plan), 8192 * 1024 * 34 / 4)


def test_an_unsharded_model_holds_18_bytes_a_parameter(bench) -> None:  # type: ignore[no-untyped-def]
    plan = bench.plan(
        tensor_ranks=1, pipeline_ranks=1, context_ranks=1, data_ranks=1, zero_stage=0, virtual_stages=1
    )
    memory = training_memory(shape=bench.shape, plan=plan, state=bench.state, constants=bench.memory)
    state = memory.weights_bytes + memory.gradients_bytes + memory.optimiser_bytes
    np.testing.assert_allclose(state, 18.0 * parameters(bench.shape), rtol=1e-6)  # the last norm is left out


def test_a_batch_equals_its_members(bench) -> None:  # type: ignore[no-untyped-def]
    plans = space_of(bench.shape, 256, 512).flat()
    together = step(bench, plans).step_s
    rows = np.linspace(0, together.size - 1, 12).astype(int)
    apart = np.concatenate([step(bench, taken(plans, rows[[i]])).step_s for i in range(rows.size)])
    np.testing.assert_allclose(apart, together[rows], rtol=1e-12)


def test_the_search_returns_the_quickest_that_fits(bench) -> None:  # type: ignore[no-untyped-def]
    choice = search(bench, 1024, 1024)
    assert choice.feasible
    assert choice.needed_bytes <= choice.available_bytes
    best = choice.rankings[Goal.TIME][0]
    assert best.step.step_s[0] <= choice.runner_up_step_s[0]
    needed = total_bytes(best.memory)[0]
    assert needed == pytest.approx(choice.needed_bytes, rel=1e-12)
    np.testing.assert_allclose(step(bench, choice.plan).step_s, best.step.step_s, rtol=1e-12)


def test_the_search_says_what_is_missing(bench) -> None:  # type: ignore[no-untyped-def]
    choice = search(bench, 8, 64)
    assert not choice.feasible
    assert choice.why_not.startswith("memory: ")
    assert choice.needed_bytes > choice.available_bytes
    assert choice.plan is None


def test_odd_gpu_counts_leave_some_idle(bench) -> None:  # type: ignore[no-untyped-def]
    small = model_shape(layers=16, hidden=2048, heads=32, kv_heads=8, vocab=128256, ffn=8192)
    choice = search(bench, 7, 100, shape=small)
    assert choice.feasible
    assert choice.plan.data_ranks[0] * choice.plan.tensor_ranks[0] * choice.plan.pipeline_ranks[0] <= 7


def test_a_sparse_model_is_planned_and_pays_for_its_exchange(bench) -> None:  # type: ignore[no-untyped-def]
    sparse = model_shape(
        layers=48, hidden=2048, heads=32, kv_heads=4, head_dim=128, vocab=151936, experts=128, experts_per_token=8,
        expert_ffn=768, qk_norm=True,
    )  # fmt: skip
    assert search(bench, 64, 1024, shape=sparse).feasible
    shared = {
        "tensor_ranks": 1,
        "pipeline_ranks": 1,
        "context_ranks": 1,
        "virtual_stages": 1,
        "data_ranks": 16,
    }
    alone, near, far = (
        step(bench, bench.plan(**shared, expert_ranks=ranks), shape=sparse) for ranks in (1, 8, 16)
    )
    waits = [result.parts.expert_exposed_s[0] for result in (alone, near, far)]
    assert waits[0] == 0.0
    assert waits[1] < waits[2] / 2.0  # the sixteenth rank is behind the NICs


def test_the_search_is_quick(bench) -> None:  # type: ignore[no-untyped-def]
    def once() -> float:
        start = time.perf_counter()
        search(bench, 1024, 1024)
        return time.perf_counter() - start

    # 6 ms alone; an evaluation has 35 ms, and a busy machine is several times slower.
    assert min(once() for _ in range(5)) < 0.03


def test_gradients_shared_out_are_reduced_after_every_microbatch(bench) -> None:  # type: ignore[no-untyped-def]
    flat = {"pipeline_ranks": 1, "virtual_stages": 1, "data_ranks": 64, "tensor_ranks": 8, "context_ranks": 1}
    waits = {
        (stage, batch): step(bench, bench.plan(zero_stage=stage, global_batch_sequences=batch, **flat))
        .parts.data_exposed_s[0]
        for stage in (1, 2)
        for batch in (64, 256)
    }  # fmt: skip
    assert waits[2, 64] == waits[1, 64]  # one microbatch: the same single reduction
    assert waits[2, 256] > 2.0 * waits[1, 256]


def test_more_tensor_ranks_than_heads_of_keys_hold_copies_of_them(bench) -> None:  # type: ignore[no-untyped-def]
    chip = bench.chip
    few, none = (
        attention_linear_s(replace(bench.shape, kv_heads=np.array([heads])), plan, chip, bench.constants)
        for heads, plan in ((8.0, bench.plan(tensor_ranks=16)), (16.0, bench.plan(tensor_ranks=16)))
    )
    np.testing.assert_array_equal(few, none)
