"""Laws of what only some plans use: each moves time and memory the right way, alone and in a batch, and parts add up."""

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
from planner.performance.features import Features
from planner.performance.memory import total_bytes
from planner.performance.parallelism import Plan
from planner.performance.plans import taken, whole_table
from planner.performance.search import Case, Evaluated, evaluate_plans
from planner.performance.search_space import Axes, search_space
from planner.performance.training import StepParts, total_s
from planner.scenario.load import load_scenario

AXES = Axes(context=(1, 2, 8), microbatch=(1, 2), all_interleavings=False, recompute_steps=2)
SCENARIOS = ("h200-1024-ndr", "gb200-nvl72-16")


def one(value: float) -> Floats:
    return np.array([float(value)])


FIGURES = {
    "zero_bubble_ratio": 0.5, "context_gather_exposed_fraction": 1, "compression_bytes_per_parameter": 16,
    "local_state_bytes_per_parameter": 8, "to_host_bytes_per_s": 55e9, "from_host_bytes_per_s": 54e9,
    "host_link_hidden_fraction": 0.7, "activation_factor": 0.5, "expert_load_ratio": 1.2,
}  # fmt: skip
TURNED_ON = (
    {"backward_split": 1}, {"context_gathered": 1}, {"gradient_compression_ratio": 8}, {"local_steps": 16},
    {"asynchronous": 1}, {"offloaded_optimiser": 1}, {"offloaded_activations": 1}, {"offloaded_weights": 1},
    {"recomputed_linear_fraction": 0.5},
    {"local_steps": 4, "asynchronous": 1, "offloaded_weights": 1, "offloaded_optimiser": 1, "backward_split": 1},
)  # fmt: skip
features_on = st.sampled_from(TURNED_ON)
scenarios = st.sampled_from(SCENARIOS)
seeds = st.integers(min_value=0, max_value=2**31)


@cache
def case_and_plans(name: str) -> tuple[Case, Plan]:
    """A shipped scenario's case with all figures of features, and plans of every sharding."""
    built = evaluate(load_scenario(name), open_catalog()).built
    assert built is not None
    found = built.performance.trained[0]
    plans = search_space(found.job, AXES).flat()
    figures = Features(**{name: one(value) for name, value in FIGURES.items()})
    return replace(found.case, features=figures), plans


def some(name: str, seed: int, count: int = 300) -> tuple[Case, Plan]:
    case, plans = case_and_plans(name)
    return case, taken(plans, np.random.default_rng(seed).integers(0, plans.tensor_ranks.size, count))


def with_feature(plan: Plan, on: dict[str, float]) -> Plan:
    return replace(plan, **{name: one(value) for name, value in on.items()})


def step_s(found: Evaluated) -> Floats:
    return found.step.step_s


def kept(plan: Plan, rows: np.ndarray) -> Plan:
    return taken(plan, np.flatnonzero(np.broadcast_to(rows, plan.tensor_ranks.shape)))


@settings(max_examples=25, deadline=None)
@given(name=scenarios, seed=seeds, on=features_on)
def test_parts_add_up_and_a_batch_equals_its_members(name: str, seed: int, on: dict[str, float]) -> None:
    case, plans = some(name, seed, 40)
    plans = with_feature(plans, on)
    batch = evaluate_plans(case, plans)
    np.testing.assert_array_equal(total_s(batch.step.parts), batch.step.step_s)
    for part in fields(StepParts):
        assert np.all(getattr(batch.step.parts, part.name) >= -1e-9), part.name
    for row in range(0, 40, 7):
        alone = evaluate_plans(case, taken(plans, np.array([row])))
        np.testing.assert_allclose(alone.step.step_s[0], batch.step.step_s[row], rtol=1e-12)
        np.testing.assert_allclose(alone.needed_bytes[0], batch.needed_bytes[row], rtol=1e-12)


@settings(max_examples=15, deadline=None)
@given(name=scenarios, seed=seeds)
def test_figures_of_features_change_no_plan_without_them(name: str, seed: int) -> None:
    case, plans = some(name, seed)
    plain = evaluate_plans(replace(case, features=Features(expert_load_ratio=one(1.2))), plans)
    full = evaluate_plans(case, plans)
    np.testing.assert_array_equal(full.step.step_s, plain.step.step_s)
    np.testing.assert_array_equal(full.needed_bytes, plain.needed_bytes)


@settings(max_examples=15, deadline=None)
@given(name=scenarios, seed=seeds, ratio=st.floats(min_value=0.0, max_value=1.0))
def test_a_split_backward_pass_shrinks_the_bubble_and_nothing_else(
    name: str, seed: int, ratio: float
) -> None:
    case, plans = some(name, seed)
    case = replace(case, features=replace(case.features, zero_bubble_ratio=one(ratio)))
    before, after = (
        evaluate_plans(case, plans),
        evaluate_plans(case, with_feature(plans, {"backward_split": 1})),
    )
    assert np.all(after.step.parts.bubble_s <= before.step.parts.bubble_s)
    np.testing.assert_array_equal(after.step.parts.computing_s, before.step.parts.computing_s)
    np.testing.assert_array_equal(after.needed_bytes, before.needed_bytes)
    alone = plans.pipeline_ranks == 1
    np.testing.assert_array_equal(step_s(after)[alone], step_s(before)[alone])


