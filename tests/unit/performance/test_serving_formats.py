"""Number formats and corrections by engine."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from planner.catalog.store import open_catalog
from planner.choices import Engine, KvCache, Precision, WeightFormat
from planner.performance.roofline import ChipRates
from planner.performance.serving_engines import Client, ServingSetting, serving_constants
from planner.performance.serving_formats import WEIGHT_BYTES, arithmetic, formats_of
from planner.scenario.workload import Workload
from planner.study.fidelity.serving_batch import serving_figures

FIGURE = serving_figures(open_catalog())
H100 = ChipRates(np.array([1979e12]), np.array([989e12]), np.array([3.35e12]), np.array([85e9]))


@pytest.mark.parametrize("form", WeightFormat)
def test_every_format_has_bytes_and_an_arithmetic_on_every_generation(form: WeightFormat) -> None:
    assert 0.5 <= WEIGHT_BYTES[form] <= 2.0
    for generation in ("ampere", "hopper", "blackwell", "other"):
        assert arithmetic(form, generation) in ("16bit", "fp8", "fp8_block", "nvfp4")
    assert arithmetic(form, "ampere") == "16bit"


def test_mixtures_of_experts_in_four_bits_keep_attention_in_sixteen() -> None:
    found = formats_of(Precision.FP4, sparse=True, generation="blackwell")
    assert (found.attention, found.experts, found.kv) == (WeightFormat.BF16, WeightFormat.NVFP4, KvCache.FP8)
    old = formats_of(Precision.FP4, sparse=True, generation="hopper")
    assert (old.feed_forward, old.experts, old.kv) == (WeightFormat.BF16, WeightFormat.MXFP4, KvCache.BF16)


def test_dense_models_in_eight_bits_have_one_scale_a_tensor_and_sparse_ones_blocks() -> None:
    assert formats_of(Precision.FP8, sparse=False, generation="hopper").feed_forward is WeightFormat.FP8
    assert formats_of(Precision.FP8, sparse=True, generation="hopper").experts is WeightFormat.FP8_BLOCK
    asked = formats_of(
        Precision.BF16, sparse=False, generation="hopper", weights=WeightFormat.INT4, kv=KvCache.FP8
    )
    assert (asked.feed_forward, asked.kv) == (WeightFormat.INT4, KvCache.FP8)


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("client", Client)
@pytest.mark.parametrize("generation", ["ampere", "hopper", "blackwell", "other"])
@pytest.mark.parametrize("precision", Precision)
def test_every_setting_has_corrections(
    engine: Engine, client: Client, generation: str, precision: Precision
) -> None:
    formats = formats_of(precision, sparse=True, generation=generation)
    found = serving_constants(FIGURE, ServingSetting(engine, generation, formats, client), H100)
    for gemm in (found.attention_gemm, found.feed_forward_gemm, found.expert_gemm, found.head_gemm):
        assert 0.3 < gemm.memory_bytes_per_s[0] / 3.35e12 < 1.0
        assert 0.1 < gemm.flop_per_s[0] / 989e12 < 2.0
        assert 0.0 < gemm.fixed_s[0] < 2e-5


def test_narrow_products_start_later_and_run_faster() -> None:
    wide, narrow = (
        serving_constants(
            FIGURE,
            ServingSetting(Engine.VLLM, "hopper", formats_of(precision, sparse=True, generation="hopper")),
            H100,
        ).attention_gemm
        for precision in (Precision.BF16, Precision.FP8)
    )
    assert narrow.fixed_s[0] > wide.fixed_s[0]
    assert narrow.flop_per_s[0] > 1.1 * wide.flop_per_s[0]


def test_weights_that_a_precision_cannot_multiply_are_refused_in_words() -> None:
    given = {"id": "chat", "kind": "serving", "model": "llama-3.1-70b", "precision": "fp8", "weights": "int4"}
    with pytest.raises(ValidationError, match="precision fp8, which takes fp8 or fp8-block or int8"):
        Workload.model_validate(given)
    assert Workload.model_validate(given | {"precision": "bf16"}).weights is WeightFormat.INT4


def test_weights_alone_run_in_sixteen_bits() -> None:
    formats = formats_of(Precision.BF16, sparse=False, generation="blackwell", weights=WeightFormat.NVFP4)
    narrow, widened = (
        serving_constants(
            FIGURE, ServingSetting(Engine.VLLM, "blackwell", formats, weight_only=only), H100
        ).feed_forward_gemm
        for only in (False, True)
    )
    wide = serving_constants(FIGURE, ServingSetting(Engine.VLLM, "blackwell", formats), H100).head_gemm
    np.testing.assert_array_equal(widened.flop_per_s, wide.flop_per_s)
    assert narrow.fixed_s[0] > widened.fixed_s[0]
