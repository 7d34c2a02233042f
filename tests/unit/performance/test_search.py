"""The search over plans: what it tries, what it finds, and that it finds it by the model's own functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
import pytest

from planner.performance.models import ModelShape, model_shape
from planner.performance.parallelism import Plan, gpus_in_use, microbatches
from planner.performance.plans import plan_table, plans_of, whole_table
from planner.performance.search import (
    Case,
    Draw,
    Goal,
    PlanChoice,
    evaluate_plans,
    goal_values,
    least_recompute,
    search_plans,
)
from planner.performance.search_space import EVERY, LEAN, Axes, Job, quick_axes, search_space
from planner.performance.search_words import plan_in_words
from planner.performance.train import quick_search

DENSE = model_shape(layers=6, hidden=512, heads=12, kv_heads=4, vocab=32000, ffn=2304)
SPARSE = model_shape(
    layers=4, hidden=512, heads=4, kv_heads=2, vocab=32000, experts=8, experts_per_token=2, expert_ffn=512
)
DRAW = Draw(np.array([1000.0]), np.array([200.0]))


def job_of(shape: ModelShape, gpus: int = 8, batch: int = 16, **changes: object) -> Job:
    """A job on domains of four GPUs."""
    values = {"domain_ranks": 4, "mesh": False, "sequence_tokens": 256} | changes
    return Job(shape=shape, gpus=gpus, batch_sequences=batch, **values)  # type: ignore[arg-type]


def case_of(bench, job: Job, memory_bytes: float = 85e9) -> Case:  # type: ignore[no-untyped-def]
    """The bench's machine with domains as the job has them."""
    chip = replace(bench.chip, memory_bytes=np.array([memory_bytes]))
    links = replace(bench.links, domain_ranks=np.array([float(job.domain_ranks)]))
    return Case(job.shape, chip, links, bench.constants, bench.state, bench.memory)


def found_by(case: Case, job: Job, axes: Axes = EVERY, top: int = 10, flat: bool = False) -> PlanChoice:
    """Best plans of a job."""
    space = search_space(job, axes)
    blocks = [space.flat()] if flat else space.blocks()
    return search_plans(
        case, blocks, total=space.plans(), top=top, draw=DRAW, refused=space.refused, axes=space.values()
    )


def divide(number: int) -> list[int]:
    return [one for one in range(1, number + 1) if number % one == 0]


