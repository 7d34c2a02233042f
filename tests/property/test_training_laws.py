"""Laws of the training step, whatever the plan: it adds up, better parts never slow it, ranks cost only their waits."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.performance.collectives import Link
from planner.performance.parallelism import Plan, microbatches
from planner.performance.plans import plans_of, taken
from planner.performance.search import Case, evaluate_plans
from planner.performance.search_space import Axes, quick_axes, search_space
from planner.performance.training import StepParts, TrainingStep, total_s
from planner.scenario.load import load_scenario

SCENARIOS = ("h200-1024-ndr", "h100-16384-roce", "gb200-nvl72-16")
INNER = ("computing_s", "recompute_s", "tensor_exposed_s", "pipeline_exposed_s", "expert_exposed_s",
         "context_exposed_s", "optimiser_s")  # fmt: skip
"""Parts that data ranks have no hand in at a fixed plan of each GPU."""
growth = st.floats(min_value=1.0, max_value=50.0)
scenarios = st.sampled_from(SCENARIOS)
draws = st.floats(min_value=0.0, max_value=1.0, exclude_max=True)


@cache
def case_and_plans(name: str) -> tuple[Case, Plan]:
    """A shipped scenario's case with plans of all kinds."""
    evaluation = evaluate(load_scenario(name), open_catalog())
    assert evaluation.built is not None
    found = evaluation.built.performance.trained[0]
    axes = replace(
        quick_axes(8192),
        context=(1, 2, 8),
        expert_tensor=None,
        zero=(0, 1, 2, 3),
        recompute_steps=2,
        selective=True,
    )
    plans = search_space(found.job, axes).flat()
    return found.case, taken(
        plans, np.arange(0, plans.tensor_ranks.size, max(1, plans.tensor_ranks.size // 20_000))
    )


def some(name: str, draw: float) -> tuple[Case, Plan]:
    """One of the plans."""
    case, plans = case_and_plans(name)
    return case, taken(plans, np.array([int(draw * plans.tensor_ranks.size)]))


def step_of(case: Case, plan: Plan) -> TrainingStep:
    return evaluate_plans(case, plan).step


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_parts_of_every_plan_add_up_and_none_is_negative(name: str) -> None:
    case, plans = case_and_plans(name)
    step = step_of(case, plans)
    np.testing.assert_array_equal(total_s(step.parts), step.step_s)
    for one in fields(StepParts):
        assert np.all(getattr(step.parts, one.name) >= -1e-9), one.name
    assert np.all((step.mfu > 0) & (step.mfu <= step.hfu) & (step.hfu < 1))


def faster(link: Link, factor: float) -> Link:
    return replace(link, bytes_per_s=link.bytes_per_s * factor)


def improved(case: Case, what: str, factor: float) -> Case:
    """The machine with one part so many times as fast."""
    links, chip = case.links, case.chip
    if what == "network":
        near, far = faster(links.outside, factor), faster(links.outside_all_to_all, factor)
        return replace(case, links=replace(links, outside=near, outside_all_to_all=far))
    if what == "scale-up":
        return replace(case, links=replace(links, inside_ratio=links.inside_ratio / factor))
    if what == "memory":
        return replace(case, chip=replace(chip, memory_bytes_per_s=chip.memory_bytes_per_s * factor))
    peak, wide = chip.peak_flop_per_s * factor, chip.peak_16bit_flop_per_s * factor
    return replace(case, chip=replace(chip, peak_flop_per_s=peak, peak_16bit_flop_per_s=wide))


@pytest.mark.parametrize("what", ["network", "scale-up", "memory"])
@settings(max_examples=6, deadline=None)
@given(name=scenarios, factor=growth)
def test_more_bandwidth_never_slows_any_plan(what: str, name: str, factor: float) -> None:
    case, plans = case_and_plans(name)
    before, after = step_of(case, plans).step_s, step_of(improved(case, what, factor), plans).step_s
    # 1e-9: sums of parts in another order
    assert np.all(after <= before * (1 + 1e-9))


@settings(max_examples=6, deadline=None)
@given(name=scenarios, factor=growth)
def test_faster_arithmetic_hardly_ever_slows_a_plan(name: str, factor: float) -> None:
    case, plans = case_and_plans(name)
    ratio = step_of(improved(case, "arithmetic", factor), plans).step_s / step_of(case, plans).step_s
    # Attention counts as cover for the ring of context ranks and for data-parallel traffic alike, so where both
    # wait for it alone, less of it exposes more than it saves: one plan in a thousand, by 1.5 % at most.
    assert ratio.max() <= 1.02
    assert np.mean(ratio > 1 + 1e-9) <= 0.002
    assert np.all(ratio[plans.context_ranks == 1] <= 1 + 1e-9)


@settings(max_examples=60)
@given(name=scenarios, draw=draws, factor=st.sampled_from([2, 4, 16]))
def test_more_gpus_at_the_same_work_of_each_wait_longer_and_compute_the_same(
    name: str, draw: float, factor: int
) -> None:
    case, plan = some(name, draw)
    wider = replace(
        plan,
        data_ranks=plan.data_ranks * factor,
        global_batch_sequences=plan.global_batch_sequences * factor,
    )
    before, after = step_of(case, plan).parts, step_of(case, wider).parts
    assert microbatches(wider) == microbatches(plan)
    for part in INNER:
        # only what a rank owns of sharded states shrinks
        assert getattr(after, part)[0] <= getattr(before, part)[0] * (1 + 1e-12), part
    more = step_of(case, wider).step_s[0] - step_of(case, plan).step_s[0]
    waits = sum(
        (getattr(after, part) - getattr(before, part))[0]
        for part in ("data_exposed_s", "other_s", "pipeline_exposed_s")
    )
    assert more <= waits + abs(before.bubble_s[0]) * 1e-9 + 1e-9 + max(
        0.0, (after.bubble_s - before.bubble_s)[0]
    )


@settings(max_examples=60)
@given(name=scenarios, draw=draws, factor=st.sampled_from([2, 3, 8]))
def test_more_data_ranks_on_the_same_batch_never_compute_longer(name: str, draw: float, factor: int) -> None:
    case, plan = some(name, draw)
    sequences = plan.global_batch_sequences * factor
    slow = replace(plan, global_batch_sequences=sequences)
    quick = replace(slow, data_ranks=plan.data_ranks * factor)
    before, after = step_of(case, slow), step_of(case, quick)
    for part in ("computing_s", "recompute_s", "tensor_exposed_s", "expert_exposed_s", "context_exposed_s"):
        assert getattr(after.parts, part)[0] <= getattr(before.parts, part)[0] / factor * (1 + 0.05), part
    waits = (after.parts.data_exposed_s - before.parts.data_exposed_s)[0]
    straggling = after.parts.other_s[0]
    assert after.step_s[0] <= before.step_s[0] + max(0.0, waits) + straggling


@settings(max_examples=40)
@given(name=scenarios, draw=draws)
def test_twice_the_batch_takes_at_most_twice_as_long(name: str, draw: float) -> None:
    case, plan = some(name, draw)
    # gradients are added up in memory only from the second microbatch on, which is why this one has two
    plan = replace(plan, global_batch_sequences=plan.global_batch_sequences * 2)
    twice = replace(plan, global_batch_sequences=plan.global_batch_sequences * 2)
    one, two = step_of(case, plan), step_of(case, twice)
    assert one.step_s[0] < two.step_s[0] <= 2.0 * one.step_s[0] * (1 + 1e-9)
    assert two.bubble_fraction[0] <= one.bubble_fraction[0] + 1e-9 or plan.pipeline_ranks[0] == 1


@settings(max_examples=30)
@given(name=scenarios, draw=draws, size=st.sampled_from([1, 5]))
def test_a_batch_of_plans_equals_its_members(name: str, draw: float, size: int) -> None:
    case, plans = case_and_plans(name)
    count = plans.tensor_ranks.size
    places = (int(draw * count) + 37 * np.arange(size)) % count
    together = evaluate_plans(case, taken(plans, places))
    for row, place in enumerate(places):
        alone = evaluate_plans(case, taken(plans, np.array([place])))
        np.testing.assert_allclose(together.step.step_s[row], alone.step.step_s[0], rtol=1e-12)
        np.testing.assert_allclose(together.needed_bytes[row], alone.needed_bytes[0], rtol=1e-12)


@settings(max_examples=40)
@given(name=scenarios, draw=draws)
def test_memory_shrinks_with_recompute_and_sharding(name: str, draw: float) -> None:
    case, plan = some(name, draw)

    def needed(**changes: float) -> Floats:
        wished = {key: np.array([value]) for key, value in changes.items()}
        return evaluate_plans(case, replace(plan, **wished)).needed_bytes

    layers = float(case.shape.layers[0] / plan.pipeline_ranks[0])
    if layers > 2.0:
        # a layer under recompute comes back whole once, so the gain starts with the second
        assert needed(recomputed_layers_fraction=1.0)[0] <= needed(recomputed_layers_fraction=0.0)[0]
    sizes = [needed(zero_stage=stage)[0] for stage in (0.0, 1.0, 2.0)]
    assert sizes == sorted(sizes, reverse=True)


def test_axes_that_are_narrowed_give_plans_of_the_whole_space() -> None:
    case, _ = case_and_plans("h200-1024-ndr")
    evaluation = evaluate(load_scenario("h200-1024-ndr"), open_catalog())
    assert evaluation.built is not None
    job = replace(evaluation.built.performance.trained[0].job, gpus=16, batch_sequences=32)
    every = search_space(job).flat()
    rows = {tuple(row) for row in np.stack([getattr(every, one.name) for one in fields(Plan)], axis=1)}
    for axes in (quick_axes(8192), Axes(tensor=(8,), zero=(1,))):
        narrow = search_space(job, axes).flat()
        table = np.stack([getattr(narrow, one.name) for one in fields(Plan)], axis=1)
        assert len(table) and {tuple(row) for row in table} <= rows
        assert step_of(case, plans_of(table)).step_s.shape == (len(table),)
