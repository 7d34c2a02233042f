"""Rows of serving tables on their way to a prediction: machines, formats, degrees, loads, and hostile tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.catalog.schema import Accelerator
from planner.catalog.store import open_catalog
from planner.choices import Engine, KvCache, WeightFormat
from planner.errors import InputError
from planner.study.fidelity.inference import STRETCHED, predict_inference
from planner.study.fidelity.names import Names
from planner.study.fidelity.rows import read_rows
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.serving_balance import TIMEOUT_STEPS, balance_wait_steps
from planner.study.fidelity.serving_batch import ServingBatch, serving_figures
from planner.study.fidelity.serving_cases import Load, ServingCase, ServingCases, is_older, load_of
from planner.study.fidelity.serving_rules import FULL_RATE, exclusions

CATALOG = open_catalog([])
MAKER, NAMES, FIGURES = ServingCases(CATALOG), Names(CATALOG), serving_figures(CATALOG)
HEADER = "id,backend,backend_version,model_path,system,mode,isl,osl,concurrency,tp_size,silicon_ttft_ms,silicon_tpot_ms"
CELLS = "a,vllm,0.19.0,meta-llama/Llama-3.1-70B,h100_sxm,agg,1024,1024,32,4,200,15"


def row(**changes: Any) -> InferenceRow:
    data = {
        "id": "i", "group": "C", "family": "f", "src": "s", "model": "meta-llama/Llama-3.1-70B", "gpu": "h100_sxm",
        "n_gpus": 4, "tp": 4, "ep": 1, "precision": "fp8", "isl": 1024, "osl": 1024, "concurrency": 32.0,
        "engine": "vLLM 0.19", "scenario": "agg", "lengths": "spread",
        "metrics": {"ttft_mean_ms": 200.0, "tpot_mean_ms": 15.0},
    }  # fmt: skip
    return InferenceRow.model_validate(data | changes)


def case(**changes: Any) -> ServingCase:
    found = MAKER.of(row(**changes))
    assert isinstance(found, ServingCase), found
    return found


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("LLAMA3.1_70B", "llama-3.1-70b"),
        ("llama2-70b-99.9", "llama-2-70b"),
        ("neuralmagic/Meta-Llama-3-8B-Instruct-FP8", "llama-3.1-8b"),
        ("/models/Llama-3.1-70B/", "llama-3.1-70b"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "llama-3.3-70b"),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "qwen3-8b"),
        ("nvidia/DeepSeek-R1-0528-FP4-v2", "deepseek-r1"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3"),
        ("MOE_Mixtral8x7B", "mixtral-8x7b"),
        ("gptoss120b", "gpt-oss-120b"),
        ("MiniMaxAI/MiniMax-M2", "minimax-m2.5"),
        ("Qwen3-235B", "qwen3-235b-a22b"),
        ("nvidia/Kimi-K2.5-NVFP4", "kimi-k2"),
    ],
)
def test_spellings_and_derivatives_of_a_model_find_its_shape(text: str, item: str) -> None:
    found = NAMES.model(text)
    assert found is not None and found.item.id == item


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Qwen3",
        "llama",
        "DeepSeek-V3.2-Exp",
        "nvidia/Llama-3.1-Nemotron-70B",
        "zai-org/GLM-4.7-Flash",
        "gpt-4",
    ],
)
def test_models_of_another_shape_are_not_taken_for_their_namesakes(text: str) -> None:
    assert NAMES.model(text) is None


@pytest.mark.parametrize("gpu", CATALOG.ids(Accelerator))
def test_every_accelerator_serves_a_small_model_with_or_without_a_server(gpu: str) -> None:
    found = case(
        model="qwen3-8b", gpu=gpu, tp=1, n_gpus=1, precision="bf16", isl=512, osl=256, concurrency=1.0
    )
    said = ServingBatch([found]).predict(FIGURES)
    token = float(said.per_token_s[0])
    rate = CATALOG.get(Accelerator, gpu).memory_bandwidth_gbyte_per_s.value * 1e9
    # no faster than its memory gives the weights, and not five times as slow
    assert 16e9 / rate < token < 5.0 * 16e9 / rate + 0.01


def test_cards_beyond_their_bridge_talk_over_slots_and_wait_for_them() -> None:
    common: dict[str, Any] = {"gpu": "h100_nvl", "concurrency": 64.0}
    pair, four = (case(tp=ranks, n_gpus=ranks, **common) for ranks in (2, 4))
    assert pair.machine.hardware is not four.machine.hardware
    times = [float(ServingBatch([one]).predict(FIGURES).first_token_s[0]) for one in (pair, four)]
    assert times[1] > 1.5 * times[0]


def test_a_slower_measured_product_is_carried_to_a_chip_that_the_tables_lack() -> None:
    machine = case(gpu="MI300X", precision="fp8").machine
    share = CATALOG.get(Accelerator, "mi300x").gemm_bf16_share_of_peak_fraction
    known = CATALOG.get(Accelerator, "h100-sxm5-80gb").gemm_bf16_share_of_peak_fraction
    assert share is not None and known is not None
    assert machine.wide_ratio == machine.narrow_ratio == pytest.approx(share.value / known.value)
    assert case().machine.wide_ratio == 1.0
    # NVL has less power for each FLOP, and nobody measured its products
    assert 0.7 < case(gpu="h100_nvl", tp=2, n_gpus=2).machine.narrow_ratio < 0.95


def test_a_power_limit_in_a_name_or_a_setting_slows_products() -> None:
    assert case(gpu="H100 (500W)").limit_ratio == pytest.approx((500.0 / 700.0) ** 0.573, rel=0.05)
    quiet = case(source={"where": "closed/NVIDIA/results/H200_TRT_MaxQ/run_1"})
    assert 0.7 < quiet.limit_ratio < 0.9
    assert any("MaxQ" in one for one in quiet.assumed)


def test_memory_that_a_name_states_counts_where_it_is_another_variant() -> None:
    assert float(case(gpu="GH200 144GB", tp=1, n_gpus=1).chip.memory_bytes[0]) == 144.0 * 2**30
    assert float(case(gpu="H100 80GB").chip.memory_bytes[0]) < 80.0 * 2**30


@pytest.mark.parametrize(
    ("changes", "cache"),
    [
        ({}, KvCache.BF16),
        ({"engine": "TensorRT-LLM 1.3.0"}, KvCache.FP8),
        ({"engine": "TensorRT-LLM 1.3.0", "model": "deepseek-r1", "tp": 8, "n_gpus": 8}, KvCache.BF16),
        ({"gpu": "b200_sxm"}, KvCache.FP8),
    ],
)
def test_engines_keep_wide_caches_on_hopper_unless_told_otherwise(
    changes: dict[str, Any], cache: KvCache
) -> None:
    assert case(**changes).setting.formats.kv is cache


def test_weights_are_widened_where_the_chip_lacks_their_arithmetic() -> None:
    four = case(gpu="MI300X", precision="fp4").setting
    assert (
        four.weight_only
        and four.formats.feed_forward is WeightFormat.MXFP4
        and four.formats.kv is KvCache.BF16
    )
    own = case(gpu="MI355X", precision="fp4").setting
    assert not own.weight_only and own.four_bit_products
    assert not case(gpu="b200_sxm", precision="nvfp4").setting.four_bit_products
    assert case(precision="int4_wo").setting.formats.feed_forward is WeightFormat.INT4
    assert case(gpu="A100", precision="bf16").machine.hardware.chip.peak_flop_per_s[0] == pytest.approx(
        312e12
    )


def test_what_a_row_states_decides_how_it_was_loaded() -> None:
    limits = {"ttft_ms": 2000.0, "tpot_ms": 200.0}
    assert load_of(row()) is Load.CLOSED
    assert load_of(row(concurrency="64")) is Load.CLOSED
    assert load_of(row(concurrency="all requests queued at once")) is Load.OFFLINE
    assert load_of(row(concurrency="server", scenario="Server", slo=limits)) is Load.OPEN
    assert load_of(row(concurrency=None, scenario="", target_qps=3.0)) is Load.OPEN
    assert load_of(row(scenario="disagg", decode_workers=2)) is Load.DECODE


def test_an_open_loop_gets_the_rate_that_its_limits_allow_and_no_latency_near_capacity() -> None:
    def found(rate: float, limit_ms: float) -> list[Any]:
        return predict_inference(
            [
                row(
                    concurrency="server", scenario="Server", target_qps=rate, slo={"ttft_ms": 4000.0, "tpot_ms": limit_ms},
                    metrics={"output_tokens_per_s_total": 1000.0, "ttft_mean_ms": 100.0, "tpot_mean_ms": 20.0},
                )
            ],
            CATALOG,
        )  # fmt: skip

    loose, tight = (found(0.5, limit) for limit in (100.0, 25.0))
    assert loose[0].predicted > 1.5 * tight[0].predicted
    assert 0.0 < loose[1].predicted < 0.03 and 0.0 < loose[2].predicted < 1.0
    late = found(1000.0, 100.0)
    assert [one.why_not for one in late] == ["", FULL_RATE, FULL_RATE]


def test_a_scheduler_that_never_evicts_admits_fewer_requests() -> None:
    """Caches of 8,192 tokens of answers: reserved whole, 96 requests don't fit that do when half are grown."""
    common: dict[str, Any] = {
        "precision": "nvfp4", "gpu": "b200_sxm", "isl": 1024, "osl": 8192, "concurrency": 96.0, "tp": 1, "n_gpus": 1,
    }  # fmt: skip
    saturated = [
        float(ServingBatch([case(engine=engine, **common)]).predict(FIGURES).saturated[0])
        for engine in ("vLLM", "TensorRT-LLM")
    ]
    assert saturated == [0.0, 1.0]


