"""Laws of predicted serving runs over machines, models, engines, formats, degrees and lengths that nobody measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.catalog.llm import Model
from planner.catalog.schema import Accelerator
from planner.catalog.store import open_catalog
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.serving_batch import ServingBatch, serving_figures
from planner.study.fidelity.serving_cases import ServingCase, ServingCases, UnfitServing

CATALOG = open_catalog([])
MAKER, FIGURES = ServingCases(CATALOG), serving_figures(CATALOG)
FLYING = (1, 4, 16, 64, 256, 1024)
machines = st.sampled_from(CATALOG.ids(Accelerator))
models = st.sampled_from(CATALOG.ids(Model))
engines = st.sampled_from(("vLLM 0.19.0", "SGLang 0.5.9", "TensorRT-LLM 1.3.0rc1", "unheard-of 3"))
precisions = st.sampled_from(
    ("bf16", "fp8", "fp8_block", "nvfp4", "FP4", "int4_wo", "w4a16_mxfp4", "int8_wo")
)
ranks = st.sampled_from((1, 2, 4, 8))
lengths = st.sampled_from(((128, 128), (1024, 1024), (8192, 1024), (1024, 8192), (32768, 256)))


@dataclass(frozen=True)
class Said:
    """Predictions of rows that differ in one thing, shape (rows,)."""

    first_token_s: np.ndarray
    per_token_s: np.ndarray
    rate: np.ndarray
    saturated: np.ndarray
    holds: np.ndarray


def row(**changes: Any) -> InferenceRow:
    data = {
        "id": "i", "group": "C", "family": "f", "src": "s", "n_gpus": 8, "ep": 1, "engine": "vLLM 0.19", "scenario": "agg",
        "lengths": "spread", "isl": 1024, "osl": 1024, "concurrency": 32.0, "precision": "fp8", "model": "llama-3.1-70b",
        "gpu": "h100_sxm", "tp": 8,
    }  # fmt: skip
    return InferenceRow.model_validate(data | changes)


def said(rows: list[InferenceRow]) -> Said | None:
    """What the model says; None where it gives a reason instead, which it then gives for every one of them."""
    cases = [MAKER.of(one) for one in rows]
    if any(isinstance(one, UnfitServing) for one in cases):
        assert all(isinstance(one, UnfitServing) and one.why_not for one in cases)
        return None
    found = ServingBatch([one for one in cases if isinstance(one, ServingCase)]).predict(FIGURES)
    return Said(
        found.first_token_s,
        found.per_token_s,
        found.tokens_per_s_per_gpu,
        found.saturated > 0.0,
        found.holds > 0.0,
    )


@given(machines, models, engines, precisions, ranks, lengths)
@settings(max_examples=150, deadline=None)
def test_more_requests_in_flight_never_speed_any_of_them_up(
    gpu: str, model: str, engine: str, precision: str, tp: int, both: tuple[int, int]
) -> None:
    found = said([
        row(gpu=gpu, model=model, engine=engine, precision=precision, tp=tp, n_gpus=tp, isl=both[0], osl=both[1], concurrency=float(count))
        for count in FLYING
    ])  # fmt: skip
    assume(found is not None and found.holds.all())
    assert found is not None
    times = np.stack([found.first_token_s, found.per_token_s])
    assert np.isfinite(times).all() and (times > 0.0).all()
    # a thousandth: three rounds of a fixed point, and tables of messages that are straight between octaves
    assert (np.diff(times, axis=1) >= -1e-3 * times[:, 1:]).all()
    loaded = ~found.saturated
    assert (np.diff(found.rate[loaded]) >= -0.03 * found.rate[loaded][1:]).all()


@given(machines, models, engines, precisions, ranks)
@settings(max_examples=100, deadline=None)
def test_a_longer_prompt_never_comes_sooner(
    gpu: str, model: str, engine: str, precision: str, tp: int
) -> None:
    found = said([
        row(gpu=gpu, model=model, engine=engine, precision=precision, tp=tp, n_gpus=tp, isl=prompt, concurrency=16.0)
        for prompt in (128, 1024, 4096, 16384)
    ])  # fmt: skip
    assume(found is not None and found.holds.all() and not found.saturated.any())
    assert found is not None
    assert (np.diff(found.first_token_s) > 0.0).all()
    assert (np.diff(found.per_token_s) >= -1e-3 * found.per_token_s[1:]).all()


@given(models, engines, precisions, st.sampled_from((1.0, 16.0, 128.0)), lengths)
@settings(max_examples=60, deadline=None)
def test_more_bandwidth_and_arithmetic_on_the_same_chip_never_cost_time(
    model: str, engine: str, precision: str, flying: float, both: tuple[int, int]
) -> None:
    """H20 and H200 are the same generation, with and without most of its arithmetic, and H100 has less bandwidth."""
    common = {
        "model": model, "engine": engine, "precision": precision, "concurrency": flying, "isl": both[0], "osl": both[1],
    }  # fmt: skip
    h100, h200, h20 = (said([row(gpu=gpu, **common)]) for gpu in ("h100_sxm", "h200_sxm", "h20"))
    assume(h100 is not None and h200 is not None and h20 is not None)
    assert h100 is not None and h200 is not None and h20 is not None
    assume(not any(one.saturated.any() or not one.holds.all() for one in (h100, h200, h20)))
    # 2 %: H200's measured share of the 16-bit peak lies that much below H100's
    assert h200.per_token_s[0] <= 1.02 * h100.per_token_s[0]
    assert h200.first_token_s[0] <= 1.02 * h20.first_token_s[0]