def by_hand(job: Job) -> Iterator[tuple[float, ...]]:
    """Legal plans written out as nested loops with one condition after the other."""
    shape, gpus, batch = job.shape, job.gpus, job.batch_sequences
    layers, heads, groups = int(shape.layers[0]), int(shape.heads[0]), int(shape.kv_heads[0])
    experts, rows = int(shape.experts[0]), []
    end = (0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0)
    for tp, pp, cp in itertools.product(range(1, gpus + 1), repeat=3):
        if heads % tp or (groups % tp and tp % groups) or int(shape.ffn[0]) % tp:
            continue
        if job.domain_ranks % tp and tp % job.domain_ranks:
            continue
        if pp > layers or (layers % pp and (layers + 2) % pp) or tp * pp * cp > gpus:
            continue
        if (cp > 1 and job.sequence_tokens % (2 * cp)) or (tp > 1 and job.sequence_tokens % (tp * cp)):
            continue
        dp = max(one for one in divide(batch) if one * tp * pp * cp <= gpus)
        for etp, ep in itertools.product(divide(tp) if experts else [1], divide(experts) if experts else [1]):
            if experts and (int(shape.expert_ffn[0]) % etp or tp * cp * dp % (ep * etp)):
                continue
            rows.append((tp, pp, cp, dp, ep, etp))
    most = max(tp * pp * cp * dp for tp, pp, cp, dp, _, _ in rows)
    for tp, pp, cp, dp, ep, etp in rows:
        if 2 * tp * pp * cp * dp < most:
            continue
        stage = layers // pp if layers % pp == 0 else (layers + 2) // pp
        for mb, vp, zero in itertools.product(
            divide(batch // dp), divide(stage) if pp > 1 else [1], range(4)
        ):
            if (vp > 1 and batch // dp // mb % pp) or (zero > 1 and pp > 1):
                continue
            for again, attention in itertools.product(range(stage + 1), (0, 1)):
                if again < stage or not attention:
                    start = (
                        tp,
                        pp,
                        cp,
                        dp,
                        ep,
                        etp,
                        vp,
                        mb,
                        batch,
                        job.sequence_tokens,
                        zero,
                        again / stage,
                        attention,
                    )
                    yield *start, *end
                    # states sharded inside a domain, where the data group is wider than its part of one
                    near = math.gcd(dp * cp, max(1, job.domain_ranks // tp))
                    if zero == 3 and pp == 1 and 1 < near < dp * cp:
                        yield *start, 0, 1, near, *end[3:]


@pytest.mark.parametrize("shape", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_the_space_is_every_legal_plan_once(shape: ModelShape) -> None:
    job = job_of(shape)
    found = np.concatenate([whole_table(block) for block in search_space(job).blocks()])
    expected = np.array(list(by_hand(job)))
    assert len(found) == len(expected) == search_space(job).plans() > 1000
    assert {tuple(row) for row in found} == {tuple(row) for row in expected}


@pytest.mark.parametrize("shape", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("memory_bytes", [85e9, 3.7e9])
def test_the_search_finds_what_evaluating_each_plan_alone_finds(bench, shape, memory_bytes) -> None:  # type: ignore[no-untyped-def]
    job = job_of(shape, gpus=4, batch=8)
    case = case_of(bench, job, memory_bytes)
    choice = found_by(case, job)
    alone = []
    for row in by_hand(job):
        plan = plans_of(np.array([row]))
        result = evaluate_plans(case, plan)
        if result.fits[0]:
            values = [float(goal_values(goal, plan, result.step, DRAW)[0]) for goal in Goal]
            alone.append((values, row))
    assert choice.fitting == len(alone) > 0
    for place, goal in enumerate(Goal):
        least = min(values[place] for values, _ in alone)
        best = choice.rankings[goal][0]
        assert best.value == pytest.approx(least, rel=1e-12)
        assert [row for values, row in alone if values[place] <= least * (1 + 1e-12)].count(
            tuple(whole_table(best.plan)[0])
        ) == 1


def test_the_ten_best_evaluated_alone_agree(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=256, batch=512, domain_ranks=8, sequence_tokens=8192)
    case = case_of(bench, job)
    for flat in (False, True):
        choice = found_by(case, job, quick_axes(8192), flat=flat)
        for goal, ranking in choice.rankings.items():
            assert len(ranking) == 10
            for one in ranking:
                step = evaluate_plans(case, one.plan).step
                assert float(goal_values(goal, one.plan, step, DRAW)[0]) == pytest.approx(
                    one.searched_value, rel=1e-12
                )
                np.testing.assert_allclose(step.step_s, one.step.step_s, rtol=1e-12)


def test_blocks_and_one_batch_rank_alike(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=256, batch=512, domain_ranks=8, sequence_tokens=8192)
    case = case_of(bench, job)
    blocks, batch = (found_by(case, job, quick_axes(8192), flat=flat) for flat in (False, True))
    for goal in Goal:
        together, apart = (
            [plan_in_words(one.plan) for one in choice.rankings[goal]] for choice in (batch, blocks)
        )
        assert together == apart
    assert (blocks.tried, blocks.fitting, blocks.refused) == (batch.tried, batch.fitting, batch.refused)


def test_plans_are_ranked_once_with_the_recompute_that_suits_them(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(DENSE)
    ranking = found_by(case_of(bench, job), job, top=20).rankings[Goal.TIME]
    tables = np.concatenate([whole_table(one.plan) for one in ranking])
    without = np.delete(tables, [11, 12], axis=1)
    assert len(np.unique(without, axis=0)) == len(ranking) == 20
    times = [one.value for one in ranking]
    assert times == sorted(times)


def test_equal_plans_go_to_smaller_degrees(bench) -> None:  # type: ignore[no-untyped-def]
    # a step of no work at all takes its fixed time whatever the plan
    job = job_of(DENSE, gpus=1, batch=1)
    case = case_of(bench, job)
    ranking = found_by(case, job, top=4).rankings[Goal.TIME]
    assert [float(one.plan.zero_stage[0]) for one in ranking][:3] == [0.0, 1.0, 2.0]
    assert ranking[1].why == "equal; ties go to smaller degrees"


def test_pure_data_parallelism_and_tensor_groups_over_several_domains_are_tried() -> None:
    values = search_space(job_of(SPARSE, gpus=16, batch=64, domain_ranks=2)).values()
    assert 1 in values["tensor"] and 4 in values["tensor"]
    assert 16 in values["data"]
    assert values["sharding"] == [0, 1, 2, 3]


def test_a_part_of_a_mesh_is_no_tensor_group() -> None:
    space = search_space(job_of(SPARSE, mesh=True))
    assert space.values()["tensor"] == [1, 4]
    assert space.refused["tensor: a part of a mesh has only a part of its links"] == 1


def test_every_plan_uses_at_least_half_of_what_the_best_use_does() -> None:
    plans = search_space(job_of(DENSE, gpus=7, batch=100)).flat()
    used = gpus_in_use(plans)
    assert used.max() <= 7
    assert used.min() * 2 >= used.max()
    assert np.all(np.mod(microbatches(plans), 1.0) == 0.0)


def test_plans_that_do_not_fit_are_counted_by_what_holds_most(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(DENSE)
    case = case_of(bench, job, 3e8)
    choice = found_by(replace(case, memory=replace(case.memory, reserved_bytes=np.zeros(1))), job)
    over = {reason: count for reason, count in choice.refused.items() if reason.startswith("plans: ")}
    assert sum(over.values()) == choice.tried - choice.fitting > 0
    assert over["plans: memory, most of it optimiser"] > 0
    assert over["plans: memory, most of it gradients"] > 0


def test_a_runner_up_says_what_it_loses_most_by(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=256, batch=512, domain_ranks=8, sequence_tokens=8192)
    ranking = found_by(case_of(bench, job), job, quick_axes(8192)).rankings[Goal.TIME]
    loser = next(one for one in ranking if one.value > ranking[0].value)
    first, other = ranking[0].step.parts, loser.step.parts
    more = {
        one.name: float((getattr(other, one.name) - getattr(first, one.name))[0]) for one in fields(first)
    }
    assert ranking[0].why == ""
    assert loser.why.startswith(f"+{max(more.values()):.2g} s ")


def test_where_nothing_fits_the_leanest_plan_is_named(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=8, batch=64, domain_ranks=8, sequence_tokens=8192)
    choice = found_by(case_of(bench, job), job, LEAN)
    assert not choice.feasible and choice.plan is None and choice.runner_up is None
    assert choice.why_not.startswith("memory: the leanest of ")
    assert "GB too much: optimiser" in choice.why_not
    assert choice.needed_bytes > choice.available_bytes


def test_the_lean_corner_holds_the_leanest_plan(bench) -> None:  # type: ignore[no-untyped-def]
    for shape in (DENSE, SPARSE):
        job = job_of(shape)
        case = case_of(bench, job, 1.0)
        assert found_by(case, job, LEAN).needed_bytes == pytest.approx(
            found_by(case, job).needed_bytes, rel=1e-12
        )


def test_a_job_that_nothing_divides_says_so(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=4, batch=8)
    choice = search_plans(case_of(bench, job), [], total=0)
    assert not choice.feasible
    assert choice.why_not == "no parallel layout divides the model, the batch and the GPUs"


def test_progress_counts_up_to_all_plans(bench) -> None:  # type: ignore[no-untyped-def]
    job, seen = job_of(DENSE), []
    space = search_space(job)
    search_plans(
        case_of(bench, job), space.blocks(most=500), total=space.plans(),
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (space.plans(), space.plans())
    assert len(seen) > 5


def test_the_size_of_blocks_changes_nothing(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(SPARSE)
    case, space = case_of(bench, job), search_space(job)
    small, large = (
        search_plans(case, space.blocks(most=most), total=0, draw=DRAW) for most in (200, 1_000_000)
    )
    for goal in Goal:
        np.testing.assert_array_equal(
            *(
                np.concatenate([whole_table(one.plan) for one in choice.rankings[goal]])
                for choice in (small, large)
            )
        )
    assert small.refused == large.refused


def test_places_of_a_block_name_the_same_plans_as_its_whole_table() -> None:
    block = next(iter(search_space(job_of(SPARSE)).blocks()))
    whole = whole_table(block)
    places = np.array([0, 7, len(whole) - 1])
    np.testing.assert_array_equal(plan_table(block, places), whole[places])
    assert isinstance(plans_of(whole), Plan)


def test_the_least_recompute_is_the_fewest_layers_that_fit(bench) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=64, batch=256, domain_ranks=8, sequence_tokens=8192)
    case = case_of(bench, job)
    plans = search_space(job, quick_axes(8192)).flat()
    found = least_recompute(case, plans)
    fits, some = evaluate_plans(case, found).fits, found.recomputed_layers_fraction > 0
    layers = 80.0 / plans.pipeline_ranks
    fewer = replace(found, recomputed_layers_fraction=found.recomputed_layers_fraction - 1.0 / layers)
    assert np.count_nonzero(fits & some) > 20
    np.testing.assert_array_equal(
        fits, evaluate_plans(case, replace(plans, recomputed_layers_fraction=np.ones(1))).fits | fits
    )
    spared = evaluate_plans(case, fewer).fits & fits & some
    # a stage whose logits shrink beside its layers bends the line, and may then recompute a layer too many
    assert np.count_nonzero(spared) <= 0.05 * np.count_nonzero(fits & some)


@pytest.mark.parametrize("gpus", [64, 256, 1024])
@pytest.mark.parametrize("memory_bytes", [70e9, 85e9, 150e9])
def test_a_quick_search_is_as_good_as_the_whole_within_a_hundredth(bench, gpus, memory_bytes) -> None:  # type: ignore[no-untyped-def]
    job = job_of(bench.shape, gpus=gpus, batch=1024, domain_ranks=8, sequence_tokens=8192)
    case = case_of(bench, job, memory_bytes)
    quick, whole = quick_search(case, job, quick_axes(8192)), found_by(case, job, top=1)
    best = whole.rankings[Goal.TIME][0].value
    assert best <= quick.rankings[Goal.TIME][0].value <= best * 1.01