def test_a_run_that_was_measured_had_room_for_its_weights() -> None:
    found = predict_inference(
        [row(model="deepseek-ai/DeepSeek-R1", gpu="b200_sxm", engine="SGLang 0.5.9", concurrency=4.0)],
        CATALOG,
    )
    assert found[0].predicted is not None and STRETCHED in found[0].assumed


def test_balanced_groups_wait_for_each_other_and_at_most_so_many_steps() -> None:
    rates = np.array([1e-6, 0.01, 0.1, 1.0, 100.0])
    waits = balance_wait_steps(groups=np.full(5, 8.0), arrivals_per_step=rates)
    assert (np.diff(waits) < 0.0).all() and waits[0] <= TIMEOUT_STEPS
    common: dict[str, Any] = {
        "model": "deepseek-ai/DeepSeek-R1", "gpu": "b200_sxm", "n_gpus": 8, "ep": 8, "engine": "TensorRT-LLM 1.2.0",
    }  # fmt: skip
    grouped, whole = (
        ServingBatch([case(tp=tp, attention_dp=groups, **common)]).predict(FIGURES)
        for tp, groups in ((1, 8), (8, 1))
    )
    assert grouped.first_token_s[0] > whole.first_token_s[0] + 0.2


def test_releases_before_2026_are_told_from_later_ones() -> None:
    assert is_older(Engine.SGLANG, "SGLang 0.5.1.post1") and not is_older(Engine.SGLANG, "SGLang 0.5.9")
    assert is_older(Engine.VLLM, "vLLM 0.11.2") and not is_older(Engine.VLLM, "vLLM")


