"""Steps of plain PyTorch by kernels: parts add up, more work takes longer, and what isn't known is refused."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.llm import Model
from planner.catalog.store import open_catalog
from planner.errors import CatalogError
from planner.performance.serving_torch import (
    Small,
    TorchKernels,
    decode_step,
    head_s,
    prefill_step,
    torch_kernels,
)  # fmt: skip
from planner.performance.shapes import shape_of

GPU = "h200-sxm-141gb"


@pytest.fixture(scope="module")
def kernels() -> TorchKernels:
    return torch_kernels(open_catalog(), GPU)


def llama(name: str = "llama-3.1-8b"):  # type: ignore[no-untyped-def]  # a fixture's worth of a helper
    return shape_of(open_catalog().get(Model, name))


def test_a_step_is_the_sum_of_its_parts(kernels: TorchKernels) -> None:
    found = decode_step(
        kernels, llama(), ranks=2, sequences=np.array([8.0]), context_tokens=np.array([1024.0])
    )
    parts = (found.products_s, found.attention_s, found.small_s, found.exchange_s, found.head_s)
    assert all(part[0] > 0 for part in parts)
    assert found.total_s[0] == pytest.approx(sum(float(part[0]) for part in parts))


def test_more_sequences_and_longer_contexts_never_take_less_time(kernels: TorchKernels) -> None:
    contexts, batches = np.geomspace(512, 8192, 9), np.array([1.0, 2, 4, 8, 16, 22])
    for ranks in (1, 2):
        by_context = decode_step(
            kernels, llama(), ranks=ranks, sequences=np.array([4.0]), context_tokens=contexts
        )
        by_batch = decode_step(
            kernels, llama(), ranks=ranks, sequences=batches, context_tokens=np.array([4096.0])
        )
        assert np.all(np.diff(by_context.total_s) > 0)
        assert np.all(np.diff(by_batch.total_s) > 0)


def test_longer_prompts_take_longer_than_in_proportion_from_2048_tokens(kernels: TorchKernels) -> None:
    tokens = np.array([2048.0, 4096.0, 8192.0])
    time = prefill_step(kernels, llama(), ranks=1, prompts=np.ones(1), prompt_tokens=tokens).total_s
    assert np.all(time[1:] / time[:-1] > 1.9)
    assert np.all(np.diff(time / tokens) > -0.03 * (time / tokens)[:-1])


def test_no_exchange_on_one_gpu(kernels: TorchKernels) -> None:
    found = prefill_step(kernels, llama(), ranks=1, prompts=np.ones(1), prompt_tokens=np.array([1024.0]))
    assert found.exchange_s[0] == 0.0


def test_decode_is_no_faster_than_reading_weights_and_caches(kernels: TorchKernels) -> None:
    shape = llama("llama-3.1-70b")
    batches = np.array([1.0, 16.0, 128.0])
    found = decode_step(kernels, shape, ranks=1, sequences=batches, context_tokens=np.array([8192.0]))
    weights = 2.0 * 80 * (8192 * 8192 * 2 + 8192 * 1024 * 2 + 3 * 8192 * 28672)
    caches = 80 * 2.0 * 2 * 8 * 128 * 8192 * batches
    assert np.all(found.total_s > (weights + caches) / kernels.memory_bytes_per_s)


def test_the_head_of_a_group_reads_half_of_the_words(kernels: TorchKernels) -> None:
    shape = llama("llama-3.1-70b")
    alone, halved = (
        float(head_s(kernels, shape, ranks=ranks, rows=np.ones(1), sampled=np.ones(1))[0]) for ranks in (1, 2)
    )
    assert 0.5 * alone < halved < 0.75 * alone


def test_a_batch_agrees_with_its_members(kernels: TorchKernels) -> None:
    batches, contexts = np.array([1.0, 32.0, 128.0]), np.array([512.0, 8192.0, 1024.0])
    whole = decode_step(kernels, llama(), ranks=2, sequences=batches, context_tokens=contexts).total_s
    each = [
        decode_step(kernels, llama(), ranks=2, sequences=batches[[i]], context_tokens=contexts[[i]]).total_s[
            0
        ]
        for i in range(3)
    ]
    np.testing.assert_allclose(whole, each, rtol=1e-12)


def test_what_no_profile_holds_is_refused(kernels: TorchKernels) -> None:
    one = np.ones(1)
    with pytest.raises(CatalogError, match="no all-reduce of 8 ranks"):
        decode_step(kernels, llama(), ranks=8, sequences=one, context_tokens=one)
    with pytest.raises(CatalogError, match="dense models"):
        decode_step(kernels, llama("deepseek-v3"), ranks=1, sequences=one, context_tokens=one)
    with pytest.raises(CatalogError, match="planner calibrate"):
        torch_kernels(open_catalog(), "mi300x")


def test_a_small_kernel_starts_flat_and_ends_in_proportion() -> None:
    small = Small(2e-6, 0.0, 1e-12)
    rows = np.array([1.0, 2.0, 1e6, 2e6])
    time = small.time_s(rows, np.array([4096.0]))
    assert time[1] / time[0] == pytest.approx(1.0, abs=1e-3)
    assert time[3] / time[2] == pytest.approx(2.0, abs=1e-3)
