"""Serving: iterations, memory, latencies and the choice of a replica."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from planner.performance.inference import Layout, batch_limit, weight_bytes_per_rank
from planner.performance.queueing import arrival_rate_per_s
from planner.performance.serving import Requests, Server, best_serving, operating_point, serving_layouts
from planner.performance.serving_step import iteration_parts

ONE, INF = np.array([1.0]), np.array([np.inf])
FOUR = Layout(np.array([4.0]), np.array([4.0]))
CHAT = Requests(np.array([1000.0]), np.array([1000.0]), np.array([8192.0]), np.array([512.0]))


def decode_s(server: Server, sequences: float, layout: Layout = FOUR) -> float:
    none = np.array([0.0])
    parts = iteration_parts(
        server.costs(layout), decode_sequences=np.array([sequences]), context_tokens=np.array([1500.0]),
        prefill_tokens=none, seen_tokens=none, prompts=none,
    )  # fmt: skip
    assert sum(getattr(parts, part.name)[0] for part in fields(parts)) == pytest.approx(parts.total_s[0])
    return float(parts.total_s[0])


def test_a_lone_sequence_costs_reading_the_weights(server: Server) -> None:
    quick = {name: np.array([0.0]) for name in ("layer_fixed_s", "step_fixed_s", "sequence_fixed_s")}
    at_once = {
        name: replace(getattr(server.constants, name), fixed_s=np.array([0.0]))
        for name in ("attention_gemm", "feed_forward_gemm", "head_gemm")
    }
    bare = replace(server, constants=replace(server.constants, **quick, **at_once))
    one = Layout(ONE, ONE)
    linear = server.shape.layers[0] * (8192 * (8192 + 2 * 1024) + 8192 * 8192 + 3 * 8192 * 28672)
    read = linear / 2.9e12 + 2 * 128256 * 8192 / 3e12
    assert decode_s(bare, 1.0, one) == pytest.approx(read, rel=0.02)  # the cache and norms are the rest


def test_more_sequences_never_take_less_time(server: Server) -> None:
    times = [decode_s(server, batch) for batch in (1, 4, 16, 64, 256, 1024)]
    assert times == sorted(times)


# TensorRT-LLM overview, Llama-70B in FP8 on H100: within 15 % offline. Here the size of a step at batch 64 on 4 GPUs,
# which serving rows put near 16 to 20 ms.
def test_a_decode_step_has_the_measured_size(server: Server) -> None:
    assert 0.014 < decode_s(server, 64.0) < 0.022


def test_weights_that_do_not_fit_leave_no_batch(server: Server) -> None:
    limits = batch_limit(
        server.shape, form=server.form, layout=Layout(np.array([1.0, 2.0]), np.array([1.0, 2.0])),
        memory_bytes=np.array([60e9]), sequence_tokens=np.array([1500.0]), constants=server.constants,
    )  # fmt: skip
    assert limits[0] == 0.0
    assert limits[1] > 0.0


def test_attention_groups_copy_the_attention_alone(server: Server) -> None:
    whole = weight_bytes_per_rank(server.shape, form=server.form, layout=FOUR)
    copied = weight_bytes_per_rank(server.shape, form=server.form, layout=Layout(FOUR.replica_ranks, ONE))
    attention = 80 * (8192 * (8192 + 2 * 1024) + 8192 * 8192)
    np.testing.assert_allclose(copied - whole, attention * 0.75)


def test_the_rate_balances_the_batch() -> None:
    batch, decode, prefill, output = (np.array([v]) for v in (30.0, 0.02, 0.05, 500.0))
    rate = arrival_rate_per_s(batch_sequences=batch, decode_s=decode, prefill_s=prefill, output_tokens=output)
    per_token = decode / (1.0 - rate * prefill)
    np.testing.assert_allclose(rate * output * per_token, batch)


def test_points_equal_the_members_of_their_batch(server: Server) -> None:
    batches = np.array([1.0, 32.0, 200.0])
    together = operating_point(server, requests=CHAT, layout=FOUR, batch_sequences=batches)
    for row, batch in enumerate(batches):
        alone = operating_point(server, requests=CHAT, layout=FOUR, batch_sequences=np.array([batch]))
        np.testing.assert_allclose(alone.output_tokens_per_s, together.output_tokens_per_s[[row]], rtol=1e-12)


def test_the_choice_keeps_both_limits_and_tighter_ones_cost_throughput(server: Server) -> None:
    layouts = serving_layouts(
        sizes=np.array([1.0, 2.0, 4.0, 8.0]), attention_sizes=np.array([1.0, 2.0, 4.0, 8.0])
    )
    loose = best_serving(
        server,
        requests=CHAT,
        layouts=layouts,
        first_token_p99_limit_s=2.0 * ONE,
        per_token_p99_limit_s=0.05 * ONE,
    )
    tight = best_serving(
        server,
        requests=CHAT,
        layouts=layouts,
        first_token_p99_limit_s=2.0 * ONE,
        per_token_p99_limit_s=0.02 * ONE,
    )
    for choice, limit in ((loose, 0.05), (tight, 0.02)):
        assert choice.feasible
        assert choice.point.latency.first_token_p99_s[0] <= 2.0
        assert choice.point.latency.per_token_p99_s[0] <= limit
    assert tight.point.output_tokens_per_s_per_gpu[0] < loose.point.output_tokens_per_s_per_gpu[0]


def test_a_model_too_large_is_named_as_memory(server: Server) -> None:
    small = replace(server, chip=replace(server.chip, memory_bytes=np.array([10e9])))
    choice = best_serving(
        small, requests=CHAT, layouts=FOUR, first_token_p99_limit_s=INF, per_token_p99_limit_s=INF
    )
    assert not choice.feasible
    assert choice.why_not.startswith("memory: weights take")
    assert choice.needed_bytes > choice.available_bytes


def test_a_limit_nobody_meets_is_named(server: Server) -> None:
    choice = best_serving(
        server, requests=CHAT, layouts=FOUR, first_token_p99_limit_s=1e-3 * ONE, per_token_p99_limit_s=INF
    )
    assert not choice.feasible
    assert choice.why_not.startswith("TTFT p99")
    assert choice.point is not None