def read(path: Path, text: str) -> list[InferenceRow]:
    path.write_text(text, newline="")
    return read_rows([path]).inference


def test_a_table_is_read_however_an_office_program_saved_it(tmp_path: Path) -> None:
    plain = f"{HEADER}\n{CELLS}\n"
    wanted = read(tmp_path / "plain.csv", plain)
    for name, text in {
        "marked": "\ufeff" + plain, "windows": plain.replace("\n", "\r\n"), "semicolons": plain.replace(",", ";"),
        "tabs": plain.replace(",", "\t"), "capitals": f"{HEADER.upper()}\n{CELLS}\n", "spaces": plain.replace(",", ", "),
        "blank": plain.replace("\n", "\n\n"), "points": plain.replace(",4,", ",4.0,").replace(",32,", ",32.0,"),
    }.items():  # fmt: skip
        found = read(tmp_path / f"{name}.csv", text)
        assert [one.model_copy(update={"source": wanted[0].source}) for one in found] == wanted, name
    unnamed = read(tmp_path / "unnamed.csv", plain.replace("id,", "").replace("a,vllm", "vllm"))
    assert unnamed[0].id == "unnamed:2"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (CELLS.replace(",200,", ",200 ms,"), "ttft_mean_ms: is '200 ms', and must be a number"),
        (CELLS.replace(",15", ",nan"), "tpot_mean_ms: is 'nan', and must be a finite number"),
        (CELLS.replace(",32,", ",-1,"), "concurrency: is -1.0, and requests in flight are above zero"),
        (CELLS.replace(",4,", ",four,"), "tp: is 'four', and must be a number"),
        (CELLS.replace(",1024,1024,", ",0,1024,"), "isl: is '0', and must be more than 0"),
        (CELLS + ",more", "another number of columns"),
    ],
)
def test_every_wrong_cell_is_said_with_its_line(tmp_path: Path, cells: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path / "wrong.csv", f"{HEADER}\n{CELLS}\n{cells.replace('a,', 'b,', 1)}\n")
    assert [problem.place.line for problem in error.value.problems if problem.place] == [3]
    assert said in str(error.value)


def test_a_batch_size_is_no_number_of_requests(tmp_path: Path) -> None:
    found = read(tmp_path / "batch.csv", f"{HEADER},batch_size\n{CELLS.replace(',32,', ',,')},144\n")
    assert "limit of the engine" in exclusions(found)[0]


def test_a_stated_draft_yields_more_tokens_and_less_under_load() -> None:
    def token_s(**changes: Any) -> float:
        return float(ServingBatch([case(gpu="b200_sxm", **changes)]).predict(FIGURES).per_token_s[0])

    draft: dict[str, Any] = {"draft_tokens": 3, "acceptance_fraction": 0.7}
    gain = [token_s(concurrency=c) / token_s(concurrency=c, **draft) for c in (1.0, 512.0)]
    assert 1.8 < gain[0] < 1.0 + 0.7 + 0.49 + 0.343
    assert gain[1] < gain[0]
    named = case(engine="TensorRT-LLM 1.3.0 MTP=2")
    assert float(named.speculation.draft_tokens[0]) == 2.0
    assert any("engine's name" in one for one in named.assumed) and any(
        "accepted" in one for one in named.assumed
    )
    assert float(case().speculation.draft_tokens[0]) == 0.0
