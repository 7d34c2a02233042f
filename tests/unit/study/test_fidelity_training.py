"""Training rows as cases: what is read from a row, and many rows in a few calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.performance.software import Scaling, Software
from planner.study.fidelity.cases import Case, Cases, Unfit
from planner.study.fidelity.rows import read_rows, shipped_files
from planner.study.fidelity.schema import Group, TrainingRow
from planner.study.fidelity.steps import Batch
from planner.study.fidelity.training import band_of, catalog_figures, predict_training

CATALOG = open_catalog([])
CASES = Cases(CATALOG)
FIGURE = catalog_figures(CATALOG)
LLAMA_8B = {
    "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256, "glu": True,
}  # fmt: skip
RUN = {
    "id": "mine", "group": "A", "family": "mine", "src": "log", "model": "Llama3-8B", "gpu": "H100", "n_gpus": 16,
    "arch": LLAMA_8B, "gbs": 64, "mbs": 1, "seq_len": 8192, "parallel": {"tp": 2, "pp": 1, "dp": 8}, "precision": "BF16",
    "recompute": "none", "framework": "NeMo", "metrics": {"step_time_s": 3.0},
}  # fmt: skip


def case(**changes: Any) -> Case:
    found = CASES.of(TrainingRow.model_validate(RUN | changes))
    assert isinstance(found, Case), found
    return found


@pytest.fixture(scope="module")
def shipped() -> list[Case]:
    rows = read_rows(shipped_files()).of(Group.TRAINING)
    return [one for one in map(CASES.of, rows) if isinstance(one, Case)]


def test_many_rows_in_one_call_equal_each_alone(shipped: list[Case]) -> None:
    together = Batch(shipped).step_s(FIGURE)
    some = range(0, len(shipped), 13)
    alone = [Batch([shipped[at]]).step_s(FIGURE)[0] for at in some]
    np.testing.assert_allclose(alone, together[list(some)], rtol=1e-12)


def test_several_sets_of_figures_in_one_call_equal_each_alone(shipped: list[Case]) -> None:
    key = "gemm_share_of_peak_hopper_16bit_fraction"
    values = np.array([[0.6], [0.7], [0.8]])
    batch = Batch(shipped)
    together = batch.step_s(lambda name: values if name == key else FIGURE(name))
    assert together.shape == (3, len(shipped))
    for at, value in enumerate(values):
        alone = batch.step_s(lambda name, one=value: one if name == key else FIGURE(name))  # type: ignore[misc]
        np.testing.assert_allclose(together[at], alone, rtol=1e-12)


def test_a_framework_says_how_attention_runs_and_what_is_hidden() -> None:
    kinds = {
        "Megatron-LM (2021)": Software.MEGATRON_2021, "Megatron-DeepSpeed (2022)": Software.DEEPSPEED_2022,
        "DeepSpeed ZeRO-3": Software.ZERO3_2021, "MosaicML Composer": Software.FSDP_2023,
        "torchtitan (PyTorch)": Software.FSDP_COMPILED, "MLPerf v5.1": Software.MLPERF,
    }  # fmt: skip
    assert {name: case(framework=name).setting.software for name in kinds} == kinds
    assert case(framework="torchtitan", precision="BF16 eager").setting.software is Software.FSDP_EAGER


def test_a_precision_says_its_scaling_and_whether_exchange_runs_in_pieces() -> None:
    row = case(framework="torchtitan", precision="FP8 rowwise compile + AsyncTP")
    assert row.setting.scaling is Scaling.ROW and row.setting.async_tensor
    said = case(precision="MXFP8", source={"where": "70B table, vanilla TP"})
    assert said.setting.scaling is Scaling.FINE and not said.setting.async_tensor


def test_selective_recompute_is_attention_in_megatron_and_operators_in_compiled_stacks() -> None:
    plans = {
        name: case(framework=name, recompute="selective").plan for name in ("NeMo", "torchtitan (PyTorch)")
    }
    shares = {
        name: (plan.recomputed_attention_fraction[0], plan.recomputed_linear_fraction[0])
        for name, plan in plans.items()
    }
    assert shares == {"NeMo": (1.0, 0.0), "torchtitan (PyTorch)": (0.0, 0.5)}


def test_old_megatron_shares_norms_only_where_a_row_says_so() -> None:
    old = {"framework": "Megatron-LM (2022)", "gpu": "A100-80GB"}
    assert case(**old).plan.sequence_parallel[0] == 0.0
    assert case(**old, recompute="selective + sequence parallelism").plan.sequence_parallel[0] == 1.0
    assert case().plan.sequence_parallel[0] == 1.0


def test_a_power_limit_in_the_name_slows_the_products() -> None:
    plain, cut = case(), case(gpu="H100 (96GB HBM2e, 500W)")
    assert (plain.setting.power_ratio, cut.setting.power_ratio) == (1.0, pytest.approx(5.0 / 7.0))
    assert Batch([cut]).step_s(FIGURE)[0] > 1.05 * Batch([plain]).step_s(FIGURE)[0]


def test_blackwell_ultra_attends_faster() -> None:
    long = {"arch": LLAMA_8B, "seq_len": 65536, "precision": "BF16"}
    first, ultra = (case(gpu=gpu, **long) for gpu in ("B200", "B300"))
    assert (first.setting.fast_softmax, ultra.setting.fast_softmax) == (False, True)
    assert Batch([ultra]).step_s(FIGURE)[0] < 0.95 * Batch([first]).step_s(FIGURE)[0]


def test_bands_follow_what_is_known_of_a_row() -> None:
    assert band_of(case()) == "model_band_known_stack_fraction"
    assert band_of(case(framework="somebody's own")) == "model_band_unknown_stack_fraction"
    moe = {"experts": 64, "topk": 8, "moe_ffn": 1024}
    assert band_of(case(arch=LLAMA_8B | {"moe": moe})) == "model_band_moe_fraction"
    known, unknown = predict_training(
        [TrainingRow.model_validate(RUN | {"framework": name}) for name in ("NeMo", "somebody's own")],
        CATALOG,
    )
    assert known.low is not None and unknown.low is not None
    assert known.low > unknown.low
    assert set(unknown.assumed) - set(known.assumed) == {"framework 'somebody's own' taken as Megatron Core"}


def test_a_row_that_cannot_be_predicted_says_why() -> None:
    found = CASES.of(TrainingRow.model_validate(RUN | {"gpu": "abacus"}))
    assert isinstance(found, Unfit)
    assert found.why_not == "no accelerator of the catalog is called 'abacus'"
    (result,) = predict_training([TrainingRow.model_validate(RUN | {"gbs": None})], CATALOG)
    assert result.predicted is None
    assert result.why_not == "the row states no batch"
