"""One serving step: costs worked out once, and the physics of each term."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.arrays import Floats
from planner.performance.inference import Layout, workspace_bytes_per_rank
from planner.performance.models import ModelShape, model_shape
from planner.performance.serving import Server
from planner.performance.serving_speculation import Speculation
from planner.performance.serving_step import StepCosts, experts_s, iteration_parts, iteration_s

ONE, NONE = np.array([1.0]), np.array([0.0])
EIGHT = Layout(8.0 * ONE, 8.0 * ONE)


def moe() -> ModelShape:
    """Qwen3-235B-A22B."""
    return model_shape(
        layers=94, hidden=4096, heads=64, kv_heads=4, head_dim=128, vocab=151936, experts=128, experts_per_token=8,
        expert_ffn=1536,
    )  # fmt: skip


def latent() -> ModelShape:
    """DeepSeek-R1, its experts left out."""
    return model_shape(
        layers=61, hidden=7168, heads=128, head_dim=192, value_head_dim=128, vocab=129280, ffn=18432, query_rank=1536,
        kv_rank=512, rope_dim=64,
    )  # fmt: skip


def step(
    costs: StepCosts, decodes: Floats, context: float = 1500.0, filled: Floats = NONE, prompts: Floats = NONE
) -> Floats:
    return iteration_s(
        costs, decode_sequences=decodes, context_tokens=context * ONE, prefill_tokens=filled,
        seen_tokens=500.0 * ONE, prompts=prompts,
    )  # fmt: skip


def test_a_batch_of_steps_equals_its_members(server: Server) -> None:
    decodes, filled = np.array([1.0, 7.0, 300.0]), np.array([0.0, 1000.0, 4096.0])
    costs = server.costs(EIGHT)
    together = step(costs, decodes, filled=filled, prompts=np.minimum(filled, 1.0))
    for row in range(3):
        alone = step(costs, decodes[[row]], filled=filled[[row]], prompts=np.minimum(filled[[row]], 1.0))
        np.testing.assert_allclose(alone, together[[row]], rtol=1e-12)


def test_layouts_side_by_side_equal_each_alone(server: Server) -> None:
    both = Layout(np.array([2.0, 8.0]), np.array([2.0, 4.0]))
    together = step(server.costs(both), 32.0 * ONE)
    for row, (ranks, own) in enumerate(((2.0, 2.0), (8.0, 4.0))):
        alone = step(server.costs(Layout(ranks * ONE, own * ONE)), 32.0 * ONE)
        np.testing.assert_allclose(alone, together[[row]], rtol=1e-12)


def test_more_of_anything_never_takes_less_time(server: Server) -> None:
    costs = server.costs(EIGHT)
    counts = np.geomspace(1.0, 2048.0, 40)
    assert np.all(np.diff(step(costs, counts)) > 0.0)
    assert np.all(np.diff(step(costs, 8.0 * ONE, filled=counts, prompts=ONE)) > 0.0)
    longer = [float(step(costs, 64.0 * ONE, context=context)[0]) for context in (100.0, 1e3, 1e4, 1e5)]
    assert longer == sorted(longer)


def test_a_batch_touches_fewer_experts_where_some_are_popular(server: Server) -> None:
    sparse = replace(server, shape=moe())
    tokens = np.array([1.0, 16.0, 1e6])
    found = []
    for skew in (1e-6, 1.0):
        constants = replace(sparse.constants, expert_skew=skew * ONE, expert_imbalance_ratio=NONE)
        costs = replace(sparse, constants=constants).costs(EIGHT).experts
        assert costs is not None
        rowless = replace(costs, product=replace(costs.product, row_s=NONE, fixed_s=NONE))
        found.append(experts_s(rowless, tokens) / rowless.product.weights_s)
    alike, skewed = found
    np.testing.assert_allclose(alike[:2], [8.0, 128.0 * (1.0 - (1.0 - 8.0 / 128.0) ** 16.0)], rtol=1e-4)
    assert np.all(skewed < alike + 1e-9)
    np.testing.assert_allclose(skewed[2], 128.0, rtol=1e-3)  # a large batch touches every one


def test_the_busiest_rank_of_expert_parallelism_reads_more_than_the_mean(server: Server) -> None:
    sparse = replace(server, shape=moe())
    dealt, split = (Layout(8.0 * ONE, 8.0 * ONE, ranks * ONE) for ranks in (8.0, 1.0))
    few = 4.0 * ONE
    for layout in (dealt, split):
        assert sparse.costs(layout).experts is not None
    apart, shared = (experts_s(sparse.costs(layout).experts, few) for layout in (dealt, split))  # type: ignore[arg-type]
    assert apart[0] > 1.05 * shared[0]


def test_a_latent_cache_doesnt_divide_over_ranks_and_many_heads_are_bound_by_arithmetic(
    server: Server,
) -> None:
    wide = replace(server, shape=latent())
    one, eight = (wide.costs(Layout(ranks * ONE, ranks * ONE)).cached_s[0] for ranks in (1.0, 8.0))
    read = 61 * 576 / 2.5e12
    assert eight == pytest.approx(read, rel=0.15)  # 16 heads: the reading binds
    assert one > 2.0 * read  # 128 heads: their products do
    arithmetic = 61 * 2.0 * 128 * (2 * 512 + 64) / 5e14
    assert one == pytest.approx(np.hypot(read, arithmetic), rel=1e-9)


def test_a_norm_over_all_heads_costs_a_sum_between_ranks(server: Server) -> None:
    plain = server.shape
    over = replace(plain, query_key_norms=ONE, norm_over_heads=ONE)
    each = replace(plain, query_key_norms=ONE)
    times = [
        float(step(replace(server, shape=shape).costs(EIGHT), 8.0 * ONE)[0]) for shape in (plain, each, over)
    ]
    assert times[1] - times[0] == pytest.approx(80 * 7e-6, rel=1e-6)
    assert times[2] > times[1] + 80 * 1e-6  # an all-reduce of a few bytes a layer


def test_prompts_fill_attention_groups_one_by_one(server: Server) -> None:
    groups = server.costs(Layout(8.0 * ONE, ONE))
    one = step(groups, 8.0 * ONE, filled=8000.0 * ONE, prompts=ONE)
    eight = step(groups, 8.0 * ONE, filled=8000.0 * ONE, prompts=8.0 * ONE)
    assert one[0] > 1.5 * eight[0]


def test_speculation_yields_tokens_and_costs_a_longer_step(server: Server) -> None:
    draft = replace(server, speculation=Speculation(3.0 * ONE, 0.8 * ONE, 0.02 * ONE))
    plain, fast = server.costs(EIGHT), draft.costs(EIGHT)
    np.testing.assert_allclose(fast.tokens_per_step, 1.0 + 0.8 + 0.64 + 0.512)
    small = step(fast, ONE)[0] / fast.tokens_per_step[0], step(plain, ONE)[0]
    large = step(fast, 4096.0 * ONE)[0] / fast.tokens_per_step[0], step(plain, 4096.0 * ONE)[0]
    assert small[0] < 0.5 * small[1]  # a lone sequence reads the weights for three tokens
    assert large[0] > small[0] and large[0] / large[1] > 0.8  # a full batch computes what it then rejects


def test_a_pipeline_takes_its_share_of_the_batch_and_waits_for_its_last_stage(server: Server) -> None:
    """The head and the sampling stand on one stage: in a round of three all of them wait for it three times."""
    staged = server.costs(Layout(4.0 * ONE, 4.0 * ONE, None, 3.0 * ONE))
    flat = server.costs(Layout(4.0 * ONE, 4.0 * ONE))
    last = flat.head.time_s(32.0 * ONE) + server.constants.step_fixed_s
    last = last + 32.0 * (server.constants.sequence_fixed_s + server.constants.replica_sequence_fixed_s)
    round_s = step(flat, 32.0 * ONE) + 2.0 * last
    np.testing.assert_allclose(step(staged, 96.0 * ONE), round_s, rtol=1e-12)


def test_attention_groups_need_room_for_every_groups_rows() -> None:
    eight, one = (workspace_bytes_per_rank(moe(), layout=Layout(8.0 * ONE, own * ONE)) for own in (1.0, 8.0))
    np.testing.assert_allclose(eight, 8.0 * one)
    assert eight[0] > 9e9


def test_parts_add_up(server: Server) -> None:
    parts = iteration_parts(
        server.costs(EIGHT), decode_sequences=16.0 * ONE, context_tokens=1e3 * ONE, prefill_tokens=2e3 * ONE,
        seen_tokens=1e3 * ONE, prompts=ONE,
    )  # fmt: skip
    named = (
        parts.linear_s,
        parts.kv_s,
        parts.prefill_attention_s,
        parts.collectives_s,
        parts.fixed_s,
        parts.head_s,
    )
    assert all(part[0] > 0.0 for part in named)
    assert sum(part[0] for part in named) + parts.elementwise_s[0] == pytest.approx(parts.total_s[0])
