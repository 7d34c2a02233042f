"""Parameter counts against published sizes."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.models import (
    ModelShape,
    active_parameters,
    attention_flop_per_token,
    kv_bytes_per_token,
    kv_cache_bytes,
    linear_flop_per_token,
    model_shape,
    parameters,
    training_flop_per_token,
)

LLAMA_8B = model_shape(layers=32, hidden=4096, heads=32, kv_heads=8, vocab=128256, ffn=14336)
LLAMA_70B = model_shape(layers=80, hidden=8192, heads=64, kv_heads=8, vocab=128256, ffn=28672)
LLAMA_405B = model_shape(layers=126, hidden=16384, heads=128, kv_heads=8, vocab=128256, ffn=53248)
GPT3 = model_shape(
    layers=96, hidden=12288, heads=96, vocab=50257, ffn=49152, positions=2048, glu=False, biases=True,
    tied_embeddings=True,
)  # fmt: skip
MIXTRAL = model_shape(
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    vocab=32000,
    experts=8,
    experts_per_token=2,
    expert_ffn=14336,
)
DEEPSEEK_V3 = model_shape(
    layers=61, hidden=7168, heads=128, vocab=129280, ffn=18432, dense_layers=3, experts=256, experts_per_token=8,
    expert_ffn=2048, shared_expert_ffn=2048, head_dim=192, value_head_dim=128, query_rank=1536, kv_rank=512,
    rope_dim=64,
)  # fmt: skip
QWEN3_235B = model_shape(
    layers=94, hidden=4096, heads=64, kv_heads=4, head_dim=128, vocab=151936, experts=128, experts_per_token=8,
    expert_ffn=1536, qk_norm=True,
)  # fmt: skip


# A tolerance of 0.1 % covers rounding of the published sizes; DeepSeek and Qwen publish whole billions.
@pytest.mark.parametrize(
    ("shape", "published", "tolerance"),
    [
        (LLAMA_8B, 8.03e9, 1e-3),
        (LLAMA_70B, 70.55e9, 1e-3),
        (LLAMA_405B, 405.85e9, 1e-3),
        (GPT3, 174.6e9, 1e-3),
        (MIXTRAL, 46.7e9, 1e-3),
        (DEEPSEEK_V3, 671e9, 1e-3),
        (QWEN3_235B, 235e9, 1e-3),
    ],
)
def test_parameters_are_the_published_ones(shape: ModelShape, published: float, tolerance: float) -> None:
    assert parameters(shape)[0] == pytest.approx(published, rel=tolerance)


# Published active sizes are rounded to two or three digits, and some leave the embedding out.
@pytest.mark.parametrize(("shape", "published"), [(MIXTRAL, 12.9e9), (DEEPSEEK_V3, 37e9), (QWEN3_235B, 22e9)])
def test_active_parameters_are_the_published_ones(shape: ModelShape, published: float) -> None:
    assert active_parameters(shape)[0] == pytest.approx(published, rel=0.02)


def test_a_dense_model_visits_every_parameter() -> None:
    np.testing.assert_array_equal(active_parameters(LLAMA_70B), parameters(LLAMA_70B))


def test_training_flop_are_near_six_for_each_parameter_at_short_sequences() -> None:
    flop = training_flop_per_token(LLAMA_405B, sequence_tokens=np.array([1.0]))
    weights = parameters(LLAMA_405B) - 128256 * 16384
    np.testing.assert_allclose(flop, 6.0 * weights, rtol=1e-4)  # norms are not products


def test_causal_attention_counts_half() -> None:
    length = np.array([4096.0])
    whole = attention_flop_per_token(LLAMA_8B, sequence_tokens=length, causal=False)
    half = attention_flop_per_token(LLAMA_8B, sequence_tokens=length)
    np.testing.assert_allclose(whole, 32 * 4 * 4096 * 4096)
    np.testing.assert_allclose(half, whole / 2.0)


def test_latent_attention_caches_576_values_a_layer_and_does_not_divide() -> None:
    one, eight = np.array([1.0]), np.array([8.0])
    np.testing.assert_array_equal(kv_bytes_per_token(DEEPSEEK_V3, value_bytes=one), [61 * 576.0])
    np.testing.assert_array_equal(
        kv_cache_bytes(DEEPSEEK_V3, context_tokens=one, value_bytes=one, tensor_ranks=eight), [61 * 576.0]
    )


def test_a_window_bounds_cache_and_attention() -> None:
    windowed = model_shape(
        layers=2, hidden=64, heads=4, vocab=10, ffn=64, window_tokens=100, windowed_layers=1
    )
    one, long = np.array([1.0]), np.array([1000.0])
    cache = kv_cache_bytes(windowed, context_tokens=long, value_bytes=one, tensor_ranks=one)
    np.testing.assert_allclose(cache, (1000 + 100) * 2 * 64)
    flop = attention_flop_per_token(windowed, sequence_tokens=long)
    np.testing.assert_allclose(flop, 4 * 64 * (500 + 95))


def test_linear_flop_of_experts_count_the_visited_ones() -> None:
    dense = model_shape(layers=1, hidden=8, heads=2, vocab=1, ffn=64)
    sparse = model_shape(layers=1, hidden=8, heads=2, vocab=1, experts=4, experts_per_token=2, expert_ffn=32)
    router = 2.0 * 4 * 8
    np.testing.assert_allclose(linear_flop_per_token(sparse), linear_flop_per_token(dense) + router)