@settings(max_examples=15, deadline=None)
@given(name=scenarios, seed=seeds, what=st.sampled_from(["optimiser", "activations", "weights"]))
def test_offload_takes_time_and_gives_memory_back(name: str, seed: int, what: str) -> None:
    case, plans = some(name, seed)
    away = with_feature(plans, {f"offloaded_{what}": 1})
    before, after = evaluate_plans(case, plans), evaluate_plans(case, away)
    assert np.all(step_s(after) >= step_s(before))
    assert np.all(after.needed_bytes <= before.needed_bytes * (1 + 1e-12))
    assert np.any(after.needed_bytes < before.needed_bytes) and np.any(step_s(after) > step_s(before))
    quick = replace(case.features, to_host_bytes_per_s=one(900e9), from_host_bytes_per_s=one(900e9))
    assert np.all(step_s(evaluate_plans(replace(case, features=quick), away)) <= step_s(after))


@settings(max_examples=15, deadline=None)
@given(name=scenarios, seed=seeds, steps=st.integers(min_value=2, max_value=500))
def test_replicas_that_exchange_seldom_wait_less_and_keep_more(name: str, seed: int, steps: int) -> None:
    case, plans = some(name, seed, 2000)
    plans = kept(plans, plans.zero_stage == 0)
    before = evaluate_plans(case, plans)
    seldom = evaluate_plans(case, with_feature(plans, {"local_steps": steps}))
    waited = before.step.parts.data_exposed_s
    np.testing.assert_allclose(seldom.step.parts.data_exposed_s, waited / steps, rtol=1e-12)
    assert np.all(seldom.needed_bytes > before.needed_bytes)
    going_on = evaluate_plans(case, with_feature(plans, {"local_steps": steps, "asynchronous": 1}))
    assert np.all(step_s(going_on) <= step_s(seldom) * (1 + 1e-12))


@settings(max_examples=15, deadline=None)
@given(name=scenarios, seed=seeds, ratio=st.floats(min_value=1.0, max_value=50.0))
def test_free_compression_never_slows_and_its_cost_never_speeds(name: str, seed: int, ratio: float) -> None:
    case, plans = some(name, seed)
    small = with_feature(plans, {"gradient_compression_ratio": ratio})
    free = replace(case, features=replace(case.features, compression_bytes_per_parameter=one(0)))
    assert np.all(step_s(evaluate_plans(free, small)) <= step_s(evaluate_plans(case, plans)) * (1 + 1e-12))
    assert np.all(step_s(evaluate_plans(case, small)) >= step_s(evaluate_plans(free, small)) * (1 - 1e-12))


@pytest.mark.parametrize("name", SCENARIOS)
def test_hybrid_sharding_lies_between_replicas_and_full_sharding_in_memory(name: str) -> None:
    case, plans = case_and_plans(name)
    hybrid = kept(plans, plans.shard_ranks > 0)
    assert hybrid.tensor_ranks.size > 20
    full, none = (
        replace(hybrid, shard_ranks=one(0), zero_stage=one(stage)) for stage in (3.0, 0.0)
    )  # fmt: skip
    middle, least, most = (evaluate_plans(case, one_of) for one_of in (hybrid, full, none))
    assert np.all(least.needed_bytes < middle.needed_bytes)
    held = [total_bytes(one_of.memory) - one_of.memory.buffers_bytes for one_of in (middle, most)]
    assert np.all(held[0] < held[1])
    # the whole data group as one shard group is full sharding
    wide = replace(hybrid, shard_ranks=hybrid.data_ranks * hybrid.context_ranks)
    np.testing.assert_allclose(step_s(evaluate_plans(case, wide)), step_s(least), rtol=1e-12)
    np.testing.assert_allclose(evaluate_plans(case, wide).needed_bytes, least.needed_bytes, rtol=1e-12)


def test_hybrid_and_full_sharding_differ_in_the_search_by_more_than_a_name() -> None:
    case, plans = case_and_plans("h200-1024-ndr")
    rows = whole_table(plans)
    assert len(np.unique(rows, axis=0)) == len(rows)
    hybrid = kept(plans, plans.shard_ranks > 0)
    domain = float(case.links.domain_ranks[0])
    assert np.all(hybrid.shard_ranks * hybrid.tensor_ranks <= domain)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, load=st.floats(min_value=1.0, max_value=3.0))
def test_a_busier_expert_rank_slows_sparse_plans_with_expert_ranks_alone(seed: int, load: float) -> None:
    case, plans = some("gb200-nvl72-16", seed)
    even = evaluate_plans(replace(case, features=replace(case.features, expert_load_ratio=one(1))), plans)
    uneven = evaluate_plans(
        replace(case, features=replace(case.features, expert_load_ratio=one(load))), plans
    )
    assert np.all(step_s(uneven) >= step_s(even) * (1 - 1e-12))
    assert np.all(uneven.needed_bytes >= even.needed_bytes)
    alone = plans.expert_ranks == 1
    np.testing.assert_array_equal(step_s(uneven)[alone], step_s(even)[alone])
    padded = replace(case, features=replace(case.features, expert_capacity_ratio=one(load)))
    assert np.all(step_s(evaluate_plans(padded, plans)) >= step_s(even) * (1 - 1e-12))
